// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/cuda/aperture.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/library.hpp"
#include "base/setting.hpp"
#include "device/cuda/engine.hpp"
#include "device/cuda/plain_pages.hpp"

namespace weft::device {

size_t aperture_most_to = 0, aperture_most_from = 0;

namespace {

using namespace by_cuda;

constinit base::BoolSetting gdrcopy{
    {.name = "WEFT_GDRCOPY",
     .help = "the processor copies small data of CUDA's devices itself, where GDRCopy (libgdrapi.so.2) is installed",
     .subject = base::Subject::memory},
    true};
WEFT_SETTING(gdrcopy);

// Writes to a device go at GB/s and pass the driver's copies up to here; reads from it at some hundred MB/s.
constexpr size_t most_to = 16 << 10, most_from = 1 << 10;

struct Pinned {  // gdr_mh_t
  unsigned long handle;
};
struct Gdrcopy {
  void* (*open)();
  int (*pin)(void* here, unsigned long address, size_t bytes, uint64_t token, uint32_t space, Pinned* pinned);
  int (*unpin)(void* here, Pinned pinned);
  int (*map)(void* here, Pinned pinned, void** memory, size_t bytes);
  int (*unmap)(void* here, Pinned pinned, void* memory, size_t bytes);
  int (*write)(Pinned pinned, void* to, const void* from, size_t bytes);
  int (*read)(Pinned pinned, void* to, const void* from, size_t bytes);
};
Gdrcopy library_of_gdrcopy;
void* here = nullptr;  // what gdr_open() gave

std::string load() {
  if (!gdrcopy.value()) return "WEFT_GDRCOPY=off";
  void* const handle = dlopen("libgdrapi.so.2", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return dlerror();
  base::FunctionFinder in(handle);
  in.find("gdr_open", library_of_gdrcopy.open);
  in.find("gdr_pin_buffer", library_of_gdrcopy.pin);
  in.find("gdr_unpin_buffer", library_of_gdrcopy.unpin);
  in.find("gdr_map", library_of_gdrcopy.map);
  in.find("gdr_unmap", library_of_gdrcopy.unmap);
  in.find("gdr_copy_to_mapping", library_of_gdrcopy.write);
  in.find("gdr_copy_from_mapping", library_of_gdrcopy.read);
  if (!in.problem().empty()) return "libgdrapi.so.2: " + in.problem();
  here = library_of_gdrcopy.open();
  return here == nullptr ? "its kernel module (gdrdrv) is not loaded, or /dev/gdrdrv cannot be opened" : "";
}

// A part of an allocation. Parts begin where both of these divide their address, and overlap, so that small data lie in
// one of them whole.
constexpr uintptr_t page = 64 << 10, step = 2 << 20, aperture_reach = 2 * step;

struct Aperture {
  uint64_t number;       // of the allocation: one that was freed has none, or another
  uintptr_t begin, end;  // on the device
  char* memory;          // here; nullptr: it cannot be mapped
  Pinned pinned;
};

std::mutex apertures_mutex;
std::vector<Aperture>* apertures = nullptr;  // the oldest first
constexpr size_t most_known = 64;            // there may be 256 MiB for all processes

uint64_t number_of(uintptr_t address) {
  static constexpr int asked[] = {attribute_buffer_number};
  uint64_t number = 0;
  void* answers[] = {&number};
  return library.pointer_attributes(1, asked, answers, address) == success ? number : 0;
}

void close(const Aperture& aperture) {
  if (aperture.memory == nullptr) return;
  (void)library_of_gdrcopy.unmap(here, aperture.pinned, aperture.memory, aperture.end - aperture.begin);
  (void)library_of_gdrcopy.unpin(here, aperture.pinned);
}

Aperture open_at(uintptr_t address, uint64_t number) {
  Pointer base = 0;
  size_t bytes = 0;
  Aperture made{number, address, address + 1, nullptr, {}};
  if (library.range(&base, &bytes, address) != success) return made;
  made.begin = std::max<uintptr_t>(address / step * step, base / page * page);
  made.end = std::min<uintptr_t>(made.begin + aperture_reach, (base + bytes + page - 1) / page * page);
  const size_t size = made.end - made.begin;
  if (!set_sync_memops(reinterpret_cast<const void*>(address)).empty()) return made;
  if (library_of_gdrcopy.pin(here, made.begin, size, 0, 0, &made.pinned) != 0) return made;
  void* memory = nullptr;
  if (library_of_gdrcopy.map(here, made.pinned, &memory, size) == 0) {
    made.memory = static_cast<char*>(memory);
  } else {
    (void)library_of_gdrcopy.unpin(here, made.pinned);
  }
  return made;
}

// Finds or opens an aperture that holds the bytes; nullptr: the memory cannot be mapped. Called with the mutex.
// Apertures of memory that was freed are not found, and are closed when others need their place.
const Aperture* aperture_at(uintptr_t address, size_t bytes) {
  const uint64_t number = number_of(address);
  if (number == 0) return nullptr;
  if (apertures == nullptr) apertures = new std::vector<Aperture>;
  const auto found = std::find_if(apertures->begin(), apertures->end(), [&](const Aperture& one) {
    return one.number == number && address >= one.begin && address < one.end;
  });
  const auto holds = [&](const Aperture& one) { return one.memory != nullptr && bytes <= one.end - address; };
  if (found != apertures->end() && (holds(*found) || found->memory == nullptr))
    return holds(*found) ? &*found : nullptr;
  if (apertures->size() == most_known) {
    close(apertures->front());
    apertures->erase(apertures->begin());
  }
  const Aperture& made = apertures->emplace_back(open_at(address, number));
  return holds(made) ? &made : nullptr;
}

// Asking the driver for memory of the host takes longer than for that of a device, and is not done twice.
enum class AddressSide : uint8_t { host, device, gone };
AddressSide side_of(const void* address) {
  if (plain_pages.holds(address)) return AddressSide::host;
  const CudaAddress place = place_of(address);
  if (place.on_device) return AddressSide::device;
  return place.known || plain_pages.try_to_read(address) ? AddressSide::host : AddressSide::gone;
}

}  // namespace

void open_apertures() {
  if (!why_no_apertures().empty()) return;
  aperture_most_to = most_to;
  aperture_most_from = most_from;
}

std::string why_no_apertures() {
  static const std::string why = load();
  return why;
}

bool copy_by_aperture(void* to, const void* from, size_t bytes) {
  const AddressSide to_side = side_of(to), from_side = side_of(from);
  if (to_side == from_side || to_side == AddressSide::gone || from_side == AddressSide::gone) return false;
  const bool to_device = to_side == AddressSide::device;
  if (bytes > (to_device ? aperture_most_to : aperture_most_from)) return false;
  const std::lock_guard guard(apertures_mutex);
  const auto there = reinterpret_cast<uintptr_t>(to_device ? to : from);
  const Aperture* const aperture = aperture_at(there, bytes);
  if (aperture == nullptr) return false;
  char* const here_too = aperture->memory + (there - aperture->begin);
  return (to_device ? library_of_gdrcopy.write(aperture->pinned, here_too, from, bytes)
                    : library_of_gdrcopy.read(aperture->pinned, to, here_too, bytes)) == 0;
}

}  // namespace weft::device
