// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/progress_thread_post.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <mutex>

#include "core/lane/lane.hpp"
#include "core/thread/thread.hpp"

namespace weft::core {

namespace {

Lane& only_lane() {
  return lanes->all[0];  // there are no others below MPI_THREAD_MULTIPLE
}

}  // namespace

AtWork::AtWork() {
  // A poster that has lost this core to us would only go on if we gave it back.
  const std::atomic<bool>& posting = threads->main.posting;
  if (posting.load(std::memory_order_relaxed) || !only_lane().lock.try_lock()) return;
  only_lane().matcher.set_attended(true);
  only_lane().lock.unlock();
  syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  may_ = !posting.load(std::memory_order_acquire);
  if (!may_) leave();
}

void AtWork::leave() {
  const std::lock_guard guard(only_lane().lock);
  only_lane().matcher.set_attended(false);
}

}  // namespace weft::core
