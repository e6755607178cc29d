// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/kernel_ring.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace weft::io {
namespace {

// Reads at an offset (Linux 5.6), one mapping for both rings, no result is lost.
constexpr uint32_t needed = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP | IORING_FEAT_RW_CUR_POS;

// A word of the shared memory.
std::atomic_ref<uint32_t> word(void* rings, uint32_t at) {
  return std::atomic_ref(*reinterpret_cast<uint32_t*>(static_cast<char*>(rings) + at));
}

// nullptr with errno.
void* mapped(int fd, size_t bytes, off_t part) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, part);
  if (memory == MAP_FAILED) return nullptr;
  (void)madvise(memory, bytes, MADV_DONTFORK);
  return memory;
}

}  // namespace

int KernelRing::open() {
  parameters_ = {};
  ring_ = static_cast<int>(syscall(SYS_io_uring_setup, entries, &parameters_));
  if (!ring_.is_open()) return errno;
  int error = (parameters_.features & needed) == needed ? map() : ENOSYS;
  if (error == 0) {
    io_uring_sqe nothing{};
    nothing.opcode = IORING_OP_NOP;
    add(nothing);
    do {
      error = enter();
    } while (error == EINTR);
  }
  uint64_t tag = 0;
  int32_t result = 0;
  if (error == 0 && (!take(tag, result) || result < 0)) error = result < 0 ? -result : EIO;
  if (error != 0) close();
  return error;
}

int KernelRing::map() {
  rings_bytes_ = std::max<size_t>(parameters_.sq_off.array + parameters_.sq_entries * sizeof(uint32_t),
                                  parameters_.cq_off.cqes + parameters_.cq_entries * sizeof(io_uring_cqe));
  rings_ = mapped(ring_.number(), rings_bytes_, IORING_OFF_SQ_RING);
  if (rings_ == nullptr) return errno;
  requests_ = static_cast<io_uring_sqe*>(
      mapped(ring_.number(), parameters_.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES));
  return requests_ != nullptr ? 0 : errno;
}

void KernelRing::close() {
  if (requests_ != nullptr) munmap(requests_, parameters_.sq_entries * sizeof(io_uring_sqe));
  if (rings_ != nullptr) munmap(rings_, rings_bytes_);
  ring_.close();
  requests_ = nullptr;
  rings_ = nullptr;
}

void KernelRing::add(const io_uring_sqe& request) {
  const uint32_t tail = word(rings_, parameters_.sq_off.tail).load(std::memory_order_relaxed);
  const uint32_t place = tail & (parameters_.sq_entries - 1);
  requests_[place] = request;
  word(rings_, parameters_.sq_off.array + place * sizeof(uint32_t)).store(place, std::memory_order_relaxed);
  word(rings_, parameters_.sq_off.tail).store(tail + 1, std::memory_order_release);
}

void KernelRing::read(int fd, void* data, size_t bytes, int64_t offset, uint64_t tag) {
  io_uring_sqe request{};
  request.opcode = IORING_OP_READ;
  request.fd = fd;
  request.addr = reinterpret_cast<uint64_t>(data);
  request.len = static_cast<uint32_t>(bytes);
  request.off = static_cast<uint64_t>(offset);
  request.user_data = tag;
  add(request);
}

void KernelRing::poll(int fd, uint64_t tag) {
  io_uring_sqe request{};
  request.opcode = IORING_OP_POLL_ADD;
  request.fd = fd;
  request.poll_events = POLLIN;
  request.user_data = tag;
  add(request);
}

int KernelRing::enter() {
  const uint32_t added = word(rings_, parameters_.sq_off.tail).load(std::memory_order_relaxed) -
                         word(rings_, parameters_.sq_off.head).load(std::memory_order_acquire);
  return syscall(SYS_io_uring_enter, ring_.number(), added, 1, IORING_ENTER_GETEVENTS, nullptr, 0) < 0 ? errno : 0;
}

bool KernelRing::take_back(uint64_t& tag) {
  const uint32_t tail = word(rings_, parameters_.sq_off.tail).load(std::memory_order_relaxed);
  if (tail == word(rings_, parameters_.sq_off.head).load(std::memory_order_acquire)) return false;
  tag = requests_[(tail - 1) & (parameters_.sq_entries - 1)].user_data;
  word(rings_, parameters_.sq_off.tail).store(tail - 1, std::memory_order_release);
  return true;
}

bool KernelRing::take(uint64_t& tag, int32_t& result) {
  const uint32_t head = word(rings_, parameters_.cq_off.head).load(std::memory_order_relaxed);
  if (head == word(rings_, parameters_.cq_off.tail).load(std::memory_order_acquire)) return false;
  const auto* results = reinterpret_cast<io_uring_cqe*>(static_cast<char*>(rings_) + parameters_.cq_off.cqes);
  const io_uring_cqe& next = results[head & (parameters_.cq_entries - 1)];
  tag = next.user_data;
  result = next.res;
  word(rings_, parameters_.cq_off.head).store(head + 1, std::memory_order_release);
  return true;
}

}  // namespace weft::io
