// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/select/describe.hpp"

#include <dlfcn.h>

#include "device/api/device.hpp"
#include "device/cuda/library.hpp"
#include "device/ze/kernels.hpp"
#include "device/ze/ze.hpp"

namespace weft::device {
namespace {

enum DeviceAttribute : int {  // CUdevice_attribute
  attribute_compute_mode = 20,
  attribute_bus = 33,
  attribute_slot = 34,
  attribute_domain = 50,
};

const char* note_of_mode(int mode) {
  return mode == 2   ? "closed: its compute mode is prohibited"
         : mode == 3 ? "one process at a time: its compute mode is exclusive, so ranks cannot share it"
                     : "";
}

// Functions that nothing else needs are looked up here.
Description describe_cuda() {
  using namespace by_cuda;
  Description found;
  void* const handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (handle == nullptr) {
    found.problem = "libcuda.so.1 is not loaded";
    return found;
  }
  const auto find = [handle]<class Function>(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(handle, name));
    return function != nullptr;
  };
  int (*version)(int*);
  int (*count)(int*);
  int (*name)(char*, int, Device);
  int (*bytes)(size_t*, Device);
  int (*attribute)(int*, int, Device);
  const bool complete = find("cuDriverGetVersion", version) && find("cuDeviceGetCount", count) &&
                        find("cuDeviceGetName", name) && find("cuDeviceTotalMem_v2", bytes) &&
                        find("cuDeviceGetAttribute", attribute);
  dlclose(handle);  // the process keeps it
  if (!complete) {
    found.problem = "libcuda.so.1 lacks functions that tell of devices";
    return found;
  }
  int number = 0, devices = 0;
  if (version(&number) == success)
    found.driver = "CUDA " + std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  if (const int error = count(&devices); error != success) {
    found.problem = text_of("DeviceGetCount", error);
    return found;
  }
  for (Device device = 0; device < devices; ++device) {
    char text[256] = "";
    size_t memory = 0;
    int domain = 0, bus = 0, slot = 0, mode = 0;
    if (name(text, sizeof text, device) != success || bytes(&memory, device) != success) continue;
    (void)attribute(&domain, attribute_domain, device);
    (void)attribute(&bus, attribute_bus, device);
    (void)attribute(&slot, attribute_slot, device);
    (void)attribute(&mode, attribute_compute_mode, device);
    char place[64];
    (void)snprintf(place, sizeof place, "PCI %04x:%02x:%02x", static_cast<unsigned>(domain), static_cast<unsigned>(bus),
                   static_cast<unsigned>(slot));
    std::string note = place;
    if (*note_of_mode(mode) != 0) note.append("; ").append(note_of_mode(mode));
    found.devices.push_back({text, memory, note});
  }
  return found;
}

Description describe_hip() {
  using namespace by_cuda;
  Description found;
  int (*version)(int*);
  int (*count)(int*);
  int (*name)(char*, int, Device);
  int (*bytes)(size_t*, Device);
  int (*place)(char*, int, Device);
  Finder in{dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)};
  if (in.handle == nullptr) in.handle = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (in.handle == nullptr) {
    found.problem = "libamdhip64.so is not loaded";
    return found;
  }
  in.find("hipRuntimeGetVersion", version);
  in.find("hipGetDeviceCount", count);
  in.find("hipDeviceGetName", name);
  in.find("hipDeviceTotalMem", bytes);
  in.find("hipDeviceGetPCIBusId", place);
  dlclose(in.handle);  // the process keeps it
  if (in.missing != nullptr) {
    found.problem = std::string("libamdhip64.so lacks ") + in.missing;
    return found;
  }
  int number = 0, devices = 0;
  if (version(&number) == success)
    found.driver = "HIP " + std::to_string(number / 10000000) + "." + std::to_string(number / 100000 % 100);
  if (const int error = count(&devices); error != success) {
    found.problem = text_of("GetDeviceCount", error);
    return found;
  }
  for (Device device = 0; device < devices; ++device) {
    char text[256] = "", bus[64] = "";
    size_t memory = 0;
    if (name(text, sizeof text, device) != success || bytes(&memory, device) != success) continue;
    (void)place(bus, sizeof bus, device);
    found.devices.push_back({text, memory, std::string("PCI ") + bus});
  }
  return found;
}

}  // namespace

Description describe() {
  if (active == &cuda) return describe_cuda();
  if (active == &hip) return describe_hip();
  if (active == &ze) return describe_ze();
  Description found;
  if (active == &mock) {
    found.driver = "memory of the host, for tests";
    found.devices.push_back({"mock", uint64_t{256} << 20, "of each process"});
  } else {
    found.problem = "no driver is in use";
  }
  return found;
}

std::string why_no_kernel() {
  return active == &ze ? by_ze::why_no_kernel() : std::string();
}

}  // namespace weft::device
