// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/observe/observe.hpp"

#include <atomic>
#include <cstring>
#include <iterator>
#include <utility>

#include "mpi/face.hpp"
#include "mpi/observe/observed.hpp"
#include "mpi/observe/thread_check.hpp"
#include "observe/observe.hpp"

namespace weft::mpi {
namespace {

bool observes = false;
bool exchanged = false;

uintptr_t observed_isend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag_, MPI_Comm comm) {
  Observed here(stats::Call::isend_);
  here.on(comm);
  here.data(count, datatype);
  here.to(comm, dest);
  const uintptr_t made = isend_made(buf, count, datatype, dest, tag_, comm);
  here.finish();
  return made;
}

int observed_put(const void* origin, MPI_Count count, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Win win) {
  Observed here(stats::Call::put_);
  here.on(win);
  here.data(count, datatype);
  here.to(win, rank);
  return here.end(put_same(origin, count, datatype, rank, disp, win));
}

int observed_get(void* origin, MPI_Count count, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Win win) {
  Observed here(stats::Call::get_);
  here.on(win);
  here.data(count, datatype);
  here.to(win, rank);
  return here.end(get_same(origin, count, datatype, rank, disp, win));
}

// Puts these functions behind the entry points; calls under way go on as they began.
void exchange_calls(const Face& with, bool observed) {
  Face next = with;
  next.hooks = face_hooks;
  if (observed) {
    next.hooks.isend = observed_isend;
    next.hooks.put = observed_put;
    next.hooks.get = observed_get;
  }
  static_assert(sizeof(Face) % sizeof(uintptr_t) == 0);
  auto* words = reinterpret_cast<uintptr_t*>(&weft_calls);
  uintptr_t fresh[sizeof(Face) / sizeof(uintptr_t)];
  memcpy(fresh, static_cast<const void*>(&next), sizeof fresh);
  // Other threads may be calling: each word is one function.
  for (size_t i = 0; i < std::size(fresh); ++i) std::atomic_ref(words[i]).store(fresh[i], std::memory_order_release);
}

Face& plain_calls() {
  static Face plain;
  return plain;
}

}  // namespace

void begin_observing() {
  observes = true;
  const bool counts = observe::begin();
  checks_calls = wants_thread_check();
  if (!counts && !checks_calls) return;
  plain_calls() = weft_calls;
  exchange_calls(observed_calls, true);
  exchanged = true;
}

void end_observing() {
  if (exchanged) exchange_calls(plain_calls(), false);
  exchanged = false;
  if (std::exchange(observes, false)) observe::end();
}

}  // namespace weft::mpi
