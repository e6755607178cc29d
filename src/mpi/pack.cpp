// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Packing by hand (MPI-5.0, 5.2). Packed data are the bytes of the elements without their gaps.
#include "datatype/pack.hpp"

#include <climits>

#include "mpi/functions.hpp"
#include "mpi/handles.hpp"

namespace weft::mpi {
namespace {

// The arguments that MPI_Pack and MPI_Unpack share: elements in a user's buffer, and a place in packed bytes.
struct Arguments {
  const char* function;
  const void* elements;
  MPI_Count count;
  MPI_Datatype datatype;
  const void* packed;
  MPI_Count room;
  MPI_Count position;
  MPI_Comm comm;
};

int check_elements(const char* function, const Comm* comm, MPI_Count count, MPI_Datatype datatype, int64_t& bytes) {
  if (count < 0) {
    return fail(comm, function, MPI_ERR_COUNT, "count is %lld: it must not be negative", static_cast<long long>(count));
  }
  const Type* type = type_of(datatype);
  if (type == nullptr) return bad_type(comm, function, datatype);
  if (__builtin_mul_overflow(count, type->size, &bytes)) {
    return fail(comm, function, MPI_ERR_COUNT, "%lld elements of %lld bytes leave 64 bits",
                static_cast<long long>(count), static_cast<long long>(type->size));
  }
  return MPI_SUCCESS;
}

int check(const Arguments& a, int64_t& bytes) {
  const Comm* comm = comm_of(a.comm);
  if (comm == nullptr) return bad_comm(a.function, a.comm);
  if (int error = check_elements(a.function, comm, a.count, a.datatype, bytes)) return error;
  const Type* type = type_of(a.datatype);
  if (!type->committed) return fail(comm, a.function, MPI_ERR_TYPE, "the datatype is not committed");
  if (a.room < 0) return fail(comm, a.function, MPI_ERR_ARG, "the size of the packed buffer is negative");
  if (a.position < 0 || a.position > a.room) {
    return fail(comm, a.function, MPI_ERR_ARG, "position %lld is outside the packed buffer of %lld bytes",
                static_cast<long long>(a.position), static_cast<long long>(a.room));
  }
  if (bytes > a.room - a.position) {
    return fail(comm, a.function, MPI_ERR_TRUNCATE, "%lld bytes at position %lld go beyond the packed buffer of %lld",
                static_cast<long long>(bytes), static_cast<long long>(a.position), static_cast<long long>(a.room));
  }
  if (bytes > 0 && (a.packed == nullptr || (a.elements == nullptr && type->contiguous))) {
    return fail(comm, a.function, MPI_ERR_BUFFER, "a buffer is a null pointer");
  }
  return MPI_SUCCESS;
}

template <class Position>
int pack_at(const Arguments& a, void* packed, Position* position) {
  int64_t bytes = 0;
  if (int error = check(a, bytes)) return error;
  datatype::pack(*type_of(a.datatype), a.count, a.elements, 0, static_cast<char*>(packed) + a.position, bytes);
  *position = static_cast<Position>(a.position + bytes);
  return MPI_SUCCESS;
}

template <class Position>
int unpack_at(const Arguments& a, void* elements, Position* position) {
  int64_t bytes = 0;
  if (int error = check(a, bytes)) return error;
  const char* packed = static_cast<const char*>(a.packed) + a.position;
  datatype::unpack(*type_of(a.datatype), a.count, elements, 0, packed, bytes);
  *position = static_cast<Position>(a.position + bytes);
  return MPI_SUCCESS;
}

int find_size(const char* function, MPI_Count count, MPI_Datatype datatype, MPI_Comm comm, int64_t& bytes) {
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  return check_elements(function, c, count, datatype, bytes);
}

}  // namespace

int pack(const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize, int* position,
         MPI_Comm comm) {
  if (position == nullptr) return null_argument(comm_of(comm), "MPI_Pack", "position");
  return pack_at({"MPI_Pack", inbuf, incount, datatype, outbuf, outsize, *position, comm}, outbuf, position);
}

int pack_c(const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf, MPI_Count outsize,
           MPI_Count* position, MPI_Comm comm) {
  if (position == nullptr) return null_argument(comm_of(comm), "MPI_Pack_c", "position");
  return pack_at({"MPI_Pack_c", inbuf, incount, datatype, outbuf, outsize, *position, comm}, outbuf, position);
}

int unpack(const void* inbuf, int insize, int* position, void* outbuf, int outcount, MPI_Datatype datatype,
           MPI_Comm comm) {
  if (position == nullptr) return null_argument(comm_of(comm), "MPI_Unpack", "position");
  return unpack_at({"MPI_Unpack", outbuf, outcount, datatype, inbuf, insize, *position, comm}, outbuf, position);
}

int unpack_c(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount,
             MPI_Datatype datatype, MPI_Comm comm) {
  if (position == nullptr) return null_argument(comm_of(comm), "MPI_Unpack_c", "position");
  return unpack_at({"MPI_Unpack_c", outbuf, outcount, datatype, inbuf, insize, *position, comm}, outbuf, position);
}

int pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int* size) {
  if (size == nullptr) return null_argument(comm_of(comm), "MPI_Pack_size", "size");
  int64_t bytes = 0;
  if (int error = find_size("MPI_Pack_size", incount, datatype, comm, bytes)) return error;
  *size = bytes <= INT_MAX ? static_cast<int>(bytes) : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count* size) {
  if (size == nullptr) return null_argument(comm_of(comm), "MPI_Pack_size_c", "size");
  return find_size("MPI_Pack_size_c", incount, datatype, comm, *size);
}

}  // namespace weft::mpi
