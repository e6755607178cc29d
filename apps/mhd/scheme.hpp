// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "domain.hpp"

namespace mhd {

// Sums and extremes over the own cells of a patch.
struct Measure {
  double kinetic = 0, magnetic = 0, internal = 0, mass = 0;  // integrals over the patch
  double divergence = 0;                                     // largest |div B| times the spacing of cells
  double least = 0, most = 0;                                // density
};

// The scheme: MUSCL-Hancock of van Leer made unsplit and divergence free, as J. M. Stone and T. Gardiner, New Astronomy
// 14 (2009) 139: half a step with fluxes of first order, then a step with fluxes of second order from its result; the
// field on faces advances by the electric field on edges (constrained transport, T. Gardiner and J. M. Stone, J.
// Comput. Phys. 205 (2005) 509). One exchange of ghosts serves both halves. One object per thread: it owns scratch
// memory.
class Scheme {
 public:
  Scheme(const Domain& domain, double gamma);
  Scheme(Scheme&&) = default;  // a copy would point into the memory of the other

  // Advances the own cells of a patch, whose ghosts are those of the same time, by dt.
  void advance(double dt, double* state);

  // The longest stable step of a patch for a Courant number of 1; not a number, or not positive, for a state that no
  // gas has. Needs own cells only, and so do the measures.
  [[nodiscard]] double longest_step(const double* state);
  [[nodiscard]] Measure measure(const double* state) const;

 private:
  using Fields = std::array<double*, fields>;
  enum class Order : uint8_t { first, second };

  void primitive(const double* state, int ghosts);
  template <Order order>
  void fluxes(const double* state, int d, int along, int across);
  void edges(int around, int from);
  void update(double dt, int ghosts, const double* from, double* to);
  template <class Row>
  void rows(const Three& from, const Three& to, Row row) const;
  [[nodiscard]] Three span(int value, bool upper) const;

  const Domain& domain_;
  Patch patch_;
  double gamma_;
  std::vector<double> memory_;
  double* half_;                          // the state after half a step
  Fields w_;                              // density, velocity, pressure, field: at centres of cells
  std::array<Fields, 3> flux_;            // through the lower face of each cell
  std::array<double*, 3> centre_, edge_;  // the electric field at centres, and on the lower edges of each cell
};

}  // namespace mhd
