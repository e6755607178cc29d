// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Updates of a region's elements, each as a whole (MPI-5.0, 12.7.1). There are two ways:
//  - by a processor's atomic instructions: elements of 1, 2, 4 and 8 bytes in memory that all ranks of the host map,
//    until somebody updates an array there (Updates::way);
//  - under the lock of the block of memory in which the element begins: all others, and all from then on, so that an
//    array is updated as fast as memory allows.
// So all who update an element take the same way. The first update of an array changes it for good: it waits until no
// process is in the middle of an update of the first way. A process notes that it is in its own line (Busy), without a
// fence: the one that changes the way makes it run one.

#include <vector>

#include "core/memory/element.hpp"
#include "core/memory/region.hpp"

namespace weft::core::memory {

// The blocks that share a lock, as a set.
using Stripes = uint32_t;
[[nodiscard]] Stripes stripes_of(uint64_t offset, uint64_t bytes);

// Holds the locks of some blocks.
class Updating {
 public:
  Updating(Updates& updates, Stripes stripes);
  ~Updating();
  Updating(const Updating&) = delete;
  Updating& operator=(const Updating&) = delete;

 private:
  Updates& updates_;
  Stripes stripes_;
};

struct Update {
  Element element;
  datatype::Reduction reduction;
  datatype::Kernel kernel;
  Busy& busy;          // of this process
  bool alone = false;  // no other process and no other thread can be at these elements
};

// From so many bytes on data count as an array: a lock and the change of the way cost less than their elements.
inline constexpr int64_t array_from = 1024;

// Where an address of a region lies in it.
inline uint64_t offset_of(const Region& region, const char* at) {
  return reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(region.mapped);
}

// Elements as they lie in memory, which nobody else is at, become the result of `in`, packed, and them.
void update_elements(const Update& update, const void* in, char* there, int64_t count);
void pack_elements(const Element& element, const char* there, char* packed, int64_t count);

// All updates are made under locks once this returns. `processes`: the lines of all that update this memory; they have
// called base::allow_fences().
void change_way(Updates& updates, const std::vector<const Busy*>& processes);

// `count` elements at `at`, in our address space: without gaps, or one. `in` and `old` are packed; the old values go to
// `old` unless it is nullptr.
void update_here(const Region& region, const Update& update, const void* in, char* at, void* old, int64_t count);

// One element: swaps in `value` where it is `compare`; the old value goes to `old`. All packed.
void swap_here(const Region& region, const Element& element, Busy& busy, const void* value, const void* compare,
               char* at, void* old);

}  // namespace weft::core::memory
