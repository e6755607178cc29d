// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Teams (OpenSHMEM 1.6, 9.4): a communicator of core each, on which their collective operations run. An active set of
// the older calls is a team that its members make in their first call on the set, and keep.

#include <vector>

#include "coll/agree/agree.hpp"
#include "core/object/comm.hpp"
#include "shmem/state.hpp"

namespace weft::shmem {

struct ShmemTeam : base::Object {
  core::Comm comm;
  shmem_team_t handle = SHMEM_TEAM_INVALID;
  int contexts = 0;  // as asked for
  ShmemTeam* next = nullptr;
};

// ---- Predefined teams, which exist between shmem_init and shmem_finalize
[[nodiscard]] ShmemTeam& world_team();
// A second team of all PEs, for operations that need a communicator of their own.
[[nodiscard]] ShmemTeam& second_world();
void open_teams();
// close_teams() closes all teams but the world's, which the last barrier needs; close_world_team() closes that one.
void close_teams();
void close_world_team();

// The team of a handle; nullptr if the handle is of no team.
[[nodiscard]] ShmemTeam* find_team(shmem_team_t handle);
// The team of a handle. Ends the job if the handle is of no team.
[[nodiscard]] ShmemTeam& team_of(const char* function, shmem_team_t handle);

// The PEs start, start + 2^log_stride, ... of the job.
struct ActiveSet {
  int start;
  int log_stride;
  int size;
};
[[nodiscard]] ShmemTeam& team_of(const char* function, const ActiveSet& set);

// ---- Functions of the interface

struct Configuration {
  const shmem_team_config_t* values;
  long mask;
};
// The members start, start + stride, ... of the parent.
struct Members {
  int start;
  int stride;
  int size;
};
int split_strided(const char* function, shmem_team_t parent, const Members& members, const Configuration& configuration,
                  shmem_team_t* made);
int split_2d(const char* function, shmem_team_t parent, int xrange, const Configuration& x_configuration,
             shmem_team_t* x_team, const Configuration& y_configuration, shmem_team_t* y_team);
void destroy_team(const char* function, shmem_team_t team);
int team_my_pe(const char* function, shmem_team_t team);
int team_n_pes(const char* function, shmem_team_t team);
int team_get_config(const char* function, shmem_team_t team, long mask, shmem_team_config_t* config);
int translate_pe(const char* function, shmem_team_t from, int pe, shmem_team_t to);

// ---- Contexts (9.6)

void open_contexts();
void close_contexts();
int create_context(const char* function, long options, shmem_ctx_t* ctx);
int create_team_context(const char* function, shmem_team_t team, long options, shmem_ctx_t* ctx);
void destroy_context(const char* function, shmem_ctx_t ctx);
// The contexts of a team that the program made and has not destroyed; SHMEM_TEAM_INVALID gives those of all teams.
[[nodiscard]] std::vector<const Context*> contexts_of(shmem_team_t team);
// Destroys the contexts of a team that is being destroyed.
void destroy_contexts_of(shmem_team_t team);
int team_of_context(const char* function, shmem_ctx_t ctx, shmem_team_t* team);
void start_session(const char* function, shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t* config,
                   long mask);
void stop_session(const char* function, shmem_ctx_t ctx);

}  // namespace weft::shmem
