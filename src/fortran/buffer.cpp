// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/buffer.hpp"

#include <sys/uio.h>

#include <cstdlib>
#include <vector>

namespace weft::fortran {
namespace {

constexpr Trouble no_memory = {MPI_ERR_NO_MEM, "no memory for a section with gaps"};
constexpr Trouble too_many = {MPI_ERR_COUNT, "the section has fewer elements than the count and the datatype ask for"};

MPI_Count elements_of(const Section& section) {
  MPI_Count elements = 1;
  for (int i = 0; i < section.rank; ++i) elements *= section.dimensions()[i].extent;
  return elements;
}

// Where element `index` of the array is, from its first.
ptrdiff_t place_of(const Section& section, MPI_Count index) {
  ptrdiff_t place = 0;
  for (int i = 0; i < section.rank; ++i) {
    const Dimension& at = section.dimensions()[i];
    place += index % at.extent * at.stride;
    index /= at.extent;
  }
  return place;
}

// Frees a datatype that only others are made of.
class TemporaryType {
 public:
  TemporaryType() = default;
  TemporaryType(const TemporaryType&) = delete;
  TemporaryType& operator=(const TemporaryType&) = delete;
  ~TemporaryType() {
    if (type != MPI_DATATYPE_NULL) PMPI_Type_free(&type);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

int both(MPI_Datatype first, MPI_Aint place, MPI_Datatype second, MPI_Datatype* made) {
  const MPI_Count lengths[2] = {1, 1};
  const MPI_Count places[2] = {0, place};
  const MPI_Datatype types[2] = {first, second};
  return PMPI_Type_create_struct_c(2, lengths, places, types, made);
}

// The first `count` elements of the dimensions 0 to `dimension`, in the order of the array's elements.
int first_elements(const Section& section, int dimension, MPI_Count count, MPI_Datatype type, MPI_Datatype* made) {
  const ptrdiff_t stride = section.dimensions()[dimension].stride;
  if (dimension == 0) return PMPI_Type_create_hvector_c(count, 1, stride, type, made);
  MPI_Count inner = 1;
  for (int i = 0; i < dimension; ++i) inner *= section.dimensions()[i].extent;
  TemporaryType slice;
  TemporaryType whole;
  int error = first_elements(section, dimension - 1, inner, type, &slice.type);
  if (error == MPI_SUCCESS)
    error = PMPI_Type_create_hvector_c(count / inner, 1, stride, slice.type, count % inner == 0 ? made : &whole.type);
  if (error != MPI_SUCCESS || count % inner == 0) return error;
  TemporaryType rest;
  error = first_elements(section, dimension - 1, count % inner, type, &rest.type);
  return error == MPI_SUCCESS ? both(whole.type, count / inner * stride, rest.type, made) : error;
}

// Several elements of the datatype in each of the array's.
int whole_elements(const Section& section, MPI_Count count, MPI_Count in_element, MPI_Datatype type,
                   MPI_Datatype* made) {
  const int last = section.rank - 1;
  if (in_element == 1) return first_elements(section, last, count, type, made);
  const MPI_Count full = count / in_element;
  const MPI_Count left = count % in_element;
  TemporaryType element;
  TemporaryType whole;
  TemporaryType rest;
  int error = PMPI_Type_contiguous_c(in_element, type, &element.type);
  if (error == MPI_SUCCESS) error = first_elements(section, last, full, element.type, left == 0 ? made : &whole.type);
  if (error != MPI_SUCCESS || left == 0) return error;
  error = PMPI_Type_contiguous_c(left, type, &rest.type);
  return error == MPI_SUCCESS ? both(whole.type, place_of(section, full), rest.type, made) : error;
}

// Any other datatype: its bytes, one run after another.
Trouble runs(const Section& section, MPI_Count count, MPI_Datatype type, MPI_Count bytes, MPI_Datatype* made) {
  const auto element = static_cast<MPI_Count>(section.element);
  const MPI_Count room = elements_of(section) * element;
  std::vector<MPI_Count> lengths;
  std::vector<MPI_Count> places;
  iovec found[64];
  for (MPI_Count position = 0; position < bytes;) {
    const auto listed = list_runs(type, count, position, found, 64);
    if (listed.bytes <= 0) return {MPI_ERR_TYPE, "the datatype does not fit a section with gaps"};
    position += listed.bytes;
    for (int i = 0; i < listed.count; ++i) {
      auto from = static_cast<MPI_Count>(reinterpret_cast<intptr_t>(found[i].iov_base));
      const MPI_Count to = from + static_cast<MPI_Count>(found[i].iov_len);
      if (from < 0 || to > room) return too_many;
      while (from < to) {
        const MPI_Count length = std::min(to - from, element - from % element);
        places.push_back(place_of(section, from / element) + from % element);
        lengths.push_back(length);
        from += length;
      }
    }
  }
  const auto blocks = static_cast<MPI_Count>(lengths.size());
  const int error = PMPI_Type_create_hindexed_c(blocks, lengths.data(), places.data(), MPI_BYTE, made);
  return {error, "no datatype for a section with gaps"};
}

Trouble committed(Trouble trouble, MPI_Datatype* made) {
  if (trouble.error == MPI_SUCCESS) trouble.error = PMPI_Type_commit(made);
  return trouble;
}

template <class Visit>
void each_element(const Section& section, Visit&& visit) {
  const MPI_Count elements = elements_of(section);
  const Dimension& first = section.dimensions()[0];
  for (MPI_Count i = 0; i < elements; i += first.extent) {
    char* place = static_cast<char*>(section.address) + place_of(section, i);
    for (ptrdiff_t k = 0; k < first.extent; ++k, place += first.stride) visit(place);
  }
}

}  // namespace

int raise(const char* function, const Trouble& trouble) {
  return raise(function, trouble.error, trouble.text);
}

Trouble describe(const Section& section, MPI_Count count, MPI_Datatype type, MPI_Datatype* made) {
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  MPI_Count size = 0;
  // The function that is called with these reports them.
  if (count <= 0 || type == MPI_DATATYPE_NULL) return {};
  if (PMPI_Type_get_extent_c(type, &lower, &extent) != MPI_SUCCESS || PMPI_Type_size_c(type, &size) != MPI_SUCCESS)
    return {};
  if (size <= 0) return {};
  const auto element = static_cast<MPI_Count>(section.element);
  const char* const text = "no datatype for a section with gaps";
  if (extent == size && lower == 0 && element % size == 0) {
    if (count > elements_of(section) * (element / size)) return too_many;
    return committed({whole_elements(section, count, element / size, type, made), text}, made);
  }
  return committed(runs(section, count, type, count * size, made), made);
}

// Partitions at equal distances: each is a whole number of slices of one dimension, and that dimension holds them all.
Trouble describe_parts(const Section& section, MPI_Count parts, MPI_Count count, MPI_Datatype type,
                       MPI_Datatype* made) {
  MPI_Datatype one = MPI_DATATYPE_NULL;
  MPI_Count size = 0;
  const auto element = static_cast<MPI_Count>(section.element);
  if (count <= 0 || parts <= 0) return {};
  const Trouble trouble = describe(section, count, type, &one);
  if (one == MPI_DATATYPE_NULL || trouble.error != MPI_SUCCESS) return trouble;
  TemporaryType part;
  part.type = one;
  PMPI_Type_size_c(one, &size);
  MPI_Count inner = 1;
  for (int i = 0; i < section.rank; ++i) {
    const Dimension& at = section.dimensions()[i];
    const MPI_Count slices = size % (inner * element) == 0 ? size / (inner * element) : 0;
    if (slices != 0 && slices * parts <= at.extent) {
      const int error = PMPI_Type_create_resized_c(one, 0, slices * at.stride, made);
      return committed({error, "no datatype for a section with gaps"}, made);
    }
    inner *= at.extent;
  }
  return {MPI_ERR_BUFFER, "the partitions of the section do not lie at equal distances"};
}

// ---- Copies

struct ContiguousCopies::CopiesAround : fortran::Around {
  struct DescriptorCopy {
    std::vector<unsigned char> descriptor;  // the program's is gone when the call returns
    std::unique_ptr<char[]> memory;
    bool stores;

    const Section& section() const { return *reinterpret_cast<const Section*>(descriptor.data()); }
    void in() const {
      const size_t bytes = section().element;
      char* to = memory.get();
      each_element(section(), [&](const char* place) {
        std::memcpy(to, place, bytes);
        to += bytes;
      });
    }
    void out() const {
      if (!stores) return;
      const size_t bytes = section().element;
      const char* from = memory.get();
      each_element(section(), [&](char* place) {
        std::memcpy(place, from, bytes);
        from += bytes;
      });
    }
  };

  CopiesAround() : fortran::Around{begin_copies, end_copies, free_copies} {}

  static void begin_copies(fortran::Around* around) {
    for (const DescriptorCopy& copy : static_cast<CopiesAround*>(around)->copies) copy.in();
  }
  static void end_copies(fortran::Around* around) {
    for (const DescriptorCopy& copy : static_cast<CopiesAround*>(around)->copies) copy.out();
  }
  static void free_copies(fortran::Around* around) { delete static_cast<CopiesAround*>(around); }

  std::vector<DescriptorCopy> copies;
};

void* ContiguousCopies::copy(const Section& section, bool stores) {
  const MPI_Count elements = elements_of(section);
  if (elements <= 0) return section.address;
  if (around_ == nullptr) around_ = new (std::nothrow) CopiesAround;
  const auto* descriptor = reinterpret_cast<const unsigned char*>(&section);
  const size_t length = sizeof(Section) + static_cast<size_t>(section.rank) * sizeof(Dimension);
  std::unique_ptr<char[]> memory(new (std::nothrow) char[static_cast<size_t>(elements) * section.element]);
  if (around_ == nullptr || !memory) {
    trouble = no_memory;
    return nullptr;
  }
  around_->copies.push_back({{descriptor, descriptor + length}, std::move(memory), stores});
  around_->copies.back().in();
  return around_->copies.back().memory.get();
}

void ContiguousCopies::finish() {
  CopiesAround::end_copies(around_);
  CopiesAround::free_copies(around_);
}

void ContiguousCopies::hand_over() {
  (void)fortran::surround(around_);
}

// The request has taken the copies, unless the call has failed.
void ContiguousCopies::hand_back() {
  if (fortran::surround(nullptr) == nullptr) around_ = nullptr;
}

}  // namespace weft::fortran
