// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How other jobs become known to this process, and what becomes of them: core/object/other_jobs.hpp has those that are
// known. While we share communicators with a process of another job, its end is noticed.
//
// All may be called by any thread.

#include <cstdint>
#include <string>
#include <vector>

namespace weft::base {
struct Problem;
}

namespace weft::core {

// Makes the job with this number (boot/connect/job_number.hpp) known, if it is not ours; `id`, unless it is empty, is
// its name. Why it cannot be, or has no such place; empty: it is.
[[nodiscard]] std::string meet_job(int number, const std::string& id, int32_t place);
// Does so for the jobs that these ranks are of.
[[nodiscard]] std::string meet_jobs_of(const std::vector<int32_t>& ranks);

// Whether two processes with these addresses can send to each other.
[[nodiscard]] bool suits(const std::string& addresses, const std::string& other);

// A transport has lost its way to such a rank. If we share a communicator with it then, and go on doing so, that ends
// the job; its own end is told by others first.
void far_way_lost(int32_t far_rank, const base::Problem& problem);

// Communicators that we share with such a rank have become `by` more or less. While there are any, the end of its
// process without MPI_Finalize ends ours. Returns whether there are some now, and were none, or the reverse.
[[nodiscard]] bool share_with_other(int32_t rank, int32_t by);
// Whether all those ranks have left MPI, or are about to; called after we are in MPI_Finalize.
[[nodiscard]] bool others_leave();

// No other job is known any more.
void leave_other_jobs();

}  // namespace weft::core
