// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Kernels for a device, from the formulas of kernels.hpp: a thread for each cell of a box. Not part of the build:
// kernels.sh makes PTX of them (kernels.ptx.inc), which the driver compiles for its device.
#pragma clang force_cuda_host_device begin
#include "kernels.hpp"
#pragma clang force_cuda_host_device end

namespace {

using mhd::Task;

constexpr int all_fields = 8;

__attribute__((device)) long number() {
  return static_cast<long>(__nvvm_read_ptx_sreg_ctaid_x()) * __nvvm_read_ptx_sreg_ntid_x() +
         __nvvm_read_ptx_sreg_tid_x();
}
__attribute__((device)) long cells(const Task& t) {
  return static_cast<long>(t.count[0]) * t.count[1] * t.count[2];
}
// Where cell `n` of the box is in an array of a field.
__attribute__((device)) long place(const Task& t, long n) {
  const unsigned i = static_cast<unsigned>(n), x = t.count[0], y = t.count[1];
  return t.first + i % x + t.stride[1] * (i / x % y) + t.stride[2] * (i / x / y);
}

}  // namespace

#define KERNEL(name, ...)                                      \
  extern "C" __attribute__((global)) void name(const Task t) { \
    const long n = number();                                   \
    if (n >= cells(t)) return;                                 \
    const __VA_ARGS__ work(t);                                 \
    work(place(t, n));                                         \
  }

KERNEL(primitive, mhd::cell::Primitive)
KERNEL(flux_1, mhd::cell::Fluxes<1>)
KERNEL(flux_2, mhd::cell::Fluxes<2>)
KERNEL(edge, mhd::cell::Edge)
KERNEL(advance_2d, mhd::cell::Advance<2>)
KERNEL(advance_3d, mhd::cell::Advance<3>)
KERNEL(face_x, mhd::cell::Face<2, 0>)
KERNEL(face_y, mhd::cell::Face<2, 1>)
KERNEL(face_3d, mhd::cell::Face<3, 0>)

// Numbers that are not negative, whose bits are ordered as they are.
extern "C" __attribute__((global)) void longest(const Task t) {
  const long n = number();
  if (n >= cells(t)) return;
  const double step = mhd::cell::longest(t, place(t, n));
  __nvvm_atom_min_gen_ull(t.longest, __builtin_bit_cast(unsigned long long, step));
}

// The box of all fields to consecutive memory, and back.
extern "C" __attribute__((global)) void pack(const Task t) {
  const long n = number(), count = cells(t);
  if (n < count * all_fields) t.to[n] = t.from[n / count * t.volume + place(t, n % count)];
}
extern "C" __attribute__((global)) void unpack(const Task t) {
  const long n = number(), count = cells(t);
  if (n < count * all_fields) t.to[n / count * t.volume + place(t, n % count)] = t.from[n];
}
