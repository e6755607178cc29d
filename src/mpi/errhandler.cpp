// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/errhandler.hpp"

#include <mutex>
#include <utility>

#include "base/setting.hpp"
#include "mpi/error_codes.hpp"
#include "mpi/functions.hpp"
#include "mpi/handles.hpp"

namespace weft::mpi {
namespace {

constexpr const char* initial_names[] = {"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"};
constinit base::ChoiceSetting initial{{.name = "WEFT_INITIAL_ERRHANDLER",
                                       .help = "error handler the program begins with, as mpiexec -initial-errhandler"},
                                      0,
                                      initial_names,
                                      3};
WEFT_SETTING(initial);

}  // namespace

Errhandler* initial_handler() {
  static const MPI_Errhandler handles[] = {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN};
  base::load_settings();
  build_predefined_objects();
  return errhandler_of(handles[initial.value()]);
}

void drop(Errhandler* handler) {
  if (handler != nullptr && !handler->predefined && --handler->references == 0) base::destroy_object(handler);
}

Errhandler* held_handler(Errhandler* const& place) {
  std::lock_guard lock(details);
  return hold(place);
}

void replace_handler(Errhandler*& place, Errhandler* handler) {
  hold(handler);
  {
    std::lock_guard lock(details);
    std::swap(place, handler);
  }
  drop(handler);
}

int comm_create_errhandler(MPI_Comm_errhandler_function* comm_errhandler_fn, MPI_Errhandler* errhandler) {
  static const char* function = "MPI_Comm_create_errhandler";
  if (comm_errhandler_fn == nullptr) return null_argument(nullptr, function, "comm_errhandler_fn");
  if (errhandler == nullptr) return null_argument(nullptr, function, "errhandler");
  auto* handler = base::make_object<Errhandler>();
  if (handler == nullptr) return no_memory(nullptr, function, "an error handler");
  handler->kind = base::Kind::errhandler;
  handler->scope = Errhandler::Scope::comm;
  handler->action = Errhandler::Action::call;
  handler->comm_function = comm_errhandler_fn;
  *errhandler = handle_of<MPI_Errhandler>(handler);
  return MPI_SUCCESS;
}

int comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  static const char* function = "MPI_Comm_set_errhandler";
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  Errhandler* handler = errhandler_of(errhandler);
  if (handler == nullptr) return bad_handle(c, function, MPI_ERR_ERRHANDLER, "error handler", errhandler);
  if (handler->scope != Errhandler::Scope::any && handler->scope != Errhandler::Scope::comm) {
    return fail(c, function, MPI_ERR_ERRHANDLER, "the error handler was not made by MPI_Comm_create_errhandler");
  }
  replace_handler(c->errhandler, handler);
  return MPI_SUCCESS;
}

int comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  static const char* function = "MPI_Comm_get_errhandler";
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  if (errhandler == nullptr) return null_argument(c, function, "errhandler");
  *errhandler = any_handle_of(held_handler(c->errhandler), MPI_ERRHANDLER_NULL);
  return MPI_SUCCESS;
}

int comm_call_errhandler(MPI_Comm comm, int errorcode) {
  static const char* function = "MPI_Comm_call_errhandler";
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  if (class_of_error(errorcode) < 0) return fail(c, function, MPI_ERR_ARG, "%d is no error code", errorcode);
  // What the handler returns is not an error of this call (MPI-5.0, 9.5.4).
  (void)raise(c, function, errorcode, error_text(errorcode));
  return MPI_SUCCESS;
}

int errhandler_free(MPI_Errhandler* errhandler) {
  static const char* function = "MPI_Errhandler_free";
  if (errhandler == nullptr) return null_argument(nullptr, function, "errhandler");
  if (reinterpret_cast<uintptr_t>(*errhandler) < predefined_limit) build_predefined_objects();
  Errhandler* handler = errhandler_of(*errhandler);
  if (handler == nullptr) return bad_handle(nullptr, function, MPI_ERR_ERRHANDLER, "error handler", *errhandler);
  drop(handler);
  *errhandler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
