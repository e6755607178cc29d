// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include "domain.hpp"

namespace mhd {

using Vector = std::array<double, 3>;

// The gas at a point, without its field.
struct Gas {
  double density, pressure;
  Vector velocity;
};

// An initial state. Its field is a uniform one and the curl of a potential, so that it starts without divergence.
struct Problem {
  const char* name;
  const char* about;
  int dims;
  Vector length;  // of the domain
  double gamma;
  double end;      // time
  Three cells_by;  // cells in y and z are cells in x divided by these; 0: one patch
  Gas (*gas)(const Vector& at);
  Vector (*potential)(const Vector& at);
  Vector (*uniform)(const Vector& at);  // may depend on what keeps it free of divergence
};

[[nodiscard]] const std::vector<Problem>& problems();
[[nodiscard]] const Problem* find_problem(const std::string& name);

// Sets the own cells of patch number `index`, and the faces around them.
void set_patch(const Problem& problem, const Domain& domain, int index, double* state);

// Sum over the own cells of the distance to the initial state, of all fields: the loss of a wave that has come back.
[[nodiscard]] double distance(const Problem& problem, const Domain& domain, int index, const double* state);

}  // namespace mhd
