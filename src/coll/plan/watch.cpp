// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/plan/watch.hpp"

#include "base/lock.hpp"
#include "core/lane/progress_hooks.hpp"
#include "core/thread/thread.hpp"

namespace weft::coll {

namespace {

constinit base::Lock lock;
constinit Watch* first = nullptr;
constinit Watch** last = &first;

// With the lock held. Progress and waits are told when the first begins and the last ends: a call pays for two updates
// of a word that others share, not for two of each watch.
constinit int32_t watches = 0;
void count_watches(int32_t more) {
  const bool some = watches != 0;
  watches += more;
  if (some == (watches != 0)) return;
  const int32_t change = some ? -1 : 1;
  core::watching.fetch_add(change, std::memory_order_relaxed);
  core::gathering.fetch_add(change, std::memory_order_release);
}

constexpr core::FlushHook looking{"memory that steps of collective operations wait for", look_at_watches};
WEFT_FLUSH(looking);

// Takes those that are ready out of the list.
Watch* take_ready() {
  const base::LockIf guard(lock, core::threads->concurrent);
  Watch* ready = nullptr;
  Watch** end = &ready;
  Watch** at = &first;
  while (*at != nullptr) {
    Watch& watch = **at;
    if (!watch.ready(watch)) {
      at = &watch.next;
      continue;
    }
    *at = watch.next;
    watch.next = nullptr;
    *end = &watch;
    end = &watch.next;
    count_watches(-1);
  }
  last = at;
  return ready;
}

}  // namespace

void begin_watch(Watch& watch) {
  const base::LockIf guard(lock, core::threads->concurrent);
  watch.next = nullptr;
  *last = &watch;
  last = &watch.next;
  count_watches(1);
}

bool look_at_watches() {
  if (core::watching.load(std::memory_order_acquire) == 0) return false;
  if (core::this_thread().lanes_held != 0) return false;  // the steps may run a program's function
  Watch* ready = take_ready();
  const bool any = ready != nullptr;
  while (ready != nullptr) {
    Watch* next = ready->next;
    ready->go_on(*ready);
    ready = next;
  }
  return any;
}

}  // namespace weft::coll
