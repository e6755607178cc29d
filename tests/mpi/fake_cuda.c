// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A library with the names of CUDA's driver and one device, whose memory faults when the processor touches it. So the
// use of a driver can be tested where there is none. Copies want the device's context current.
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_CONTEXT = 201 };
enum { ATTRIBUTE_CONTEXT = 1, ATTRIBUTE_MEMORY_TYPE = 2, ATTRIBUTE_IS_MANAGED = 8, MEMORY_OF_DEVICE = 2 };

static const size_t capacity = (size_t)256 << 20;
static char *seen, *real;
static size_t used;
static int live;
static int context_of_device;
static _Thread_local void* current;

int cuInit(unsigned flags) {
  if (flags != 0) return INVALID_VALUE;
  if (seen != NULL) return SUCCESS;
  const int fd = memfd_create("fake-cuda", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, (off_t)capacity) != 0) return OUT_OF_MEMORY;
  real = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  seen = mmap(NULL, capacity, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  close(fd);
  return SUCCESS;
}

static int is_mine(unsigned long long pointer) {
  return pointer >= (uintptr_t)seen && pointer < (uintptr_t)seen + capacity;
}

int cuPointerGetAttribute(void* value, int attribute, unsigned long long pointer) {
  if (seen == NULL) return NOT_INITIALIZED;
  if (!is_mine(pointer)) return INVALID_VALUE;
  switch (attribute) {
    case ATTRIBUTE_CONTEXT:
      *(void**)value = &context_of_device;
      return SUCCESS;
    case ATTRIBUTE_MEMORY_TYPE:
      *(unsigned*)value = MEMORY_OF_DEVICE;
      return SUCCESS;
    case ATTRIBUTE_IS_MANAGED:
      *(unsigned*)value = 0;
      return SUCCESS;
    default:
      return INVALID_VALUE;
  }
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

static void* reach(unsigned long long pointer) {
  return is_mine(pointer) ? real + (pointer - (uintptr_t)seen) : (void*)(uintptr_t)pointer;
}

int cuMemcpy(unsigned long long to, unsigned long long from, size_t bytes) {
  if (current == NULL) return INVALID_CONTEXT;
  memmove(reach(to), reach(from), bytes);
  return SUCCESS;
}

int cuStreamSynchronize(void* stream) {
  return stream == NULL && current != NULL ? SUCCESS : INVALID_CONTEXT;
}

int cuMemAlloc_v2(unsigned long long* memory, size_t bytes) {
  const size_t rounded = (bytes + 255) / 256 * 256;
  if (bytes == 0) return INVALID_VALUE;
  if (live == 0) used = 0;
  if (rounded > capacity - used) return OUT_OF_MEMORY;
  *memory = (uintptr_t)seen + used;
  used += rounded;
  ++live;
  return SUCCESS;
}

int cuMemFree_v2(unsigned long long memory) {
  if (!is_mine(memory)) return INVALID_VALUE;
  --live;
  return SUCCESS;
}

int cuGetErrorName(int error, const char** name) {
  *name = error == INVALID_CONTEXT ? "CUDA_ERROR_INVALID_CONTEXT" : "CUDA_ERROR_UNKNOWN";
  return SUCCESS;
}
