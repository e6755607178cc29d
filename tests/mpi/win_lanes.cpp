// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Threads whose operations reach a target by messages, each thread by a lane of its own: puts, gets, updates, flushes
// and messages at once; calls of one thread that complete the operations of all; updates of several threads in turn,
// whose order counts. The memory is the program's own, so that on one host WEFT_CMA=off makes messages of them.
//
// usage: win_lanes [threads]
#include <algorithm>
#include <functional>
#include <vector>

#include "threads.hpp"
#include "windows.hpp"

using expect::rank;
using expect::size;
using threads::Random;
using windows::left;
using windows::right;

namespace {

int thread_count = 4;
threads::Watch* watch;

// A window of the program's own memory.
class Window {
 public:
  explicit Window(size_t count) : memory_(count, -1) {
    OK(MPI_Win_create(memory_.data(), static_cast<MPI_Aint>(count * sizeof(int)), sizeof(int), MPI_INFO_NULL,
                      MPI_COMM_WORLD, &window_));
    OK(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN));
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window() { OK(MPI_Win_free(&window_)); }

  operator MPI_Win() const { return window_; }
  const int* data() const { return memory_.data(); }

 private:
  std::vector<int> memory_;
  MPI_Win window_ = MPI_WIN_NULL;
};

// Calls work(thread) in all threads at the same time.
void in_threads(const std::function<void(int)>& work) {
  std::vector<std::thread> running;
  for (int t = 0; t < thread_count; ++t) running.emplace_back([&, t] { work(t); });
  for (std::thread& t : running) t.join();
  watch->moved();
}

int value_of(int from, int t, int round, int i) {
  return (((from * 16 + t) * 1000 + round) * 64) ^ i;
}

// Small ones that are gathered, some that fill a frame alone, and large ones that go as messages.
int draw_count(Random& random, int most) {
  return random.one_in(8) ? most : random.one_in(3) ? 2500 : 1 + random.below(60);
}

// Each thread has a part of every window, and a communicator, or a tag of the one that all use.
void all_at_once(bool one_comm) {
  static constexpr int part = 20000;
  Window window(static_cast<size_t>(thread_count * part));
  std::vector<MPI_Comm> comms(static_cast<size_t>(thread_count), MPI_COMM_WORLD);
  for (MPI_Comm& comm : comms) {
    if (!one_comm) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  }
  OK(MPI_Win_lock_all(0, window));
  const int rounds = threads::scaled(40);
  in_threads([&](int t) {
    Random random(static_cast<uint64_t>(t) * 100 + static_cast<uint64_t>(rank));
    Random same(static_cast<uint64_t>(t));  // as at all ranks
    MPI_Comm comm = comms[static_cast<size_t>(t)];
    std::vector<int> out(part), in(part), sent(part), got(part);
    for (int round = 0; round < rounds; ++round) {
      const int length = same.one_in(8) ? part : 1 + same.below(100);
      for (int i = 0; i < length; ++i) sent[static_cast<size_t>(i)] = value_of(rank, t, round, i + 7);
      MPI_Request requests[2];
      OK(MPI_Irecv(got.data(), part, MPI_INT, left(), t, comm, &requests[0]));
      OK(MPI_Isend(sent.data(), length, MPI_INT, right(), t, comm, &requests[1]));
      const int count = draw_count(random, part), at = t * part + random.below(part - count + 1);
      for (int i = 0; i < count; ++i) out[static_cast<size_t>(i)] = value_of(rank, t, round, i);
      if (random.one_in(2)) {
        OK(MPI_Put(out.data(), count, MPI_INT, right(), at, count, MPI_INT, window));
      } else {
        const int first = count / 2, rest = count - first;
        OK(MPI_Accumulate(out.data(), first, MPI_INT, right(), at, first, MPI_INT, MPI_REPLACE, window));
        OK(MPI_Accumulate(out.data() + first, rest, MPI_INT, right(), at + first, rest, MPI_INT, MPI_REPLACE, window));
      }
      OK(random.one_in(4) ? MPI_Win_flush_all(window) : MPI_Win_flush(right(), window));
      std::fill(in.begin(), in.end(), -1);
      if (random.one_in(2)) {
        OK(MPI_Get(in.data(), count, MPI_INT, right(), at, count, MPI_INT, window));
      } else {
        OK(MPI_Get_accumulate(nullptr, 0, MPI_INT, in.data(), count, MPI_INT, right(), at, count, MPI_INT, MPI_NO_OP,
                              window));
      }
      OK(random.one_in(2) ? MPI_Win_flush_local(right(), window) : MPI_Win_flush(right(), window));
      EXPECT(std::equal(in.begin(), in.begin() + count, out.begin()), "thread %d, round %d: %d of %d, not %d", t, round,
             in[0], count, out[0]);
      MPI_Status status;
      OK(MPI_Wait(&requests[0], &status));
      OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
      int came = -1;
      MPI_Get_count(&status, MPI_INT, &came);
      bool right_ones = came == length;
      for (int i = 0; right_ones && i < length; ++i) {
        right_ones = got[static_cast<size_t>(i)] == value_of(left(), t, round, i + 7);
      }
      EXPECT(right_ones, "thread %d, round %d: a message of %d, not %d, begins with %d", t, round, came, length,
             got[0]);
      watch->moved();
    }
  });
  OK(MPI_Win_unlock_all(window));
  for (MPI_Comm& comm : comms) {
    if (!one_comm) MPI_Comm_free(&comm);
  }
}

// Every thread puts and adds; then one call of the main thread completes it all.
void one_completes_all() {
  static constexpr int part = 3000;  // puts of so many fill a frame alone
  enum Way { flush, flush_all, unlock, unlock_all, fence, complete, ways };
  Window window(static_cast<size_t>(thread_count * part + 1));
  MPI_Group world, to, from;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int target = right(), origin = left();
  MPI_Group_incl(world, 1, &target, &to);
  MPI_Group_incl(world, 1, &origin, &from);
  const int rounds = threads::scaled(6 * ways);
  int added = -1;
  for (int round = 0; round < rounds; ++round) {
    const Way way = static_cast<Way>(round % ways);
    if (way == flush || way == unlock) OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window));
    if (way == flush_all || way == unlock_all) OK(MPI_Win_lock_all(0, window));
    if (way == fence) OK(MPI_Win_fence(0, window));
    if (way == complete) OK(MPI_Win_post(from, 0, window));
    if (way == complete) OK(MPI_Win_start(to, 0, window));
    std::vector<std::vector<int>> outs(static_cast<size_t>(thread_count));
    const int one = 1;
    in_threads([&](int t) {
      const int count = (round + t) % 3 == 0 ? part : 20;
      std::vector<int>& out = outs[static_cast<size_t>(t)];
      out.resize(static_cast<size_t>(count));
      for (int i = 0; i < count; ++i) out[static_cast<size_t>(i)] = value_of(rank, t, round, i);
      OK(MPI_Put(out.data(), count, MPI_INT, target, t * part, count, MPI_INT, window));
      OK(MPI_Accumulate(&one, 1, MPI_INT, target, thread_count * part, 1, MPI_INT, MPI_SUM, window));
    });
    if (way == flush) OK(MPI_Win_flush(target, window));
    if (way == flush_all) OK(MPI_Win_flush_all(window));
    if (way == fence) OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
    if (way == complete) OK(MPI_Win_complete(window));
    if (way == complete) OK(MPI_Win_wait(window));
    if (way == unlock) OK(MPI_Win_unlock(target, window));
    if (way == unlock_all) OK(MPI_Win_unlock_all(window));
    windows::meet(window);
    added += thread_count;
    EXPECT(window.data()[thread_count * part] == added, "round %d: the sum is %d, not %d", round,
           window.data()[thread_count * part], added);
    for (int t = 0; t < thread_count; ++t) {
      const int count = (round + t) % 3 == 0 ? part : 20;
      const int* const at = window.data() + t * part;
      int i = 0;
      while (i < count && at[i] == value_of(origin, t, round, i)) ++i;
      EXPECT(i == count, "round %d, thread %d: %d at %d, not %d", round, t, at[i], i, value_of(origin, t, round, i));
    }
    if (way == flush) OK(MPI_Win_unlock(target, window));
    if (way == flush_all) OK(MPI_Win_unlock_all(window));
    MPI_Barrier(MPI_COMM_WORLD);
    watch->moved();
  }
  MPI_Group_free(&from);
  MPI_Group_free(&to);
  MPI_Group_free(&world);
}

// The steps are taken in turn, each by any thread, which knows of the one before by a word in memory alone. Each writes
// its number over the last one's, or reads what that one wrote; no call completes anything in between.
void updates_in_turn() {
  static constexpr int words = 8;
  Window window(words);
  OK(MPI_Win_lock_all(0, window));
  const int rounds = threads::scaled(150);
  for (int round = 0; round < rounds; ++round) {
    Random random(static_cast<uint64_t>(round));
    const int steps = 2 + random.below(12), word = round % words;
    std::vector<int> who, reads;
    for (int i = 0; i < steps; ++i) who.push_back(random.below(thread_count));
    for (int i = 0; i < steps; ++i) reads.push_back(i > 0 && random.one_in(4) ? 1 : 0);
    std::vector<int> found(static_cast<size_t>(steps), -1), values(static_cast<size_t>(steps));
    std::atomic<int> step = 0;
    in_threads([&](int t) {
      for (int i = 0; i < steps; ++i) {
        if (who[static_cast<size_t>(i)] != t) continue;
        while (step.load(std::memory_order_acquire) != i) sched_yield();
        int& value = values[static_cast<size_t>(i)];
        value = round * 100 + i;
        if (reads[static_cast<size_t>(i)] != 0) {
          OK(MPI_Fetch_and_op(nullptr, &found[static_cast<size_t>(i)], MPI_INT, right(), word, MPI_NO_OP, window));
        } else {
          OK(MPI_Accumulate(&value, 1, MPI_INT, right(), word, 1, MPI_INT, MPI_REPLACE, window));
        }
        step.store(i + 1, std::memory_order_release);
      }
    });
    OK(MPI_Win_flush(right(), window));
    int last = -1;
    for (int i = 0; i < steps; ++i) {
      if (reads[static_cast<size_t>(i)] == 0) {
        last = values[static_cast<size_t>(i)];
      } else {
        EXPECT(found[static_cast<size_t>(i)] == last, "round %d, step %d of thread %d: %d, not %d", round, i,
               who[static_cast<size_t>(i)], found[static_cast<size_t>(i)], last);
      }
    }
    int value = -1;
    OK(MPI_Get(&value, 1, MPI_INT, right(), word, 1, MPI_INT, window));
    OK(MPI_Win_flush(right(), window));
    EXPECT(value == last, "round %d ends with %d, not %d", round, value, last);
    watch->moved();
  }
  OK(MPI_Win_unlock_all(window));
}

// Threads that open targets of an epoch at the same time, and flush all of them.
void first_operations() {
  const int rounds = threads::scaled(20);
  Window window(static_cast<size_t>(thread_count));
  for (int round = 0; round < rounds; ++round) {
    OK(MPI_Win_lock_all(0, window));
    in_threads([&](int t) {
      const int value = value_of(rank, t, round, 0);
      int found = -1;
      OK(MPI_Put(&value, 1, MPI_INT, right(), t, 1, MPI_INT, window));
      OK(MPI_Win_flush_all(window));
      OK(MPI_Get(&found, 1, MPI_INT, right(), t, 1, MPI_INT, window));
      OK(MPI_Win_flush_all(window));
      EXPECT(found == value, "round %d, thread %d: %d, not %d", round, t, found, value);
    });
    OK(MPI_Win_unlock_all(window));
  }
}

}  // namespace

int main(int argc, char** argv) {
  threads::start(&argc, &argv);
  if (argc > 1) thread_count = atoi(argv[1]);
  {
    threads::Watch watcher(40, [] { return std::string("windows by lanes"); });
    watch = &watcher;
    first_operations();
    updates_in_turn();
    one_completes_all();
    all_at_once(false);
    all_at_once(true);
  }
  return expect::finish();
}
