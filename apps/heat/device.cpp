// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device.hpp"

#include <array>

namespace heat {
namespace {

// The driver compiles this text for its device. Sums and products are rounded one by one and in the order of the
// processor's sweep, so that both give the same numbers.
constexpr char kernel[] = R"(
.version 7.0
.target sm_60
.address_size 64
.visible .entry sweep(
  .param .u64 now, .param .u64 next, .param .u32 stride, .param .u32 row, .param .u32 rows,
  .param .u32 column, .param .u32 columns, .param .f64 ratio, .param .u64 change)
{
  .reg .pred %p<3>;
  .reg .b32 %r<11>;
  .reg .b64 %a<10>;
  .reg .f64 %d<8>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mov.u32 %r1, %ctaid.y;
  mov.u32 %r2, %ntid.y;
  mov.u32 %r3, %tid.y;
  mad.lo.u32 %r5, %r1, %r2, %r3;
  ld.param.u32 %r6, [columns];
  ld.param.u32 %r7, [rows];
  setp.ge.u32 %p1, %r4, %r6;
  setp.ge.u32 %p2, %r5, %r7;
  @%p1 bra done;
  @%p2 bra done;
  ld.param.u32 %r8, [stride];
  ld.param.u32 %r9, [row];
  ld.param.u32 %r10, [column];
  add.u32 %r4, %r4, %r10;
  add.u32 %r5, %r5, %r9;
  cvt.u64.u32 %a1, %r4;
  mul.wide.u32 %a2, %r5, %r8;
  add.u64 %a1, %a1, %a2;
  shl.b64 %a1, %a1, 3;
  mul.wide.u32 %a2, %r8, 8;
  ld.param.u64 %a3, [now];
  cvta.to.global.u64 %a3, %a3;
  add.u64 %a3, %a3, %a1;
  sub.u64 %a4, %a3, %a2;
  add.u64 %a5, %a3, %a2;
  ld.global.f64 %d1, [%a4];
  ld.global.f64 %d2, [%a5];
  ld.global.f64 %d3, [%a3+-8];
  ld.global.f64 %d4, [%a3+8];
  ld.global.f64 %d5, [%a3];
  add.rn.f64 %d1, %d1, %d2;
  add.rn.f64 %d1, %d1, %d3;
  add.rn.f64 %d1, %d1, %d4;
  mul.rn.f64 %d6, %d5, 0d4010000000000000;
  sub.rn.f64 %d1, %d1, %d6;
  ld.param.f64 %d7, [ratio];
  mul.rn.f64 %d1, %d7, %d1;
  add.rn.f64 %d2, %d5, %d1;
  ld.param.u64 %a6, [next];
  cvta.to.global.u64 %a6, %a6;
  add.u64 %a6, %a6, %a1;
  st.global.f64 [%a6], %d2;
  ld.param.u64 %a7, [change];
  setp.eq.u64 %p1, %a7, 0;
  @%p1 bra done;
  cvta.to.global.u64 %a7, %a7;
  abs.f64 %d1, %d1;
  mov.b64 %a8, %d1;
  atom.global.max.u64 %a9, [%a7], %a8;
done:
  ret;
}
)";

}  // namespace

std::unique_ptr<Device> Device::open(int rank, std::string* reason) {
  std::unique_ptr<common::Cuda> cuda = common::Cuda::open("heat", rank, kernel, reason);
  return cuda == nullptr ? nullptr : std::unique_ptr<Device>(new Device(std::move(cuda)));
}

Device::Device(std::unique_ptr<common::Cuda> cuda)
    : cuda_(std::move(cuda)),
      stream_(cuda_->make_stream()),
      sweep_(cuda_->kernel("sweep")),
      change_(cuda_->allocate(1)) {}

Device::~Device() {
  cuda_->release(change_);
}

void Device::start_sweep(const double* now, double* next, int stride, double ratio, int row, int rows, int column,
                         int columns, bool measure) {
  if (rows <= 0 || columns <= 0) return;
  constexpr int wide = 32, high = 8;
  double* change = measure ? change_ : nullptr;
  std::array<void*, 9> arguments = {&now, &next, &stride, &row, &rows, &column, &columns, &ratio, &change};
  cuda_->launch(
      sweep_,
      {static_cast<unsigned>((columns + wide - 1) / wide), static_cast<unsigned>((rows + high - 1) / high), wide, high},
      stream_, arguments.data());
}

double Device::finish(bool measured) {
  cuda_->wait(stream_);
  if (!measured) return 0;
  double largest = 0;
  const double zero = 0;
  copy(&largest, change_, sizeof largest);
  copy(change_, &zero, sizeof zero);
  return largest;
}

}  // namespace heat
