// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Making, ending and searching groups.

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "mpi/object/object.hpp"

namespace weft::mpi {

// A group counts its references: handles that the program holds, and communicators. Apart from the count it never
// changes. Taking a reference orders nothing and giving it back does, as in base::HolderCount.
inline core::Group* hold(core::Group* group) {
  if (!group->predefined) std::atomic_ref(group->references).fetch_add(1, std::memory_order_relaxed);
  return group;
}
void drop(core::Group* group);

// A group with one reference of these job ranks; a formula instead of the table where there is one, MPI_GROUP_EMPTY for
// none. nullptr: no memory.
[[nodiscard]] core::Group* make_group(std::vector<int32_t>&& job_ranks);

// Finds ranks of a group by job rank: by arithmetic, in a table sorted once, or, when only a few are asked for, by
// looking along the group.
class RankFinder {
 public:
  explicit RankFinder(const core::Group& group, int64_t questions = INT64_MAX);
  [[nodiscard]] int32_t rank_of(int32_t job_rank) const;  // -1: not a member

 private:
  const core::Group& group_;
  std::vector<std::pair<int32_t, int32_t>> sorted_;  // job rank, rank
};

// The job ranks of a group, and of what set operations make of two: in the order of the first, then of the second. The
// time is that of sorting one of them, or less.
[[nodiscard]] std::vector<int32_t> job_ranks_of(const core::Group& group);
[[nodiscard]] std::vector<int32_t> union_of(const core::Group& a, const core::Group& b);
[[nodiscard]] std::vector<int32_t> intersection_of(const core::Group& a, const core::Group& b);
[[nodiscard]] std::vector<int32_t> difference_of(const core::Group& a, const core::Group& b);

// MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
[[nodiscard]] int compare_groups(const core::Group& a, const core::Group& b);

}  // namespace weft::mpi
