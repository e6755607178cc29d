// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../common/picture.hpp"
#include "domain.hpp"
#include "scheme.hpp"

namespace mhd {

// The patches of this rank, and where the run is.
struct State {
  std::vector<double> cells;  // of each patch in turn: all fields, with ghosts
  int first = 0, count = 0;   // patches of this rank
  int64_t step = 0;
  double time = 0;
  double longest = 0;  // stable step for a Courant number of 1, of all patches

  [[nodiscard]] double* patch(const Domain& domain, int index) {
    return cells.data() + static_cast<std::size_t>(index - first) * fields * domain.patch.volume;
  }
  [[nodiscard]] const double* patch(const Domain& domain, int index) const {
    return cells.data() + static_cast<std::size_t>(index - first) * fields * domain.patch.volume;
  }
};

// The start of a checkpoint, which describes its run. The own cells of patch 0, 1, ... follow, field by
// field, in the byte order of the machine.
struct Head {
  char magic[8];
  char problem[16];
  int32_t dims, patch, counts[3], spare;
  int64_t step;
  double time, longest;
  uint64_t digest;
};
static_assert(sizeof(Head) == 80);

// All functions are collective over MPI_COMM_WORLD and say themselves what went wrong, on rank 0; false then. A file
// with the name keeps its old content until the new one is complete and on the disk.
[[nodiscard]] bool write_checkpoint(const std::string& path, const char* problem, const Domain& domain,
                                    const State& state);
[[nodiscard]] bool read_head(const std::string& path, Head* head);
[[nodiscard]] bool read_checkpoint(const std::string& path, const Head& head, const Domain& domain, State* state);

// For ParaView, VisIt and others: the legacy VTK form, single precision; density, pressure, velocity and field.
[[nodiscard]] bool write_vtk(const std::string& path, double gamma, const Domain& domain, const State& state);
// The density in the middle plane.
[[nodiscard]] bool write_picture(const std::string& path, const Domain& domain, const State& state);
// Returns the density there as numbers, row by row; it is empty on other ranks than 0.
[[nodiscard]] std::vector<float> middle_plane(const Domain& domain, const State& state);

// Small pictures of the density at equal intervals from the start to the end, each at the first step that is not
// earlier. A run that goes on from a checkpoint, or ends before, has fewer.
class Film {
 public:
  static constexpr int pictures = 6;
  void start(double time, double end);
  [[nodiscard]] bool due(double time) const { return next_ < pictures && time >= at(next_); }
  void add(const Domain& domain, const State& state);
  [[nodiscard]] bool write(const std::string& path) const;

 private:
  [[nodiscard]] double at(int picture) const { return end_ * picture / (pictures - 1); }
  double end_ = 0;
  int next_ = 0;
  common::Strip strip_;  // rank 0
};

// A number that depends on every bit of every own cell and on its position, not on ranks, threads or the size of
// patches.
[[nodiscard]] uint64_t digest(const Domain& domain, const State& state);
// The sums over the domain, added in the order of patches; rank 0 has the result.
[[nodiscard]] Measure measure(const Domain& domain, const State& state);

}  // namespace mhd
