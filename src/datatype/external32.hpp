// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The portable representation "external32" (MPI-5.0, 14.5.2): big-endian, no gaps, sizes that do not depend on the
// machine. Both sides of a conversion are packed bytes of any alignment.

#include "datatype/type.hpp"

namespace weft::datatype {

enum class Conversion : uint8_t {
  swap,             // the same bytes in the other order
  boolean,          // one byte; any other value than false becomes 1 on the way back
  signed_narrow,    // fewer bytes outside
  unsigned_narrow,  // fewer bytes outside
  extended,         // the x87 format of 80 bits here, IEEE binary128 outside
};

// One value in memory and outside.
struct ValueForm {
  int8_t native = 0;
  int8_t external = 0;
  Conversion conversion = Conversion::swap;
  bool operator==(const ValueForm&) const = default;
};

// A basic element: a value, or two of them (complex numbers, pairs for MINLOC).
struct External32 {
  ValueForm first;
  ValueForm second;  // native 0: there is none

  int64_t native_size() const { return first.native + second.native; }
  int64_t external_size() const { return first.external + second.external; }
};

// `c_long`: the basic is a C long, of 4 bytes outside, and not another integer of its size.
[[nodiscard]] External32 external32_of(Basic basic, bool c_long);

// Converts `count` basic elements. False: a value has no external form (a long beyond 4 bytes, a wide character beyond
// 2); bytes before it may be written.
[[nodiscard]] bool to_external32(const External32& form, const char* native, char* external, int64_t count);
void from_external32(const External32& form, const char* external, char* native, int64_t count);

}  // namespace weft::datatype
