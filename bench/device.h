// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// CUDA through its driver's library, which is loaded and never linked: the measuring programs build without a toolkit,
// run without a device, and measure every MPI library with the same calls. The functions are declared by their binary
// interface, which the driver keeps stable.
#ifndef WEFT_BENCH_DEVICE_H
#define WEFT_BENCH_DEVICE_H

#include <dlfcn.h>
#include <stddef.h>

#include "bench.h"

typedef unsigned long long cu_pointer;
typedef struct {
  char bytes[64];
} cu_ipc_handle;

struct cu_driver {
  int (*Init)(unsigned flags);
  int (*DriverGetVersion)(int* version);
  int (*DeviceGetCount)(int* count);
  int (*DeviceGet)(int* device, int ordinal);
  int (*DeviceGetName)(char* name, int length, int device);
  int (*DeviceGetAttribute)(int* value, int attribute, int device);
  int (*DevicePrimaryCtxRetain)(void** context, int device);
  int (*CtxSetCurrent)(void* context);
  int (*CtxGetCurrent)(void** context);
  int (*CtxPushCurrent)(void* context);
  int (*CtxPopCurrent)(void** context);
  int (*CtxSynchronize)(void);
  int (*MemGetInfo)(size_t* unused, size_t* total);
  int (*MemAlloc)(cu_pointer* memory, size_t bytes);
  int (*MemFree)(cu_pointer memory);
  int (*MemAllocManaged)(cu_pointer* memory, size_t bytes, unsigned flags);
  int (*MemHostAlloc)(void** memory, size_t bytes, unsigned flags);
  int (*MemFreeHost)(void* memory);
  int (*MemHostRegister)(void* memory, size_t bytes, unsigned flags);
  int (*MemHostUnregister)(void* memory);
  int (*MemHostGetDevicePointer)(cu_pointer* there, void* memory, unsigned flags);
  int (*MemGetAddressRange)(cu_pointer* base, size_t* bytes, cu_pointer memory);
  int (*PointerGetAttribute)(void* value, int attribute, cu_pointer memory);
  int (*PointerGetAttributes)(unsigned count, int* attributes, void** values, cu_pointer memory);
  int (*Memcpy)(cu_pointer to, cu_pointer from, size_t bytes);
  int (*MemcpyHtoD)(cu_pointer to, const void* from, size_t bytes);
  int (*MemcpyDtoH)(void* to, cu_pointer from, size_t bytes);
  int (*MemcpyHtoDAsync)(cu_pointer to, const void* from, size_t bytes, void* stream);
  int (*MemcpyDtoHAsync)(void* to, cu_pointer from, size_t bytes, void* stream);
  int (*MemcpyDtoDAsync)(cu_pointer to, cu_pointer from, size_t bytes, void* stream);
  int (*StreamCreate)(void** stream, unsigned flags);
  int (*StreamSynchronize)(void* stream);
  int (*StreamQuery)(void* stream);
  int (*StreamWriteValue32)(void* stream, cu_pointer word, uint32_t value, unsigned flags);
  int (*EventCreate)(void** event, unsigned flags);
  int (*EventRecord)(void* event, void* stream);
  int (*EventQuery)(void* event);
  int (*IpcGetMemHandle)(cu_ipc_handle* handle, cu_pointer memory);
  int (*IpcOpenMemHandle)(cu_pointer* memory, cu_ipc_handle handle, unsigned flags);
  int (*IpcCloseMemHandle)(cu_pointer memory);
  int (*ModuleLoadData)(void** module, const void* image);
  int (*ModuleGetFunction)(void** function, void* module, const char* name);
  int (*LaunchKernel)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** arguments,
                      void** extra);
  int (*GetErrorName)(int error, const char** name);
};

static struct cu_driver cu;

enum { CU_SUCCESS = 0, CU_NO_FUNCTION = -1 };
enum { CU_CONTEXT_OF = 1, CU_MEMORY_TYPE = 2, CU_BUFFER_ID = 7, CU_IS_MANAGED = 8 };  // attributes of a pointer
enum { CU_STREAM_NON_BLOCKING = 1, CU_EVENT_DISABLE_TIMING = 2, CU_ATTACH_GLOBAL = 1 };
enum { CU_IPC_LAZY_PEER_ACCESS = 1 };

// Stands for a function that the library lacks.
static inline int cu_no_function(void) {
  return CU_NO_FUNCTION;
}

static inline const char* cu_error(int error) {
  const char* name = NULL;
  if (error == CU_NO_FUNCTION) return "the driver's library has no such function";
  return cu.GetErrorName(error, &name) == CU_SUCCESS && name ? name : "an unknown error";
}

static inline void cu_need(int error, const char* call) {
  if (error == CU_SUCCESS) return;
  fprintf(stderr, "bench: %s of the CUDA driver says %s (%d)\n", call, cu_error(error), error);
  exit(1);
}

// Loads the driver's library. NULL: done; otherwise the reason why not.
static inline const char* cu_load(void) {
  static const struct {
    const char* name;
    size_t place;
  } functions[] = {
#define CU_ROW(name, symbol) {"cu" symbol, offsetof(struct cu_driver, name)}
      CU_ROW(Init, "Init"),
      CU_ROW(DriverGetVersion, "DriverGetVersion"),
      CU_ROW(DeviceGetCount, "DeviceGetCount"),
      CU_ROW(DeviceGet, "DeviceGet"),
      CU_ROW(DeviceGetName, "DeviceGetName"),
      CU_ROW(DeviceGetAttribute, "DeviceGetAttribute"),
      CU_ROW(DevicePrimaryCtxRetain, "DevicePrimaryCtxRetain"),
      CU_ROW(CtxSetCurrent, "CtxSetCurrent"),
      CU_ROW(CtxGetCurrent, "CtxGetCurrent"),
      CU_ROW(CtxPushCurrent, "CtxPushCurrent_v2"),
      CU_ROW(CtxPopCurrent, "CtxPopCurrent_v2"),
      CU_ROW(CtxSynchronize, "CtxSynchronize"),
      CU_ROW(MemGetInfo, "MemGetInfo_v2"),
      CU_ROW(MemAlloc, "MemAlloc_v2"),
      CU_ROW(MemFree, "MemFree_v2"),
      CU_ROW(MemAllocManaged, "MemAllocManaged"),
      CU_ROW(MemHostAlloc, "MemHostAlloc"),
      CU_ROW(MemFreeHost, "MemFreeHost"),
      CU_ROW(MemHostRegister, "MemHostRegister_v2"),
      CU_ROW(MemHostUnregister, "MemHostUnregister"),
      CU_ROW(MemHostGetDevicePointer, "MemHostGetDevicePointer_v2"),
      CU_ROW(MemGetAddressRange, "MemGetAddressRange_v2"),
      CU_ROW(PointerGetAttribute, "PointerGetAttribute"),
      CU_ROW(PointerGetAttributes, "PointerGetAttributes"),
      CU_ROW(Memcpy, "Memcpy"),
      CU_ROW(MemcpyHtoD, "MemcpyHtoD_v2"),
      CU_ROW(MemcpyDtoH, "MemcpyDtoH_v2"),
      CU_ROW(MemcpyHtoDAsync, "MemcpyHtoDAsync_v2"),
      CU_ROW(MemcpyDtoHAsync, "MemcpyDtoHAsync_v2"),
      CU_ROW(MemcpyDtoDAsync, "MemcpyDtoDAsync_v2"),
      CU_ROW(StreamCreate, "StreamCreate"),
      CU_ROW(StreamSynchronize, "StreamSynchronize"),
      CU_ROW(StreamQuery, "StreamQuery"),
      CU_ROW(StreamWriteValue32, "StreamWriteValue32_v2"),
      CU_ROW(EventCreate, "EventCreate"),
      CU_ROW(EventRecord, "EventRecord"),
      CU_ROW(EventQuery, "EventQuery"),
      CU_ROW(IpcGetMemHandle, "IpcGetMemHandle"),
      CU_ROW(IpcOpenMemHandle, "IpcOpenMemHandle_v2"),
      CU_ROW(IpcCloseMemHandle, "IpcCloseMemHandle"),
      CU_ROW(ModuleLoadData, "ModuleLoadData"),
      CU_ROW(ModuleGetFunction, "ModuleGetFunction"),
      CU_ROW(LaunchKernel, "LaunchKernel"),
      CU_ROW(GetErrorName, "GetErrorName"),
#undef CU_ROW
  };
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return "there is no libcuda.so.1";
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
    void* function = dlsym(library, functions[i].name);
    if (!function) *(int (**)(void)) & function = cu_no_function;
    memcpy((char*)&cu + functions[i].place, &function, sizeof function);
  }
  return NULL;
}

// Makes device `ordinal` (of those there are, in turn) the calling thread's. NULL: done; otherwise the reason why not.
static inline const char* cu_open(int ordinal) {
  int error, count = 0, device;
  void* context;
  const char* reason = cu.Init ? NULL : cu_load();
  if (reason) return reason;
  if ((error = cu.Init(0)) != CU_SUCCESS) return cu_error(error);
  if ((error = cu.DeviceGetCount(&count)) != CU_SUCCESS) return cu_error(error);
  if (count == 0) return "the driver has no device";
  if ((error = cu.DeviceGet(&device, ordinal % count)) != CU_SUCCESS) return cu_error(error);
  if ((error = cu.DevicePrimaryCtxRetain(&context, device)) != CU_SUCCESS) return cu_error(error);
  if ((error = cu.CtxSetCurrent(context)) != CU_SUCCESS) return cu_error(error);
  return NULL;
}

#endif
