// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/progress_thread.hpp"

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <csignal>

#include "base/own_cpus.hpp"
#include "base/setting.hpp"
#include "core/object/failure.hpp"
#include "core/progress/waiting.hpp"
#include "core/thread/thread.hpp"

namespace weft::core {
namespace {

constexpr const char* words[] = {"off", "thread", "auto", "0", "1"};  // 0, 1: as other libraries have it
// A switch in MPICH; which cores the thread has, in Cray's.
constexpr base::AliasWord other_words[] = {{"on", "thread"}, {"yes", "thread"}, {"true", "thread"},
                                           {"SC", "thread"}, {"MC", "thread"},  {"ML", "thread"}};
constinit base::ChoiceSetting progress_setting{
    {.name = "WEFT_PROGRESS",
     .help = "progress while the program computes; thread: by a thread of each rank, auto: where ranks have processors "
             "to spare or cores are reserved",
     .level = base::SettingLevel::basic,
     .alias = "MPICH_ASYNC_PROGRESS",
     .other_alias = "MPICH_NEMESIS_ASYNC_PROGRESS",
     .subject = base::Subject::waiting,
     .alias_words = other_words},
    0,
    words,
    5};
WEFT_SETTING(progress_setting);

std::atomic<bool> ends = false;
bool runs = false;
pthread_t service;

void* run(void* /*unused*/) {
  base::enter_service_cpus();
  enter_service_thread();
  serve([] { return ends.load(std::memory_order_relaxed); });
  return nullptr;
}

}  // namespace

bool wants_progress_thread(int ranks_here, int cpus_here) {
  enum { off, thread, automatic, zero, one };
  const int value = progress_setting.value();
  return value == thread || value == one ||
         (value == automatic && (cpus_here > ranks_here || !base::service_cpus().empty()));
}

void start_progress_thread() {
  ends = false;
  // The program's signals are not for this thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&service, nullptr, run, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    failed(FailureCause::start, {.cause = "the system gives no thread for progress (WEFT_PROGRESS)",
                                 .error = error,
                                 .remedy = "raise the limit of processes (ulimit -u), or set WEFT_PROGRESS=off"});
  }
  pthread_setname_np(service, "weft-progress");
  runs = true;
}

void end_progress_thread() {
  if (!runs) return;
  ends = true;
  wake_service();
  pthread_join(service, nullptr);
  runs = false;
}

}  // namespace weft::core
