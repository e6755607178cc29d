// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucc/collective.hpp"

namespace weft::transport::ucc {
namespace {

abi::Status start_exchange(void* mine, void* all, size_t bytes, void* info, void** request) {
  *request = info;
  return static_cast<Exchange*>(info)->start(mine, bytes, all) ? abi::ok : abi::no_message;
}

abi::Status test_exchange(void* request) {
  switch (static_cast<Exchange*>(request)->test()) {
    case Exchange::ExchangeState::under_way:
      return abi::in_progress;
    case Exchange::ExchangeState::done:
      return abi::ok;
    default:
      return abi::no_message;
  }
}

abi::Status free_exchange(void* /*request*/) {
  return abi::ok;
}

// A context by itself, without an exchange: its end waits for no other member.
abi::Status create_context(abi::Library* handle, abi::Context*& context) {
  const UccLibrary& l = library();
  abi::ContextConfig* config = nullptr;
  abi::Status status = l.context_config_read(handle, nullptr, &config);
  if (status != abi::ok) return status;
  abi::ContextParams params = {};
  params.mask = abi::ContextParams::has_type;
  status = l.context_create(handle, &params, config, &context);
  l.context_config_release(config);
  return status;
}

}  // namespace

bool UccCollectiveGroup::must(const char* call, abi::Status status) {
  if (status >= 0) return true;
  if (error_.empty()) error_ = std::string(call) + ": " + library().status_string(status);
  state_ = request_ != nullptr ? UccGroupState::failed : UccGroupState::idle;
  return false;
}

void UccCollectiveGroup::create(abi::Library* handle, int32_t members, int32_t place, Exchange& exchange) {
  if (!must("ucc_context_create", create_context(handle, context_))) {
    context_ = nullptr;
    return;
  }
  using Params = abi::TeamParams;
  Params params = {};
  params.mask = Params::has_place | Params::has_range | Params::has_size | Params::has_out_of_band;
  params.place = static_cast<uint64_t>(place);
  params.size = static_cast<uint64_t>(members);
  params.out_of_band = {start_exchange,
                        test_exchange,
                        free_exchange,
                        &exchange,
                        static_cast<uint32_t>(members),
                        static_cast<uint32_t>(place)};
  if (must("ucc_team_create", library().team_create_post(&context_, 1, &params, &team_)))
    state_ = UccGroupState::creating;
}

void UccCollectiveGroup::start(const UccCall& call) {
  abi::Arguments arguments = {};
  arguments.collective = call.collective;
  arguments.reduction = call.op;
  arguments.root = static_cast<uint64_t>(call.root);
  abi::BufferInfo& only = call.collective == abi::CollectiveType::bcast ? arguments.from : arguments.to;
  only = {call.result, call.count, call.type, 0, {}};
  if (call.collective == abi::CollectiveType::allreduce)
    arguments.from = {const_cast<void*>(call.data), call.count, call.type, 0, {}};
  if (!must("ucc_collective_init", library().collective_init(&arguments, &request_, team_))) {
    request_ = nullptr;
    return;
  }
  if (must("ucc_collective_post", library().collective_post(request_))) state_ = UccGroupState::posted;
}

bool UccCollectiveGroup::finished() {
  if (context_ == nullptr) return true;
  (void)library().context_progress(context_);
  if (state_ == UccGroupState::creating) {
    const abi::Status status = library().team_create_test(team_);
    if (must("ucc_team_create", status) && status == abi::ok) state_ = UccGroupState::idle;
  } else if (state_ == UccGroupState::posted) {
    const abi::Status status = request_->status;
    if (status == abi::in_progress) return false;
    if (must("a collective operation", status)) {
      state_ = UccGroupState::idle;
      (void)library().collective_finalize(request_);
      request_ = nullptr;
    }
  }
  return state_ == UccGroupState::idle || state_ == UccGroupState::failed;
}

void UccCollectiveGroup::close() {
  constexpr int rounds_most = 1000;  // the others may have ended theirs long ago
  if (may_be_under_way()) return;
  abi::Status status = abi::ok;
  for (int i = 0; team_ != nullptr && i < rounds_most; ++i) {
    status = library().team_destroy(team_);
    if (status != abi::in_progress) break;
    (void)library().context_progress(context_);
  }
  if (status == abi::ok && context_ != nullptr) (void)library().context_destroy(context_);
}

}  // namespace weft::transport::ucc
