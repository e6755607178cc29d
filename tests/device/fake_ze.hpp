// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The common ground of the stand-in for Level Zero: memory and commands in fake_ze.cpp, kernels in
// fake_ze_kernels.cpp.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "fake_cuda.hpp"

namespace fake_ze {

enum : int {
  SUCCESS = 0,
  NOT_READY = 1,
  OUT_OF_DEVICE_MEMORY = 0x70000003,
  MODULE_BUILD_FAILURE = 0x70000004,
  UNSUPPORTED = 0x78000003,
  INVALID_ARGUMENT = 0x78000004,
  INVALID_SYNCHRONIZATION_OBJECT = 0x7800000b,
  INVALID_ENUMERATION = 0x7800000c,
  INVALID_KERNEL_NAME = 0x78000011,
};

struct Head {  // of every structure
  int structure;
  const void* next;
};
inline bool is_structure(const void* structure, int number) {
  const auto* head = static_cast<const Head*>(structure);
  return head->structure == number && head->next == nullptr;
}

// Whether FAKE_ZE is this word.
inline bool is(const char* word) {
  const char* value = std::getenv("FAKE_ZE");
  return value != nullptr && std::strcmp(value, word) == 0;
}

inline int result_of(int error) {
  return error == 0 ? SUCCESS : error == 2 ? OUT_OF_DEVICE_MEMORY : error == 600 ? NOT_READY : INVALID_ARGUMENT;
}

extern int the_device, the_context;

// CUDA's functions want their context current; Level Zero's know of none.
struct Inside {
  Inside() {
    void* context = nullptr;
    (void)cuCtxGetCurrent(&before);
    (void)cuDevicePrimaryCtxRetain(&context, 0);
    (void)cuCtxSetCurrent(context);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { (void)cuCtxSetCurrent(before); }
  void* before = nullptr;
};

struct List {
  bool synchronous;
  bool computes;
  void* stream;
  std::mutex busy;  // one thread at a time may append
};
// Behind what was appended.
int end_command(List* list, int error, void* signal, uint32_t waits);

}  // namespace fake_ze
