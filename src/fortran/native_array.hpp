// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Arrays as gfortran 9 and newer pass them to procedures with assumed rank that are not bind(C): those of MPICH's
// module mpi_f08.
#pragma once

#include "fortran/buffer.hpp"

namespace weft::fortran {

struct NativeDimension {
  ptrdiff_t stride;  // in units of span
  ptrdiff_t lower;
  ptrdiff_t upper;
};

// The dimensions follow.
struct NativeArray {
  void* address;
  size_t offset;
  size_t element;  // bytes
  int version;
  int8_t rank;
  int8_t type;
  int16_t attribute;
  ptrdiff_t span;  // bytes; 0: the element

  const NativeDimension* dimensions() const { return reinterpret_cast<const NativeDimension*>(this + 1); }
};
static_assert(sizeof(NativeArray) == 40);

// The same array as ISO C describes it.
class Descriptor {
 public:
  explicit Descriptor(const NativeArray* array) {
    all_.section.address = array->address;
    all_.section.element = array->element;
    all_.section.rank = static_cast<uint8_t>(std::clamp<int>(array->rank, 0, most_dimensions));
    const ptrdiff_t unit = array->span != 0 ? array->span : static_cast<ptrdiff_t>(array->element);
    for (int i = 0; i < all_.section.rank; ++i) {
      const NativeDimension& from = array->dimensions()[i];
      // The last dimension of an assumed-size array ends at -1.
      const ptrdiff_t extent = std::max<ptrdiff_t>(from.upper - from.lower + 1, 0);
      const bool open = extent == 0 && from.upper == -1 && i == all_.section.rank - 1;
      all_.dimensions[i] = {0, open ? -1 : extent, from.stride * unit};
    }
  }
  const Section* section() const { return &all_.section; }

 private:
  static constexpr int most_dimensions = 15;
  struct {
    Section section;
    Dimension dimensions[most_dimensions];
  } all_;
};

}  // namespace weft::fortran
