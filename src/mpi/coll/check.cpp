// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/coll/check.hpp"

#include "mpi/env/info.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {

Check::Check(const char* function, MPI_Comm comm) : function_(function), comm_(comm_of(comm)) {
  if (comm_ == nullptr) [[unlikely]]
    error_ = bad_comm(function, comm);
}

Check::Check(const Form& form, MPI_Comm comm) : Check(form.function, comm) {
  if (!form.is_blocking()) request(form);
}

void Check::request(const Form& form) {
  if (failed()) return;
  if (form.request == nullptr) {
    error_ = null_argument(comm_, function_, "request");
  } else if (form.info != MPI_INFO_NULL && info_of(form.info) == nullptr) {
    error_ = bad_info(comm_, function_, form.info);
  }
}

void Check::root(int rank) {
  if (failed() || (rank >= 0 && rank < comm_->size)) [[likely]]
    return;
  if (comm_->is_inter() && (rank == MPI_ROOT || rank == MPI_PROC_NULL)) return;
  error_ =
      fail(comm_, function_, MPI_ERR_ROOT, "root %d is not a rank of the communicator: 0 to %d", rank, comm_->size - 1);
}

void Check::count(MPI_Count count) {
  if (failed() || count >= 0) [[likely]]
    return;
  error_ = fail(comm_, function_, MPI_ERR_COUNT, "count %lld is negative", static_cast<long long>(count));
}

Type* Check::type(MPI_Datatype datatype) {
  if (failed()) return nullptr;
  Type* type = type_of(datatype);
  if (type == nullptr) [[unlikely]] {
    error_ = bad_type(comm_, function_, datatype);
  } else if (!type->committed) [[unlikely]] {
    error_ = fail(comm_, function_, MPI_ERR_TYPE, "the datatype is not committed: call MPI_Type_commit first");
  }
  return type;
}

// The null pointer is MPI_BOTTOM, which goes with types of absolute addresses.
void Check::buffer(const void* buffer, MPI_Count count, const Type& type) {
  no_in_place(buffer, "here");
  if (failed() || buffer != nullptr || count * type.size == 0 || type.true_lower_bound != 0) [[likely]]
    return;
  error_ = fail(comm_, function_, MPI_ERR_BUFFER, "the buffer is a null pointer, with %lld elements",
                static_cast<long long>(count));
}

Type* Check::data(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  this->count(count);
  Type* type = this->type(datatype);
  if (failed()) [[unlikely]]
    return nullptr;
  this->buffer(buffer, count, *type);
  return type;
}

Type* Check::blocks(const void* buffer, const coll::Array& counts, int32_t number, MPI_Datatype datatype) {
  Type* type = this->type(datatype);
  MPI_Count most = 0;
  for (int32_t i = 0; i < number && !failed(); ++i) {
    count(counts[i]);
    if (counts[i] > most) most = counts[i];
    if (counts.is_uniform()) break;
  }
  if (failed()) [[unlikely]]
    return nullptr;
  this->buffer(buffer, most, *type);
  return type;
}

void Check::reducer(OpReducer& reducer, MPI_Op op, Type* type, MPI_Datatype datatype) {
  if (!failed()) error_ = make_reducer(reducer, comm_, function_, op, *type, datatype);
}

void Check::apart(const void* send, const void* receive, MPI_Count count, const Type* type) {
  if (failed() || send != receive || send == MPI_BOTTOM || count * type->size == 0) [[likely]]
    return;
  error_ = fail(comm_, function_, MPI_ERR_BUFFER,
                "the send and the receive buffer are the same memory: give MPI_IN_PLACE where it is allowed");
}

void Check::array(const void* array, const char* name) {
  if (failed() || array != nullptr) [[likely]]
    return;
  error_ = fail(comm_, function_, MPI_ERR_ARG, "%s is a null pointer", name);
}

void Check::no_in_place(const void* buffer, const char* where) {
  if (failed() || buffer != MPI_IN_PLACE) [[likely]]
    return;
  error_ = fail(comm_, function_, MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed %s", where);
}

void Check::one_group() {
  if (failed() || !comm_->is_inter()) [[likely]]
    return;
  error_ = fail(comm_, function_, MPI_ERR_COMM, "%s is an intercommunicator: this operation is not defined on it",
                comm_text(*comm_).c_str());
}

void Check::topology() {
  if (failed() || comm_->neighbours != nullptr) [[likely]]
    return;
  error_ = fail(comm_, function_, MPI_ERR_TOPOLOGY, "%s has no virtual topology, so it has no neighbours",
                comm_text(*comm_).c_str());
}

int Check::done(int32_t error) {
  if (error == core::no_error) [[likely]]
    return MPI_SUCCESS;
  return fail(comm_, function_, error, "%s", error_text(error));
}

}  // namespace weft::mpi
