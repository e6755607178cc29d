// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "scheme.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mhd {

static_assert(sizeof(long) == 8 && cell::first_field == field && cell::mass == density);

Scheme::Scheme(const Domain& domain, double gamma, double* scratch)
    : domain_(domain), patch_(domain.patch), gamma_(gamma), scratch_(scratch) {}

Task Scheme::task(const Box& box) const {
  Task t{};
  t.dims = patch_.dims;
  t.first = patch_.at(box.from[0], box.from[1], box.from[2]);
  t.volume = static_cast<long>(patch_.volume);
  t.gamma = gamma_;
  t.scratch = scratch_;
  for (int d = 0; d < 3; ++d) {
    t.count[d] = box.to[d] - box.from[d];
    t.stride[d] = patch_.stride[d];
    t.spacing[d] = domain_.spacing[d];
  }
  return t;
}

// The box that reaches so many cells beyond the own ones; only the first cell counts where z is missing.
Box Scheme::span(int reach) const {
  Box box{};
  for (int d = 0; d < 3; ++d) {
    const int beyond = d < patch_.dims ? reach : 0;
    box.from[d] = -beyond;
    box.to[d] = patch_.n[d] + beyond;
  }
  return box;
}

void Scheme::primitive(const double* state, int ghosts) {
  Task t = task(span(ghosts));
  t.from = state;
  perform(Kernel::primitive, t);
}

// Fluxes through the faces normal to d: of cells `along` beyond the own ones in that direction, and one face more on
// the upper side; `across` beyond them in the others.
void Scheme::fluxes(Kernel order, const double* state, int d, int along, int across) {
  Box box = span(across);
  box.from[d] = -along;
  box.to[d] = patch_.n[d] + along + 1;
  Task t = task(box);
  t.d = d;
  t.from = state;
  perform(order, t);
}

// The electric field on edges along `around`, of cells `reach` beyond the own ones, and one edge more on the upper
// sides.
void Scheme::edges(int around, int reach) {
  Box box = span(reach);
  for (int d = 0; d < 3; ++d) box.to[d] += d != around ? 1 : 0;
  Task t = task(box);
  t.d = around;
  perform(Kernel::edge, t);
}

// to = from - dt times the divergence of the fluxes, and the curl of the electric field: of cells `ghosts` beyond the
// own ones, and the faces around them.
void Scheme::update(double dt, int ghosts, const double* from, double* to) {
  const bool deep = patch_.dims == 3;
  Task t = task(span(ghosts));
  t.dt = dt;
  t.from = from;
  t.to = to;
  // Without z the field along it has no faces: it moves with the fluxes, as the rest does.
  for (t.field = 0; t.field < fields; ++t.field) {
    if (t.field >= field && (t.field != field + 2 || deep)) continue;
    perform(deep ? Kernel::advance_3d : Kernel::advance_2d, t);
  }
  for (t.d = 0; t.d < patch_.dims; ++t.d) {
    ++t.count[t.d];
    perform(deep ? Kernel::face_3d : t.d == 0 ? Kernel::face_x : Kernel::face_y, t);
    --t.count[t.d];
  }
}

void Scheme::advance(double dt, double* state) {
  const int dims = patch_.dims, first_edge = dims == 3 ? 0 : 2;
  double* const half = scratch_ + patch_.volume * Scratch::half;
  // Half a step of own cells and two ghosts.
  primitive(state, 3);
  for (int d = 0; d < dims; ++d) fluxes(Kernel::flux_1, state, d, 2, 3);
  for (int d = first_edge; d < 3; ++d) edges(d, 2);
  update(0.5 * dt, 2, state, half);
  // The step, from the fluxes of its middle.
  primitive(half, 2);
  for (int d = 0; d < dims; ++d) fluxes(Kernel::flux_2, half, d, 0, 1);
  for (int d = first_edge; d < 3; ++d) edges(d, 0);
  update(dt, 0, state, state);
}

double Scheme::longest_step(const double* state) {
  primitive(state, 0);
  return longest(task(span(0)));
}

Measure measure_patch(const Domain& domain, const double* state) {
  const Patch& patch = domain.patch;
  const std::size_t size = patch.volume;
  Measure m;
  m.least = std::numeric_limits<double>::max();
  double cell = 1, smallest = domain.spacing[0];
  for (int d = 0; d < patch.dims; ++d) cell *= domain.spacing[d], smallest = std::min(smallest, domain.spacing[d]);
  for (int k = 0; k < patch.n[2]; ++k) {
    for (int j = 0; j < patch.n[1]; ++j) {
      const std::ptrdiff_t at = patch.at(0, j, k);
      for (std::ptrdiff_t i = at; i < at + patch.n[0]; ++i) {
        const double rho = state[i];
        double momenta = 0, square = 0, divergence = 0;
        for (int d = 0; d < 3; ++d) {
          const double* b = state + size * (field + d) + i;
          const double* m_d = state + size * (momentum + d) + i;
          const double upper = d < patch.dims ? b[patch.stride[d]] : b[0], mean = 0.5 * (b[0] + upper);
          momenta += *m_d * *m_d;
          square += mean * mean;
          if (d < patch.dims) divergence += (upper - b[0]) / domain.spacing[d];
        }
        const double kinetic = 0.5 * momenta / rho, magnetic = 0.5 * square;
        m.kinetic += cell * kinetic;
        m.magnetic += cell * magnetic;
        m.internal += cell * (state[size * energy + i] - kinetic - magnetic);
        m.mass += cell * rho;
        m.divergence = std::max(m.divergence, std::fabs(divergence) * smallest);
        m.least = std::min(m.least, rho);
        m.most = std::max(m.most, rho);
      }
    }
  }
  return m;
}

}  // namespace mhd
