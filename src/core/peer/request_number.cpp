// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/peer/request_number.hpp"

#include "core/peer/peer.hpp"

namespace weft::core {

Request* find_request(uint64_t number, NumberStage stage) {
  const auto place = static_cast<uint32_t>(number);
  const uint64_t generation = number >> 32;
  const uintptr_t address = base::Arena::address_of(place);
  if (generation > UINT32_MAX >> stage_bits || !base::Arena::holds(address)) return nullptr;
  auto& r = *reinterpret_cast<Request*>(address);
  if (std::atomic_ref(r.kind).load(std::memory_order_relaxed) != base::Kind::request) return nullptr;
  const uint32_t wanted = static_cast<uint32_t>(generation) << stage_bits | static_cast<uint32_t>(stage);
  return std::atomic_ref(r.serial).load(std::memory_order_relaxed) == wanted ? &r : nullptr;
}

Request* find_send(uint64_t number, NumberStage stage, int32_t source, uint32_t lane) {
  Request* r = find_request(number, stage);
  const bool theirs =
      r != nullptr && r->role == Role::send && r->lane == lane && r->peer != nullptr && r->peer->rank == source;
  return theirs ? r : nullptr;
}

}  // namespace weft::core
