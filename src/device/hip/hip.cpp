// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// HIP's library for AMD's devices as a CudaLibrary: from ROCm 6 on, where its numbers of kinds of memory are CUDA's.
// The few functions that differ have another one in front.
#include <dlfcn.h>

#include <vector>

#include "device/cuda/library.hpp"
#include "device/kernel/hip_text.hpp"

namespace weft::device::by_cuda {
namespace {

using Program = void*;

struct Own {
  int (*copy)(void* to, const void* from, size_t bytes, int kind, Stream stream);
  int (*load_module)(Module* module, const void* code);
  // These are functions of its compiler.
  int (*create)(Program* program, const char* text, const char* name, int headers, const char* const* header,
                const char* const* header_name);
  int (*compile)(Program program, int options, const char* const* option);
  int (*code_bytes)(Program program, size_t* bytes);
  int (*code)(Program program, char* code);
  int (*destroy)(Program* program);
};
constinit Own own{};

int copy(Pointer to, Pointer from, size_t bytes, Stream stream) {
  constexpr int as_the_addresses_say = 4;  // hipMemcpyDefault
  return own.copy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes, as_the_addresses_say,
                  stream);
}

constexpr int invalid_image = 200;  // hipErrorInvalidImage

// Products and sums are rounded one by one, as the processor's are.
int load_module(Module* module, const void* text) {
  static constexpr const char* options[] = {"-O3", "-ffp-contract=off"};
  Program program = nullptr;
  if (own.create(&program, static_cast<const char*>(text), "weft", 0, nullptr, nullptr) != success)
    return invalid_image;
  std::vector<char> code;
  size_t bytes = 0;
  bool good = own.compile(program, 2, options) == success && own.code_bytes(program, &bytes) == success;
  if (good) code.resize(bytes);
  good = good && own.code(program, code.data()) == success;
  (void)own.destroy(&program);
  return good ? own.load_module(module, code.data()) : invalid_image;
}

void* load_one_of(const char* const (&names)[2], bool alone, std::string& problem) {
  for (const char* name : names) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | (alone ? RTLD_NOLOAD : 0))) return handle;
  }
  problem = std::string(names[0]) + " and " + names[1] + " cannot be loaded: ";
  problem.append(alone ? "the program has neither" : dlerror());
  return nullptr;
}

}  // namespace

std::string load_hip(bool alone) {
  static constexpr const char* const libraries[] = {"libamdhip64.so.7", "libamdhip64.so.6"};
  static constexpr const char* const compilers[] = {"libhiprtc.so.7", "libhiprtc.so.6"};
  std::string problem;
  void* const handle = load_one_of(libraries, alone, problem);
  if (handle == nullptr) return problem;
  void* const compiler = load_one_of(compilers, false, problem);
  if (compiler == nullptr) return problem;
  library = {.title = "HIP",
             .prefix = "hip",
             .copy = copy,
             .load_module = load_module,
             .text_of_layout = hip_text::text_of,
             .text_of_reduction = hip_text::text_of};
  Finder in{handle};
  in.find("hipInit", library.init);
  in.find("hipDrvGetErrorName", library.error_name);
  in.find("hipCtxGetCurrent", library.current);
  in.find("hipCtxPushCurrent", library.push);
  in.find("hipCtxPopCurrent", library.pop);
  in.find("hipDevicePrimaryCtxRetain", library.retain);
  in.find("hipDrvPointerGetAttributes", library.pointer_attributes);
  in.find("hipMemGetAddressRange", library.range);
  in.find("hipMemcpyAsync", own.copy);
  in.find("hipMemcpyParam2DAsync", library.copy_rows);
  in.find("hipStreamCreateWithFlags", library.make_stream);
  in.find("hipStreamSynchronize", library.synchronize);
  in.find("hipEventCreateWithFlags", library.make_event);
  in.find("hipEventRecord", library.record);
  in.find("hipEventQuery", library.query);
  in.find("hipMalloc", library.allocate);
  in.find("hipFree", library.release);
  in.find("hipHostRegister", library.pin);
  in.find("hipHostUnregister", library.unpin);
  in.find("hipIpcGetMemHandle", library.handle_of);
  in.find("hipIpcOpenMemHandle", library.open_handle);
  in.find("hipIpcCloseMemHandle", library.close_handle);
  in.find("hipModuleLoadData", own.load_module);
  in.find("hipModuleGetFunction", library.function_of);
  in.find("hipModuleLaunchKernel", library.launch);
  in.find_if_there("hipLaunchHostFunc", library.call_host);
  if (in.missing != nullptr) return std::string("libamdhip64.so lacks ") + in.missing + ", which ROCm 6 and newer has";
  Finder by{compiler};
  by.find("hiprtcCreateProgram", own.create);
  by.find("hiprtcCompileProgram", own.compile);
  by.find("hiprtcGetCodeSize", own.code_bytes);
  by.find("hiprtcGetCode", own.code);
  by.find("hiprtcDestroyProgram", own.destroy);
  if (by.missing != nullptr) return std::string("libhiprtc.so lacks ") + by.missing + ", which ROCm 6 and newer has";
  const int error = library.init(0);
  return error == success ? std::string() : text_of("Init", error);
}

}  // namespace weft::device::by_cuda
