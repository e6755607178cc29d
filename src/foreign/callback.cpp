// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Error handlers, operations, generalized requests and data representations: their functions are called with the
// handles, codes and statuses of the program's ABI.

#include <new>

#include "foreign/by_hand.hpp"
#include "foreign/convert.hpp"

namespace weft::foreign {
namespace {

template <class To, class From>
To* function_as(From* function) {
  return reinterpret_cast<To*>(function);
}

// ---- libweft.so calls these, with the function as it was given

void comm_error(MPI_Comm_errhandler_function* function, MPI_Comm comm, int code, const char* text) {
  Handle handle = out(comm);
  int error = error_out(code);
  function_as<Comm_errhandler_function>(function)(&handle, &error, text);
}

void session_error(MPI_Session_errhandler_function* function, MPI_Session session, int code, const char* text) {
  Handle handle = out(session);
  int error = error_out(code);
  function_as<Session_errhandler_function>(function)(&handle, &error, text);
}

void win_error(MPI_Win_errhandler_function* function, MPI_Win win, int code, const char* text) {
  Handle handle = out(win);
  int error = error_out(code);
  function_as<Win_errhandler_function>(function)(&handle, &error, text);
}

void file_error(MPI_File_errhandler_function* function, MPI_File file, int code, const char* text) {
  FileHandle handle = out(file);
  int error = error_out(code);
  function_as<File_errhandler_function>(function)(&handle, &error, text);
}

void reduce(MPI_User_function* function, void* in, void* inout, int count, MPI_Datatype datatype) {
  Handle handle = out(datatype);
  function_as<User_function>(function)(in, inout, &count, &handle);
}

void reduce_c(MPI_User_function_c* function, void* in, void* inout, MPI_Count count, MPI_Datatype datatype) {
  Handle handle = out(datatype);
  function_as<User_function_c>(function)(in, inout, &count, &handle);
}

constexpr mpi::ForeignCalls calls = {comm_error, session_error, win_error, file_error, reduce, reduce_c};

// ---- Creation: the object is marked before the program has its handle

template <class Standard, class Function>
int make_errhandler(int (*create)(Standard*, MPI_Errhandler*), Function* function, Handle* errhandler) {
  MPI_Errhandler made = MPI_ERRHANDLER_NULL;
  const int error = create(function_as<Standard>(function), no_place(errhandler) ? nullptr : &made);
  if (error != MPI_SUCCESS) return error_out(error);
  face.hooks.mark_errhandler(made, &calls);
  *errhandler = out(made);
  return MPI_SUCCESS;
}

template <class Standard, class Function>
int make_op(int (*create)(Standard*, int, MPI_Op*), Function* function, int commute, Handle* op) {
  MPI_Op made = MPI_OP_NULL;
  const int error = create(function_as<Standard>(function), commute, no_place(op) ? nullptr : &made);
  if (error != MPI_SUCCESS) return error_out(error);
  face.hooks.mark_op(made, &calls);
  *op = out(made);
  return MPI_SUCCESS;
}

// ---- Generalized requests: the state that their functions get leads to the program's

struct ForeignGrequest {
  Grequest_query_function* query;
  Grequest_free_function* free;
  Grequest_cancel_function* cancel;
  void* extra_state;
};

int query_generalized(void* state, MPI_Status* status) {
  const auto& request = *static_cast<ForeignGrequest*>(state);
  Status theirs;
  give_status(theirs, *status);
  theirs.MPI_ERROR = error_out(status->MPI_ERROR);
  const int error = request.query(request.extra_state, &theirs);
  take_status(*status, theirs);
  return error_in(error);
}

int free_generalized(void* state) {
  auto* request = static_cast<ForeignGrequest*>(state);
  const int error = request->free(request->extra_state);
  delete request;
  return error_in(error);
}

int cancel_generalized(void* state, int complete) {
  const auto& request = *static_cast<ForeignGrequest*>(state);
  return error_in(request.cancel(request.extra_state, complete));
}

// ---- Data representations: the same. Registered for the life of the process, so never freed.

template <class Conversion>
struct Representation {
  Conversion* read;
  Conversion* write;
  Datarep_extent_function* extent;
  void* extra_state;
};

template <class Conversion>
int extent_of(MPI_Datatype datatype, MPI_Aint* extent, void* state) {
  const auto& of = *static_cast<Representation<Conversion>*>(state);
  return error_in(of.extent(out(datatype), extent, of.extra_state));
}

template <class Conversion, class Count, bool reads>
int convert(void* userbuf, MPI_Datatype datatype, Count count, void* filebuf, MPI_Offset position, void* state) {
  const auto& of = *static_cast<Representation<Conversion>*>(state);
  return error_in((reads ? of.read : of.write)(userbuf, out(datatype), count, filebuf, position, of.extra_state));
}

// A missing function stays missing: it is no conversion.
template <class Standard, class Conversion, class Count>
int make_datarep(int (*create)(const char*, Standard*, Standard*, MPI_Datarep_extent_function*, void*),
                 const char* datarep, const Representation<Conversion>& functions) {
  auto* state = new (std::nothrow) Representation<Conversion>(functions);
  if (state == nullptr) return error_out(MPI_ERR_NO_MEM);
  const int error = create(datarep, state->read == nullptr ? nullptr : convert<Conversion, Count, true>,
                           state->write == nullptr ? nullptr : convert<Conversion, Count, false>,
                           state->extent == nullptr ? nullptr : extent_of<Conversion>, state);
  if (error != MPI_SUCCESS) delete state;
  return error_out(error);
}

}  // namespace

int file_create_errhandler(File_errhandler_function* file_errhandler_fn, Handle* errhandler) {
  return make_errhandler(face.file_create_errhandler, file_errhandler_fn, errhandler);
}

int register_datarep(const char* datarep, Datarep_conversion_function* read_conversion_fn,
                     Datarep_conversion_function* write_conversion_fn, Datarep_extent_function* dtype_file_extent_fn,
                     void* extra_state) {
  return make_datarep<MPI_Datarep_conversion_function, Datarep_conversion_function, int>(
      face.register_datarep, datarep, {read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state});
}

int register_datarep_c(const char* datarep, Datarep_conversion_function_c* read_conversion_fn,
                       Datarep_conversion_function_c* write_conversion_fn,
                       Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
  return make_datarep<MPI_Datarep_conversion_function_c, Datarep_conversion_function_c, MPI_Count>(
      face.register_datarep_c, datarep, {read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state});
}

int comm_create_errhandler(Comm_errhandler_function* comm_errhandler_fn, Handle* errhandler) {
  return make_errhandler(face.comm_create_errhandler, comm_errhandler_fn, errhandler);
}

int errhandler_create(Comm_errhandler_function* function, Handle* errhandler) {
  return comm_create_errhandler(function, errhandler);
}

int session_create_errhandler(Session_errhandler_function* session_errhandler_fn, Handle* errhandler) {
  return make_errhandler(face.session_create_errhandler, session_errhandler_fn, errhandler);
}

int win_create_errhandler(Win_errhandler_function* win_errhandler_fn, Handle* errhandler) {
  return make_errhandler(face.win_create_errhandler, win_errhandler_fn, errhandler);
}

int op_create(User_function* user_fn, int commute, Handle* op) {
  return make_op(face.op_create, user_fn, commute, op);
}

int op_create_c(User_function_c* user_fn, int commute, Handle* op) {
  return make_op(face.op_create_c, user_fn, commute, op);
}

int grequest_start(Grequest_query_function* query_fn, Grequest_free_function* free_fn,
                   Grequest_cancel_function* cancel_fn, void* extra_state, Handle* request) {
  auto* state = new (std::nothrow) ForeignGrequest{query_fn, free_fn, cancel_fn, extra_state};
  if (state == nullptr) return error_out(MPI_ERR_NO_MEM);
  // A missing function stays missing.
  const int error = face.grequest_start(
      query_fn == nullptr ? nullptr : query_generalized, free_fn == nullptr ? nullptr : free_generalized,
      cancel_fn == nullptr ? nullptr : cancel_generalized, state, Out<MPI_Request>(request));
  if (error != MPI_SUCCESS) delete state;
  return error_out(error);
}

}  // namespace weft::foreign
