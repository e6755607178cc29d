// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_idup (MPI-5.0, 7.4.2). The copy is made at once, with the attributes of that moment; programs ask it for its
// size before the operation completes, though they must not. The ranks agree on its context in the background.

#include "mpi/comm/comm.hpp"
#include "mpi/env/info.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/attribute.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {
namespace {

// Before the request completes, which keeps the copy.
void give_context(Request& request, uint32_t context, uint64_t bits) {
  auto& copy = static_cast<Comm&>(*request.comm);
  set_agreed_hints(copy, bits);
  set_context(copy, context);
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
  Request* r = coll::new_composite(*copy);
  if (r == nullptr || coll::agree_in_background(from, hints_to_agree(asserts), *r, give_context) != core::no_error) {
    if (r != nullptr) core::free_request(r);
    (void)delete_attributes(*copy);
    destroy_comm(copy);
    return no_memory(&from, function, "a communicator");
  }
  *newcomm = handle_of<MPI_Comm>(copy);
  *request = handle_of<MPI_Request>(r);
  return MPI_SUCCESS;
}

// Common checks of both functions; raises the error.
int check(const char* function, MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  if (no_address(newcomm)) return null_argument(c, function, "newcomm");
  return no_address(request) ? null_argument(c, function, "request") : MPI_SUCCESS;
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
