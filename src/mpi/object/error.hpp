// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Errors of MPI calls: the message is written once, where the wrong argument is found; the error handler decides what
// happens. All of these are cold.

#include <cstdarg>
#include <cstddef>

#include "mpi/object/object.hpp"

namespace weft::mpi {

// The object whose error handler gets an error: a communicator, a window, a file or a session. nullptr stands for
// MPI_COMM_SELF, as the standard asks for calls that name no valid object (before MPI_Init, the error is fatal). An
// error on a window's or file's own communicator is raised on the window or the file.
struct ErrorsOn {
  ErrorsOn(std::nullptr_t) {}
  ErrorsOn(const Comm* given) {
    if (given != nullptr && given->window != nullptr) {
      win = given->window;
    } else if (given != nullptr && given->file != nullptr) {
      file = given->file;
    } else {
      comm = given;
    }
  }
  ErrorsOn(const Win* given) : win(given) {}
  ErrorsOn(const File* given) : file(given) {}
  ErrorsOn(const Session* given) : session(given) {}

  // One of them, or none.
  const Comm* comm = nullptr;
  const Win* win = nullptr;
  const File* file = nullptr;
  const Session* session = nullptr;
};

// Raises an error of class `error`: MPI_ERRORS_ARE_FATAL and MPI_ERRORS_ABORT print "MPI_Send: <text>" and end the job
// (exit status = the class), MPI_ERRORS_RETURN gives the code back, a user's handler is called. Returns what the MPI
// call must return.
[[nodiscard, gnu::cold, gnu::noinline, gnu::format(printf, 4, 5)]] int fail(ErrorsOn on, const char* function,
                                                                            int error, const char* text, ...);

[[nodiscard, gnu::cold, gnu::noinline]] int fail_with(ErrorsOn on, const char* function, int error, const char* text,
                                                      va_list arguments);

// Raises an error of class `error`: the argument `name` is not a `wanted` ("group").
[[nodiscard, gnu::cold, gnu::noinline]] int bad_handle(ErrorsOn on, const char* function, int error, const char* wanted,
                                                       uintptr_t value);

// Raises an error of class `error`: the program has freed all handles of this `object` ("group") that it has got.
[[nodiscard, gnu::cold, gnu::noinline]] int freed_too_often(const char* function, int error, const char* object,
                                                            uintptr_t value);

template <class Handle>
[[nodiscard]] int bad_handle(ErrorsOn on, const char* function, int error, const char* wanted, Handle handle) {
  return bad_handle(on, function, error, wanted, reinterpret_cast<uintptr_t>(handle));
}
[[nodiscard]] inline int bad_group(const char* function, MPI_Group group) {
  return bad_handle(nullptr, function, MPI_ERR_GROUP, "group", group);
}
[[nodiscard]] inline int bad_info(ErrorsOn on, const char* function, MPI_Info info) {
  return bad_handle(on, function, MPI_ERR_INFO, "info object", info);
}

[[nodiscard]] inline int bad_win(const char* function, MPI_Win win) {
  return bad_handle(nullptr, function, MPI_ERR_WIN, "window", win);
}

// Its errors are those of MPI_FILE_NULL.
[[nodiscard]] ErrorsOn errors_of_no_file();
[[nodiscard]] inline int bad_file(const char* function, MPI_File file) {
  return bad_handle(errors_of_no_file(), function, MPI_ERR_FILE, "file", file);
}

// The error of a call that is made before MPI is initialised, or after it was finalized.
[[nodiscard, gnu::cold, gnu::noinline]] int not_running(const char* function);

// Whether an argument that must point somewhere is null, or a small number that was taken for a pointer.
inline bool no_address(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) < 4096;
}

// The error of such an argument.
[[nodiscard, gnu::cold, gnu::noinline]] int null_argument(ErrorsOn on, const char* function, const char* name);

// The error of an allocation that failed.
[[nodiscard, gnu::cold, gnu::noinline]] int no_memory(ErrorsOn on, const char* function, const char* what);

// The error of a call that names an invalid communicator: says whether MPI is not started, or what is wrong.
[[nodiscard, gnu::cold, gnu::noinline]] int bad_comm(const char* function, MPI_Comm handle);
// The error of a call that names an invalid datatype: null, freed, not committed (checked by the caller), or garbage.
[[nodiscard, gnu::cold, gnu::noinline]] int bad_type(ErrorsOn on, const char* function, MPI_Datatype handle);

// Text of an error class or code, as MPI_Error_string gives it.
const char* error_text(int error);

// Whether MPI_Init has run and MPI_Finalize has not.
bool is_running();
bool was_finalized();

// ---- Classes and codes: those of the standard, and those a program adds (MPI-5.0, 9.5). Usable without MPI_Init, from
// any thread.

// "MPI_ERR_RANK: rank outside ..."; nullptr when the standard has no such class.
[[nodiscard]] const char* standard_error_text(int error);

// The class of a class or code; -1 when there is no such code.
[[nodiscard]] int class_of_error(int error);

// The highest code in use: the value of MPI_LASTUSEDCODE.
[[nodiscard]] int last_used_error_code();

}  // namespace weft::mpi
