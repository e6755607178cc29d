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
// A job of another host ("far") has a block of its own too. Numbers of jobs are good on one host alone, so there is no
// exclusive or: each of the two jobs has chosen a block for the other one, and says which. A process of such a job can
// name its own ranks and ours to us, and no others.
//
// All may be called by any thread.

#include <cstdint>
#include <string>
#include <vector>

#include "boot/job_number.hpp"

namespace weft::base {
struct Problem;
}
namespace weft::boot {
struct RankStatus;
}

namespace weft::core {

struct Comm;
struct Group;

// The block that a rank is in; 0: our own job's, where other jobs have room (ranks_of_all_jobs()).
[[nodiscard]] constexpr int32_t block_of(int32_t rank) {
  return rank & ~(boot::most_places_of_a_job - 1);
}

// The process that `teller` numbers so, as we number it; unknown_process: we do not know that process.
inline constexpr int32_t unknown_process = -1;
[[nodiscard]] int32_t renumbered(int32_t rank, int32_t teller);
// A rank of ours as `other` numbers it.
[[nodiscard]] int32_t numbered_by(int32_t other, int32_t rank);

// The rank of the process in a place of the job with this number, which is ours or has one.
[[nodiscard]] int32_t rank_in_job(int number, int32_t place);

// Whether a rank comes before another one, in an order that is the same for all jobs that the two are of.
[[nodiscard]] bool comes_before(int32_t rank, int32_t other);

// Whether a rank is of a job of another host. A rank of such a job that is in the communicator; no_far_rank: none is.
[[nodiscard]] constexpr bool is_far(int32_t rank) {
  return rank >= boot::first_far_rank;
}
inline constexpr int32_t no_far_rank = -1;
[[nodiscard]] int32_t far_rank_of(const Comm& comm);
[[nodiscard]] int32_t far_rank_of(const Group& group);

// The range of numbers of communicators with that job: core/context.hpp.
struct FarPart {
  uint32_t slot;
  bool senior;  // our job
};
[[nodiscard]] FarPart far_part(int32_t far_rank);
// How its processes reach this one: boot/introductions.hpp.
[[nodiscard]] std::string introduction_to(int32_t far_rank);
// Whether two processes with these introductions can send to each other.
[[nodiscard]] bool suits(const std::string& introduction, const std::string& other);
// A transport has lost its way to such a rank. If we share a communicator with it then, and go on doing so, that ends
// the job; its own end is told by others first.
void far_way_lost(int32_t far_rank, const base::Problem& problem);
// Whether this process knows a job of another host.
[[nodiscard]] bool knows_far_jobs();

// How many ranks there are of all jobs, met or not; `places` of ours alone where ours has no room for others.
[[nodiscard]] int32_t ranks_of_all_jobs();

// Makes the job with this number (boot/job_number.hpp) known, if it is not ours; `id`, unless it is empty, is its name.
// Why it cannot be, or has no such place; empty: it is.
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
