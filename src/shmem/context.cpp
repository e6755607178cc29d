// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Contexts (OpenSHMEM 1.6, 9.6): the team that numbers a context's PEs, and its own way to where no stores reach
// (remote.hpp). The options of a context change nothing: each has all that any of them allows.

#include <mutex>

#include "base/lock.hpp"
#include "core/progress/progress.hpp"
#include "shmem/error.hpp"
#include "shmem/order.hpp"
#include "shmem/team.hpp"

namespace weft::shmem {

constinit Context contexts[contexts_most];

namespace {

constinit base::Lock contexts_guard;
Context* free_contexts = nullptr;

uintptr_t index_of(const Context& context) {
  return static_cast<uintptr_t>(&context - contexts);
}

void describe(Context& context, uintptr_t handle, const ShmemTeam& team, long options) {
  context.pes = static_cast<uint32_t>(team.comm.size);
  context.first = team.comm.first;
  context.stride = team.comm.stride;
  context.table = team.comm.table;
  context.team = team.handle;
  context.options = options;
  context.batches.store(false, std::memory_order_relaxed);
  context.messages.store(false, std::memory_order_relaxed);
  std::atomic_ref(context.handle).store(handle, std::memory_order_release);
}

Context* live(shmem_ctx_t ctx) {
  Context& context = context_at(ctx);
  return context.handle == reinterpret_cast<uintptr_t>(ctx) ? &context : nullptr;
}

// The place stays with the context's number of lives, which the next handle counts on.
uintptr_t lives[contexts_most];

void destroy(Context& context) {
  std::atomic_ref(context.handle).store(UINTPTR_MAX, std::memory_order_relaxed);
  context.next_free = free_contexts;
  free_contexts = &context;
}

int create(const ShmemTeam& team, long options, shmem_ctx_t* ctx) {
  std::lock_guard lock(contexts_guard);
  Context* context = free_contexts;
  if (context == nullptr) {
    *ctx = SHMEM_CTX_INVALID;
    return 1;
  }
  free_contexts = context->next_free;
  const uintptr_t handle = ++lives[index_of(*context)] * contexts_most + index_of(*context);
  describe(*context, handle, team, options);
  *ctx = reinterpret_cast<shmem_ctx_t>(handle);
  return 0;
}

}  // namespace

// Place 0 is that of SHMEM_CTX_INVALID: no handle is ever there.
void open_contexts() {
  free_contexts = nullptr;
  for (uint32_t i = contexts_most; i-- > default_place + 1;) destroy(contexts[i]);
  contexts[0].handle = UINTPTR_MAX;
  describe(contexts[default_place], reinterpret_cast<uintptr_t>(SHMEM_CTX_DEFAULT), world_team(), 0);
}

void close_contexts() {
  for (Context& context : contexts) context.handle = UINTPTR_MAX;
}

int create_context(const char* function, long options, shmem_ctx_t* ctx) {
  need_start(function);
  return create(world_team(), options, ctx);
}

int create_team_context(const char* function, shmem_team_t team, long options, shmem_ctx_t* ctx) {
  need_start(function);
  *ctx = SHMEM_CTX_INVALID;
  return team == SHMEM_TEAM_INVALID ? 1 : create(team_of(function, team), options, ctx);
}

void destroy_context(const char* function, shmem_ctx_t ctx) {
  need_start(function);
  if (ctx == SHMEM_CTX_INVALID) return;
  if (ctx == SHMEM_CTX_DEFAULT)
    fail(function, "the context is SHMEM_CTX_DEFAULT", "destroy contexts that the program made");
  quiet_on(function, ctx);
  std::lock_guard lock(contexts_guard);
  Context* context = live(ctx);
  if (context == nullptr) bad_context(function, ctx);
  destroy(*context);
}

std::vector<const Context*> contexts_of(shmem_team_t team) {
  std::lock_guard lock(contexts_guard);
  std::vector<const Context*> found;
  for (uint32_t i = default_place + 1; i < contexts_most; ++i) {
    if (contexts[i].handle == UINTPTR_MAX) continue;
    if (team == SHMEM_TEAM_INVALID || contexts[i].team == team) found.push_back(&contexts[i]);
  }
  return found;
}

void destroy_contexts_of(shmem_team_t team) {
  std::lock_guard lock(contexts_guard);
  for (uint32_t i = default_place + 1; i < contexts_most; ++i) {
    if (contexts[i].handle != UINTPTR_MAX && contexts[i].team == team) destroy(contexts[i]);
  }
}

int team_of_context(const char* function, shmem_ctx_t ctx, shmem_team_t* team) {
  need_start(function);
  *team = SHMEM_TEAM_INVALID;
  if (ctx == SHMEM_CTX_INVALID) return 1;
  const Context* context = live(ctx);
  if (context == nullptr) bad_context(function, ctx);
  *team = context->team;
  return 0;
}

// Only the hint SHMEM_CTX_SESSION_BATCH has an effect: operations may be gathered. A batch leaves when its frames are
// full, or at the next call that makes progress.
void start_session(const char* function, shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t* /*config*/,
                   long /*mask*/) {
  need_start(function);
  if (ctx == SHMEM_CTX_INVALID) return;
  Context* context = live(ctx);
  if (context == nullptr) bad_context(function, ctx);
  if ((options & SHMEM_CTX_SESSION_BATCH) != 0) context->batches.store(true, std::memory_order_relaxed);
}

void stop_session(const char* function, shmem_ctx_t ctx) {
  need_start(function);
  if (ctx == SHMEM_CTX_INVALID) return;
  Context* context = live(ctx);
  if (context == nullptr) bad_context(function, ctx);
  // Operations that the session has gathered leave, as each would have without it.
  if (context->batches.exchange(false, std::memory_order_relaxed)) (void)core::progress();
}

}  // namespace weft::shmem
