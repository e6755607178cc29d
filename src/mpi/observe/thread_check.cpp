// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/observe/thread_check.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <iterator>
#include <string>

#include "base/message.hpp"
#include "base/process.hpp"
#include "base/setting.hpp"
#include "core/thread/thread.hpp"

namespace weft::mpi {

constinit bool checks_calls = false;

namespace {

constexpr const char* check_words[] = {"off", "threads"};
#ifdef WEFT_DEBUG
constexpr int default_check = 1;
#else
constexpr int default_check = 0;
#endif
constinit base::ChoiceSetting check_row{
    {.name = "WEFT_CHECK",
     .help = "mistakes of the program that end the job: threads, two threads in MPI at the same time below "
             "MPI_THREAD_MULTIPLE, or at MPI_THREAD_FUNNELED another one than that which initialised MPI. The default "
             "is off; threads in builds for debugging"},
    default_check,
    check_words,
    std::size(check_words)};
WEFT_SETTING(check_row);

// Members without an atomic type are written before `on`, or by the thread that is inside.
struct ThreadCheck {
  std::atomic<bool> on{false};
  std::atomic<bool> found{false};
  const char* level = "";
  std::atomic<pid_t> main_thread{0};
  std::atomic<uint64_t> inside{0};  // the thread that is in a call, and its outermost call; 0: none is
  uint32_t depth = 0;
};
constinit ThreadCheck check;

constexpr int thread_shift = 32;

pid_t own_id() {
  static thread_local const pid_t id = base::kernel_thread();
  return id;
}

pid_t thread_of(uint64_t inside) {
  return static_cast<pid_t>(inside >> thread_shift);
}

const char* call_of(uint64_t inside) {
  return stats::call_info[static_cast<uint32_t>(inside)].name;
}

// Calls that any thread may make at any time (MPI-5.0, 11.4.1), and the one that ends the job.
bool is_always_allowed(stats::Call call) {
  switch (call) {
    case stats::Call::initialized_:
    case stats::Call::finalized_:
    case stats::Call::query_thread_:
    case stats::Call::is_thread_main_:
    case stats::Call::get_version_:
    case stats::Call::get_library_version_:
    case stats::Call::abi_get_version_:
    case stats::Call::abi_get_info_:
    case stats::Call::abi_get_fortran_info_:
    case stats::Call::abi_get_fortran_booleans_:
    case stats::Call::error_class_:
    case stats::Call::error_string_:
    case stats::Call::add_error_class_:
    case stats::Call::add_error_code_:
    case stats::Call::add_error_string_:
    case stats::Call::remove_error_class_:
    case stats::Call::remove_error_code_:
    case stats::Call::remove_error_string_:
    case stats::Call::comm_create_errhandler_:
    case stats::Call::win_create_errhandler_:
    case stats::Call::file_create_errhandler_:
    case stats::Call::session_create_errhandler_:
    case stats::Call::session_call_errhandler_:
    case stats::Call::errhandler_free_:
    case stats::Call::info_create_:
    case stats::Call::info_create_env_:
    case stats::Call::info_delete_:
    case stats::Call::info_dup_:
    case stats::Call::info_free_:
    case stats::Call::info_get_:
    case stats::Call::info_get_nkeys_:
    case stats::Call::info_get_nthkey_:
    case stats::Call::info_get_string_:
    case stats::Call::info_get_valuelen_:
    case stats::Call::info_set_:
    case stats::Call::session_init_:
    case stats::Call::session_finalize_:
    case stats::Call::abort_:
      return true;
    default:
      return false;
  }
}

// The progress thread may run a reduction operation of the program.
bool is_checked(stats::Call call) {
  return check.on.load(std::memory_order_acquire) && !is_always_allowed(call) &&
         (core::own_thread == nullptr || !core::own_thread->service);
}

std::string thread_in_call(pid_t thread, const char* verb, const char* call) {
  return "thread " + std::to_string(thread) + verb + call;
}

[[noreturn, gnu::cold]] void end_of_wrong_thread(stats::Call call, uint64_t inside) {
  const pid_t main = check.main_thread.load(std::memory_order_relaxed);
  const std::string other = thread_of(inside) == main ? thread_in_call(main, " was in ", call_of(inside))
                                                      : thread_in_call(main, " was in no call", "");
  base::die({.cause = thread_in_call(own_id(), " called ", stats::call_info[static_cast<int>(call)].name) + " while " +
                      other + ", and MPI was initialised with " + check.level + " by thread " + std::to_string(main) +
                      ", which alone may call it: messages would be wrong (WEFT_CHECK=threads)",
             .remedy = "ask MPI_Init_thread for MPI_THREAD_MULTIPLE, or for MPI_THREAD_SERIALIZED and hold a lock "
                       "around each call, or leave the calls to that thread"});
}

[[noreturn, gnu::cold]] void end_of_two_at_once(stats::Call call, uint64_t inside) {
  base::die({.cause = thread_in_call(own_id(), " called ", stats::call_info[static_cast<int>(call)].name) + " while " +
                      thread_in_call(thread_of(inside), " was in ", call_of(inside)) +
                      ", and MPI was initialised with " + check.level +
                      ", at which threads must take turns: messages would be wrong (WEFT_CHECK=threads)",
             .remedy = "ask MPI_Init_thread for MPI_THREAD_MULTIPLE, or hold a lock around each call"});
}

// Many threads may find it at once; one of them tells.
void stop_others() {
  while (check.found.exchange(true)) pause();
}

}  // namespace

bool wants_thread_check() {
  return check_row.value() != 0 && !core::threads->multiple;
}

void begin_thread_check(const char* level, pid_t main_thread) {
  if (!wants_thread_check()) return;
  check.level = level;
  check.main_thread.store(main_thread, std::memory_order_relaxed);
  check.on.store(true, std::memory_order_release);
}

void enter_call(stats::Call call) {
  if (!is_checked(call)) return;
  const pid_t main = check.main_thread.load(std::memory_order_relaxed);
  const uint64_t entering = static_cast<uint64_t>(own_id()) << thread_shift | static_cast<uint64_t>(call);
  uint64_t inside = check.inside.load(std::memory_order_acquire);
  if (main != 0 && main != own_id()) {
    stop_others();
    end_of_wrong_thread(call, inside);
  }
  if (thread_of(inside) == own_id()) {
    ++check.depth;
    return;
  }
  inside = 0;
  if (!check.inside.compare_exchange_strong(inside, entering, std::memory_order_acq_rel)) {
    stop_others();
    end_of_two_at_once(call, inside);
  }
  check.depth = 1;
}

void leave_call(stats::Call call) {
  if (!is_checked(call) || thread_of(check.inside.load(std::memory_order_relaxed)) != own_id()) return;
  if (--check.depth == 0) check.inside.store(0, std::memory_order_release);
}

}  // namespace weft::mpi
