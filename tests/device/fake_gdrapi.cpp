// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A library in place of GDRCopy's that maps memory of the device which fake_cuda.cpp stands for. Whole pages of the
// device are pinned, of memory that was prepared for that; copies stay within what is mapped. The pages that a handle
// stands for are not there when its allocation was freed. With FAKE_GDRAPI=full nothing can be pinned, and
// with FAKE_GDRAPI=used a process fails in which the processor has not copied 20 times each way.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

#include "fake_adapter.hpp"

using namespace fake_adapter;

namespace {

constexpr unsigned long page = 64 << 10;

struct Pinned {
  unsigned long handle;
};
struct Part {
  char* memory;  // where the processor reaches it
  size_t bytes;
  bool mapped;
};
std::mutex mutex;
auto& parts = *new std::map<unsigned long, Part>;
unsigned long last;
int connection;
std::atomic<int> copied_to, copied_from;

[[gnu::destructor]] void judge() {
  if (is_set("FAKE_GDRAPI", "used") && (copied_to < 20 || copied_from < 20)) wrong("fake GDRCopy: it was not used");
}

// Some byte in the pages that is the device's: all of its memory lies together.
char* place_of(unsigned long address, size_t bytes) {
  for (unsigned long at = address; at < address + bytes; at += 256) {
    const auto* const there = reinterpret_cast<const void*>(at);
    if (char* const memory = on_device(there)) return is_offered(there) ? memory - (at - address) : nullptr;
  }
  return nullptr;
}

bool holds(Pinned pinned, const void* memory, size_t bytes) {
  const std::lock_guard guard(mutex);
  const auto found = parts.find(pinned.handle);
  const auto* const at = static_cast<const char*>(memory);
  return found != parts.end() && found->second.mapped && at >= found->second.memory &&
         at + bytes <= found->second.memory + found->second.bytes;
}

}  // namespace

extern "C" {

void* gdr_open() {
  return &connection;
}

int gdr_pin_buffer(void* here, unsigned long address, size_t bytes, uint64_t token, uint32_t space, Pinned* pinned) {
  if (here != &connection || address % page != 0 || bytes % page != 0 || bytes == 0 || token != 0 || space != 0)
    wrong("fake GDRCopy: these are no pages");
  if (is_set("FAKE_GDRAPI", "full")) return 12;
  char* const memory = place_of(address, bytes);
  if (memory == nullptr) wrong("fake GDRCopy: this is no memory of a device that was prepared");
  const std::lock_guard guard(mutex);
  pinned->handle = ++last;
  parts[last] = {memory, bytes, false};
  return 0;
}

int gdr_unpin_buffer(void* /*here*/, Pinned pinned) {
  const std::lock_guard guard(mutex);
  const auto found = parts.find(pinned.handle);
  if (found == parts.end() || found->second.mapped) wrong("fake GDRCopy: it was not pinned, or is mapped");
  parts.erase(found);
  return 0;
}

int gdr_map(void* /*here*/, Pinned pinned, void** memory, size_t bytes) {
  const std::lock_guard guard(mutex);
  Part& part = parts.at(pinned.handle);
  if (bytes != part.bytes || part.mapped) wrong("fake GDRCopy: this is not what was pinned");
  part.mapped = true;
  *memory = part.memory;
  return 0;
}

int gdr_unmap(void* /*here*/, Pinned pinned, void* memory, size_t bytes) {
  const std::lock_guard guard(mutex);
  Part& part = parts.at(pinned.handle);
  if (memory != part.memory || bytes != part.bytes || !part.mapped) wrong("fake GDRCopy: this is not mapped");
  part.mapped = false;
  return 0;
}

int gdr_copy_to_mapping(Pinned pinned, void* to, const void* from, size_t bytes) {
  if (!holds(pinned, to, bytes)) wrong("fake GDRCopy: a copy to where nothing is mapped");
  ++copied_to;
  std::memcpy(to, from, bytes);
  return 0;
}

int gdr_copy_from_mapping(Pinned pinned, void* to, const void* from, size_t bytes) {
  if (!holds(pinned, from, bytes)) wrong("fake GDRCopy: a copy from where nothing is mapped");
  ++copied_from;
  std::memcpy(to, from, bytes);
  return 0;
}

}  // extern "C"
