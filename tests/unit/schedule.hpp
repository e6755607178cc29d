// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A scheduler that permutes interleavings from a seed, for lock-free code whose atomic type is a parameter.
//
// Logical threads are coroutines on one real thread; they may change places before and after every operation of
// `Atomic<T>`, and nowhere else. A run is repeated exactly by its seed. Memory is either sequentially consistent, or
// each thread has a store buffer (x86's TSO): a store that is not seq_cst becomes visible to others some time later, in
// the order of the stores. Weaker orders are for tests with real threads under the thread sanitizer.

#include <ucontext.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace weft::test {

enum class Memory : uint8_t { sequential, store_buffers };

class Random {
 public:
  // Not a multiple of next()'s step: the numbers of one seed would be those of the one before, but for the first.
  explicit Random(uint64_t seed) : state_(seed * 0xda942042e4dd58b5u + 1) {}
  uint64_t next() {  // splitmix64
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t n) { return next() % n; }

 private:
  uint64_t state_;
};

class Schedule {
 public:
  enum class Result : uint8_t { finished, deadlock, too_long };

  explicit Schedule(uint64_t seed, Memory memory = Memory::sequential) : random_(seed), memory_(memory) {
    // Long runs of one thread find other defects than a change at every step.
    constexpr uint64_t odds[] = {2, 4, 16, 64};
    change_one_in_ = odds[random_.below(4)];
  }

  void add(std::function<void()> body) {
    auto thread = std::make_unique<Thread>();
    thread->body = std::move(body);
    getcontext(&thread->context);
    thread->context.uc_stack.ss_sp = thread->stack.get();
    thread->context.uc_stack.ss_size = stack_bytes;
    thread->context.uc_link = &home_;
    makecontext(&thread->context, reinterpret_cast<void (*)()>(&Schedule::enter), 0);
    threads_.push_back(std::move(thread));
  }

  // Runs the threads to their ends. deadlock: those left wait for a wake that nobody sends.
  Result run(uint64_t most_steps = 2000000) {
    current_ = this;
    most_steps_ = most_steps;
    Result result = Result::finished;
    while (Thread* next = pick()) {
      if (steps_ > most_steps_) {
        result = Result::too_long;
        break;
      }
      running_ = next;
      swapcontext(&home_, &next->context);
      running_ = nullptr;
    }
    if (result == Result::finished) {
      for (const auto& thread : threads_) {
        if (!thread->ended) result = Result::deadlock;
      }
    }
    current_ = nullptr;
    return result;
  }

  // ---- for the code under test; outside of run() these do nothing

  // A place where another thread may go on.
  static void step() {
    Schedule* s = current_;
    if (s == nullptr || s->running_ == nullptr) return;
    ++s->steps_;
    s->drain_some();
    if (s->random_.below(s->change_one_in_) == 0) s->leave();
  }

  // The body of a loop that waits for another thread.
  static void yield() {
    ++current_->steps_;
    current_->drain_some();
    current_->leave();
  }

  // A futex: sleeps if `holds`, which is looked at in one step with falling asleep.
  static void sleep_if(const void* key, const std::function<bool()>& holds) {
    step();
    drain(*current_->running_);
    if (!holds()) return;
    current_->running_->asleep_on = key;
    current_->leave();
  }
  static void wake(const void* key) {
    step();
    for (auto& thread : current_->threads_) {
      if (thread->asleep_on == key) thread->asleep_on = nullptr;
    }
  }

  // A full fence in every thread (the membarrier system call).
  static void fence_all() {
    step();
    for (auto& thread : current_->threads_) drain(*thread);
  }

  static bool spurious() { return current_ != nullptr && current_->random_.below(16) == 0; }

 private:
  template <class T>
  friend class Atomic;

  struct Store {
    const void* where;
    uint64_t value;
    void (*apply)(const void* where, uint64_t value);
  };
  static constexpr size_t stack_bytes = 128 << 10;
  struct Thread {
    std::function<void()> body;
    std::unique_ptr<char[]> stack{new char[stack_bytes]};
    ucontext_t context;
    std::deque<Store> stores;  // not visible to others yet
    const void* asleep_on = nullptr;
    bool ended = false;
  };

  static void enter() {
    Thread& self = *current_->running_;
    self.body();
    drain(self);
    self.ended = true;
  }

  void leave() { swapcontext(&running_->context, &home_); }

  Thread* pick() {
    std::vector<Thread*> able;
    for (auto& thread : threads_) {
      if (!thread->ended && thread->asleep_on == nullptr) able.push_back(thread.get());
    }
    return able.empty() ? nullptr : able[random_.below(able.size())];
  }

  static void drain(Thread& thread) {
    for (const Store& store : thread.stores) store.apply(store.where, store.value);
    thread.stores.clear();
  }

  void drain_some() {
    if (memory_ == Memory::sequential || random_.below(8) != 0) return;
    Thread& thread = *threads_[random_.below(threads_.size())];
    if (thread.stores.empty()) return;
    const Store store = thread.stores.front();
    thread.stores.pop_front();
    store.apply(store.where, store.value);
  }

  // The running thread's store buffer; nullptr where stores are visible at once.
  static std::deque<Store>* buffer() {
    Schedule* s = current_;
    return s == nullptr || s->running_ == nullptr || s->memory_ == Memory::sequential ? nullptr : &s->running_->stores;
  }

  static inline Schedule* current_ = nullptr;
  Random random_;
  Memory memory_;
  uint64_t change_one_in_;
  uint64_t steps_ = 0;
  uint64_t most_steps_ = 0;
  ucontext_t home_;
  Thread* running_ = nullptr;
  std::vector<std::unique_ptr<Thread>> threads_;
};

// Takes the place of std::atomic. As large as T.
template <class T>
class Atomic {
  static_assert(sizeof(T) <= sizeof(uint64_t));

 public:
  Atomic() = default;
  explicit Atomic(T value) : value_(value) {}

  T load(std::memory_order = std::memory_order_seq_cst) const {
    Schedule::step();
    T value = value_;
    if (auto* stores = Schedule::buffer()) {
      for (const auto& store : *stores) {
        if (store.where == this) value = static_cast<T>(store.value);
      }
    }
    Schedule::step();
    return value;
  }

  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    Schedule::step();
    auto* stores = Schedule::buffer();
    if (stores != nullptr && order != std::memory_order_seq_cst) {
      stores->push_back({this, static_cast<uint64_t>(value), [](const void* where, uint64_t v) {
                           const_cast<Atomic*>(static_cast<const Atomic*>(where))->value_ = static_cast<T>(v);
                         }});
    } else {
      drain();
      value_ = value;
    }
    Schedule::step();
  }

  bool compare_exchange_weak(T& expected, T desired, std::memory_order = std::memory_order_seq_cst,
                             std::memory_order = std::memory_order_seq_cst) {
    return exchange(expected, desired, Schedule::spurious());
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order = std::memory_order_seq_cst,
                               std::memory_order = std::memory_order_seq_cst) {
    return exchange(expected, desired, false);
  }

  T fetch_or(T bits, std::memory_order = std::memory_order_seq_cst) {
    return change([bits](T v) { return static_cast<T>(v | bits); });
  }
  T fetch_and(T bits, std::memory_order = std::memory_order_seq_cst) {
    return change([bits](T v) { return static_cast<T>(v & bits); });
  }

  // The value others see, without a step: for what happens in one step with something else.
  T visible() const { return value_; }

 private:
  bool exchange(T& expected, T desired, bool fails) {
    Schedule::step();
    drain();
    const bool same = value_ == expected && !fails;
    if (same) {
      value_ = desired;
    } else {
      expected = value_;
    }
    Schedule::step();
    return same;
  }

  template <class Change>
  T change(Change&& to) {
    Schedule::step();
    drain();
    const T before = value_;
    value_ = to(before);
    Schedule::step();
    return before;
  }
  static void drain() {
    if (Schedule::buffer() != nullptr) Schedule::drain(*Schedule::current_->running_);
  }

  T value_{};
};

}  // namespace weft::test
