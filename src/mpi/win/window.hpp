// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Common parts of the calls on windows: checks of their arguments, and what to say of what core::rma found.

#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"
#include "mpi/object/object.hpp"

namespace weft::mpi {

struct Info;

// ---- Which window calls are mostly about (put.cpp)

// An epoch was opened on this window. Until one is opened on another, or it is forgotten, short calls on it are told by
// one comparison.
void remember(const Win& win);
void forget(const Win& win);

// ---- Hints (hints.cpp)

// Sets the hints that a new window has before the program gives any.
void set_default_hints(Win& win);
// Takes the hints of `info` (nullptr: none) that windows know, and ignores others. Raises the error of a wrong value.
[[nodiscard]] int take_hints(const char* function, ErrorsOn on, Win& win, const Info* info);
// Applies the hint mpi_assert_memory_alloc_kinds, once the window has a communicator of its own.
void use_memory_assertion(Win& win);
// Whether a hint is set to "true".
[[nodiscard]] bool is_hinted(const Win& win, const char* key);

// ---- Calls

// Where data go or come from at the target.
struct TargetData {
  int rank;
  MPI_Aint disp;
  MPI_Count count;
  MPI_Datatype datatype;
};

// The checks of calls on windows beside those of all.
class WinCheck : public Check {
 public:
  using Check::Check;

  // Only these MPI_MODE_ bits.
  void assertions(int given, int allowed);

  core::rma::Local data(const DataArgument& origin);
  core::rma::Remote place(const TargetData& place);
  // Limits `room` to as many whole elements as `from` has data for; data that do not fit raise an error.
  void fit(const core::rma::Local& from, core::rma::Remote& room);
  void fit(const core::rma::Remote& from, core::rma::Local& room);

  // The predefined type that so many bytes of a type consist of, for updates; nullptr: there are none. `name` as in
  // DataArgument.
  const Type* element(const Type& type, int64_t bytes, const char* name);
  // Both are the same, or there are none.
  void same(const Type* element, const Type* target, const char* name);
  // An operation for updates of this element; `fetching`: MPI_NO_OP is allowed.
  datatype::Reduction operation(MPI_Op op, const Type* element, bool fetching);

  // The result of a call of core::rma, as the MPI call returns it; of a communication call with its target.
  [[nodiscard]] int done(int32_t error, const core::rma::Remote* target = nullptr);
};

// Runs a communication call whose arguments are good. `operate` gets the request, nullptr where the call has none, and
// returns an error class. The types are kept while a request lives.
template <class Operate>
[[nodiscard]] int perform(WinCheck& check, const core::rma::Remote& target, MPI_Request* request,
                          std::initializer_list<Type*> types, Operate&& operate);

// The beginning of a call with a request, which is complete until one is given: for MPI_PROC_NULL, and what is done at
// once. Raises the error of wrong arguments, and outside of epochs of locks (MPI-5.0, 12.3.5).
[[nodiscard]] int begin_request(const char* function, MPI_Win win, int rank, MPI_Request* request);

// The parts of perform(): nullptr, with the error raised, when there is no memory; and the handle, or the end of what
// never began.
[[nodiscard]] Request* begin_access(WinCheck& check, std::initializer_list<Type*> types);
[[nodiscard]] int give_access(WinCheck& check, const core::rma::Remote& target, Request* r, int32_t error,
                              MPI_Request* request);

template <class Operate>
int perform(WinCheck& check, const core::rma::Remote& target, MPI_Request* request, std::initializer_list<Type*> types,
            Operate&& operate) {
  if (check.failed()) return check.error();
  if (request == nullptr) return check.done(operate(nullptr), &target);
  Request* r = begin_access(check, types);
  return r == nullptr ? check.error() : give_access(check, target, r, operate(r), request);
}

}  // namespace weft::mpi
