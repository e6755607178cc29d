// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Remote memory below windows: a region is memory of one rank that others read, write and update. Its owner registers
// it and tells the others the MemoryRef; each of them maps it, as far as this host allows, and then moves data with the
// functions of direct.hpp. Windows add epochs, locks and MPI's rules (core/rma); another model of remote memory adds
// its own.
//
// A region is reached in one of four ways:
//  - mapped: its memory lies in our address space too. An operation is a copy, or a processor's atomic instruction.
//  - kernel: another process of this host; the kernel copies (process_vm_writev). Updates are made under locks.
//  - device: it lies in our address space, but the memory of a device is in it, which the processor cannot touch. The
//    device's driver copies (on_device.hpp), and updates are made under locks.
//  - messages: another host, a kernel that refuses, or a device whose memory cannot be mapped. The owner performs the
//    operation when it makes progress.
// By the others an operation is done when its function returns: there is nothing to flush.

#include <atomic>
#include <cstdint>

#include "datatype/type.hpp"
#include "transport/api/transport.hpp"

namespace weft::core::memory {

using transport::MemoryRef;

enum class Reach : uint8_t { messages, mapped, kernel, device };  // memory never written says messages

// The way in which elements of a region are updated, and the locks of those that need one, in memory that all
// ranks of the host map. update.hpp has the protocol.
struct alignas(64) Updates {
  static constexpr int locks = 15;
  std::atomic<uint32_t> held[locks];  // 1: a process updates elements in blocks of memory that share this lock
  std::atomic<uint32_t> way;
};

// So many updates by a processor's instructions this process is in the middle of.
using Busy = std::atomic<uint32_t>;

// A region as this process knows it. All fields of a region never used are zero: it is reached by messages.
struct Region {
  int32_t job_rank = 0;  // the owner
  std::atomic<Reach> reach = Reach::messages;
  bool atomics = false;  // small elements may be updated by atomic instructions, otherwise all under locks
  uint64_t bytes = 0;
  char* mapped = nullptr;  // where it begins in our address space, also if only a driver reaches it
  MemoryRef memory{};
  Updates* updates = nullptr;  // set where the region is reached without messages
};

// The name by which other ranks reach memory of ours. `bytes` may be 0, and `memory` nullptr: all of our memory, by its
// addresses. Thread-safe.
[[nodiscard]] MemoryRef register_memory(const void* memory, uint64_t bytes);

// Where memory that a rank of this host registered lies for us; nullptr when that cannot be.
[[nodiscard]] char* map(int32_t job_rank, const MemoryRef& memory);

// Data of the caller.
struct Local {
  void* buffer;
  int64_t count;
  datatype::Type* type;
  int64_t bytes;
  bool on_device = false;

  // Whether the processor finds them in one piece.
  bool is_plain() const { return type->contiguous && !on_device; }
};

// Data in a region: `offset` bytes from its beginning.
struct RegionData {
  int64_t offset;
  int64_t count;
  datatype::Type* type;
};

// So many bytes behind `base`, which may be a null pointer: of a region that is all of a rank's memory.
inline char* place_behind(char* base, uint64_t offset) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(base) + offset);
}

}  // namespace weft::core::memory
