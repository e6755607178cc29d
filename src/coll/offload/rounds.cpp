// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/offload/rounds.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/copy.hpp"
#include "coll/plan/plan.hpp"
#include "core/object/failure.hpp"
#include "core/progress/waiting.hpp"

namespace weft::coll::offload {

bool Rounds::start(const void* mine, size_t bytes, void* all) {
  if (is_last()) return false;
  const auto* from = static_cast<const unsigned char*>(mine);
  mine_.assign(from, from + bytes);
  all_.resize(bytes * words_.size());
  to_ = all;
  say({RoundWord::data, static_cast<int64_t>(bytes)});
  return true;
}

transport::ucc::Exchange::ExchangeState Rounds::test() {
  if (is_under_way()) return ExchangeState::under_way;
  if (is_last()) return ExchangeState::failed;
  if (void* to = std::exchange(to_, nullptr); to != nullptr && !all_.empty()) base::copy(to, all_.data(), all_.size());
  return ExchangeState::done;
}

bool Rounds::has_work() const {
  return stage_ == RoundStage::begun || (is_under_way() && core::is_done(*request_));
}

void Rounds::advance() {
  if (!has_work()) return;
  if (stage_ == RoundStage::begun) {
    stage_ = RoundStage::words;
    return gather(&ours_, sizeof ours_, words_.data());
  }
  if (request_->error != core::no_error) outcome_ = RoundOutcome::failed;  // a peer is lost
  core::free_request(std::exchange(request_, nullptr));
  schedule_.reset();
  if (std::exchange(stage_, RoundStage::none) == RoundStage::words && !is_last()) look_at_words();
}

void Rounds::look_at_words() {
  const auto all_said = [&](RoundWord word) {
    return std::all_of(words_.begin(), words_.end(), [&](const Said& said) { return said.word == word; });
  };
  if (!all_said(RoundWord::data)) {
    outcome_ = all_said(RoundWord::well) ? RoundOutcome::well : RoundOutcome::failed;
    return;
  }
  stage_ = RoundStage::data;
  gather(mine_.data(), ours_.bytes, all_.data());
}

void Rounds::settle() {
  while (is_under_way()) {
    advance();
    core::wait_until([&] { return has_work() || !is_under_way(); });
  }
}

void Rounds::end(bool well) {
  to_ = nullptr;
  say({well ? RoundWord::well : RoundWord::failed, 0});
}

void Rounds::say(const Said& said) {
  ours_ = said;
  ++count_;
  stage_ = RoundStage::begun;
}

void Rounds::gather(const void* mine, int64_t bytes, void* all) {
  schedule_ = std::make_unique<Schedule>(comm_);
  plan::allgather(*schedule_, {const_cast<void*>(mine), bytes, &byte_type}, Blocks(all, bytes, byte_type));
  request_ = new_composite(comm_);
  if (request_ == nullptr || schedule_->error() != core::no_error) {  // the others would wait for this rank
    core::failed(core::FailureCause::memory, {.cause = "no memory to make a group for offloaded collective operations",
                                              .remedy = "free memory on this host"});
  }
  schedule_->start(*request_);
}

}  // namespace weft::coll::offload
