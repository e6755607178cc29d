// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "problem.hpp"

#include <cmath>
#include <numbers>

namespace mhd {
namespace {

constexpr double pi = std::numbers::pi;
const double root5 = std::sqrt(5.0);

Vector none(const Vector& /*at*/) {
  return {0, 0, 0};
}

// S. Orszag and C. Tang, J. Fluid Mech. 90 (1979) 129, in the form that most codes use.
Gas vortex_gas(const Vector& at) {
  return {25 / (36 * pi), 5 / (12 * pi), {-std::sin(2 * pi * at[1]), std::sin(2 * pi * at[0]), 0}};
}
Vector vortex_potential(const Vector& at) {
  const double b = 1 / std::sqrt(4 * pi);
  return {0, 0, b / (4 * pi) * std::cos(4 * pi * at[0]) + b / (2 * pi) * std::cos(2 * pi * at[1])};
}

// A circularly polarised Alfven wave that crosses the grid aslant (Gardiner and Stone 2005, section 3.3.1, and J.
// Comput. Phys. 227 (2008) 4123, section 4.6): a solution of the equations, home again at time 1.
struct Frame {
  Vector along, one, two;
};
constexpr double amplitude = 0.1;

double phase(const Frame& f, const Vector& at) {
  return 2 * pi * (f.along[0] * at[0] + f.along[1] * at[1] + f.along[2] * at[2]);
}
Gas wave_gas(const Frame& f, const Vector& at) {
  const double x = phase(f, at);
  Gas gas = {1, 0.1, {}};
  for (int d = 0; d < 3; ++d) gas.velocity[d] = -amplitude * (std::sin(x) * f.one[d] + std::cos(x) * f.two[d]);
  return gas;
}
Vector wave_potential(const Frame& f, const Vector& at) {
  const double x = phase(f, at);
  Vector a{};
  for (int d = 0; d < 3; ++d) a[d] = amplitude / (2 * pi) * (std::sin(x) * f.one[d] + std::cos(x) * f.two[d]);
  return a;
}
const Frame flat = {{1 / root5, 2 / root5, 0}, {-2 / root5, 1 / root5, 0}, {0, 0, 1}};
const Frame deep = {
    {1 / 3., 2 / 3., 2 / 3.}, {-2 / root5, 1 / root5, 0}, {-2 / (3 * root5), -4 / (3 * root5), root5 / 3}};

// M. Brio and C. Wu, J. Comput. Phys. 75 (1988) 400, at x = 0.5, and its mirror image at 1.5: so the domain is
// periodic.
bool inside(const Vector& at) {
  return at[0] > 0.5 && at[0] < 1.5;
}
Gas tube_gas(const Vector& at) {
  return {inside(at) ? 0.125 : 1.0, inside(at) ? 0.1 : 1.0, {0, 0, 0}};
}
Vector tube_field(const Vector& at) {
  return {0.75, inside(at) ? -1.0 : 1.0, 0};
}

// A hot ball in a magnetised gas (Stone and others, Astrophys. J. Suppl. 178 (2008) 137, section 8.5).
Gas blast_gas(double distance) {
  return {1, distance < 0.1 ? 10.0 : 0.1, {0, 0, 0}};
}
Vector blast_field(const Vector& /*at*/) {
  return {std::sqrt(0.5), std::sqrt(0.5), 0};
}

template <class Set>
void cells_of(const Domain& domain, int upper, Set set) {
  const Patch& p = domain.patch;
  for (int k = 0; k < p.n[2] + (p.dims == 3 ? upper : 0); ++k) {
    for (int j = 0; j < p.n[1] + upper; ++j) {
      for (int i = 0; i < p.n[0] + upper; ++i) set(i, j, k);
    }
  }
}

}  // namespace

const std::vector<Problem>& problems() {
  static const std::vector<Problem> all = {
      {"orszag-tang",
       "the vortex of Orszag and Tang, 2-D",
       2,
       {1, 1, 1},
       5 / 3.,
       0.5,
       {1, 1, 1},
       vortex_gas,
       vortex_potential,
       none},
      {"alfven",
       "a circularly polarised Alfven wave, 2-D, home at time 1",
       2,
       {root5, root5 / 2, 1},
       5 / 3.,
       1,
       {1, 2, 1},
       [](const Vector& at) { return wave_gas(flat, at); },
       [](const Vector& at) { return wave_potential(flat, at); },
       [](const Vector&) { return flat.along; }},
      {"alfven3",
       "the same, 3-D",
       3,
       {3, 1.5, 1.5},
       5 / 3.,
       1,
       {1, 2, 2},
       [](const Vector& at) { return wave_gas(deep, at); },
       [](const Vector& at) { return wave_potential(deep, at); },
       [](const Vector&) { return deep.along; }},
      {"brio-wu",
       "the shock tube of Brio and Wu with its mirror image",
       2,
       {2, 1, 1},
       2,
       0.1,
       {1, 0, 1},
       tube_gas,
       none,
       tube_field},
      {"blast",
       "a blast wave in a magnetised gas, 2-D",
       2,
       {1, 1, 1},
       5 / 3.,
       0.2,
       {1, 1, 1},
       [](const Vector& at) { return blast_gas(std::hypot(at[0] - 0.5, at[1] - 0.5)); },
       none,
       blast_field},
      {"blast3",
       "the same, 3-D",
       3,
       {1, 1, 1},
       5 / 3.,
       0.2,
       {1, 1, 1},
       [](const Vector& at) { return blast_gas(std::hypot(at[0] - 0.5, at[1] - 0.5, at[2] - 0.5)); },
       none,
       blast_field},
  };
  return all;
}

const Problem* find_problem(const std::string& name) {
  for (const Problem& problem : problems()) {
    if (name == problem.name) return &problem;
  }
  return nullptr;
}

void set_patch(const Problem& problem, const Domain& domain, int index, double* state) {
  const Patch& p = domain.patch;
  const Three where = domain.position(index);
  // A point of cell (i, j, k), in halves of the spacing from its lower corner. From whole numbers, and wrapped: two
  // patches compute the same for a face that they share, to the last bit.
  const auto point = [&](int i, int j, int k, const Three& halves) {
    const Three cell = {i, j, k};
    Vector at{};
    for (int d = 0; d < 3; ++d) {
      const int global = 2 * (where[d] * p.n[d] + cell[d]) + halves[d];
      at[d] = 0.5 * domain.spacing[d] * (global % (2 * domain.cells(d)));
    }
    return at;
  };
  cells_of(domain, 1, [&](int i, int j, int k) {
    for (int d = 0; d < 3; ++d) {
      const int e = (d + 1) % 3, g = (d + 2) % 3;
      // The curl over the face: the potential along each edge, at the middle of the edge.
      const auto potential = [&](int along, int shifted, int shift) {
        Three halves = {0, 0, 0};
        halves[along] = 1;
        halves[shifted] += 2 * shift;
        if (d >= p.dims) halves[d] = 1;
        return problem.potential(point(i, j, k, halves))[along];
      };
      double curl = 0;
      if (e < p.dims) curl += (potential(g, e, 1) - potential(g, e, 0)) / domain.spacing[e];
      if (g < p.dims) curl -= (potential(e, g, 1) - potential(e, g, 0)) / domain.spacing[g];
      Three middle = {1, 1, 1};
      if (d < p.dims) middle[d] = 0;
      state[p.volume * static_cast<std::size_t>(field + d) + p.at(i, j, k)] =
          problem.uniform(point(i, j, k, middle))[d] + curl;
    }
  });
  cells_of(domain, 0, [&](int i, int j, int k) {
    const Gas gas = problem.gas(point(i, j, k, {1, 1, 1}));
    const std::ptrdiff_t at = p.at(i, j, k);
    state[at] = gas.density;
    double twice = 0;
    for (int d = 0; d < 3; ++d) {
      const double* b = state + p.volume * static_cast<std::size_t>(field + d) + at;
      const double mean = d < p.dims ? 0.5 * (b[0] + b[p.stride[d]]) : b[0];
      twice += gas.density * gas.velocity[d] * gas.velocity[d] + mean * mean;
      state[p.volume * static_cast<std::size_t>(momentum + d) + at] = gas.density * gas.velocity[d];
    }
    state[p.volume * energy + at] = gas.pressure / (problem.gamma - 1) + 0.5 * twice;
  });
}

double distance(const Problem& problem, const Domain& domain, int index, const double* state) {
  const Patch& p = domain.patch;
  std::vector<double> start(p.volume * fields);
  set_patch(problem, domain, index, start.data());
  double sum = 0;
  for (std::size_t f = 0; f < fields; ++f) {
    cells_of(domain, 0, [&](int i, int j, int k) {
      const std::size_t at = p.volume * f + static_cast<std::size_t>(p.at(i, j, k));
      sum += std::fabs(state[at] - start[at]);
    });
  }
  return sum;
}

}  // namespace mhd
