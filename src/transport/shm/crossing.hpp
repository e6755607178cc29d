// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The way of large messages from one other rank of the host. Cells: both copy, through staging buffers. Kernel: one
// copy of the peer's memory by system calls, whose string instructions are slow on lines that another core has written.
// Which is faster depends on the processors, on their distance, and on whether the data are still in the receiver's
// cache. It changes while a program runs: systems move processes, and hosts of virtual machines move virtual
// processors. So the receiver times messages of both ways, takes the one that was faster for messages of this size, and
// tries the other one from time to time. The sender hears of it by the answers to its announcements. A wrong choice
// costs time and nothing else. WEFT_CROSSING chooses instead.
//
// docs/measurements/choices.md, "How data cross cores", has the measurements.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/api/way.hpp"

namespace weft::transport::shm {

class Crossing {
 public:
  // Messages of up to so many bytes are a class each; larger ones are the last class.
  static constexpr size_t class_ends[] = {128 << 10, 512 << 10, 2 << 20};
  static constexpr int classes = 4;
  static int class_of(size_t bytes);

  // The receiver's way for a message of so many bytes, which it will time; now and then that is the other one.
  Way next_way(size_t bytes);
  // The time of such a message.
  void note_message(Way way, size_t bytes, uint64_t ns);

  // The sender's way: the last answer of the receiver of its messages.
  Way way(size_t bytes) const;
  void note_answer(Way way, size_t bytes);

 private:
  struct Times {
    std::atomic<float> ns_of_kib[2]{};   // of cells and of the kernel: the best of the last messages, 0 when unknown
    std::atomic<uint32_t> messages{0};   // since the slower way was tried
    std::atomic<uint32_t> tries_of{16};  // one of so many messages tries it
    std::atomic<Way> heard{Way::cells};  // as a sender
  };
  Times times_[classes];
};

}  // namespace weft::transport::shm
