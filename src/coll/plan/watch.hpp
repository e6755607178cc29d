// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Steps of schedules that wait for memory which another process writes: it wakes this one afterwards (Endpoint::rouse).
// Each round of progress looks at all of them, in the order in which they began to wait; with none, it looks at one
// word (core/lane/progress_hooks.hpp).

namespace weft::coll {

struct Watch {
  bool (*ready)(Watch& watch) = nullptr;  // with a lock held: a few loads, no call of anybody's function
  void (*go_on)(Watch& watch) = nullptr;  // once, with no lock held; the watch may be gone afterwards
  Watch* next = nullptr;
};

// From now on; thread-safe.
void begin_watch(Watch& watch);
// Goes on with those that are ready; whether there was any.
bool look_at_watches();

}  // namespace weft::coll
