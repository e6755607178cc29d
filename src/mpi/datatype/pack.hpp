// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The checks of MPI_Pack, MPI_Unpack and their external32 forms: a correct call makes a few comparisons on its fast
// path, and cold code then explains what is wrong with an incorrect one.

#include "datatype/pack.hpp"
#include "device/api/device.hpp"
#include "mpi/object/buffer.hpp"
#include "mpi/object/object.hpp"

namespace weft::mpi {

// Elements in a user's buffer, and a place in packed bytes.
struct Packing {
  const char* function;
  const void* elements;
  MPI_Count count;
  MPI_Datatype datatype;
  const void* packed;
  MPI_Count room;
  MPI_Count position;
};

// Whether count and datatype describe elements; their type, and the bytes of their data.
inline bool good_elements(MPI_Count count, MPI_Datatype datatype, const Type*& type, int64_t& bytes) {
  type = type_of(datatype);
  return type != nullptr && count >= 0 && !__builtin_mul_overflow(count, type->size, &bytes);
}

// Whether the elements, `bytes` when packed, may be moved and fit behind the position.
inline bool good_packing(const Packing& p, const Type& type, int64_t bytes) {
  return type.committed && p.room >= 0 && p.position >= 0 && p.position <= p.room && bytes <= p.room - p.position &&
         (bytes == 0 || (!no_data(p.packed, 0) && !no_data(p.elements, type.true_lower_bound)));
}

// The result of a call whose data have been moved: a copy from or to a device may have failed.
[[nodiscard, gnu::cold, gnu::noinline]] int explain_copy(const Comm* comm, const char* function);
[[nodiscard]] inline int copied(const Comm* comm, const char* function) {
  return device::on() && device::take_failure() ? explain_copy(comm, function) : MPI_SUCCESS;
}

// ---- external32, for checked elements

// Bytes of one element outside; of a predefined type alone.
[[nodiscard]] int64_t external_bytes(const Type& type);
[[nodiscard]] int64_t external_bytes_of_basic(const Type& type);

// Converts elements, which may lie on a device if the caller says so; false: a value has no external form.
[[nodiscard]] bool put_external(const Type& type, int64_t count, const void* elements, bool on_device, void* packed);
void get_external(const Type& type, int64_t count, void* elements, bool on_device, const void* packed);

// Raise the error on `comm`, or without one when it is a null pointer, for which the functions above were false.
[[nodiscard, gnu::cold, gnu::noinline]] int explain_elements(const Comm* comm, const char* function, MPI_Count count,
                                                             MPI_Datatype datatype);
[[nodiscard, gnu::cold, gnu::noinline]] int explain_packing(const Comm* comm, const Packing& p, const Type& type,
                                                            int64_t bytes);

}  // namespace weft::mpi
