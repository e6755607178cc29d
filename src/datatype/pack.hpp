// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Moves the data of `count` elements between a user's buffer and contiguous bytes. Positions are byte offsets in the
// packed stream and may fall anywhere, so that a pipelined path can stream a layout in pieces. Either side, or both,
// may lie on a device; then a copy may fail, which device::take_failure() tells.

#include "datatype/signature.hpp"
#include "datatype/type.hpp"

namespace weft::datatype {

// Copies packed bytes [position, position + bytes) of `count` elements at `buffer` to `out`.
void pack(const Type& type, int64_t count, const void* buffer, int64_t position, void* out, int64_t bytes);

// The reverse: bytes [position, position + bytes) of the packed stream come from `in`.
void unpack(const Type& type, int64_t count, void* buffer, int64_t position, const void* in, int64_t bytes);

// These expect that neither side is on a device, and do not ask.
void pack_on_host(const Type& type, int64_t count, const void* buffer, int64_t position, void* out, int64_t bytes);
void unpack_on_host(const Type& type, int64_t count, void* buffer, int64_t position, const void* in, int64_t bytes);

// Copies elements between two buffers of possibly different layouts, `bytes` of data at most.
void copy(const Type& from, int64_t from_count, const void* source, const Type& to, int64_t to_count, void* target,
          int64_t bytes);
void copy_on_host(const Type& from, int64_t from_count, const void* source, const Type& to, int64_t to_count,
                  void* target, int64_t bytes);

// Callers that know whether either side may be on a device use these.
[[nodiscard]] inline auto* packing(bool may_be_on_device) {
  return may_be_on_device ? pack : pack_on_host;
}
[[nodiscard]] inline auto* unpacking(bool may_be_on_device) {
  return may_be_on_device ? unpack : unpack_on_host;
}
[[nodiscard]] inline auto* copying(bool may_be_on_device) {
  return may_be_on_device ? copy : copy_on_host;
}

// Derived layouts: new objects with one reference, to be given to destroy(). Not committed, except that a duplicate
// is what its original is. nullptr when memory runs out, a count is negative or a size leaves 64 bits.
[[nodiscard]] Type* contiguous(int64_t count, const Type& old);
[[nodiscard]] Type* vector(int64_t count, int64_t block_length, int64_t stride_bytes, const Type& old);
[[nodiscard]] Type* resized(const Type& old, int64_t lower_bound, int64_t extent);
[[nodiscard]] Type* duplicate(const Type& old);

// `count` elements of a type, `offset` bytes from the origin.
struct Part {
  int64_t offset;
  int64_t count;
  const Type* type;
};

// The parts in this order: MPI_Type_create_struct, and with one type in all parts every indexed form. Parts without
// elements take no part in the bounds.
[[nodiscard]] Type* structure(const Part* parts, int64_t count);

// A box of `subsizes` elements from `starts` on in an array of `sizes`; the bounds are those of the whole array.
[[nodiscard]] Type* subarray(int dims, const int64_t* sizes, const int64_t* subsizes, const int64_t* starts,
                             bool fortran_order, const Type& old);

// Frees a derived type without a look at its references: the caller counted them.
void destroy(Type* type);

}  // namespace weft::datatype
