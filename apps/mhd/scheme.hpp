// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "domain.hpp"
#include "kernels.hpp"

namespace mhd {

// Sums and extremes over the own cells of a patch.
struct Measure {
  double kinetic = 0, magnetic = 0, internal = 0, mass = 0;  // integrals over the patch
  double divergence = 0;                                     // largest |div B| times the spacing of cells
  double least = 0, most = 0;                                // density
};

// Needs own cells only, in memory of the host.
[[nodiscard]] Measure measure_patch(const Domain& domain, const double* state);

// The scheme: MUSCL-Hancock of van Leer made unsplit and divergence free, as J. M. Stone and T. Gardiner, New Astronomy
// 14 (2009) 139: half a step with fluxes of first order, then a step with fluxes of second order from its result; the
// field on faces advances by the electric field on edges (constrained transport, T. Gardiner and J. M. Stone, J.
// Comput. Phys. 205 (2005) 509). One exchange of ghosts serves both halves. One object per thread: it owns scratch
// memory. The derived class performs the kernels, where the patches are.
class Scheme {
 public:
  virtual ~Scheme() = default;
  Scheme(const Scheme&) = delete;
  Scheme& operator=(const Scheme&) = delete;

  // Advances the own cells of a patch, whose ghosts are those of the same time, by dt. It is done with the next call
  // that gives a number, or finish().
  void advance(double dt, double* state);

  // The longest stable step of a patch for a Courant number of 1; not a number, or not positive, for a state that no
  // gas has. Needs own cells only.
  [[nodiscard]] double longest_step(const double* state);

  // Copy the box of all fields to consecutive memory and back, in the order of the calls.
  virtual void pack(const Box& box, const double* state, double* out) = 0;
  virtual void unpack(const Box& box, const double* in, double* state) = 0;
  // Waits for all calls before.
  virtual void finish() {}

 protected:
  enum class Kernel : uint8_t { primitive, flux_1, flux_2, edge, advance_2d, advance_3d, face_x, face_y, face_3d };

  Scheme(const Domain& domain, double gamma, double* scratch);
  [[nodiscard]] Task task(const Box& box) const;
  virtual void perform(Kernel kernel, const Task& task) = 0;
  virtual double longest(const Task& task) = 0;

  const Domain& domain_;
  Patch patch_;
  double gamma_;
  double* scratch_;  // of Scratch::arrays arrays

 private:
  void primitive(const double* state, int ghosts);
  void fluxes(Kernel order, const double* state, int d, int along, int across);
  void edges(int around, int reach);
  void update(double dt, int ghosts, const double* from, double* to);
  [[nodiscard]] Box span(int reach) const;
};

}  // namespace mhd
