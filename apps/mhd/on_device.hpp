// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <string>

#include "../common/cuda.hpp"
#include "scheme.hpp"

namespace mhd {

// The kernels of this program on a device; null, and why, where there is none.
std::unique_ptr<common::Cuda> open_device(int rank, std::string* reason);

// A device performs the kernels, on a stream of this object. States and consecutive memory are the device's.
class OnDevice : public Scheme {
 public:
  OnDevice(const Domain& domain, double gamma, const common::Cuda& cuda);
  ~OnDevice() override;
  void pack(const Box& box, const double* state, double* out) override;
  void unpack(const Box& box, const double* in, double* state) override;
  void finish() override;

 protected:
  void perform(Kernel kernel, const Task& task) override;
  double longest(const Task& task) override;

 private:
  void launch(void* kernel, const Task& task, int fields_at_once);

  const common::Cuda& cuda_;
  void* stream_;
  std::array<void*, 9> kernels_;  // by Kernel
  void *longest_kernel_, *pack_, *unpack_;
  double* longest_;  // of the device
};

}  // namespace mhd
