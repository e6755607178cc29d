// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Synchronisation on windows (MPI-5.0, 12.5).

#include <vector>

#include "coll/coll.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/object/wait_record.hpp"
#include "mpi/win/window.hpp"

namespace weft::mpi {
namespace {

// The ranks in the window of a group's members.
std::vector<int32_t> ranks_of(WinCheck& check, MPI_Group handle) {
  std::vector<int32_t> ranks;
  if (check.failed()) return ranks;
  const Win& win = check.win();
  const core::Group* group = group_of(handle);
  if (group == nullptr) {
    check.fail(MPI_ERR_GROUP, "a group is needed, but the argument is %s",
               handle_text(reinterpret_cast<uintptr_t>(handle)).c_str());
    return ranks;
  }
  const RankFinder finder(*win.comm->group, group->size);
  ranks.reserve(static_cast<size_t>(group->size));
  for (int32_t r = 0; r < group->size; ++r) {
    ranks.push_back(finder.rank_of(group->job_rank(r)));
    if (ranks.back() >= 0) continue;
    check.fail(MPI_ERR_GROUP, "member %d of the group is not a rank of %s", r, win_text(win).c_str());
    break;
  }
  return ranks;
}

bool is_checked(int assert) {
  return (assert& MPI_MODE_NOCHECK) == 0;
}

int flush(const char* function, MPI_Win handle, int rank, bool local) {
  Win* const win = win_of(handle);
  int32_t error = core::no_error;
  if (win != nullptr && static_cast<uint32_t>(rank) < static_cast<uint32_t>(win->size)) [[likely]] {
    error = core::rma::flush(*win, rank, local);
    if (error == core::no_error) [[likely]]
      return MPI_SUCCESS;
  }
  WinCheck check(function, handle);
  check.rank(rank, "rank");
  return check.failed() || rank == MPI_PROC_NULL ? check.error() : check.done(error);
}

int flush_all(const char* function, MPI_Win win, bool local) {
  WinCheck check(function, win);
  return check.failed() ? check.error() : check.done(core::rma::flush_all(check.win(), local));
}

}  // namespace

// ---- Fence

// All assertions need the barrier: a rank that leaves the fence may access, and be accessed, at once.
int win_fence(int assert, MPI_Win win) {
  WinCheck check("MPI_Win_fence", win);
  check.assertions(assert, MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED);
  if (check.failed()) return check.error();
  Win& w = check.win();
  const WaitRecord wait_record = wait_record_of_all("MPI_Win_fence", static_cast<Comm&>(*w.comm));
  const Doing doing(wait_record);
  const int32_t error = core::rma::end_fence(w);
  if (error == core::rma_sync) return check.done(error);
  const int32_t failed = coll::barrier(*w.comm);  // also when an operation failed: the others wait for us
  const bool succeed = (assert& MPI_MODE_NOSUCCEED) == 0;
  core::rma::begin_fence(w, succeed);
  remember(w);
  return check.done(error != core::no_error ? error : failed);
}

// ---- Groups

int win_start(MPI_Group group, int assert, MPI_Win win) {
  WinCheck check("MPI_Win_start", win);
  check.assertions(assert, MPI_MODE_NOCHECK);
  std::vector<int32_t> ranks = ranks_of(check, group);
  if (check.failed()) return check.error();
  remember(check.win());
  return check.done(core::rma::start(check.win(), std::move(ranks), is_checked(assert)));
}

int win_complete(MPI_Win win) {
  WinCheck check("MPI_Win_complete", win);
  return check.failed() ? check.error() : check.done(core::rma::complete(check.win()));
}

int win_post(MPI_Group group, int assert, MPI_Win win) {
  WinCheck check("MPI_Win_post", win);
  check.assertions(assert, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT);
  std::vector<int32_t> ranks = ranks_of(check, group);
  if (check.failed()) return check.error();
  return check.done(core::rma::post(check.win(), std::move(ranks), is_checked(assert)));
}

int win_wait(MPI_Win win) {
  WinCheck check("MPI_Win_wait", win);
  return check.failed() ? check.error() : check.done(core::rma::wait(check.win()));
}

int win_test(MPI_Win win, int* flag) {
  WinCheck check("MPI_Win_test", win);
  check.pointer(flag, "flag");
  if (check.failed()) return check.error();
  bool over = false;
  const int32_t error = core::rma::test(check.win(), over);
  *flag = over ? 1 : 0;
  return check.done(error);
}

// ---- Locks

int win_lock(int lock_type, int rank, int assert, MPI_Win win) {
  WinCheck check("MPI_Win_lock", win);
  if (!check.failed() && lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE) {
    check.fail(MPI_ERR_LOCKTYPE, "lock_type is %d: it must be MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE", lock_type);
  }
  check.rank(rank, "rank");
  check.assertions(assert, MPI_MODE_NOCHECK);
  if (check.failed() || rank == MPI_PROC_NULL) return check.error();
  remember(check.win());
  const auto kind = lock_type == MPI_LOCK_SHARED ? core::rma::LockState::shared : core::rma::LockState::exclusive;
  return check.done(core::rma::lock(check.win(), rank, kind, is_checked(assert)));
}

int win_unlock(int rank, MPI_Win win) {
  WinCheck check("MPI_Win_unlock", win);
  check.rank(rank, "rank");
  if (check.failed() || rank == MPI_PROC_NULL) return check.error();
  return check.done(core::rma::unlock(check.win(), rank));
}

int win_lock_all(int assert, MPI_Win win) {
  WinCheck check("MPI_Win_lock_all", win);
  check.assertions(assert, MPI_MODE_NOCHECK);
  if (check.failed()) return check.error();
  remember(check.win());
  return check.done(core::rma::lock_all(check.win(), is_checked(assert)));
}

int win_unlock_all(MPI_Win win) {
  WinCheck check("MPI_Win_unlock_all", win);
  return check.failed() ? check.error() : check.done(core::rma::unlock_all(check.win()));
}

// ---- Flush

int win_flush(int rank, MPI_Win win) {
  return flush("MPI_Win_flush", win, rank, false);
}

int win_flush_local(int rank, MPI_Win win) {
  return flush("MPI_Win_flush_local", win, rank, true);
}

int win_flush_all(MPI_Win win) {
  return flush_all("MPI_Win_flush_all", win, false);
}

int win_flush_local_all(MPI_Win win) {
  return flush_all("MPI_Win_flush_local_all", win, true);
}

int win_sync(MPI_Win win) {
  WinCheck check("MPI_Win_sync", win);
  return check.failed() ? check.error() : check.done(core::rma::sync(check.win()));
}

}  // namespace weft::mpi
