// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The elements that accumulates update, of one predefined type. Pairs may have gaps in memory, which packed data have
// not.

#include <cstring>

#include "base/copy.hpp"
#include "datatype/predefined.hpp"
#include "datatype/reduce.hpp"

namespace weft::core::memory {

struct Element {
  datatype::Basic basic;
  datatype::Basic value;  // of an unnamed pair, otherwise Basic::none
  datatype::Basic index;
  datatype::BasicSize parts;

  int32_t size() const { return parts.first + parts.second; }  // packed
  int32_t extent() const { return parts.extent; }              // in memory
  bool has_gaps() const { return size() != extent(); }

  datatype::Kernel kernel(datatype::Reduction reduction) const {
    return value != datatype::Basic::none ? datatype::pair_kernel(reduction, value, index)
                                          : datatype::kernel(reduction, basic);
  }
  void unpack(const void* packed, void* memory) const {
    base::copy(memory, packed, static_cast<size_t>(parts.first));
    base::copy(static_cast<char*>(memory) + parts.second_offset, static_cast<const char*>(packed) + parts.first,
               static_cast<size_t>(parts.second));
  }
  void pack(const void* memory, void* packed) const {
    base::copy(packed, memory, static_cast<size_t>(parts.first));
    base::copy(static_cast<char*>(packed) + parts.first, static_cast<const char*>(memory) + parts.second_offset,
               static_cast<size_t>(parts.second));
  }
};

inline Element element_of(datatype::Basic basic, datatype::Basic value, datatype::Basic index) {
  const bool pair = value != datatype::Basic::none;
  return {basic, value, index, pair ? datatype::pair_size(value, index) : datatype::basic_size(basic)};
}
inline Element element_of(const datatype::Type& type) {
  return element_of(type.basic, type.pair_value, type.pair_index);
}

// The largest extent of an element: a pair of two numbers of 16 bytes.
inline constexpr size_t element_most = 64;

}  // namespace weft::core::memory
