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
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_calls.h"
#include "device_copy.h"
#include "device_pair.h"

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
