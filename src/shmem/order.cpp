// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/order.hpp"

#include "coll/coll.hpp"
#include "shmem/error.hpp"
#include "shmem/remote.hpp"
#include "shmem/team.hpp"

namespace weft::shmem {
namespace {

void complete_all() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (state.messages.load(std::memory_order_relaxed)) [[unlikely]]
    settle_all();
}

const Context& live(const char* function, shmem_ctx_t ctx) {
  const auto handle = reinterpret_cast<uintptr_t>(ctx);
  const Context& context = contexts[handle % contexts_most];
  if (context.handle != handle) [[unlikely]]
    bad_context(function, ctx);
  return context;
}

}  // namespace

void fence(const char* function) {
  need_start(function);
  std::atomic_thread_fence(std::memory_order_acq_rel);
  if (state.messages.load(std::memory_order_relaxed)) [[unlikely]]
    settle_all();
}

void fence_on(const char* function, shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_INVALID) return;
  (void)live(function, ctx);
  fence(function);
}

void quiet(const char* function) {
  need_start(function);
  complete_all();
}

void quiet_on(const char* function, shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_INVALID) return;
  (void)live(function, ctx);
  complete_all();
}

void quiet_pes(const char* function, shmem_ctx_t ctx, const int* pes, size_t count) {
  if (ctx == SHMEM_CTX_INVALID) return;
  const Context& context = live(function, ctx);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (size_t i = 0; i < count; ++i) {
    uint32_t pe = 0;
    if (!On{function, ctx}.find(pes[i], pe)) bad_pe(function, pes[i], context.pes, "the context's team");
    if (state.messages.load(std::memory_order_relaxed)) settle_pe(static_cast<int32_t>(pe));
  }
}

void barrier_all(const char* function) {
  need_start(function);
  complete_all();
  check(function, coll::barrier(world_team().comm));
}

void sync_all(const char* function) {
  need_start(function);
  check(function, coll::barrier(world_team().comm));
}

}  // namespace weft::shmem
