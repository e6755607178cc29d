// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/counted.hpp"

#include <cstdio>

#include "shmem/team.hpp"

namespace weft::shmem {

Counted::Counted(stats::Call call, uintptr_t caller, uintptr_t stack) : CountedCall(call, caller, stack) {
  begin();
}

void Counted::data(size_t bytes) {
  if (bytes != SIZE_MAX) bytes_ = bytes;
}

void Counted::with(shmem_ctx_t ctx, int pe) {
  uint32_t found = 0;
  if (detailed_ && On{"", ctx}.find(pe, found)) partner_ = static_cast<int32_t>(found);
}

void Counted::on(shmem_team_t handle) {
  const ShmemTeam* team = detailed_ ? find_team(handle) : nullptr;
  stats::CommCounts* fresh = team != nullptr ? count_on(team->comm) : nullptr;
  if (fresh == nullptr) return;
  const char* name = handle == SHMEM_TEAM_WORLD    ? "SHMEM_TEAM_WORLD"
                     : handle == SHMEM_TEAM_SHARED ? "SHMEM_TEAM_SHARED"
                                                   : "a team";
  snprintf(fresh->name, sizeof fresh->name, "%s", name);
}

size_t members_of(shmem_team_t team) {
  const ShmemTeam* found = find_team(team);
  return found != nullptr ? static_cast<size_t>(found->comm.size) : 0;
}

}  // namespace weft::shmem
