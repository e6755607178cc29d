// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "on_host.hpp"

#include <algorithm>
#include <limits>

namespace mhd {
namespace {

// A kernel for each cell of a box.
template <class Work>
void rows(const Task& t) {
  const Work work(t);
  for (int k = 0; k < t.count[2]; ++k) {
    for (int j = 0; j < t.count[1]; ++j) {
      const long at = t.first + t.stride[1] * j + t.stride[2] * k;
      const int count = t.count[0];
#pragma omp simd
      for (int i = 0; i < count; ++i) work(at + i);
    }
  }
}

}  // namespace

OnHost::OnHost(const Domain& domain, double gamma) : Scheme(domain, gamma, nullptr) {
  memory_.resize(Scratch::arrays * patch_.volume);
  scratch_ = memory_.data();
}

void OnHost::perform(Kernel kernel, const Task& task) {
  switch (kernel) {
    case Kernel::primitive:
      return rows<cell::Primitive>(task);
    case Kernel::flux_1:
      return rows<cell::Fluxes<1>>(task);
    case Kernel::flux_2:
      return rows<cell::Fluxes<2>>(task);
    case Kernel::edge:
      return rows<cell::Edge>(task);
    case Kernel::advance_2d:
      return rows<cell::Advance<2>>(task);
    case Kernel::advance_3d:
      return rows<cell::Advance<3>>(task);
    case Kernel::face_x:
      return rows<cell::Face<2, 0>>(task);
    case Kernel::face_y:
      return rows<cell::Face<2, 1>>(task);
    case Kernel::face_3d:
      return rows<cell::Face<3, 0>>(task);
  }
}

double OnHost::longest(const Task& task) {
  double longest = std::numeric_limits<double>::max();
  for (int k = 0; k < task.count[2]; ++k) {
    for (int j = 0; j < task.count[1]; ++j) {
      const long at = task.first + task.stride[1] * j + task.stride[2] * k;
      for (int i = 0; i < task.count[0]; ++i) longest = std::min(longest, cell::longest(task, at + i));
    }
  }
  return longest;
}

}  // namespace mhd
