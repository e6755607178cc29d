// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// From objects back to handles, and texts that name them.

#include <string>

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

// "MPI_COMM_WORLD", the name the user gave, or "a communicator of 4 ranks".
[[nodiscard]] std::string comm_text(const Comm& comm);
[[nodiscard]] std::string win_text(const Win& win);
[[nodiscard]] std::string file_text(const File& file);

}  // namespace weft::mpi
