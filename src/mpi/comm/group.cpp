// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Groups (MPI-5.0, 7.3). A set operation sorts one group once and looks up the members of the other.
#include "mpi/comm/group.hpp"

#include <algorithm>

#include "core/object/identity.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"

namespace weft::mpi {

using core::Group;

void drop(Group* group) {
  if (group == nullptr || group->predefined) return;
  if (std::atomic_ref(group->references).fetch_sub(1, std::memory_order_acq_rel) == 1) base::destroy_object(group);
}

Group* make_group(std::vector<int32_t>&& job_ranks) {
  if (job_ranks.empty()) return group_of(MPI_GROUP_EMPTY);
  Group* group = base::make_object<Group>();
  if (group == nullptr) return nullptr;
  group->kind = base::Kind::group;
  group->size = static_cast<int32_t>(job_ranks.size());
  auto ours = std::find(job_ranks.begin(), job_ranks.end(), core::identity->rank);
  if (ours != job_ranks.end()) group->rank = static_cast<int32_t>(ours - job_ranks.begin());
  group->first = job_ranks[0];
  group->stride = group->size > 1 ? job_ranks[1] - job_ranks[0] : 1;
  for (int32_t r = 0; r < group->size; ++r) {
    if (job_ranks[static_cast<size_t>(r)] != group->first + r * group->stride) {
      group->table = std::move(job_ranks);
      group->table.shrink_to_fit();
      break;
    }
  }
  return group;
}

RankFinder::RankFinder(const Group& group, int64_t questions) : group_(group) {
  constexpr int64_t few = 8;  // sorting takes about log2(size) looks along the table
  if (group.table.empty() || questions <= few) return;
  sorted_.reserve(group.table.size());
  for (int32_t r = 0; r < group.size; ++r) sorted_.emplace_back(group.job_rank(r), r);
  std::sort(sorted_.begin(), sorted_.end());
}

int32_t RankFinder::rank_of(int32_t job_rank) const {
  if (group_.table.empty()) {
    int32_t distance = job_rank - group_.first;
    int32_t rank = distance / group_.stride;
    return distance % group_.stride == 0 && rank >= 0 && rank < group_.size ? rank : -1;
  }
  if (sorted_.empty()) {
    const auto at = std::find(group_.table.begin(), group_.table.end(), job_rank);
    return at != group_.table.end() ? static_cast<int32_t>(at - group_.table.begin()) : -1;
  }
  auto at = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair{job_rank, int32_t{0}});
  return at != sorted_.end() && at->first == job_rank ? at->second : -1;
}

int compare_groups(const Group& a, const Group& b) {
  if (&a == &b) return MPI_IDENT;
  if (a.size != b.size) return MPI_UNEQUAL;
  int32_t r = 0;
  while (r < a.size && a.job_rank(r) == b.job_rank(r)) ++r;
  if (r == a.size) return MPI_IDENT;
  RankFinder finder(b);
  for (; r < a.size; ++r) {
    if (finder.rank_of(a.job_rank(r)) < 0) return MPI_UNEQUAL;
  }
  return MPI_SIMILAR;
}

namespace {

// Appends the members of `from` that are (`wanted`) or are not members of `other`, in the order of `from`.
void append_members(std::vector<int32_t>& to, const Group& from, const Group& other, bool wanted) {
  const RankFinder finder(other, from.size);
  for (int32_t r = 0; r < from.size; ++r) {
    int32_t job_rank = from.job_rank(r);
    if ((finder.rank_of(job_rank) >= 0) == wanted) to.push_back(job_rank);
  }
}

}  // namespace

std::vector<int32_t> job_ranks_of(const Group& group) {
  std::vector<int32_t> ranks(static_cast<size_t>(group.size));
  for (int32_t r = 0; r < group.size; ++r) ranks[static_cast<size_t>(r)] = group.job_rank(r);
  return ranks;
}

std::vector<int32_t> union_of(const Group& a, const Group& b) {
  std::vector<int32_t> members = job_ranks_of(a);
  append_members(members, b, a, false);
  return members;
}

std::vector<int32_t> intersection_of(const Group& a, const Group& b) {
  std::vector<int32_t> members;
  append_members(members, a, b, true);
  return members;
}

std::vector<int32_t> difference_of(const Group& a, const Group& b) {
  std::vector<int32_t> members;
  append_members(members, a, b, false);
  return members;
}

namespace {

// A group of these ranks, made from `origin`.
int give(const char* function, const Group& origin, std::vector<int32_t>&& job_ranks, MPI_Group* newgroup) {
  Group* group = make_group(std::move(job_ranks));
  if (group == nullptr) return no_memory(nullptr, function, "a group");
  if (!group->predefined) group->session = origin.session;
  *newgroup = group_handle(group);
  return MPI_SUCCESS;
}

int combine(const char* function, std::vector<int32_t> (*operation)(const Group&, const Group&), MPI_Group group1,
            MPI_Group group2, MPI_Group* newgroup) {
  const Group* a = group_of(group1);
  if (a == nullptr) return bad_group(function, group1);
  const Group* b = group_of(group2);
  if (b == nullptr) return bad_group(function, group2);
  if (no_address(newgroup)) return null_argument(nullptr, function, "newgroup");
  return give(function, *a, operation(*a, *b), newgroup);
}

// Ranks of a group as a program names them, each at most once.
struct ChosenRanks {
  std::vector<int32_t> ranks;
  std::vector<bool> chosen;
};

int choose(const char* function, const Group& group, int64_t rank, ChosenRanks& choice) {
  if (rank < 0 || rank >= group.size) {
    return fail(nullptr, function, MPI_ERR_RANK, "rank %lld is outside the group of %d", static_cast<long long>(rank),
                group.size);
  }
  auto at = static_cast<size_t>(rank);
  if (choice.chosen[at]) return fail(nullptr, function, MPI_ERR_RANK, "rank %zu is named twice", at);
  choice.chosen[at] = true;
  choice.ranks.push_back(static_cast<int32_t>(rank));
  return MPI_SUCCESS;
}

// The new group: the chosen ranks in the order they were named, or all others in the group's order.
int give_choice(const char* function, const Group& group, const ChosenRanks& choice, bool chosen, MPI_Group* newgroup) {
  std::vector<int32_t> members;
  if (chosen) {
    for (int32_t r : choice.ranks) members.push_back(group.job_rank(r));
  } else {
    for (int32_t r = 0; r < group.size; ++r) {
      if (!choice.chosen[static_cast<size_t>(r)]) members.push_back(group.job_rank(r));
    }
  }
  return give(function, group, std::move(members), newgroup);
}

int select(const char* function, MPI_Group handle, int n, const int ranks[], bool chosen, MPI_Group* newgroup) {
  const Group* group = group_of(handle);
  if (group == nullptr) return bad_group(function, handle);
  if (n < 0) return negative(nullptr, function, MPI_ERR_ARG, "n", n);
  if (n > 0 && no_address(ranks)) return null_argument(nullptr, function, "ranks");
  if (no_address(newgroup)) return null_argument(nullptr, function, "newgroup");
  ChosenRanks choice{{}, std::vector<bool>(static_cast<size_t>(group->size))};
  for (int i = 0; i < n; ++i) {
    if (int error = choose(function, *group, ranks[i], choice)) return error;
  }
  return give_choice(function, *group, choice, chosen, newgroup);
}

int select_ranges(const char* function, MPI_Group handle, int n, int ranges[][3], bool chosen, MPI_Group* newgroup) {
  const Group* group = group_of(handle);
  if (group == nullptr) return bad_group(function, handle);
  if (n < 0) return negative(nullptr, function, MPI_ERR_ARG, "n", n);
  if (n > 0 && no_address(ranges)) return null_argument(nullptr, function, "ranges");
  if (no_address(newgroup)) return null_argument(nullptr, function, "newgroup");
  ChosenRanks choice{{}, std::vector<bool>(static_cast<size_t>(group->size))};
  for (int i = 0; i < n; ++i) {
    int64_t first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];
    if (stride == 0) return fail(nullptr, function, MPI_ERR_ARG, "range %d has stride 0", i);
    for (int64_t r = first; stride > 0 ? r <= last : r >= last; r += stride) {
      if (int error = choose(function, *group, r, choice)) return error;
    }
  }
  return give_choice(function, *group, choice, chosen, newgroup);
}

}  // namespace

int group_size(MPI_Group group, int* size) {
  const Group* g = group_of(group);
  if (g == nullptr) return bad_group("MPI_Group_size", group);
  if (no_address(size)) return null_argument(nullptr, "MPI_Group_size", "size");
  *size = g->size;
  return MPI_SUCCESS;
}

int group_rank(MPI_Group group, int* rank) {
  const Group* g = group_of(group);
  if (g == nullptr) return bad_group("MPI_Group_rank", group);
  if (no_address(rank)) return null_argument(nullptr, "MPI_Group_rank", "rank");
  *rank = g->rank >= 0 ? g->rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]) {
  static const char* function = "MPI_Group_translate_ranks";
  const Group* from = group_of(group1);
  if (from == nullptr) return bad_group(function, group1);
  const Group* to = group_of(group2);
  if (to == nullptr) return bad_group(function, group2);
  if (n < 0) return negative(nullptr, function, MPI_ERR_ARG, "n", n);
  if (n > 0 && no_address(ranks1)) return null_argument(nullptr, function, "ranks1");
  if (n > 0 && no_address(ranks2)) return null_argument(nullptr, function, "ranks2");
  const RankFinder finder(*to, n);
  for (int i = 0; i < n; ++i) {
    if (ranks1[i] == MPI_PROC_NULL) {
      ranks2[i] = MPI_PROC_NULL;
      continue;
    }
    if (ranks1[i] < 0 || ranks1[i] >= from->size) {
      return fail(nullptr, function, MPI_ERR_RANK, "rank %d is outside the group of %d", ranks1[i], from->size);
    }
    int32_t found = finder.rank_of(from->job_rank(ranks1[i]));
    ranks2[i] = found >= 0 ? found : MPI_UNDEFINED;
  }
  return MPI_SUCCESS;
}

int group_compare(MPI_Group group1, MPI_Group group2, int* result) {
  const Group* a = group_of(group1);
  if (a == nullptr) return bad_group("MPI_Group_compare", group1);
  const Group* b = group_of(group2);
  if (b == nullptr) return bad_group("MPI_Group_compare", group2);
  if (no_address(result)) return null_argument(nullptr, "MPI_Group_compare", "result");
  *result = compare_groups(*a, *b);
  return MPI_SUCCESS;
}

int group_union(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  return combine("MPI_Group_union", union_of, group1, group2, newgroup);
}

int group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  return combine("MPI_Group_intersection", intersection_of, group1, group2, newgroup);
}

int group_difference(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  return combine("MPI_Group_difference", difference_of, group1, group2, newgroup);
}

int group_incl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  return select("MPI_Group_incl", group, n, ranks, true, newgroup);
}

int group_excl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  return select("MPI_Group_excl", group, n, ranks, false, newgroup);
}

int group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  return select_ranges("MPI_Group_range_incl", group, n, ranges, true, newgroup);
}

int group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  return select_ranges("MPI_Group_range_excl", group, n, ranges, false, newgroup);
}

int group_free(MPI_Group* group) {
  if (no_address(group)) return null_argument(nullptr, "MPI_Group_free", "group");
  Group* g = group_of(*group);
  if (g == nullptr) return bad_group("MPI_Group_free", *group);
  if (!g->predefined && !g->handles.remove()) {
    return freed_too_often("MPI_Group_free", MPI_ERR_GROUP, "group", reinterpret_cast<uintptr_t>(*group));
  }
  drop(g);
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
