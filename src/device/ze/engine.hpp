// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Level Zero's devices with our command lists for them, and copies that are waited for: for all that runs there.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "device/ze/library.hpp"

namespace weft::device::by_ze {

struct Engine {
  static constexpr unsigned quick_lists = 4;
  static constexpr uint64_t events = 64;
  struct Quick {  // for copies that are waited for: the call that appends one returns when it is done
    std::mutex mutex;
    CommandList list = nullptr;
  };

  DeviceHandle device = nullptr;
  Quick quick[quick_lists];
  std::mutex mutex;  // of the rest
  CommandList bulk = nullptr;
  CommandList work = nullptr;  // runs kernels; nullptr: the device has no engine for them
  Event batch = nullptr;       // behind the kernels, or copies, of a layout or a reduction
  Event event[events] = {};    // of the copies that were begun last, by their number
  uint64_t begun = 0;
  std::map<uint64_t, Kernel> kernels;  // by their form; nullptr: the driver does not compile it
  void* scratch = nullptr;             // on the device, for data that kernels do not reach, from the first use on
};

extern DriverHandle driver;
extern Context context;
extern thread_local DeviceHandle last_device;  // that the thread copied with

// Whose an address is.
struct ZeAddress {
  bool on_device = false;  // and the processor cannot touch it
  bool by_both = false;    // memory that the driver allocated, which processor and kernels reach
  DeviceHandle device = nullptr;
  uint64_t number = 0;  // of its allocation
};
[[nodiscard]] ZeAddress place_of(const void* address);

// The engine of the first of both addresses that is a device's; nullptr with the reason in `problem`.
[[nodiscard]] Engine* engine_for(const void* to, const void* from, std::string& problem);

// Rows of equal length at equal distances.
struct CopyRows {
  char* to;
  size_t to_stride;
  const char* from;
  size_t from_stride;
  size_t bytes;
  size_t count;
};
// Appends the copies of rows to a list.
[[nodiscard]] std::string append(CommandList list, const CopyRows& rows);

// Copies, and waits.
[[nodiscard]] std::string copy(void* to, const void* from, size_t bytes);
[[nodiscard]] std::string copy_rows(void* to, size_t to_stride, const void* from, size_t from_stride, size_t bytes,
                                    size_t rows);

}  // namespace weft::device::by_ze
