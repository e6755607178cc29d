// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Updates of a region's elements, each as a whole (MPI-5.0, 12.7.1). Which of two ways is taken follows from the
// region, the size of the elements and their address alone, so all who update an element take the same one:
//  - elements of 1, 2, 4 and 8 bytes in memory that all ranks of the host map: by a processor's compare-and-swap;
//  - all others: under Region::updating.

#include "core/memory/element.hpp"
#include "core/memory/region.hpp"

namespace weft::core::memory {

// Holds it.
class Updating {
 public:
  explicit Updating(UpdateLock& lock);
  ~Updating() { lock_.store(0, std::memory_order_release); }
  Updating(const Updating&) = delete;
  Updating& operator=(const Updating&) = delete;

 private:
  UpdateLock& lock_;
};

struct Update {
  Element element;
  datatype::Reduction reduction;
  datatype::Kernel kernel;
  bool alone = false;  // no other process and no other thread can be at these elements
};

// `count` elements at `at`, in our address space: without gaps, or one. `in` and `old` are packed; the old values go to
// `old` unless it is nullptr.
void update_here(const Region& region, const Update& update, const void* in, char* at, void* old, int64_t count);

// One element: swaps in `value` where it is `compare`; the old value goes to `old`. All packed.
void swap_here(const Region& region, const Element& element, const void* value, const void* compare, char* at,
               void* old);

}  // namespace weft::core::memory
