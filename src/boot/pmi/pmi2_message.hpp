// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A message of the PMI-2 protocol: "cmd=kvs-get-response;found=TRUE;value=abc;rc=0;", in front of it its length as a
// number in six characters.

#include <string>

#include "boot/pmi/fields.hpp"

namespace weft::boot {

class Pmi2Message : public PmiFields {
 public:
  static constexpr size_t length_size = 6;

  // Splits `text` (without its length), which must outlive this. A semicolon in a value is doubled, and stays so.
  // False: not a message of this protocol.
  [[nodiscard]] bool parse(std::string_view text);

  // The length that the six characters tell, from 1 to `longest`; -1: they tell none.
  static int length_of(std::string_view characters);
  // `text` with its length in front.
  static std::string framed(std::string_view text);
};

}  // namespace weft::boot
