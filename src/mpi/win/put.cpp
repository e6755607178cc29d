// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Put and get (MPI-5.0, 12.3.2, 12.3.3 and 12.3.5).

#include <cstring>

#include "core/protocol/p2p.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/win/window.hpp"

namespace weft::mpi {
namespace {

using core::rma::Local;
using core::rma::Remote;
using core::rma::Target;

// The window that was remembered; where there is none, what is no handle of a program. Erased, so that it is a
// constant.
constinit const char no_win = 0;
constinit std::atomic<const void*> recent_win = &no_win;

[[gnu::always_inline]] inline const Win* recent() {
  return static_cast<const Win*>(recent_win.load(std::memory_order_relaxed));
}

[[gnu::always_inline]] inline bool is_other(MPI_Win handle, const Win* win) {
  return reinterpret_cast<uintptr_t>(handle) != reinterpret_cast<uintptr_t>(win);
}
[[gnu::always_inline]] inline bool is_beyond(int rank, const Win& win) {
  return static_cast<uint32_t>(rank) >= static_cast<uint32_t>(win.size);
}

// 8 bytes of a predefined datatype, the same at both ends, where they lie at a target that is open and in our address
// space. nullptr: look closer. A few instructions (bench/instructions.py): comparisons of arguments stand between
// loads, or g++ makes sums of several, which takes more.
[[gnu::always_inline]] inline char* word_access(const Win& win, const void* buffer, MPI_Count count,
                                                MPI_Datatype datatype, const TargetData& place) {
  const auto type = reinterpret_cast<uintptr_t>(datatype);
  int64_t bytes = 0;
  if (type >= predefined_limit || __builtin_mul_overflow(count, int64_t{plain_sizes[type]}, &bytes)) [[unlikely]]
    return nullptr;
  const Target& target = win.targets[static_cast<uint32_t>(place.rank)];
  if (bytes != 8) [[unlikely]]
    return nullptr;
  int64_t offset = 0;
  if (__builtin_mul_overflow(place.disp, static_cast<int64_t>(target.word_unit), &offset)) [[unlikely]]
    return nullptr;
  if (static_cast<uint64_t>(offset) >= target.words) [[unlikely]]  // also below 0
    return nullptr;
  if (count != place.count) [[unlikely]]
    return nullptr;
  char* direct = target.direct.load(std::memory_order_acquire);  // pairs with the release that opens the target
  if (direct == nullptr) [[unlikely]]
    return nullptr;
  return no_address(buffer) ? nullptr : direct + offset;
}

// Most other calls: as much of one plain datatype here as there, in any window.
[[gnu::always_inline]] inline char* plain_access(int64_t& bytes, const DataArgument& origin, const TargetData& place,
                                                 MPI_Win handle) {
  const Win* win = win_of(handle);
  if (win == nullptr || static_cast<uint32_t>(place.rank) >= static_cast<uint32_t>(win->size) ||
      origin.datatype != place.datatype || origin.count != place.count || no_address(origin.buffer)) {
    return nullptr;
  }
  const Type* type = type_of(origin.datatype);
  if (type == nullptr || !type->plain || origin.count < 0 || __builtin_mul_overflow(origin.count, type->size, &bytes)) {
    return nullptr;
  }
  const Target& target = win->targets[place.rank];
  char* direct = target.direct.load(std::memory_order_acquire);  // pairs with the release that opens the target
  if (direct == nullptr) return nullptr;
  int64_t offset = 0;
  if (__builtin_mul_overflow(place.disp, static_cast<int64_t>(target.unit), &offset)) return nullptr;
  const auto room = static_cast<uint64_t>(bytes);
  if (room > target.region.bytes || static_cast<uint64_t>(offset) > target.region.bytes - room)
    return nullptr;  // also below 0
  return direct + offset;
}

int copy(void* to, const void* from, int64_t bytes) {
  memcpy(to, from, static_cast<size_t>(bytes));
  return MPI_SUCCESS;
}

// The general paths, with arguments that may be wrong; `request` is nullptr for calls that have none.

int put_checked(const char* function, const DataArgument& origin, const TargetData& place, MPI_Win win,
                MPI_Request* request) {
  WinCheck check(function, win);
  check.rank(place.rank, "rank");
  if (check.failed() || place.rank == MPI_PROC_NULL) return check.error();
  const Local from = check.data(origin);
  Remote to = check.place(place);
  check.fit(from, to);
  return perform(check, to, request, {from.type, to.type},
                 [&](Request* r) { return core::rma::put(check.win(), from, to, r); });
}

int get_checked(const char* function, const DataArgument& origin, const TargetData& place, MPI_Win win,
                MPI_Request* request) {
  WinCheck check(function, win);
  check.rank(place.rank, "rank");
  if (check.failed() || place.rank == MPI_PROC_NULL) return check.error();
  Local to = check.data(origin);
  const Remote from = check.place(place);
  check.fit(from, to);
  return perform(check, from, request, {to.type, from.type},
                 [&](Request* r) { return core::rma::get(check.win(), to, from, r); });
}

// Their arguments lie where those of the entries do, so that they are reached by a jump.

[[gnu::noinline]] int put_general(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                                  int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                  MPI_Datatype target_datatype, MPI_Win win) {
  const DataArgument origin{origin_addr, origin_count, origin_datatype, "origin_"};
  const TargetData place{target_rank, target_disp, target_count, target_datatype};
  int64_t bytes = 0;
  if (char* there = plain_access(bytes, origin, place, win)) return copy(there, origin_addr, bytes);
  return put_checked("MPI_Put", origin, place, win, nullptr);
}

[[gnu::noinline]] int get_general(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                                  int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                  MPI_Datatype target_datatype, MPI_Win win) {
  const DataArgument origin{origin_addr, origin_count, origin_datatype, "origin_"};
  const TargetData place{target_rank, target_disp, target_count, target_datatype};
  int64_t bytes = 0;
  if (const char* there = plain_access(bytes, origin, place, win)) return copy(origin_addr, there, bytes);
  return get_checked("MPI_Get", origin, place, win, nullptr);
}

}  // namespace

void remember(const Win& win) {
  if (recent_win.load(std::memory_order_relaxed) != &win) recent_win.store(&win, std::memory_order_relaxed);
}

void forget(const Win& win) {
  const void* expected = &win;
  recent_win.compare_exchange_strong(expected, &no_win, std::memory_order_relaxed);
}

// With one datatype for both sides the target's is not passed on, which keeps a register free for the fast path.

int put_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
          MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
  const Win* w = recent();
  if (is_other(win, w) || is_beyond(target_rank, *w) || origin_datatype != target_datatype) [[unlikely]] {
    return put_general(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                       target_datatype, win);
  }
  char* there = word_access(*w, origin_addr, origin_count, origin_datatype,
                            {target_rank, target_disp, target_count, origin_datatype});
  if (there == nullptr) [[unlikely]] {
    return put_general(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                       origin_datatype, win);
  }
  memcpy(there, origin_addr, 8);
  return MPI_SUCCESS;
}

int get_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
          MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
  const Win* w = recent();
  if (is_other(win, w) || is_beyond(target_rank, *w) || origin_datatype != target_datatype) [[unlikely]] {
    return get_general(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                       target_datatype, win);
  }
  const char* there = word_access(*w, origin_addr, origin_count, origin_datatype,
                                  {target_rank, target_disp, target_count, origin_datatype});
  if (there == nullptr) [[unlikely]] {
    return get_general(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                       origin_datatype, win);
  }
  memcpy(origin_addr, there, 8);
  return MPI_SUCCESS;
}

// These do the same as put_c() and get_c() for faces (object/foreign.hpp), with fewer arguments.

int put_same(const void* origin, MPI_Count count, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Win win) {
  const Win* w = recent();
  if (is_other(win, w) || is_beyond(rank, *w)) [[unlikely]]
    return put_general(origin, count, datatype, rank, disp, count, datatype, win);
  char* there = word_access(*w, origin, count, datatype, {rank, disp, count, datatype});
  if (there == nullptr) [[unlikely]]
    return put_general(origin, count, datatype, rank, disp, count, datatype, win);
  memcpy(there, origin, 8);
  return MPI_SUCCESS;
}

int get_same(void* origin, MPI_Count count, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Win win) {
  const Win* w = recent();
  if (is_other(win, w) || is_beyond(rank, *w)) [[unlikely]]
    return get_general(origin, count, datatype, rank, disp, count, datatype, win);
  const char* there = word_access(*w, origin, count, datatype, {rank, disp, count, datatype});
  if (there == nullptr) [[unlikely]]
    return get_general(origin, count, datatype, rank, disp, count, datatype, win);
  memcpy(origin, there, 8);
  return MPI_SUCCESS;
}

int rput_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
           MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
           MPI_Request* request) {
  static const char* function = "MPI_Rput";
  const DataArgument origin{origin_addr, origin_count, origin_datatype, "origin_"};
  const TargetData place{target_rank, target_disp, target_count, target_datatype};
  if (int error = begin_request(function, win, target_rank, request)) return error;
  int64_t bytes = 0;
  if (char* there = plain_access(bytes, origin, place, win)) return copy(there, origin_addr, bytes);
  return put_checked(function, origin, place, win, request);
}

int rget_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
           MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
           MPI_Request* request) {
  static const char* function = "MPI_Rget";
  const DataArgument origin{origin_addr, origin_count, origin_datatype, "origin_"};
  const TargetData place{target_rank, target_disp, target_count, target_datatype};
  if (int error = begin_request(function, win, target_rank, request)) return error;
  int64_t bytes = 0;
  if (const char* there = plain_access(bytes, origin, place, win)) return copy(origin_addr, there, bytes);
  return get_checked(function, origin, place, win, request);
}

}  // namespace weft::mpi
