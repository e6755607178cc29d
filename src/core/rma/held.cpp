// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The locks that this process holds, for records of waits.
#include "core/diagnose/wait_record.hpp"
#include "core/rma/names.hpp"

namespace weft::core {

uint32_t list_locks(boot::PageLock* locks, uint32_t most) {
  struct LockList {
    boot::PageLock* locks;
    uint32_t most;
    uint32_t listed;
  } list{locks, most, 0};
  const auto add = [](rma::Window& window, void* about) {
    LockList& to = *static_cast<LockList*>(about);
    if (!window.closing.try_lock()) return;  // it is being locked just now
    for (int32_t next = window.opened.load(std::memory_order_acquire); next != 0;) {
      const int32_t rank = next - 1;
      const rma::Target& target = window.targets[rank];
      next = target.next_opened;
      if (to.listed < to.most && target.locked) {
        to.locks[to.listed++] = {.context = window.comm->context,
                                 .target = window.comm->job_rank(rank),
                                 .exclusive = target.lock == rma::LockState::exclusive ? 1U : 0U,
                                 .reserved = 0};
      }
    }
    window.closing.unlock();
  };
  rma::each_window(add, &list);
  return list.listed;
}

}  // namespace weft::core
