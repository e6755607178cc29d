// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/grid_find.hpp"

#include <algorithm>
#include <cstdlib>

namespace weft::tool {
namespace {

constexpr size_t most_active = 4;       // dimensions
constexpr size_t most_candidates = 64;  // differences that are looked at
constexpr double wide = 0.4;  // of all ranks have a difference that may be a dimension: half of them for a side of 2
constexpr double most_misfits = 0.05;    // of the ranks
constexpr double least_share = 0.5;      // of the bytes goes to neighbours in a grid
constexpr double noise_factor = 3;       // a dimension's links carry so many times those of what fits nowhere
constexpr double strong_part = 1.0 / 8;  // of a dimension's usual bytes, as ranks have parts of different sizes

// It sums up all pairs of ranks with the same difference.
struct Difference {
  int32_t stride = 0;
  int32_t pairs = 0;
  double bytes = 0;
};

// A dimension among the ranks.
struct Axis {
  int32_t stride = 1;
  int32_t side = 1;
  bool periodic = false;
  double weight = 0;

  [[nodiscard]] int32_t reach() const { return stride * side; }
  [[nodiscard]] int32_t coordinate(int32_t rank) const { return rank / stride % side; }
};

std::vector<Difference> differences_of(const Traffic& traffic) {
  std::vector<Difference> all(static_cast<size_t>(traffic.ranks));
  for (int32_t r = 0; r < traffic.ranks; ++r) {
    for (const Link& link : traffic.of(r)) {
      if (link.to < r) continue;
      Difference& d = all[static_cast<size_t>(link.to - r)];
      d.stride = link.to - r;
      ++d.pairs;
      d.bytes += static_cast<double>(link.bytes);
    }
  }
  std::erase_if(all, [&](const Difference& d) { return d.pairs < wide * traffic.ranks; });
  std::stable_sort(all.begin(), all.end(), [](const Difference& a, const Difference& b) { return a.bytes > b.bytes; });
  if (all.size() > most_candidates) all.resize(most_candidates);
  return all;
}

// Bytes from each rank to the one `distance` above it.
std::vector<double> along(const Traffic& traffic, int32_t distance) {
  std::vector<double> bytes(static_cast<size_t>(traffic.ranks));
  for (int32_t r = 0; r + distance < traffic.ranks; ++r) {
    bytes[static_cast<size_t>(r)] = static_cast<double>(traffic.between(r, r + distance));
  }
  return bytes;
}

// Whether the last of a dimension talk to the first ones.
bool wraps(const Traffic& traffic, const Axis& axis, double strong) {
  if (axis.side < 3) return false;
  const int32_t distance = axis.stride * (axis.side - 1);
  int32_t rows = 0;
  int32_t closed = 0;
  for (int32_t r = 0; r + distance < traffic.ranks; ++r) {
    if (axis.coordinate(r) != 0) continue;
    ++rows;
    if (static_cast<double>(traffic.between(r, r + distance)) >= strong) ++closed;
  }
  return closed >= (1 - 2 * most_misfits) * rows;
}

// The side that the ranks without the difference tell. False: none fits.
bool fit(const Traffic& traffic, int32_t stride, Axis& axis) {
  const int32_t size = traffic.ranks;
  if (size % stride != 0) return false;
  const std::vector<double> bytes = along(traffic, stride);
  // At least half of the ranks have a neighbour: three quarters up is one of their values.
  std::vector<double> sorted = bytes;
  const auto usual = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() - 1 - sorted.size() / 4);
  std::nth_element(sorted.begin(), usual, sorted.end());
  const double strong = *usual * strong_part;
  if (strong <= 0) return false;
  int64_t fewest = -1;
  for (int32_t side = 2; side <= size / stride; ++side) {
    if (size / stride % side != 0) continue;
    const Axis tried{.stride = stride, .side = side};
    int64_t misfits = 0;
    for (int32_t r = 0; r < size; ++r) {
      const bool has = bytes[static_cast<size_t>(r)] >= strong;
      if (has != (tried.coordinate(r) + 1 < side)) ++misfits;
    }
    if (fewest >= 0 && misfits > fewest) continue;
    fewest = misfits;
    axis = tried;
  }
  if (fewest < 0 || static_cast<double>(fewest) > most_misfits * size) return false;
  axis.periodic = wraps(traffic, axis, strong);
  double sum = 0;
  for (const double b : bytes) sum += b;
  axis.weight = sum / (static_cast<double>(size) / axis.side * (axis.side - 1));
  return true;
}

// Whether the strides of one lie inside the other's.
bool fits_together(const Axis& a, const Axis& b) {
  const Axis& low = a.stride < b.stride ? a : b;
  const Axis& high = a.stride < b.stride ? b : a;
  return high.stride % low.reach() == 0;
}

// How many coordinates of two ranks differ by one step; -1: they are no neighbours.
int steps_between(const std::vector<Axis>& axes, int32_t a, int32_t b) {
  int steps = 0;
  int32_t left = b - a;
  for (const Axis& axis : axes) {
    const int32_t step = axis.coordinate(b) - axis.coordinate(a);
    if (step == 0) continue;
    if (abs(step) != 1 && !(axis.periodic && abs(step) == axis.side - 1)) return -1;
    ++steps;
    left -= step * axis.stride;
  }
  return left == 0 ? steps : -1;  // else they differ in a silent dimension
}

// The most bytes that a pair has, on average, of a difference that no neighbours have.
double noise_of(const Traffic& traffic, const std::vector<Axis>& axes, const std::vector<Difference>& all) {
  double most = 0;
  for (const Difference& d : all) {
    bool explained = false;  // by some of the pairs
    for (int32_t r = 0; r + d.stride < traffic.ranks && !explained; ++r) {
      explained = steps_between(axes, r, r + d.stride) >= 0;
    }
    if (!explained) most = std::max(most, d.bytes / d.pairs);
  }
  return most;
}

void add_dimensions(const std::vector<Axis>& axes, int32_t ranks, std::vector<Dimension>& dimensions) {
  int32_t stride = 1;
  const auto add_silent = [&](int32_t until) {
    if (until > stride) dimensions.push_back({.side = until / stride, .silent = true});
  };
  for (const Axis& axis : axes) {
    add_silent(axis.stride);
    dimensions.push_back({.side = axis.side, .periodic = axis.periodic, .weight = axis.weight});
    stride = axis.reach();
  }
  add_silent(ranks);
  std::reverse(dimensions.begin(), dimensions.end());
}

}  // namespace

FoundGrid find_grid(const Traffic& traffic) {
  FoundGrid grid;
  const std::vector<Difference> all = differences_of(traffic);
  std::vector<Axis> axes;  // by falling bytes, then by stride
  for (const Difference& d : all) {
    Axis axis;
    if (!fit(traffic, d.stride, axis)) continue;
    const bool fits =
        std::all_of(axes.begin(), axes.end(), [&](const Axis& other) { return fits_together(axis, other); });
    if (fits && axes.size() < most_active) axes.push_back(axis);
  }
  std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.stride < b.stride; });
  const double noise = noise_of(traffic, axes, all);
  std::erase_if(axes, [&](const Axis& axis) { return axis.weight < noise_factor * noise; });
  if (axes.empty() || traffic.bytes == 0) return grid;
  double near[2] = {};  // along one dimension, along several
  for (int32_t r = 0; r < traffic.ranks; ++r) {
    for (const Link& link : traffic.of(r)) {
      const int steps = link.to > r ? steps_between(axes, r, link.to) : -1;
      if (steps > 0) near[steps > 1 ? 1 : 0] += static_cast<double>(link.bytes);
    }
  }
  grid.neighbours = near[0] / static_cast<double>(traffic.bytes);
  grid.diagonal = near[1] / static_cast<double>(traffic.bytes);
  if (grid.neighbours + grid.diagonal >= least_share) add_dimensions(axes, traffic.ranks, grid.dimensions);
  return grid;
}

}  // namespace weft::tool
