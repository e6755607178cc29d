// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Operations, error handlers and generalized requests: their procedures are called with the integers of Fortran.

#include "fortran/convert.hpp"

namespace weft::fortran {
namespace {

using UserFunction = void(void*, void*, MPI_Fint*, MPI_Fint*);
using LargeFunction = void(void*, void*, MPI_Count*, MPI_Fint*);
using ErrorFunction = void(MPI_Fint*, MPI_Fint*);

// ---- Creation: the object is marked before the program has its handle

template <class Function>
MPI_Fint make_errhandler(int (*create)(Function*, MPI_Errhandler*), ErrorFunction* function, MPI_Fint* errhandler) {
  MPI_Errhandler made = MPI_ERRHANDLER_NULL;
  const int error = create(reinterpret_cast<Function*>(function), &made);
  if (error != MPI_SUCCESS) return error;
  mark_errhandler(made);
  *errhandler = Convert<MPI_Errhandler>::out(made);
  return MPI_SUCCESS;
}

template <class Function, class Given>
MPI_Fint make_op(int (*create)(Function*, int, MPI_Op*), Given* function, MPI_Fint commute, MPI_Fint* op) {
  MPI_Op made = MPI_OP_NULL;
  const int error = create(reinterpret_cast<Function*>(function), commute != 0, &made);
  if (error != MPI_SUCCESS) return error;
  mark_op(made);
  *op = Convert<MPI_Op>::out(made);
  return MPI_SUCCESS;
}

// ---- Generalized requests: the state that their functions get leads to the program's

using QueryFunction = void(MPI_Aint*, MPI_Fint*, MPI_Fint*);
using FreeFunction = void(MPI_Aint*, MPI_Fint*);
using CancelFunction = void(MPI_Aint*, MPI_Fint*, MPI_Fint*);

struct FortranGrequest {
  QueryFunction* query;
  FreeFunction* free;
  CancelFunction* cancel;
  MPI_Aint* variable;
  MPI_Aint copy;

  MPI_Aint* extra_state() { return gives_variable ? variable : &copy; }
};

int query_generalized(void* state, MPI_Status* status) {
  auto& request = *static_cast<FortranGrequest*>(state);
  MPI_Fint error = MPI_SUCCESS;
  request.query(request.extra_state(), reinterpret_cast<MPI_Fint*>(status), &error);
  return error;
}

int free_generalized(void* state) {
  auto* request = static_cast<FortranGrequest*>(state);
  MPI_Fint error = MPI_SUCCESS;
  request->free(request->extra_state(), &error);
  delete request;
  return error;
}

int cancel_generalized(void* state, int complete) {
  auto& request = *static_cast<FortranGrequest*>(state);
  MPI_Fint error = MPI_SUCCESS;
  request.cancel(request.extra_state(), &complete, &error);
  return error;
}

using GrequestStart = int(MPI_Grequest_query_function*, MPI_Grequest_free_function*, MPI_Grequest_cancel_function*,
                          void*, MPI_Request*);

MPI_Fint start_generalized(GrequestStart* start, const FortranGrequest& functions, MPI_Fint* request) {
  auto* state = new (std::nothrow) FortranGrequest(functions);
  if (state == nullptr) return MPI_ERR_NO_MEM;
  const int error = start(query_generalized, free_generalized, cancel_generalized, state, Out<MPI_Request>(request));
  if (error != MPI_SUCCESS) delete state;
  return error;
}

}  // namespace

// Each procedure under both of its names.
#define WEFT_BOTH(procedure) procedure(mpi, MPI) procedure(pmpi, PMPI)
#define WEFT_PROCEDURE extern "C" __attribute__((visibility("default"))) void

#define WEFT_CALLBACKS(p, P)                                                                                        \
  WEFT_PROCEDURE p##_op_create_(UserFunction* function, const MPI_Fint* commute, MPI_Fint* op, MPI_Fint* ierror) {  \
    give(ierror, make_op(P##_Op_create, function, *commute, op));                                                   \
  }                                                                                                                 \
  WEFT_PROCEDURE p##_op_create_c_f08_(LargeFunction* function, const MPI_Fint* commute, MPI_Fint* op,               \
                                      MPI_Fint* ierror) {                                                           \
    give(ierror, make_op(P##_Op_create_c, function, *commute, op));                                                 \
  }                                                                                                                 \
  WEFT_PROCEDURE p##_comm_create_errhandler_(ErrorFunction* function, MPI_Fint* errhandler, MPI_Fint* ierror) {     \
    give(ierror, make_errhandler(P##_Comm_create_errhandler, function, errhandler));                                \
  }                                                                                                                 \
  WEFT_PROCEDURE p##_errhandler_create_(ErrorFunction* function, MPI_Fint* errhandler, MPI_Fint* ierror) {          \
    give(ierror, make_errhandler(P##_Comm_create_errhandler, function, errhandler));                                \
  }                                                                                                                 \
  WEFT_PROCEDURE p##_win_create_errhandler_(ErrorFunction* function, MPI_Fint* errhandler, MPI_Fint* ierror) {      \
    give(ierror, make_errhandler(P##_Win_create_errhandler, function, errhandler));                                 \
  }                                                                                                                 \
  WEFT_PROCEDURE p##_file_create_errhandler_(ErrorFunction* function, MPI_Fint* errhandler, MPI_Fint* ierror) {     \
    give(ierror, make_errhandler(P##_File_create_errhandler, function, errhandler));                                \
  }                                                                                                                 \
  WEFT_PROCEDURE p##_session_create_errhandler_(ErrorFunction* function, MPI_Fint* errhandler, MPI_Fint* ierror) {  \
    give(ierror, make_errhandler(P##_Session_create_errhandler, function, errhandler));                             \
  }                                                                                                                 \
  WEFT_PROCEDURE p##_grequest_start_(QueryFunction* query, FreeFunction* free, CancelFunction* cancel,              \
                                     MPI_Aint* extra_state, MPI_Fint* request, MPI_Fint* ierror) {                  \
    give(ierror, start_generalized(P##_Grequest_start, {query, free, cancel, extra_state, *extra_state}, request)); \
  }
WEFT_BOTH(WEFT_CALLBACKS)

#define WEFT_F08_TOO(p)                   \
  WEFT_F08(p##_op_create)                 \
  WEFT_F08(p##_comm_create_errhandler)    \
  WEFT_F08(p##_win_create_errhandler)     \
  WEFT_F08(p##_file_create_errhandler)    \
  WEFT_F08(p##_session_create_errhandler) \
  WEFT_F08(p##_grequest_start)
WEFT_F08_TOO(mpi)
WEFT_F08_TOO(pmpi)

}  // namespace weft::fortran
