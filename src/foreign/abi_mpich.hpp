// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Handles of MPICH's ABI are 32 bits. Predefined ones have fixed values and are looked up; the handle of an object has
// both top bits set and below them the object's position in the arena, so that the way between the two is arithmetic.
// Any value may be asked for: a wrong one becomes a wrong handle of the standard ABI, which the function that gets it
// reports (a live object begins with a word that names its kind).

#include "foreign/given.hpp"
#include "foreign/values.hpp"

namespace weft::foreign {

using Handle = int;
using FileHandle = MPI_File;

template <class H>
using Given = std::conditional_t<std::is_same_v<H, MPI_File>, FileHandle, Handle>;

inline constexpr const char* abi_title = "MPICH's ABI";
inline constexpr const char* abi_number = "MPICH ABI 12";  // of libmpi.so.12, which all libraries of this ABI have

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

inline void after_init() {}

// The predefined handles of a kind: by their low bits, and the others.
template <class H>
struct Rows;
#define WEFT_ROWS(type)                                          \
  template <>                                                    \
  struct Rows<type> {                                            \
    static constexpr const auto& rows = type##_rows;             \
    static constexpr const auto& others = type##_others;         \
    static constexpr uint32_t mask = std::size(type##_rows) - 1; \
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

template <class H>
[[gnu::cold, gnu::noinline]] H rare_in(uint32_t value) {
  for (const HandleRow& row : Rows<H>::others) {
    if (row.theirs == value && value != 0) return reinterpret_cast<H>(uintptr_t{row.standard});
  }
  return wrong_handle<H>(value);
}

template <class H>
[[gnu::always_inline]] inline H object_of(uint32_t value) {
  return reinterpret_cast<H>(origin.load(std::memory_order_relaxed) + (uintptr_t{value} << slot_shift));
}

// The standard's handle of a program's. A file's is a pointer in both ABIs, and the null handle 0.
template <class H>
[[gnu::always_inline]] inline H in(Given<H> handle) {
  if constexpr (std::is_same_v<H, MPI_File>) {
    return handle == nullptr ? MPI_FILE_NULL : handle == MPI_FILE_NULL ? nullptr : handle;
  } else {
    using Table = Rows<H>;
    const auto value = static_cast<uint32_t>(handle);
    if (often_objects<H> && value >= first_object) [[likely]]
      return object_of<H>(value);
    const HandleRow& row = Table::rows[value & Table::mask];
    if (row.theirs == value) [[likely]]
      return reinterpret_cast<H>(uintptr_t{row.standard});
    if (!often_objects<H> && value >= first_object) return object_of<H>(value);
    return rare_in<H>(value);
  }
}

// A result that is an object for certain.
inline Handle out_object(const void* object) {
  return static_cast<int>(static_cast<uint32_t>((reinterpret_cast<uintptr_t>(object) - known_origin()) >> slot_shift));
}

// The program's handle of the standard's.
template <class H>
inline Handle out(H handle) {
  const auto value = reinterpret_cast<uintptr_t>(handle);
  if (value < std::size(predefined_theirs)) return static_cast<int>(predefined_theirs[value]);
  return out_object(handle);
}
inline FileHandle out(MPI_File file) {
  return file == MPI_FILE_NULL ? nullptr : file;
}

// Handles that are converted without a call: predefined ones, and objects where the kind has many.
template <class H>
[[gnu::always_inline]] inline bool is_quick(Handle handle) {
  using Table = Rows<H>;
  const auto value = static_cast<uint32_t>(handle);
  if (often_objects<H>) return value >= first_object;
  return Table::rows[value & Table::mask].theirs == value || (Table::mask == 0xf && value >= first_object);
}

template <class H>
[[gnu::always_inline]] inline H quick_in(Handle handle) {
  using Table = Rows<H>;
  const auto value = static_cast<uint32_t>(handle);
  const HandleRow& row = Table::rows[value & Table::mask];
  if (!often_objects<H> && (Table::mask != 0xf || row.theirs == value)) {
    return reinterpret_cast<H>(uintptr_t{row.standard});
  }
  return object_of<H>(value);
}

inline Marker marker_of(Handle type) {
  return type == 0x4c000010 ? Marker::lower : type == 0x4c000011 ? Marker::upper : Marker::none;
}

// ---- Statuses

// The count has 63 bits: the low 32 in the first word, the others above the lowest bit of the second, which says that
// the operation was cancelled.
struct MpichStatus {
  int count_lo;
  int count_hi_and_cancelled;
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
};
using Status = MpichStatus;
static_assert(sizeof(Status) == 20);

inline void set_counted(Status& status, int64_t bytes, bool cancelled) {
  const auto count = static_cast<uint64_t>(bytes);
  status.count_lo = static_cast<int>(count);
  status.count_hi_and_cancelled = static_cast<int>(static_cast<uint32_t>(count >> 32) << 1 | (cancelled ? 1 : 0));
}
inline int64_t counted_bytes(const Status& status) {
  const auto high = static_cast<uint32_t>(status.count_hi_and_cancelled);
  return static_cast<int64_t>(uint64_t{high >> 1} << 32 | static_cast<uint32_t>(status.count_lo));
}
inline bool counted_cancelled(const Status& status) {
  return (status.count_hi_and_cancelled & 1) != 0;
}

// ---- Addresses that stand for constants

inline constexpr intptr_t their_in_place = -1;
inline constexpr intptr_t their_automatic = -2;

// Whether an address is one of those, as no address of a program has the highest bit.
inline bool is_named_buffer(const void* buffer) {
  return reinterpret_cast<intptr_t>(buffer) < 0;
}

template <class Void>
inline Void* buffer_in(Void* buffer) {
  const auto value = reinterpret_cast<intptr_t>(buffer);
  if (value == their_in_place) return MPI_IN_PLACE;
  if (value == their_automatic) return MPI_BUFFER_AUTOMATIC;
  return buffer;
}
inline void* buffer_out(void* buffer) {
  return buffer == MPI_BUFFER_AUTOMATIC ? reinterpret_cast<void*>(their_automatic) : buffer;
}

// Variables of MPICH's ABI, which have the standard's values (mpich.cpp).
template <class Int>
inline Int* weights_in(Int* weights) {
  return weights;
}
inline MPI_T_pvar_handle pvar_in(MPI_T_pvar_handle handle) {
  return handle;
}

// Each number from 1 to this one, exclusive, is an error code, named or not.
inline constexpr int last_numbered_error = 0;

inline constexpr int64_t bsend_overhead = 88;  // MPI_BSEND_OVERHEAD of Intel MPI; MPICH's is 96

}  // namespace weft::foreign
