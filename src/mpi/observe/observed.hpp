// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// One call of MPI as statistics count it. The generated functions of `observed_calls` (abi/observe.py) make one, tell
// it what the call is about, and end it with the call's result. They stand in the table of calls while WEFT_STATS asks
// for them, or WEFT_CHECK for the check of threads (thread_check.hpp); otherwise nothing here runs.

#include <cstdint>

#include "mpi/functions.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/foreign.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/object/object.hpp"
#include "mpi/observe/thread_check.hpp"
#include "observe/counted_call.hpp"

namespace weft::mpi {

struct Face;
extern const Face observed_calls;  // generated; its hooks are empty

class Observed : public observe::CountedCall {
 public:
  // Inlined, so that the return address is the caller's: entry points jump to the function that holds this.
  [[gnu::always_inline]] explicit Observed(stats::Call call)
      : CountedCall(call, reinterpret_cast<uintptr_t>(__builtin_return_address(0)),
                    reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa())) {
    begin();
  }

  // Count data that the call moves. The arguments are unchecked, as the program gave them. `ranks` is the length of an
  // array.
  void data(MPI_Count count, MPI_Datatype type, int64_t times = 1) {
    const int64_t size = size_of(type);
    if (count <= 0 || size <= 0) return;
    bytes_ += static_cast<uint64_t>(count) * static_cast<uint64_t>(size) * static_cast<uint64_t>(times);
  }
  void data(const void* buffer, MPI_Count count, MPI_Datatype type, int64_t times = 1) {
    if (buffer != MPI_IN_PLACE) data(count, type, times);
  }
  template <class Count>
  void data(const void* buffer, const Count* counts, MPI_Datatype type, int64_t ranks) {
    if (buffer == MPI_IN_PLACE || no_address(counts)) return;
    for (int64_t i = 0; i < ranks; ++i) data(counts[i], type);
  }
  template <class Count>
  void data(const void* buffer, const Count* counts, const MPI_Datatype* types, int64_t ranks) {
    if (buffer == MPI_IN_PLACE || no_address(counts) || no_address(types)) return;
    for (int64_t i = 0; i < ranks; ++i) data(counts[i], types[i]);
  }
  // in_place() counts data in place by the arguments of the other side; own_in_place() counts our own element of an
  // array that has an element for each rank.
  template <class... Arguments>
  void in_place(const void* buffer, Arguments... arguments) {
    if (buffer == MPI_IN_PLACE) data(nullptr, arguments...);
  }
  template <class Count>
  void own_in_place(const void* buffer, const Count* counts, MPI_Datatype type, MPI_Comm comm) {
    const int rank = buffer == MPI_IN_PLACE ? own_rank(comm) : -1;
    if (rank >= 0 && !no_address(counts)) data(counts[rank], type);
  }
  template <class Count>
  void own_in_place(const void* buffer, const Count* counts, MPI_Datatype type, MPI_Comm comm, int root) {
    if (root == own_rank(comm)) own_in_place(buffer, counts, type, comm);  // others need give no array
  }
  static int own_rank(MPI_Comm comm);  // -1: it is no communicator, or one of two groups
  // Lengths of arrays: ranks that can be addressed, those of our side, neighbours that are sent to.
  static int64_t ranks(MPI_Comm comm);
  static int64_t own_ranks(MPI_Comm comm);
  static int64_t neighbours(MPI_Comm comm);

  // The communicator or window.
  void on(MPI_Comm comm) {
    if (detailed_) note(comm_of(comm));
  }
  void on(MPI_Win win);
  // The rank that data go to.
  void to(MPI_Comm comm, int rank) {
    if (detailed_) note_partner(comm_of(comm), rank);
  }
  void to(MPI_Win win, int rank);
  void starts(int count, const MPI_Request* requests);
  // The one rank that the call waits for: for its message, for its receive.
  void awaits(MPI_Comm comm, int rank);
  void awaits(const MPI_Request* request);
  void awaits_receive() {
    awaited_ = partner_;
    of_send_ = true;
  }
  // The root of a collective operation whose like for all roots in turn is another operation.
  void from(MPI_Comm comm, int root);

  int end(int result) {
    finish();
    return result;
  }
  void finish() {
    if (!checks_calls || leave()) CountedCall::finish();
  }

 private:
  void begin() {
    if (!checks_calls || enter()) CountedCall::begin();
  }
  // The check of threads. False: calls are not counted.
  [[gnu::cold]] bool enter();
  [[gnu::cold]] bool leave();
  void note(const core::Comm* comm);
  static int64_t size_of(MPI_Datatype handle) {
    const Type* type = type_of(handle);
    return type == nullptr ? 0 : type->size;
  }
};

}  // namespace weft::mpi
