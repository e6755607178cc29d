// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/setup.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/lock.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/start/join.hpp"
#include "coll/coll.hpp"
#include "coll/runtime/start.hpp"
#include "core/lane/lane.hpp"
#include "core/object/identity.hpp"
#include "core/peer/peer.hpp"
#include "core/progress/waiting.hpp"
#include "core/runtime/init_refcount.hpp"
#include "core/thread/thread.hpp"
#include "device/api/device.hpp"
#include "device/api/pins.hpp"
#include "device/select/choice.hpp"
#include "observe/observe.hpp"
#include "shmem/environment.hpp"
#include "shmem/error.hpp"
#include "shmem/heap.hpp"
#include "shmem/order.hpp"
#include "shmem/remote.hpp"
#include "shmem/team.hpp"

namespace weft::shmem {

constinit State state;

namespace {

// Under `life`, which is held while OpenSHMEM starts or ends.
constinit base::Lock life;
int starts = 0;  // calls of shmem_init without their shmem_finalize
bool joined = false;
bool ends_at_exit = false;  // start_pes
pid_t process = 0;
std::vector<Near>* near_table = nullptr;

// Collective, as all that follows until the end of the start.
void open(uint64_t heap_bytes) {
  const core::Identity& own = *core::identity;
  open_teams();
  open_contexts();
  char* heap = obtain_heap(heap_bytes, heap_slack);
  open_heap(heap_bytes);
  open_windows(world_team().comm, second_world().comm, heap, heap_bytes);
  near_table = new std::vector<Near>(static_cast<size_t>(own.size));
  for (int32_t pe = 0; pe < own.size; ++pe) {
    Near& near = (*near_table)[static_cast<size_t>(pe)];
    if (!own.job.one_host() && own.job.place_here(pe) < 0) continue;
    near.heap = mapped_heap(pe);
    near.endpoint = core::peers->of(pe).endpoint;
  }
  state.heap = reinterpret_cast<uintptr_t>(heap);
  state.heap_bytes = heap_bytes;
  state.pe = own.rank;
  state.near = near_table->data();
  state.afar = !own.job.one_host();
  device::at_open = [] { state.word = 0; };
  state.word = device::on() ? 0 : sizeof(uint64_t);
  check("shmem_init", coll::barrier(world_team().comm));  // all windows are open
  state.pes = static_cast<uint32_t>(own.size);
  state.counts = observe::begin();
  observe::start_together();
}

// After a barrier. Notices of freed contexts reach their owners before these may leave the job.
void close() {
  observe::report(world_team().comm);
  close_contexts();
  close_teams();
  core::wait_until([] { return core::lanes->sends_open() == 0; });
  check("shmem_finalize", coll::barrier(world_team().comm));
  state.pes = 0;
  state.counts = false;
  close_windows();
  return_heap(reinterpret_cast<char*>(state.heap));
  close_heap();
  close_world_team();
  delete near_table;
  near_table = nullptr;
  state.near = nullptr;
  state.heap = state.heap_bytes = 0;
  observe::end();
}

// The program may start OpenSHMEM again, so the job is left when the process exits. A child of fork() is no PE.
void leave_at_exit() {
  if (getpid() != process) return;
  if (ends_at_exit && starts != 0) finalize();
  std::lock_guard lock(life);
  if (starts != 0 || !joined) return;
  device::close();
  core::leave();
}

void start(int level, bool once) {
  std::lock_guard lock(life);
  if (once && starts != 0) return;
  if (starts++ != 0) return barrier_all("shmem_init");
  const uint64_t heap_bytes = read_environment();
  if (!joined) {
    if (const std::string problem = device::open(); !problem.empty()) {
      fail("shmem_init", "WEFT_DEVICES: " + problem, "install the driver, or set WEFT_DEVICES=off");
    }
    if (!core::join(level == SHMEM_THREAD_MULTIPLE, coll::start)) {
      fail("shmem_init", "this process has left the job, as it exits", "initialise OpenSHMEM before");
    }
    if (core::identity->first != 0) {
      fail("shmem_init",
           "this process was spawned by MPI_Comm_spawn, and OpenSHMEM knows the ranks of a job's start alone",
           "use MPI in spawned processes, or start the program with mpiexec");
    }
    joined = true;
    process = getpid();
    (void)atexit(leave_at_exit);
  }
  state.thread_level = core::threads->multiple         ? SHMEM_THREAD_MULTIPLE
                       : level < SHMEM_THREAD_MULTIPLE ? level
                                                       : SHMEM_THREAD_SERIALIZED;
  open(heap_bytes);
  tell_of_start();
}

}  // namespace

void init() {
  start(SHMEM_THREAD_SINGLE, false);
}

int init_thread(int requested, int* provided) {
  if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE) {
    fail("shmem_init_thread", "the level of thread support is " + std::to_string(requested),
         "give SHMEM_THREAD_SINGLE, FUNNELED, SERIALIZED or MULTIPLE");
  }
  start(requested, false);
  *provided = state.thread_level;
  return 0;
}

void start_pes() {
  start(SHMEM_THREAD_SINGLE, true);
  ends_at_exit = true;
}

void finalize() {
  need_start("shmem_finalize");
  quiet_contexts_of(SHMEM_TEAM_INVALID);
  barrier_all("shmem_finalize");
  std::lock_guard lock(life);
  if (--starts != 0) return;
  ends_at_exit = false;
  close();
}

void query_initialized(int* initialized) {
  *initialized = state.pes != 0 ? 1 : 0;
}

void query_thread(int* provided) {
  need_start("shmem_query_thread");
  *provided = state.thread_level;
}

void global_exit(int status) {
  need_start("shmem_global_exit");
  boot::abort(status, nullptr);
}

int my_pe() {
  need_start("shmem_my_pe");
  return state.pe;
}

int n_pes() {
  need_start("shmem_n_pes");
  return static_cast<int>(state.pes);
}

int pe_accessible(int pe) {
  return static_cast<uint32_t>(pe) < state.pes ? 1 : 0;
}

int addr_accessible(const void* address, int pe) {
  return pe_accessible(pe) != 0 && window_of(address, 1) != nullptr ? 1 : 0;
}

// Our own static data lie where they are; those of other PEs cannot be mapped.
void* pointer(const char* function, const void* dest, int pe) {
  need_start(function);
  if (pe_accessible(pe) == 0) bad_pe(function, pe, state.pes, "the job");
  if (window_of(dest, 1) == nullptr) return nullptr;
  if (pe == state.pe) return const_cast<void*>(dest);
  const uintptr_t offset = reinterpret_cast<uintptr_t>(dest) - state.heap;
  char* heap = state.near[pe].heap;
  return offset < state.heap_bytes && heap != nullptr ? heap + offset : nullptr;
}

void* team_pointer(const char* function, shmem_team_t team, const void* dest, int pe) {
  if (team == SHMEM_TEAM_INVALID) return nullptr;
  const core::Comm& comm = team_of(function, team).comm;
  if (pe < 0 || pe >= comm.size) bad_pe(function, pe, static_cast<uint32_t>(comm.size), "the team");
  return pointer(function, dest, comm.job_rank(pe));
}

void info_get_version(int* major, int* minor) {
  *major = SHMEM_MAJOR_VERSION;
  *minor = SHMEM_MINOR_VERSION;
}

void info_get_name(char* name) {
  (void)strcpy(name, SHMEM_VENDOR_STRING);
}

}  // namespace weft::shmem
