// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory of ours that peers may ask for, where no adapter looks after that. Thread-safe.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "base/lock.hpp"
#include "transport/api/transport.hpp"
#include "transport/net/proof.hpp"

namespace weft::transport::net {

class Registered {
 public:
  // Its key, which nobody can foresee.
  uint64_t add(const void* memory, size_t bytes) {
    const auto begin = reinterpret_cast<uint64_t>(memory);
    const std::lock_guard guard(lock_);
    for (;;) {
      const uint64_t key = fresh_nonce();
      if (key != MemoryRef::no_key && pieces_.try_emplace(key, RegisteredRange{begin, begin + bytes}).second)
        return key;
    }
  }
  void remove(uint64_t key) {
    const std::lock_guard guard(lock_);
    pieces_.erase(key);
  }
  // Whether these bytes are part of what has that key.
  bool allows(uint64_t key, uint64_t address, uint64_t bytes) const {
    const std::lock_guard guard(lock_);
    const auto piece = pieces_.find(key);
    return piece != pieces_.end() && address >= piece->second.begin && address <= piece->second.end &&
           bytes <= piece->second.end - address;
  }

 private:
  struct RegisteredRange {
    uint64_t begin, end;
  };
  mutable base::Lock lock_;
  std::map<uint64_t, RegisteredRange> pieces_;
};

}  // namespace weft::transport::net
