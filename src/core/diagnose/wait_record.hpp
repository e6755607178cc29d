// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Records of waits, for people who ask why a program stands still (docs/design/statistics.md). A call that may have to
// wait notes on its stack what it is at; a wait that lasts writes that on the page of the process
// (boot/job/wait_page.hpp), and takes it back at its end. Waits that are short, and calls that need not wait, pay next
// to nothing for it.

#include <cstdint>

#include "boot/job/wait_page.hpp"
#include "core/object/request.hpp"

namespace weft::core {

using boot::WaitKind;

// How long a wait has slept when its record is written.
inline constexpr uint64_t wait_record_after_ns = 50000000;

// The state of a call that may wait.
struct WaitRecord {
  WaitKind kind = WaitKind::all;
  const char* call = "";
  const Comm* comm = nullptr;
  int32_t target = boot::no_rank;  // in the job
  int32_t root = -1;
  int64_t bytes = -1;
  uint32_t order = 0;
  // The requests that it waits for beside that of the wait itself: number `i`, nullptr when that is complete.
  int32_t count = 0;
  const Request* (*request)(const void* requests, int32_t i) = nullptr;
  const void* requests = nullptr;
  // Or a message that is looked for.
  const Envelope* wanted = nullptr;
  // Writes the name of `comm`, which ends with a zero; nullptr: it has none.
  void (*name)(const Comm& comm, char* text, uint64_t room) = nullptr;
};

class Teller;
[[gnu::tls_model("initial-exec"),
  gnu::visibility("hidden")]] extern constinit thread_local const Teller* current_teller;

// The calling thread is at something, until the object goes: `tell` says what, if anybody asks.
class Teller {
 public:
  using Tell = void (*)(const Teller& self, WaitRecord& wait_record);
  explicit Teller(Tell way) : tell_(way), before_(current_teller) { current_teller = this; }
  ~Teller() { current_teller = before_; }
  Teller(const Teller&) = delete;
  Teller& operator=(const Teller&) = delete;

  void tell(WaitRecord& wait_record) const { tell_(*this, wait_record); }
  // Tells what the call does of which this is a part.
  void tell_before(WaitRecord& wait_record) const {
    if (before_ != nullptr) before_->tell(wait_record);
  }

 private:
  const Tell tell_;
  const Teller* const before_;
};

// A teller of a call that has its record already.
class Doing : public Teller {
 public:
  explicit Doing(const WaitRecord& wait_record) : Teller(tell_all), wait_record_(wait_record) {}

 private:
  static void tell_all(const Teller& self, WaitRecord& wait_record) {
    wait_record = static_cast<const Doing&>(self).wait_record_;
  }
  const WaitRecord& wait_record_;
};

// The last collective operations of a thread, the one under way among them.
struct Past {
  const char* call;
  uint32_t context;
  uint32_t order;
  int32_t root;
  int64_t bytes;
};
inline constexpr uint32_t past_kept = 8;
struct PastRing {
  uint32_t next = 0;
  Past past[past_kept]{};
};
[[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]] extern constinit thread_local PastRing past_ring;
// A place for one that begins.
inline Past& new_past() {
  return past_ring.past[past_ring.next++ % past_kept];
}

// The record of one wait of the calling thread, which may be for `request`.
class WaitRecorder {
 public:
  // The thread is about to sleep, and holds nothing.
  void before_sleep(const Request* request, uint64_t now_ns) {
    if (began_ns_ == 0) began_ns_ = looked_ns_ = now_ns;
    old_ = now_ns - looked_ns_ < wait_record_after_ns;
    if (!old_) write(request, now_ns);
  }
  // How long the thread may sleep: until the record is written, or written again.
  uint64_t longest_ns() const { return old_ ? wait_record_after_ns : 1000000000; }
  void end() {
    if (place_ != 0) erase();
  }

 private:
  [[gnu::cold, gnu::noinline]] void write(const Request* request, uint64_t now_ns);
  [[gnu::cold, gnu::noinline]] void erase();

  uint64_t began_ns_ = 0;   // to sleep
  uint64_t looked_ns_ = 0;  // when it was written last
  uint32_t place_ = 0;      // 1 + its place on the page
  bool old_ = true;         // the thread has woken since, or it was not written at all
};

// The locks of windows that this process holds: how many of them it listed. By core/rma.
uint32_t list_locks(boot::PageLock* locks, uint32_t most);

}  // namespace weft::core
