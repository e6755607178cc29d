// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_idup (MPI-5.0, 7.4.2). The copy is made at once, with the attributes of that moment; programs ask it for its
// size before the operation completes, though they must not. Its context is agreed on in the background, by the same
// rounds of messages as agree() has: each begins when the one before has ended, whoever makes progress then. Several
// may be under way on one communicator: all ranks begin them in the same order, so counting them gives each messages of
// its own.

#include <atomic>
#include <new>

#include "core/p2p.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/number.hpp"
#include "mpi/env/info.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/attribute.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {
namespace {

// A copy whose context is not known yet. Gone when its request is complete.
struct Unfinished {
  Team team;
  Offer offer;
  Vote vote;
  Request* request;  // the program's; keeps the copy, which may be freed before
  Request* anchor;   // keeps the parent
  Vote received{};
  Vote sent{};  // as long as the message is under way
  int64_t distance = 1;
  std::atomic<int> open = 0;  // messages of this round, two at its begin
};

// What the request ends with. The standard's error classes are core's here.
int32_t give_context(Unfinished& u) {
  const int32_t failed = std::atomic_ref(u.request->error).load(std::memory_order_relaxed);
  if (failed != core::no_error) return failed;
  if (!try_settle(u.offer, u.vote.offer)) return core::other_error;
  auto& copy = static_cast<Comm&>(*u.request->comm);
  set_agreed_hints(copy, u.vote.bits);
  set_context(copy, hold_context(u.team, u.vote.offer));
  return core::no_error;
}

void finish(Unfinished* u) {
  Request* request = u->request;
  request->error = give_context(*u);
  core::free_request(u->anchor);
  delete u;
  core::complete(*request);
}

void advance(Unfinished* u);

bool message_done(Request& r) {
  auto* u = static_cast<Unfinished*>(r.owner);
  if (r.error != core::no_error) std::atomic_ref(u->request->error).store(r.error, std::memory_order_relaxed);
  core::free_request(&r);
  if (u->open.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  u->vote.take_in(u->received);
  u->distance *= 2;
  advance(u);
  return false;
}

// Begins the next round, or ends. Whichever of a round's messages is the last to be done goes on from there.
void advance(Unfinished* u) {
  if (u->distance >= u->team.size) return finish(u);
  const Team::Place from = u->team.place(heard_from(u->team, u->distance));
  const Team::Place to = u->team.place(told_to(u->team, u->distance));
  Request* receive = core::new_request(from.comm, core::Role::receive);
  Request* send = core::new_request(to.comm, core::Role::send);
  if (receive == nullptr || send == nullptr) {
    if (receive != nullptr) core::free_request(receive);
    u->request->error = core::no_memory;
    return finish(u);
  }
  u->sent = u->vote;
  u->open.store(2, std::memory_order_relaxed);
  const int32_t tag = u->team.tag;
  core::set_buffer(*receive, &u->received, sizeof u->received, byte_type);
  core::set_buffer(*send, &u->sent, sizeof u->sent, byte_type);
  receive->owner = send->owner = u;
  receive->on_done = send->on_done = message_done;
  core::start_receive(*receive, from.context, from.rank, tag);
  core::start_send(*send, to.context, to.rank, tag);
}

int duplicate(const char* function, Comm& from, const Info* info, MPI_Comm* newcomm, MPI_Request* request) {
  uint8_t asserts = 0;
  if (int error = read_hints(function, from, info, asserts)) return error;
  Comm* copy = new_twin(from, no_context);
  if (copy == nullptr) return no_memory(&from, function, "a communicator");
  copy->asserts.store(asserts, std::memory_order_relaxed);
  take_memory_assertion(*copy, info);
  if (int error = copy_attributes(from, *copy)) {
    (void)delete_attributes(*copy);
    destroy_comm(copy);
    return fail(&from, function, error, "a copy callback of an attribute returned an error");
  }
  Request* r = core::new_request(*copy, core::Role::composite);
  Request* anchor = core::new_request(from, core::Role::composite);
  const Team team = everybody(from, background_creation_tag(from.idups.fetch_add(1, std::memory_order_relaxed)));
  const Offer offer = Offer::of(team.size, team.rank);
  auto* u = r == nullptr || anchor == nullptr
                ? nullptr
                : new (std::nothrow) Unfinished{team, offer, {offer.vote, hints_to_agree(asserts)}, r, anchor};
  if (u == nullptr) {
    for (Request* taken : {r, anchor}) {
      if (taken != nullptr) core::free_request(taken);
    }
    (void)try_settle(offer, no_offer);
    (void)delete_attributes(*copy);
    destroy_comm(copy);
    return no_memory(&from, function, "a communicator");
  }
  r->source = MPI_ANY_SOURCE;
  r->tag = MPI_ANY_TAG;
  r->received = 0;
  r->lane = core::any_lane;
  *newcomm = handle_of<MPI_Comm>(copy);
  *request = handle_of<MPI_Request>(r);
  advance(u);
  return MPI_SUCCESS;
}

// Common checks of both functions; raises the error.
int check(const char* function, MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  if (newcomm == nullptr) return null_argument(c, function, "newcomm");
  return request == nullptr ? null_argument(c, function, "request") : MPI_SUCCESS;
}

}  // namespace

int comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  static const char* function = "MPI_Comm_idup";
  if (int error = check(function, comm, newcomm, request)) return error;
  return duplicate(function, *comm_of(comm), nullptr, newcomm, request);
}

int comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  static const char* function = "MPI_Comm_idup_with_info";
  if (int error = check(function, comm, newcomm, request)) return error;
  const Info* given = info_of(info);
  if (given == nullptr && info != MPI_INFO_NULL) return bad_info(comm_of(comm), function, info);
  return duplicate(function, *comm_of(comm), given, newcomm, request);
}

}  // namespace weft::mpi
