// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// kernel_texts VENDOR DEVICE...: compiles all kernels of Level Zero ("intel", by ocloc's library) or HIP ("amd", by
// hiprtc) for devices, none of which is needed. Without the vendor's library it is skipped.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "device/kernel/hip_text.hpp"
#include "device/kernel/spirv.hpp"

namespace {

using namespace weft::device;

constexpr int skipped = 77;

// ---- The kernels

std::string name_of(const KernelReduction& reduction) {
  return "operation " + std::to_string(static_cast<int>(reduction.operation)) + " of number " +
         std::to_string(static_cast<int>(reduction.number)) + ", index " +
         std::to_string(static_cast<int>(reduction.index)) + (reduction.is_complex ? ", complex" : "");
}

std::string name_of(const ptx::LayoutForm& form) {
  return std::string(form.direction == KernelDirection::pack ? "pack" : "unpack") + ", listing " +
         std::to_string(static_cast<int>(form.listing)) + ", " + std::to_string(form.loops) + " loops, units of " +
         std::to_string(form.unit);
}

void each_reduction(const std::function<void(const KernelReduction&)>& call) {
  for (int operation = 0; operation <= static_cast<int>(KernelOperation::maxloc); ++operation) {
    for (int number = 1; number <= static_cast<int>(Number::f64); ++number) {
      for (int index = 0; index <= static_cast<int>(Number::f64); ++index) {
        for (const bool is_complex : {false, true})
          call({static_cast<KernelOperation>(operation), static_cast<Number>(number), static_cast<Number>(index),
                is_complex});
      }
    }
  }
}

void each_layout(const std::function<void(const ptx::LayoutForm&)>& call) {
  for (const KernelDirection direction : {KernelDirection::pack, KernelDirection::unpack}) {
    for (const ptx::Listing listing : {ptx::Listing::none, ptx::Listing::even, ptx::Listing::uneven}) {
      for (int loops = 0; loops <= KernelLayout::max_loops; ++loops) {
        for (int unit = 1; unit <= 16; unit *= 2) call({direction, listing, loops, unit});
      }
    }
  }
}

template <class Find>
void find(void* library, const char* name, Find*& function) {
  function = reinterpret_cast<Find*>(dlsym(library, name));
}

// ---- Intel's compiler

class Intel {
 public:
  bool load() {
    void* const library = dlopen("libocloc.so", RTLD_NOW);
    if (library == nullptr) return false;
    find(library, "oclocInvoke", invoke_);
    find(library, "oclocFreeOutput", release_);
    return invoke_ != nullptr && release_ != nullptr;
  }
  template <class Form>
  bool compile(const Form& form, const char* device, bool& exists) {
    const std::vector<uint32_t> module = spirv::module_of(form);
    exists = !module.empty();
    if (!exists) return true;
    const char* words[] = {"ocloc", "compile", "-q", "-spirv_input", "-file", "kernel.spv", "-device", device};
    const auto* const bytes = reinterpret_cast<const uint8_t*>(module.data());
    const uint64_t size = module.size() * sizeof module[0];
    const char* const name = "kernel.spv";
    uint32_t outputs = 0;
    uint8_t** output = nullptr;
    uint64_t* output_size = nullptr;
    char** output_name = nullptr;
    const int error = invoke_(std::size(words), words, 1, &bytes, &size, &name, 0, nullptr, nullptr, nullptr, &outputs,
                              &output, &output_size, &output_name);
    bool made = false;
    for (uint32_t i = 0; i < outputs; ++i) {
      if (std::strcmp(output_name[i], "stdout.log") == 0)
        (void)std::fwrite(output[i], 1, output_size[i], stderr);
      else
        made = made || output_size[i] > 0;
    }
    (void)release_(&outputs, &output, &output_size, &output_name);
    return error == 0 && made;
  }

 private:
  int (*invoke_)(unsigned words, const char** word, uint32_t sources, const uint8_t* const* source,
                 const uint64_t* source_size, const char* const* source_name, uint32_t headers,
                 const uint8_t* const* header, const uint64_t* header_size, const char* const* header_name,
                 uint32_t* outputs, uint8_t*** output, uint64_t** output_size, char*** output_name);
  int (*release_)(uint32_t* outputs, uint8_t*** output, uint64_t** output_size, char*** output_name);
};

// ---- AMD's

class Amd {
 public:
  bool load() {
    for (const char* name : {"libhiprtc.so.7", "libhiprtc.so.6", "libamdhip64.so.5"}) {
      void* const library = dlopen(name, RTLD_NOW);
      if (library == nullptr) continue;
      find(library, "hiprtcCreateProgram", create_);
      find(library, "hiprtcCompileProgram", compile_);
      find(library, "hiprtcGetProgramLogSize", log_bytes_);
      find(library, "hiprtcGetProgramLog", log_);
      find(library, "hiprtcDestroyProgram", destroy_);
      return destroy_ != nullptr;
    }
    return false;
  }
  template <class Form>
  bool compile(const Form& form, const char* device, bool& exists) {
    const std::string text = hip_text::text_of(form);
    exists = !text.empty();
    if (!exists) return true;
    void* program = nullptr;
    if (create_(&program, text.c_str(), "weft", 0, nullptr, nullptr) != 0) return false;
    const std::string target = std::string("--offload-arch=") + device;
    const char* options[] = {"-O3", "-ffp-contract=off", target.c_str()};
    const bool compiled = compile_(program, std::size(options), options) == 0;
    size_t bytes = 0;
    if (!compiled && log_bytes_(program, &bytes) == 0 && bytes > 0) {
      std::string log(bytes, '\0');
      if (log_(program, log.data()) == 0) std::fprintf(stderr, "%s\n", log.c_str());
    }
    (void)destroy_(&program);
    return compiled;
  }

 private:
  int (*create_)(void** program, const char* text, const char* name, int headers, const char** header,
                 const char** header_name);
  int (*compile_)(void* program, int options, const char** option);
  int (*log_bytes_)(void* program, size_t* bytes);
  int (*log_)(void* program, char* log);
  int (*destroy_)(void** program);
};

// ----

template <class Compiler>
int compile_all(int devices, char** device) {
  Compiler compiler;
  if (!compiler.load()) {
    std::printf("the vendor's compiler is missing\n");
    return skipped;
  }
  int refused = 0;
  for (int i = 0; i < devices; ++i) {
    int compiled = 0;
    const auto compile = [&](const auto& form) {
      bool exists = false;
      const bool good = compiler.compile(form, device[i], exists);
      compiled += exists && good ? 1 : 0;
      if (good) return;
      ++refused;
      std::printf("%s is refused for %s\n", name_of(form).c_str(), device[i]);
    };
    each_reduction(compile);
    each_layout(compile);
    std::printf("%s: %d kernels\n", device[i], compiled);
    if (compiled == 0) ++refused;
  }
  return refused == 0 ? 0 : 1;
}

}  // namespace

int main(int words, char** word) {
  const std::string vendor = words > 2 ? word[1] : "";
  if (vendor == "intel") return compile_all<Intel>(words - 2, word + 2);
  if (vendor == "amd") return compile_all<Amd>(words - 2, word + 2);
  std::fprintf(stderr, "kernel_texts intel|amd DEVICE...\n");
  return 2;
}
