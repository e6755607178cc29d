// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How two elements become one: a predefined kernel or a user's function, behind one pointer. A class derived from
// Reducer passes more to its function.

#include "datatype/reduce.hpp"

namespace weft::coll {

using datatype::Type;

struct Reducer {
  // inout[i] = in[i] op inout[i]
  void (*function)(const Reducer& self, const void* in, void* inout, int64_t count) = nullptr;
  Type* type = nullptr;  // of the elements
  bool commutative = true;
  // Elements are combined along one tree over the ranks, whatever the algorithm and the hosts, so that floating-point
  // numbers come out the same; not commutative then.
  bool fixed = false;
  datatype::Reduction reduction = datatype::Reduction::no_op;  // an operation of the standard; no_op: another function

  void apply(const void* in, void* inout, int64_t count) const {
    if (count > 0) function(*this, in, inout, count);
  }
};

}  // namespace weft::coll
