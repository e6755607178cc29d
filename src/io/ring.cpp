// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/ring.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/descriptor.hpp"
#include "base/setting.hpp"
#include "core/object/failure.hpp"
#include "io/calls.hpp"
#include "io/kernel_ring.hpp"
#include "io/reads_under_way.hpp"

namespace weft::io {
namespace {

constinit base::BoolSetting uring{
    {.name = "WEFT_IO_URING",
     .help = "small nonblocking reads of files go through io_uring, where the kernel allows it"},
    true};
WEFT_SETTING(uring);

static_assert(ReadsUnderWay::most < KernelRing::entries);  // one request is for the doorbell

constinit std::atomic<uint64_t> whole_reads = 0;

// nullptr: it is wanted. The ring has a thread, as workers are.
const char* why_not_wanted() {
  if (!uring.value()) return "WEFT_IO_URING is off";
  return most_workers() == 0 ? "WEFT_IO_THREADS is 0" : nullptr;
}

// A fault that a test asked for.
int32_t after_faults(int32_t result) {
  if (calls().strike == nullptr || result < 0) return result;
  auto bytes = static_cast<size_t>(result);
  const int error = calls().strike(bytes, false);
  return error != 0 ? -error : static_cast<int32_t>(bytes);
}

}  // namespace

class Ring {
 public:
  bool submit(PieceJob& job) {
    std::lock_guard guard(lock_);
    if (state_ == RingState::unknown) state_ = start() ? RingState::open : RingState::refused;
    if (state_ != RingState::open || !ring_doorbell()) return false;
    job.next_piece_ = nullptr;
    (last_ != nullptr ? last_->next_piece_ : first_) = &job;
    last_ = &job;
    return true;
  }

  void stop() {
    {
      std::lock_guard guard(lock_);
      if (!has_thread_) return;
      ends_ = true;
      if (!ring_doorbell()) {  // nothing wakes the thread
        has_thread_ = false;
        pthread_detach(thread_);
        return;
      }
    }
    pthread_join(thread_, nullptr);
    close_doorbell();
    state_ = RingState::unknown;
    has_thread_ = false;
    ends_ = false;
  }

 private:
  enum class RingState : uint8_t { unknown, open, refused };

  // Opens the doorbell and starts the thread. The caller holds the lock.
  bool start() {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
    hearing_ = ends[0];
    ringing_ = ends[1];
    has_thread_ = start_thread(thread_, body, this);
    if (!has_thread_) close_doorbell();
    return has_thread_;
  }

  void close_doorbell() {
    hearing_.close();
    ringing_.close();
  }

  // Makes the thread look at the queue. False: it is asleep, and the program has closed the doorbell. The caller holds
  // the lock.
  bool ring_doorbell() {
    if (!asleep_) return true;
    const int fd = ringing_.number();
    if (fd < 0) state_ = RingState::refused;
    if (fd < 0) return false;
    asleep_ = false;
    const char one = 1;
    (void)!::write(fd, &one, sizeof one);
    return true;
  }

  // The rest is the thread's, also the opening and closing of the ring, whose end interrupts the thread that opened it.

  static void* body(void* self) {
    static_cast<Ring*>(self)->live();
    return nullptr;
  }

  void live() {
    if (kernel_.open() == 0) {
      serve();
      kernel_.close();
    } else {
      refuse();
    }
  }

  // There is no ring: workers take the queue.
  void refuse() {
    PieceJob* job = nullptr;
    {
      std::lock_guard guard(lock_);
      state_ = RingState::refused;
      job = std::exchange(first_, nullptr);
      last_ = nullptr;
    }
    while (job != nullptr) post(*std::exchange(job, job->next_piece_));
  }

  void serve() {
    bool listens = false;
    while (begin()) {
      if (!listens) kernel_.poll(hearing_.number(), ReadsUnderWay::no_read);
      listens = true;
      const int error = kernel_.enter();
      {
        std::lock_guard guard(lock_);
        asleep_ = false;
      }
      if (error != 0 && error != EINTR) listens = !hand_back(error) && listens;
      uint64_t tag = 0;
      int32_t result = 0;
      while (kernel_.take(tag, result)) {
        if (tag == ReadsUnderWay::no_read) {
          listens = !hear();
        } else {
          end(tag, after_faults(result));
        }
      }
    }
  }

  // Takes what the doorbell has rung. False: the program has closed it.
  bool hear() {
    char rings[64];
    const int fd = hearing_.number();
    if (fd >= 0) return ::read(fd, rings, sizeof rings) > 0;
    std::lock_guard guard(lock_);
    state_ = RingState::refused;
    return false;
  }

  // Adds what is in the queue. False: that was all.
  bool begin() {
    std::lock_guard guard(lock_);
    while (first_ != nullptr && reads_.count() < ReadsUnderWay::most) {
      PieceJob& job = *first_;
      first_ = job.next_piece_;
      if (first_ == nullptr) last_ = nullptr;
      kernel_.read(job.piece_.fd, job.piece_.data, static_cast<size_t>(job.piece_.bytes), job.piece_.offset,
                   reads_.add(job));
    }
    asleep_ = true;
    return reads_.count() > 0 || (state_ == RingState::open && !ends_);
  }

  void end(uint64_t tag, int32_t result) {
    PieceJob* job = reads_.end(tag);
    if (job == nullptr) {
      core::failed(
          core::FailureCause::transport,
          {.cause = "io_uring ended a read of a file that was not under way",
           .remedy = "something has written into memory that is not its own; WEFT_IO_URING=off reads by threads"});
    }
    if (result == job->piece_.bytes) {
      whole_reads.fetch_add(1, std::memory_order_relaxed);
      job->read();
    } else {
      post(*job);
    }
  }

  // The kernel takes no requests, for now or, as when the program has closed the ring, for good. Returns whether the
  // doorbell's is among them.
  bool hand_back(int error) {
    if (error != EAGAIN && error != EBUSY && error != ENOMEM) {
      std::lock_guard guard(lock_);
      state_ = RingState::refused;
    }
    bool doorbell = false;
    for (uint64_t tag = 0; kernel_.take_back(tag);) {
      PieceJob* job = reads_.end(tag);
      if (job != nullptr) post(*job);
      doorbell = doorbell || tag == ReadsUnderWay::no_read;
    }
    usleep(1000);
    return doorbell;
  }

  std::mutex lock_;  // of the members up to the gap
  RingState state_ = RingState::unknown;
  bool has_thread_ = false;
  bool ends_ = false;
  bool asleep_ = false;  // the thread looks at the queue when the doorbell rings
  PieceJob* first_ = nullptr;
  PieceJob* last_ = nullptr;
  pthread_t thread_{};

  base::Descriptor hearing_;  // the doorbell, a pipe
  base::Descriptor ringing_;
  KernelRing kernel_;
  ReadsUnderWay reads_;
};

namespace {

// Kept until the process ends: its thread may be in it when exit() cuts it off.
Ring& ring() {
  static auto* const one = new Ring;
  return *one;
}

}  // namespace

bool submit(PieceJob& job) {
  return why_not_wanted() == nullptr && ring().submit(job);
}

void stop_ring() {
  if (why_not_wanted() == nullptr) ring().stop();
}

uint64_t ring_reads() {
  return whole_reads.load(std::memory_order_relaxed);
}

std::string why_no_ring() {
  if (const char* why = why_not_wanted()) return why;
  KernelRing trial;
  const int error = trial.open();
  if (error == 0) return {};
  std::string why = "the kernel refuses io_uring: ";
  why.append(std::generic_category().message(error)).append(" (errno ").append(std::to_string(error)).append(")");
  return why;
}

}  // namespace weft::io
