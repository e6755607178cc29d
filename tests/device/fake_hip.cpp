// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A library with the names of HIP and of its compiler over the stand-in for CUDA's driver (fake_cuda.hpp), with
// differences as AMD's has them. Kernels are compiled for the host by c++, and run one thread after the other while the
// processor may touch the device's memory.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "fake_cuda.hpp"
#include "fake_ptx.hpp"

using fake_cuda::Handle, fake_cuda::Pointer, fake_cuda::Rows;

extern "C" {

int hipInit(unsigned flags) {
  return cuInit(flags);
}
int hipDrvGetErrorName(int error, const char** name) {
  return cuGetErrorName(error, name);
}
int hipRuntimeGetVersion(int* version) {
  *version = 60342131;
  return 0;
}
int hipGetDeviceCount(int* count) {
  return cuDeviceGetCount(count);
}
int hipDeviceGetName(char* name, int bytes, int device) {
  return cuDeviceGetName(name, bytes, device);
}
int hipDeviceTotalMem(size_t* bytes, int device) {
  return cuDeviceTotalMem_v2(bytes, device);
}
int hipDeviceGetPCIBusId(char* text, int bytes, int device) {
  (void)std::snprintf(text, static_cast<size_t>(bytes), "0000:0c:00.0");
  return device == 0 ? 0 : 101;
}
int hipCtxGetCurrent(void** context) {
  return cuCtxGetCurrent(context);
}
int hipCtxPushCurrent(void* context) {
  return cuCtxPushCurrent_v2(context);
}
int hipCtxPopCurrent(void** context) {
  return cuCtxPopCurrent_v2(context);
}
int hipDevicePrimaryCtxRetain(void** context, int device) {
  return cuDevicePrimaryCtxRetain(context, device);
}
// It tells no context, writes a byte for a truth and four for an allocation's number, and always succeeds.
int hipDrvPointerGetAttributes(unsigned count, const int* attributes, void** values, Pointer at) {
  constexpr int of_context = 1, of_number = 7, of_managed = 8;
  if (count == 0 || at == 0) return 1;
  for (unsigned i = 0; i < count; ++i) {
    if (attributes[i] == of_context) continue;
    uint64_t value = 0;
    void* answers[] = {&value};
    (void)cuPointerGetAttributes(1, &attributes[i], answers, at);
    const size_t bytes = attributes[i] == of_managed ? 1 : attributes[i] == of_number ? 4 : attributes[i] == 3 ? 8 : 4;
    std::memcpy(values[i], &value, bytes);
  }
  return 0;
}
int hipMemGetAddressRange(Pointer* base, size_t* bytes, Pointer at) {
  return cuMemGetAddressRange_v2(base, bytes, at);
}
int hipMemcpyAsync(void* to, const void* from, size_t bytes, int kind, void* stream) {
  if (kind != 4) return 21;  // hipErrorInvalidMemcpyDirection
  return cuMemcpyAsync(reinterpret_cast<uintptr_t>(to), reinterpret_cast<uintptr_t>(from), bytes, stream);
}
int hipMemcpyParam2DAsync(const Rows* rows, void* stream) {
  return cuMemcpy2DAsync_v2(rows, stream);
}
int hipStreamCreateWithFlags(void** stream, unsigned flags) {
  return cuStreamCreate(stream, flags);
}
int hipStreamSynchronize(void* stream) {
  return cuStreamSynchronize(stream);
}
int hipEventCreateWithFlags(void** event, unsigned flags) {
  return cuEventCreate(event, flags);
}
int hipEventRecord(void* event, void* stream) {
  return cuEventRecord(event, stream);
}
int hipEventQuery(void* event) {
  return cuEventQuery(event);
}
int hipMalloc(Pointer* memory, size_t bytes) {
  return cuMemAlloc_v2(memory, bytes);
}
int hipFree(Pointer memory) {
  return cuMemFree_v2(memory);
}
int hipHostRegister(void* memory, size_t bytes, unsigned flags) {
  return cuMemHostRegister_v2(memory, bytes, flags);
}
int hipHostUnregister(void* memory) {
  return cuMemHostUnregister(memory);
}
int hipIpcGetMemHandle(Handle* handle, Pointer memory) {
  return cuIpcGetMemHandle(handle, memory);
}
int hipIpcOpenMemHandle(Pointer* memory, Handle handle, unsigned flags) {
  return cuIpcOpenMemHandle_v2(memory, handle, flags);
}
int hipIpcCloseMemHandle(Pointer memory) {
  return cuIpcCloseMemHandle(memory);
}
int hipModuleLoadData(void** module, const void* code) {
  return cuModuleLoadData(module, code);
}
int hipModuleGetFunction(void** function, void* module, const char* name) {
  return cuModuleGetFunction(function, module, name);
}
int hipModuleLaunchKernel(void* function, unsigned blocks, unsigned blocks_y, unsigned blocks_z, unsigned threads,
                          unsigned threads_y, unsigned threads_z, unsigned shared, void* stream, void** parameters,
                          void** extra) {
  return cuLaunchKernel(function, blocks, blocks_y, blocks_z, threads, threads_y, threads_z, shared, stream, parameters,
                        extra);
}

// ---- The compiler: its code is the text.

int hiprtcCreateProgram(void** program, const char* text, const char* name, int headers, const char** header,
                        const char** header_name) {
  if (name == nullptr || headers != 0 || header != nullptr || header_name != nullptr) return 3;
  *program = strdup(text);
  return 0;
}
int hiprtcCompileProgram(void* program, int options, const char** option) {
  bool exact = false;
  for (int i = 0; i < options; ++i) exact = exact || std::strcmp(option[i], "-ffp-contract=off") == 0;
  return exact && std::strlen(static_cast<char*>(program)) > 0 ? 0 : 6;  // HIPRTC_ERROR_COMPILATION
}
int hiprtcGetCodeSize(void* program, size_t* bytes) {
  *bytes = std::strlen(static_cast<char*>(program)) + 1;
  return 0;
}
int hiprtcGetCode(void* program, char* code) {
  std::strcpy(code, static_cast<char*>(program));
  return 0;
}
int hiprtcDestroyProgram(void** program) {
  std::free(*program);
  return 0;
}

}  // extern "C"

// ---- Kernels, in place of those of fake_ptx.cpp

namespace fake_ptx {

struct Kernel {
  size_t (*bytes)();
  void (*run)(unsigned blocks, unsigned threads, const void* arguments);
};

Kernel* load(const char* text, const char* /*name*/) {
  char folder[] = "/tmp/fake-hip-XXXXXX";
  if (mkdtemp(folder) == nullptr) return nullptr;
  const std::string source = std::string(folder) + "/k.cpp", object = std::string(folder) + "/k.so";
  FILE* file = std::fopen(source.c_str(), "w");
  if (file == nullptr) return nullptr;
  std::fprintf(file,
               "#include <stddef.h>\n#define __global__\n#define __device__\n"
               "static struct { unsigned x; } blockIdx, threadIdx, blockDim, gridDim;\n%s\n"
               "extern \"C\" size_t bytes() { return sizeof(weft_text::Arguments); }\n"
               "extern \"C\" void run(unsigned blocks, unsigned threads, const void* arguments) {\n"
               "  gridDim.x = blocks, blockDim.x = threads;\n"
               "  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)\n"
               "    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x)\n"
               "      weft_text::weft(*(const weft_text::Arguments*)arguments);\n}\n",
               text);
  std::fclose(file);
  const std::string command =
      "c++ -std=c++17 -O1 -w -ffp-contract=off -fPIC -shared -o " + object + " " + source + " >&2";
  void* code = std::system(command.c_str()) == 0 ? dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  unlink(source.c_str());
  unlink(object.c_str());
  rmdir(folder);
  if (code == nullptr) return nullptr;
  return new Kernel{reinterpret_cast<size_t (*)()>(dlsym(code, "bytes")),
                    reinterpret_cast<void (*)(unsigned, unsigned, const void*)>(dlsym(code, "run"))};
}

std::vector<char> arguments_of(const Kernel& kernel, void** parameters) {
  const char* const all = static_cast<char*>(*parameters);
  return {all, all + kernel.bytes()};
}

int run(const Kernel& kernel, Size blocks, Size threads, const void* arguments,
        void* (* /*reach*/)(unsigned long long address, size_t bytes)) {
  static std::mutex alone;  // the memory is open for one
  const std::lock_guard guard(alone);
  fake_cuda_open_memory(1);
  kernel.run(blocks.x, threads.x, arguments);
  fake_cuda_open_memory(0);
  return 0;
}

}  // namespace fake_ptx
