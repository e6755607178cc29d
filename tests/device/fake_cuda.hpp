// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// CUDA's driver and one device, for which this library stands: memory, contexts and handles in fake_cuda.cpp, streams,
// events, copies and kernels in fake_cuda_streams.cpp. The stand-ins for HIP and Level Zero are over the functions
// here.

#include <cstddef>
#include <cstdint>
#include <optional>

namespace fake_cuda {

using Pointer = unsigned long long;

enum : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  invalid_context = 201,
  invalid_ptx = 218,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  already_registered = 712,
  not_registered = 713,
  not_supported = 801,
};

enum Type : unsigned { of_host = 1, of_device = 2, by_address = 4 };  // CUmemorytype

struct Handle {  // CUipcMemHandle
  int pid, file;
  size_t offset;
  char rest[48];
};

struct Rows {  // CUDA_MEMCPY2D
  size_t from_x, from_y;
  unsigned from_type;
  const void* from_host;
  Pointer from_device;
  void* from_array;
  size_t from_pitch, to_x, to_y;
  unsigned to_type;
  void* to_host;
  Pointer to_device;
  void* to_array;
  size_t to_pitch, width, height;
};

// Memory that the driver knows.
struct Range {
  Pointer seen;  // where programs see it
  char* real;    // where the processor may touch it
  size_t bytes;
  unsigned type;
  bool managed;
  Pointer opened;  // the allocation in memory of another process; 0: it is ours
  bool offered;    // to adapters of networks
  unsigned long long number;

  bool is_away() const { return type == of_device && !managed; }  // from the processor
  char* at(Pointer address, size_t count) const {                 // nullptr: the bytes are more than it has
    return count <= bytes - (address - seen) ? real + (address - seen) : nullptr;
  }
};
// The one that an address is in, as it is now.
std::optional<Range> find(Pointer address);
// Where the bytes of a copy are; nullptr: memory of a device that is not there. Memory that the driver does not know is
// the host's.
char* reach(Pointer address, size_t bytes, unsigned type = by_address);

// The calling thread has a context.
bool is_inside();

}  // namespace fake_cuda

extern "C" {

int cuInit(unsigned flags);
int cuGetErrorName(int error, const char** name);
int cuDeviceGetCount(int* count);
int cuDeviceGetName(char* name, int bytes, int device);
int cuDeviceTotalMem_v2(size_t* bytes, int device);
int cuCtxGetCurrent(void** context);
int cuCtxSetCurrent(void* context);
int cuCtxPushCurrent_v2(void* context);
int cuCtxPopCurrent_v2(void** context);
int cuDevicePrimaryCtxRetain(void** context, int device);
int cuPointerGetAttributes(unsigned count, const int* attributes, void** values, fake_cuda::Pointer at);
int cuMemGetAddressRange_v2(fake_cuda::Pointer* base, size_t* bytes, fake_cuda::Pointer at);
int cuMemAlloc_v2(fake_cuda::Pointer* memory, size_t bytes);
int cuMemFree_v2(fake_cuda::Pointer memory);
int cuMemHostRegister_v2(void* memory, size_t bytes, unsigned flags);
int cuMemHostUnregister(void* memory);
int cuIpcGetMemHandle(fake_cuda::Handle* handle, fake_cuda::Pointer memory);
int cuIpcOpenMemHandle_v2(fake_cuda::Pointer* memory, fake_cuda::Handle handle, unsigned flags);
int cuIpcCloseMemHandle(fake_cuda::Pointer memory);
int cuMemcpyAsync(fake_cuda::Pointer to, fake_cuda::Pointer from, size_t bytes, void* stream);
int cuMemcpy2DAsync_v2(const fake_cuda::Rows* rows, void* stream);
int cuStreamCreate(void** stream, unsigned flags);
int cuStreamSynchronize(void* stream);
int cuEventCreate(void** event, unsigned flags);
int cuEventRecord(void* event, void* stream);
int cuEventQuery(void* event);
int cuModuleLoadData(void** module, const void* image);
int cuModuleGetFunction(void** function, void* module, const char* name);
int cuLaunchKernel(void* function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z, unsigned threads_x,
                   unsigned threads_y, unsigned threads_z, unsigned shared, void* stream, void** parameters,
                   void** extra);

// The memory of another process, which a descriptor stands for, from where an allocation is in it.
int fake_cuda_map(int fd, size_t offset, fake_cuda::Pointer* memory);
// Whether the processor may touch what programs see, for kernels that it runs itself.
void fake_cuda_open_memory(int open);

}  // extern "C"
