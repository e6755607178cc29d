// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Contexts of CUDA, and our streams in them, for all that runs on its devices (cuda.cpp).

#include "device/api/device.hpp"
#include "device/cuda/library.hpp"

namespace weft::device::by_cuda {

// Where an address lies.
struct CudaAddress {
  bool known = false;      // to the driver
  bool on_device = false;  // and the processor cannot touch it
  Context context = nullptr;
  Device device = 0;
};
[[nodiscard]] CudaAddress place_of(const void* address);
// Whether it is memory neither of a device nor of the host, as after it was freed, and the words for that.
[[nodiscard]] bool is_gone(const void* address, const CudaAddress& place);
[[nodiscard]] std::string text_of_gone(const void* address);

// The context is current for a call.
class Current {
 public:
  explicit Current(Context context) {
    Context now = nullptr;
    pushed_ = library.current(&now) != success || now != context;
    if (pushed_) error_ = library.push(context);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    Context was;
    if (pushed_ && error_ == success) (void)library.pop(&was);
  }
  int error() const { return error_; }

 private:
  bool pushed_;
  int error_ = success;
};

// The context for memory at a place, and the calling thread's stream in it.
struct ContextStream {
  Context context;
  Stream stream;
};
// False: there is none, for the reason in `problem`.
[[nodiscard]] bool find_lane(const CudaAddress& place, ContextStream& lane, std::string& problem);

// Copies and fills between memory of devices may still run when the driver's calls return. From now on, those into the
// allocation of this address are done by then, for readers that do not use the driver.
[[nodiscard]] std::string set_sync_memops(const void* address);

// Streams of the program's (gate.cpp).
[[nodiscard]] std::string make_gate(Gate& gate);
[[nodiscard]] std::string halt(const Gate& gate, uint32_t number, void (*reached)(void*), void* argument);

}  // namespace weft::device::by_cuda
