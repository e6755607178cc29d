// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Error handlers of communicators, windows, files and sessions (MPI-5.0, 9.3).
#include "mpi/object/errhandler.hpp"

#include <atomic>
#include <mutex>
#include <utility>

#include "base/setting.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/file.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {
namespace {

constexpr const char* initial_names[] = {"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"};
constinit base::ChoiceSetting initial{{.name = "WEFT_INITIAL_ERRHANDLER",
                                       .help = "error handler the program begins with, as mpiexec -initial-errhandler"},
                                      0,
                                      initial_names,
                                      3};
WEFT_SETTING(initial);

constinit base::BoolSetting errors_of_world{
    {.name = "WEFT_ERRORS_OF_WORLD",
     .help = "errors of calls without a communicator go to MPI_COMM_WORLD's handler where that was set and "
             "MPI_COMM_SELF's was not, and so do those on objects whose handler was never set"},
    false};
WEFT_SETTING(errors_of_world);

// Whether the program has set these handlers.
constinit std::atomic<bool> set_on_world = false;
constinit std::atomic<bool> set_on_self = false;
constinit std::atomic<bool> world_preferred = false;

// One for each predefined action.
constexpr size_t action_count = 3;
Errhandler (&unset_handlers())[action_count] {
  static Errhandler handlers[action_count];
  return handlers;
}

bool is_unset(const Errhandler* handler) {
  return handler >= unset_handlers() && handler < unset_handlers() + action_count;
}

bool world_allowed() {
  return errors_of_world.source() == base::ValueSource::fallback ? world_preferred.load(std::memory_order_relaxed)
                                                                 : errors_of_world.value();
}

// In the order of `initial`.
Errhandler* predefined_handler(Errhandler::ErrorAction action) {
  static const MPI_Errhandler handles[action_count] = {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN};
  return errhandler_of(handles[static_cast<size_t>(action)]);
}

}  // namespace

void prefer_world_for_errors() {
  world_preferred.store(true, std::memory_order_relaxed);
}

bool world_takes_errors_of_none() {
  return set_on_world.load(std::memory_order_relaxed) && !set_on_self.load(std::memory_order_relaxed);
}

Comm* comm_for_errors_of_none() {
  return comm_of(world_takes_errors_of_none() && world_allowed() ? MPI_COMM_WORLD : MPI_COMM_SELF);
}

Errhandler* initial_handler() {
  base::load_settings();
  build_predefined_objects();
  return predefined_handler(static_cast<Errhandler::ErrorAction>(initial.value()));
}

Errhandler* unset_handler(const Errhandler& like) {
  static constinit std::once_flag made;
  std::call_once(made, [] {
    for (size_t i = 0; i < action_count; ++i) {
      Errhandler& handler = unset_handlers()[i];
      handler.kind = base::Kind::errhandler;
      handler.action = static_cast<Errhandler::ErrorAction>(i);
      handler.predefined = true;
    }
  });
  return &unset_handlers()[static_cast<size_t>(like.action)];
}

Errhandler* deciding_handler(Errhandler* handler) {
  if (!is_unset(handler) || !set_on_world.load(std::memory_order_relaxed) || !world_allowed()) return handler;
  const Comm* world = comm_of(MPI_COMM_WORLD);
  return world != nullptr ? world->errhandler : handler;
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

namespace {

using Scope = Errhandler::Scope;

const char* maker_of(Scope scope) {
  switch (scope) {
    case Scope::session:
      return "MPI_Session_create_errhandler";
    case Scope::window:
      return "MPI_Win_create_errhandler";
    case Scope::file:
      return "MPI_File_create_errhandler";
    default:
      return "MPI_Comm_create_errhandler";
  }
}

// `member` is where handlers of this scope keep their function, and `name` what the argument is called.
template <class Function>
int create(Scope scope, Function* Errhandler::*member, Function* given, const char* name, MPI_Errhandler* errhandler) {
  const char* function = maker_of(scope);
  if (given == nullptr) return null_argument(nullptr, function, name);
  if (no_address(errhandler)) return null_argument(nullptr, function, "errhandler");
  auto* handler = base::make_object<Errhandler>();
  if (handler == nullptr) return no_memory(nullptr, function, "an error handler");
  handler->kind = base::Kind::errhandler;
  handler->scope = scope;
  handler->action = Errhandler::ErrorAction::call;
  handler->*member = given;
  *errhandler = handle_of<MPI_Errhandler>(handler);
  return MPI_SUCCESS;
}

int set(const char* function, ErrorsOn on, Errhandler*& place, Scope scope, MPI_Errhandler errhandler) {
  Errhandler* handler = errhandler_of(errhandler);
  if (handler == nullptr) return bad_handle(on, function, MPI_ERR_ERRHANDLER, "error handler", errhandler);
  if (handler->scope != Scope::any && handler->scope != scope) {
    return fail(on, function, MPI_ERR_ERRHANDLER, "the error handler was not made by %s", maker_of(scope));
  }
  replace_handler(place, handler);
  return MPI_SUCCESS;
}

int get(const char* function, ErrorsOn on, Errhandler* const& place, MPI_Errhandler* errhandler) {
  if (no_address(errhandler)) return null_argument(on, function, "errhandler");
  Errhandler* handler = held_handler(place);
  handler->handles.add();
  *errhandler = any_handle_of(is_unset(handler) ? predefined_handler(handler->action) : handler, MPI_ERRHANDLER_NULL);
  return MPI_SUCCESS;
}

// The handler's result is not an error of the call (MPI-5.0, 9.5.4).
int call(const char* function, ErrorsOn on, int errorcode) {
  if (class_of_error(errorcode) < 0) return fail(on, function, MPI_ERR_ARG, "%d is no error code", errorcode);
  (void)raise(on, function, errorcode, error_text(errorcode));
  return MPI_SUCCESS;
}

// MPI_FILE_NULL has an error handler too (MPI-5.0, 14.7), while MPI runs.
File* file_or_null(MPI_File file) {
  return file == MPI_FILE_NULL && is_running() ? &no_file() : file_of(file);
}

int bad_session(const char* function, MPI_Session session) {
  return bad_handle(nullptr, function, MPI_ERR_SESSION, "session", session);
}

}  // namespace

int comm_create_errhandler(MPI_Comm_errhandler_function* comm_errhandler_fn, MPI_Errhandler* errhandler) {
  return create(Scope::comm, &Errhandler::comm_function, comm_errhandler_fn, "comm_errhandler_fn", errhandler);
}

int comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  static const char* function = "MPI_Comm_set_errhandler";
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  const int error = set(function, c, c->errhandler, Scope::comm, errhandler);
  if (error == MPI_SUCCESS && comm == MPI_COMM_WORLD) set_on_world.store(true, std::memory_order_relaxed);
  if (error == MPI_SUCCESS && comm == MPI_COMM_SELF) set_on_self.store(true, std::memory_order_relaxed);
  return error;
}

int comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  static const char* function = "MPI_Comm_get_errhandler";
  const Comm* c = comm_of(comm);
  return c == nullptr ? bad_comm(function, comm) : get(function, c, c->errhandler, errhandler);
}

int comm_call_errhandler(MPI_Comm comm, int errorcode) {
  static const char* function = "MPI_Comm_call_errhandler";
  const Comm* c = comm_of(comm);
  return c == nullptr ? bad_comm(function, comm) : call(function, c, errorcode);
}

int win_create_errhandler(MPI_Win_errhandler_function* win_errhandler_fn, MPI_Errhandler* errhandler) {
  return create(Scope::window, &Errhandler::window_function, win_errhandler_fn, "win_errhandler_fn", errhandler);
}

int win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler) {
  static const char* function = "MPI_Win_set_errhandler";
  Win* w = win_of(win);
  return w == nullptr ? bad_win(function, win) : set(function, w, w->errhandler, Scope::window, errhandler);
}

int win_get_errhandler(MPI_Win win, MPI_Errhandler* errhandler) {
  static const char* function = "MPI_Win_get_errhandler";
  const Win* w = win_of(win);
  return w == nullptr ? bad_win(function, win) : get(function, w, w->errhandler, errhandler);
}

int win_call_errhandler(MPI_Win win, int errorcode) {
  static const char* function = "MPI_Win_call_errhandler";
  const Win* w = win_of(win);
  return w == nullptr ? bad_win(function, win) : call(function, w, errorcode);
}

int file_create_errhandler(MPI_File_errhandler_function* file_errhandler_fn, MPI_Errhandler* errhandler) {
  return create(Scope::file, &Errhandler::file_function, file_errhandler_fn, "file_errhandler_fn", errhandler);
}

int file_set_errhandler(MPI_File file, MPI_Errhandler errhandler) {
  static const char* function = "MPI_File_set_errhandler";
  File* f = file_or_null(file);
  return f == nullptr ? bad_file(function, file) : set(function, f, f->errhandler, Scope::file, errhandler);
}

int file_get_errhandler(MPI_File file, MPI_Errhandler* errhandler) {
  static const char* function = "MPI_File_get_errhandler";
  const File* f = file_or_null(file);
  return f == nullptr ? bad_file(function, file) : get(function, f, f->errhandler, errhandler);
}

int file_call_errhandler(MPI_File fh, int errorcode) {
  static const char* function = "MPI_File_call_errhandler";
  const File* f = file_or_null(fh);
  return f == nullptr ? bad_file(function, fh) : call(function, f, errorcode);
}

int session_create_errhandler(MPI_Session_errhandler_function* session_errhandler_fn, MPI_Errhandler* errhandler) {
  return create(Scope::session, &Errhandler::session_function, session_errhandler_fn, "session_errhandler_fn",
                errhandler);
}

int session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler) {
  static const char* function = "MPI_Session_set_errhandler";
  Session* s = session_of(session);
  return s == nullptr ? bad_session(function, session) : set(function, s, s->errhandler, Scope::session, errhandler);
}

int session_get_errhandler(MPI_Session session, MPI_Errhandler* errhandler) {
  static const char* function = "MPI_Session_get_errhandler";
  const Session* s = session_of(session);
  return s == nullptr ? bad_session(function, session) : get(function, s, s->errhandler, errhandler);
}

int session_call_errhandler(MPI_Session session, int errorcode) {
  static const char* function = "MPI_Session_call_errhandler";
  const Session* s = session_of(session);
  return s == nullptr ? bad_session(function, session) : call(function, s, errorcode);
}

int errhandler_free(MPI_Errhandler* errhandler) {
  static const char* function = "MPI_Errhandler_free";
  if (no_address(errhandler)) return null_argument(nullptr, function, "errhandler");
  if (reinterpret_cast<uintptr_t>(*errhandler) < predefined_limit) build_predefined_objects();
  Errhandler* handler = errhandler_of(*errhandler);
  if (handler == nullptr) return bad_handle(nullptr, function, MPI_ERR_ERRHANDLER, "error handler", *errhandler);
  if (!handler->predefined && !handler->handles.remove()) {
    return freed_too_often(function, MPI_ERR_ERRHANDLER, "error handler", reinterpret_cast<uintptr_t>(*errhandler));
  }
  drop(handler);
  *errhandler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
