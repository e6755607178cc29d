// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The kernel's io_uring: two rings in memory that the kernel shares, of requests and of results, by its header alone
// (linux/io_uring.h).
//
// One thread uses a ring after open(). The tails and heads that the kernel writes are loaded with acquire, those that
// it reads are stored with release. A child of fork() does not get the memory.

#include <linux/io_uring.h>

#include <cstddef>
#include <cstdint>

#include "base/descriptor.hpp"

namespace weft::io {

class KernelRing {
 public:
  static constexpr uint32_t entries = 256;  // requests in flight at most; the kernel holds twice as many results

  KernelRing() = default;
  KernelRing(const KernelRing&) = delete;
  KernelRing& operator=(const KernelRing&) = delete;
  ~KernelRing() { close(); }

  // 0, or the errno with which the kernel, a limit or a container's policy refuses, which may allow one of the calls
  // alone: a first request goes through.
  [[nodiscard]] int open();
  void close();

  // Adds a request, of which there are at most `entries` without a result. enter() hands it over.
  void read(int fd, void* data, size_t bytes, int64_t offset, uint64_t tag);
  // Its result comes when there is something to read.
  void poll(int fd, uint64_t tag);
  // Hands over what was added and waits for a result. 0, or an errno: then some may not have been handed over.
  [[nodiscard]] int enter();
  // The newest request that was not handed over, which is forgotten.
  [[nodiscard]] bool take_back(uint64_t& tag);
  // The next result, if there is one: the request's tag, and its bytes or the negative of an errno.
  [[nodiscard]] bool take(uint64_t& tag, int32_t& result);

 private:
  [[nodiscard]] int map();
  void add(const io_uring_sqe& request);

  base::Descriptor ring_;
  void* rings_ = nullptr;
  size_t rings_bytes_ = 0;
  io_uring_sqe* requests_ = nullptr;
  io_uring_params parameters_{};
};

}  // namespace weft::io
