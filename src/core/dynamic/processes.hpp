// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A job that grows: processes of other worlds, which were spawned or spawned us. A place in the job may have one
// process after the other; their number is its generation (core/object/other_jobs.hpp). docs/design/spawn.md.

#include <cstdint>

#include "core/object/comm.hpp"

namespace weft::core {

// Whether a rank of the job is of another MPI_COMM_WORLD than ours.
[[nodiscard]] bool is_foreign(int32_t job_rank);

// Whether the process that a place had then is there, and has not left the job.
[[nodiscard]] bool is_there(int32_t job_rank, uint32_t generation);
// Whether a process has left the job for good, or may have, for it is on another host.
[[nodiscard]] bool has_gone(int32_t job_rank);

// Whether a rank of our job can be talked to: it is here, or the launcher tells where it is, or it has told its
// addresses (boot/connect/address_exchange.hpp).
[[nodiscard]] bool knows_way_to(int32_t job_rank);

// Communication with the process that has this place now may begin: the peer that one before it was is forgotten.
void meet(int32_t job_rank);

// A communicator with these members was made, or is gone: those of other worlds are connected with us in between, which
// the launcher can see. Returns whether there are any; only then untie() may be called. Thread-safe.
[[nodiscard]] bool tie(const Group& group);
void untie(const Group& group);

// Whether a rank is of another world and another host: nothing tells us when it ends.
[[nodiscard]] bool is_foreign_afar(int32_t job_rank);
// Whether that is so, and it has no communicator with us any more: it may end at any
// time.
[[nodiscard]] bool has_parted(int32_t job_rank);

// MPI_Finalize is collective over connected processes. Says that we are in it, and makes progress until all of them
// are.
void leave_together();

}  // namespace weft::core
