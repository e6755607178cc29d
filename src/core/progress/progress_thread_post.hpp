// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A receive beside the progress thread, posted without a lock while that thread has nothing to do. Below
// MPI_THREAD_MULTIPLE the threads of the program take turns, so the one that posts has to keep clear of the progress
// thread alone.
//
// Roles: the poster, which is the program's thread, and the progress thread. Thread::posting belongs to the poster. The
// matcher's busy word, which every receive reads, has a bit that is set while the progress thread is at work.
//
// Ordering: the poster stores `posting` and then reads the busy word, without a fence between them. The progress thread
// sets its bit, runs membarrier, and then reads `posting`. So either it sees the poster, and leaves, or the poster's
// read came after the barrier and sees the bit: then the receive takes the lane's lock. The release store that ends a
// post pairs with the progress thread's acquire load; the release store that clears the bit with the fence behind the
// poster's read.
//
// Progress: neither waits. The progress thread leaves a round to the next one when it finds a post. A round of its work
// costs a membarrier; rounds that find nothing to do cost none.
//
// tests/model/progress_thread_post.pml shows that each of these steps is needed, and that they suffice;
// tests/unit/core_progress_thread_post.cpp fails without the look at `posting`, and without the bit.

#include "core/message/send_now.hpp"
#include "core/thread/thread.hpp"
#include "core/thread/waits.hpp"

namespace weft::core {

// Whether receives may be posted this way. False under the thread sanitizer, which knows nothing of membarrier.
[[nodiscard]] inline bool posts_with_thread() {
#ifdef WEFT_TSAN
  return false;
#else
  return threads->concurrent && !threads->multiple && waits->fences_own_threads;
#endif
}

// Posts as try_post() does, in a process with a progress thread: the result is nullptr while that is at work, too. With
// nullptr the caller ends the post by did_not_post(), in its slow branch, so that nothing is kept in a register for it.
// The request's lane stays as it is, for there is one.
[[gnu::always_inline]] inline Request* try_post_with_thread(Lanes& in, Comm& comm, void* buffer, int64_t bytes,
                                                            int32_t source, int32_t tag) {
  Matcher& matcher = in.all[0].matcher;
  Thread& me = threads->main;
  me.posting.store(true, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (matcher.keeps_any() || me.free_requests == nullptr) [[unlikely]]
    return nullptr;
  std::atomic_thread_fence(std::memory_order_acquire);
  Request* r = prepare_receive(me.take_first(), comm, buffer, bytes, source, tag);
  matcher.post(*r);
  me.posting.store(false, std::memory_order_release);
  return r;
}
inline void did_not_post() {
  threads->main.posting.store(false, std::memory_order_release);
}

// One round of progress by the progress thread (progress.cpp).
bool progress_with_thread();

// The progress thread is at work, if it may be: not while a receive is being posted or a thread of the program has the
// lane.
class AtWork {
 public:
  AtWork();
  ~AtWork() {
    if (may_) leave();
  }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

  bool may() const { return may_; }

 private:
  static void leave();

  bool may_ = false;
};

}  // namespace weft::core
