// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The HLLD Riemann solver: T. Miyoshi and K. Kusano, J. Comput. Phys. 208 (2005) 315; numbers in brackets are its
// equations. All choices are selections and not branches, and all is
// inlined, so that loops over faces become vector code. Functions of mathematics are builtins of the compiler: for a
// device there is no library.
namespace mhd {

// One side of a face, in the frame of the face: u along its normal, v and w across, likewise the field b and c.
struct Side {
  double rho, u, v, w, p, b, c;
};

struct Flux {
  double rho, u, v, w, energy, b, c;
};

// Speed of the fast magnetosonic wave along a direction: [3].
[[gnu::always_inline]] inline double fast_speed(double gamma, double rho, double p, double normal, double square) {
  const double sound = gamma * p, sum = sound + square;
  const double below = sum * sum - 4 * sound * normal * normal, root = __builtin_sqrt(below > 0 ? below : 0.0);
  return __builtin_sqrt(0.5 * (sum + root) / rho);
}

namespace hlld {

// A side with what follows from it, and its state between the outer wave and the Alfven wave (star).
struct Fan {
  double energy, total, speed;           // total pressure; speed of the outer wave
  double rho, v, w, b, c, root, star_e;  // star: density and its root, transverse velocity and field, energy
};

[[gnu::always_inline]] inline Fan begin(double gamma, const Side& s, double normal, double speed) {
  Fan f{};
  const double magnetic = 0.5 * (normal * normal + s.b * s.b + s.c * s.c);
  f.total = s.p + magnetic;
  f.energy = s.p / (gamma - 1) + 0.5 * s.rho * (s.u * s.u + s.v * s.v + s.w * s.w) + magnetic;
  f.speed = speed;
  return f;
}

// [43] to [48]; `middle` is the speed of the contact, `pressure` the total pressure beside it [41].
[[gnu::always_inline]] inline void star(const Side& s, double normal, double middle, double pressure, Fan* f) {
  const double away = f->speed - s.u, mass = s.rho * away, gap = f->speed - middle;
  f->rho = mass / gap;
  f->root = __builtin_sqrt(f->rho);
  const double denominator = mass * gap - normal * normal;
  // Where the outer wave is an Alfven wave the formulas are 0 / 0, and nothing changes across it.
  const bool degenerate = __builtin_fabs(denominator) < 1e-8 * pressure;
  const double safe = degenerate ? 1.0 : denominator;
  const double push = degenerate ? 0.0 : normal * (middle - s.u) / safe;
  const double grow = degenerate ? 1.0 : (mass * away - normal * normal) / safe;
  f->v = s.v - push * s.b;
  f->w = s.w - push * s.c;
  f->b = s.b * grow;
  f->c = s.c * grow;
  const double before = s.u * normal + s.v * s.b + s.w * s.c;
  const double after = middle * normal + f->v * f->b + f->w * f->c;
  f->star_e = (away * f->energy - f->total * s.u + pressure * middle + normal * (before - after)) / gap;
}

}  // namespace hlld

[[gnu::always_inline]] inline Flux hlld_flux(double gamma, const Side& left, const Side& right, double normal) {
  const double n2 = normal * normal;
  const double fast_l = fast_speed(gamma, left.rho, left.p, normal, n2 + left.b * left.b + left.c * left.c);
  const double fast_r = fast_speed(gamma, right.rho, right.p, normal, n2 + right.b * right.b + right.c * right.c);
  const double fast = fast_l > fast_r ? fast_l : fast_r;
  hlld::Fan l = hlld::begin(gamma, left, normal, (left.u < right.u ? left.u : right.u) - fast);  // [67]
  hlld::Fan r = hlld::begin(gamma, right, normal, (left.u > right.u ? left.u : right.u) + fast);
  const double mass_l = left.rho * (l.speed - left.u), mass_r = right.rho * (r.speed - right.u);
  const double sum = mass_r - mass_l;
  const double middle = (mass_r * right.u - mass_l * left.u - r.total + l.total) / sum;                        // [38]
  const double pressure = (mass_r * l.total - mass_l * r.total + mass_l * mass_r * (right.u - left.u)) / sum;  // [41]
  hlld::star(left, normal, middle, pressure, &l);
  hlld::star(right, normal, middle, pressure, &r);

  // Between the Alfven waves (two stars): [59] to [63].
  const double sign = __builtin_copysign(1.0, normal), roots = l.root + r.root, both = l.root * r.root;
  const double v = (l.root * l.v + r.root * r.v + (r.b - l.b) * sign) / roots;
  const double w = (l.root * l.w + r.root * r.w + (r.c - l.c) * sign) / roots;
  const double b = (l.root * r.b + r.root * l.b + both * (r.v - l.v) * sign) / roots;
  const double c = (l.root * r.c + r.root * l.c + both * (r.w - l.w) * sign) / roots;

  // The side in which the face lies, then how many of its waves lie between it and the face: [66].
  const bool is_left = middle >= 0;
  const auto pick = [is_left](double of_left, double of_right) { return is_left ? of_left : of_right; };
  const double rho = pick(left.rho, right.rho), u = pick(left.u, right.u), side_v = pick(left.v, right.v);
  const double side_w = pick(left.w, right.w), side_b = pick(left.b, right.b), side_c = pick(left.c, right.c);
  const double energy = pick(l.energy, r.energy), total = pick(l.total, r.total), speed = pick(l.speed, r.speed);
  const double star_rho = pick(l.rho, r.rho), root = pick(l.root, r.root), star_e = pick(l.star_e, r.star_e);
  const double star_v = pick(l.v, r.v), star_w = pick(l.w, r.w), star_b = pick(l.b, r.b), star_c = pick(l.c, r.c);
  const double away = is_left ? -1.0 : 1.0, alfven = middle + away * __builtin_fabs(normal) / root;  // [51]
  const double first = away * speed > 0 ? speed : 0.0, second = away * alfven > 0 ? alfven : 0.0;
  const double star_dot = middle * normal + star_v * star_b + star_w * star_c;
  const double two_dot = middle * normal + v * b + w * c;
  const double two_e = star_e + away * root * (star_dot - two_dot) * sign;

  Flux f;
  const double dot = u * normal + side_v * side_b + side_w * side_c;
  f.rho = rho * u + first * (star_rho - rho);
  f.u = rho * u * u + total - n2 + first * (star_rho * middle - rho * u);
  f.v = rho * u * side_v - normal * side_b + first * (star_rho * star_v - rho * side_v) +
        second * star_rho * (v - star_v);
  f.w = rho * u * side_w - normal * side_c + first * (star_rho * star_w - rho * side_w) +
        second * star_rho * (w - star_w);
  f.energy = (energy + total) * u - normal * dot + first * (star_e - energy) + second * (two_e - star_e);
  f.b = side_b * u - normal * side_v + first * (star_b - side_b) + second * (b - star_b);
  f.c = side_c * u - normal * side_w + first * (star_c - side_c) + second * (c - star_c);
  return f;
}

}  // namespace mhd
