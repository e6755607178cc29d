// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/object/check.hpp"

#include <climits>
#include <cstdarg>

#include "mpi/object/buffer.hpp"
#include "mpi/object/file.hpp"

namespace weft::mpi {
namespace {

long long wide(int64_t value) {
  return static_cast<long long>(value);
}

}  // namespace

std::string no_data_text(const void* buffer) {
  if (buffer == nullptr) return "a null pointer";
  return buffer == MPI_IN_PLACE ? "MPI_IN_PLACE"
                                : handle_text(reinterpret_cast<uintptr_t>(buffer)) + ", which is no address";
}

int negative(ErrorsOn on, const char* function, int error, const char* name, int64_t value) {
  return fail(on, function, error, "%s is %lld: it must not be negative", name, wide(value));
}

int no_rank(ErrorsOn on, const char* function, int error, const char* name, int rank, const char* where, int32_t size,
            const char* others) {
  return fail(on, function, error, "%s %d is not a rank of %s (0 to %d)%s", name, rank, where, size - 1, others);
}

Check::Check(const char* function, MPI_Comm comm) : function_(function), comm_(comm_of(comm)) {
  if (comm_ == nullptr) [[unlikely]]
    error_ = bad_comm(function, comm);
}

Check::Check(const char* function, MPI_Win win) : function_(function), win_(win_of(win)) {
  if (win_ == nullptr) [[unlikely]]
    error_ = bad_win(function, win);
}

Check::Check(const char* function, MPI_File file) : function_(function), file_(file_of(file)) {
  if (file_ == nullptr) [[unlikely]]
    error_ = bad_file(function, file);
}

void Check::fail(int error, const char* text, ...) {
  va_list arguments;
  va_start(arguments, text);
  error_ = fail_with(on(), function_, error, text, arguments);
  va_end(arguments);
}

void Check::rank(int rank, const char* name, bool receives) {
  if (failed() || rank == MPI_PROC_NULL || (receives && rank == MPI_ANY_SOURCE)) return;
  const int32_t size = win_ != nullptr ? win_->size : comm_->size;
  if (rank >= 0 && rank < size) [[likely]]
    return;
  error_ = no_rank(on(), function_, MPI_ERR_RANK, name, rank, win_ != nullptr ? "this window" : "this communicator",
                   size, receives ? ", MPI_ANY_SOURCE or MPI_PROC_NULL" : " or MPI_PROC_NULL");
}

void Check::root(int rank) {
  if (failed() || (rank >= 0 && rank < comm_->size)) [[likely]]
    return;
  if (comm_->is_inter() && (rank == MPI_ROOT || rank == MPI_PROC_NULL)) return;
  error_ =
      no_rank(comm_, function_, MPI_ERR_ROOT, "root", rank, comm_->is_inter() ? "the other group" : "this communicator",
              comm_->size, comm_->is_inter() ? ", MPI_ROOT or MPI_PROC_NULL" : "");
}

void Check::tag(int tag, bool receives) {
  if (failed() || tag >= 0 || (receives && tag == MPI_ANY_TAG)) return;
  fail(MPI_ERR_TAG, "tag %d is outside 0 to %d (MPI_TAG_UB)%s", tag, INT_MAX, receives ? " and not MPI_ANY_TAG" : "");
}

void Check::pointer(const void* pointer, const char* name) {
  if (failed() || !no_address(pointer)) [[likely]]
    return;
  error_ = null_argument(on(), function_, name);
}

void Check::no_in_place(const void* buffer, const char* where) {
  if (failed() || buffer != MPI_IN_PLACE) [[likely]]
    return;
  fail(MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed %s", where);
}

void Check::count(MPI_Count count, const char* name) {
  if (failed() || count >= 0) [[likely]]
    return;
  error_ = negative(on(), function_, MPI_ERR_COUNT, (std::string(name) + "count").c_str(), count);
}

Type* Check::type(MPI_Datatype datatype, const char* name) {
  if (failed()) return nullptr;
  Type* type = type_of(datatype);
  if (type == nullptr) [[unlikely]] {
    error_ = bad_type(on(), function_, datatype);
  } else if (!type->committed) [[unlikely]] {
    fail(MPI_ERR_TYPE, "%sdatatype is not committed: call MPI_Type_commit first", name);
  }
  return type;
}

Type* Check::elements(const DataArgument& data, int64_t& bytes) {
  count(data.count, data.name);
  Type* type = this->type(data.datatype, data.name);
  if (!failed() && __builtin_mul_overflow(data.count, type->size, &bytes)) [[unlikely]] {
    fail(MPI_ERR_COUNT, "%scount is %lld: so many elements of %lld bytes are more than an address can hold", data.name,
         wide(data.count), wide(type->size));
  }
  return failed() ? nullptr : type;
}

Type* Check::data(const DataArgument& data, int64_t& bytes) {
  Type* type = elements(data, bytes);
  if (type != nullptr) buffer(data.buffer, bytes, *type, data.name);
  return type;
}

// The null pointer is MPI_BOTTOM, which goes with types of absolute addresses.
void Check::buffer(const void* buffer, int64_t bytes, const Type& type, const char* name) {
  if (failed() || bytes == 0 || !no_data(buffer, type.true_lower_bound)) [[likely]]
    return;
  fail(MPI_ERR_BUFFER, "%s is %s, for %lld bytes of data",
       *name != '\0' ? (std::string(name) + "addr").c_str() : "the buffer", no_data_text(buffer).c_str(), wide(bytes));
}

}  // namespace weft::mpi
