// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/object/error.hpp"

#include <cstdio>
#include <cstring>
#include <mutex>

#include "base/setting.hpp"
#include "boot/start/join.hpp"
#include "core/object/request.hpp"
#include "mpi/names.hpp"
#include "mpi/object/errhandler.hpp"
#include "mpi/object/file.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/object/recent_errors.hpp"

namespace weft::mpi {

static_assert(core::wrong_type == MPI_ERR_TYPE && core::wrong_root == MPI_ERR_ROOT && core::wrong_op == MPI_ERR_OP);
static_assert(core::truncated == MPI_ERR_TRUNCATE && core::other_error == MPI_ERR_OTHER &&
              core::internal_error == MPI_ERR_INTERN && core::no_memory == MPI_ERR_NO_MEM);
static_assert(core::any_source == MPI_ANY_SOURCE && core::any_tag == MPI_ANY_TAG && core::proc_null == MPI_PROC_NULL);

namespace {

template <size_t n>
const char* find_name(const names::Handle (&table)[n], uintptr_t value) {
  for (const names::Handle& row : table) {
    if (row.value == value) return row.name;
  }
  return nullptr;
}

const char* predefined_name(uintptr_t value) {
  using namespace names;
  const char* found = nullptr;
  auto look = [&](const auto& table) {
    if (found == nullptr) found = find_name(table, value);
  };
  look(communicators), look(groups), look(datatypes), look(ops), look(requests), look(messages);
  look(errhandlers), look(infos), look(sessions), look(windows), look(files);
  return found;
}

const char* kind_name(base::Kind kind) {
  switch (kind) {
    case base::Kind::free:
      return "a freed object";
    case base::Kind::communicator:
      return "a communicator";
    case base::Kind::group:
      return "a group";
    case base::Kind::datatype:
      return "a datatype";
    case base::Kind::request:
      return "a request";
    case base::Kind::message:
      return "a message";
    case base::Kind::op:
      return "a reduction operation";
    case base::Kind::errhandler:
      return "an error handler";
    case base::Kind::info:
      return "an info object";
    case base::Kind::session:
      return "a session";
    case base::Kind::shmem_team:
      return "a team of OpenSHMEM";
    case base::Kind::window:
      return "a window";
    case base::Kind::file:
      return "a file";
    case base::Kind::stream:
      return "a stream";
    case base::Kind::stream_request:
      return "a request of a stream";
    case base::Kind::tool_enum:
    case base::Kind::control_variable:
    case base::Kind::variable_session:
    case base::Kind::performance_variable:
    case base::Kind::event_registration:
    case base::Kind::event_instance:
      return "an object of the tool interface";
  }
  return nullptr;
}

// The handler of the object, or of the communicator for errors that have none, or the initial one, with a reference.
Errhandler* handler_for(ErrorsOn on) {
  {
    std::lock_guard lock(details);
    if (on.win != nullptr) return hold(deciding_handler(on.win->errhandler));
    if (on.file != nullptr) return hold(on.file->errhandler);
    if (on.session != nullptr) return hold(on.session->errhandler);
    const Comm* comm = on.comm != nullptr ? on.comm : comm_for_errors_of_none();
    if (comm != nullptr) return hold(deciding_handler(comm->errhandler));
  }
  return hold(initial_handler());
}

// A program's handler gets the handle of the kind of object that it was made for.
void call(const Errhandler& handler, ErrorsOn on, int error, const char* text) {
  int code = error;
  if (handler.scope == Errhandler::Scope::session) {
    MPI_Session handle = any_handle_of(on.session, MPI_SESSION_NULL);
    if (handler.foreign != nullptr) return handler.foreign->session_error(handler.session_function, handle, code, text);
    handler.session_function(&handle, &code, text);
  } else if (handler.scope == Errhandler::Scope::window) {
    MPI_Win handle = win_handle(on.win);
    if (handler.foreign != nullptr) return handler.foreign->win_error(handler.window_function, handle, code, text);
    handler.window_function(&handle, &code, text);
  } else if (handler.scope == Errhandler::Scope::file) {
    MPI_File handle = file_handle(on.file);
    if (handler.foreign != nullptr) return handler.foreign->file_error(handler.file_function, handle, code, text);
    handler.file_function(&handle, &code, text);
  } else {
    MPI_Comm handle = comm_handle(on.comm != nullptr ? on.comm : comm_for_errors_of_none());
    if (handler.foreign != nullptr) return handler.foreign->comm_error(handler.comm_function, handle, code, text);
    handler.comm_function(&handle, &code, text);
  }
}

// " (on MPI_COMM_WORLD)"; empty: on no object, or the text names the file already.
std::string object_of(ErrorsOn on, const char* text) {
  if (on.comm != nullptr) return " (on " + comm_text(*on.comm) + ")";
  if (on.win != nullptr) return " (on " + win_text(*on.win) + ")";
  if (on.session != nullptr) return " (on a session)";
  if (on.file == nullptr || on.file == &no_file() || on.file->path.empty()) return "";
  return strstr(text, base::quoted_path(on.file->path).c_str()) != nullptr ? "" : " (on " + file_text(*on.file) + ")";
}

std::string where_of(ErrorsOn on, const char* text) {
  const bool has_object = on.comm != nullptr || on.win != nullptr || on.file != nullptr || on.session != nullptr;
  if (has_object || !world_takes_errors_of_none()) return object_of(on, text);
  return " (the call has no communicator: WEFT_ERRORS_OF_WORLD=on gives its errors to MPI_COMM_WORLD's handler, which "
         "the program has set, and not to MPI_COMM_SELF's)";
}

[[noreturn]] void end_of_program(const char* function, int error, const char* text, const std::string& where) {
  const char* meaning = error_text(error);
  std::string line = std::string(function) + ": " + text + where;
  line += " [" + std::string(meaning, strcspn(meaning, ":")) + "]";
  boot::abort(error, line.c_str());
}

}  // namespace

int raise(const Errhandler& handler, ErrorsOn on, const char* function, int error, const char* text) {
  keep_message(error, function, text, object_of(on, text));  // before the handler, which may ask for it
  switch (handler.action) {
    case Errhandler::ErrorAction::give_back:
      break;
    case Errhandler::ErrorAction::call:
      call(handler, on, error, text);
      break;
    case Errhandler::ErrorAction::fatal:
    case Errhandler::ErrorAction::abort:
      end_of_program(function, error, text, where_of(on, text));
  }
  return error;
}

int raise(ErrorsOn on, const char* function, int error, const char* text) {
  Errhandler* handler = handler_for(on);
  (void)raise(*handler, on, function, error, text);
  drop(handler);
  return error;
}

int fail_with(ErrorsOn on, const char* function, int error, const char* text, va_list arguments) {
  char line[1024];
  vsnprintf(line, sizeof line, text, arguments);
  return raise(on, function, error, line);
}

int fail(ErrorsOn on, const char* function, int error, const char* text, ...) {
  va_list arguments;
  va_start(arguments, text);
  error = fail_with(on, function, error, text, arguments);
  va_end(arguments);
  return error;
}

std::string handle_text(uintptr_t value) {
  if (value < predefined_limit) {
    if (const char* name = predefined_name(value)) return name;
  } else if (base::Arena::holds(value)) {
    const char* kind = kind_name(reinterpret_cast<const base::Object*>(value)->kind);
    if (kind != nullptr) return std::string("the handle of ") + kind;
  }
  char text[40];
  snprintf(text, sizeof text, "0x%zx", static_cast<size_t>(value));
  return std::string(text) + ", which is no handle";
}

// A file that is being opened has no handle yet.
ErrorsOn errors_of_no_file() {
  return &no_file();
}

MPI_File file_handle(const File* file) {
  return file == nullptr || file->kind != base::Kind::file ? MPI_FILE_NULL
                                                           : handle_of<MPI_File>(const_cast<File*>(file));
}

int not_running(const char* function) {
  return fail(nullptr, function, MPI_ERR_OTHER, "called %s",
              was_finalized() ? "after MPI_Finalize" : "before MPI_Init: MPI is not initialised");
}

int bad_handle(ErrorsOn on, const char* function, int error, const char* wanted, uintptr_t value) {
  if (!is_running()) return not_running(function);
  const char* article = strchr("aeiou", *wanted) != nullptr ? "an" : "a";
  return fail(on, function, error, "%s %s is needed, but the argument is %s", article, wanted,
              handle_text(value).c_str());
}

int freed_too_often(const char* function, int error, const char* object, uintptr_t value) {
  return fail(nullptr, function, error,
              "the %s 0x%zx was freed as often as the program has got it: the argument is a copy of a freed handle. "
              "Remedy: free each handle once",
              object, static_cast<size_t>(value));
}

int bad_comm(const char* function, MPI_Comm handle) {
  return bad_handle(nullptr, function, MPI_ERR_COMM, "communicator", handle);
}

int bad_type(ErrorsOn on, const char* function, MPI_Datatype handle) {
  return bad_handle(on, function, MPI_ERR_TYPE, "datatype", handle);
}

int null_argument(ErrorsOn on, const char* function, const char* name) {
  return fail(on, function, MPI_ERR_ARG, "%s is a null pointer, or a number that is no address", name);
}

int no_memory(ErrorsOn on, const char* function, const char* what) {
  return fail(on, function, MPI_ERR_NO_MEM, "no memory for %s", what);
}

std::string comm_text(const Comm& comm) {
  std::lock_guard lock(details);
  if (!comm.name.empty()) return comm.name;
  if (comm.is_inter()) {
    return "an inter-communicator of " + std::to_string(comm.local_size()) + " and " + std::to_string(comm.size) +
           " ranks";
  }
  return "a communicator of " + std::to_string(comm.size) + " ranks";
}

std::string file_text(const File& file) {
  return "the file " + base::quoted_path(file.path);
}

std::string win_text(const Win& win) {
  std::lock_guard lock(details);
  if (!win.name.empty()) return win.name;
  return "a window of " + std::to_string(win.size) + " ranks";
}

}  // namespace weft::mpi
