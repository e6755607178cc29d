// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Sends and receives as scripts say, and checks what came.

#include <vector>

#include "threads_order/script.hpp"

namespace order {

using expect::rank;
using expect::size;

inline threads::Watch* watch = nullptr;

// The result of a receive.
struct Got {
  std::vector<unsigned char> data;
  MPI_Status status;
  MPI_Request request = MPI_REQUEST_NULL;
};

// Receives as `kind` says; the request is null when it is done at once.
void receive(Kind kind, Got& got, int source, int tag, MPI_Comm comm);
// Waits for all, one way or another.
void complete(std::vector<Got>& gots, Random& random);

// All scripts in [first, last), to our right neighbour or to ourselves, on a fresh communicator: how threads share one
// begins anew with each.
void run_scripts(Team& senders, Team& receivers, bool to_self, uint64_t seed, const std::vector<int>& named, int first);

}  // namespace order
