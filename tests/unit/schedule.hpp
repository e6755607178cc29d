// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A scheduler that permutes interleavings from a seed, for lock-free code whose atomic type is a parameter.
//
// Logical threads are coroutines on one real thread; they may change places before and after every operation of
// `Atomic<T>`, and nowhere else. A run is repeated exactly by its seed. Memory is of one of three kinds:
//
//   sequential     sequentially consistent
//   store_buffers  x86's TSO: a store that is not seq_cst becomes visible to others some time later, in the order of
//   the
//                  stores
//   weak           the views of C++: a load may read any store to its place that is not older than one that the thread
//                  knows of, and an acquire that reads a release knows all that its storer knew. So it goes with
//                  AArch64 and others, but for loads that come before a store on which they depend.

#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace weft::test {

enum class Memory : uint8_t { sequential, store_buffers, weak };

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
    fence();
    if (!holds()) return;
    current_->running_->asleep_on = key;
    current_->leave();
  }
  static void wake(const void* key) {
    step();
    fence();
    for (auto& thread : current_->threads_) {
      if (thread->asleep_on == key) thread->asleep_on = nullptr;
    }
  }

  // A full fence in every thread (the membarrier system call).
  static void fence_all() {
    step();
    for (auto& thread : current_->threads_) drain(*thread);
    for (auto& thread : current_->threads_) join(current_->common_, thread->view);
    for (auto& thread : current_->threads_) join(thread->view, current_->common_);
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
  // How many stores to each place somebody knows of, by the place's number.
  using View = std::vector<uint32_t>;
  struct Stored {
    uint64_t value;
    View view;  // of its storer, when it was a release
  };
  struct Place {
    uint32_t number;
    std::vector<Stored> stores;  // all of them, in order
  };
  static void join(View& into, const View& from) {
    if (into.size() < from.size()) into.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
  }
  static uint32_t& of(View& view, uint32_t number) {
    if (view.size() <= number) view.resize(number + 1);
    return view[number];
  }
  static bool acquires(std::memory_order order) {
    return order != std::memory_order_relaxed && order != std::memory_order_release;
  }
  static bool releases(std::memory_order order) {
    return order == std::memory_order_release || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
  }

  // Whether the code under test runs now, with weak memory.
  static bool is_weak() {
    return current_ != nullptr && current_->running_ != nullptr && current_->memory_ == Memory::weak;
  }
  static void fence() {
    if (!is_weak()) return;
    join(current_->running_->view, current_->common_);
    join(current_->common_, current_->running_->view);
  }
  Place& place_of(const void* where, uint64_t value) {
    const auto [at, is_new] = places_.try_emplace(where, Place{static_cast<uint32_t>(places_.size()), {}});
    if (is_new) at->second.stores.push_back({value, {}});
    return at->second;
  }

  // A load reads the newest store half the time. `latest`: in one step with a store.
  uint64_t weak_load(const void* where, uint64_t value, std::memory_order order, bool latest) {
    if (order == std::memory_order_seq_cst) fence();
    Place& place = place_of(where, value);
    uint32_t& known = of(running_->view, place.number);
    const auto newest = static_cast<uint32_t>(place.stores.size() - 1);
    if (latest || random_.below(2) == 0) {
      known = newest;
    } else {
      known += static_cast<uint32_t>(random_.below(newest - known + 1));
    }
    const Stored& read = place.stores[known];
    if (acquires(order)) join(running_->view, read.view);
    if (order == std::memory_order_seq_cst) fence();
    return read.value;
  }
  // `goes_on`: with the view of the store that it replaces, as a release sequence does.
  void weak_store(const void* where, uint64_t before, uint64_t value, std::memory_order order, bool goes_on) {
    if (order == std::memory_order_seq_cst) fence();
    Place& place = place_of(where, before);
    of(running_->view, place.number) = static_cast<uint32_t>(place.stores.size());
    View view = releases(order) ? running_->view : View{};
    if (goes_on) join(view, place.stores.back().view);
    place.stores.push_back({value, std::move(view)});
    if (order == std::memory_order_seq_cst) fence();
  }

  static constexpr size_t stack_bytes = 128 << 10;
  struct Thread {
    std::function<void()> body;
    std::unique_ptr<char[]> stack{new char[stack_bytes]};
    ucontext_t context;
    std::deque<Store> stores;  // not visible to others yet
    View view;
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
    if (memory_ != Memory::store_buffers || random_.below(8) != 0) return;
    Thread& thread = *threads_[random_.below(threads_.size())];
    if (thread.stores.empty()) return;
    const Store store = thread.stores.front();
    thread.stores.pop_front();
    store.apply(store.where, store.value);
  }

  // The running thread's store buffer; nullptr where stores are visible at once.
  static std::deque<Store>* buffer() {
    Schedule* s = current_;
    return s == nullptr || s->running_ == nullptr || s->memory_ != Memory::store_buffers ? nullptr
                                                                                         : &s->running_->stores;
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
  std::map<const void*, Place> places_;
  View common_;  // of all that is seq_cst
};

// Takes the place of std::atomic. It is as large as T.
template <class T>
class Atomic {
  static_assert(sizeof(T) <= sizeof(uint64_t));

 public:
  Atomic() = default;
  explicit Atomic(T value) : value_(value) {}

  T load(std::memory_order order = std::memory_order_seq_cst) const {
    Schedule::step();
    T value = value_;
    if (Schedule::is_weak()) {
      value = from_word(Schedule::current_->weak_load(this, to_word(value_), order, false));
    }
    if (auto* stores = Schedule::buffer()) {
      for (const auto& store : *stores) {
        if (store.where == this) value = from_word(store.value);
      }
    }
    Schedule::step();
    return value;
  }

  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    Schedule::step();
    auto* stores = Schedule::buffer();
    if (stores != nullptr && order != std::memory_order_seq_cst) {
      stores->push_back({this, to_word(value), [](const void* where, uint64_t v) {
                           const_cast<Atomic*>(static_cast<const Atomic*>(where))->value_ = from_word(v);
                         }});
    } else {
      drain();
      if (Schedule::is_weak()) note(value, order, false);
      value_ = value;
    }
    Schedule::step();
  }

  bool compare_exchange_weak(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst) {
    return exchange(expected, desired, Schedule::spurious(), order, order);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order order, std::memory_order otherwise) {
    return exchange(expected, desired, Schedule::spurious(), order, otherwise);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst) {
    return exchange(expected, desired, false, order, order);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order, std::memory_order otherwise) {
    return exchange(expected, desired, false, order, otherwise);
  }

  T fetch_add(T more, std::memory_order order = std::memory_order_seq_cst) {
    return change([more](T v) { return static_cast<T>(v + more); }, order);
  }
  T fetch_or(T bits, std::memory_order order = std::memory_order_seq_cst) {
    return change([bits](T v) { return static_cast<T>(v | bits); }, order);
  }
  T fetch_and(T bits, std::memory_order order = std::memory_order_seq_cst) {
    return change([bits](T v) { return static_cast<T>(v & bits); }, order);
  }

  // The value others see, without a step: for what happens in one step with something else.
  T visible() const { return value_; }

 private:
  static uint64_t to_word(T value) {
    uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    return word;
  }
  static T from_word(uint64_t word) {
    T value;
    std::memcpy(&value, &word, sizeof value);
    return value;
  }
  bool exchange(T& expected, T desired, bool fails, std::memory_order order, std::memory_order otherwise) {
    Schedule::step();
    drain();
    const bool same = value_ == expected && !fails;
    if (Schedule::is_weak()) read(same ? order : otherwise);
    if (same) {
      if (Schedule::is_weak()) note(desired, order, true);
      value_ = desired;
    } else {
      expected = value_;
    }
    Schedule::step();
    return same;
  }

  template <class Change>
  T change(Change&& to, std::memory_order order) {
    Schedule::step();
    drain();
    const T before = value_;
    if (Schedule::is_weak()) {
      read(order);
      note(to(before), order, true);
    }
    value_ = to(before);
    Schedule::step();
    return before;
  }
  // read() is for a step that reads the newest store, note() for one that stores.
  void read(std::memory_order order) const { (void)Schedule::current_->weak_load(this, to_word(value_), order, true); }
  void note(T value, std::memory_order order, bool goes_on) {
    Schedule::current_->weak_store(this, to_word(value_), to_word(value), order, goes_on);
  }
  static void drain() {
    if (Schedule::buffer() != nullptr) Schedule::drain(*Schedule::current_->running_);
  }

  T value_{};
};

}  // namespace weft::test
