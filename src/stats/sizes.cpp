// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stats/sizes.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "base/bytes.hpp"

namespace weft::stats {
namespace {

uint64_t least_of(int size_class) {
  return size_class == 0 ? 0 : uint64_t{1} << (size_class - 1);
}

std::string up_to(int size_class) {
  if (size_class == size_classes - 1) return base::shown_bytes(least_of(size_class)) + " and more";
  return base::shown_bytes(size_class == 0 ? 0 : 2 * least_of(size_class) - 1);
}

}  // namespace

std::string size_text(int size_class) {
  if (size_class == 0) return "no data";
  if (size_class == 1) return "1 B";
  if (size_class == size_classes - 1) return up_to(size_class);
  return base::shown_bytes(least_of(size_class)) + " to " + up_to(size_class);
}

int usual_size(const uint64_t (&sizes)[size_classes]) {
  return static_cast<int>(std::max_element(std::begin(sizes), std::end(sizes)) - sizes);
}

std::string sizes_text(const uint64_t (&sizes)[size_classes], uint64_t bytes) {
  const auto is_used = [](uint64_t calls) { return calls > 0; };
  const auto calls = std::accumulate(std::begin(sizes), std::end(sizes), uint64_t{0});
  const int first = static_cast<int>(std::find_if(std::begin(sizes), std::end(sizes), is_used) - sizes);
  const int last = static_cast<int>(std::find_if(std::rbegin(sizes), std::rend(sizes), is_used).base() - sizes) - 1;
  if (first >= last) return base::shown_bytes(calls > 0 ? bytes / calls : bytes);
  const int usual = usual_size(sizes);
  const double share = std::min(1.0, static_cast<double>(sizes[usual]) / static_cast<double>(calls));
  return base::shown_bytes(least_of(first)) + " to " + up_to(last) + " (" + std::to_string(std::lround(100 * share)) +
         " % of the calls " + size_text(usual) + ")";
}

}  // namespace weft::stats
