// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/cuda/library.hpp"

#include <dlfcn.h>

namespace weft::device::by_cuda {

constinit CudaLibrary library{};

void* Finder::address_of(const char* name) const {
  return dlsym(handle, name);
}

std::string load_cuda(bool alone) {
  void* handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | (alone ? RTLD_NOLOAD : 0));
  if (handle == nullptr)
    return std::string("libcuda.so.1 cannot be loaded: ") + (alone ? "the program has not" : dlerror());
  library = {
      .title = "the CUDA driver", .prefix = "cu", .text_of_layout = ptx::text_of, .text_of_reduction = ptx::text_of};
  Finder in{handle};
  in.find("cuInit", library.init);
  in.find("cuGetErrorName", library.error_name);
  in.find("cuCtxGetCurrent", library.current);
  in.find("cuCtxPushCurrent_v2", library.push);
  in.find("cuCtxPopCurrent_v2", library.pop);
  in.find("cuDevicePrimaryCtxRetain", library.retain);
  in.find("cuPointerGetAttributes", library.pointer_attributes);
  in.find("cuMemGetAddressRange_v2", library.range);
  in.find("cuMemcpyAsync", library.copy);
  in.find("cuMemcpy2DAsync_v2", library.copy_rows);
  in.find("cuStreamCreate", library.make_stream);
  in.find("cuStreamSynchronize", library.synchronize);
  in.find("cuEventCreate", library.make_event);
  in.find("cuEventRecord", library.record);
  in.find("cuEventQuery", library.query);
  in.find("cuMemAlloc_v2", library.allocate);
  in.find("cuMemFree_v2", library.release);
  in.find("cuMemHostRegister_v2", library.pin);
  in.find("cuMemHostUnregister", library.unpin);
  in.find("cuIpcGetMemHandle", library.handle_of);
  // Older drivers have the first form alone.
  in.find(dlsym(handle, "cuIpcOpenMemHandle_v2") != nullptr ? "cuIpcOpenMemHandle_v2" : "cuIpcOpenMemHandle",
          library.open_handle);
  in.find("cuIpcCloseMemHandle", library.close_handle);
  in.find("cuModuleLoadData", library.load_module);
  in.find("cuModuleGetFunction", library.function_of);
  in.find("cuLaunchKernel", library.launch);
  in.find_if_there("cuStreamGetCtx", library.context_of_stream);
  in.find_if_there("cuLaunchHostFunc", library.call_host);
  in.find_if_there("cuStreamWaitValue32_v2", library.wait_for_word);
  in.find_if_there("cuPointerSetAttribute", library.set_attribute);
  in.find_if_there("cuFlushGPUDirectRDMAWrites", library.flush_writes);
  if (in.missing != nullptr)
    return std::string("libcuda.so.1 lacks ") + in.missing + ", which drivers of CUDA 7 and newer have";
  const int error = library.init(0);
  return error == success ? std::string() : text_of("Init", error);
}

namespace {

// Why a call may fail so, and what to do.
struct Cause {
  int error;
  const char* text;
};  // the numbers of HIP are the same
constexpr Cause causes[] = {
    {1, "memory at these addresses may have been freed, or be shorter than the data"},
    {2, "the device has no memory left: free some, or start fewer ranks on it"},
    {46, "the device is used by another process alone: set its compute mode to default (nvidia-smi -c 0)"},
    {100, "there is no device: see nvidia-smi and CUDA_VISIBLE_DEVICES, or rocm-smi and HIP_VISIBLE_DEVICES"},
    {201, "the context of the memory was destroyed: destroy contexts when communication on their memory is over"},
    {214, "the device's memory has an error (ECC): reset the device"},
    {217, "the devices cannot reach each other's memory: let ranks use one device, or copy to the host before"},
    {700,
     "a kernel or a copy of this process used memory that is not there, and the context is lost: run the program "
     "under compute-sanitizer"},
    {709, "the context of the memory was destroyed: destroy contexts when communication on their memory is over"},
};

}  // namespace

std::string text_of(const char* function, int error) {
  const char* name = nullptr;
  if (library.error_name(error, &name) != success || name == nullptr) name = "an unknown error";
  std::string text = library.prefix;
  text.append(function).append(" of ").append(library.title).append(" says ").append(name);
  text.append(" (").append(std::to_string(error)).append(")");
  for (const Cause& cause : causes) {
    if (cause.error == error) text.append("; ").append(cause.text);
  }
  return text;
}

}  // namespace weft::device::by_cuda
