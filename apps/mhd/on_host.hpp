// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "scheme.hpp"

namespace mhd {

// The processor performs the kernels when they are asked for, row by row.
class OnHost : public Scheme {
 public:
  OnHost(const Domain& domain, double gamma);
  void pack(const Box& box, const double* state, double* out) override { mhd::pack(patch_, box, state, out); }
  void unpack(const Box& box, const double* in, double* state) override { mhd::unpack(patch_, box, in, state); }

 protected:
  void perform(Kernel kernel, const Task& task) override;
  double longest(const Task& task) override;

 private:
  std::vector<double> memory_;
};

}  // namespace mhd
