// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The device that fake_cuda.cpp stands for, as an adapter has it: for libraries in front of those of networks.

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace fake_adapter {

// A function of the stand-in; nullptr: the process has not loaded it.
template <class Function>
Function driver_function(const char* name) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

inline unsigned long long number_of(const void* address) {
  return reinterpret_cast<uintptr_t>(address);
}

// Where memory of the device is; nullptr: it is none.
inline char* on_device(const void* address) {
  static const auto reach = driver_function<char* (*)(unsigned long long)>("fake_cuda_reach");
  return reach == nullptr ? nullptr : reach(number_of(address));
}
// Whether its allocation was prepared for adapters.
inline bool is_offered(const void* address) {
  static const auto offered = driver_function<int (*)(unsigned long long)>("fake_cuda_is_offered");
  return offered != nullptr && offered(number_of(address)) != 0;
}
// Called when the device's writes by adapters are flushed.
inline void at_flush(void (*call)()) {
  static const auto set = driver_function<void (*)(void (*)())>("fake_cuda_at_flush");
  if (set != nullptr) set(call);
}
inline bool has_context() {
  static const auto current = driver_function<int (*)(void**)>("cuCtxGetCurrent");
  void* context = nullptr;
  return current != nullptr && current(&context) == 0 && context != nullptr;
}

inline bool is_set(const char* variable, std::string_view value) {
  const char* const set = std::getenv(variable);
  return set != nullptr && value == set;
}

[[noreturn]] inline void wrong(const char* text) {
  std::fprintf(stderr, "%s\n", text);
  std::abort();
}

}  // namespace fake_adapter
