// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The work of progress beside reading messages. Paths and subsystems that have something to move leave a row here,
// which the linker collects; progress() knows none of them by name.

#include <atomic>
#include <cstdint>
#include <span>

namespace weft::core {

struct Lane;

// Operations of a lane that need a hand of ours, such as a stream with data still to move. Runs with the lane held.
struct ProgressHook {
  const char* name;
  bool (*advance)(Lane& lane);     // moves some of it; whether anything moved
  bool (*open)(const Lane& lane);  // whether there is something that may be moved: Lane::at_work stays set
  void (*close)(Lane& lane);       // the world stops: gives back what is kept for reuse
};

// Messages that a subsystem gathers before it sends them. It says so in `gathering`, so that progress looks at one
// word.
struct FlushHook {
  const char* name;
  bool (*flush)();  // sends what was gathered; whether there was any
};

#define WEFT_PROGRESS_HOOK(row) \
  [[gnu::used,                  \
    gnu::section("weft_progress_hooks")]] static constinit const ::weft::core::ProgressHook* const row##_entry = &row
#define WEFT_FLUSH(row) \
  [[gnu::used, gnu::section("weft_flushes")]] static constinit const ::weft::core::FlushHook* const row##_entry = &row

extern std::atomic<int32_t> gathering;  // subsystems that hold messages back: each adds one, and takes it off again
// Counts the subsystems among them that hold nothing back but look at memory: a process that writes it wakes this one
// (Endpoint::rouse).
extern std::atomic<int32_t> watching;

// Advances all work of a lane, and sets Lane::at_work by what is left. Whether anything moved.
bool advance_work(Lane& lane);
void close_work(Lane& lane);

// Sends what the subsystems gathered; whether there was any.
bool flush_gathered();

}  // namespace weft::core
