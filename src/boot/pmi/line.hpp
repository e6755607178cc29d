// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A line of the PMI-1 protocol: "cmd=get_result rc=0 value=abc".

#include "boot/pmi/fields.hpp"

namespace weft::boot {

class PmiLine : public PmiFields {
 public:
  // Splits `line` (without its newline), which must outlive this. False: not a line of this protocol.
  [[nodiscard]] bool parse(std::string_view line);
};

}  // namespace weft::boot
