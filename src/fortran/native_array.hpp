// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Arrays as compilers pass them to procedures with assumed rank that are not bind(C): those of MPICH's module mpi_f08.
// gfortran 9 and newer have a form of their own, flang passes what ISO C describes.
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

// Whether an element has 4 GiB or more, or the version, rank and type of ISO C's descriptor are in the place of its
// size.
[[gnu::always_inline]] inline bool is_unusual(const NativeArray* array) {
  return array->element >> 32 != 0;
}

// Whether an array is gfortran's and has no gaps, and where it is. If its strides do not count elements, the
// descriptor's span shows that.
[[gnu::always_inline]] inline bool contiguous(const NativeArray* array, void** address) {
  if (is_unusual(array)) [[unlikely]]
    return false;
  const int rank = static_cast<uint8_t>(array->rank);
  const NativeDimension* const at = array->dimensions();
  ptrdiff_t elements = 1;
  *address = array->address;
  if (rank != 0 && array->span != static_cast<ptrdiff_t>(array->element)) [[unlikely]]
    return false;
  if (rank == 1 && at->stride == 1 && at->upper >= at->lower) [[likely]]
    return true;
  for (int i = 0; i < rank; ++i) {
    if (at[i].stride != elements) [[unlikely]]
      return false;
    elements *= at[i].upper - at[i].lower + 1;
  }
  // This is done as for sections; an array without elements may be an assumed-size one.
  if (rank == 0 || elements <= 0) *address = buffer_in(*address);
  return true;
}

// Both descriptors, gfortran's and ISO C's, begin with the address.
inline void* address_of(const NativeArray* array) {
  return buffer_in(array->address);
}

// Describes an array by ISO C's descriptor.
class IsoDescriptor {
 public:
  explicit IsoDescriptor(const NativeArray* array) {
    const auto* iso = reinterpret_cast<const Section*>(array);
    if (is_unusual(array) &&
        std::find(std::begin(iso_versions), std::end(iso_versions), iso->version) != std::end(iso_versions)) {
      section_ = iso;
      return;
    }
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
  IsoDescriptor(const IsoDescriptor&) = delete;
  IsoDescriptor& operator=(const IsoDescriptor&) = delete;
  const Section* section() const { return section_; }

 private:
  static constexpr int most_dimensions = 15;
  static constexpr int iso_versions[] = {20180515, 20240719};  // of ISO_Fortran_binding.h, as flang has had them
  struct {
    Section section;
    Dimension dimensions[most_dimensions];
  } all_;
  const Section* section_ = &all_.section;
};

}  // namespace weft::fortran
