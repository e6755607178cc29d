// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Functions that Open MPI adds, its kinds of splits, and handles of Fortran.

#include <iterator>

#include "foreign/by_hand.hpp"
#include "foreign/convert.hpp"
#include "foreign/refuse.hpp"

namespace weft::foreign {

// ---- Copy functions and delete functions of attributes: a program may call them itself

#define WEFT_ATTRIBUTE_FUNCTIONS(kind)                                                                         \
  int ompi_c_mpi_##kind##null_copy_fn(Handle /*object*/, int /*keyval*/, void* /*extra_state*/, void* /*in*/,  \
                                      void* /*out*/, int* flag) {                                              \
    *flag = 0;                                                                                                 \
    return MPI_SUCCESS;                                                                                        \
  }                                                                                                            \
  int ompi_c_mpi_##kind##dup_fn(Handle /*object*/, int /*keyval*/, void* /*extra_state*/, void* value_in,      \
                                void* value_out, int* flag) {                                                  \
    *static_cast<void**>(value_out) = value_in;                                                                \
    *flag = 1;                                                                                                 \
    return MPI_SUCCESS;                                                                                        \
  }                                                                                                            \
  int ompi_c_mpi_##kind##null_delete_fn(Handle /*object*/, int /*keyval*/, void* /*value*/, void* /*state*/) { \
    return MPI_SUCCESS;                                                                                        \
  }
WEFT_ATTRIBUTE_FUNCTIONS()
WEFT_ATTRIBUTE_FUNCTIONS(comm_)
WEFT_ATTRIBUTE_FUNCTIONS(type_)
WEFT_ATTRIBUTE_FUNCTIONS(win_)
#undef WEFT_ATTRIBUTE_FUNCTIONS

// ---- OMPI_COMM_TYPE_*: splits by a part of the machine

namespace {

// The resources that MPI_COMM_TYPE_HW_GUIDED splits by, from OMPI_COMM_TYPE_HWTHREAD to OMPI_COMM_TYPE_NUMA. A core has
// a cache of the first level of its own.
constexpr const char* resources[] = {"hwloc://PU",      "hwloc://Core",    "hwloc://Core",    "hwloc://L2Cache",
                                     "hwloc://L3Cache", "hwloc://Package", "hwloc://NUMANode"};
constexpr int first_resource = 1;
constexpr int board = 8;
constexpr int host = 9;
constexpr int cluster = 11;

// A rank that is bound to no single resource is alone, as with Open MPI.
int split_by_resource(MPI_Comm comm, const char* resource, int key, MPI_Comm* newcomm) {
  MPI_Info info = MPI_INFO_NULL;
  int error = face.info_create(&info);
  if (error != MPI_SUCCESS) return error;
  error = face.info_set(info, "mpi_hw_resource_type", resource);
  if (error == MPI_SUCCESS) error = face.comm_split_type(comm, MPI_COMM_TYPE_HW_GUIDED, key, info, newcomm);
  if (error == MPI_SUCCESS && *newcomm == MPI_COMM_NULL) error = face.comm_dup(MPI_COMM_SELF, newcomm);
  const int freed = face.info_free(&info);
  return error != MPI_SUCCESS ? error : freed;
}

}  // namespace

int comm_split_type(Handle comm, int split_type, int key, Handle info, Handle* newcomm) {
  const auto of = in<MPI_Comm>(comm);
  const int resource = split_type - first_resource;
  if (resource >= 0 && resource < static_cast<int>(std::size(resources)) && !no_place(newcomm)) {
    return error_out(split_by_resource(of, resources[resource], key, Out<MPI_Comm>(newcomm)));
  }
  // A host is one board; a cluster has all hosts.
  if (split_type == board || split_type == host) split_type = split_out(MPI_COMM_TYPE_SHARED);
  if (split_type > host && split_type <= cluster) {
    return error_out(face.comm_split(of, 0, key, Out<MPI_Comm>(newcomm)));
  }
  return error_out(face.comm_split_type(of, split_in(split_type), key, in<MPI_Info>(info), Out<MPI_Comm>(newcomm)));
}

// ---- Others

// Three classes are about failures, which no function here returns; each is its own class all the same.
int error_class(int errorcode, int* errorclass) {
  constexpr int proc_failed = 75;
  constexpr int revoked = 77;
  if (errorcode < proc_failed || errorcode > revoked || no_place(errorclass))
    return error_out(face.error_class(error_in(errorcode), ValueOut<error_out>(errorclass)));
  *errorclass = errorcode;
  return MPI_SUCCESS;
}

// Keys that the runtime does not know are ignored, and it knows none of a session that exists.
int session_set_info(Handle session, Handle info) {
  MPI_Info used = MPI_INFO_NULL;
  int error = face.session_get_info(in<MPI_Session>(session), &used);
  if (error == MPI_SUCCESS) error = face.info_free(&used);
  int keys = 0;
  if (error == MPI_SUCCESS && in<MPI_Info>(info) != MPI_INFO_NULL)
    error = face.info_get_nkeys(in<MPI_Info>(info), &keys);
  return error_out(error);
}

int mpix_query_rocm_support() {
  return 0;
}

// Nobody has failed (failure.cpp).
int mpix_comm_ack_failed(Handle comm, int /*num_to_ack*/, int* num_acked) {
  if (int error = mpix_comm_failure_ack(comm)) return error;
  if (no_place(num_acked)) return refuse_argument("MPIX_Comm_ack_failed", MPI_ERR_ARG, "num_acked is a null pointer");
  *num_acked = 0;
  return MPI_SUCCESS;
}

int mpix_comm_is_revoked(Handle comm, int* flag) {
  if (int error = mpix_comm_failure_ack(comm)) return error;
  if (no_place(flag)) return refuse_argument("MPIX_Comm_is_revoked", MPI_ERR_ARG, "flag is a null pointer");
  *flag = 0;
  return MPI_SUCCESS;
}

// Between two groups each would have to send back what it got; nothing starts such a second operation.
int mpix_comm_iagree(Handle comm, int* flag, Handle* request) {
  static constexpr const char* function = "MPIX_Comm_iagree";
  if (no_place(flag)) return refuse_argument(function, MPI_ERR_ARG, "flag is a null pointer");
  int between = 0;
  if (int error = face.comm_test_inter(in<MPI_Comm>(comm), &between)) return error_out(error);
  if (between != 0) return refuse(function, "agreement between two groups that does not block is not supported");
  return error_out(
      face.iallreduce_c(MPI_IN_PLACE, flag, 1, MPI_INT, MPI_BAND, in<MPI_Comm>(comm), Out<MPI_Request>(request)));
}

// ---- Handles of Fortran: the numbers of Open MPI for predefined ones, and Weft's own above those for objects

namespace {

template <class H, size_t n>
int number_of(Handle handle, const NumberRow (&rows)[n], int (*to_int)(H)) {
  const auto object = in<H>(handle);
  const int number = fortran_number(reinterpret_cast<uintptr_t>(object), rows);
  return number != no_number ? number : to_int(object);
}

template <class H, size_t n>
Handle handle_of(int number, const NumberRow (&rows)[n], H (*from_int)(int)) {
  if (number >= static_cast<int>(mpi::predefined_limit)) return out(from_int(number));
  for (const NumberRow& row : rows) {
    if (row.fortran == number && row.standard != 0) return out(reinterpret_cast<H>(uintptr_t{row.standard}));
  }
  return nullptr;
}

}  // namespace

#define WEFT_NUMBERED(kind, type)                                        \
  int kind##_c2f(Handle handle) {                                        \
    return number_of<type>(handle, type##_numbers, face.kind##_toint);   \
  }                                                                      \
  Handle kind##_f2c(int number) {                                        \
    return handle_of<type>(number, type##_numbers, face.kind##_fromint); \
  }                                                                      \
  int kind##_toint(Handle handle) {                                      \
    return kind##_c2f(handle);                                           \
  }                                                                      \
  Handle kind##_fromint(int number) {                                    \
    return kind##_f2c(number);                                           \
  }
WEFT_NUMBERED(comm, MPI_Comm)
WEFT_NUMBERED(errhandler, MPI_Errhandler)
WEFT_NUMBERED(file, MPI_File)
WEFT_NUMBERED(group, MPI_Group)
WEFT_NUMBERED(info, MPI_Info)
WEFT_NUMBERED(message, MPI_Message)
WEFT_NUMBERED(op, MPI_Op)
WEFT_NUMBERED(request, MPI_Request)
WEFT_NUMBERED(session, MPI_Session)
WEFT_NUMBERED(type, MPI_Datatype)
WEFT_NUMBERED(win, MPI_Win)
#undef WEFT_NUMBERED

}  // namespace weft::foreign

// Open MPI's binding of C++ tells a reduction which function it calls; programs that were built for C have a reference
// to this, and none calls it.
extern "C" __attribute__((visibility("default"))) void ompi_op_set_cxx_callback(void* op, void (*function)());

extern "C" void ompi_op_set_cxx_callback(void* /*op*/, void (* /*function*/)()) {}
