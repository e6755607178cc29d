// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/region.hpp"

#include "core/object/identity.hpp"
#include "core/peer/peer.hpp"

namespace weft::core::memory {

MemoryRef register_memory(const void* memory, uint64_t bytes) {
  return peers->transports.name_memory(const_cast<void*>(memory), bytes);
}

char* map(int32_t job_rank, const MemoryRef& memory) {
  if (job_rank == identity->rank) return reinterpret_cast<char*>(memory.address);
  return static_cast<char*>(peers->of(job_rank).endpoint->map(memory));
}

}  // namespace weft::core::memory
