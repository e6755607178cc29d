// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/message/handler.hpp"

#include "core/lane/lane.hpp"
#include "core/object/failure.hpp"
#include "core/object/identity.hpp"
#include "core/object/other_jobs.hpp"
#include "core/peer/peer.hpp"
#include "core/thread/waits.hpp"

// The linker's names for the two ends of the section; weak, since a test may have no row at all.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const weft::core::Handler* const __start_weft_handlers[];
[[gnu::weak, gnu::visibility("hidden")]] extern const weft::core::Handler* const __stop_weft_handlers[];
}

namespace weft::core {

namespace {

constinit const Handler* by_kind[kind_limit] = {};

[[gnu::cold, noreturn]] void reject_unknown(const transport::Arrival& arrival) {
  failed(FailureCause::protocol, arrival.from,
         {.cause = "a message of unknown kind " + std::to_string(arrival.kind) + " arrived",
          .remedy = "run all ranks with the same version of Weft"});
}

[[gnu::cold, noreturn]] void reject_short(const transport::Arrival& arrival, size_t bytes) {
  const Handler* handler = handler_of(arrival.kind);
  failed(FailureCause::protocol, arrival.from,
         {.cause = "a message of kind " + std::to_string(arrival.kind) + " (" +
                   (handler != nullptr ? handler->name : "unknown") + ") is too short: " +
                   std::to_string(arrival.bytes) + " bytes instead of at least " + std::to_string(bytes),
          .remedy = "run all ranks with the same version of Weft"});
}

[[gnu::cold, noreturn]] void reject_pushed(const transport::Arrival& arrival) {
  failed(FailureCause::protocol, arrival.from,
         {.cause = "the data of a message of kind " + std::to_string(arrival.kind) + " (" +
                   handler_of(arrival.kind)->name + ") " + (arrival.pushed ? "follow it" : "do not follow it"),
          .remedy = "run all ranks with the same version of Weft"});
}

}  // namespace

std::span<const Handler* const> all_handlers() {
  return {__start_weft_handlers, static_cast<size_t>(__stop_weft_handlers - __start_weft_handlers)};
}

std::string check_handlers(std::span<const Handler* const> rows) {
  const Handler* seen[kind_limit] = {};
  for (const Handler* row : rows) {
    const std::string which = std::string("the message kind ") + std::to_string(row->kind) + " (" + row->name + ")";
    if (row->kind == 0 || row->kind >= kind_limit) {
      return which + " is not between 1 and " + std::to_string(kind_limit - 1);
    }
    if (seen[row->kind] != nullptr) return which + " is also that of " + seen[row->kind]->name;
    seen[row->kind] = row;
  }
  return {};
}

void open_handlers() {
  if (const std::string wrong = check_handlers(all_handlers()); !wrong.empty()) {
    failed(FailureCause::start, {.cause = wrong, .remedy = "this is a defect of Weft: please report it"});
  }
  for (const Handler* row : all_handlers()) by_kind[row->kind] = row;
}

const Handler* handler_of(uint8_t kind) {
  return kind < kind_limit ? by_kind[kind] : nullptr;
}

void on_arrival(const transport::Arrival& arrival) {
  const Handler* handler = handler_of(arrival.kind);
  if (handler == nullptr) [[unlikely]]
    reject_unknown(arrival);
  check_size(arrival, handler->least_bytes);
  if (arrival.pushed != handler->pushed) [[unlikely]]
    reject_pushed(arrival);
  handler->take(arrival);
}

void on_counted_arrival(const transport::Arrival& arrival) {
  std::atomic<uint64_t>& arrived = lanes->all[arrival.envelope.lane].arrived;
  arrived.store(arrived.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  on_arrival(arrival);
}

void on_numbered_arrival(const transport::Arrival& arrival) {
  const Envelope& envelope = arrival.envelope;
  if (envelope.stamp == 0 || !lanes->map.parts()) return on_counted_arrival(arrival);
  Lane& lane = lanes->all[envelope.lane];
  const bool awaited = lane.tallies.of(arrival.from, envelope.context).add(envelope.stamp);
  lane.numbered_by = arrival.from;
  on_counted_arrival(arrival);
  lane.numbered_by = transport::no_peer;
  if (awaited) [[unlikely]] {
    lane.matcher.set_unsettled(true);
    tell_sleepers(nullptr);  // for threads that wait in a probe
  }
}

bool is_from(const transport::Arrival& arrival, int32_t rank) {
  if (rank < 0 || (rank >= identity->places && !is_of_known_job(rank))) return false;
  if (arrival.from != transport::no_peer) return arrival.from == rank;
  return !peers->of(rank).transport->capabilities().names_senders;
}

void check_size(const transport::Arrival& arrival, size_t bytes) {
  if (arrival.bytes < bytes) [[unlikely]]
    reject_short(arrival, bytes);
}

}  // namespace weft::core
