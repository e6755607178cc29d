// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory of devices for adapters of networks, which read and write it by themselves.

#include <cstdint>
#include <string>

namespace weft::device {

// The maker of the devices, by which libraries of networks name their memory.
enum class Maker : uint8_t { none, nvidia, amd };

// The maker of the devices of the driver in use; none: adapters do not know its memory.
[[nodiscard]] Maker maker();

// Prepares the allocation that an address is in: all that the device has written before a call of the program returned
// is there for adapters. `number`: of its device among those of the process. Empty, or the reason why not.
[[nodiscard]] std::string offer(const void* address, int& number);

// All that adapters have written into an allocation until now is there for what its device does from now on.
void settle(const void* address);

// For libraries of networks that copy such memory with the driver: the context of an allocation is current for the
// calling thread. Memory of the host, and nullptr, have none.
class InContext {
 public:
  explicit InContext(const void* address);
  ~InContext();
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;

 private:
  bool pushed_ = false;
};

}  // namespace weft::device
