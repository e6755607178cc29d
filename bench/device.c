// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The limits of a device: the driver's own copies and the cost of its calls, in one process and between two, without
// MPI. A library cannot beat these:
//   call_*     us    one call; launch_*: a kernel that does nothing, until the processor sees its end
//   latency_*  us    one copy, until the processor sees its end
//   window_*   MB/s  copies in flight together, as the bandwidth programs send: 64 up to 256 KiB, 16 MiB of larger ones
//   pair_*           two processes on the device; one has the other's memory mapped by a handle (IPC)
// A call that fails is a line on the standard error, and the rest goes on. `--quick` takes some ten seconds.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_copy.h"

// ---- Facts

static void facts(void) {
  static const struct {
    const char* name;
    int attribute;
  } rows[] = {{"multiprocessors", 16}, {"compute_mode", 20},       {"copy_engines", 40},  {"unified_addresses", 41},
              {"pageable_access", 88}, {"managed_concurrent", 89}, {"host_register", 99}, {"memory_pools", 115},
              {"direct_rdma", 116},    {"dma_buf", 124},           {"ipc_of_events", 125}};
  char name[80] = "";
  int version = 0, device = 0, value;
  size_t unused = 0, total = 0;
  works(cu.DriverGetVersion(&version), "cuDriverGetVersion");
  works(cu.DeviceGet(&device, 0), "cuDeviceGet");
  works(cu.DeviceGetName(name, sizeof name, device), "cuDeviceGetName");
  works(cu.MemGetInfo(&unused, &total), "cuMemGetInfo");
  printf("# %s, %zu of %zu MiB unused, CUDA %d.%d, %s/dev/gdrdrv\n", name, unused >> 20, total >> 20, version / 1000,
         version % 1000 / 10, access("/dev/gdrdrv", R_OK | W_OK) == 0 ? "" : "no ");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    if (works(cu.DeviceGetAttribute(&value, rows[i].attribute, device), rows[i].name)) {
      printf("# %s %d\n", rows[i].name, value);
    }
  }
}

// ---- Calls

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

// ---- Copies

static void copies_both_ways(void* about, int iterations) {
  struct copy* copy = about;
  const size_t half = (size_t)copy->window * copy->stride;
  for (int i = 0; i < iterations && !failed; ++i) {
    for (int c = 0; c < copy->window; ++c) {
      const size_t place = (size_t)c * copy->stride;
      expect(cu.MemcpyHtoDAsync(address(copy->there + place), copy->here + place, copy->size, copy->streams[0]),
             "a copy");
      expect(cu.MemcpyDtoHAsync((char*)copy->back + place, address(copy->there + half + place), copy->size,
                                copy->streams[1]),
             "a copy");
    }
    expect(cu.StreamSynchronize(copy->streams[0]), "cuStreamSynchronize");
    expect(cu.StreamSynchronize(copy->streams[1]), "cuStreamSynchronize");
  }
}

static void blocking(void* about, int iterations) {
  const struct copy* copy = about;
  for (int i = 0; i < iterations && !failed; ++i) {
    if (copy->kind == TO_DEVICE) expect(cu.MemcpyHtoD(address(copy->there), copy->here, copy->size), "cuMemcpyHtoD");
    if (copy->kind == FROM_DEVICE) expect(cu.MemcpyDtoH(copy->here, address(copy->there), copy->size), "cuMemcpyDtoH");
    if (copy->kind == DEVICE) {
      expect(cu.Memcpy(address(copy->there), address(copy->here), copy->size), "cuMemcpy");
      expect(cu.StreamSynchronize(NULL), "cuStreamSynchronize");  // within a device it only starts the copy
    }
  }
}

// The end is seen by asking the stream, or by a word that the stream writes behind the copy.
static void asked(void* about, int iterations) {
  const struct copy* copy = about;
  for (int i = 0; i < iterations && !failed; ++i) {
    expect(start(copy, 0), "an asynchronous copy");
    while (cu.StreamQuery(copy->streams[0]) != CU_SUCCESS) continue;
  }
}

static void flagged(void* about, int iterations) {
  struct copy* copy = about;
  for (int i = 0; i < iterations && !failed; ++i) {
    expect(start(copy, 0), "an asynchronous copy");
    expect(cu.StreamWriteValue32(copy->streams[0], copy->flag_there, ++copy->flags, 0), "cuStreamWriteValue32");
    while (!failed && atomic_load_explicit(copy->flag, memory_order_acquire) != copy->flags) continue;
  }
}

static void submitted(void* about, int iterations) {
  const struct copy* copy = about;
  for (int i = 0; i < iterations && !failed; ++i) expect(start(copy, 0), "an asynchronous copy");
}

// The time of the call that starts a copy, with few of them in flight.
static void submission(const char* name, struct copy* copy) {
  enum { BATCH = 32 };
  double blocks[BENCH_BLOCKS];
  failed = 0;
  for (int b = 0; b < BENCH_BLOCKS && !failed; ++b) {
    blocks[b] = run(submitted, copy, BATCH) / BATCH;
    expect(cu.StreamSynchronize(copy->streams[0]), "cuStreamSynchronize");
  }
  if (!failed) bench_emit(name, copy->size, bench_median(blocks, BENCH_BLOCKS), "us");
}

static void all_copies(unsigned char* device, unsigned char* pinned, unsigned char* pageable, unsigned char* shared) {
  void* second = NULL;
  if (!works(cu.StreamCreate(&second, CU_STREAM_NON_BLOCKING), "cuStreamCreate")) second = stream;
  _Atomic uint32_t* flag = (_Atomic uint32_t*)(void*)(pinned + 2 * WINDOW_BYTES);
  cu_pointer flag_there = 0;
  works(cu.MemHostGetDevicePointer(&flag_there, (void*)flag, 0), "cuMemHostGetDevicePointer");
  const int pinned_shared = works(cu.MemHostRegister(shared, SLOTS * SLOT_BYTES, 0), "cuMemHostRegister");
  static const char* names[][5] = {
      {"latency_device", "latency_device_asked", "latency_device_flagged", "submit_device", "window_device"},
      {"latency_to", "latency_to_asked", "latency_to_flagged", "submit_to", "window_to"},
      {"latency_from", "latency_from_asked", "latency_from_flagged", "submit_from", "window_from"}};
  for (int s = 0; s < options.size_count; ++s) {
    const size_t size = options.sizes[s];
    for (enum kind kind = DEVICE; kind <= FROM_DEVICE; ++kind) {
      struct copy copy = {.kind = kind,
                          .there = device,
                          .here = pinned,
                          .size = size,
                          .streams = {stream, stream},
                          .flag = flag,
                          .flag_there = flag_there};
      if (kind == DEVICE) copy.here = device + WINDOW_BYTES;
      atomic_store(flag, 0);
      emit_latency(names[kind][0], &copy, copies);
      if (size <= 64 << 10) {
        emit_latency(names[kind][1], &copy, asked);
        if (flag_there != 0) emit_latency(names[kind][2], &copy, flagged);
        submission(names[kind][3], &copy);
      }
      emit_window(names[kind][4], &copy, copies, 1);
      if (kind == DEVICE) {
        copy.streams[1] = second;
        emit_window("window_device_2_streams", &copy, copies, 1);
        copy.streams[1] = stream;
        emit_latency("latency_device_blocking", &copy, blocking);
        continue;
      }
      if (pinned_shared) {
        copy.here = shared;
        emit_window(kind == TO_DEVICE ? "window_to_registered" : "window_from_registered", &copy, copies, 1);
      }
      copy.here = pinned;
      emit_latency(kind == TO_DEVICE ? "blocking_to" : "blocking_from", &copy, blocking);
      copy.here = pageable;
      emit_latency(kind == TO_DEVICE ? "blocking_to_pageable" : "blocking_from_pageable", &copy, blocking);
    }
    struct copy both = {
        .there = device, .here = pinned, .back = pinned + WINDOW_BYTES, .size = size, .streams = {stream, second}};
    emit_window("window_both_ways", &both, copies_both_ways, 2);
  }
  if (pinned_shared) works(cu.MemHostUnregister(shared), "cuMemHostUnregister");
}

// ---- Two processes: the other one does what it is told

// Copies of fewer bytes may run where kernels do, where processes of one device take turns of 100 us and more.
enum { BY_COPY_ENGINE = 32 << 10 };

enum task { QUIT, PULL, PONG_HOST, PONG_HOST_LARGE, PONG_MAPPED };

struct order {
  enum task task;
  size_t size;
  int iterations;
};

struct pair {
  int socket;
  unsigned char* shared;  // both see it; registered with the driver by both
  _Alignas(64) _Atomic uint64_t* turns;
  unsigned char *mine, *theirs;
  cu_ipc_handle handle;  // of theirs
};

static void tell(int socket, const void* what, size_t bytes) {
  if (write(socket, what, bytes) != (ssize_t)bytes) bench_die("the other process is gone");
}

static void hear(int socket, void* what, size_t bytes) {
  if (read(socket, what, bytes) != (ssize_t)bytes) bench_die("the other process is gone");
}

// NULL: it does not work.
static unsigned char* open_theirs(struct pair* pair) {
  cu_ipc_handle mine;
  cu_pointer theirs = 0;
  int ok = works(cu.IpcGetMemHandle(&mine, address(pair->mine)), "cuIpcGetMemHandle"), they;
  tell(pair->socket, &ok, sizeof ok);
  tell(pair->socket, &mine, sizeof mine);
  hear(pair->socket, &they, sizeof they);
  hear(pair->socket, &pair->handle, sizeof pair->handle);
  ok = ok && they && works(cu.IpcOpenMemHandle(&theirs, pair->handle, CU_IPC_LAZY_PEER_ACCESS), "cuIpcOpenMemHandle");
  tell(pair->socket, &ok, sizeof ok);
  hear(pair->socket, &they, sizeof they);
  return ok && they ? (unsigned char*)(uintptr_t)theirs : NULL;
}

static void await(_Atomic uint64_t* word, uint64_t value) {
  for (int i = 1; atomic_load_explicit(word, memory_order_acquire) < value; ++i) {
    if (i % 4096 == 0) sched_yield();
  }
}

// Eight or more bytes from the one device memory to the other through pinned memory that both share: two copies.
static void pong_host(struct pair* pair, int first, size_t size, int iterations) {
  for (int i = 0; i < iterations; ++i) {
    for (int step = 0; step < 2; ++step) {
      if ((step == 0) == first) {
        expect(cu.MemcpyDtoH(pair->shared, address(pair->mine), size), "cuMemcpyDtoH");
        atomic_fetch_add_explicit(pair->turns, 1, memory_order_release);
      } else {
        await(pair->turns, 2 * (uint64_t)i + (uint64_t)step + 1);
        expect(cu.MemcpyHtoD(address(pair->mine), pair->shared, size), "cuMemcpyHtoD");
      }
    }
  }
}

// Straight into the other's memory.
static void pong_mapped(struct pair* pair, int first, size_t size, int iterations) {
  for (int i = 0; i < iterations; ++i) {
    for (int step = 0; step < 2; ++step) {
      if ((step == 0) == first) {
        expect(cu.MemcpyDtoDAsync(address(pair->theirs), address(pair->mine), size, stream), "cuMemcpyDtoDAsync");
        expect(cu.StreamSynchronize(stream), "cuStreamSynchronize");
        atomic_fetch_add_explicit(pair->turns, 1, memory_order_release);
      } else {
        await(pair->turns, 2 * (uint64_t)i + (uint64_t)step + 1);
      }
    }
  }
}

static void pull(struct pair* pair, size_t size, int iterations) {
  struct copy copy = {.kind = DEVICE,
                      .there = pair->mine,
                      .here = pair->theirs,
                      .size = size,
                      .stride = size,
                      .window = window_count(size),
                      .streams = {stream, stream}};
  copies(&copy, iterations);
}

static void act(struct pair* pair, int first, const struct order* order) {
  if (order->task == PULL) pull(pair, order->size, order->iterations);
  if (order->task == PONG_HOST) pong_host(pair, first, order->size, order->iterations);
  if (order->task == PONG_HOST_LARGE) pong_host(pair, first, BY_COPY_ENGINE, order->iterations);
  if (order->task == PONG_MAPPED) pong_mapped(pair, first, order->size, order->iterations);
}

// Both do it at once. Microseconds of one iteration.
static double together(struct pair* pair, enum task task, size_t size) {
  struct order order = {task, size, 2};
  double blocks[BENCH_BLOCKS];
  failed = 0;
  for (int b = -2; b < BENCH_BLOCKS; ++b) {
    atomic_store(pair->turns, 0);
    tell(pair->socket, &order, sizeof order);
    char ready;
    hear(pair->socket, &ready, 1);
    const double start_us = bench_now_us();
    act(pair, 1, &order);
    hear(pair->socket, &ready, 1);
    const double us = bench_now_us() - start_us;
    if (failed) return -1;
    if (b < 0) {
      order.iterations = bench_iterations(&options, us, order.iterations);
    } else {
      blocks[b] = us / order.iterations;
    }
  }
  return bench_median(blocks, BENCH_BLOCKS);
}

static int prepare(struct pair* pair) {
  cu_pointer mine = 0;
  int ok = works(cu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate") &&
           works(cu.MemAlloc(&mine, 2 * WINDOW_BYTES), "cuMemAlloc");
  works(cu.MemHostRegister(pair->shared, SLOTS * SLOT_BYTES, 0), "cuMemHostRegister");
  int they;
  tell(pair->socket, &ok, sizeof ok);
  hear(pair->socket, &they, sizeof they);
  if (!ok || !they) return 0;
  pair->mine = (unsigned char*)(uintptr_t)mine;
  pair->theirs = open_theirs(pair);
  return 1;
}

static void other(struct pair* pair) {
  where = "the other process: ";
  char go;
  if (read(pair->socket, &go, 1) != 1) return;  // there is no device
  const char* reason = cu_open(0);
  if (reason) bench_die(reason);
  if (!prepare(pair)) return;
  unsigned char* pattern = bench_buffer(WINDOW_BYTES);
  bench_fill(pattern, WINDOW_BYTES, 9);
  works(cu.MemcpyHtoD(address(pair->mine), pattern, WINDOW_BYTES), "cuMemcpyHtoD");
  tell(pair->socket, "r", 1);
  for (struct order order;;) {
    hear(pair->socket, &order, sizeof order);
    if (order.task == QUIT) break;
    failed = 0;
    tell(pair->socket, "r", 1);
    act(pair, 0, &order);
    tell(pair->socket, "r", 1);
  }
  if (pair->theirs) works(cu.IpcCloseMemHandle(address(pair->theirs)), "cuIpcCloseMemHandle");
  free(pattern);
}

static void reopen(void* about, int iterations) {
  for (int i = 0; i < iterations && !failed; ++i) {
    cu_pointer theirs;
    expect(cu.IpcOpenMemHandle(&theirs, *(cu_ipc_handle*)about, CU_IPC_LAZY_PEER_ACCESS), "cuIpcOpenMemHandle");
    if (!failed) expect(cu.IpcCloseMemHandle(theirs), "cuIpcCloseMemHandle");
  }
}

static void both_processes(struct pair* pair) {
  tell(pair->socket, "g", 1);
  if (!prepare(pair)) return;
  char ready;
  hear(pair->socket, &ready, 1);
  if (pair->theirs) {
    unsigned char* seen = bench_buffer(WINDOW_BYTES);
    works(cu.Memcpy(address(pair->mine), address(pair->theirs), WINDOW_BYTES), "cuMemcpy of the other's memory");
    works(cu.MemcpyDtoH(seen, address(pair->mine), WINDOW_BYTES), "cuMemcpyDtoH");
    bench_check(seen, WINDOW_BYTES, 9);
    free(seen);
    printf("# memory of another process on the same device can be mapped, and has the bytes written there\n");
    cu_need(cu.IpcCloseMemHandle(address(pair->theirs)), "cuIpcCloseMemHandle");
    cu_pointer theirs;
    emit_us("pair_open_close", 2 * WINDOW_BYTES, reopen, &pair->handle);
    cu_need(cu.IpcOpenMemHandle(&theirs, pair->handle, CU_IPC_LAZY_PEER_ACCESS), "cuIpcOpenMemHandle");
    pair->theirs = (unsigned char*)(uintptr_t)theirs;
  }
  for (int s = 0; s < options.size_count; ++s) {
    const size_t size = options.sizes[s];
    double us = together(pair, PONG_HOST, size);
    if (us >= 0) bench_emit("pair_latency_host", size, us / 2, "us");
    if (size < BY_COPY_ENGINE) {
      us = together(pair, PONG_HOST_LARGE, size);
      if (us >= 0) bench_emit("pair_latency_host_large", size, us / 2, "us");
    }
    if (!pair->theirs) continue;
    us = together(pair, PONG_MAPPED, size);
    if (us >= 0) bench_emit("pair_latency_mapped", size, us / 2, "us");
    struct copy pulling = {
        .kind = DEVICE, .there = pair->mine, .here = pair->theirs, .size = size, .streams = {stream, stream}};
    emit_window("pair_window_pull", &pulling, copies, 1);
    struct copy pushing = {
        .kind = DEVICE, .there = pair->theirs, .here = pair->mine, .size = size, .streams = {stream, stream}};
    emit_window("pair_window_push", &pushing, copies, 1);
    us = together(pair, PULL, size);
    if (us >= 0) bench_emit("pair_window_both_pull", size, 2.0 * window_count(size) * (double)size / us, "MB/s");
  }
}

// ---- All of it

int main(int argc, char** argv) {
  static const size_t sizes[] = {8, 1024, 16384, 65536, 262144, 1 << 20, 4 << 20, 16 << 20};
  options = bench_parse(argc, argv, sizes, sizeof sizes / sizeof *sizes);
  int ends[2];
  const int fd = memfd_create("bench-device", MFD_CLOEXEC);
  const size_t shared_bytes = SLOTS * SLOT_BYTES + BENCH_PAGE;
  if (fd < 0 || ftruncate(fd, (off_t)shared_bytes) != 0) bench_die("no shared memory");
  unsigned char* shared = mmap(NULL, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) bench_die(strerror(errno));
  memset(shared, 1, shared_bytes);
  struct pair pair = {
      .socket = ends[0], .shared = shared, .turns = (_Atomic uint64_t*)(void*)(shared + SLOTS * SLOT_BYTES)};
  const pid_t child = fork();  // before the driver is used: it does not survive a fork
  if (child < 0) bench_die(strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    pair.socket = ends[1];
    other(&pair);
    return 0;
  }
  close(ends[1]);
  const double began = bench_now_us();
  const char* reason = cu_open(0);
  if (reason) {
    fprintf(stderr, "device: skipped, %s\n", reason);
    return BENCH_SKIP;
  }
  bench_emit("open", 0, bench_now_us() - began, "us");
  facts();
  cu_pointer device;
  unsigned char* pageable = bench_buffer(WINDOW_BYTES);
  void* pinned;
  cu_need(cu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  cu_need(cu.MemAlloc(&device, 2 * WINDOW_BYTES), "cuMemAlloc");
  cu_need(cu.MemHostAlloc(&pinned, 2 * WINDOW_BYTES + BENCH_PAGE, 0), "cuMemHostAlloc");
  calls(device, pinned, pageable, shared);
  all_copies((unsigned char*)(uintptr_t)device, pinned, pageable, shared);
  both_processes(&pair);
  const struct order quit = {.task = QUIT};
  tell(pair.socket, &quit, sizeof quit);
  int status;
  if (waitpid(child, &status, 0) != child || status != 0) bench_die("the other process failed");
  free(pageable);
  return 0;
}
