// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// SHMEM_THREAD_MULTIPLE: threads with contexts of their own put, update, signal and wait at the same time.

#include <shmem.h>

#include <thread>
#include <vector>

#include "expect.h"

namespace {

constexpr int threads = 4;
constexpr long rounds = 200;
long static_sum;

void work(int thread, long* words, uint64_t* signals, long* sum) {
  const int me = shmem_my_pe();
  const int next = (me + 1) % shmem_n_pes();
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0) return;
  for (long round = 1; round <= rounds; ++round) {
    shmem_ctx_long_atomic_inc(ctx, sum, 0);
    if (round % 10 == 0) shmem_ctx_long_atomic_inc(ctx, &static_sum, 0);
    const long value = me * 1000000L + round;
    shmem_ctx_long_put_signal(ctx, words + thread, &value, 1, signals + thread, 1, SHMEM_SIGNAL_ADD, next);
    shmem_signal_wait_until(signals + thread, SHMEM_CMP_GE, static_cast<uint64_t>(round));
  }
  shmem_ctx_quiet(ctx);
  shmem_ctx_destroy(ctx);
}

}  // namespace

int main() {
  int provided = 0;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  if (provided != SHMEM_THREAD_MULTIPLE) return 1;
  const int pes = shmem_n_pes();
  auto* words = static_cast<long*>(shmem_calloc(threads, sizeof(long)));
  auto* signals = static_cast<uint64_t*>(shmem_calloc(threads, sizeof(uint64_t)));
  auto* sum = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  std::vector<std::thread> started;
  for (int t = 0; t < threads; ++t) started.emplace_back(work, t, words, signals, sum);
  for (std::thread& thread : started) thread.join();
  shmem_barrier_all();
  const long before = (shmem_my_pe() + pes - 1) % pes;
  for (int t = 0; t < threads; ++t) EXPECT(words[t] == before * 1000000L + rounds);
  if (shmem_my_pe() == 0) EXPECT(*sum == threads * rounds * pes && static_sum == threads * rounds / 10 * pes);
  const int failed = failures();
  shmem_finalize();
  return failed;
}
