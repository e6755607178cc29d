// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Updates of a target's memory by accumulates, so that each element is updated as a whole (MPI-5.0, 12.7.1). Which of
// two ways is taken follows from the window, the size of the elements and their address alone, so all who update an
// element take the same one:
//  - elements of 1, 2, 4 and 8 bytes in memory that all ranks of the host map: by a processor's compare-and-swap;
//  - all others: under Control::updating.

#include "core/rma/element.hpp"
#include "core/rma/window.hpp"

namespace weft::core::rma {

// Holds Control::updating.
class Updating {
 public:
  explicit Updating(Control& control);
  ~Updating() { control_.updating.store(0, std::memory_order_release); }
  Updating(const Updating&) = delete;
  Updating& operator=(const Updating&) = delete;

 private:
  Control& control_;
};

struct Update {
  Element element;
  datatype::Reduction reduction;
  datatype::Kernel kernel;
};

// `count` elements at `at`, in our address space: without gaps, or one. `in` and `old` are packed; the old values go to
// `old` unless it is nullptr.
void update(const Target& target, const Update& update, const void* in, char* at, void* old, int64_t count);

// One element: swaps in `value` where it is `compare`; the old value goes to `old`. All packed.
void compare_swap(const Target& target, const Element& element, const void* value, const void* compare, char* at,
                  void* old);

}  // namespace weft::core::rma
