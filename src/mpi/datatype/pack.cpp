// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Packing by hand (MPI-5.0, 5.2). Packed data are the bytes of the elements without their gaps.
#include "mpi/datatype/pack.hpp"

#include <climits>

#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"

namespace weft::mpi {
namespace {

template <class Position>
int pack_at(const Packing& p, void* packed, Position* position, MPI_Comm handle) {
  const Comm* comm = comm_of(handle);
  if (comm == nullptr) return bad_comm(p.function, handle);
  const Type* type = nullptr;
  int64_t bytes = 0;
  if (!good_elements(p.count, p.datatype, type, bytes)) return explain_elements(comm, p.function, p.count, p.datatype);
  if (!good_packing(p, *type, bytes)) return explain_packing(comm, p, *type, bytes);
  const auto pack = datatype::packing(!comm->host_memory);
  pack(*type, p.count, p.elements, 0, static_cast<char*>(packed) + p.position, bytes);
  *position = static_cast<Position>(p.position + bytes);
  return copied(comm, p.function);
}

template <class Position>
int unpack_at(const Packing& p, void* elements, Position* position, MPI_Comm handle) {
  const Comm* comm = comm_of(handle);
  if (comm == nullptr) return bad_comm(p.function, handle);
  const Type* type = nullptr;
  int64_t bytes = 0;
  if (!good_elements(p.count, p.datatype, type, bytes)) return explain_elements(comm, p.function, p.count, p.datatype);
  if (!good_packing(p, *type, bytes)) return explain_packing(comm, p, *type, bytes);
  const auto unpack = datatype::unpacking(!comm->host_memory);
  unpack(*type, p.count, elements, 0, static_cast<const char*>(p.packed) + p.position, bytes);
  *position = static_cast<Position>(p.position + bytes);
  return copied(comm, p.function);
}

int find_size(const char* function, MPI_Count count, MPI_Datatype datatype, MPI_Comm comm, int64_t& bytes) {
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  const Type* type = nullptr;
  return good_elements(count, datatype, type, bytes) ? MPI_SUCCESS : explain_elements(c, function, count, datatype);
}

}  // namespace

int explain_elements(const Comm* comm, const char* function, MPI_Count count, MPI_Datatype datatype) {
  Check check(function, comm);
  int64_t bytes = 0;
  check.elements({nullptr, count, datatype}, bytes);
  return check.error();
}

int explain_packing(const Comm* comm, const Packing& p, const Type& type, int64_t bytes) {
  if (!type.committed) return explain_elements(comm, p.function, p.count, p.datatype);
  if (p.room < 0) return negative(comm, p.function, MPI_ERR_ARG, "the size of the packed buffer", p.room);
  if (p.position < 0 || p.position > p.room) {
    return fail(comm, p.function, MPI_ERR_ARG, "position %lld is outside the packed buffer of %lld bytes",
                static_cast<long long>(p.position), static_cast<long long>(p.room));
  }
  if (bytes > p.room - p.position) {
    return fail(comm, p.function, MPI_ERR_TRUNCATE, "%lld bytes at position %lld go beyond the packed buffer of %lld",
                static_cast<long long>(bytes), static_cast<long long>(p.position), static_cast<long long>(p.room));
  }
  return fail(comm, p.function, MPI_ERR_BUFFER, "%s is %s", no_data(p.packed, 0) ? "the packed buffer" : "the buffer",
              no_data_text(no_data(p.packed, 0) ? p.packed : p.elements).c_str());
}

int explain_copy(const Comm* comm, const char* function) {
  return fail(comm, function, MPI_ERR_OTHER, "data could not be copied from or to a device: %s",
              device::last_problem().c_str());
}

int pack(const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize, int* position,
         MPI_Comm comm) {
  if (no_address(position)) return null_argument(comm_of(comm), "MPI_Pack", "position");
  return pack_at({"MPI_Pack", inbuf, incount, datatype, outbuf, outsize, *position}, outbuf, position, comm);
}

int pack_c(const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf, MPI_Count outsize,
           MPI_Count* position, MPI_Comm comm) {
  if (no_address(position)) return null_argument(comm_of(comm), "MPI_Pack_c", "position");
  return pack_at({"MPI_Pack_c", inbuf, incount, datatype, outbuf, outsize, *position}, outbuf, position, comm);
}

int unpack(const void* inbuf, int insize, int* position, void* outbuf, int outcount, MPI_Datatype datatype,
           MPI_Comm comm) {
  if (no_address(position)) return null_argument(comm_of(comm), "MPI_Unpack", "position");
  return unpack_at({"MPI_Unpack", outbuf, outcount, datatype, inbuf, insize, *position}, outbuf, position, comm);
}

int unpack_c(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount,
             MPI_Datatype datatype, MPI_Comm comm) {
  if (no_address(position)) return null_argument(comm_of(comm), "MPI_Unpack_c", "position");
  return unpack_at({"MPI_Unpack_c", outbuf, outcount, datatype, inbuf, insize, *position}, outbuf, position, comm);
}

int pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int* size) {
  if (no_address(size)) return null_argument(comm_of(comm), "MPI_Pack_size", "size");
  int64_t bytes = 0;
  if (int error = find_size("MPI_Pack_size", incount, datatype, comm, bytes)) return error;
  *size = bytes <= INT_MAX ? static_cast<int>(bytes) : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count* size) {
  if (no_address(size)) return null_argument(comm_of(comm), "MPI_Pack_size_c", "size");
  return find_size("MPI_Pack_size_c", incount, datatype, comm, *size);
}

}  // namespace weft::mpi
