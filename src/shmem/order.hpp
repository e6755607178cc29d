// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Ordering and completion (OpenSHMEM 1.6, 9.11), and the barriers of all PEs. Operations on this host are done when
// they return. For operations that went by messages, a quiet waits until all of the context's own are done, and a fence
// waits only for operations that would not stay in order.

#include "shmem/state.hpp"

namespace weft::shmem {

void fence(const char* function);
void fence_on(const char* function, shmem_ctx_t ctx);
void quiet(const char* function);
void quiet_on(const char* function, shmem_ctx_t ctx);
void quiet_pes(const char* function, shmem_ctx_t ctx, const int* pes, size_t count);

// Performs a quiet on all of contexts_of(team).
void quiet_contexts_of(shmem_team_t team);

void barrier_all(const char* function);
void sync_all(const char* function);

}  // namespace weft::shmem
