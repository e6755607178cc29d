// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A team: threads that take the steps of a list one after another, each step by the thread the list names. The actions
// of thread A so far happen before the next ones of thread B, by a flag, a condition variable, a third thread or an MPI
// message between them: the order that MPI's rules speak of (MPI-5.0, 3.5).

#include <array>
#include <barrier>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "threads.hpp"

class Team {
 public:
  static constexpr int members = 3;

  Team() : gate_(members + 2) {
    MPI_Comm_dup(MPI_COMM_SELF, &self_);
    for (int i = 0; i < members; ++i) threads_.emplace_back([this, i] { member(i); });
    threads_.emplace_back([this] { third(); });
  }
  ~Team() {
    over_ = true;
    gate_.arrive_and_wait();
    for (std::thread& t : threads_) t.join();
    MPI_Comm_free(&self_);
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Takes all steps; step i is act(i), called by member who[i].
  void run(const std::vector<int>& who, uint64_t seed, std::function<void(int)> act) {
    who_ = who;
    act_ = std::move(act);
    seed_ = seed;
    flag_ = asked_ = answered_ = told_ = 0;
    done_ = who.empty();
    gate_.arrive_and_wait();  // they begin
    gate_.arrive_and_wait();  // they have ended
  }

 private:
  enum Way { flag, condition, third_thread, message, ways };
  Way way_to(int step) const {
    return static_cast<Way>(threads::Random(seed_ + static_cast<uint64_t>(step)).below(ways));
  }

  static void wait_until(const std::atomic<int>& word, int value) {
    for (int spins = 1; word.load(std::memory_order_acquire) < value; ++spins) {
      if (spins % 512 == 0) sched_yield();
    }
  }

  void pass_to(int step) {
    switch (way_to(step)) {
      case flag:
        flag_.store(step, std::memory_order_release);
        break;
      case condition: {
        const std::lock_guard<std::mutex> hold(mutex_);
        told_ = step;
        changed_.notify_all();
        break;
      }
      case third_thread:
        asked_.store(step, std::memory_order_release);
        break;
      default:
        OK(MPI_Send(nullptr, 0, MPI_BYTE, 0, step, self_));
    }
  }
  void wait_for(int step) {
    switch (way_to(step)) {
      case flag:
        wait_until(flag_, step);
        break;
      case condition: {
        std::unique_lock<std::mutex> hold(mutex_);
        changed_.wait(hold, [&] { return told_ >= step; });
        break;
      }
      case third_thread:
        wait_until(answered_, step);
        break;
      default:
        OK(MPI_Recv(nullptr, 0, MPI_BYTE, 0, step, self_, MPI_STATUS_IGNORE));
    }
  }

  void member(int me) {
    for (;;) {
      gate_.arrive_and_wait();
      if (over_) return;
      threads::Random random(seed_ * 17 + static_cast<uint64_t>(me));
      const int steps = static_cast<int>(who_.size());
      for (int i = 0; i < steps; ++i) {
        if (at(i) != me) continue;
        if (i > 0 && at(i - 1) != me) wait_for(i);
        threads::random_delay(random);
        act_(i);
        if (i + 1 == steps) done_ = true;
        if (i + 1 < steps && at(i + 1) != me) pass_to(i + 1);
      }
      gate_.arrive_and_wait();
    }
  }
  int at(int step) const { return who_[static_cast<size_t>(step)]; }

  void third() {
    for (;;) {
      gate_.arrive_and_wait();
      if (over_) return;
      while (!done_) {
        const int asked = asked_.load(std::memory_order_acquire);
        if (asked > answered_.load(std::memory_order_relaxed)) answered_.store(asked, std::memory_order_release);
        sched_yield();
      }
      gate_.arrive_and_wait();
    }
  }

  MPI_Comm self_ = MPI_COMM_NULL;
  std::barrier<> gate_;
  std::vector<int> who_;
  std::function<void(int)> act_;
  uint64_t seed_ = 0;
  alignas(64) std::atomic<int> flag_ = 0;
  alignas(64) std::atomic<int> asked_ = 0;
  alignas(64) std::atomic<int> answered_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  int told_ = 0;  // guarded by mutex_
  std::atomic<bool> done_ = false, over_ = false;
  std::vector<std::thread> threads_;
};
