// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Jobs of this host that processes of ours have met at a port or in MPI_Comm_join (docs/dynamic.md, "Two jobs").
//
// Every process numbers the ranks of its own job as always, by their places, and those of another job from a block on:
// the exclusive or of the two jobs' numbers (boot/job_number.hpp), shifted. So the rank that another process means by a
// number of its own is, for us, that number with the block of that process exchanged: renumbered(). A message that
// names its sender's rank names it as the receiver numbers it: Peer::our_rank.
//
// All may be called by any thread.

#include <cstdint>
#include <string>
#include <vector>

#include "boot/job_number.hpp"

namespace weft::boot {
struct RankStatus;
}

namespace weft::core {

// The block that a rank is in; 0: our own job's, where other jobs have room (ranks_of_all_jobs()).
[[nodiscard]] constexpr int32_t block_of(int32_t rank) {
  return rank & ~(boot::most_places_of_a_job - 1);
}

// What `teller` numbers so, as we do. The other way round too.
[[nodiscard]] int32_t renumbered(int32_t rank, int32_t teller);

// The rank of the process in a place of the job with this number, which is ours or has one.
[[nodiscard]] int32_t rank_in_job(int number, int32_t place);

// A rank as all jobs may number it, to compare with others.
[[nodiscard]] int32_t number_for_all(int32_t rank);

// How many ranks there are of all jobs, met or not; `places` of ours alone where ours has no room for others.
[[nodiscard]] int32_t ranks_of_all_jobs();

// Makes the job with this number known, if it is not ours; `id`, unless it is empty, is its name. Why it cannot be, or
// has no such place; empty: it is.
[[nodiscard]] std::string meet_job(int number, const std::string& id, int32_t place);
// The same of the jobs that these ranks are of.
[[nodiscard]] std::string meet_jobs_of(const std::vector<int32_t>& ranks);

// Whether any other job was ever known.
[[nodiscard]] bool has_met_jobs();
// Whether a rank is of another job that is known; false for any number that is none.
[[nodiscard]] bool is_of_known_job(int32_t rank);
// The launcher's line of such a rank; nullptr: its job is not known.
[[nodiscard]] boot::RankStatus* line_of_other(int32_t rank);

// Communicators that we share with such a rank have become `by` more or less. While there are any, the end of its
// process without MPI_Finalize ends ours. Returns whether there are some now, and were none, or the reverse.
[[nodiscard]] bool share_with_other(int32_t rank, int32_t by);
// Whether all those ranks have left MPI, or are about to; called after we are in MPI_Finalize.
[[nodiscard]] bool others_leave();

// No other job is known any more.
void leave_other_jobs();

}  // namespace weft::core
