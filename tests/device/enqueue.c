// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Operations that are enqueued on a stream of a device (mpix.h): each begins when the stream reaches it, and the stream
// goes on when it is complete, so data pass through copies of the stream and messages in the order of the calls.
// Streams do not wait for each other, and errors are told.
//   enqueue PLACE [single | time]
#include <mpix.h>

#include "place.h"

enum { LARGE = 4 << 20, OPEN = 7, RING = 3, SELF = 9, NOTE = 5, DONE = 99 };

struct line {  // a stream, and a communicator that has it
  void* of_driver;
  MPIX_Stream stream;
  MPI_Comm comm;
};

static int failures, rank, ranks;
static unsigned char *here, *x, *y, *z;

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %d: not so: %s\n", rank, what);
  ++failures;
}

static void expect_class(int code, int wanted, const char* call) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int error = code, length;
  MPI_Error_class(code, &error);
  if (error == wanted) return;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "rank %d: %s: class %d wanted, not: %s\n", rank, call, wanted, text);
  ++failures;
}

static int next(void) {
  return (rank + 1) % ranks;
}
static int before(void) {
  return (rank + ranks - 1) % ranks;
}

static int create(void* of_driver, MPIX_Stream* stream) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "type", places.mine == PLACE_MOCK ? "mock" : "cudaStream_t");
  MPIX_Info_set_hex(info, "value", &of_driver, sizeof of_driver);
  const int error = MPIX_Stream_create(info, stream);
  MPI_Info_free(&info);
  return error;
}

static struct line open_line(void) {
  struct line line = {0};
  if (places.mine != PLACE_MOCK) cu_need(cu.StreamCreate(&line.of_driver, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  create(line.of_driver, &line.stream);
  MPIX_Stream_comm_create(MPI_COMM_WORLD, line.stream, &line.comm);
  return line;
}

static void close_line(struct line* line) {
  MPI_Comm_free(&line->comm);
  expect_class(MPIX_Stream_free(&line->stream), MPI_SUCCESS, "MPIX_Stream_free");
}

// Work of the stream's own: the mock has none but messages.
static void copy(struct line* line, void* to, const void* from, int bytes) {
  MPI_Request request;
  if (places.mine != PLACE_MOCK) {
    cu_need(cu.MemcpyDtoDAsync((uintptr_t)to, (uintptr_t)from, (size_t)bytes, line->of_driver), "cuMemcpyDtoDAsync");
    return;
  }
  MPIX_Irecv_enqueue(to, bytes, MPI_BYTE, rank, SELF, line->comm, &request);
  MPIX_Send_enqueue(from, bytes, MPI_BYTE, rank, SELF, line->comm);
  MPIX_Wait_enqueue(&request, MPI_STATUS_IGNORE);
}

// Until all that was enqueued is over.
static void finish(struct line* line) {
  if (places.mine != PLACE_MOCK) {
    cu_need(cu.StreamSynchronize(line->of_driver), "cuStreamSynchronize");
    return;
  }
  MPIX_Send_enqueue(NULL, 0, MPI_BYTE, rank, DONE, line->comm);
  MPI_Recv(NULL, 0, MPI_BYTE, rank, DONE, line->comm, MPI_STATUS_IGNORE);
}

// The first operation waits for a message that this rank sends at the end. Operations behind it would see old
// data if they began before.
static void in_order(struct line* line, int bytes) {
  MPI_Request requests[2];
  MPI_Status status, statuses[2];
  place_fill(x, (size_t)bytes, 1);
  place_fill(y, (size_t)bytes, 2);
  place_fill(z, (size_t)bytes, 3);
  MPIX_Recv_enqueue(x, bytes, MPI_BYTE, rank, OPEN, line->comm, &status);
  copy(line, y, x, bytes);
  MPIX_Irecv_enqueue(z, bytes, MPI_BYTE, before(), RING, line->comm, &requests[0]);
  MPIX_Isend_enqueue(y, bytes, MPI_BYTE, next(), RING, line->comm, &requests[1]);
  MPIX_Waitall_enqueue(2, requests, statuses);
  expect(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL, "the requests are null");
  copy(line, x, z, bytes);
  if (places.mine != PLACE_MOCK) expect(cu.StreamQuery(line->of_driver) != CU_SUCCESS, "the stream waits");
  bench_fill(here, (size_t)bytes, 10 + (unsigned)rank);
  MPI_Send(here, bytes, MPI_BYTE, rank, OPEN, line->comm);
  finish(line);
  place_check(x, (size_t)bytes, 10 + (unsigned)before());
  expect(status.MPI_SOURCE == rank && status.MPI_TAG == OPEN, "the status of a receive");
  expect(statuses[0].MPI_SOURCE == before() && statuses[0].MPI_TAG == RING, "the statuses of requests");
}

static void sums(struct line* line) {
  enum { COUNT = 5000 };
  int* const numbers = (int*)(void*)here;
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = 0; i < COUNT; ++i) numbers[i] = i + rank + turn;
    memcpy(place_room(x, COUNT * sizeof(int)), numbers, COUNT * sizeof(int));
    place_write(x, COUNT * sizeof(int));
    MPIX_Allreduce_enqueue(x, y, COUNT, MPI_INT, MPI_SUM, line->comm);
    copy(line, z, y, COUNT * sizeof(int));
    MPIX_Allreduce_enqueue(MPI_IN_PLACE, z, COUNT, MPI_INT, MPI_MAX, line->comm);
    finish(line);
    memcpy(numbers, place_read(z, COUNT * sizeof(int)), COUNT * sizeof(int));
    int wrong = 0;
    for (int i = 0; i < COUNT; ++i) wrong += numbers[i] != ranks * (i + turn) + ranks * (ranks - 1) / 2;
    expect(wrong == 0, "sums of all ranks");
  }
}

static void apart(struct line* one) {
  struct line other = open_line();
  place_fill(x, 1000, 20 + (unsigned)rank);
  MPIX_Recv_enqueue(z, 1000, MPI_BYTE, rank, OPEN, one->comm, MPI_STATUS_IGNORE);
  MPIX_Send_enqueue(x, 1000, MPI_BYTE, next(), RING, other.comm);
  MPIX_Recv_enqueue(y, 1000, MPI_BYTE, before(), RING, other.comm, MPI_STATUS_IGNORE);
  finish(&other);
  place_check(y, 1000, 20 + (unsigned)before());
  MPI_Send(x, 1000, MPI_BYTE, rank, OPEN, one->comm);
  finish(one);
  place_check(z, 1000, 20 + (unsigned)rank);
  // Freeing waits for what is enqueued.
  place_fill(y, 1000, 4);
  MPIX_Send_enqueue(x, 1000, MPI_BYTE, next(), RING, other.comm);
  MPIX_Recv_enqueue(y, 1000, MPI_BYTE, before(), RING, other.comm, MPI_STATUS_IGNORE);
  close_line(&other);
  place_check(y, 1000, 20 + (unsigned)before());
}

static void notified(struct line* line, int bytes) {
  MPI_Win window;
  unsigned char* memory = place_buffer((size_t)bytes);
  MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, line->comm, &window);
  MPI_Win_lock_all(0, window);
  for (unsigned turn = 0; turn < 3; ++turn) {
    place_fill(x, (size_t)bytes, 30 + turn + (unsigned)rank);
    copy(line, y, x, bytes);
    MPIX_Put_notify_enqueue(y, bytes, MPI_BYTE, next(), 0, bytes, MPI_BYTE, NOTE, window);
    MPIX_Wait_notify_enqueue(turn == 1 ? MPI_ANY_SOURCE : before(), NOTE, window);
    copy(line, z, memory, bytes);
    finish(line);
    place_check(z, (size_t)bytes, 30 + turn + (unsigned)before());
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  place_free(memory);
}

static void errors(struct line* line) {
  MPI_Comm copied;
  MPI_Request request = MPI_REQUEST_NULL;
  MPIX_Stream stream;
  MPI_Info info;
  int end;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_dup(line->comm, &copied);
  MPI_Comm_set_errhandler(copied, MPI_ERRORS_RETURN);
  MPIX_Comm_get_stream(copied, 0, &stream);
  expect(stream == line->stream, "a duplicate has the stream");
  MPIX_Comm_get_stream(MPI_COMM_WORLD, 0, &stream);
  expect(stream == MPIX_STREAM_NULL, "MPI_COMM_WORLD has none");
  expect_class(MPIX_Send_enqueue(x, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD), MPI_ERR_COMM, "without a stream");
  expect_class(MPIX_Send_enqueue(x, 1, MPI_BYTE, ranks, 1, copied), MPI_ERR_RANK, "a wrong rank");
  expect_class(MPIX_Recv_enqueue(x, -1, MPI_BYTE, 0, 1, copied, MPI_STATUS_IGNORE), MPI_ERR_COUNT, "a wrong count");
  expect_class(MPIX_Allreduce_enqueue(x, y, 1, MPI_INT, MPI_OP_NULL, copied), MPI_ERR_OP, "a wrong operation");
  MPI_Irecv(&end, 1, MPI_INT, rank, 1, MPI_COMM_SELF, &request);
  MPI_Irecv(&end, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
  MPI_Request kept = request;
  expect_class(MPIX_Wait_enqueue(&request, MPI_STATUS_IGNORE), MPI_ERR_REQUEST, "a request of MPI_Irecv");
  MPI_Cancel(&kept);
  MPI_Wait(&kept, MPI_STATUS_IGNORE);
  MPI_Info_create(&info);
  MPI_Info_set(info, "type", "chair");
  expect_class(MPIX_Stream_create(info, &stream), MPI_ERR_INFO_VALUE, "a type that is none");
  MPI_Info_free(&info);
  stream = MPIX_STREAM_NULL;
  expect_class(MPIX_Stream_free(&stream), MPI_ERR_ARG, "MPIX_STREAM_NULL");
  // The operation fails, which the next call tells.
  MPIX_Recv_enqueue(x, 10, MPI_BYTE, rank, OPEN, copied, MPI_STATUS_IGNORE);
  MPI_Send(here, 100, MPI_BYTE, rank, OPEN, copied);
  if (places.mine != PLACE_MOCK) {
    finish(line);
    expect_class(MPIX_Send_enqueue(x, 1, MPI_BYTE, MPI_PROC_NULL, 1, copied), MPI_ERR_TRUNCATE, "the call after");
    expect_class(MPIX_Send_enqueue(x, 1, MPI_BYTE, MPI_PROC_NULL, 1, copied), MPI_SUCCESS, "once");
  }
  MPI_Comm_free(&copied);
  expect_class(MPIX_Stream_free(&line->stream), places.mine == PLACE_MOCK ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "the end");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

// Prints how long exchanges take with a copy of the stream on both sides of each: enqueued, and by calls that wait for
// the stream before and after.
static void times(struct line* line) {
  enum { TURNS = 200 };
  static const int sizes[] = {8, 65536, 1 << 20, LARGE};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    double us[2];
    for (int enqueued = 0; enqueued < 2; ++enqueued) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begun = bench_now_us();
      for (int turn = 0; turn < TURNS; ++turn) {
        MPI_Request requests[2];
        copy(line, y, x, sizes[i]);
        if (enqueued) {
          MPIX_Irecv_enqueue(z, sizes[i], MPI_BYTE, before(), RING, line->comm, &requests[0]);
          MPIX_Isend_enqueue(y, sizes[i], MPI_BYTE, next(), RING, line->comm, &requests[1]);
          MPIX_Waitall_enqueue(2, requests, MPI_STATUSES_IGNORE);
        } else {
          finish(line);
          MPI_Sendrecv(y, sizes[i], MPI_BYTE, next(), RING, z, sizes[i], MPI_BYTE, before(), RING, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
        }
        copy(line, x, z, sizes[i]);
      }
      finish(line);
      us[enqueued] = (bench_now_us() - begun) / TURNS;
    }
    if (rank == 0) {
      bench_emit("enqueued", (size_t)sizes[i], us[1], "us");
      bench_emit("waited", (size_t)sizes[i], us[0], "us");
    }
  }
}

int main(int argc, char** argv) {
  static const int sizes[] = {8, 100000, LARGE};
  if (argc < 2) bench_die("usage: enqueue PLACE [single | time]");
  places.of[0] = places.of[1] = place_named(argv[1], strlen(argv[1]));
  const char* reason = place_by_driver(places.of[0]) ? cu_load() : NULL;
  if (reason) {
    fprintf(stderr, "skipped: %s\n", reason);
    return BENCH_SKIP;
  }
  int provided;
  MPI_Init_thread(&argc, &argv, argc > 2 && strcmp(argv[2], "single") == 0 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE,
                  &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  place_start(rank);
  here = bench_buffer(LARGE);
  x = place_buffer(LARGE);
  y = place_buffer(LARGE);
  z = place_buffer(LARGE);
  struct line line = open_line();
  if (argc > 2) times(&line);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    in_order(&line, sizes[i]);
    notified(&line, sizes[i]);
  }
  sums(&line);
  apart(&line);
  errors(&line);
  MPI_Comm_free(&line.comm);
  MPIX_Stream_free(&line.stream);  // and gives the last of those errors
  line = open_line();
  // MPI_Finalize waits for what is left; the communicator has the stream still.
  MPIX_Send_enqueue(x, 8, MPI_BYTE, next(), RING, line.comm);
  MPIX_Recv_enqueue(y, 8, MPI_BYTE, before(), RING, line.comm, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
