// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The functions of Level Zero's loader, libze_loader.so.1, which is loaded, never linked. They are declared here by
// their binary interface (Level Zero specification 1.0 and newer), so that no toolkit is needed to build Weft.

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::device::by_ze {

using DriverHandle = void*;
using DeviceHandle = void*;
using Context = void*;
using CommandList = void*;  // of commands
using Pool = void*;         // of events
using Event = void*;
using Module = void*;
using Kernel = void*;

inline constexpr int success = 0;
inline constexpr int not_ready = 1;  // ZE_RESULT_NOT_READY

// The first word of a structure says what it is (ze_structure_type_t).
enum StructureType : int {
  device_properties = 0x3,
  queue_group_properties = 0x6,
  memory_properties = 0x7,
  context_description = 0xd,
  queue_description = 0xe,
  pool_description = 0x10,
  event_description = 0x11,
  device_memory_description = 0x15,
  allocation_properties = 0x17,
  module_description = 0x1b,
  kernel_description = 0x1d,
  pci_properties = 0x10008,
};

enum AllocationType : int { of_nobody = 0, of_host = 1, of_device = 2, shared_memory = 3 };  // ze_memory_type_t

struct DeviceProperties {
  int structure = device_properties;
  void* next = nullptr;
  int type;
  uint32_t vendor, number, flags, subdevice, clock;
  uint64_t largest_allocation;
  uint32_t contexts, priorities, threads, width, units, subslices, slices;
  uint64_t timer;
  uint32_t timestamp_bits, kernel_timestamp_bits;
  unsigned char uuid[16];
  char name[256];
};
inline constexpr int type_gpu = 1;

struct QueueGroupProperties {
  int structure = queue_group_properties;
  void* next = nullptr;
  uint32_t flags;
  size_t largest_pattern;
  uint32_t queues;
};
inline constexpr uint32_t group_computes = 1, group_copies = 2;

struct MemoryProperties {
  int structure = memory_properties;
  void* next = nullptr;
  uint32_t flags, clock, width;
  uint64_t bytes;
  char name[256];
};

struct PciProperties {
  int structure = pci_properties;
  void* next = nullptr;
  uint32_t domain, bus, device, function;
  int64_t speed[2];
};

struct ContextDescription {
  int structure = context_description;
  const void* next = nullptr;
  uint32_t flags = 0;
};

struct QueueDescription {
  int structure = queue_description;
  const void* next = nullptr;
  uint32_t group = 0, index = 0, flags = 0;
  int mode = 0;
  int priority = 0;
};
inline constexpr int mode_synchronous = 1, mode_asynchronous = 2;

struct PoolDescription {
  int structure = pool_description;
  const void* next = nullptr;
  uint32_t flags = 1;  // visible to the host
  uint32_t count = 0;
};

struct EventDescription {
  int structure = event_description;
  const void* next = nullptr;
  uint32_t index = 0;
  uint32_t signal = 4, wait = 4;  // both have the host as scope
};

struct DeviceMemoryDescription {
  int structure = device_memory_description;
  const void* next = nullptr;
  uint32_t flags = 0, ordinal = 0;
};

struct AllocationProperties {
  int structure = allocation_properties;
  void* next = nullptr;
  int type = of_nobody;
  uint64_t id = 0;
  uint64_t page = 0;
};

struct ModuleDescription {
  int structure = module_description;
  const void* next = nullptr;
  int format = 0;  // SPIR-V
  size_t bytes = 0;
  const void* code = nullptr;
  const char* flags = nullptr;
  const void* constants = nullptr;
};

struct KernelDescription {
  int structure = kernel_description;
  const void* next = nullptr;
  uint32_t flags = 0;
  const char* name = nullptr;
};

struct Groups {  // ze_group_count_t
  uint32_t x = 1, y = 1, z = 1;
};

struct CopyRegion {  // ze_copy_region_t
  uint32_t x = 0, y = 0, z = 0, width = 0, height = 0, depth = 0;
};

struct ZeIpcHandle {  // ze_ipc_mem_handle_t
  char bytes[64];
};

struct ZeLibrary {
  int (*init)(uint32_t flags);
  int (*drivers)(uint32_t* count, DriverHandle* drivers);
  int (*version)(DriverHandle driver, uint32_t* version);
  int (*extension)(DriverHandle driver, const char* name, void** function);
  int (*devices)(DriverHandle driver, uint32_t* count, DeviceHandle* devices);
  int (*properties)(DeviceHandle device, DeviceProperties* properties);
  int (*queue_groups)(DeviceHandle device, uint32_t* count, QueueGroupProperties* groups);
  int (*memory)(DeviceHandle device, uint32_t* count, MemoryProperties* memory);
  int (*make_context)(DriverHandle driver, const ContextDescription* description, Context* context);
  int (*make_list)(Context context, DeviceHandle device, const QueueDescription* description, CommandList* list);
  int (*copy)(CommandList list, void* to, const void* from, size_t bytes, Event signal, uint32_t waits, Event* wait);
  int (*copy_region)(CommandList list, void* to, const CopyRegion* to_region, uint32_t to_pitch, uint32_t to_slice,
                     const void* from, const CopyRegion* from_region, uint32_t from_pitch, uint32_t from_slice,
                     Event signal, uint32_t waits, Event* wait);
  int (*barrier)(CommandList list, Event signal, uint32_t waits, Event* wait);
  int (*make_module)(Context context, DeviceHandle device, const ModuleDescription* description, Module* module,
                     void** log);
  int (*make_kernel)(Module module, const KernelDescription* description, Kernel* kernel);
  int (*set_group)(Kernel kernel, uint32_t x, uint32_t y, uint32_t z);
  int (*set_argument)(Kernel kernel, uint32_t index, size_t bytes, const void* value);
  int (*launch)(CommandList list, Kernel kernel, const Groups* groups, Event signal, uint32_t waits, Event* wait);
  int (*make_pool)(Context context, const PoolDescription* description, uint32_t devices, DeviceHandle* device,
                   Pool* pool);
  int (*make_event)(Pool pool, const EventDescription* description, Event* event);
  int (*query)(Event event);
  int (*wait)(Event event, uint64_t timeout);
  int (*reset)(Event event);
  int (*allocate)(Context context, const DeviceMemoryDescription* description, size_t bytes, size_t alignment,
                  DeviceHandle device, void** memory);
  int (*release)(Context context, void* memory);
  int (*allocation)(Context context, const void* address, AllocationProperties* properties, DeviceHandle* device);
  int (*range)(Context context, const void* address, void** base, size_t* bytes);
  int (*handle_of)(Context context, const void* memory, ZeIpcHandle* handle);
  int (*open_handle)(Context context, DeviceHandle device, ZeIpcHandle handle, uint32_t flags, void** memory);
  int (*close_handle)(Context context, const void* memory);
  // nullptr: the loader or the driver has none.
  int (*pci)(DeviceHandle device, PciProperties* properties);
  int (*handle_from_descriptor)(Context context, uint64_t descriptor, ZeIpcHandle* handle);
  int (*descriptor_of_handle)(Context context, ZeIpcHandle handle, uint64_t* descriptor);
  int (*pin)(DriverHandle driver, void* memory, size_t bytes);    // zexDriverImportExternalPointer
  int (*unpin)(DriverHandle driver, void* memory);                // zexDriverReleaseImportedPointer
  int (*pinned)(DriverHandle driver, void* memory, void** base);  // zexDriverGetHostPointerBaseAddress
};
extern ZeLibrary library;

// Loads the loader and its drivers; `alone`: only if the process has it already. Empty: done, otherwise the reason why
// not.
[[nodiscard]] std::string load(bool alone);

// `function` is its name without `ze`.
[[nodiscard]] std::string text_of(const char* function, int error);

}  // namespace weft::device::by_ze
