// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Isend of mpi_f08: an array without gaps by the shortest way, without the C function unless a tool replaces it.

#include "fortran/buffer.hpp"

#define WEFT_PROCEDURE extern "C" __attribute__((visibility("default")))

namespace weft::fortran {
namespace {

using Isend = decltype(MPI_Isend);
const bool replaced = is_replaced(MPI_Isend, PMPI_Isend);

// `origin`, once it is known and unless a tool has replaced MPI_Isend: one test for both.
std::atomic<uintptr_t> direct = 0;

template <Isend* function>
[[gnu::cold, gnu::noinline]] void rare_isend(const Section* buf, const MPI_Fint* count, const MPI_Fint* datatype,
                                             const MPI_Fint* dest, const MPI_Fint* tag, const MPI_Fint* comm,
                                             MPI_Fint* request, MPI_Fint* ierror) {
  const FortranBuffer buffer(buf, *count, *datatype);
  if (buffer.trouble.error != MPI_SUCCESS) return give(ierror, raise("MPI_Isend", buffer.trouble));
  give(ierror, function(buffer.address, buffer.count, buffer.type, *dest, *tag, Convert<MPI_Comm>::in(*comm),
                        Out<MPI_Request>(request)));
  if (!replaced) direct.store(origin.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

// An array of one dimension, when handles of objects can be computed. Nothing below calls anything but the send, so
// that no register is saved.
[[gnu::always_inline]] inline bool quick(const Section* buf, const std::atomic<uintptr_t>& known) {
  const Dimension& first = buf->dimensions()[0];
  return buf->rank == 1 && first.extent > 0 && first.stride == static_cast<ptrdiff_t>(buf->element) &&
         known.load(std::memory_order_relaxed) != 0;
}

template <class H>
[[gnu::always_inline]] inline H quick_in(MPI_Fint value) {
  const auto number = static_cast<uint32_t>(value);
  if (number < mpi::predefined_limit) return reinterpret_cast<H>(uintptr_t{number});
  return reinterpret_cast<H>(origin.load(std::memory_order_relaxed) + (uintptr_t{number} << slot_shift));
}

[[gnu::always_inline]] inline void isend(const Section* buf, const MPI_Fint* count, const MPI_Fint* datatype,
                                         const MPI_Fint* dest, const MPI_Fint* tag, const MPI_Fint* comm,
                                         MPI_Fint* request, MPI_Fint* ierror) {
  const uintptr_t made = WEFT_FACE.hooks.isend(buf->address, *count, quick_in<MPI_Datatype>(*datatype), *dest, *tag,
                                               quick_in<MPI_Comm>(*comm));
  if ((made & 1) != 0) [[unlikely]]
    return give(ierror, static_cast<int>(made >> 1));
  *request = static_cast<MPI_Fint>((made - origin.load(std::memory_order_relaxed)) >> slot_shift);
  give(ierror, MPI_SUCCESS);
}

}  // namespace

WEFT_PROCEDURE void mpi_isend_f08ts_(const Section* buf, const MPI_Fint* count, const MPI_Fint* datatype,
                                     const MPI_Fint* dest, const MPI_Fint* tag, const MPI_Fint* comm, MPI_Fint* request,
                                     MPI_Fint* ierror) {
  if (!quick(buf, direct)) [[unlikely]]
    return rare_isend<MPI_Isend>(buf, count, datatype, dest, tag, comm, request, ierror);
  isend(buf, count, datatype, dest, tag, comm, request, ierror);
}

WEFT_PROCEDURE void pmpi_isend_f08ts_(const Section* buf, const MPI_Fint* count, const MPI_Fint* datatype,
                                      const MPI_Fint* dest, const MPI_Fint* tag, const MPI_Fint* comm,
                                      MPI_Fint* request, MPI_Fint* ierror) {
  if (!quick(buf, origin)) [[unlikely]]
    return rare_isend<PMPI_Isend>(buf, count, datatype, dest, tag, comm, request, ierror);
  isend(buf, count, datatype, dest, tag, comm, request, ierror);
}

WEFT_FTS(mpi_isend)
WEFT_FTS(pmpi_isend)

}  // namespace weft::fortran
