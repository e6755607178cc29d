// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// CUDA through its driver's library, which is loaded, never linked. The few functions are declared here by their binary
// interface, which the driver keeps stable, so that no toolkit is needed to build Weft.
#include <dlfcn.h>

#include <cstdint>

#include "device/device.hpp"

namespace weft::device {
namespace {

using Pointer = unsigned long long;  // CUdeviceptr
using Context = void*;

enum Attribute : int { attribute_context = 1, attribute_memory_type = 2, attribute_is_managed = 8 };
constexpr unsigned memory_of_device = 2;  // CU_MEMORYTYPE_DEVICE
constexpr int success = 0;

struct Library {
  int (*init)(unsigned flags);
  int (*pointer_attribute)(void* value, int attribute, Pointer pointer);
  int (*push)(Context context);
  int (*pop)(Context* context);
  int (*copy)(Pointer to, Pointer from, size_t bytes);
  int (*synchronize)(void* stream);
  int (*allocate)(Pointer* memory, size_t bytes);
  int (*release)(Pointer memory);
  int (*error_name)(int error, const char** name);
};
constinit Library library{};

template <class Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

Pointer pointer_of(const void* address) {
  return reinterpret_cast<uintptr_t>(address);
}

std::string text_of(const char* function, int error) {
  const char* name = nullptr;
  if (library.error_name(error, &name) != success || name == nullptr) name = "an unknown error";
  return std::string(function) + " of the CUDA driver says " + name + " (" + std::to_string(error) + ")";
}

std::string open(bool alone) {
  void* handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | (alone ? RTLD_NOLOAD : 0));
  if (handle == nullptr)
    return std::string("libcuda.so.1 cannot be loaded: ") + (alone ? "the program has not" : dlerror());
  const bool complete =
      find(handle, "cuInit", library.init) && find(handle, "cuPointerGetAttribute", library.pointer_attribute) &&
      find(handle, "cuCtxPushCurrent_v2", library.push) && find(handle, "cuCtxPopCurrent_v2", library.pop) &&
      find(handle, "cuMemcpy", library.copy) && find(handle, "cuStreamSynchronize", library.synchronize) &&
      find(handle, "cuMemAlloc_v2", library.allocate) && find(handle, "cuMemFree_v2", library.release) &&
      find(handle, "cuGetErrorName", library.error_name);
  if (!complete) return "libcuda.so.1 lacks functions of CUDA 6 and newer";
  const int error = library.init(0);
  return error == success ? std::string() : text_of("cuInit", error);
}

// Managed memory is the host's too, and memory that CUDA does not know is not a device's.
bool owns(const void* address) {
  unsigned type = 0;
  if (library.pointer_attribute(&type, attribute_memory_type, pointer_of(address)) != success) return false;
  if (type != memory_of_device) return false;
  unsigned managed = 0;
  return library.pointer_attribute(&managed, attribute_is_managed, pointer_of(address)) != success || managed == 0;
}

// In the context of the device memory: the calling thread may have none, or one of another device. The copy of pageable
// memory may be under way when cuMemcpy returns, so the default stream is waited for.
std::string copy(void* to, const void* from, size_t bytes) {
  Context context = nullptr;
  const void* theirs = owns(to) ? to : from;
  if (const int error = library.pointer_attribute(&context, attribute_context, pointer_of(theirs)); error != success)
    return text_of("cuPointerGetAttribute", error);
  if (const int error = library.push(context); error != success) return text_of("cuCtxPushCurrent", error);
  std::string problem;
  if (const int error = library.copy(pointer_of(to), pointer_of(from), bytes); error != success) {
    problem = text_of("cuMemcpy", error);
  } else if (const int late = library.synchronize(nullptr); late != success) {
    problem = text_of("cuStreamSynchronize", late);
  }
  (void)library.pop(&context);
  return problem;
}

void* allocate(size_t bytes) {
  Pointer memory = 0;
  return library.allocate(&memory, bytes) == success ? reinterpret_cast<void*>(static_cast<uintptr_t>(memory))
                                                     : nullptr;
}

bool release(void* memory) {
  return owns(memory) && library.release(pointer_of(memory)) == success;
}

}  // namespace

constinit const Driver cuda{"cuda", open, owns, copy, allocate, release};

}  // namespace weft::device
