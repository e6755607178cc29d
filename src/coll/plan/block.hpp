// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Where the data of a collective lies in the user's memory: one block per rank.

#include "datatype/type.hpp"

namespace weft::coll {

using datatype::byte_type;
using datatype::Type;

// Counts or displacements as the user gave them: int, 64 bits, or the same for all ranks.
class Array {
 public:
  constexpr Array() = default;
  explicit constexpr Array(int64_t same) : same_(same) {}
  explicit constexpr Array(const int* narrow) : narrow_(narrow) {}
  explicit constexpr Array(const int64_t* wide) : wide_(wide) {}

  int64_t operator[](int32_t rank) const {
    if (narrow_ != nullptr) return narrow_[rank];
    return wide_ != nullptr ? wide_[rank] : same_;
  }
  bool is_uniform() const { return narrow_ == nullptr && wide_ == nullptr; }
  int64_t uniform() const { return same_; }

 private:
  const int* narrow_ = nullptr;
  const int64_t* wide_ = nullptr;
  int64_t same_ = 0;
};

struct Block {
  void* data = nullptr;
  int64_t count = 0;
  Type* type = nullptr;

  bool in_place() const { return type == nullptr; }
  int64_t bytes() const { return count * type->size; }
};

inline Block bytes_at(const void* data, int64_t bytes) {
  return {const_cast<void*>(data), bytes, &byte_type};
}

// A block per rank. Default-constructed: in place.
class Blocks {
 public:
  Blocks() = default;
  // One after the other.
  Blocks(void* base, int64_t count, Type& type) : base_(base), counts_(count), type_(&type), regular_(true) {}
  // Displacements in extents of the type.
  Blocks(void* base, Array counts, Array displacements, Type& type)
      : base_(base), counts_(counts), displacements_(displacements), type_(&type) {}
  // A type per rank, displacements in bytes.
  Blocks(void* base, Array counts, Array displacements, Type* const* types)
      : base_(base), counts_(counts), displacements_(displacements), types_(types) {}

  Block operator[](int32_t rank) const {
    if (regular_) return {at(rank * counts_[rank] * type_->extent), counts_[rank], type_};
    if (types_ != nullptr) return {at(displacements_[rank]), counts_[rank], types_[rank]};
    return {at(displacements_[rank] * type_->extent), counts_[rank], type_};
  }
  bool in_place() const { return type_ == nullptr && types_ == nullptr; }
  bool regular() const { return regular_; }
  // The memory of `number` blocks without gaps in and between them; false: there are gaps.
  bool as_one(int32_t number, const void*& begin, uint64_t& bytes) const {
    if (!regular_ || !type_->contiguous) return false;
    begin = base_;
    bytes = static_cast<uint64_t>(number) * static_cast<uint64_t>(counts_.uniform() * type_->size);
    return true;
  }

 private:
  // MPI_BOTTOM is the null pointer, so the sum is one of integers.
  void* at(int64_t offset) const {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(base_) + static_cast<uintptr_t>(offset));
  }

  void* base_ = nullptr;
  Array counts_;
  Array displacements_;
  Type* type_ = nullptr;
  Type* const* types_ = nullptr;
  bool regular_ = false;
};

}  // namespace weft::coll
