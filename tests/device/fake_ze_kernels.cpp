// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Kernels of the stand-in for Level Zero: their SPIR-V is validated, translated to LLVM's form and compiled for the
// processor by tools of LLVM's, which share no code with Weft, and run one thread after the other while the processor
// may touch the device's memory. Without the tools modules are not built, as a driver has it whose device cannot run
// them. FAKE_ZE: with "copies" none is built at all; with "kernels" the process ends with 77 where the tools are
// missing, and with 1 if it has launched no kernel.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <vector>

#include "fake_ptx.hpp"
#include "fake_ze.hpp"

using namespace fake_ze;

namespace {

constexpr unsigned most_pointers = 3;

// The arguments of a launch: pointers, or numbers, and behind them a structure if there is one.
struct Arguments {
  uint64_t count;
  uint64_t number[most_pointers];
  uint64_t has_structure;
  char structure[288];
};

// The rest of the object beside the kernel: the functions that kernels ask for their numbers, and the loop over
// threads.
constexpr const char* surroundings = R"(
typedef unsigned long Word;
typedef struct { char bytes[288]; } Structure;
typedef struct { Word count, number[3], has_structure; Structure structure; } Arguments;
static Word id, size;
Word _Z13get_global_idj(unsigned dimension) { return dimension == 0 ? id : 0; }
Word _Z15get_global_sizej(unsigned dimension) { return dimension == 0 ? size : 1; }
void weft(void);
void run(Word threads, const Arguments* a) {
  size = threads;
  for (id = 0; id < threads; ++id) {
    if (a->count == 2)
      ((void (*)(Word, Word, Structure))weft)(a->number[0], a->number[1], a->structure);
    else if (a->has_structure)
      ((void (*)(Word, Word, Word, Structure))weft)(a->number[0], a->number[1], a->number[2], a->structure);
    else
      ((void (*)(Word, Word, Word))weft)(a->number[0], a->number[1], a->number[2]);
  }
}
)";

bool has(const std::string& tool) {
  return std::system(("command -v " + tool + " >/dev/null 2>&1").c_str()) == 0;
}

bool has_tools() {
  static const bool all = has("llvm-spirv-14") && has("clang-14");
  return all;
}

bool write(const std::string& path, const void* bytes, size_t size) {
  FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const bool written = std::fwrite(bytes, 1, size, file) == size;
  return std::fclose(file) == 0 && written;
}

// The module as code of the processor; nullptr: the tools refuse it.
void* compile(const void* code, size_t bytes) {
  char folder[] = "/tmp/fake-ze-XXXXXX";
  if (mkdtemp(folder) == nullptr) return nullptr;
  const std::string module = std::string(folder) + "/k.spv", translated = std::string(folder) + "/k.bc",
                    source = std::string(folder) + "/k.c", object = std::string(folder) + "/k.so";
  static const std::string validate = has("spirv-val") ? "spirv-val --target-env spv1.0 " : "true ";
  const std::string command = "{ " + validate + module + " && llvm-spirv-14 -r " + module + " -o " + translated +
                              " && clang-14 -w -O1 -march=native -fPIC -shared -Wl,-Bsymbolic -o " + object +
                              " -x ir " + translated + " -x c " + source + "; } >&2";
  void* made = nullptr;
  if (write(module, code, bytes) && write(source, surroundings, std::strlen(surroundings)) &&
      std::system(command.c_str()) == 0)
    made = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  for (const std::string& path : {module, translated, source, object}) unlink(path.c_str());
  rmdir(folder);
  return made;
}

struct Kernel {
  void* function;  // of the library below
  uint32_t threads;
  std::vector<std::string> arguments;  // as they were set
};

std::atomic<bool> launched = false;

void expect_kernels() {
  if (launched) return;
  std::fprintf(stderr, "fake_ze: no kernel was launched\n");
  _exit(1);
}
const int expected = is("kernels") ? std::atexit(expect_kernels) : 0;

}  // namespace

extern "C" {

struct ModuleDescription {
  Head head;
  int format;
  size_t bytes;
  const void* code;
  const char* flags;
  const void* constants;
};

int zeModuleCreate(void* context, void* device, const ModuleDescription* description, void** module, void** log) {
  if (context != &the_context || device != &the_device || !is_structure(description, 0x1b) ||
      description->format != 0 || description->flags != nullptr || description->constants != nullptr || log != nullptr)
    return INVALID_ENUMERATION;
  if (is("copies")) return MODULE_BUILD_FAILURE;
  if (is("kernels") && !has_tools()) {
    std::fprintf(stderr, "fake_ze: llvm-spirv-14 or clang-14 is missing\n");
    _exit(77);
  }
  if (!has_tools()) return MODULE_BUILD_FAILURE;
  void* const code = compile(description->code, description->bytes);
  if (code == nullptr) {  // it would go unseen: programs do without
    std::fprintf(stderr, "fake_ze: a module is not valid\n");
    std::abort();
  }
  *module = code;
  return SUCCESS;
}

struct KernelDescription {
  Head head;
  uint32_t flags;
  const char* name;
};

int zeKernelCreate(void* module, const KernelDescription* description, void** kernel) {
  if (!is_structure(description, 0x1d) || description->flags != 0) return INVALID_ENUMERATION;
  if (dlsym(module, description->name) == nullptr) return INVALID_KERNEL_NAME;
  const Inside inside;
  const std::string text = std::string(description->name) + " " + std::to_string(reinterpret_cast<uintptr_t>(module));
  void *loaded = nullptr, *function = nullptr;
  if (cuModuleLoadData(&loaded, text.c_str()) != 0 || cuModuleGetFunction(&function, loaded, description->name) != 0)
    return INVALID_ARGUMENT;
  *kernel = new Kernel{function, 0, {}};
  return SUCCESS;
}

int zeKernelSetGroupSize(void* kernel, uint32_t x, uint32_t y, uint32_t z) {
  if (x == 0 || x > 1024 || y != 1 || z != 1) return INVALID_ARGUMENT;
  static_cast<Kernel*>(kernel)->threads = x;
  return SUCCESS;
}

int zeKernelSetArgumentValue(void* kernel, uint32_t index, size_t bytes, const void* value) {
  if (index > most_pointers || value == nullptr) return INVALID_ARGUMENT;
  auto& arguments = static_cast<Kernel*>(kernel)->arguments;
  if (arguments.size() <= index) arguments.resize(index + 1);
  arguments[index].assign(static_cast<const char*>(value), bytes);
  return SUCCESS;
}

// Whether it is memory of the device, or pinned. The third argument of a reduction is a number.
static bool is_reached(uint64_t address) {
  return fake_cuda::find(address).has_value();
}

int zeCommandListAppendLaunchKernel(void* list, void* kernel, const uint32_t (*groups)[3], void* signal, uint32_t waits,
                                    void** /*wait*/) {
  auto* const l = static_cast<List*>(list);
  auto* const k = static_cast<Kernel*>(kernel);
  const std::unique_lock alone(l->busy, std::try_to_lock);
  if (!alone.owns_lock() || !l->computes || k->threads == 0 || (*groups)[0] == 0 || (*groups)[1] != 1 ||
      (*groups)[2] != 1)
    return INVALID_ARGUMENT;
  Arguments arguments{};
  for (const std::string& argument : k->arguments) {
    const bool is_structure = argument.size() == sizeof arguments.structure;
    if (arguments.has_structure != 0 || (!is_structure && (argument.size() != 8 || arguments.count == most_pointers)))
      return INVALID_ARGUMENT;
    arguments.has_structure = is_structure ? 1 : 0;
    std::memcpy(is_structure ? arguments.structure : static_cast<void*>(&arguments.number[arguments.count++]),
                argument.data(), argument.size());
  }
  const uint64_t pointers = arguments.has_structure != 0 ? arguments.count : 2;
  if (arguments.count < 2) return INVALID_ARGUMENT;
  for (uint64_t i = 0; i < pointers; ++i) {
    if (!is_reached(arguments.number[i])) return INVALID_ARGUMENT;
  }
  launched = true;
  const Inside inside;
  void* parameters[] = {&arguments};
  return end_command(
      l, cuLaunchKernel(k->function, (*groups)[0], 1, 1, k->threads, 1, 1, 0, l->stream, parameters, nullptr), signal,
      waits);
}

}  // extern "C"

// ---- In place of those of fake_ptx.cpp

namespace fake_ptx {

struct Kernel {
  void (*run)(uint64_t threads, const void* arguments);
};

// The text is the kernel's name and its object.
Kernel* load(const char* text, const char* name) {
  auto* const code = reinterpret_cast<void*>(std::strtoull(text + std::strlen(name), nullptr, 10));
  return new Kernel{reinterpret_cast<void (*)(uint64_t, const void*)>(dlsym(code, "run"))};
}

std::vector<char> arguments_of(const Kernel& /*kernel*/, void** parameters) {
  const char* const all = static_cast<char*>(*parameters);
  return {all, all + sizeof(Arguments)};
}

int run(const Kernel& kernel, Size blocks, Size threads, const void* arguments,
        void* (* /*reach*/)(unsigned long long address, size_t bytes)) {
  static std::mutex alone;  // the memory is open for one
  const std::lock_guard guard(alone);
  fake_cuda_open_memory(1);
  kernel.run(static_cast<uint64_t>(blocks.x) * threads.x, arguments);
  fake_cuda_open_memory(0);
  return 0;
}

}  // namespace fake_ptx
