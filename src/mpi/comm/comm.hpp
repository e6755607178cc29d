// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Making and ending communicators.

#include "coll/agree/agree.hpp"
#include "mpi/object/object.hpp"

namespace weft::mpi {

struct Info;

using coll::founders_of;
using core::no_context;
using core::release_context;

// Agrees on the context of a new communicator (coll/agree/agree.hpp), and raises errors. agreement_failed() raises one.
[[nodiscard]] int agree_on_context(const char* function, const coll::Founders& founders, uint32_t& context,
                                   uint64_t* bits = nullptr);
[[nodiscard]] int agreement_failed(const char* function, const Comm* errors_on, int32_t error);

// What MPI_Comm_split does, for checked arguments: colours are not negative, or MPI_UNDEFINED.
[[nodiscard]] int split(const char* function, Comm& parent, int64_t color, int32_t key, MPI_Comm* newcomm);

// The parent of communicators that are made from groups. It has all ranks of the job; the members of a group find each
// other by a string (core::meeting_point()).
[[nodiscard]] Comm& nursery();
// Like nursery(), to reach the rank `other`, which may be of another job: a message names its source by the number that
// the receiver knows it by.
[[nodiscard]] Comm& nursery_to(int32_t other);

// Checks the string and the error handler of a function that makes communicators from groups; raises their errors.
[[nodiscard]] int check_naming(const char* function, const char* stringtag, MPI_Errhandler errhandler);

// Gives back what a communicator holds, but neither its context nor the object.
void release_comm_parts(Comm& comm);

// Ends an unused communicator, and with it our use of its context.
void destroy_comm(Comm* comm);

// Like destroy_comm(), when there may be operations on the communicator: it is kept until they are over.
void destroy_when_unused(Comm* comm);

// Ends the communicators that were freed while operations on them were in flight, if these operations are complete now.
void free_unused_comms();

// Makes a communicator of `group` (whose reference it takes) that inherits from `parent`. Without memory, it returns
// nullptr and gives the context back.
[[nodiscard]] Comm* new_comm(const Comm& parent, uint32_t context, core::Group* group);

// The two groups of an intercommunicator, each with a reference; one that is nullptr could not be made.
struct Sides {
  core::Group* ours;
  core::Group* theirs;
  bool we_lead;
};

// Makes an intercommunicator as new_comm() makes an intracommunicator. It takes the references.
[[nodiscard]] Comm* new_intercomm(const Comm& parent, uint32_t context, const Sides& sides);

// Makes an intercommunicator of the ranks of `local` and those of another communicator, which have no communicator in
// common. The leaders find each other by the string `meeting_point`: `leader` is our leader's rank in `local`,
// `other_leader` theirs in the job. Raises errors on `local`.
[[nodiscard]] int meet_others(const char* function, Comm& local, int leader, int32_t other_leader,
                              const char* meeting_point, Comm*& made);

// The result of MPI_Comm_get_parent until the program frees it; nullptr: there is no parent.
extern Comm* parent_comm;

// One like `from`, of whichever kind.
[[nodiscard]] Comm* new_twin(const Comm& from, uint32_t context);

// Hints (hints.cpp): those the communicator knows are taken, others ignored; nullptr gives none. Collective on
// `parent`, since some need all ranks to agree.
[[nodiscard]] int take_hints(const char* function, Comm& parent, Comm& comm, const Info* info);

// These take hints in steps, where all ranks agree on other things as well. read_hints() changes hints (Comm::asserts)
// by those in `info`. A hint that holds only if all ranks give it is a bit of their vote (hints_to_agree()), and
// set_agreed_hints() gets the outcome.
[[nodiscard]] int read_hints(const char* function, const Comm& errors_on, const Info* info, uint8_t& asserts);
[[nodiscard]] uint64_t hints_to_agree(uint8_t asserts);
void set_agreed_hints(Comm& comm, uint64_t agreed);
// The part of `info` (may be nullptr) that speaks of kinds of memory.
void take_memory_assertion(Comm& comm, const Info* info);

// ---- Streams of a device (stream/stream.cpp)

// Gives `to`, which has none, the stream of another communicator; waits for the operations that were enqueued on it;
// takes it away.
void share_stream(const Comm& from, Comm& to);
void wait_for_stream(const Comm& comm);
void drop_stream(Comm& comm);

// ---- Topologies (topo/topology.cpp)

// Gives `to` the topology of another communicator; takes it away.
void share_topology(const Comm& from, Comm& to);
void drop_topology(Comm& comm);
// The gain by reordering the ranks, in words; nullptr when nothing.
[[nodiscard]] const char* reordering_of(const Comm& comm);

}  // namespace weft::mpi
