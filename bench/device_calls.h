// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Part of device.c: the cost of the driver's calls.
#ifndef WEFT_BENCH_DEVICE_CALLS_H
#define WEFT_BENCH_DEVICE_CALLS_H

#include "device_copy.h"

static void attribute_of(void* about, int iterations) {
  unsigned type = 0;
  for (int i = 0; i < iterations; ++i) {
    (void)cu.PointerGetAttribute(&type, CU_MEMORY_TYPE, *(cu_pointer*)about);  // refuses memory of the host: as fast
  }
}

static void attributes_of(void* about, int iterations) {
  unsigned type = 0, managed = 0;
  unsigned long long id = 0;
  void* context = NULL;
  int attributes[] = {CU_MEMORY_TYPE, CU_IS_MANAGED, CU_CONTEXT_OF, CU_BUFFER_ID};
  void* values[] = {&type, &managed, &context, &id};
  for (int i = 0; i < iterations; ++i) {
    expect(cu.PointerGetAttributes(4, attributes, values, *(cu_pointer*)about), "cuPointerGetAttributes");
  }
}

static void buffer_id(void* about, int iterations) {
  unsigned long long id = 0;
  for (int i = 0; i < iterations; ++i) {
    expect(cu.PointerGetAttribute(&id, CU_BUFFER_ID, *(cu_pointer*)about), "cuPointerGetAttribute of the buffer's id");
  }
}

static void address_range(void* about, int iterations) {
  cu_pointer base;
  size_t bytes;
  for (int i = 0; i < iterations; ++i) {
    expect(cu.MemGetAddressRange(&base, &bytes, *(cu_pointer*)about), "cuMemGetAddressRange");
  }
}

static void push_pop(void* about, int iterations) {
  void* context;
  expect(cu.CtxGetCurrent(&context), "cuCtxGetCurrent");
  for (int i = 0; i < iterations; ++i) {
    expect(cu.CtxPushCurrent(context), "cuCtxPushCurrent");
    expect(cu.CtxPopCurrent(about), "cuCtxPopCurrent");
  }
}

static void get_current(void* about, int iterations) {
  for (int i = 0; i < iterations; ++i) expect(cu.CtxGetCurrent(about), "cuCtxGetCurrent");
}

static void query_stream(void* about, int iterations) {
  (void)about;
  for (int i = 0; i < iterations; ++i) expect(cu.StreamQuery(stream), "cuStreamQuery");
}

static void query_event(void* about, int iterations) {
  for (int i = 0; i < iterations; ++i) expect(cu.EventQuery(about), "cuEventQuery");
}

static void record_event(void* about, int iterations) {
  for (int i = 0; i < iterations; ++i) {
    expect(cu.EventRecord(about, stream), "cuEventRecord");
    expect(cu.StreamSynchronize(stream), "cuStreamSynchronize");
  }
}

static void poll_event(void* about, int iterations) {
  for (int i = 0; i < iterations && !failed; ++i) {
    expect(cu.EventRecord(about, stream), "cuEventRecord");
    while (cu.EventQuery(about) != CU_SUCCESS) continue;
  }
}

static void allocate_device(void* about, int iterations) {
  for (int i = 0; i < iterations && !failed; ++i) {
    cu_pointer memory;
    expect(cu.MemAlloc(&memory, *(size_t*)about), "cuMemAlloc");
    if (!failed) expect(cu.MemFree(memory), "cuMemFree");
  }
}

static void allocate_pinned(void* about, int iterations) {
  for (int i = 0; i < iterations && !failed; ++i) {
    void* memory;
    expect(cu.MemHostAlloc(&memory, *(size_t*)about, 0), "cuMemHostAlloc");
    if (!failed) expect(cu.MemFreeHost(memory), "cuMemFreeHost");
  }
}

struct range {
  void* memory;
  size_t bytes;
};

static void pin(void* about, int iterations) {
  const struct range* range = about;
  for (int i = 0; i < iterations && !failed; ++i) {
    expect(cu.MemHostRegister(range->memory, range->bytes, 0), "cuMemHostRegister of shared memory");
    if (!failed) expect(cu.MemHostUnregister(range->memory), "cuMemHostUnregister");
  }
}

static void get_handle(void* about, int iterations) {
  cu_ipc_handle handle;
  for (int i = 0; i < iterations; ++i) expect(cu.IpcGetMemHandle(&handle, *(cu_pointer*)about), "cuIpcGetMemHandle");
}

// Copies 8 bytes by a kernel, and one that does nothing. PTX is compiled by the driver.
static const char kernels[] =
    ".version 7.0\n"
    ".target sm_52\n"
    ".address_size 64\n"
    ".visible .entry nothing()\n"
    "{\n"
    "  ret;\n"
    "}\n"
    ".visible .entry word(.param .u64 to, .param .u64 from)\n"
    "{\n"
    "  .reg .u64 %r<5>;\n"
    "  ld.param.u64 %r1, [to];\n"
    "  ld.param.u64 %r2, [from];\n"
    "  cvta.to.global.u64 %r3, %r1;\n"
    "  cvta.to.global.u64 %r4, %r2;\n"
    "  ld.global.u64 %r1, [%r4];\n"
    "  st.global.u64 [%r3], %r1;\n"
    "  ret;\n"
    "}\n";

struct kernel {
  void* function;
  cu_pointer to, from;
};

static void launch(void* about, int iterations) {
  struct kernel* kernel = about;
  void* arguments[] = {&kernel->to, &kernel->from};
  for (int i = 0; i < iterations && !failed; ++i) {
    expect(cu.LaunchKernel(kernel->function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL), "cuLaunchKernel");
    expect(cu.StreamSynchronize(stream), "cuStreamSynchronize");
  }
}

static void launches(cu_pointer device, void* pinned) {
  void* module;
  struct kernel nothing = {0}, word = {.to = device};
  if (!works(cu.ModuleLoadData(&module, kernels), "cuModuleLoadData")) return;
  if (works(cu.ModuleGetFunction(&nothing.function, module, "nothing"), "cuModuleGetFunction")) {
    emit_us("launch_nothing", 0, launch, &nothing);
  }
  if (works(cu.ModuleGetFunction(&word.function, module, "word"), "cuModuleGetFunction") &&
      works(cu.MemHostGetDevicePointer(&word.from, pinned, 0), "cuMemHostGetDevicePointer")) {
    emit_us("launch_from_pinned", 8, launch, &word);
    const cu_pointer there = word.from;
    word.from = word.to;
    word.to = there;
    emit_us("launch_to_pinned", 8, launch, &word);
  }
}

static void calls(cu_pointer device, void* pinned, unsigned char* pageable, void* shared) {
  void *context, *event;
  cu_pointer of_pageable = (uintptr_t)pageable, of_pinned = (uintptr_t)pinned;
  emit_us("call_attribute_device", 0, attribute_of, &device);
  emit_us("call_attribute_pageable", 0, attribute_of, &of_pageable);
  emit_us("call_attribute_pinned", 0, attribute_of, &of_pinned);
  emit_us("call_4_attributes_device", 0, attributes_of, &device);
  emit_us("call_buffer_id", 0, buffer_id, &device);
  emit_us("call_address_range", 0, address_range, &device);
  emit_us("call_context_push_pop", 0, push_pop, &context);
  emit_us("call_context_current", 0, get_current, &context);
  emit_us("call_stream_query", 0, query_stream, NULL);
  if (works(cu.EventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate")) {
    emit_us("call_event_record_wait", 0, record_event, event);
    emit_us("call_event_record_poll", 0, poll_event, event);
    emit_us("call_event_query", 0, query_event, event);
  }
  emit_us("call_ipc_get", 0, get_handle, &device);
  static const size_t sizes[] = {64 << 10, 4 << 20, 32 << 20};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    size_t size = sizes[i];
    struct range range = {shared, size};
    emit_us("call_allocate_device", size, allocate_device, &size);
    emit_us("call_allocate_pinned", size, allocate_pinned, &size);
    if (size <= SLOTS * SLOT_BYTES) emit_us("call_register_shared", size, pin, &range);
  }
  launches(device, pinned);
}

#endif  // WEFT_BENCH_DEVICE_CALLS_H
