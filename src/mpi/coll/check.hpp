// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Checks of the arguments of a collective call. The first wrong argument raises its error; what is asked afterwards is
// not looked at, so that a function lists its checks and asks once at the end.

#include "coll/block.hpp"
#include "mpi/coll/op.hpp"

namespace weft::mpi {

// How a collective operation is called.
struct Form {
  enum class Kind : uint8_t { blocking, nonblocking, persistent };

  Kind kind;
  const char* function;
  MPI_Info info = MPI_INFO_NULL;  // of the persistent form; its hints are not needed
  MPI_Request* request = nullptr;

  bool is_blocking() const { return kind == Kind::blocking; }
};
inline Form blocking(const char* function) {
  return {Form::Kind::blocking, function};
}
inline Form nonblocking(const char* function, MPI_Request* request) {
  return {Form::Kind::nonblocking, function, MPI_INFO_NULL, request};
}
inline Form persistent(const char* function, MPI_Info info, MPI_Request* request) {
  return {Form::Kind::persistent, function, info, request};
}

class Check {
 public:
  // A call without a communicator.
  explicit Check(const char* function) : function_(function) {}
  Check(const char* function, MPI_Comm comm);
  Check(const Form& form, MPI_Comm comm);

  bool failed() const { return error_ != MPI_SUCCESS; }
  int error() const { return error_; }
  Comm& comm() const { return *comm_; }

  // A rank; on an intercommunicator one of the other group, MPI_ROOT or MPI_PROC_NULL.
  void root(int rank);
  void count(MPI_Count count);
  Type* type(MPI_Datatype datatype);  // committed
  // Count, type, and a buffer that is there and not MPI_IN_PLACE.
  Type* data(const void* buffer, MPI_Count count, MPI_Datatype datatype);
  // The same for `number` blocks of one type.
  Type* blocks(const void* buffer, const coll::Array& counts, int32_t number, MPI_Datatype datatype);
  void reducer(OpReducer& reducer, MPI_Op op, Type* type, MPI_Datatype datatype);
  // Two buffers of one operation must not be the same memory.
  void apart(const void* send, const void* receive, MPI_Count count, const Type* type);
  void array(const void* array, const char* name);
  void no_in_place(const void* buffer, const char* where);
  void one_group();  // an intercommunicator will not do
  void topology();   // the communicator must have one

  // The result of the operation, as the MPI call returns it.
  [[nodiscard]] int done(int32_t error);

 private:
  void buffer(const void* buffer, MPI_Count count, const Type& type);
  void request(const Form& form);

  const char* function_;
  Comm* comm_ = nullptr;
  int error_ = MPI_SUCCESS;
};

}  // namespace weft::mpi
