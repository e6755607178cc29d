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

// Derived layouts. The result is not committed; nullptr when memory or loops run out.
[[nodiscard]] Type* contiguous(int64_t count, const Type& old);
[[nodiscard]] Type* vector(int64_t count, int64_t block_length, int64_t stride_bytes, const Type& old);
[[nodiscard]] Type* resized(const Type& old, int64_t lower_bound, int64_t extent);
[[nodiscard]] Type* duplicate(const Type& old);

// Complete basic elements in `bytes` of this type; -1 when the bytes end inside a basic element.
[[nodiscard]] int64_t basics_in(const Type& type, int64_t bytes);

}  // namespace weft::datatype
