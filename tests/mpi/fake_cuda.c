// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A library with the names of CUDA's driver and one device, whose memory faults when the processor touches it. So the
// use of a driver can be tested where there is none. Copies and kernels want the device's context current, and happen
// when their stream or event is asked for; kernels are interpreted.
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_ptx.h"

enum {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  INVALID_CONTEXT = 201,
  INVALID_PTX = 218,
  INVALID_HANDLE = 400,
  NOT_READY = 600
};
enum {
  ATTRIBUTE_CONTEXT = 1,
  ATTRIBUTE_MEMORY_TYPE = 2,
  ATTRIBUTE_DEVICE_POINTER = 3,
  ATTRIBUTE_BUFFER_ID = 7,
  ATTRIBUTE_IS_MANAGED = 8,
  ATTRIBUTE_DEVICE_ORDINAL = 9,
  MEMORY_OF_HOST = 1,
  MEMORY_OF_DEVICE = 2
};
typedef unsigned long long pointer;

static const size_t capacity = (size_t)256 << 20;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int context_of_device;
static _Thread_local void* current;

// ---- Memory: ours, and that of other processes

enum { MOST_REGIONS = 64, MOST_ALLOCATIONS = 4096 };
static struct region {
  char *seen, *real;
  size_t offset;  // of the allocation that was mapped
} regions[MOST_REGIONS];
static int file = -1;

static struct allocation {
  size_t offset, bytes;
  unsigned long long number;
} allocations[MOST_ALLOCATIONS];
static int allocation_count;
static unsigned long long numbers;

static int map_region(int fd, struct region* region) {
  void* real = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  void* seen = mmap(NULL, capacity, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (real == MAP_FAILED || seen == MAP_FAILED) return OUT_OF_MEMORY;
  region->real = real;
  region->seen = seen;
  region->offset = 0;
  return SUCCESS;
}

int cuInit(unsigned flags) {
  if (flags != 0) return INVALID_VALUE;
  if (file >= 0) return SUCCESS;
  file = memfd_create("fake-cuda", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)capacity) != 0) return OUT_OF_MEMORY;
  return map_region(file, &regions[0]);
}

static struct region* region_of(pointer at) {
  for (struct region* r = regions; r < regions + MOST_REGIONS; ++r) {
    if (r->seen != NULL && at >= (uintptr_t)r->seen && at < (uintptr_t)r->seen + capacity) return r;
  }
  return NULL;
}

// The allocation of ours that an address is in.
static struct allocation* find(pointer at) {
  if (region_of(at) != &regions[0]) return NULL;
  const size_t offset = at - (uintptr_t)regions[0].seen;
  for (int i = 0; i < allocation_count; ++i) {
    if (offset >= allocations[i].offset && offset < allocations[i].offset + allocations[i].bytes)
      return &allocations[i];
  }
  return NULL;
}

// Whether the processor may touch what programs see, for kernels that it runs (fake_hip.cpp).
void fake_cuda_open_memory(int open);
void fake_cuda_open_memory(int open) {
  for (struct region* r = regions; r < regions + MOST_REGIONS; ++r) {
    if (r->seen != NULL) (void)mprotect(r->seen, capacity, open ? PROT_READ | PROT_WRITE : PROT_NONE);
  }
}

int cuMemAlloc_v2(pointer* memory, size_t bytes) {
  const size_t rounded = (bytes + 255) / 256 * 256;
  if (bytes == 0) return INVALID_VALUE;
  pthread_mutex_lock(&mutex);
  // Behind all others: room in front of them is used again when they are gone.
  size_t end = 0;
  for (int i = 0; i < allocation_count; ++i) {
    if (allocations[i].offset + allocations[i].bytes > end) end = allocations[i].offset + allocations[i].bytes;
  }
  const int error = rounded > capacity - end || allocation_count == MOST_ALLOCATIONS ? OUT_OF_MEMORY : SUCCESS;
  if (error == SUCCESS) {
    allocations[allocation_count++] = (struct allocation){end, rounded, ++numbers};
    *memory = (uintptr_t)regions[0].seen + end;
  }
  pthread_mutex_unlock(&mutex);
  return error;
}

int cuMemFree_v2(pointer memory) {
  pthread_mutex_lock(&mutex);
  struct allocation* found = find(memory);
  const int error = found == NULL || memory - (uintptr_t)regions[0].seen != found->offset ? INVALID_VALUE : SUCCESS;
  if (error == SUCCESS) *found = allocations[--allocation_count];
  pthread_mutex_unlock(&mutex);
  return error;
}

int cuMemGetAddressRange_v2(pointer* base, size_t* bytes, pointer at) {
  pthread_mutex_lock(&mutex);
  const struct region* region = region_of(at);
  const struct allocation* found = find(at);
  if (found != NULL) {
    *base = (uintptr_t)regions[0].seen + found->offset;
    *bytes = found->bytes;
  } else if (region != NULL) {
    *base = (uintptr_t)region->seen;
    *bytes = capacity;
  }
  pthread_mutex_unlock(&mutex);
  return region == NULL ? INVALID_VALUE : SUCCESS;
}

// Memory of the host that copies and kernels reach.
enum { MOST_PINNED = 256 };
static struct pinned {
  uintptr_t at;
  size_t bytes;
} pinned[MOST_PINNED];

static int is_pinned(pointer at) {
  for (int i = 0; i < MOST_PINNED; ++i) {
    if (at >= pinned[i].at && at < pinned[i].at + pinned[i].bytes) return 1;
  }
  return 0;
}

int cuPointerGetAttributes(unsigned count, const int* attributes, void** values, pointer at) {
  if (file < 0) return NOT_INITIALIZED;
  pthread_mutex_lock(&mutex);
  const struct allocation* found = find(at);
  const int on_device = found != NULL || (region_of(at) != NULL && region_of(at) != &regions[0]);
  int error = SUCCESS;
  for (unsigned i = 0; i < count; ++i) {
    switch (attributes[i]) {
      case ATTRIBUTE_CONTEXT:
        *(void**)values[i] = on_device ? &context_of_device : NULL;
        break;
      case ATTRIBUTE_MEMORY_TYPE:
        *(unsigned*)values[i] = on_device ? MEMORY_OF_DEVICE : is_pinned(at) ? MEMORY_OF_HOST : 0;
        break;
      case ATTRIBUTE_DEVICE_POINTER:
        *(pointer*)values[i] = on_device || is_pinned(at) ? at : 0;
        break;
      case ATTRIBUTE_BUFFER_ID:
        *(unsigned long long*)values[i] = found != NULL ? found->number : 0;
        break;
      case ATTRIBUTE_IS_MANAGED:
      case ATTRIBUTE_DEVICE_ORDINAL:
        *(unsigned*)values[i] = 0;
        break;
      default:
        error = INVALID_VALUE;
    }
  }
  pthread_mutex_unlock(&mutex);
  return error;
}

// ---- Devices

int cuDriverGetVersion(int* version) {
  *version = 12040;
  return SUCCESS;
}

int cuDeviceGetCount(int* count) {
  *count = 1;
  return SUCCESS;
}

int cuDeviceGetName(char* name, int bytes, int device) {
  if (device != 0) return INVALID_VALUE;
  (void)snprintf(name, (size_t)bytes, "stand-in");
  return SUCCESS;
}

int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  *bytes = capacity;
  return device == 0 ? SUCCESS : INVALID_VALUE;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 33 ? 7 : 0;  // the bus
  return device == 0 ? SUCCESS : INVALID_VALUE;
}

// ---- Contexts

int cuCtxGetCurrent(void** context) {
  *context = current;
  return SUCCESS;
}

int cuCtxSetCurrent(void* context) {
  if (context != &context_of_device && context != NULL) return INVALID_CONTEXT;
  current = context;
  return SUCCESS;
}

int cuCtxPushCurrent_v2(void* context) {
  if (context != &context_of_device || current != NULL) return INVALID_CONTEXT;
  current = context;
  return SUCCESS;
}

int cuCtxPopCurrent_v2(void** context) {
  if (current == NULL) return INVALID_CONTEXT;
  *context = current;
  current = NULL;
  return SUCCESS;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (device != 0) return INVALID_VALUE;
  *context = &context_of_device;
  return SUCCESS;
}

// ---- Copies and kernels

enum { MOST_STREAMS = 16, MOST_EVENTS = 256, MOST_COPIES = 4096, MOST_ARGUMENTS = 512 };
static struct stream { int made; } streams[MOST_STREAMS];
static struct event {
  struct stream* stream;
  unsigned asked;
} events[MOST_EVENTS];
static int stream_count, event_count;
static struct copy {
  struct stream* stream;
  char *to, *from;
  size_t to_pitch, from_pitch, width, rows;
  const void* kernel;  // instead
  unsigned blocks, threads;
  char arguments[MOST_ARGUMENTS];
} copies[MOST_COPIES];
static int copy_count;
static int failure;  // of a kernel; it stays

static char* reach(pointer at) {
  const struct region* region = region_of(at);
  return region != NULL ? region->real + (at - (uintptr_t)region->seen) : (char*)(uintptr_t)at;
}

// For kernels, which reach no other memory of the host.
static void* reach_or_fail(pointer at, size_t bytes) {
  const struct region* region = region_of(at);
  if (region == NULL) return is_pinned(at) && is_pinned(at + bytes - 1) ? (void*)(uintptr_t)at : NULL;
  return bytes <= capacity - (at - (uintptr_t)region->seen) ? region->real + (at - (uintptr_t)region->seen) : NULL;
}

// Carries out what a stream has, in its order. The mutex is held.
static void run(const struct stream* stream) {
  int left = 0;
  for (int i = 0; i < copy_count; ++i) {
    const struct copy c = copies[i];
    if (c.stream != stream) {
      copies[left++] = c;
      continue;
    }
    if (c.kernel != NULL && failure == SUCCESS)
      failure = fake_ptx_run(c.kernel, c.blocks, c.threads, c.arguments, reach_or_fail);
    for (size_t row = 0; row < c.rows; ++row) memmove(c.to + row * c.to_pitch, c.from + row * c.from_pitch, c.width);
  }
  copy_count = left;
}

static int add(struct copy copy) {
  if (current == NULL) return INVALID_CONTEXT;
  if (copy.stream == NULL || !copy.stream->made) return INVALID_HANDLE;
  pthread_mutex_lock(&mutex);
  if (copy_count == MOST_COPIES) run(copy.stream);
  copies[copy_count++] = copy;
  pthread_mutex_unlock(&mutex);
  return SUCCESS;
}

int cuMemcpyAsync(pointer to, pointer from, size_t bytes, void* stream) {
  return add((struct copy){.stream = stream,
                           .to = reach(to),
                           .from = reach(from),
                           .to_pitch = bytes,
                           .from_pitch = bytes,
                           .width = bytes,
                           .rows = 1});
}

struct rows {
  size_t from_x, from_y;
  unsigned from_type;
  const void* from_host;
  pointer from_device;
  void* from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  unsigned to_type;
  void* to_host;
  pointer to_device;
  void* to_array;
  size_t to_pitch;
  size_t width, height;
};

int cuMemcpy2DAsync_v2(const struct rows* r, void* stream) {
  if (r->from_pitch < r->width || r->to_pitch < r->width) return INVALID_VALUE;
  char* to = r->to_type == MEMORY_OF_DEVICE ? reach(r->to_device) : r->to_host;
  char* from = r->from_type == MEMORY_OF_DEVICE ? reach(r->from_device) : (char*)(uintptr_t)r->from_host;
  return add((struct copy){.stream = stream,
                           .to = to,
                           .from = from,
                           .to_pitch = r->to_pitch,
                           .from_pitch = r->from_pitch,
                           .width = r->width,
                           .rows = r->height});
}

int cuModuleLoadData(void** module, const void* image) {
  if (current == NULL) return INVALID_CONTEXT;
  *module = fake_ptx_load(image, "weft");
  return *module == NULL ? INVALID_PTX : SUCCESS;
}

int cuModuleGetFunction(void** function, void* module, const char* name) {
  *function = module;
  return strcmp(name, "weft") == 0 ? SUCCESS : INVALID_VALUE;
}

int cuLaunchKernel(void* function, unsigned blocks, unsigned blocks_y, unsigned blocks_z, unsigned threads,
                   unsigned threads_y, unsigned threads_z, unsigned shared, void* stream, void** parameters,
                   void** extra) {
  struct copy launch = {.stream = stream, .kernel = function, .blocks = blocks, .threads = threads};
  const size_t bytes = fake_ptx_bytes_of_arguments(function);
  if (blocks == 0 || blocks_y != 1 || blocks_z != 1 || threads == 0 || threads > 1024 || threads_y != 1 ||
      threads_z != 1 || shared != 0 || extra != NULL || bytes > sizeof launch.arguments)
    return INVALID_VALUE;
  memcpy(launch.arguments, parameters[0], bytes);
  return add(launch);
}

int cuStreamCreate(void** stream, unsigned flags) {
  if (current == NULL || flags > 1) return INVALID_VALUE;
  if (stream_count == MOST_STREAMS) return OUT_OF_MEMORY;
  streams[stream_count].made = 1;
  *stream = &streams[stream_count++];
  return SUCCESS;
}

// FAKE_CUDA_FAILS: the error that copies end with.
int cuStreamSynchronize(void* stream) {
  const char* failing = getenv("FAKE_CUDA_FAILS");
  if (failing != NULL) return (int)strtol(failing, NULL, 10);
  if (stream == NULL || current == NULL) return INVALID_CONTEXT;
  pthread_mutex_lock(&mutex);
  run(stream);
  const int error = failure;
  pthread_mutex_unlock(&mutex);
  return error;
}

int cuEventCreate(void** event, unsigned flags) {
  (void)flags;
  if (current == NULL) return INVALID_CONTEXT;
  if (event_count == MOST_EVENTS) return OUT_OF_MEMORY;
  *event = &events[event_count++];
  return SUCCESS;
}

int cuEventRecord(void* event, void* stream) {
  struct event* e = event;
  if (current == NULL) return INVALID_CONTEXT;
  pthread_mutex_lock(&mutex);
  e->stream = stream;
  e->asked = 0;
  pthread_mutex_unlock(&mutex);
  return SUCCESS;
}

// Not at once.
int cuEventQuery(void* event) {
  struct event* e = event;
  pthread_mutex_lock(&mutex);
  const int ready = e->stream != NULL && ++e->asked > 2;
  if (ready) run(e->stream);
  pthread_mutex_unlock(&mutex);
  return ready ? SUCCESS : NOT_READY;
}

// ---- Memory of the host, and of other processes

int cuMemHostRegister_v2(void* memory, size_t bytes, unsigned flags) {
  (void)flags;
  if (current == NULL || memory == NULL || bytes == 0) return current == NULL ? INVALID_CONTEXT : INVALID_VALUE;
  pthread_mutex_lock(&mutex);
  int i = 0;
  while (i < MOST_PINNED && pinned[i].bytes != 0) ++i;
  if (i < MOST_PINNED) pinned[i] = (struct pinned){(uintptr_t)memory, bytes};
  pthread_mutex_unlock(&mutex);
  return i < MOST_PINNED ? SUCCESS : OUT_OF_MEMORY;
}

int cuMemHostUnregister(void* memory) {
  pthread_mutex_lock(&mutex);
  int i = 0;
  while (i < MOST_PINNED && (pinned[i].bytes == 0 || pinned[i].at != (uintptr_t)memory)) ++i;
  if (i < MOST_PINNED) pinned[i].bytes = 0;
  pthread_mutex_unlock(&mutex);
  return i < MOST_PINNED ? SUCCESS : INVALID_VALUE;
}

struct handle {
  int pid, file;
  size_t offset;
  char rest[48];
};

int cuIpcGetMemHandle(struct handle* handle, pointer memory) {
  pthread_mutex_lock(&mutex);
  const struct allocation* found = find(memory);
  if (found != NULL) *handle = (struct handle){getpid(), file, found->offset, {0}};
  pthread_mutex_unlock(&mutex);
  return found == NULL ? INVALID_VALUE : SUCCESS;
}

// The memory of another process, which a descriptor stands for, from where an allocation is in it.
int fake_cuda_map(int fd, size_t offset, pointer* memory);
int fake_cuda_map(int fd, size_t offset, pointer* memory) {
  pthread_mutex_lock(&mutex);
  int error = OUT_OF_MEMORY;
  for (int i = 1; i < MOST_REGIONS && error != SUCCESS; ++i) {
    if (regions[i].seen != NULL) continue;
    error = map_region(fd, &regions[i]);
    regions[i].offset = offset;
    *memory = (uintptr_t)regions[i].seen + offset;
    break;
  }
  pthread_mutex_unlock(&mutex);
  return error;
}

int cuIpcOpenMemHandle_v2(pointer* memory, struct handle handle, unsigned flags) {
  char path[64];
  if (current == NULL || flags != 1) return INVALID_CONTEXT;
  if (handle.pid == getpid()) return INVALID_CONTEXT;  // as the driver has it
  (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.pid, handle.file);
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return INVALID_HANDLE;
  const int error = fake_cuda_map(fd, handle.offset, memory);
  close(fd);
  return error;
}

int cuIpcCloseMemHandle(pointer memory) {
  pthread_mutex_lock(&mutex);
  struct region* region = region_of(memory);
  const int mine = region != NULL && region != &regions[0] && memory - (uintptr_t)region->seen == region->offset;
  if (mine) {
    munmap(region->seen, capacity);
    munmap(region->real, capacity);
    region->seen = NULL;
  }
  pthread_mutex_unlock(&mutex);
  return mine ? SUCCESS : INVALID_VALUE;
}

int cuGetErrorName(int error, const char** name) {
  *name = error == INVALID_CONTEXT ? "CUDA_ERROR_INVALID_CONTEXT" : "CUDA_ERROR_UNKNOWN";
  return SUCCESS;
}
