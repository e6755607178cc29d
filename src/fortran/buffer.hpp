// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Choice buffers of mpi_f08: descriptors of arrays as C's buffers. An array without gaps is its address. One with gaps
// is described by a datatype, or where the function reckons with places in the buffer, copied (Scratch).
#pragma once

#include "fortran/convert.hpp"

namespace weft::fortran {

struct Dimension {
  ptrdiff_t lower;
  ptrdiff_t extent;  // -1: the last dimension of an assumed-size array
  ptrdiff_t stride;  // bytes
};

// The part of ISO C's CFI_cdesc_t that gfortran, flang and ifx lay out alike; types and attributes differ. The
// dimensions follow it.
struct Section {
  void* address;
  size_t element;  // bytes
  int version;
  uint8_t rank;
  uint8_t differs[3];

  const Dimension* dimensions() const { return reinterpret_cast<const Dimension*>(this + 1); }
};
static_assert(sizeof(Section) == 24);

// Whether an array has no gaps, and where it is. The variables that stand for addresses are no arrays, but may have
// come through an assumed-size one.
[[gnu::always_inline]] inline bool contiguous(const Section* section, void** address) {
  auto bytes = static_cast<ptrdiff_t>(section->element);
  const int rank = section->rank;
  for (int i = 0; i < rank; ++i) {
    const Dimension& at = section->dimensions()[i];
    if (at.stride != bytes && at.extent != 1) [[unlikely]]
      return false;
    bytes *= at.extent;
  }
  *address = section->address;
  if (rank == 0 || bytes < 0) *address = buffer_in(*address);
  return true;
}

// Whether an array was not allocated, as where a rank has no part of the data. Its dimensions hold anything.
inline bool is_absent(const Section& section) {
  return section.address == nullptr;
}

// The address of a buffer whose gaps do not matter.
inline void* address_of(const Section* section) {
  return buffer_in(section->address);
}

// The error of an array with gaps that a call cannot use, for raise().
struct Trouble {
  int error = MPI_SUCCESS;
  const char* text = nullptr;
};
[[gnu::cold]] int raise(const char* function, const Trouble& trouble);

// Makes a type for `count` elements of `type` that lie one behind another in the elements of the array.
[[gnu::cold]] Trouble describe(const Section& section, MPI_Count count, MPI_Datatype type, MPI_Datatype* made);
// Makes a type for a partition of `count` elements; its extent is the distance from one of the `parts` partitions to
// the next.
[[gnu::cold]] Trouble describe_parts(const Section& section, MPI_Count parts, MPI_Count count, MPI_Datatype type,
                                     MPI_Datatype* made);

// A buffer that a count and a datatype follow.
template <class Count>
class FortranBuffer {
 public:
  FortranBuffer(const Section* section, Count elements, MPI_Fint datatype)
      : count(elements), type(Convert<MPI_Datatype>::in(datatype)) {
    if (contiguous(section, &address) || is_absent(*section)) return;
    address = section->address;
    replace(describe(*section, count, type, &made_));
  }
  FortranBuffer(const Section* section, MPI_Fint parts, Count elements, MPI_Fint datatype)
      : count(elements), type(Convert<MPI_Datatype>::in(datatype)) {
    if (contiguous(section, &address) || is_absent(*section)) return;
    address = section->address;
    replace(describe_parts(*section, parts, count, type, &made_));
  }
  FortranBuffer(const FortranBuffer&) = delete;
  FortranBuffer& operator=(const FortranBuffer&) = delete;
  ~FortranBuffer() {
    if (made_ != MPI_DATATYPE_NULL) [[unlikely]]
      PMPI_Type_free(&made_);
  }

  void* address = nullptr;  // also where the array is absent
  Count count;
  MPI_Datatype type;
  Trouble trouble;

 private:
  void replace(const Trouble& found) {
    trouble = found;
    if (made_ == MPI_DATATYPE_NULL) return;
    count = 1;
    type = made_;
  }

  MPI_Datatype made_ = MPI_DATATYPE_NULL;
};

// Contiguous copies of arrays with gaps, for a call or for as long as its request lives. Data that the operation stores
// are copied back at its end.
class ContiguousCopies {
 public:
  ContiguousCopies() = default;
  ContiguousCopies(const ContiguousCopies&) = delete;
  ContiguousCopies& operator=(const ContiguousCopies&) = delete;
  ~ContiguousCopies() {
    if (around_ != nullptr) [[unlikely]]
      finish();
  }

  void* of(const Section* section, bool stores) {
    void* address;
    if (contiguous(section, &address)) return address;
    return is_absent(*section) ? nullptr : copy(*section, stores);
  }
  // Before a call that makes a request, and after it.
  void arm() {
    if (around_ != nullptr) [[unlikely]]
      hand_over();
  }
  void made() {
    if (around_ != nullptr) [[unlikely]]
      hand_back();
  }

  Trouble trouble;

 private:
  [[gnu::cold]] void* copy(const Section& section, bool stores);
  [[gnu::cold]] void finish();
  [[gnu::cold]] void hand_over();
  [[gnu::cold]] void hand_back();

  struct CopiesAround;
  CopiesAround* around_ = nullptr;
};

}  // namespace weft::fortran
