// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Memory of a device that the program has freed before an operation on it, or while it was pending: the call or the
// completion says so, the processor does not fault, and other memory of the device works after that.
//   freed PLACE [fatal]
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "place.h"

enum { LARGE = 4 << 20 };

static int failures, rank, ranks;
static unsigned char *here, *live;

static int class_of(int code) {
  int error = code;
  MPI_Error_class(code, &error);
  return error;
}

static void expect_error(int code, const char* call, int bytes) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  MPI_Error_string(code, text, &length);
  if (class_of(code) == MPI_ERR_OTHER) return;
  fprintf(stderr, "rank %d: %s of %d bytes that were freed: %s\n", rank, call, bytes, text);
  ++failures;
}

// The address is not used for anything else: a driver that keeps it does the same.
static void lose(unsigned char* memory, size_t bytes) {
  place_free(memory);
  (void)mmap(memory, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

static unsigned char* gone(size_t bytes) {
  unsigned char* memory = place_buffer(bytes);
  lose(memory, bytes);
  return memory;
}

static int exchange(void* out, void* in, int bytes, MPI_Datatype type, MPI_Comm comm) {
  int size;
  MPI_Type_size(type, &size);
  return MPI_Sendrecv(out, bytes / size, type, 0, 1, in, bytes / size, type, 0, 1, comm, MPI_STATUS_IGNORE);
}

// A send to the own process of which nothing arrives: the program learns it before it waits for the receive.
static int send_to_self(void* out, int bytes) {
  MPI_Request send, receive;
  MPI_Irecv(here, bytes, MPI_BYTE, 0, 5, MPI_COMM_SELF, &receive);
  int error = MPI_Isend(out, bytes, MPI_BYTE, 0, 5, MPI_COMM_SELF, &send);
  if (error != MPI_SUCCESS) {
    MPI_Cancel(&receive);
    (void)MPI_Wait(&receive, MPI_STATUS_IGNORE);
    return error;
  }
  error = MPI_Wait(&receive, MPI_STATUS_IGNORE);
  const int sent = MPI_Wait(&send, MPI_STATUS_IGNORE);
  return sent == MPI_SUCCESS ? error : sent;
}

static void alone(int bytes) {
  MPI_Datatype columns;
  MPI_Request request;
  unsigned char* pending = place_buffer(LARGE);
  unsigned char* freed = gone(LARGE);
  MPI_Type_vector(bytes / 8, 4, 8, MPI_BYTE, &columns);
  MPI_Type_commit(&columns);
  expect_error(exchange(freed, here, bytes, MPI_BYTE, MPI_COMM_SELF), "send", bytes);
  expect_error(send_to_self(freed, bytes), "nonblocking send", bytes);
  expect_error(exchange(here, freed, bytes, MPI_BYTE, MPI_COMM_SELF), "receive", bytes);
  expect_error(exchange(freed, live, bytes, MPI_BYTE, MPI_COMM_SELF), "send to a device", bytes);
  expect_error(exchange(live, freed, bytes, MPI_BYTE, MPI_COMM_SELF), "receive from a device", bytes);
  expect_error(exchange(freed, here, bytes / 2, columns, MPI_COMM_SELF), "send with gaps", bytes);
  expect_error(exchange(here, freed, bytes / 2, columns, MPI_COMM_SELF), "receive with gaps", bytes);
  expect_error(MPI_Allreduce(freed, here, bytes / 4, MPI_INT, MPI_SUM, MPI_COMM_SELF), "allreduce from", bytes);
  expect_error(MPI_Allreduce(live, freed, bytes / 4, MPI_INT, MPI_SUM, MPI_COMM_SELF), "allreduce into", bytes);
  expect_error(MPI_Reduce_local(freed, live, bytes / 4, MPI_INT, MPI_SUM), "reduce_local", bytes);
  MPI_Irecv(pending, bytes, MPI_BYTE, 0, 2, MPI_COMM_SELF, &request);
  lose(pending, LARGE);
  MPI_Send(here, bytes, MPI_BYTE, 0, 2, MPI_COMM_SELF);
  expect_error(MPI_Wait(&request, MPI_STATUS_IGNORE), "pending receive", bytes);
  MPI_Type_free(&columns);
}

// CUDA's driver keeps the addresses of freed memory, and maps a peer's memory at them: then they are memory again.
static bool is_memory_again(const void* address) {
  enum { MEMORY_TYPE = 2 };
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  int (*ask)(void*, int, uintptr_t) = NULL;
  if (driver != NULL) *(void**)&ask = dlsym(driver, "cuPointerGetAttribute");
  unsigned type;
  const bool known = ask != NULL && ask(&type, MEMORY_TYPE, (uintptr_t)address) == 0;
  if (driver != NULL) dlclose(driver);
  return known;
}

// From the host, then from the device, to the next rank, whose memory was freed.
static void around(int bytes) {
  unsigned char* freed = gone(LARGE);
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Request request;
    MPI_Irecv(freed, bytes, MPI_BYTE, (rank + ranks - 1) % ranks, 3, MPI_COMM_WORLD, &request);
    MPI_Send(turn == 0 ? here : live, bytes, MPI_BYTE, (rank + 1) % ranks, 3, MPI_COMM_WORLD);
    const int error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS && is_memory_again(freed)) continue;
    expect_error(error, turn == 0 ? "receive around" : "receive around, device", bytes);
  }
}

static void one_sided(int bytes) {
  MPI_Win window;
  unsigned char *freed = gone(LARGE), *memory;
  MPI_Win_allocate(LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, window);
  int error = MPI_Put(freed, bytes, MPI_BYTE, (rank + 1) % ranks, 0, bytes, MPI_BYTE, window);
  const int later = MPI_Win_flush((rank + 1) % ranks, window);
  expect_error(error != MPI_SUCCESS ? error : later, "put", bytes);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

// Operations of memory that lives still work.
static void works(int bytes) {
  place_fill(live, (size_t)bytes, (unsigned)bytes);
  memset(here, 0, (size_t)bytes);
  MPI_Sendrecv(live, bytes, MPI_BYTE, (rank + 1) % ranks, 4, here, bytes, MPI_BYTE, (rank + ranks - 1) % ranks, 4,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  bench_check(here, (size_t)bytes, (unsigned)bytes);
}

int main(int argc, char** argv) {
  static const int sizes[] = {8, 4096, 100000, LARGE};
  if (argc < 2) bench_die("usage: freed PLACE [fatal]");
  places.of[0] = places.of[1] = place_named(argv[1], strlen(argv[1]));
  const char* reason = place_by_driver(places.of[0]) ? cu_load() : NULL;
  if (reason) {
    fprintf(stderr, "skipped: %s\n", reason);
    return BENCH_SKIP;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  place_start(rank);
  here = bench_buffer(LARGE);
  live = place_buffer(LARGE);
  if (argc > 2) MPI_Send(gone(4096), 64, MPI_BYTE, 0, 1, MPI_COMM_SELF);  // the job ends
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    alone(sizes[i]);
    around(sizes[i]);
    one_sided(sizes[i]);
    works(sizes[i]);
  }
  place_free(live);
  free(here);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
