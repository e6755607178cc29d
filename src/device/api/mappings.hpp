// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The allocations of other processes that this one has mapped. They stay mapped, since mapping takes long; one that its
// owner has freed is unmapped when it shares another at the same place, and the least recently used one is unmapped
// when the list is full. Thread-safe.

#include "device/api/device.hpp"

namespace weft::device {

struct Mapping {
  char* base;  // here
  uint64_t bytes;
};

// Maps what a process, `owner`, shares, until let_go(); nullptr: it cannot be mapped, for the reason in `problem`.
// `shared` comes from that process and need not be right: the driver maps real allocations only.
[[nodiscard]] Mapping* hold(int64_t owner, const Shared& shared, std::string& problem);
void let_go(Mapping* mapping);
void unmap_all();  // also what is held

// The address here of `bytes` at an address of the owner's; nullptr: they are not in the allocation.
inline void* here(const Mapping& mapping, const Shared& shared, uint64_t address, uint64_t bytes) {
  const uint64_t at = address - shared.base;
  return at > mapping.bytes || bytes > mapping.bytes - at ? nullptr : mapping.base + at;
}

}  // namespace weft::device
