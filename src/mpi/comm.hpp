// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Making and ending communicators.

#include "mpi/agree.hpp"
#include "mpi/object.hpp"

namespace weft::mpi {

struct Info;

// Makes `comm` the communicator of `group` (whose reference it takes) with these contexts.
void describe_comm(Comm& comm, uint32_t context, core::Group* group);

// Gives back what a communicator holds, but not the object.
void release_comm_parts(Comm& comm);

// Ends the communicators that were freed while operations on them were under way, and no longer are.
void free_unused_comms();

// The context of a communicator that this team makes: see mpi/context.hpp. Raises an error when there are none left.
[[nodiscard]] int agree_on_context(const char* function, const Team& team, uint32_t& context);

// A communicator of `group` (whose reference it takes) that inherits from `parent`; nullptr when there is no memory.
[[nodiscard]] Comm* new_comm(const Comm& parent, uint32_t context, core::Group* group);

// Hints (comm_info.cpp): those the communicator knows are taken, others ignored; nullptr gives none. Collective on
// `parent`, since some need all ranks to agree.
[[nodiscard]] int take_hints(const char* function, Comm& parent, Comm& comm, const Info* info);
// Those of another communicator.
void copy_hints(const Comm& from, Comm& to);

}  // namespace weft::mpi
