// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "hlld.hpp"

// The scheme (scheme.hpp), one cell, face or edge at a time. The processor does rows of them (on_host.cpp), and each
// thread of a device does one (kernels.cu): both have these formulas, and give the same bits. No header of a library
// is included, as there is none for a device.
namespace mhd {

// The work of a kernel, and its place.
struct Task {
  int dims, d;   // d: the normal of faces, the direction of edges
  int field;     // the number of a field, for work on cells
  int count[3];  // a box of cells, from `first` on
  long first;    // in an array of one field
  long stride[3], volume;
  double gamma, dt, spacing[3];
  const double* from;  // a patch, all fields one after the other
  double* to;
  double* scratch;              // arrays as below
  unsigned long long* longest;  // the bits of the longest stable step, if it is for a device
};

// Arrays of the scratch memory.
struct Scratch {
  static constexpr int half = 0;                  // the state after half a step
  static constexpr int centres = 8;               // density, velocity, pressure, field: at centres of cells
  static constexpr int faces = 16;                // 8 for each direction: fluxes through the lower face of each cell
  static constexpr int electric = faces + 3 * 8;  // the electric field at centres
  static constexpr int edges = electric + 3;      // and on the lower edges of each cell
  static constexpr int arrays = edges + 3;
};

#define MHD_INLINE [[gnu::always_inline]] inline

// Kernels: made of a task, then called with the index of a cell.
namespace cell {

constexpr int first_field = 5, mass = 0;  // of the fields of a cell (domain.hpp)

MHD_INLINE int next(int d) {
  return d == 2 ? 0 : d + 1;
}
MHD_INLINE double* array(const Task& t, int number) {
  return t.scratch + t.volume * number;
}
MHD_INLINE const double* old_field(const Task& t, int number) {
  return t.from + t.volume * number;
}
MHD_INLINE double* new_field(const Task& t, int number) {
  return t.to + t.volume * number;
}

// Density, velocity, pressure and field at the centre.
struct Primitive {
  const double* u[8];
  double *w[8], *e[3];
  long sy, sz;
  double gamma;

  MHD_INLINE explicit Primitive(const Task& t) : sy(t.stride[1]), sz(t.dims == 3 ? t.stride[2] : 0), gamma(t.gamma) {
    for (int f = 0; f < 8; ++f) u[f] = old_field(t, f), w[f] = array(t, Scratch::centres + f);
    for (int d = 0; d < 3; ++d) e[d] = array(t, Scratch::electric + d);
  }
  MHD_INLINE void operator()(long i) const {
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
    e[0][i] = z * by - y * bz;
    e[1][i] = x * bz - z * bx;
    e[2][i] = y * bx - x * by;
  }
};

// Monotonised central difference, without a branch.
MHD_INLINE double slope(double below, double here, double above) {
  const double a = here - below, b = above - here;
  const double same = 0.5 * (__builtin_copysign(1.0, a) + __builtin_copysign(1.0, b));
  const double size_a = __builtin_fabs(a), size_b = __builtin_fabs(b);
  const double steep = 2 * (size_a < size_b ? size_a : size_b), mean = 0.5 * __builtin_fabs(a + b);
  return same * (steep < mean ? steep : mean);
}

// Half a spacing, or nothing in a cell beside which the pressure jumps: there the reconstruction is of first order.
// With one of second order the blast waves of problem.cpp end with a negative pressure after a few steps.
MHD_INLINE double half_unless_steep(double below, double here, double above) {
  const double low = below < above ? below : above, high = below < above ? above : below;
  const double least = low < here ? low : here, most = high > here ? high : here;
  return most < 5 * least ? 0.5 : 0.0;
}

// The fluxes through the lower face normal to d.
template <int order>
struct Fluxes {
  const double* w[7];  // density, velocity and pressure, then the field across, in the frame of the face
  double* out[7];
  const double* normal;
  long s;
  double gamma;

  MHD_INLINE explicit Fluxes(const Task& t)
      : normal(old_field(t, first_field + t.d)), s(t.stride[t.d]), gamma(t.gamma) {
    const int d = t.d, e = next(d), g = next(e);
    const int frame[7] = {0, 1 + d, 1 + e, 1 + g, 4, first_field + e, first_field + g};
    for (int f = 0; f < 7; ++f) {
      w[f] = array(t, Scratch::centres + frame[f]);
      out[f] = array(t, Scratch::faces + 8 * d + frame[f]);
    }
  }
  MHD_INLINE void operator()(long i) const {
    double half_l = 0, half_r = 0;
    if constexpr (order == 2) {
      half_l = half_unless_steep(w[4][i - 2 * s], w[4][i - s], w[4][i]);
      half_r = half_unless_steep(w[4][i - s], w[4][i], w[4][i + s]);
    }
    const auto left = [&](int f) {
      if constexpr (order == 1) return w[f][i - s];
      return w[f][i - s] + half_l * slope(w[f][i - 2 * s], w[f][i - s], w[f][i]);
    };
    const auto right = [&](int f) {
      if constexpr (order == 1) return w[f][i];
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
};

// The electric field on the edge along d: the mean of the four faces around it, and of the slopes towards the centres
// from which the gas comes (Gardiner and Stone 2005, equations 41 and 45 to 50).
struct Edge {
  const double *centre, *mass_a, *mass_b;
  const double *on_a, *on_b;  // minus the electric field; the electric field
  double* edge;
  long sa, sb;

  MHD_INLINE explicit Edge(const Task& t) {
    const int a = next(t.d), b = next(a), face_a = Scratch::faces + 8 * a, face_b = Scratch::faces + 8 * b;
    centre = array(t, Scratch::electric + t.d);
    mass_a = array(t, face_a + mass);
    mass_b = array(t, face_b + mass);
    on_a = array(t, face_a + first_field + b);
    on_b = array(t, face_b + first_field + a);
    edge = array(t, Scratch::edges + t.d);
    sa = t.stride[a];
    sb = t.stride[b];
  }
  MHD_INLINE void operator()(long i) const {
    const double b_below = upwind(mass_a[i - sb], on_b[i - sa] - centre[i - sa - sb], on_b[i] - centre[i - sb]);
    const double b_above = upwind(mass_a[i], centre[i - sa] - on_b[i - sa], centre[i] - on_b[i]);
    const double a_below = upwind(mass_b[i - sa], -on_a[i - sb] - centre[i - sa - sb], -on_a[i] - centre[i - sa]);
    const double a_above = upwind(mass_b[i], centre[i - sb] + on_a[i - sb], centre[i] + on_a[i]);
    edge[i] = 0.25 * ((on_b[i] + on_b[i - sa]) - (on_a[i] + on_a[i - sb]) + (b_below - b_above) + (a_below - a_above));
  }
  MHD_INLINE static double upwind(double of_mass, double lower, double upper) {
    return of_mass > 0 ? lower : of_mass < 0 ? upper : 0.5 * (lower + upper);
  }
};

// A field of the cell, less dt times the divergence of its flux.
template <int dims>
struct Advance {
  const double *u, *x, *y, *z;
  double* v;
  double rx, ry, rz;
  long sy, sz;

  MHD_INLINE explicit Advance(const Task& t)
      : u(old_field(t, t.field)),
        x(array(t, Scratch::faces + t.field)),
        y(array(t, Scratch::faces + 8 + t.field)),
        z(array(t, Scratch::faces + 16 + t.field)),
        v(new_field(t, t.field)),
        rx(t.dt / t.spacing[0]),
        ry(t.dt / t.spacing[1]),
        rz(t.dt / t.spacing[2]),
        sy(t.stride[1]),
        sz(t.stride[2]) {}
  MHD_INLINE void operator()(long i) const {
    if constexpr (dims == 3) {
      v[i] = u[i] - (rx * (x[i + 1] - x[i]) + ry * (y[i + sy] - y[i]) + rz * (z[i + sz] - z[i]));
    } else {
      v[i] = u[i] - (rx * (x[i + 1] - x[i]) + ry * (y[i + sy] - y[i]));
    }
  }
};

// The field on the face normal to d, less dt times the curl of the electric field. In two dimensions z has no
// differences.
template <int dims, int normal>
struct Face {
  const double *u, *along_e, *along_g;
  double* v;
  double re, rg;
  long se, sg;

  MHD_INLINE explicit Face(const Task& t) : u(old_field(t, first_field + t.d)), v(new_field(t, first_field + t.d)) {
    const int e = next(t.d), g = next(e);
    along_e = array(t, Scratch::edges + e);
    along_g = array(t, Scratch::edges + g);
    re = t.dt / t.spacing[e];
    rg = t.dt / t.spacing[g];
    se = t.stride[e];
    sg = t.stride[g];
  }
  MHD_INLINE void operator()(long i) const {
    if constexpr (dims == 3) {
      v[i] = u[i] - (re * (along_g[i + se] - along_g[i]) - rg * (along_e[i + sg] - along_e[i]));
    } else if constexpr (normal == 0) {
      v[i] = u[i] - re * (along_g[i + se] - along_g[i]);
    } else {
      v[i] = u[i] + rg * (along_e[i + sg] - along_e[i]);
    }
  }
};

// The longest stable step of the cell; 0: no gas has this state.
MHD_INLINE double longest(const Task& t, long i) {
  const auto w = [&](int f) { return array(t, Scratch::centres + f)[i]; };
  const double square = w(5) * w(5) + w(6) * w(6) + w(7) * w(7);
  double shortest = 1e300;
  for (int d = 0; d < t.dims; ++d) {
    const double fast = fast_speed(t.gamma, w(0), w(4), w(first_field + d), square);
    const double step = t.spacing[d] / (__builtin_fabs(w(1 + d)) + fast);
    shortest = step < shortest ? step : shortest;
  }
  return w(0) > 0 && w(4) > 0 ? shortest : 0.0;
}

}  // namespace cell
}  // namespace mhd
