// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The functions of CUDA's driver library, which is loaded, never linked. They are declared here by their binary
// interface, which the driver keeps stable, so that no toolkit is needed to build Weft. HIP's library has functions of
// the same meaning and nearly the same interface for AMD's devices (hip/hip.cpp): one of both is in use.

#include <cstddef>
#include <cstdint>
#include <string>

#include "device/kernel/ptx.hpp"

namespace weft::device::by_cuda {

using Pointer = unsigned long long;  // CUdeviceptr
using Context = void*;
using Stream = void*;
using Event = void*;
using Device = int;
using Module = void*;
using Function = void*;

inline constexpr int success = 0;
inline constexpr int not_ready = 600;  // CUDA_ERROR_NOT_READY

enum Attribute : int {  // CUpointer_attribute
  attribute_context = 1,
  attribute_memory_type = 2,
  attribute_device_pointer = 3,
  attribute_buffer_number = 7,
  attribute_is_managed = 8,
  attribute_device = 9,
};
inline constexpr unsigned memory_of_host = 1, memory_of_device = 2;  // CUmemorytype

struct CudaIpcHandle {  // CUipcMemHandle
  unsigned char bytes[64];
};

struct Memcpy2D {  // CUDA_MEMCPY2D
  size_t from_x, from_y;
  unsigned from_type;
  const void* from_host;
  Pointer from_device;
  void* from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  unsigned to_type;
  void* to_host;
  Pointer to_device;
  void* to_array;
  size_t to_pitch;
  size_t width, height;
};

struct CudaLibrary {
  const char* title;   // in messages
  const char* prefix;  // of the names of its functions
  int (*init)(unsigned flags);
  int (*error_name)(int error, const char** name);
  int (*current)(Context* context);
  int (*push)(Context context);
  int (*pop)(Context* context);
  int (*retain)(Context* context, Device device);
  int (*pointer_attributes)(unsigned count, const int* attributes, void** values, Pointer pointer);
  int (*range)(Pointer* base, size_t* bytes, Pointer pointer);
  int (*copy)(Pointer to, Pointer from, size_t bytes, Stream stream);
  int (*copy_rows)(const Memcpy2D* rows, Stream stream);
  int (*make_stream)(Stream* stream, unsigned flags);
  int (*synchronize)(Stream stream);
  int (*make_event)(Event* event, unsigned flags);
  int (*record)(Event event, Stream stream);
  int (*query)(Event event);
  int (*allocate)(Pointer* memory, size_t bytes);
  int (*release)(Pointer memory);
  int (*pin)(void* memory, size_t bytes, unsigned flags);
  int (*unpin)(void* memory);
  int (*handle_of)(CudaIpcHandle* handle, Pointer memory);
  int (*open_handle)(Pointer* memory, CudaIpcHandle handle, unsigned flags);
  int (*close_handle)(Pointer memory);
  int (*load_module)(Module* module, const void* image);
  int (*function_of)(Function* function, Module module, const char* name);
  int (*launch)(Function function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z, unsigned threads_x,
                unsigned threads_y, unsigned threads_z, unsigned shared_bytes, Stream stream, void** parameters,
                void** extra);
  // These are for streams of the program's; nullptr: the library has no such function.
  int (*context_of_stream)(Stream stream, Context* context);
  int (*call_host)(Stream stream, void (*function)(void*), void* argument);
  int (*wait_for_word)(Stream stream, Pointer word, uint32_t value, unsigned flags);
  // These are for adapters of networks; likewise.
  int (*set_attribute)(const void* value, int attribute, Pointer pointer);
  int (*flush_writes)(int target, int scope);
  // The text of a kernel, which load_module() takes. Empty: there is no such operation on such numbers.
  std::string (*text_of_layout)(const ptx::LayoutForm& form);
  std::string (*text_of_reduction)(const KernelReduction& reduction);
};
extern CudaLibrary library;

// Loads a library and begins to use it; `alone`: only if the process has it already. Empty: done, otherwise the
// reason why not.
[[nodiscard]] std::string load_cuda(bool alone);
[[nodiscard]] std::string load_hip(bool alone);

// `function` is the name of CUDA's, without its prefix.
[[nodiscard]] std::string text_of(const char* function, int error);

// Looks up functions of a library that is loaded, and notes the first one that it lacks.
struct Finder {
  void* handle;
  const char* missing = nullptr;

  template <class Function>
  void find(const char* name, Function& function) {
    find_if_there(name, function);
    if (function == nullptr && missing == nullptr) missing = name;
  }
  template <class Function>
  void find_if_there(const char* name, Function& function) {
    function = reinterpret_cast<Function>(address_of(name));
  }

 private:
  void* address_of(const char* name) const;
};

inline Pointer pointer_of(const void* address) {
  return reinterpret_cast<uintptr_t>(address);
}

}  // namespace weft::device::by_cuda
