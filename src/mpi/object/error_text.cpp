// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The meaning of the standard's error classes (MPI-5.0, 9.4).

#include <mpi.h>

#include "mpi/object/error.hpp"

namespace weft::mpi {
namespace {

struct ErrorTextRow {
  int error;
  const char* text;
};

#define WEFT_ERROR(name, meaning) \
  { name, #name ": " meaning }
constexpr ErrorTextRow rows[] = {
    {MPI_SUCCESS, "MPI_SUCCESS: no error"},
    WEFT_ERROR(MPI_ERR_BUFFER, "invalid buffer pointer"),
    WEFT_ERROR(MPI_ERR_COUNT, "invalid count argument"),
    WEFT_ERROR(MPI_ERR_TYPE, "invalid datatype, or one that is not committed"),
    WEFT_ERROR(MPI_ERR_TAG, "invalid tag: negative, or above MPI_TAG_UB"),
    WEFT_ERROR(MPI_ERR_COMM, "invalid communicator"),
    WEFT_ERROR(MPI_ERR_RANK, "rank outside the communicator or group"),
    WEFT_ERROR(MPI_ERR_REQUEST, "invalid request"),
    WEFT_ERROR(MPI_ERR_ROOT, "root outside the communicator"),
    WEFT_ERROR(MPI_ERR_GROUP, "invalid group"),
    WEFT_ERROR(MPI_ERR_OP, "invalid reduction operation, or one the datatype does not have"),
    WEFT_ERROR(MPI_ERR_TOPOLOGY, "the communicator does not have the topology asked for"),
    WEFT_ERROR(MPI_ERR_DIMS, "invalid number or size of dimensions"),
    WEFT_ERROR(MPI_ERR_ARG, "invalid argument"),
    WEFT_ERROR(MPI_ERR_UNKNOWN, "unknown error"),
    WEFT_ERROR(MPI_ERR_TRUNCATE, "message longer than the receive buffer"),
    WEFT_ERROR(MPI_ERR_OTHER, "an error that no other class describes"),
    WEFT_ERROR(MPI_ERR_INTERN, "an error inside the library"),
    WEFT_ERROR(MPI_ERR_PENDING, "the request has neither failed nor completed"),
    WEFT_ERROR(MPI_ERR_IN_STATUS, "the error of each operation is in its status"),
    WEFT_ERROR(MPI_ERR_ACCESS, "permission denied"),
    WEFT_ERROR(MPI_ERR_AMODE, "invalid combination of file access modes"),
    WEFT_ERROR(MPI_ERR_ASSERT, "invalid assertion"),
    WEFT_ERROR(MPI_ERR_BAD_FILE, "invalid file name"),
    WEFT_ERROR(MPI_ERR_BASE, "invalid base address"),
    WEFT_ERROR(MPI_ERR_CONVERSION, "a data conversion function failed"),
    WEFT_ERROR(MPI_ERR_DISP, "invalid displacement"),
    WEFT_ERROR(MPI_ERR_DUP_DATAREP, "the data representation is defined already"),
    WEFT_ERROR(MPI_ERR_FILE_EXISTS, "the file exists"),
    WEFT_ERROR(MPI_ERR_FILE_IN_USE, "the file is open in some process"),
    WEFT_ERROR(MPI_ERR_FILE, "invalid file handle"),
    WEFT_ERROR(MPI_ERR_INFO_KEY, "info key empty or longer than MPI_MAX_INFO_KEY - 1"),
    WEFT_ERROR(MPI_ERR_INFO_NOKEY, "the info object has no such key"),
    WEFT_ERROR(MPI_ERR_INFO_VALUE, "invalid info value"),
    WEFT_ERROR(MPI_ERR_INFO, "invalid info object"),
    WEFT_ERROR(MPI_ERR_IO, "input or output failed"),
    WEFT_ERROR(MPI_ERR_KEYVAL, "invalid attribute key"),
    WEFT_ERROR(MPI_ERR_LOCKTYPE, "invalid lock type"),
    WEFT_ERROR(MPI_ERR_NAME, "the service name is not published"),
    WEFT_ERROR(MPI_ERR_NO_MEM, "out of memory"),
    WEFT_ERROR(MPI_ERR_NOT_SAME, "the processes did not give the same argument"),
    WEFT_ERROR(MPI_ERR_NO_SPACE, "no space left on the device"),
    WEFT_ERROR(MPI_ERR_NO_SUCH_FILE, "the file does not exist"),
    WEFT_ERROR(MPI_ERR_PORT, "invalid or closed port"),
    WEFT_ERROR(MPI_ERR_QUOTA, "quota exceeded"),
    WEFT_ERROR(MPI_ERR_READ_ONLY, "the file or file system is read-only"),
    WEFT_ERROR(MPI_ERR_RMA_ATTACH, "the memory cannot be attached to the window"),
    WEFT_ERROR(MPI_ERR_RMA_CONFLICT, "conflicting accesses to the window"),
    WEFT_ERROR(MPI_ERR_RMA_RANGE, "target memory outside the window"),
    WEFT_ERROR(MPI_ERR_RMA_SHARED, "the memory cannot be shared"),
    WEFT_ERROR(MPI_ERR_RMA_SYNC, "wrong synchronisation of a window"),
    WEFT_ERROR(MPI_ERR_SERVICE, "the service name cannot be published or unpublished"),
    WEFT_ERROR(MPI_ERR_SIZE, "invalid size"),
    WEFT_ERROR(MPI_ERR_SPAWN, "processes could not be started"),
    WEFT_ERROR(MPI_ERR_UNSUPPORTED_DATAREP, "unsupported data representation"),
    WEFT_ERROR(MPI_ERR_UNSUPPORTED_OPERATION, "unsupported operation"),
    WEFT_ERROR(MPI_ERR_WIN, "invalid window"),
    WEFT_ERROR(MPI_ERR_RMA_FLAVOR, "the window has the wrong flavor"),
    WEFT_ERROR(MPI_ERR_PROC_ABORTED, "a peer process has aborted"),
    WEFT_ERROR(MPI_ERR_VALUE_TOO_LARGE, "the value does not fit: use the function's _c form"),
    WEFT_ERROR(MPI_ERR_SESSION, "invalid session"),
    WEFT_ERROR(MPI_ERR_ERRHANDLER, "invalid error handler"),
    WEFT_ERROR(MPI_ERR_ABI, "invalid use of the ABI"),
    WEFT_ERROR(MPI_T_ERR_CANNOT_INIT, "the tool interface cannot be initialised"),
    WEFT_ERROR(MPI_T_ERR_NOT_ACCESSIBLE, "tool interface: not accessible now"),
    WEFT_ERROR(MPI_T_ERR_NOT_INITIALIZED, "the tool interface is not initialised"),
    WEFT_ERROR(MPI_T_ERR_NOT_SUPPORTED, "tool interface: not supported"),
    WEFT_ERROR(MPI_T_ERR_MEMORY, "tool interface: out of memory"),
    WEFT_ERROR(MPI_T_ERR_INVALID, "tool interface: invalid use or argument"),
    WEFT_ERROR(MPI_T_ERR_INVALID_INDEX, "tool interface: invalid index"),
    WEFT_ERROR(MPI_T_ERR_INVALID_ITEM, "tool interface: index of an item out of range"),
    WEFT_ERROR(MPI_T_ERR_INVALID_SESSION, "tool interface: invalid session"),
    WEFT_ERROR(MPI_T_ERR_INVALID_HANDLE, "tool interface: invalid handle"),
    WEFT_ERROR(MPI_T_ERR_INVALID_NAME, "tool interface: no such name"),
    WEFT_ERROR(MPI_T_ERR_OUT_OF_HANDLES, "tool interface: no more handles"),
    WEFT_ERROR(MPI_T_ERR_OUT_OF_SESSIONS, "tool interface: no more sessions"),
    WEFT_ERROR(MPI_T_ERR_CVAR_SET_NOT_NOW, "the control variable cannot be set now"),
    WEFT_ERROR(MPI_T_ERR_CVAR_SET_NEVER, "the control variable cannot be set"),
    WEFT_ERROR(MPI_T_ERR_PVAR_NO_WRITE, "the performance variable cannot be written"),
    WEFT_ERROR(MPI_T_ERR_PVAR_NO_STARTSTOP, "the performance variable cannot be started or stopped"),
    WEFT_ERROR(MPI_T_ERR_PVAR_NO_ATOMIC, "the performance variable cannot be read and written atomically"),
};
#undef WEFT_ERROR

}  // namespace

const char* standard_error_text(int error) {
  for (const ErrorTextRow& row : rows) {
    if (row.error == error) return row.text;
  }
  return nullptr;
}

}  // namespace weft::mpi
