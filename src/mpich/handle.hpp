// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Handles of MPICH's ABI are 32 bits. Predefined ones have fixed values and are looked up; the handle of an object has
// both top bits set and below them the object's position in the arena, so that the way between the two is arithmetic.
// Any value may be asked for: a wrong one becomes a wrong handle of the standard ABI, which the function that gets it
// reports (a live object begins with a word that names its kind).

#include <cstddef>

#include "mpi/face.hpp"
#include "mpich/values.hpp"

namespace weft::mpich {

inline const mpi::Face& face = WEFT_FACE;

inline constexpr uint32_t first_object = 0xc0000000;
inline constexpr int slot_shift = 6;  // base::Arena::slot_align
static_assert(base::Arena::slot_align == size_t{1} << slot_shift);

inline uintptr_t arena_base() {
  return face.hooks.arena_base->load(std::memory_order_relaxed);
}

// The rows of a kind of handle.
template <class Handle>
struct Rows;
#define WEFT_ROWS(type)                                     \
  template <>                                               \
  struct Rows<type> {                                       \
    static constexpr const auto& rows = type##_rows;        \
    static constexpr size_t count = std::size(type##_rows); \
  };
WEFT_ROWS(MPI_Comm)
WEFT_ROWS(MPI_Datatype)
WEFT_ROWS(MPI_Errhandler)
WEFT_ROWS(MPI_Group)
WEFT_ROWS(MPI_Info)
WEFT_ROWS(MPI_Message)
WEFT_ROWS(MPI_Op)
WEFT_ROWS(MPI_Request)
WEFT_ROWS(MPI_Session)
WEFT_ROWS(MPI_Win)
#undef WEFT_ROWS

// The standard's handle of a program's. No address of an object has the bits of a wrong one.
template <class Handle>
inline Handle in(int handle) {
  const auto value = static_cast<uint32_t>(handle);
  if (value >= first_object) {
    return reinterpret_cast<Handle>(arena_base() + (uintptr_t{value - first_object} << slot_shift));
  }
  const uint32_t place = value >> 30 << 7 | (value & 0x7f);
  if (place < Rows<Handle>::count && Rows<Handle>::rows[place].theirs == value && value != 0) [[likely]] {
    return reinterpret_cast<Handle>(uintptr_t{Rows<Handle>::rows[place].standard});
  }
  return reinterpret_cast<Handle>(~uintptr_t{0} << 32 | value);
}

// The program's handle of the standard's.
template <class Handle>
inline int out(Handle handle) {
  const auto value = reinterpret_cast<uintptr_t>(handle);
  if (value < std::size(predefined_theirs)) return static_cast<int>(predefined_theirs[value]);
  return static_cast<int>(first_object + static_cast<uint32_t>((value - arena_base()) >> slot_shift));
}

// A file's handle is a pointer in both ABIs, and the null handle 0.
inline MPI_File in_file(MPI_File file) {
  return file == nullptr ? MPI_FILE_NULL : file == MPI_FILE_NULL ? nullptr : file;
}
inline MPI_File out_file(MPI_File file) {
  return file == MPI_FILE_NULL ? nullptr : file;
}

}  // namespace weft::mpich
