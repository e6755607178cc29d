// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/worker.hpp"

#include <signal.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include "base/setting.hpp"
#include "core/lane/progress_hooks.hpp"
#include "core/message/completion.hpp"
#include "core/peer/peer.hpp"
#include "core/progress/waiting.hpp"
#include "core/thread/thread.hpp"

namespace weft::io {
namespace {

constinit base::IntSetting threads{{.name = "WEFT_IO_THREADS",
                                    .help = "threads of a rank that access files for nonblocking calls, at most",
                                    .unit = base::Unit::count},
                                   4,
                                   {0, 256}};
WEFT_SETTING(threads);

}  // namespace

bool start_thread(pthread_t& thread, void* (*body)(void*), void* argument) {
  sigset_t every;
  sigset_t before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  const bool made = pthread_create(&thread, nullptr, body, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return made;
}

class Workers {
 public:
  // False: there is no thread for it.
  bool post(WorkerJob& job) {
    std::lock_guard guard(lock_);
    if (idle_ <= queued_ && !start()) {
      if (all_.empty()) return false;
    }
    job.next_ = nullptr;
    (last_ != nullptr ? last_->next_ : first_) = &job;
    last_ = &job;
    ++queued_;
    come_.notify_one();
    return true;
  }

  void come_back(WorkerJob& job) {
    std::lock_guard guard(lock_);
    job.next_ = back_;
    back_ = &job;
    core::gathering.fetch_add(1, std::memory_order_release);
  }

  // By the program's thread.
  bool follow_all() {
    WorkerJob* job = nullptr;
    {
      std::lock_guard guard(lock_);
      std::swap(job, back_);
    }
    const bool any = job != nullptr;
    while (job != nullptr) {
      WorkerJob* next = job->next_;
      core::gathering.fetch_sub(1, std::memory_order_relaxed);
      job->follow();
      job = next;
    }
    return any;
  }

  void stop() {
    {
      std::lock_guard guard(lock_);
      ends_ = true;
      come_.notify_all();
    }
    for (const pthread_t thread : all_) pthread_join(thread, nullptr);
    all_.clear();
    ends_ = false;
  }

 private:
  // Starts a further worker, if the setting allows one more. The caller holds the lock.
  bool start() {
    if (static_cast<int64_t>(all_.size()) >= threads.value()) return false;
    pthread_t thread{};
    const bool made = start_thread(thread, body, this);
    if (made) all_.push_back(thread);
    return made;
  }

  static void* body(void* self) {
    static_cast<Workers*>(self)->work();
    return nullptr;
  }

  void work() {
    std::unique_lock guard(lock_);
    for (;;) {
      ++idle_;
      come_.wait(guard, [&] { return first_ != nullptr || ends_; });
      --idle_;
      if (first_ == nullptr) return;
      WorkerJob* job = first_;
      first_ = job->next_;
      if (first_ == nullptr) last_ = nullptr;
      --queued_;
      guard.unlock();
      job->run();
      guard.lock();
    }
  }

  std::mutex lock_;
  std::condition_variable come_;
  std::vector<pthread_t> all_;
  WorkerJob* first_ = nullptr;
  WorkerJob* last_ = nullptr;
  WorkerJob* back_ = nullptr;  // whose follow() is to be called
  int64_t idle_ = 0;
  int64_t queued_ = 0;
  bool ends_ = false;
};

namespace {

// Kept until the process ends: a worker that is cut off by exit() may be in it.
Workers& workers() {
  static auto* const all = new Workers;
  return *all;
}

bool follow_all() {
  return workers().follow_all();
}

constexpr core::FlushHook follow_ups{"files", follow_all};
WEFT_FLUSH(follow_ups);

// The program's thread may be asleep, or about to be.
void wake_program() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (transport::Transport* sleeper = core::peers->transports.sleeper()) sleeper->wake();
}

}  // namespace

void post(WorkerJob& job) {
  if (!workers().post(job)) job.run();
}

void come_back(WorkerJob& job) {
  if (core::threads->concurrent) {
    job.follow();
    return;
  }
  workers().come_back(job);
  wake_program();
}

void complete_from_worker(core::Request& request) {
  core::mark_done(request);
  if (!core::threads->concurrent) wake_program();
}

int64_t most_workers() {
  return threads.value();
}

void stop_workers() {
  workers().stop();
}

}  // namespace weft::io
