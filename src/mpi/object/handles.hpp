// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// From objects back to handles, and what to say of a handle that is none.

#include <string>

#include "mpi/object/error.hpp"
#include "mpi/object/object.hpp"

namespace weft::mpi {

// The value of an object's handle: of a predefined one its place in the table, otherwise its address.
[[nodiscard]] uintptr_t handle_value(const base::Object* object);

// The handle of any object, predefined or not; `null` for nullptr. Cold: predefined objects are searched for.
template <class Handle>
Handle any_handle_of(const base::Object* object, Handle null) {
  return object == nullptr ? null : reinterpret_cast<Handle>(handle_value(object));
}
inline MPI_Datatype type_handle(const Type* type) {
  return any_handle_of(type, MPI_DATATYPE_NULL);
}
// A handle for the program, which it may free once.
inline MPI_Group group_handle(core::Group* group) {
  group->handles.add();
  return any_handle_of(group, MPI_GROUP_NULL);
}
inline MPI_Win win_handle(const Win* win) {
  return any_handle_of(win, MPI_WIN_NULL);
}
inline MPI_Comm comm_handle(const Comm* comm) {
  return any_handle_of(comm, MPI_COMM_NULL);
}

[[nodiscard]] MPI_File file_handle(const File* file);

// "MPI_GROUP_NULL", "a freed object's handle", "the handle of a datatype", "no handle (0x7f..)".
[[nodiscard]] std::string handle_text(uintptr_t value);

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

// Of an argument that must point somewhere: it is null, or a small number that was taken for a pointer.
inline bool no_address(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) < 4096;
}

// The error of such an argument.
[[nodiscard, gnu::cold, gnu::noinline]] int null_argument(ErrorsOn on, const char* function, const char* name);

// The error of an allocation that failed.
[[nodiscard, gnu::cold, gnu::noinline]] int no_memory(ErrorsOn on, const char* function, const char* what);

// "MPI_COMM_WORLD", the name the user gave, or "a communicator of 4 ranks".
[[nodiscard]] std::string comm_text(const Comm& comm);
[[nodiscard]] std::string win_text(const Win& win);
[[nodiscard]] std::string file_text(const File& file);

}  // namespace weft::mpi
