// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "cuda.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace common {
namespace {

using Pointer = unsigned long long;   // CUdeviceptr
constexpr unsigned non_blocking = 1;  // CU_STREAM_NON_BLOCKING

Pointer pointer_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

}  // namespace

// Functions of the driver, by their binary interface.
struct Cuda::Driver {
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

  const char* program = "";
  void *context = nullptr, *module = nullptr;

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
    std::fprintf(stderr, "%s: %s of the CUDA driver says %s (%d)\n", program, call, text(error), error);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
};

Cuda::Cuda() : driver_(std::make_unique<Driver>()) {}

Cuda::~Cuda() = default;

std::unique_ptr<Cuda> Cuda::open(const char* program, int rank, const char* ptx, std::string* reason) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  std::unique_ptr<Cuda> result(new Cuda);
  Driver& driver = *result->driver_;
  driver.program = program;
  if (library == nullptr || !driver.look_up_all(library)) {
    *reason = library == nullptr ? "there is no libcuda.so.1" : "libcuda.so.1 lacks functions";
    return nullptr;
  }
  int devices = 0, device = 0;
  int error = driver.init(0);
  if (error == 0) error = driver.count(&devices);
  if (error != 0 || devices == 0) {
    *reason = error != 0 ? driver.text(error) : "the driver has no device";
    return nullptr;
  }
  driver.need(driver.device(&device, rank % devices), "cuDeviceGet");
  driver.need(driver.retain(&driver.context, device), "cuDevicePrimaryCtxRetain");
  result->enter();
  driver.need(driver.load(&driver.module, ptx), "cuModuleLoadData");
  return result;
}

void Cuda::enter() const {
  driver_->need(driver_->set_current(driver_->context), "cuCtxSetCurrent");
}

double* Cuda::allocate(std::size_t count) const {
  Pointer memory = 0;
  driver_->need(driver_->allocate(&memory, count * sizeof(double)), "cuMemAlloc");
  auto* const result = reinterpret_cast<double*>(static_cast<std::uintptr_t>(memory));
  const std::vector<double> zeros(count, 0.0);
  copy(result, zeros.data(), count * sizeof(double));
  return result;
}

void Cuda::release(double* memory) const {
  driver_->need(driver_->release(pointer_of(memory)), "cuMemFree");
}

void Cuda::copy(void* to, const void* from, std::size_t bytes) const {
  driver_->need(driver_->copy(pointer_of(to), pointer_of(from), bytes), "cuMemcpy");
  driver_->need(driver_->synchronize(nullptr), "cuStreamSynchronize");
}

void* Cuda::make_stream() const {
  void* stream = nullptr;
  driver_->need(driver_->create_stream(&stream, non_blocking), "cuStreamCreate");
  return stream;
}

void Cuda::wait(void* stream) const {
  driver_->need(driver_->synchronize(stream), "cuStreamSynchronize");
}

void* Cuda::kernel(const char* name) const {
  void* function = nullptr;
  driver_->need(driver_->find(&function, driver_->module, name), "cuModuleGetFunction");
  return function;
}

void Cuda::launch(void* kernel, const Shape& shape, void* stream, void** arguments) const {
  driver_->need(driver_->launch(kernel, shape.grid_x, shape.grid_y, 1, shape.block_x, shape.block_y, 1, 0, stream,
                                arguments, nullptr),
                "cuLaunchKernel");
}

}  // namespace common
