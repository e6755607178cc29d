// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace heat {
namespace {

using Pointer = unsigned long long;   // CUdeviceptr
constexpr unsigned non_blocking = 1;  // CU_STREAM_NON_BLOCKING: beside the copies of others

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

Pointer pointer_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

}  // namespace

// Functions of the driver, by their binary interface.
struct Device::Driver {
  int (*init)(unsigned flags);
  int (*count)(int* devices);
  int (*device)(int* device, int ordinal);
  int (*retain)(void** context, int device);
  int (*set_current)(void* context);
  int (*allocate)(Pointer* memory, std::size_t bytes);
  int (*release)(Pointer memory);
  int (*copy)(Pointer to, Pointer from, std::size_t bytes);
  int (*create_stream)(void** stream, unsigned flags);
  int (*synchronize)(void* stream);
  int (*load)(void** module, const void* image);
  int (*find)(void** function, void* module, const char* name);
  int (*launch)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                unsigned block_z, unsigned shared_bytes, void* stream, void** arguments, void** extra);
  int (*error_name)(int error, const char** name);

  void* stream = nullptr;
  void* sweep = nullptr;
  double* change = nullptr;  // on the device: the largest one so far; not negative, so its bits are ordered as it is

  template <class Function>
  static bool look_up(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }

  bool look_up_all(void* library) {
    return look_up(library, "cuInit", init) && look_up(library, "cuDeviceGetCount", count) &&
           look_up(library, "cuDeviceGet", device) && look_up(library, "cuDevicePrimaryCtxRetain", retain) &&
           look_up(library, "cuCtxSetCurrent", set_current) && look_up(library, "cuMemAlloc_v2", allocate) &&
           look_up(library, "cuMemFree_v2", release) && look_up(library, "cuMemcpy", copy) &&
           look_up(library, "cuStreamCreate", create_stream) && look_up(library, "cuStreamSynchronize", synchronize) &&
           look_up(library, "cuModuleLoadData", load) && look_up(library, "cuModuleGetFunction", find) &&
           look_up(library, "cuLaunchKernel", launch) && look_up(library, "cuGetErrorName", error_name);
  }

  const char* text(int error) const {
    const char* name = nullptr;
    return error_name(error, &name) == 0 && name != nullptr ? name : "an unknown error";
  }

  void need(int error, const char* call) const {
    if (error == 0) return;
    std::fprintf(stderr, "heat: %s of the CUDA driver says %s (%d)\n", call, text(error), error);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
};

Device::Device() : driver_(std::make_unique<Driver>()) {}

std::unique_ptr<Device> Device::open(int rank, std::string* reason) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  std::unique_ptr<Device> result(new Device);
  Driver& driver = *result->driver_;
  if (library == nullptr || !driver.look_up_all(library)) {
    *reason = library == nullptr ? "there is no libcuda.so.1" : "libcuda.so.1 lacks functions";
    return nullptr;
  }
  int devices = 0, device = 0;
  void *context = nullptr, *module = nullptr;
  int error = driver.init(0);
  if (error == 0) error = driver.count(&devices);
  if (error != 0 || devices == 0) {
    *reason = error != 0 ? driver.text(error) : "the driver has no device";
    return nullptr;
  }
  driver.need(driver.device(&device, rank % devices), "cuDeviceGet");
  driver.need(driver.retain(&context, device), "cuDevicePrimaryCtxRetain");
  driver.need(driver.set_current(context), "cuCtxSetCurrent");
  driver.need(driver.create_stream(&driver.stream, non_blocking), "cuStreamCreate");
  driver.need(driver.load(&module, kernel), "cuModuleLoadData");
  driver.need(driver.find(&driver.sweep, module, "sweep"), "cuModuleGetFunction");
  driver.change = result->allocate(1);
  return result;
}

Device::~Device() {
  if (driver_->change != nullptr) release(driver_->change);
}

double* Device::allocate(std::size_t count) {
  Pointer memory = 0;
  driver_->need(driver_->allocate(&memory, count * sizeof(double)), "cuMemAlloc");
  auto* const result = reinterpret_cast<double*>(static_cast<std::uintptr_t>(memory));
  const std::vector<double> zeros(count, 0.0);
  copy(result, zeros.data(), count * sizeof(double));
  return result;
}

void Device::release(double* memory) {
  driver_->need(driver_->release(pointer_of(memory)), "cuMemFree");
}

void Device::copy(void* to, const void* from, std::size_t bytes) {
  driver_->need(driver_->copy(pointer_of(to), pointer_of(from), bytes), "cuMemcpy");
  driver_->need(driver_->synchronize(nullptr), "cuStreamSynchronize");
}

void Device::start_sweep(const double* now, double* next, int stride, double ratio, int row, int rows, int column,
                         int columns, bool measure) {
  if (rows <= 0 || columns <= 0) return;
  constexpr int wide = 32, high = 8;
  Pointer from = pointer_of(now), to = pointer_of(next), change = measure ? pointer_of(driver_->change) : 0;
  std::array<void*, 9> arguments = {&from, &to, &stride, &row, &rows, &column, &columns, &ratio, &change};
  driver_->need(driver_->launch(driver_->sweep, static_cast<unsigned>((columns + wide - 1) / wide),
                                static_cast<unsigned>((rows + high - 1) / high), 1, wide, high, 1, 0, driver_->stream,
                                arguments.data(), nullptr),
                "cuLaunchKernel");
}

double Device::finish(bool measured) {
  driver_->need(driver_->synchronize(driver_->stream), "cuStreamSynchronize");
  if (!measured) return 0;
  double largest = 0;
  const double zero = 0;
  copy(&largest, driver_->change, sizeof largest);
  copy(driver_->change, &zero, sizeof zero);
  return largest;
}

}  // namespace heat
