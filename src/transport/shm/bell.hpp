// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A doorbell that wakes a rank which also waits for a network: it cannot sleep on a word, so it sleeps in poll() on the
// network's descriptor and on a datagram socket that its host's ranks send to.

#include <atomic>
#include <cstdint>

#include "base/descriptor.hpp"

namespace weft::transport::shm {

class Bell {
 public:
  Bell() = default;
  ~Bell();
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  // false: the system gives no socket.
  [[nodiscard]] bool open();
  bool is_open() const { return socket_.load(std::memory_order_acquire) >= 0; }

  // The number by which other processes of this host ring it; not 0.
  uint32_t number() const { return number_; }
  // Rings another one, whether this one is open or not. Thread-safe.
  void ring(uint32_t number) const;

  // Until it rings, `descriptor` becomes readable, or the time is over.
  void wait(int descriptor, uint64_t timeout_ns) const;

 private:
  // Whether the program has left the socket alone.
  bool is_intact() const { return is_open() && file_.is_intact(); }

  base::Descriptor file_;
  std::atomic<int> socket_ = -1;
  uint32_t number_ = 0;
};

}  // namespace weft::transport::shm
