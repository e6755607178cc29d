// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Moves the data of `count` elements between a user's buffer and contiguous bytes. Positions are byte offsets in the
// packed stream and may fall anywhere, so that a pipelined path can stream a layout in pieces.

#include "datatype/type.hpp"

namespace weft::datatype {

// Copies packed bytes [position, position + bytes) of `count` elements at `buffer` to `out`.
void pack(const Type& type, int64_t count, const void* buffer, int64_t position, void* out, int64_t bytes);

// The reverse: bytes [position, position + bytes) of the packed stream come from `in`.
void unpack(const Type& type, int64_t count, void* buffer, int64_t position, const void* in, int64_t bytes);

// Copies elements between two buffers of possibly different layouts, `bytes` of data at most.
void copy(const Type& from, int64_t from_count, const void* source, const Type& to, int64_t to_count, void* target,
          int64_t bytes);

// Derived layouts: new objects with one reference, to be given to destroy(). Not committed, except that a duplicate
// is what its original is. nullptr when memory runs out, a count is negative or a size leaves 64 bits.
[[nodiscard]] Type* contiguous(int64_t count, const Type& old);
[[nodiscard]] Type* vector(int64_t count, int64_t block_length, int64_t stride_bytes, const Type& old);
[[nodiscard]] Type* resized(const Type& old, int64_t lower_bound, int64_t extent);
[[nodiscard]] Type* duplicate(const Type& old);

// Frees a derived type, whatever its references say: the caller counted them.
void destroy(Type* type);

// Complete basic elements in the first `bytes` of elements of this type; -1 when they end inside a basic element, or
// when the type is made of several basics.
[[nodiscard]] int64_t basics_in(const Type& type, int64_t bytes);

}  // namespace weft::datatype
