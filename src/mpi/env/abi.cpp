// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The ABI itself, and integers for handles (MPI-5.0, chapter 20).

#include <cstring>
#include <mutex>

#include "mpi/env/info.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {
namespace {

// Predefined handles are their own values; objects are numbered behind them by their place in the arena. Any other
// value is the null handle.
template <class Handle>
int to_int(Handle handle, Handle null) {
  auto value = reinterpret_cast<uintptr_t>(handle);
  if (value < predefined_limit) return static_cast<int>(value);
  if (!base::Arena::holds(value)) return static_cast<int>(reinterpret_cast<uintptr_t>(null));
  return static_cast<int>(predefined_limit + base::Arena::number_of(value));
}

template <class Handle>
Handle from_int(int number, Handle null) {
  if (number < 0) return null;
  auto value = static_cast<uintptr_t>(number);
  if (value < predefined_limit) return reinterpret_cast<Handle>(value);
  uintptr_t address = base::Arena::address_of(static_cast<uint32_t>(value - predefined_limit));
  return base::Arena::holds(address) ? reinterpret_cast<Handle>(address) : null;
}

// The form of LOGICAL that a Fortran layer has set, for layers and tools that query it.
struct FortranBooleans {
  int size = 0;  // in bytes; it is 0 until it is set
  unsigned char yes[16] = {};
  unsigned char no[16] = {};
};
constinit base::Lock guard;  // guards both variables below
constinit FortranBooleans booleans;
constinit Info::Entries* fortran_info = nullptr;  // kept until the process ends

int bad_size(const char* function, int size) {
  return fail(nullptr, function, MPI_ERR_ARG, "logical_size is %d: it must be 1, 2, 4, 8 or 16", size);
}

bool is_logical_size(int size) {
  return size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
}

}  // namespace

int abi_get_version(int* abi_major, int* abi_minor) {
  if (no_address(abi_major)) return null_argument(nullptr, "MPI_Abi_get_version", "abi_major");
  if (no_address(abi_minor)) return null_argument(nullptr, "MPI_Abi_get_version", "abi_minor");
  *abi_major = MPI_ABI_VERSION;
  *abi_minor = MPI_ABI_SUBVERSION;
  return MPI_SUCCESS;
}

int abi_get_info(MPI_Info* info) {
  if (no_address(info)) return null_argument(nullptr, "MPI_Abi_get_info", "info");
  Info* made = make_info();
  if (made == nullptr) return no_memory(nullptr, "MPI_Abi_get_info", "an info object");
  made->set("mpi_aint_size", std::to_string(sizeof(MPI_Aint)));
  made->set("mpi_count_size", std::to_string(sizeof(MPI_Count)));
  made->set("mpi_offset_size", std::to_string(sizeof(MPI_Offset)));
  *info = handle_of<MPI_Info>(made);
  return MPI_SUCCESS;
}

int abi_set_fortran_info(MPI_Info info) {
  static const char* function = "MPI_Abi_set_fortran_info";
  const Info* given = info_of(info);
  if (given == nullptr) return bad_info(nullptr, function, info);
  {
    std::lock_guard lock(guard);
    if (fortran_info == nullptr) {
      fortran_info = new Info::Entries(given->entries());
      return MPI_SUCCESS;
    }
  }
  return fail(nullptr, function, MPI_ERR_ABI, "the information was given already");
}

int abi_get_fortran_info(MPI_Info* info) {
  static const char* function = "MPI_Abi_get_fortran_info";
  if (no_address(info)) return null_argument(nullptr, function, "info");
  *info = MPI_INFO_NULL;
  const Info::Entries* known = nullptr;  // once given it stays
  {
    std::lock_guard lock(guard);
    known = fortran_info;
  }
  if (known == nullptr) return MPI_SUCCESS;
  Info* made = make_info();
  if (made == nullptr) return no_memory(nullptr, function, "an info object");
  made->set_all(*known);
  *info = handle_of<MPI_Info>(made);
  return MPI_SUCCESS;
}

int abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false) {
  static const char* function = "MPI_Abi_set_fortran_booleans";
  if (!is_logical_size(logical_size)) return bad_size(function, logical_size);
  if (no_address(logical_true)) return null_argument(nullptr, function, "logical_true");
  if (no_address(logical_false)) return null_argument(nullptr, function, "logical_false");
  {
    std::lock_guard lock(guard);
    if (booleans.size == 0) {
      memcpy(booleans.yes, logical_true, static_cast<size_t>(logical_size));
      memcpy(booleans.no, logical_false, static_cast<size_t>(logical_size));
      booleans.size = logical_size;
      return MPI_SUCCESS;
    }
  }
  return fail(nullptr, function, MPI_ERR_ABI, "the values were given already");
}

int abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false, int* is_set) {
  static const char* function = "MPI_Abi_get_fortran_booleans";
  if (!is_logical_size(logical_size)) return bad_size(function, logical_size);
  if (no_address(logical_true)) return null_argument(nullptr, function, "logical_true");
  if (no_address(logical_false)) return null_argument(nullptr, function, "logical_false");
  if (no_address(is_set)) return null_argument(nullptr, function, "is_set");
  std::lock_guard lock(guard);
  *is_set = booleans.size == logical_size;
  if (*is_set == 0) return MPI_SUCCESS;
  memcpy(logical_true, booleans.yes, static_cast<size_t>(logical_size));
  memcpy(logical_false, booleans.no, static_cast<size_t>(logical_size));
  return MPI_SUCCESS;
}

int comm_toint(MPI_Comm comm) {
  return to_int(comm, MPI_COMM_NULL);
}
int errhandler_toint(MPI_Errhandler errhandler) {
  return to_int(errhandler, MPI_ERRHANDLER_NULL);
}
int file_toint(MPI_File file) {
  return to_int(file, MPI_FILE_NULL);
}
int group_toint(MPI_Group group) {
  return to_int(group, MPI_GROUP_NULL);
}
int info_toint(MPI_Info info) {
  return to_int(info, MPI_INFO_NULL);
}
int message_toint(MPI_Message message) {
  return to_int(message, MPI_MESSAGE_NULL);
}
int op_toint(MPI_Op op) {
  return to_int(op, MPI_OP_NULL);
}
int request_toint(MPI_Request request) {
  return to_int(request, MPI_REQUEST_NULL);
}
int session_toint(MPI_Session session) {
  return to_int(session, MPI_SESSION_NULL);
}
int type_toint(MPI_Datatype datatype) {
  return to_int(datatype, MPI_DATATYPE_NULL);
}
int win_toint(MPI_Win win) {
  return to_int(win, MPI_WIN_NULL);
}

MPI_Comm comm_fromint(int comm) {
  return from_int(comm, MPI_COMM_NULL);
}
MPI_Errhandler errhandler_fromint(int errhandler) {
  return from_int(errhandler, MPI_ERRHANDLER_NULL);
}
MPI_File file_fromint(int file) {
  return from_int(file, MPI_FILE_NULL);
}
MPI_Group group_fromint(int group) {
  return from_int(group, MPI_GROUP_NULL);
}
MPI_Info info_fromint(int info) {
  return from_int(info, MPI_INFO_NULL);
}
MPI_Message message_fromint(int message) {
  return from_int(message, MPI_MESSAGE_NULL);
}
MPI_Op op_fromint(int op) {
  return from_int(op, MPI_OP_NULL);
}
MPI_Request request_fromint(int request) {
  return from_int(request, MPI_REQUEST_NULL);
}
MPI_Session session_fromint(int session) {
  return from_int(session, MPI_SESSION_NULL);
}
MPI_Datatype type_fromint(int datatype) {
  return from_int(datatype, MPI_DATATYPE_NULL);
}
MPI_Win win_fromint(int win) {
  return from_int(win, MPI_WIN_NULL);
}

}  // namespace weft::mpi
