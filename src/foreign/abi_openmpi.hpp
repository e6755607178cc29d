// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Handles of Open MPI's ABI are pointers. Predefined ones are addresses of data symbols of libmpi.so.40, of which an
// executable may have copies of its own (R_X86_64_COPY); those of objects are Weft's own. Each symbol begins with a
// mark and the standard's value, and so do copies, which the dynamic linker fills from the symbols. Any value may be
// asked for, and what lies at an address is only read where a symbol can be: inside this library's block of symbols,
// and between the first and the last of the program's copies. A wrong handle is reported by the function that gets it.

#include <cstring>

#include "foreign/given.hpp"
#include "foreign/values.hpp"

// The block of symbols (generated/openmpi_symbols.cpp).
extern "C" __attribute__((visibility("hidden"))) const char weft_predefined[];
extern "C" char ompi_mpi_lb[], ompi_mpi_ub[];

namespace weft::foreign {

using Handle = void*;
using FileHandle = void*;

template <class H>
using Given = Handle;

inline constexpr const char* abi_title = "Open MPI's ABI";
inline constexpr const char* abi_number = "Open MPI ABI 40";  // of libmpi.so.40

// The address of each symbol, and those of the standard's predefined handles: of the program's copies where it has
// some.
extern char* const symbols[symbol_count];
extern char* const predefined_theirs[predefined_count];

// The integer of a handle that has no number in Fortran.
inline constexpr int no_number = -1;

struct PredefinedObject {
  uint32_t mark;
  uint32_t standard;
};

// Addresses at which a PredefinedObject may be read.
struct PredefinedRegion {
  uintptr_t begin;
  uintptr_t size;

  bool holds(Handle handle) const { return reinterpret_cast<uintptr_t>(handle) - begin < size; }
};
// Where most predefined handles of the program are: its copies if it has some, or else this library's symbols. It is
// set when the library is loaded.
extern PredefinedRegion most_predefined;

// Where the arena of objects begins, once MPI_Init has been called; before it an address that none has.
inline std::atomic<uintptr_t> origin = uintptr_t{1} << 63;
inline constexpr int arena_bits = 36;
void after_init();

[[gnu::always_inline]] inline bool is_object(Handle handle) {
  return (reinterpret_cast<uintptr_t>(handle) - origin.load(std::memory_order_relaxed)) >> arena_bits == 0;
}

// The standard's handle of an address in a region of predefined handles.
template <class H>
[[gnu::always_inline]] inline H predefined_in(Handle handle) {
  // The address of a wrong handle need not be aligned.
  uint32_t mark;
  uint32_t standard;
  memcpy(&mark, static_cast<const char*>(handle) + offsetof(PredefinedObject, mark), sizeof mark);
  memcpy(&standard, static_cast<const char*>(handle) + offsetof(PredefinedObject, standard), sizeof standard);
  if (mark == predefined_mark) [[likely]]
    return reinterpret_cast<H>(uintptr_t{standard});
  return wrong_handle<H>(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(handle)));
}

template <class H>
[[gnu::always_inline]] inline H in(Handle handle) {
  if (often_objects<H> && is_object(handle)) [[likely]]
    return static_cast<H>(handle);
  const PredefinedRegion own = {reinterpret_cast<uintptr_t>(weft_predefined),
                                predefined_bytes - sizeof(PredefinedObject)};
  if (most_predefined.holds(handle) || own.holds(handle)) return predefined_in<H>(handle);
  const auto value = reinterpret_cast<uintptr_t>(handle);
  return value < mpi::predefined_limit ? wrong_handle<H>(static_cast<uint32_t>(value)) : static_cast<H>(handle);
}

inline Handle out_object(void* object) {
  return object;
}

template <class H>
inline Handle out(H handle) {
  const auto value = reinterpret_cast<uintptr_t>(handle);
  return value < static_cast<uintptr_t>(predefined_count) ? predefined_theirs[value] : static_cast<Handle>(handle);
}

// The handles that a fast path takes: objects, and most predefined ones where they are frequent.
template <class H>
[[gnu::always_inline]] inline bool is_quick(Handle handle) {
  if (often_objects<H>) return is_object(handle);
  return most_predefined.holds(handle) || (std::is_same_v<H, MPI_Comm> && is_object(handle));
}
template <class H>
[[gnu::always_inline]] inline H quick_in(Handle handle) {
  const bool object = std::is_same_v<H, MPI_Comm> ? !most_predefined.holds(handle) : often_objects<H>;
  return object ? static_cast<H>(handle) : predefined_in<H>(handle);
}

// Fortran's number of a predefined handle, by the standard's value of it.
template <size_t n>
constexpr int fortran_number(uintptr_t standard, const NumberRow (&rows)[n]) {
  for (const NumberRow& row : rows) {
    if (row.standard == standard) return row.fortran;
  }
  return no_number;
}

inline Marker marker_of(Handle type) {
  return type == ompi_mpi_lb ? Marker::lower : type == ompi_mpi_ub ? Marker::upper : Marker::none;
}

// ---- Statuses

// In programs of Fortran it is six integers and has their alignment.
struct [[gnu::packed, gnu::aligned(4)]] OpenMpiStatus {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int cancelled;
  uint64_t bytes;
};
using Status = OpenMpiStatus;
static_assert(sizeof(Status) == 24);

inline void set_counted(Status& status, int64_t bytes, bool cancelled) {
  status.bytes = static_cast<uint64_t>(bytes);
  status.cancelled = cancelled ? 1 : 0;
}
inline int64_t counted_bytes(const Status& status) {
  return static_cast<int64_t>(status.bytes);
}
inline bool counted_cancelled(const Status& status) {
  return status.cancelled != 0;
}

// ---- Addresses that stand for constants: those of buffers are the standard's

inline bool is_named_buffer(const void* /*buffer*/) {
  return false;
}
template <class Void>
inline Void* buffer_in(Void* buffer) {
  return buffer;
}
inline void* buffer_out(void* buffer) {
  return buffer;
}

template <class Int>
inline Int* weights_in(Int* weights) {
  constexpr intptr_t unweighted = 2;
  constexpr intptr_t empty = 3;
  const auto value = reinterpret_cast<intptr_t>(weights);
  if (value == unweighted) return MPI_UNWEIGHTED;
  return value == empty ? MPI_WEIGHTS_EMPTY : weights;
}

inline MPI_T_pvar_handle pvar_in(MPI_T_pvar_handle handle) {
  return reinterpret_cast<intptr_t>(handle) == -1 ? MPI_T_PVAR_ALL_HANDLES : handle;
}

// Each number from 1 to this one, exclusive, is an error code, named or not.
inline constexpr int last_numbered_error = their_last_code;

inline constexpr int64_t bsend_overhead = 128;  // MPI_BSEND_OVERHEAD

}  // namespace weft::foreign
