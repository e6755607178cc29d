// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Isend of mpif.h and of the modules, in Open MPI's ABI, by the shortest way: numbers become the runtime's handles
// at once. Nothing is called but the send, so that no register is saved. Rare arguments go through the function of C.

#include <array>

#include "foreign/abi_openmpi.hpp"
#include "foreign/value.hpp"
#include "fortran/object_number.hpp"

extern "C" {
extern int mpi_fortran_bottom_, mpi_fortran_in_place_;
}

namespace weft::fortran {

// These call the functions of C (openmpi_modules.cpp). A tool may have a function of the name MPI_Isend.
void isend_of_c(const void* buf, const int* count, const int* datatype, const int* dest, const int* tag,
                const int* comm, int* request, int* ierror);
void pisend_of_c(const void* buf, const int* count, const int* datatype, const int* dest, const int* tag,
                 const int* comm, int* request, int* ierror);
extern const bool isend_replaced;

namespace {

// The standard's values of predefined handles by their numbers, and 0 of numbers that none has.
template <size_t count, size_t n>
constexpr std::array<uint16_t, count> by_number(const foreign::NumberRow (&rows)[n]) {
  std::array<uint16_t, count> made = {};
  for (const foreign::NumberRow& row : rows) made[row.fortran] = row.standard;
  return made;
}
constexpr auto comms = by_number<4>(foreign::MPI_Comm_numbers);
constexpr auto datatypes = by_number<128>(foreign::MPI_Datatype_numbers);

// The origin, once it is known, and the same unless a tool has replaced MPI_Isend.
std::atomic<uintptr_t> direct = 0;
std::atomic<uintptr_t> direct_p = 0;

using Isend = decltype(isend_of_c);

template <Isend* function>
[[gnu::cold, gnu::noinline]] void rare_isend(const void* buf, const int* count, const int* datatype, const int* dest,
                                             const int* tag, const int* comm, int* request, int* ierror) {
  function(buf, count, datatype, dest, tag, comm, request, ierror);
  const uintptr_t known = origin.load(std::memory_order_relaxed);
  direct_p.store(known, std::memory_order_relaxed);
  if (!isend_replaced) direct.store(known, std::memory_order_relaxed);
}

template <class H, size_t count>
[[gnu::always_inline]] inline H handle_of(int value, const std::array<uint16_t, count>& rows, uintptr_t known) {
  const auto number = static_cast<uint32_t>(value);
  if (number < count) return reinterpret_cast<H>(uintptr_t{rows[number]});
  return reinterpret_cast<H>(known + (uintptr_t{number} << slot_shift));
}

template <Isend* function>
[[gnu::always_inline]] inline void isend(const std::atomic<uintptr_t>& shortcut, const void* buf, const int* count,
                                         const int* datatype, const int* dest, const int* tag, const int* comm,
                                         int* request, int* ierror) {
  const uintptr_t known = shortcut.load(std::memory_order_relaxed);
  if (known == 0 || (*dest | *tag) < 0 || buf == &mpi_fortran_bottom_ || buf == &mpi_fortran_in_place_) [[unlikely]]
    return rare_isend<function>(buf, count, datatype, dest, tag, comm, request, ierror);
  const uintptr_t made = foreign::face.hooks.isend(buf, *count, handle_of<MPI_Datatype>(*datatype, datatypes, known),
                                                   *dest, *tag, handle_of<MPI_Comm>(*comm, comms, known));
  int error = MPI_SUCCESS;
  if ((made & 1) != 0) [[unlikely]]
    error = foreign::error_out(static_cast<int>(made >> 1));
  else
    *request = static_cast<int>(number_of_object(made));
  if (ierror != nullptr) *ierror = error;
}

}  // namespace

#define WEFT_PROCEDURE extern "C" __attribute__((visibility("default"))) void

WEFT_PROCEDURE mpi_isend_(const void* buf, const int* count, const int* datatype, const int* dest, const int* tag,
                          const int* comm, int* request, int* ierror) {
  isend<isend_of_c>(direct, buf, count, datatype, dest, tag, comm, request, ierror);
}

WEFT_PROCEDURE pmpi_isend_(const void* buf, const int* count, const int* datatype, const int* dest, const int* tag,
                           const int* comm, int* request, int* ierror) {
  isend<pisend_of_c>(direct_p, buf, count, datatype, dest, tag, comm, request, ierror);
}

}  // namespace weft::fortran
