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
inline constexpr int slot_shift = 6;
static_assert(base::Arena::slot_align == size_t{1} << slot_shift);

// Where the object of handle 0 would be, so that a handle shifted and this added are an address. 0 until the program
// has the first handle of an object; it does not change afterwards, so every thread that learns it stores the same.
inline std::atomic<uintptr_t> origin = 0;
[[gnu::cold, gnu::noinline]] uintptr_t learn_origin();

inline uintptr_t known_origin() {
  const uintptr_t known = origin.load(std::memory_order_relaxed);
  return known != 0 ? known : learn_origin();
}

// The predefined handles of a kind: by their low bits, and the others. `objects_first`: most are objects.
template <class Handle>
struct Rows;
#define WEFT_ROWS(type, often_objects)                           \
  template <>                                                    \
  struct Rows<type> {                                            \
    static constexpr const auto& rows = type##_rows;             \
    static constexpr const auto& others = type##_others;         \
    static constexpr uint32_t mask = std::size(type##_rows) - 1; \
    static constexpr bool objects_first = often_objects;         \
  };
WEFT_ROWS(MPI_Comm, false)
WEFT_ROWS(MPI_Datatype, false)
WEFT_ROWS(MPI_Errhandler, true)
WEFT_ROWS(MPI_Group, true)
WEFT_ROWS(MPI_Info, true)
WEFT_ROWS(MPI_Message, true)
WEFT_ROWS(MPI_Op, false)
WEFT_ROWS(MPI_Request, true)
WEFT_ROWS(MPI_Session, true)
WEFT_ROWS(MPI_Win, true)
#undef WEFT_ROWS

// No address of an object has the bits of a wrong handle.
template <class Handle>
[[gnu::cold, gnu::noinline]] Handle rare_in(uint32_t value) {
  for (const HandleRow& row : Rows<Handle>::others) {
    if (row.theirs == value && value != 0) return reinterpret_cast<Handle>(uintptr_t{row.standard});
  }
  return reinterpret_cast<Handle>(~uintptr_t{0} << 32 | value);
}

// The standard's handle of a program's.
template <class Handle>
[[gnu::always_inline]] inline Handle in(int handle) {
  using Table = Rows<Handle>;
  const auto value = static_cast<uint32_t>(handle);
  if (Table::objects_first && value >= first_object) [[likely]]
    return reinterpret_cast<Handle>(origin.load(std::memory_order_relaxed) + (uintptr_t{value} << slot_shift));
  const HandleRow& row = Table::rows[value & Table::mask];
  if (row.theirs == value) [[likely]]
    return reinterpret_cast<Handle>(uintptr_t{row.standard});
  if (!Table::objects_first && value >= first_object) {
    return reinterpret_cast<Handle>(origin.load(std::memory_order_relaxed) + (uintptr_t{value} << slot_shift));
  }
  return rare_in<Handle>(value);
}

// The program's handle of the standard's.
template <class Handle>
inline int out(Handle handle) {
  const auto value = reinterpret_cast<uintptr_t>(handle);
  if (value < std::size(predefined_theirs)) return static_cast<int>(predefined_theirs[value]);
  return static_cast<int>(static_cast<uint32_t>((value - known_origin()) >> slot_shift));
}

// A result that is an object for certain.
inline int out_object(const void* object) {
  return static_cast<int>(static_cast<uint32_t>((reinterpret_cast<uintptr_t>(object) - known_origin()) >> slot_shift));
}

// Handles that are converted without a call: predefined ones, and objects where the kind has many.
template <class Handle>
[[gnu::always_inline]] inline bool is_quick(int handle) {
  using Table = Rows<Handle>;
  const auto value = static_cast<uint32_t>(handle);
  if (Table::objects_first) return value >= first_object;
  return Table::rows[value & Table::mask].theirs == value || (Table::mask == 0xf && value >= first_object);
}

template <class Handle>
[[gnu::always_inline]] inline Handle quick_in(int handle) {
  using Table = Rows<Handle>;
  const auto value = static_cast<uint32_t>(handle);
  const HandleRow& row = Table::rows[value & Table::mask];
  if (!Table::objects_first && (Table::mask != 0xf || row.theirs == value)) {
    return reinterpret_cast<Handle>(uintptr_t{row.standard});
  }
  return reinterpret_cast<Handle>(origin.load(std::memory_order_relaxed) + (uintptr_t{value} << slot_shift));
}

// A file's handle is a pointer in both ABIs, and the null handle 0.
inline MPI_File in_file(MPI_File file) {
  return file == nullptr ? MPI_FILE_NULL : file == MPI_FILE_NULL ? nullptr : file;
}
inline MPI_File out_file(MPI_File file) {
  return file == MPI_FILE_NULL ? nullptr : file;
}

}  // namespace weft::mpich
