// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The sizes of the calls of a kind, counted by classes, in words.

#include <string>

#include "stats/area.hpp"

namespace weft::stats {

// "4.0 KiB to 8.0 KiB"
[[nodiscard]] std::string size_text(int size_class);

// The class that most calls are of.
[[nodiscard]] int usual_size(const uint64_t (&sizes)[size_classes]);

// The sizes of calls with so many bytes in all: "40.0 KiB", the mean, where all are of one class; otherwise from the
// least to the largest, with the class of most: "0 B to 64.0 KiB (62 % of the calls 4.0 KiB to 8.0 KiB)".
[[nodiscard]] std::string sizes_text(const uint64_t (&sizes)[size_classes], uint64_t bytes);

}  // namespace weft::stats
