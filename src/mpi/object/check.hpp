// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The checks of calls' arguments. Short calls compare their arguments on their own fast path, and use these checks when
// a comparison fails, to say what is wrong; all other calls use them at once. Each message is written once.

#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {

// The errors of an argument that must not be below 0, and of one that must be a rank of `where`. `others` names what
// else it may be.
[[nodiscard, gnu::cold, gnu::noinline]] int negative(ErrorsOn on, const char* function, int error, const char* name,
                                                     int64_t value);
[[nodiscard, gnu::cold, gnu::noinline]] int no_rank(ErrorsOn on, const char* function, int error, const char* name,
                                                    int rank, const char* where, int32_t size, const char* others = "");

// Data as a call describes them. The names of the arguments begin with `name`: "origin_" of origin_count.
struct DataArgument {
  const void* buffer;
  MPI_Count count;
  MPI_Datatype datatype;
  const char* name = "";
};

// Checks of a call's arguments: the first that is wrong raises its error, and what is asked afterwards is not looked
// at, so that a function lists its checks and asks once at the end.
class Check {
 public:
  // A call without an object.
  explicit Check(const char* function) : function_(function) {}
  Check(const char* function, const Comm* comm) : function_(function), comm_(const_cast<Comm*>(comm)) {}
  Check(const char* function, MPI_Comm comm);
  Check(const char* function, MPI_Win win);
  Check(const char* function, MPI_File file);

  bool failed() const { return error_ != MPI_SUCCESS; }
  int error() const { return error_; }
  const char* function() const { return function_; }
  Comm& comm() const { return *comm_; }
  Win& win() const { return *win_; }
  File& file() const { return *file_; }
  ErrorsOn on() const {
    if (file_ != nullptr) return file_;
    return win_ != nullptr ? ErrorsOn(win_) : ErrorsOn(comm_);
  }

  [[gnu::cold, gnu::noinline, gnu::format(printf, 3, 4)]] void fail(int error, const char* text, ...);

  // A rank of the communicator or window, or MPI_PROC_NULL; of a receive also MPI_ANY_SOURCE.
  void rank(int rank, const char* name, bool receives = false);
  // A rank; on an intercommunicator one of the other group, MPI_ROOT or MPI_PROC_NULL.
  void root(int rank);
  void tag(int tag, bool receives = false);
  void pointer(const void* pointer, const char* name);
  void no_in_place(const void* buffer, const char* where);

  void count(MPI_Count count, const char* name = "");
  Type* type(MPI_Datatype datatype, const char* name = "");  // committed
  // Checks the count and the type, and computes their bytes.
  Type* elements(const DataArgument& data, int64_t& bytes);
  // Like elements(); it also checks that there is a buffer.
  Type* data(const DataArgument& data, int64_t& bytes);
  void buffer(const void* buffer, int64_t bytes, const Type& type, const char* name = "");

 protected:
  const char* function_;
  Comm* comm_ = nullptr;
  Win* win_ = nullptr;
  File* file_ = nullptr;
  int error_ = MPI_SUCCESS;
};

}  // namespace weft::mpi
