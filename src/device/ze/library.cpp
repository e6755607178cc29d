// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/ze/library.hpp"

#include <dlfcn.h>

#include <cstdio>

#include "base/library.hpp"

namespace weft::device::by_ze {

constinit ZeLibrary library{};

std::string load(bool alone) {
  constexpr uint32_t drivers_of_gpus = 1;  // ZE_INIT_FLAG_GPU_ONLY
  void* const handle = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL | (alone ? RTLD_NOLOAD : 0));
  if (handle == nullptr)
    return std::string("libze_loader.so.1 cannot be loaded: ") + (alone ? "the program has not" : dlerror());
  base::FunctionFinder in(handle);
  in.find("zeInit", library.init);
  in.find("zeDriverGet", library.drivers);
  in.find("zeDriverGetApiVersion", library.version);
  in.find("zeDriverGetExtensionFunctionAddress", library.extension);
  in.find("zeDeviceGet", library.devices);
  in.find("zeDeviceGetProperties", library.properties);
  in.find("zeDeviceGetCommandQueueGroupProperties", library.queue_groups);
  in.find("zeDeviceGetMemoryProperties", library.memory);
  in.find("zeContextCreate", library.make_context);
  in.find("zeCommandListCreateImmediate", library.make_list);
  in.find("zeCommandListAppendMemoryCopy", library.copy);
  in.find("zeCommandListAppendMemoryCopyRegion", library.copy_region);
  in.find("zeCommandListAppendBarrier", library.barrier);
  in.find("zeModuleCreate", library.make_module);
  in.find("zeKernelCreate", library.make_kernel);
  in.find("zeKernelSetGroupSize", library.set_group);
  in.find("zeKernelSetArgumentValue", library.set_argument);
  in.find("zeCommandListAppendLaunchKernel", library.launch);
  in.find("zeEventPoolCreate", library.make_pool);
  in.find("zeEventCreate", library.make_event);
  in.find("zeEventQueryStatus", library.query);
  in.find("zeEventHostSynchronize", library.wait);
  in.find("zeEventHostReset", library.reset);
  in.find("zeMemAllocDevice", library.allocate);
  in.find("zeMemFree", library.release);
  in.find("zeMemGetAllocProperties", library.allocation);
  in.find("zeMemGetAddressRange", library.range);
  in.find("zeMemGetIpcHandle", library.handle_of);
  in.find("zeMemOpenIpcHandle", library.open_handle);
  in.find("zeMemCloseIpcHandle", library.close_handle);
  if (!in.problem().empty()) return "libze_loader.so.1 cannot be used: " + in.problem();
  base::FunctionFinder newer(handle);
  newer.find("zeDevicePciGetPropertiesExt", library.pci);
  newer.find("zeMemGetIpcHandleFromFileDescriptorExp", library.handle_from_descriptor);
  newer.find("zeMemGetFileDescriptorFromIpcHandleExp", library.descriptor_of_handle);
  const int error = library.init(drivers_of_gpus);
  return error == success ? std::string() : text_of("Init", error);
}

std::string text_of(const char* function, int error) {
  struct ZeCause {
    int error;
    const char* text;
  };
  static constexpr ZeCause causes[] = {
      {0x70000001, "the device was lost: it was reset or taken away, or a program on it failed"},
      {0x70000002, "the host has no memory left"},
      {0x70000003, "the device has no memory left: free some, or start fewer ranks on it"},
      {0x70000004,
       "the driver's compiler refuses a kernel, as for devices without 64-bit floats: copies or the processor do its "
       "work"},
      {0x78000001,
       "there is no driver or no device: see that /dev/dri is there and may be opened, and ZE_AFFINITY_MASK"},
      {0x78000004, "memory at these addresses may have been freed, or be shorter than the data"},
  };
  char number[16];
  (void)snprintf(number, sizeof number, "0x%x", static_cast<unsigned>(error));
  std::string text = "ze";
  text.append(function).append(" of Level Zero says ").append(number);
  for (const ZeCause& cause : causes) {
    if (cause.error == error) text.append("; ").append(cause.text);
  }
  return text;
}

}  // namespace weft::device::by_ze
