// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory of devices (accelerators), which the processor must not touch: to whom an address belongs, and copies between
// such memory and the host's. One driver at most is in use in a process; each is a row (cuda.cpp, mock.cpp). Weft links
// with none of them: a driver's library is loaded when the process starts MPI, or found loaded already.
//
// All functions are thread-safe once open() has returned.

#include <cstddef>
#include <string>

namespace weft::device {

struct Driver {
  const char* name;  // a word of WEFT_DEVICES
  // Makes it usable. `alone`: only if the process has its library already. Empty: done; otherwise the reason why not.
  std::string (*open)(bool alone);
  // Whether the address is device memory that the processor cannot touch.
  bool (*owns)(const void* address);
  // Between host and device, or within the device; done when it returns. Empty: done; otherwise the reason why not.
  std::string (*copy)(void* to, const void* from, size_t bytes);
  // Memory of the device; nullptr: none is left, or there is no current device.
  void* (*allocate)(size_t bytes);
  bool (*release)(void* memory);  // false: it is none of allocate()
};

extern const Driver cuda;
extern const Driver mock;

// The driver in use; nullptr: none.
extern const Driver* active;
inline bool on() {
  return active != nullptr;
}

// Chooses the driver by WEFT_DEVICES. Empty: done, whether or not there is one; otherwise the named one cannot be used.
[[nodiscard]] std::string open();

}  // namespace weft::device
