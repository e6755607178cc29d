// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/order.hpp"

#include "coll/coll.hpp"
#include "core/progress/progress.hpp"
#include "shmem/error.hpp"
#include "shmem/remote.hpp"
#include "shmem/team.hpp"

namespace weft::shmem {
namespace {

void order(const Context& context) {
  std::atomic_thread_fence(std::memory_order_acq_rel);
  if (!context.messages.load(std::memory_order_relaxed)) [[likely]]
    return;
  order_all(context);
  core::progress_at_times();
}

void complete(const Context& context) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (context.messages.load(std::memory_order_relaxed)) [[unlikely]]
    complete_all(context);
}

const Context& live(const char* function, shmem_ctx_t ctx) {
  const Context& context = context_at(ctx);
  if (context.handle != reinterpret_cast<uintptr_t>(ctx)) [[unlikely]]
    bad_context(function, ctx);
  return context;
}

}  // namespace

void fence(const char* function) {
  need_start(function);
  order(contexts[default_place]);
}

void fence_on(const char* function, shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_INVALID) return;
  order(live(function, ctx));
}

void quiet(const char* function) {
  need_start(function);
  complete(contexts[default_place]);
}

void quiet_on(const char* function, shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_INVALID) return;
  complete(live(function, ctx));
}

void quiet_pes(const char* function, shmem_ctx_t ctx, const int* pes, size_t count) {
  if (ctx == SHMEM_CTX_INVALID) return;
  const Context& context = live(function, ctx);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (size_t i = 0; i < count; ++i) {
    uint32_t pe = 0;
    if (!On{function, ctx}.find(pes[i], pe)) bad_pe(function, pes[i], context.pes, "the context's team");
    if (context.messages.load(std::memory_order_relaxed)) complete_pe(context, static_cast<int32_t>(pe));
  }
}

void quiet_contexts_of(shmem_team_t team) {
  for (const Context* context : contexts_of(team)) complete(*context);
}

void barrier_all(const char* function) {
  need_start(function);
  complete(contexts[default_place]);
  check(function, coll::barrier(world_team().comm));
}

void sync_all(const char* function) {
  need_start(function);
  check(function, coll::barrier(world_team().comm));
}

}  // namespace weft::shmem
