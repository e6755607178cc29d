// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/shared.hpp"

#include "core/peer/peer.hpp"

namespace weft::core {

void* allocate_shared(size_t bytes, size_t alignment) {
  return peers->transports.memory().allocate(bytes, alignment);
}

pages::Grant grant_shared(size_t bytes, const pages::Wish& wish) {
  return peers->transports.memory().grant(bytes, wish);
}

bool granted(const void* memory, pages::Grant& grant) {
  return peers->transports.memory().granted(memory, grant);
}

bool release_shared(void* memory) {
  return peers->transports.memory().release(memory);
}

}  // namespace weft::core
