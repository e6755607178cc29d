// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "scheme.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hlld.hpp"

namespace mhd {
namespace {

// Monotonised central difference, without a branch.
inline double slope(double below, double here, double above) {
  const double a = here - below, b = above - here;
  const double same = 0.5 * (std::copysign(1.0, a) + std::copysign(1.0, b));
  const double steep = 2 * (std::fabs(a) < std::fabs(b) ? std::fabs(a) : std::fabs(b)), mean = 0.5 * std::fabs(a + b);
  return same * (steep < mean ? steep : mean);
}

// Half a spacing, or nothing in a cell beside which the pressure jumps: there the reconstruction is of first order.
// With one of second order the blast waves of problem.cpp end with a negative pressure after a few steps.
inline double half_unless_steep(double below, double here, double above) {
  const double low = below < above ? below : above, high = below < above ? above : below;
  const double least = low < here ? low : here, most = high > here ? high : here;
  return most < 5 * least ? 0.5 : 0.0;
}

constexpr int next(int d) {
  return (d + 1) % 3;
}

}  // namespace

Scheme::Scheme(const Domain& domain, double gamma) : domain_(domain), patch_(domain.patch), gamma_(gamma) {
  const std::size_t arrays = fields + fields + 3 * fields + 3 + 3;
  memory_.resize(arrays * patch_.volume);
  double* free = memory_.data();
  const auto take = [&](std::size_t count) {
    double* taken = free;
    free += count * patch_.volume;
    return taken;
  };
  half_ = take(fields);
  for (double*& one : w_) one = take(1);
  for (Fields& direction : flux_) {
    for (double*& one : direction) one = take(1);
  }
  for (double*& one : centre_) one = take(1);
  for (double*& one : edge_) one = take(1);
}

// Calls row(index of its first cell, cells) for each row of a box.
template <class Row>
void Scheme::rows(const Three& from, const Three& to, Row row) const {
  for (int k = from[2]; k < to[2]; ++k) {
    for (int j = from[1]; j < to[1]; ++j) row(patch_.at(from[0], j, k), to[0] - from[0]);
  }
}

// The corner of a box that reaches `value` cells beyond the own ones; only the first cell counts where z is missing.
Three Scheme::span(int value, bool upper) const {
  Three corner{};
  for (int d = 0; d < 3; ++d) {
    const int reach = d < patch_.dims ? value : 0;
    corner[d] = upper ? patch_.n[d] + reach : -reach;
  }
  return corner;
}

void Scheme::primitive(const double* state, int ghosts) {
  const std::size_t size = patch_.volume;
  rows(span(ghosts, false), span(ghosts, true), [&](std::ptrdiff_t at, int count) {
    std::array<const double*, fields> u{};
    std::array<double*, fields> w{};
    for (int f = 0; f < fields; ++f) u[f] = state + size * f + at, w[f] = w_[f] + at;
    const std::ptrdiff_t sy = patch_.stride[1], sz = patch_.dims == 3 ? patch_.stride[2] : 0;
    double *ex = centre_[0] + at, *ey = centre_[1] + at, *ez = centre_[2] + at;
    const double gamma = gamma_;
#pragma omp simd
    for (int i = 0; i < count; ++i) {
      const double rho = u[0][i], inverse = 1 / rho;
      const double x = u[1][i] * inverse, y = u[2][i] * inverse, z = u[3][i] * inverse;
      const double bx = 0.5 * (u[5][i] + u[5][i + 1]), by = 0.5 * (u[6][i] + u[6][i + sy]);
      const double bz = 0.5 * (u[7][i] + u[7][i + sz]);
      w[0][i] = rho;
      w[1][i] = x;
      w[2][i] = y;
      w[3][i] = z;
      w[4][i] = (gamma - 1) * (u[4][i] - 0.5 * rho * (x * x + y * y + z * z) - 0.5 * (bx * bx + by * by + bz * bz));
      w[5][i] = bx;
      w[6][i] = by;
      w[7][i] = bz;
      ex[i] = z * by - y * bz;
      ey[i] = x * bz - z * bx;
      ez[i] = y * bx - x * by;
    }
  });
}

// Fluxes through the faces normal to d: of cells `along` beyond the own ones in that direction, and one face more on
// the upper side; `across` beyond them in the others.
template <Scheme::Order order>
void Scheme::fluxes(const double* state, int d, int along, int across) {
  const int e = next(d), g = next(e);
  Three from = span(across, false), to = span(across, true);
  from[d] = -along;
  to[d] = patch_.n[d] + along + 1;
  const std::ptrdiff_t s = patch_.stride[d];
  const std::array<int, 7> order_of = {0, 1 + d, 1 + e, 1 + g, 4, field + e, field + g};
  rows(from, to, [&](std::ptrdiff_t at, int count) {
    const double* normal = state + patch_.volume * static_cast<std::size_t>(field + d) + at;
    std::array<const double*, 7> w{};
    std::array<double*, 7> out{};
    for (int f = 0; f < 7; ++f) w[f] = w_[order_of[f]] + at, out[f] = flux_[d][order_of[f]] + at;
    const double gamma = gamma_;
#pragma omp simd
    for (int i = 0; i < count; ++i) {
      double half_l = 0, half_r = 0;
      if constexpr (order == Order::second) {
        half_l = half_unless_steep(w[4][i - 2 * s], w[4][i - s], w[4][i]);
        half_r = half_unless_steep(w[4][i - s], w[4][i], w[4][i + s]);
      }
      const auto left = [&](int f) {
        if constexpr (order == Order::first) return w[f][i - s];
        return w[f][i - s] + half_l * slope(w[f][i - 2 * s], w[f][i - s], w[f][i]);
      };
      const auto right = [&](int f) {
        if constexpr (order == Order::first) return w[f][i];
        return w[f][i] - half_r * slope(w[f][i - s], w[f][i], w[f][i + s]);
      };
      const Side l = {left(0), left(1), left(2), left(3), left(4), left(5), left(6)};
      const Side r = {right(0), right(1), right(2), right(3), right(4), right(5), right(6)};
      const Flux f = hlld_flux(gamma, l, r, normal[i]);
      out[0][i] = f.rho;
      out[1][i] = f.u;
      out[2][i] = f.v;
      out[3][i] = f.w;
      out[4][i] = f.energy;
      out[5][i] = f.b;
      out[6][i] = f.c;
    }
  });
}

// The electric field on edges along `around`, of cells `reach` beyond the own ones, and one edge more on the upper
// sides: the mean of the four faces that meet, and of the slopes towards the centres from which the gas comes
// (Gardiner and Stone 2005, equations 41 and 45 to 50).
void Scheme::edges(int around, int reach) {
  const int a = next(around), b = next(a);
  Three from = span(reach, false), to = span(reach, true);
  ++to[a];
  ++to[b];
  const std::ptrdiff_t sa = patch_.stride[a], sb = patch_.stride[b];
  rows(from, to, [&](std::ptrdiff_t at, int count) {
    const double* centre = centre_[around] + at;
    const double *on_a = flux_[a][field + b] + at, *mass_a = flux_[a][density] + at;  // minus the electric field
    const double *on_b = flux_[b][field + a] + at, *mass_b = flux_[b][density] + at;  // the electric field
    double* edge = edge_[around] + at;
    const auto upwind = [](double mass, double lower, double upper) {
      return mass > 0 ? lower : mass < 0 ? upper : 0.5 * (lower + upper);
    };
#pragma omp simd
    for (int i = 0; i < count; ++i) {
      const double b_below = upwind(mass_a[i - sb], on_b[i - sa] - centre[i - sa - sb], on_b[i] - centre[i - sb]);
      const double b_above = upwind(mass_a[i], centre[i - sa] - on_b[i - sa], centre[i] - on_b[i]);
      const double a_below = upwind(mass_b[i - sa], -on_a[i - sb] - centre[i - sa - sb], -on_a[i] - centre[i - sa]);
      const double a_above = upwind(mass_b[i], centre[i - sb] + on_a[i - sb], centre[i] + on_a[i]);
      edge[i] =
          0.25 * ((on_b[i] + on_b[i - sa]) - (on_a[i] + on_a[i - sb]) + (b_below - b_above) + (a_below - a_above));
    }
  });
}

// to = from - dt times the divergence of the fluxes, and the curl of the electric field: of cells `ghosts` beyond the
// own ones, and the faces around them.
void Scheme::update(double dt, int ghosts, const double* from, double* to) {
  const std::size_t size = patch_.volume;
  // Without z the field along it has no faces: it moves with the fluxes, as the rest does.
  for (int f = 0; f < fields; ++f) {
    if (f >= field && (f != field + 2 || patch_.dims == 3)) continue;
    rows(span(ghosts, false), span(ghosts, true), [&](std::ptrdiff_t at, int count) {
      const double* u = from + size * f + at;
      double* v = to + size * f + at;
      const double *x = flux_[0][f] + at, *y = flux_[1][f] + at, *z = flux_[2][f] + at;
      const double rx = dt / domain_.spacing[0], ry = dt / domain_.spacing[1], rz = dt / domain_.spacing[2];
      const std::ptrdiff_t sy = patch_.stride[1], sz = patch_.stride[2];
      if (patch_.dims == 3) {
#pragma omp simd
        for (int i = 0; i < count; ++i)
          v[i] = u[i] - (rx * (x[i + 1] - x[i]) + ry * (y[i + sy] - y[i]) + rz * (z[i + sz] - z[i]));
      } else {
#pragma omp simd
        for (int i = 0; i < count; ++i) v[i] = u[i] - (rx * (x[i + 1] - x[i]) + ry * (y[i + sy] - y[i]));
      }
    });
  }
  for (int d = 0; d < patch_.dims; ++d) {
    const int e = next(d), g = next(e);
    Three low = span(ghosts, false), high = span(ghosts, true);
    ++high[d];
    rows(low, high, [&](std::ptrdiff_t at, int count) {
      const double* u = from + size * (field + d) + at;
      double* v = to + size * (field + d) + at;
      const double *along_e = edge_[e] + at, *along_g = edge_[g] + at;
      const std::ptrdiff_t se = patch_.stride[e], sg = patch_.stride[g];
      // A direction that is missing has no differences.
      const double re = e < patch_.dims ? dt / domain_.spacing[e] : 0,
                   rg = g < patch_.dims ? dt / domain_.spacing[g] : 0;
      if (patch_.dims == 3) {
#pragma omp simd
        for (int i = 0; i < count; ++i)
          v[i] = u[i] - (re * (along_g[i + se] - along_g[i]) - rg * (along_e[i + sg] - along_e[i]));
      } else if (e < patch_.dims) {
#pragma omp simd
        for (int i = 0; i < count; ++i) v[i] = u[i] - re * (along_g[i + se] - along_g[i]);
      } else {
#pragma omp simd
        for (int i = 0; i < count; ++i) v[i] = u[i] + rg * (along_e[i + sg] - along_e[i]);
      }
    });
  }
}

void Scheme::advance(double dt, double* state) {
  const int dims = patch_.dims, first_edge = dims == 3 ? 0 : 2;
  // Half a step of own cells and two ghosts.
  primitive(state, 3);
  for (int d = 0; d < dims; ++d) fluxes<Order::first>(state, d, 2, 3);
  for (int d = first_edge; d < 3; ++d) edges(d, 2);
  update(0.5 * dt, 2, state, half_);
  // The step, from the fluxes of its middle.
  primitive(half_, 2);
  for (int d = 0; d < dims; ++d) fluxes<Order::second>(half_, d, 0, 1);
  for (int d = first_edge; d < 3; ++d) edges(d, 0);
  update(dt, 0, state, state);
}

double Scheme::longest_step(const double* state) {
  primitive(state, 0);
  double longest = std::numeric_limits<double>::max();
  bool sound = true;
  rows(span(0, false), span(0, true), [&](std::ptrdiff_t at, int count) {
    std::array<const double*, fields> w{};
    for (int f = 0; f < fields; ++f) w[f] = w_[f] + at;
    for (int i = 0; i < count; ++i) {
      sound = sound && w[0][i] > 0 && w[4][i] > 0;
      const double square = w[5][i] * w[5][i] + w[6][i] * w[6][i] + w[7][i] * w[7][i];
      for (int d = 0; d < patch_.dims; ++d) {
        const double fast = fast_speed(gamma_, w[0][i], w[4][i], w[field + d][i], square);
        longest = std::min(longest, domain_.spacing[d] / (std::fabs(w[1 + d][i]) + fast));
      }
    }
  });
  return sound ? longest : -1;
}

Measure Scheme::measure(const double* state) const {
  const std::size_t size = patch_.volume;
  Measure m;
  m.least = std::numeric_limits<double>::max();
  double cell = 1, smallest = domain_.spacing[0];
  for (int d = 0; d < patch_.dims; ++d) cell *= domain_.spacing[d], smallest = std::min(smallest, domain_.spacing[d]);
  rows(span(0, false), span(0, true), [&](std::ptrdiff_t at, int count) {
    for (std::ptrdiff_t i = at; i < at + count; ++i) {
      const double rho = state[i];
      double momenta = 0, square = 0, divergence = 0;
      for (int d = 0; d < 3; ++d) {
        const double* b = state + size * (field + d) + i;
        const double* m_d = state + size * (momentum + d) + i;
        const double upper = d < patch_.dims ? b[patch_.stride[d]] : b[0], mean = 0.5 * (b[0] + upper);
        momenta += *m_d * *m_d;
        square += mean * mean;
        if (d < patch_.dims) divergence += (upper - b[0]) / domain_.spacing[d];
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
  });
  return m;
}

}  // namespace mhd
