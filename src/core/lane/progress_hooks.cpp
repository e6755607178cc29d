// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/lane/progress_hooks.hpp"

#include "core/lane/lane.hpp"

// The linker's names for the ends of the sections; weak, since a test may have no row at all.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const weft::core::ProgressHook* const __start_weft_progress_hooks[];
[[gnu::weak, gnu::visibility("hidden")]] extern const weft::core::ProgressHook* const __stop_weft_progress_hooks[];
[[gnu::weak, gnu::visibility("hidden")]] extern const weft::core::FlushHook* const __start_weft_flushes[];
[[gnu::weak, gnu::visibility("hidden")]] extern const weft::core::FlushHook* const __stop_weft_flushes[];
}

namespace weft::core {

constinit std::atomic<int32_t> gathering = 0;
constinit std::atomic<int32_t> watching = 0;

namespace {

std::span<const ProgressHook* const> all_work() {
  return {__start_weft_progress_hooks, static_cast<size_t>(__stop_weft_progress_hooks - __start_weft_progress_hooks)};
}

}  // namespace

bool advance_work(Lane& lane) {
  bool moved = false;
  for (const ProgressHook* work : all_work()) moved |= work->advance(lane);
  bool open = false;
  for (const ProgressHook* work : all_work()) open |= work->open(lane);
  lane.at_work.store(open, std::memory_order_relaxed);
  return moved;
}

void close_work(Lane& lane) {
  for (const ProgressHook* work : all_work()) work->close(lane);
}

bool flush_gathered() {
  const std::span<const FlushHook* const> all{__start_weft_flushes,
                                              static_cast<size_t>(__stop_weft_flushes - __start_weft_flushes)};
  bool sent = false;
  for (const FlushHook* row : all) sent |= row->flush();
  return sent;
}

}  // namespace weft::core
