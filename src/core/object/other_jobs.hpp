// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Jobs of this host that processes of ours have connected with by a port or MPI_Comm_join (docs/design/spawn.md, "Two
// jobs"), and how their ranks are numbered. core/dynamic/meeting.hpp makes them known.
//
// Every process numbers the ranks of its own job as always, by their places, and those of another job from a block on:
// the exclusive or of the two jobs' numbers (boot/connect/job_number.hpp), shifted. So the rank that another process
// means by a number of its own is, for us, that number with the block of that process exchanged: renumbered(). A
// message that names its sender's rank names it as the receiver numbers it: Peer::our_rank.
//
// A job of another host ("far") has a block of its own too. Numbers of jobs are good on one host alone, so there is no
// exclusive or: each of the two jobs has chosen a block for the other one, and says which. A process of such a job can
// name its own ranks and ours to us, and no others.
//
// All may be called by any thread.

#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "boot/connect/job_number.hpp"

namespace weft::boot {
struct RankStatus;
}

namespace weft::core {

struct Comm;
struct Group;

struct OtherJob {
  std::string id;
  int32_t first = 0;  // its block
  int32_t places = 0;
  base::Descriptor launcher;  // its mpiexec's process, readable when that has ended; of a far job, our own
  void* header = nullptr;
  size_t header_bytes = 0;
  // A far job has these too. Our mpiexec keeps a copy of the lines of that job's ranks, with one more behind them,
  // which says when it knows no more of the job.
  bool far = false;
  int32_t theirs = 0;  // the block that our job is for it
  uint32_t slot = 0;
  bool senior = false;    // our job
  std::string addresses;  // of this process
};

// The job that a rank is of; nullptr: it is not known.
[[nodiscard]] OtherJob* job_of(int32_t rank);
// Makes the job of this block known; nullptr: it is known no more. One thread at a time.
void set_job(int32_t block, OtherJob* job);
[[nodiscard]] std::vector<OtherJob*> known_jobs();

// The block that a rank is in; 0: that of our own job, where there are numbers for other jobs (ranks_of_all_jobs()).
[[nodiscard]] constexpr int32_t block_of(int32_t rank) {
  return rank & ~(boot::most_places_of_a_job - 1);
}

// The place of a rank in its block.
[[nodiscard]] constexpr int32_t place_in(int32_t rank) {
  return rank - block_of(rank);
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

// The range of numbers of communicators with that job: core/dynamic/context.hpp.
struct FarPart {
  uint32_t slot;
  bool senior;  // our job
};
[[nodiscard]] FarPart far_part(int32_t far_rank);
// How its processes reach this one: boot/connect/address_exchange.hpp.
[[nodiscard]] std::string addresses_for(int32_t far_rank);
// Whether this process knows a job of another host.
[[nodiscard]] bool knows_far_jobs();

// How many ranks there are of all jobs, known or not; `places` of ours alone where there are no numbers for other jobs.
[[nodiscard]] int32_t ranks_of_all_jobs();

// Whether any other job was ever known.
[[nodiscard]] bool has_met_jobs();
// Whether a rank is of another job that is known; false for any number that is none.
[[nodiscard]] bool is_of_known_job(int32_t rank);
// The launcher's line of such a rank; nullptr: its job is not known.
[[nodiscard]] boot::RankStatus* line_of_other(int32_t rank);

// The launcher's line of any rank; nullptr: the rank is on another host, or its job is not known any more.
[[nodiscard]] boot::RankStatus* line_of(int32_t job_rank);
// How many processes had a place before the one that has it now. 0 for the ranks that the job began with.
[[nodiscard]] uint32_t generation_of(int32_t job_rank);

}  // namespace weft::core
