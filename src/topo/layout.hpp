// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A placement as text for people: a table of ranks, and a picture of the machine.

#include <string>

#include "topo/machine.hpp"
#include "topo/placement.hpp"

namespace weft::topo {

// Lines that end in newlines, up to 100 columns wide. A pure function.
std::string shown_layout(const Machine& machine, const Placement& placement);

}  // namespace weft::topo
