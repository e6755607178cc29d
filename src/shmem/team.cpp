// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/team.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/lock.hpp"
#include "base/message.hpp"
#include "coll/coll.hpp"
#include "coll/offload/offload.hpp"
#include "coll/shm/shared_region.hpp"
#include "core/dynamic/context.hpp"
#include "core/object/identity.hpp"
#include "shmem/error.hpp"
#include "shmem/order.hpp"

namespace weft::shmem {
namespace {

constinit base::Lock teams_guard;  // of the lists
ShmemTeam* world = nullptr;
ShmemTeam* second = nullptr;
ShmemTeam* shared = nullptr;
ShmemTeam* made_by_splits = nullptr;
struct KnownSet {
  ActiveSet set;
  ShmemTeam* team;
};
std::vector<KnownSet>* known_sets = nullptr;

[[noreturn]] void no_memory() {
  base::die({.cause = "there is no memory for a team", .remedy = "free memory on this host"});
}

core::Group* new_group(int32_t size, int32_t rank, int32_t first, int32_t stride) {
  auto* group = base::make_object<core::Group>();
  if (group == nullptr) no_memory();
  group->kind = base::Kind::group;
  group->size = size;
  group->rank = rank;
  group->first = first;
  group->stride = stride;
  return group;
}

ShmemTeam* new_team(uint32_t context, core::Group* group, shmem_team_t handle) {
  auto* team = base::make_object<ShmemTeam>();
  if (team == nullptr) no_memory();
  team->kind = base::Kind::shmem_team;
  core::describe_comm(team->comm, context, group);
  team->handle = handle == SHMEM_TEAM_INVALID ? reinterpret_cast<shmem_team_t>(team) : handle;
  return team;
}

void destroy(ShmemTeam* team) {
  const uint32_t context = team->comm.context;
  core::Group* group = team->comm.group;
  coll::SharedRegion::leave(team->comm);
  coll::Offload::leave(team->comm);
  base::destroy_object(team);
  base::destroy_object(group);
  core::release_context(context);
}

// Makes the world's team. Its parent has all ranks of the job, which find each other by a string.
ShmemTeam* make_world() {
  core::Comm parent;
  parent.context = core::no_context;
  parent.rank = core::identity->rank;
  parent.size = core::identity->size;
  parent.kind = base::Kind::communicator;
  core::Group* group = new_group(parent.size, parent.rank, 0, 1);
  const core::MeetingPoint meeting = core::meeting_point("OpenSHMEM: SHMEM_TEAM_WORLD");
  uint32_t context = 0;
  check("shmem_init", coll::agree_on_context({coll::team_of(*group), parent, meeting.context, meeting.tag}, context));
  return new_team(context, group, SHMEM_TEAM_WORLD);
}

// Some members of a team, of which we are `place`. They agree by themselves; those of two teams at a time differ by the
// tag, as far as threads may make both.
ShmemTeam* make_part(const char* function, ShmemTeam& parent, const Members& members, int32_t place, int32_t tag,
                     shmem_team_t handle) {
  core::Comm& comm = parent.comm;
  const coll::Founders founders{{members.size, place, nullptr, members.start, members.stride},
                                comm,
                                comm.collective_context() | core::creation_contexts,
                                tag};
  uint32_t context = 0;
  check(function, coll::agree_on_context(founders, context));
  const core::Group& from = *comm.group;
  if (from.table.empty()) {
    return new_team(
        context, new_group(members.size, place, from.first + members.start * from.stride, members.stride * from.stride),
        handle);
  }
  core::Group* group = new_group(members.size, place, 0, 1);
  for (int i = 0; i < members.size; ++i) group->table.push_back(from.job_rank(members.start + i * members.stride));
  return new_team(context, group, handle);
}

// The PEs of this host. All of one host know that they are.
ShmemTeam* make_shared() {
  const int32_t size = core::identity->size;
  if (core::identity->job.one_host()) {
    return make_part("shmem_init", *world, {0, 1, size}, core::identity->rank, 0, SHMEM_TEAM_SHARED);
  }
  std::vector<int32_t> here(core::identity->job.here.begin(), core::identity->job.here.end());
  std::sort(here.begin(), here.end());
  const auto place =
      static_cast<int32_t>(std::lower_bound(here.begin(), here.end(), core::identity->rank) - here.begin());
  const auto count = static_cast<int32_t>(here.size());
  const coll::Founders founders{
      {count, place, here.data()}, world->comm, world->comm.collective_context() | core::creation_contexts, 0};
  uint32_t context = 0;
  check("shmem_init", coll::agree_on_context(founders, context));
  core::Group* group = new_group(count, place, 0, 1);
  group->table = std::move(here);
  return new_team(context, group, SHMEM_TEAM_SHARED);
}

// Our place among members of a team; -1: we are none of them.
int place_in(const Members& members, int rank) {
  if (members.stride == 0) return rank == members.start ? 0 : -1;
  const int distance = rank - members.start;
  if (distance % members.stride != 0) return -1;
  const int place = distance / members.stride;
  return place >= 0 && place < members.size ? place : -1;
}

bool are_valid(const Members& members, int parent_size) {
  if (members.size < 1 || members.start < 0 || members.start >= parent_size) return false;
  if (members.stride == 0) return members.size == 1;
  const int64_t last = members.start + int64_t{members.stride} * (members.size - 1);
  return last >= 0 && last < parent_size;
}

int contexts_of(const Configuration& configuration) {
  const bool given = (configuration.mask & SHMEM_TEAM_NUM_CONTEXTS) != 0 && configuration.values != nullptr;
  return given ? configuration.values->num_contexts : 0;
}

// A split by a call of all members of the parent, of which the members make a team.
shmem_team_t split(const char* function, ShmemTeam& parent, const Members& members, const Configuration& configuration,
                   int32_t tag) {
  const int place = place_in(members, parent.comm.rank);
  if (place < 0) return SHMEM_TEAM_INVALID;
  ShmemTeam* team = make_part(function, parent, members, place, tag, SHMEM_TEAM_INVALID);
  team->contexts = contexts_of(configuration);
  std::lock_guard lock(teams_guard);
  team->next = made_by_splits;
  made_by_splits = team;
  return team->handle;
}

constexpr int32_t split_tag = 1;
constexpr int32_t x_tag = 2;
constexpr int32_t y_tag = 3;
constexpr int32_t second_tag = 4;
constexpr int32_t set_tags = 16;

}  // namespace

ShmemTeam& world_team() {
  return *world;
}

ShmemTeam& second_world() {
  return *second;
}

void open_teams() {
  known_sets = new std::vector<KnownSet>;
  world = make_world();
  shared = make_shared();
  const Members all{0, 1, world->comm.size};
  second = make_part("shmem_init", *world, all, world->comm.rank, second_tag, SHMEM_TEAM_INVALID);
}

void close_teams() {
  for (ShmemTeam* team = made_by_splits; team != nullptr;) {
    ShmemTeam* next = team->next;
    destroy(team);
    team = next;
  }
  made_by_splits = nullptr;
  for (const KnownSet& known : *known_sets) destroy(known.team);
  delete known_sets;
  known_sets = nullptr;
  destroy(shared);
  shared = nullptr;
}

void close_world_team() {
  destroy(second);
  destroy(world);
  second = world = nullptr;
}

ShmemTeam* find_team(shmem_team_t handle) {
  if (handle == SHMEM_TEAM_WORLD) return world;
  if (handle == SHMEM_TEAM_SHARED) return shared;
  const auto address = reinterpret_cast<uintptr_t>(handle);
  auto* team = base::Arena::holds(address) ? reinterpret_cast<ShmemTeam*>(address) : nullptr;
  return team != nullptr && team->kind == base::Kind::shmem_team ? team : nullptr;
}

ShmemTeam& team_of(const char* function, shmem_team_t handle) {
  need_start(function);
  if (ShmemTeam* team = find_team(handle)) return *team;
  if (handle == SHMEM_TEAM_INVALID) {
    fail(function, "the team is SHMEM_TEAM_INVALID", "call it on members of the team alone");
  }
  fail(function, "the team " + address_text(handle) + " was destroyed, or never was one",
       "use teams between their split and shmem_team_destroy");
}

ShmemTeam& team_of(const char* function, const ActiveSet& set) {
  need_start(function);
  const int size = world->comm.size;
  if (set.log_stride < 0 || set.log_stride > 30 || !are_valid({set.start, 1 << set.log_stride, set.size}, size)) {
    fail(function,
         "PE_start " + std::to_string(set.start) + ", logPE_stride " + std::to_string(set.log_stride) +
             " and PE_size " + std::to_string(set.size) + " are no active set of " + std::to_string(size) + " PEs",
         "let all its PEs be PEs of the job");
  }
  if (set.start == 0 && set.size == size && (set.log_stride == 0 || size == 1)) return *world;
  const Members members{set.start, 1 << set.log_stride, set.size};
  const int place = place_in(members, world->comm.rank);
  if (place < 0) {
    fail(function, "this PE is not in the active set", "call it on the PEs of the active set alone");
  }
  {
    std::lock_guard lock(teams_guard);
    for (const KnownSet& known : *known_sets) {
      if (known.set.start == set.start && known.set.log_stride == set.log_stride && known.set.size == set.size) {
        return *known.team;
      }
    }
  }
  const auto hash = static_cast<uint32_t>(set.start) * 0x9e3779b1U + static_cast<uint32_t>(set.size) * 0x85ebca6bU +
                    static_cast<uint32_t>(set.log_stride);
  const auto tag = set_tags + static_cast<int32_t>(hash >> 4);
  ShmemTeam* team = make_part(function, *world, members, place, tag, SHMEM_TEAM_INVALID);
  std::lock_guard lock(teams_guard);
  known_sets->push_back({set, team});
  return *team;
}

int split_strided(const char* function, shmem_team_t parent, const Members& members, const Configuration& configuration,
                  shmem_team_t* made) {
  need_start(function);
  *made = SHMEM_TEAM_INVALID;
  if (parent == SHMEM_TEAM_INVALID) return 1;
  ShmemTeam& team = team_of(function, parent);
  if (!are_valid(members, team.comm.size)) return 1;
  *made = split(function, team, members, configuration, split_tag);
  return 0;
}

int split_2d(const char* function, shmem_team_t parent, int xrange, const Configuration& x_configuration,
             shmem_team_t* x_team, const Configuration& y_configuration, shmem_team_t* y_team) {
  need_start(function);
  *x_team = *y_team = SHMEM_TEAM_INVALID;
  if (parent == SHMEM_TEAM_INVALID || xrange < 1) return 1;
  ShmemTeam& team = team_of(function, parent);
  const int size = team.comm.size;
  const int width = std::min(xrange, size);
  const int x = team.comm.rank % width;
  const int y = team.comm.rank / width;
  const Members row{y * width, 1, std::min(width, size - y * width)};
  const Members column{x, width, (size - x + width - 1) / width};
  *x_team = split(function, team, row, x_configuration, x_tag);
  *y_team = split(function, team, column, y_configuration, y_tag);
  return 0;
}

void destroy_team(const char* function, shmem_team_t handle) {
  need_start(function);
  if (handle == SHMEM_TEAM_INVALID) return;
  if (handle == SHMEM_TEAM_WORLD || handle == SHMEM_TEAM_SHARED) {
    fail(function, "the team is predefined", "destroy teams that were made by a split alone");
  }
  ShmemTeam& team = team_of(function, handle);
  quiet_contexts_of(handle);
  check(function, coll::barrier(team.comm));  // the others are done with what they share with us for it
  destroy_contexts_of(handle);
  {
    std::lock_guard lock(teams_guard);
    ShmemTeam** at = &made_by_splits;
    while (*at != &team) at = &(*at)->next;
    *at = team.next;
  }
  destroy(&team);
}

int team_my_pe(const char* function, shmem_team_t team) {
  return team == SHMEM_TEAM_INVALID ? -1 : team_of(function, team).comm.rank;
}

int team_n_pes(const char* function, shmem_team_t team) {
  return team == SHMEM_TEAM_INVALID ? -1 : team_of(function, team).comm.size;
}

int team_get_config(const char* function, shmem_team_t team, long mask, shmem_team_config_t* config) {
  if (team == SHMEM_TEAM_INVALID) return 1;
  const ShmemTeam& found = team_of(function, team);
  if ((mask & SHMEM_TEAM_NUM_CONTEXTS) != 0) config->num_contexts = found.contexts;
  return 0;
}

int translate_pe(const char* function, shmem_team_t from, int pe, shmem_team_t to) {
  if (from == SHMEM_TEAM_INVALID || to == SHMEM_TEAM_INVALID) return -1;
  const core::Comm& source = team_of(function, from).comm;
  const core::Comm& target = team_of(function, to).comm;
  if (pe < 0 || pe >= source.size) return -1;
  const int32_t job_pe = source.job_rank(pe);
  if (target.table == nullptr) {
    return place_in({target.first, target.stride, target.size}, job_pe);
  }
  const int32_t* end = target.table + target.size;
  const int32_t* found = std::find(target.table, end, job_pe);
  return found == end ? -1 : static_cast<int>(found - target.table);
}

}  // namespace weft::shmem
