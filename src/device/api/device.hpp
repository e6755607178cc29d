// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory of devices (accelerators), which the processor must not touch: to whom an address belongs, and copies between
// such memory and the host's. One driver at most is in use in a process; each is a row (cuda/cuda.cpp, mock/mock.cpp).
// Weft links with none of them: a driver's library is loaded when the process starts MPI, or found loaded already.
//
// All functions are thread-safe once open() (select/choice.hpp) has returned. A text that they return is empty if all
// went well, otherwise it is the reason why not.

#include <cstddef>
#include <cstdint>
#include <string>

#include "device/kernel/kernel.hpp"

namespace weft::device {

// An allocation, as other processes of the host find it. Plain bytes: it lies in shared memory.
struct Shared {
  uint64_t base;    // the owner's address of its first byte
  uint64_t bytes;   // of the allocation
  uint64_t number;  // of the allocation in its process: memory that was freed and allocated anew has another
  unsigned char handle[64];
};

// A copy under way.
struct Copy {
  uint64_t number = 0;
  void* engine = nullptr;  // the driver's
};
enum class Progress : uint8_t { running, done, failed };

// A stream of the program's at which operations of Weft's wait for each other: it goes on when a word in pinned memory
// has reached a number.
struct Gate {
  void* stream = nullptr;
  uint32_t* word = nullptr;
  bool by_host = false;  // a function of the host waits: the device cannot
};

struct Driver {
  const char* name;  // a word of WEFT_DEVICES
  // Makes it usable. `alone`: only if the process has its library already.
  std::string (*open)(bool alone);
  // Whether the address is device memory that the processor cannot touch, of this process or mapped from another.
  bool (*owns)(const void* address);
  // Copies between host and device, or within the device; done when it returns.
  std::string (*copy)(void* to, const void* from, size_t bytes);
  // Copies rows of `bytes` each, which begin so many bytes apart, as copy() does.
  std::string (*copy_rows)(void* to, size_t to_stride, const void* from, size_t from_stride, size_t bytes, size_t rows);
  // Begins a copy. Host memory should be pinned: otherwise the call may last as long as the copy.
  std::string (*begin)(void* to, const void* from, size_t bytes, Copy& copy);
  Progress (*look)(const Copy& copy);
  // Memory of the device that is current, or else of the first; nullptr: none is left.
  void* (*allocate)(size_t bytes);
  bool (*release)(void* memory);  // false: it is none of allocate()
  // Host memory that copies reach faster, until unpin(); false: it stays as it was.
  bool (*pin)(void* memory, size_t bytes);
  void (*unpin)(void* memory);
  // How other processes of the host find the allocation that an address is in.
  std::string (*share)(const void* address, Shared& shared);
  // Maps an allocation of another process: the address of its first byte here.
  std::string (*map)(const Shared& shared, void*& base);
  void (*unmap)(void* base);
  // Moves bytes [position, position + bytes) of a layout on the device to `packed` or back; done when it returns. The
  // data of a list are fewer than 2^30 bytes.
  std::string (*move)(const KernelLayout& layout, KernelDirection direction, int64_t position, void* packed,
                      int64_t bytes);
  // Performs a reduction; done when it returns. The addresses are multiples of the sizes of their numbers. `inout` is
  // on the device.
  std::string (*reduce)(const KernelReduction& reduction, const void* in, void* inout, int64_t count);
  // The type of its streams in programs; nullptr: the rest is not there.
  const char* stream_type = nullptr;
  // Finds out how the stream of the gate can wait.
  std::string (*make_gate)(Gate& gate) = nullptr;
  // Enqueues on the stream that reached(argument) is called, by a thread of the driver's, which must not call the
  // driver, and that the stream then waits until the word is `number` or more, in a circle.
  std::string (*halt)(const Gate& gate, uint32_t number, void (*reached)(void*), void* argument) = nullptr;
};

extern const Driver cuda;
extern const Driver hip;  // AMD's devices
extern const Driver ze;   // Intel's devices, by Level Zero
extern const Driver mock;

// The driver in use; nullptr: none.
extern const Driver* active;
inline bool on() {
  return active != nullptr;
}
// Whether data are where the processor cannot touch them.
inline bool owns(const void* address) {
  return on() && active->owns(address);
}

// For copies whose caller cannot return a text: a failure of the calling thread, and whether there was one since it was
// last asked; the reason of the last one of all threads.
void fail(const std::string& problem);
[[nodiscard]] bool take_failure();
[[nodiscard]] std::string last_problem();

}  // namespace weft::device
