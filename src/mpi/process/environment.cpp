// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Start, end and environment (MPI-5.0, chapters 9 and 11).
#include "mpi/process/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "base/clock.hpp"
#include "base/mpi_libraries.hpp"
#include "base/process.hpp"
#include "base/setting.hpp"
#include "boot/start/join.hpp"
#include "coll/coll.hpp"
#include "coll/runtime/start.hpp"
#include "core/diagnose/collective_mismatch.hpp"
#include "core/dynamic/context.hpp"
#include "core/dynamic/processes.hpp"
#include "core/lane/lane.hpp"
#include "core/object/failure.hpp"
#include "core/object/identity.hpp"
#include "core/peer/peer.hpp"
#include "core/progress/waiting.hpp"
#include "core/runtime/init_refcount.hpp"
#include "core/thread/thread.hpp"
#include "device/api/pins.hpp"
#include "device/select/choice.hpp"
#include "io/ring.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/env/hw_resource.hpp"
#include "mpi/env/info.hpp"
#include "mpi/functions.hpp"
#include "mpi/names.hpp"
#include "mpi/object/attribute.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/object/wait_record.hpp"
#include "mpi/observe/observe.hpp"
#include "mpi/observe/thread_check.hpp"
#include "mpi/p2p/bsend.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/process/spawn.hpp"
#include "mpi/stream/stream.hpp"
#include "observe/observe.hpp"

namespace weft::mpi {

constinit Environment environment;

namespace {

// Held while the process joins or leaves the job. Errors are raised without it.
constinit base::Lock life;

// The number of loaded files when the process was last looked at for a second MPI library.
uint64_t files_looked_at = 0;

// This runs at the start and at the end, since plug-ins come in between. The caller has the lock.
void look_for_second_mpi_library() {
  const uint64_t files = base::files_loaded();
  if (files == files_looked_at) return;
  files_looked_at = files;
  base::warn_of_second_mpi_library();
}

// Joins the job, or takes part in it again, unless that was done. `level` is what is asked for, and then what there is.
// False: the process has left the job. The caller holds the lock.
bool start_runtime(int& level) {
  level = std::min(level, highest_thread_level);
  if (!environment.joined) {
    base::load_settings();
    if (const std::string problem = device::open(); !problem.empty()) {
      core::failed(core::FailureCause::start,
                   {.cause = "WEFT_DEVICES: " + problem, .remedy = "install the driver, or set WEFT_DEVICES=off"});
    }
    build_predefined_objects();
    core::set_call_of([](const Request& r) { return is_collective(r) ? &past_of_collective(r) : nullptr; });
    if (!core::join(level == MPI_THREAD_MULTIPLE, coll::start)) return false;
    environment.joined = true;
    look_for_second_mpi_library();
    choose_receives();
    if (!was_finalized()) begin_observing();
  }
  if (!core::threads->multiple) level = std::min(level, MPI_THREAD_SERIALIZED);
  return true;
}

// The process may end after this call, unless OpenSHMEM is in use. The caller holds the lock.
void end_runtime() {
  look_for_second_mpi_library();
  end_streams();
  flush_all_buffers();
  io::stop_ring();
  io::stop_workers();
  end_observing();
  device::close();
  core::leave();
  free_unused_comms();
  environment.joined = false;
}

// Sessions alone never tell which one is the last: that is known at exit. A child of fork() is no rank, and ends
// nothing.
void end_at_exit() {
  if (getpid() != environment.process) return;
  std::lock_guard lock(life);
  if (environment.joined && environment.phase.load(std::memory_order_relaxed) == WorldPhase::before &&
      environment.sessions.load(std::memory_order_relaxed) == 0) {
    end_runtime();
  }
}

// Starts the world model. Returns why it cannot be, nullptr when it was.
const char* start_world(int required) {
  std::lock_guard lock(life);
  if (environment.phase.load(std::memory_order_relaxed) == WorldPhase::running) return "MPI is initialised already";
  if (was_finalized()) return "MPI was finalized: it cannot be initialised a second time";
  int level = required;
  if (!start_runtime(level)) return "this process has left the job, as it exits";
  build_world_communicators();
  observe::start_together();
  environment.thread_level = level;
  environment.main_thread = base::kernel_thread();
  begin_thread_check(thread_level_name(level), level == MPI_THREAD_FUNNELED ? environment.main_thread : 0);
  environment.phase.store(WorldPhase::running, std::memory_order_release);
  return nullptr;
}

int start(const char* function, int required, int* provided) {
  if (const char* why = start_world(required)) return fail(nullptr, function, MPI_ERR_OTHER, "%s", why);
  if (provided != nullptr) *provided = environment.thread_level;
  return meet_parents(function);
}

// MPI_Finalize is collective: until all ranks are in it, any of them may need our progress, to take a send back or to
// fetch the data of an RTS. First, our own messages leave, because no rank makes progress for us after the barrier. At
// the end, we wait for the messages of receives whose requests were freed, since the barrier may use no messages.
void meet_all() {
  const WaitRecord wait_record = wait_record_of_all("MPI_Finalize", *comm_of(MPI_COMM_WORLD));
  const Doing doing(wait_record);
  flush_all_buffers();
  core::leave_together();
  if (environment.sessions.load(std::memory_order_relaxed) == 0) core::end_releases();
  core::wait_until([] {
    return core::lanes->sends_open() == 0 && core::peers->queues_waiting.load(std::memory_order_relaxed) == 0;
  });
  (void)coll::barrier(*comm_of(MPI_COMM_WORLD));
  core::wait_until([] { return !core::lanes->receives_streams(); });
}

}  // namespace

bool is_running() {
  return environment.phase.load(std::memory_order_acquire) == WorldPhase::running ||
         environment.sessions.load(std::memory_order_acquire) > 0;
}

bool was_finalized() {
  return environment.phase.load(std::memory_order_acquire) == WorldPhase::finalized;
}

bool open_session(int& level) {
  std::lock_guard lock(life);
  const bool first = !environment.joined;
  if (!start_runtime(level)) return false;
  if (first) {
    environment.thread_level = level;
    begin_thread_check(thread_level_name(level), 0);
    if (environment.process == 0) atexit(end_at_exit);
    environment.process = getpid();
  }
  environment.sessions.fetch_add(1, std::memory_order_release);
  return true;
}

void close_session() {
  std::lock_guard lock(life);
  if (environment.sessions.fetch_sub(1, std::memory_order_relaxed) == 1 && was_finalized()) end_runtime();
}

Standstill::Standstill() {
  life.lock();
}

Standstill::~Standstill() {
  life.unlock();
}

bool Standstill::has_joined() const {
  return core::identity->running;
}

bool Standstill::has_left() const {
  return core::has_left();
}

const char* thread_level_name(int level) {
  for (const names::Constant& row : names::thread_levels) {
    if (row.value == level) return row.name;
  }
  return "MPI_THREAD_SINGLE";
}

int thread_level_of(const char* name, int otherwise) {
  for (const names::Constant& row : names::thread_levels) {
    if (strcmp(row.name, name) == 0) return row.value;
  }
  return otherwise;
}

int init(int*, char***) {
  return start("MPI_Init", MPI_THREAD_SINGLE, nullptr);
}

int init_thread(int*, char***, int required, int* provided) {
  static const char* function = "MPI_Init_thread";
  if (required != MPI_THREAD_SINGLE && required != MPI_THREAD_FUNNELED && required != MPI_THREAD_SERIALIZED &&
      required != MPI_THREAD_MULTIPLE) {
    return fail(nullptr, function, MPI_ERR_ARG,
                "%d is no level of thread support: give MPI_THREAD_SINGLE, FUNNELED, "
                "SERIALIZED or MULTIPLE",
                required);
  }
  if (no_address(provided)) return null_argument(nullptr, function, "provided");
  return start(function, required, provided);
}

int finalize() {
  static const char* function = "MPI_Finalize";
  if (environment.phase.load(std::memory_order_acquire) != WorldPhase::running) return not_running(function);
  // The attributes of MPI_COMM_SELF first, while MPI still works for their callbacks (MPI-5.0, 11.2.4).
  Comm* self = comm_of(MPI_COMM_SELF);
  int error = delete_attributes(*self);
  if (error != MPI_SUCCESS) {
    return fail(self, function, error, "a delete callback of an attribute of MPI_COMM_SELF failed");
  }
  (void)delete_attributes(*comm_of(MPI_COMM_WORLD));
  if (environment.sessions.load(std::memory_order_relaxed) == 0) end_streams();
  meet_all();
  observe::report(*comm_of(MPI_COMM_WORLD));
  std::lock_guard lock(life);
  if (environment.sessions.load(std::memory_order_relaxed) == 0) end_runtime();
  free_world_communicators();
  environment.phase.store(WorldPhase::finalized, std::memory_order_release);
  return MPI_SUCCESS;
}

int initialized(int* flag) {
  if (no_address(flag)) return null_argument(nullptr, "MPI_Initialized", "flag");
  *flag = environment.phase.load(std::memory_order_acquire) != WorldPhase::before;
  return MPI_SUCCESS;
}

int finalized(int* flag) {
  if (no_address(flag)) return null_argument(nullptr, "MPI_Finalized", "flag");
  *flag = was_finalized();
  return MPI_SUCCESS;
}

int query_thread(int* provided) {
  static const char* function = "MPI_Query_thread";
  if (!is_running()) return not_running(function);
  if (no_address(provided)) return null_argument(nullptr, function, "provided");
  *provided = environment.thread_level;
  return MPI_SUCCESS;
}

int is_thread_main(int* flag) {
  static const char* function = "MPI_Is_thread_main";
  if (!is_running()) return not_running(function);
  if (no_address(flag)) return null_argument(nullptr, function, "flag");
  *flag = base::kernel_thread() == environment.main_thread;
  return MPI_SUCCESS;
}

int abort(MPI_Comm comm, int errorcode) {
  Comm* c = comm_of(comm);
  if (c == nullptr && is_running()) return bad_comm("MPI_Abort", comm);
  std::string why = "MPI_Abort(" + (c != nullptr ? comm_text(*c) : handle_text(reinterpret_cast<uintptr_t>(comm))) +
                    ", " + std::to_string(errorcode) + ") was called: the job ends";
  boot::abort(errorcode != 0 ? errorcode : 1, why.c_str());  // scripts must see that the program was aborted
}

double wtime() {
  return static_cast<double>(base::now_ns()) * 1e-9;
}

double wtick() {
  timespec resolution;
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return static_cast<double>(resolution.tv_sec) + static_cast<double>(resolution.tv_nsec) * 1e-9;
}

int get_version(int* version, int* subversion) {
  if (no_address(version)) return null_argument(nullptr, "MPI_Get_version", "version");
  if (no_address(subversion)) return null_argument(nullptr, "MPI_Get_version", "subversion");
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}

int get_library_version(char* version, int* resultlen) {
  if (no_address(version)) return null_argument(nullptr, "MPI_Get_library_version", "version");
  if (no_address(resultlen)) return null_argument(nullptr, "MPI_Get_library_version", "resultlen");
  *resultlen = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "Weft %s (MPI %d.%d, standard ABI %d.%d)",
                        WEFT_VERSION, MPI_VERSION, MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
  return MPI_SUCCESS;
}

int get_processor_name(char* name, int* resultlen) {
  static const char* function = "MPI_Get_processor_name";
  if (!is_running()) return not_running(function);
  if (no_address(name)) return null_argument(nullptr, function, "name");
  if (no_address(resultlen)) return null_argument(nullptr, function, "resultlen");
  if (gethostname(name, MPI_MAX_PROCESSOR_NAME) != 0) strcpy(name, "localhost");
  name[MPI_MAX_PROCESSOR_NAME - 1] = '\0';
  *resultlen = static_cast<int>(strlen(name));
  return MPI_SUCCESS;
}

// Which resources the process is restricted to one of. One domain of shared memory it always is: its host.
int get_hw_resource_info(MPI_Info* hw_info) {
  static const char* function = "MPI_Get_hw_resource_info";
  if (!is_running()) return not_running(function);
  if (no_address(hw_info)) return null_argument(nullptr, function, "hw_info");
  Info* info = make_info();
  if (info == nullptr) return no_memory(nullptr, function, "an info object");
  info->set("mpi_shared_memory", "true");
  const HwInstances instances = hw_instances();
  for (size_t i = 0; i < instances.size(); ++i) info->set(hw_resource_types[i], instances[i] >= 0 ? "true" : "false");
  *hw_info = handle_of<MPI_Info>(info);
  return MPI_SUCCESS;
}

int pcontrol(const int) {
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
