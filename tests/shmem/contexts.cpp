// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Contexts: each orders and completes its own operations, also those of several threads.
//
// With the argument `alone`, on one host and with static data that go by messages (WEFT_CMA=off): they do not wait for
// each other.

#include <shmem.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "expect.h"

namespace {

constexpr long words = 16384;  // 128 KiB, which do not travel in one message with their record
constexpr int threads = 4;
constexpr int rounds = 50;
long table[threads * words];  // static data
long marks[threads];
long total;

template <class T>
T look(const T* word) {
  return std::atomic_ref<T>(*const_cast<T*>(word)).load(std::memory_order_acquire);
}

// Data that a store of another PE tells of. Where they came as a message, a progress thread may have written them: the
// thread sanitizer does not see the other PE, by which that comes first.
[[gnu::noinline, gnu::no_sanitize_thread]] bool holds_now(const long* word, long value) {
  return *word == value;
}

// Progress, but only while what is asked for does not hold. Not every call makes some.
template <class Holds>
void wait_with_progress(Holds&& holds) {
  while (!holds()) {
    uint64_t unused = 0;
    for (int i = 0; i < 16 && !holds(); ++i) shmem_signal_fetch(&unused);
    std::this_thread::yield();
  }
}

// PE 1 makes no calls, and so no progress, until a store to its heap tells it to: an operation that went to it by
// messages cannot complete before. Meanwhile PE 0's quiet of other contexts returns. The quiet of the operation's own
// context waits: the second store comes after the data.
void do_not_wait_for_each_other(long* flag) {
  shmem_ctx_t busy = SHMEM_CTX_INVALID;
  shmem_ctx_t idle = SHMEM_CTX_INVALID;
  EXPECT(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &busy) == 0);
  EXPECT(shmem_ctx_create(SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE, &idle) == 0);
  if (shmem_my_pe() == 0) {  // all of them have sent messages
    shmem_ctx_long_p(idle, &table[1], 18, 1);
    shmem_ctx_quiet(idle);
    shmem_long_p(&table[2], 19, 1);
  }
  shmem_barrier_all();
  if (shmem_my_pe() == 1) {
    while (look(flag) == 0) std::this_thread::yield();
    wait_with_progress([&] { return look(flag) == 2; });
    EXPECT(holds_now(&table[0], 17) && holds_now(&table[1], 18) && holds_now(&table[2], 19));
  } else {
    shmem_ctx_long_p(busy, &table[0], 17, 1);
    shmem_ctx_quiet(idle);
    shmem_ctx_fence(idle);
    shmem_quiet();
    shmem_fence();
    const int pe = 1;
    shmem_ctx_pe_quiet(idle, &pe, 1);
    shmem_ctx_destroy(idle);
    shmem_long_p(flag, 1, 1);
    shmem_ctx_quiet(busy);
    shmem_long_p(flag, 2, 1);
  }
  shmem_ctx_destroy(busy);
  shmem_barrier_all();
}

// A fence, and the signal of a put, come after static data that may go by messages, also where the word behind them is
// a store. PE 1 makes progress only while it does not see the word.
void order_both_memories(long* flag, uint64_t* signal) {
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0) {
    EXPECT(!"a context");
    return;
  }
  for (long round = 1; round <= 50; ++round) {
    const auto number = static_cast<uint64_t>(round);
    if (shmem_my_pe() == 0) {
      shmem_ctx_long_p(ctx, &table[0], round, 1);
      shmem_ctx_fence(ctx);
      shmem_ctx_long_p(ctx, flag, round, 1);
      const long value = -round;
      shmem_ctx_long_put_signal(ctx, &table[1], &value, 1, signal, number, SHMEM_SIGNAL_SET, 1);
      shmem_long_wait_until(flag, SHMEM_CMP_EQ, round);
    } else if (shmem_my_pe() == 1) {
      wait_with_progress([&] { return look(flag) == round; });
      EXPECT(holds_now(&table[0], round));
      wait_with_progress([&] { return look(signal) == number; });
      EXPECT(holds_now(&table[1], -round));
      shmem_long_p(flag, round, 0);
    }
  }
  shmem_ctx_destroy(ctx);
  shmem_barrier_all();
}

// Each thread writes its part of the next PE's table, small and large data in turn, and a mark behind them. After the
// quiet another context reads both back.
void work(int thread) {
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0) {
    EXPECT(!"a context");
    return;
  }
  long* const mine = table + thread * words;
  std::vector<long> data(words);
  for (long round = 1; round <= rounds; ++round) {
    const long count = round % 10 == 0 ? words : round % 3 == 0 ? 512 : 1 + round % 7;
    for (long i = 0; i < count; ++i) data[static_cast<size_t>(i)] = round * 1000 + i;
    shmem_ctx_long_put_nbi(ctx, mine, data.data(), static_cast<size_t>(count), next);
    shmem_ctx_fence(ctx);
    shmem_ctx_long_p(ctx, &marks[thread], round, next);
    shmem_ctx_long_atomic_inc(ctx, &total, 0);
    shmem_ctx_quiet(ctx);
    EXPECT(shmem_long_g(&marks[thread], next) == round);
    std::vector<long> back(static_cast<size_t>(count));
    shmem_long_get(back.data(), mine, static_cast<size_t>(count), next);
    for (long i = 0; i < count; ++i) EXPECT(back[static_cast<size_t>(i)] == round * 1000 + i);
  }
  shmem_ctx_destroy(ctx);
}

// A context that is left to be destroyed with its team: its puts are done then.
void end_with_their_team() {
  shmem_team_t team = SHMEM_TEAM_INVALID;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), nullptr, 0, &team);
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  EXPECT(shmem_team_create_ctx(team, 0, &ctx) == 0);
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, nullptr, 0);
  shmem_ctx_long_p(ctx, &marks[0], -5, next);
  shmem_ctx_session_stop(ctx);
  shmem_team_destroy(team);
  shmem_sync_all();
  EXPECT(marks[0] == -5);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  if (provided != SHMEM_THREAD_MULTIPLE) return 1;
  auto* flags = static_cast<long*>(shmem_calloc(2, sizeof(long)));
  auto* signal = static_cast<uint64_t*>(shmem_calloc(1, sizeof(uint64_t)));
  if (argc > 1 && std::strcmp(argv[1], "alone") == 0) do_not_wait_for_each_other(&flags[0]);
  if (shmem_n_pes() > 1) order_both_memories(&flags[1], signal);
  std::vector<std::thread> started;
  for (int t = 0; t < threads; ++t) started.emplace_back(work, t);
  for (std::thread& thread : started) thread.join();
  shmem_barrier_all();
  if (shmem_my_pe() == 0) EXPECT(total == static_cast<long>(threads) * rounds * shmem_n_pes());
  end_with_their_team();
  const int failed = failures();
  shmem_finalize();
  return failed;
}
