// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "on_device.hpp"

#include <limits>

namespace mhd {
namespace {

constexpr char ptx[] =
#include "kernels.ptx.inc"
    ;

// In the order of Kernel.
constexpr std::array<const char*, 9> names = {"primitive",  "flux_1", "flux_2", "edge",   "advance_2d",
                                              "advance_3d", "face_x", "face_y", "face_3d"};

}  // namespace

std::unique_ptr<common::Cuda> open_device(int rank, std::string* reason) {
  return common::Cuda::open("mhd", rank, ptx, reason);
}

OnDevice::OnDevice(const Domain& domain, double gamma, const common::Cuda& cuda)
    : Scheme(domain, gamma, cuda.allocate(Scratch::arrays * domain.patch.volume)),
      cuda_(cuda),
      stream_(cuda.make_stream()),
      kernels_{},
      longest_kernel_(cuda.kernel("longest")),
      pack_(cuda.kernel("pack")),
      unpack_(cuda.kernel("unpack")),
      longest_(cuda.allocate(1)) {
  for (std::size_t i = 0; i < names.size(); ++i) kernels_[i] = cuda.kernel(names[i]);
}

OnDevice::~OnDevice() {
  cuda_.release(longest_);
  cuda_.release(scratch_);
}

void OnDevice::launch(void* kernel, const Task& task, int fields_at_once) {
  constexpr unsigned block = 128;
  const unsigned threads = static_cast<unsigned>(task.count[0]) * static_cast<unsigned>(task.count[1]) *
                           static_cast<unsigned>(task.count[2]) * static_cast<unsigned>(fields_at_once);
  Task argument = task;
  std::array<void*, 1> arguments = {&argument};
  cuda_.launch(kernel, {(threads + block - 1) / block, 1, block, 1}, stream_, arguments.data());
}

void OnDevice::perform(Kernel kernel, const Task& task) {
  launch(kernels_[static_cast<std::size_t>(kernel)], task, 1);
}

void OnDevice::pack(const Box& box, const double* state, double* out) {
  Task t = task(box);
  t.from = state;
  t.to = out;
  launch(pack_, t, fields);
}

void OnDevice::unpack(const Box& box, const double* in, double* state) {
  Task t = task(box);
  t.from = in;
  t.to = state;
  launch(unpack_, t, fields);
}

void OnDevice::finish() {
  cuda_.wait(stream_);
}

// Also all that was asked for before is done then.
double OnDevice::longest(const Task& task) {
  double step = std::numeric_limits<double>::max();
  cuda_.copy(longest_, &step, sizeof step);
  Task t = task;
  t.longest = reinterpret_cast<unsigned long long*>(longest_);
  launch(longest_kernel_, t, 1);
  finish();
  cuda_.copy(&step, longest_, sizeof step);
  return step;
}

}  // namespace mhd
