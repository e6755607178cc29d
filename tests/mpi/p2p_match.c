// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The test checks which message matches which receive: order, wildcards, truncation, probes, matched messages,
// cancelling. Two ranks or more; rank 0 sends to rank 1, others send to rank 1 where it says so.
#include "p2p.h"

static const int sizes[] = {0, 8, 100, 8152, 8153, 8192, 20000, 200000, (4 << 20) + 1};
enum { size_count = sizeof sizes / sizeof *sizes, largest = (4 << 20) + 100, tag_token = 99 };
static MPI_Comm world;
static unsigned char *in, *out;

static void token(int from, int to) {
  if (me == from) OK(MPI_Send(NULL, 0, MPI_BYTE, to, tag_token, world));
  if (me == to) OK(MPI_Recv(NULL, 0, MPI_BYTE, from, tag_token, world, MPI_STATUS_IGNORE));
}

// Messages of one source and tag are received in the order sent, whatever paths their sizes take; nonblocking sends
// too.
static void order_across_paths(void) {
  enum { rounds = 30, count = rounds * (size_count - 1) };
  static MPI_Request requests[count];
  static unsigned char* data[count];
  if (me == 0) {
    for (int i = 0; i < count; ++i) {
      const int bytes = sizes[i % (size_count - 1)];
      data[i] = malloc((size_t)bytes + 1);
      fill(data[i], bytes, (uint64_t)i);
      if (i % 5 == 4) {
        OK(MPI_Issend(data[i], bytes, MPI_BYTE, 1, 5, world, &requests[i]));
      } else {
        OK(MPI_Isend(data[i], bytes, MPI_BYTE, 1, 5, world, &requests[i]));
      }
    }
    OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < count; ++i) free(data[i]);
  }
  if (me == 1) {
    for (int i = 0; i < count; ++i) {
      const int bytes = sizes[i % (size_count - 1)];
      MPI_Status status = dirty();
      OK(MPI_Recv(in, largest, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : 0, i % 3 ? MPI_ANY_TAG : 5, world, &status));
      EXPECT(is_message(&status, 0, 5, bytes));
      EXPECT_INT(wrong_at(in, bytes, (uint64_t)i), -1);
    }
  }
}

// Receives that could take the same message take it in the order posted, with and without wildcards.
static void order_of_posting(void) {
  if (me == 0) {
    token(1, 0);
    for (int i = 0; i < 4; ++i) OK(MPI_Send(&i, 1, MPI_INT, 1, 7, world));
  }
  if (me != 1) return;
  int got[4] = {-1, -1, -1, -1};
  MPI_Request r[4];
  OK(MPI_Irecv(&got[0], 1, MPI_INT, 0, 7, world, &r[0]));
  OK(MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, 7, world, &r[1]));
  OK(MPI_Irecv(&got[2], 1, MPI_INT, 0, MPI_ANY_TAG, world, &r[2]));
  OK(MPI_Irecv(&got[3], 1, MPI_INT, 0, 7, world, &r[3]));
  token(1, 0);
  OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 4; ++i) EXPECT_INT(got[i], i);
}

// Tags and communicators keep messages apart; the last sent may be received first.
static void selection(void) {
  MPI_Comm other;
  OK(MPI_Comm_dup(world, &other));
  enum { n = 20 };
  if (me == 0) {
    for (int i = 0; i < n; ++i) {
      OK(MPI_Send(&i, 1, MPI_INT, 1, i, world));
      const int j = i + 1000;
      OK(MPI_Send(&j, 1, MPI_INT, 1, i, other));
    }
  }
  if (me == 1) {
    for (int i = n - 1; i >= 0; --i) {
      int got = -1;
      OK(MPI_Recv(&got, 1, MPI_INT, 0, i, other, MPI_STATUS_IGNORE));
      EXPECT_INT(got, i + 1000);
      OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, i, world, MPI_STATUS_IGNORE));
      EXPECT_INT(got, i);
    }
  }
  OK(MPI_Comm_free(&other));
}

// All ranks send to rank 1, which receives from anybody: per source in order.
static void any_source(void) {
  enum { n = 50 };
  int* next = calloc((size_t)ranks, sizeof *next);
  if (me == 1) {
    for (int i = 0; i < n * (ranks - 1); ++i) {
      int got[2] = {-1, -1};
      MPI_Status status;
      OK(MPI_Recv(got, 2, MPI_INT, MPI_ANY_SOURCE, 3, world, &status));
      EXPECT_INT(status.MPI_SOURCE, got[0]);
      if (got[0] >= 0 && got[0] < ranks) EXPECT_INT(got[1], next[got[0]]++);
    }
  } else {
    for (int i = 0; i < n; ++i) {
      const int data[2] = {me, i};
      OK(MPI_Send(data, 2, MPI_INT, 1, 3, world));
    }
  }
  free(next);
}

// A message longer than the buffer: the part that fits is there, nothing behind it is touched, the error is
// MPI_ERR_TRUNCATE.
static void truncation(void) {
  for (int s = 1; s < size_count; ++s) {
    const int bytes = sizes[s], room = bytes / 2;
    for (int way = 0; way < 4; ++way) {
      if (me == 0) {
        fill(out, bytes, (uint64_t)bytes);
        if (way == 1) token(1, 0);
        if (way == 2) {
          OK(MPI_Ssend(out, bytes, MPI_BYTE, 1, 4, world));
        } else {
          OK(MPI_Send(out, bytes, MPI_BYTE, 1, 4, world));
        }
      }
      if (me != 1) continue;
      memset(in, 0xee, (size_t)bytes + 10);
      MPI_Status status = dirty();
      if (way == 1) {
        MPI_Request request;
        OK(MPI_Irecv(in, room, MPI_BYTE, 0, 4, world, &request));
        token(1, 0);
        EXPECT_CLASS(MPI_Wait(&request, &status), MPI_ERR_TRUNCATE);
        EXPECT(request == MPI_REQUEST_NULL);
      } else if (way == 3) {
        MPI_Request request;
        OK(MPI_Probe(0, 4, world, MPI_STATUS_IGNORE));
        OK(MPI_Irecv(in, room, MPI_BYTE, 0, 4, world, &request));
        EXPECT_CLASS(MPI_Waitall(1, &request, &status), MPI_ERR_IN_STATUS);
        EXPECT_CLASS(status.MPI_ERROR, MPI_ERR_TRUNCATE);
      } else {
        EXPECT_CLASS(MPI_Recv(in, room, MPI_BYTE, 0, 4, world, &status), MPI_ERR_TRUNCATE);
      }
      EXPECT_INT(status.MPI_SOURCE, 0);
      EXPECT_INT(status.MPI_TAG, 4);
      EXPECT_INT(wrong_at(in, room, (uint64_t)bytes), -1);
      for (int i = room; i < bytes + 10; ++i) {
        if (in[i] == 0xee) continue;
        failed(__FILE__, __LINE__, "%d of %d bytes: byte %d was written", room, bytes, i);
        break;
      }
    }
  }
}

static void probes(void) {
  for (int s = 0; s < size_count; ++s) {
    const int bytes = sizes[s];
    if (me == 0) {
      token(1, 0);
      fill(out, bytes, 77);
      OK(MPI_Send(out, bytes, MPI_BYTE, 1, 6, world));
    }
    if (me != 1) continue;
    int flag = 1;
    MPI_Status status = dirty();
    OK(MPI_Iprobe(0, 6, world, &flag, &status));
    EXPECT(!flag);
    token(1, 0);
    OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status));
    EXPECT(is_message(&status, 0, 6, bytes));
    OK(MPI_Iprobe(0, 7, world, &flag, MPI_STATUS_IGNORE));
    EXPECT(!flag);
    for (int i = 0; i < 3; ++i) {  // looking does not take
      status = dirty();
      OK(MPI_Iprobe(0, 6, world, &flag, i == 2 ? MPI_STATUS_IGNORE : &status));
      EXPECT(flag);
      if (i != 2) EXPECT(is_message(&status, 0, 6, bytes));
    }
    OK(MPI_Recv(in, bytes, MPI_BYTE, 0, 6, world, &status));
    EXPECT_INT(wrong_at(in, bytes, 77), -1);
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &flag, MPI_STATUS_IGNORE));
    EXPECT(!flag);
  }
}

// A matched message is out of reach of other receives, and can be received late and in another order.
static void matched_messages(void) {
  for (int s = 0; s < size_count; ++s) {
    const int bytes = sizes[s];
    if (me == 0) {
      MPI_Request r[4];
      unsigned char* data[4];
      for (int i = 0; i < 4; ++i) {
        data[i] = malloc((size_t)bytes + 1);
        fill(data[i], bytes, (uint64_t)i);
        OK(MPI_Isend(data[i], bytes, MPI_BYTE, 1, 8, world, &r[i]));
      }
      OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
      for (int i = 0; i < 4; ++i) free(data[i]);
      token(1, 0);
    }
    if (me != 1) continue;
    MPI_Message m[3] = {MPI_MESSAGE_NULL, MPI_MESSAGE_NULL, MPI_MESSAGE_NULL};
    MPI_Status status = dirty();
    int flag = 0;
    OK(MPI_Mprobe(0, 8, world, &m[0], &status));
    EXPECT(is_message(&status, 0, 8, bytes));
    while (!flag) OK(MPI_Improbe(MPI_ANY_SOURCE, 8, world, &flag, &m[1], &status));
    OK(MPI_Mprobe(0, MPI_ANY_TAG, world, &m[2], MPI_STATUS_IGNORE));
    OK(MPI_Recv(in, bytes, MPI_BYTE, 0, 8, world, &status));
    EXPECT_INT(wrong_at(in, bytes, 3), -1);
    OK(MPI_Mrecv(in, bytes, MPI_BYTE, &m[1], &status));
    EXPECT(m[1] == MPI_MESSAGE_NULL);
    EXPECT(is_message(&status, 0, 8, bytes));
    EXPECT_INT(wrong_at(in, bytes, 1), -1);
    MPI_Request request;
    memset(in, 0, (size_t)bytes);
    OK(MPI_Imrecv(in, bytes + 1, MPI_BYTE, &m[2], &request));
    EXPECT(m[2] == MPI_MESSAGE_NULL);
    OK(MPI_Wait(&request, &status));
    EXPECT(is_message(&status, 0, 8, bytes));
    EXPECT_INT(wrong_at(in, bytes, 2), -1);
    if (bytes == 0) {
      OK(MPI_Mrecv(NULL, 0, MPI_BYTE, &m[0], &status));
    } else {
      EXPECT_CLASS(MPI_Mrecv(in, bytes - 1, MPI_BYTE, &m[0], &status), MPI_ERR_TRUNCATE);
      EXPECT_INT(wrong_at(in, bytes - 1, 0), -1);
    }
    OK(MPI_Improbe(0, 8, world, &flag, &m[0], &status));
    EXPECT(!flag);
    token(1, 0);
  }
}

static void cancel_receives(void) {
  for (int persistent = 0; persistent < 2; ++persistent) {
    for (int wild = 0; wild < 2; ++wild) {
      MPI_Request request;
      const int source = wild ? MPI_ANY_SOURCE : (me + 1) % ranks;
      int data = -1, flag = 0, all;
      // The request that it gives back is the next one's.
      OK(MPI_Iallreduce(&me, &all, 1, MPI_INT, MPI_SUM, world, &request));
      OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      if (persistent) {
        OK(MPI_Recv_init(&data, 1, MPI_INT, source, 9, world, &request));
        OK(MPI_Start(&request));
      } else {
        OK(MPI_Irecv(&data, 1, MPI_INT, source, 9, world, &request));
      }
      OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
      EXPECT(!flag);
      OK(MPI_Cancel(&request));
      MPI_Status status = dirty();
      OK(MPI_Wait(&request, &status));
      OK(MPI_Test_cancelled(&status, &flag));
      EXPECT(flag);
      if (!persistent) continue;
      // It can be started again, and is not cancelled then.
      EXPECT(request != MPI_REQUEST_NULL);
      OK(MPI_Start(&request));
      const int mine = 1234 + me;
      MPI_Barrier(world);
      OK(MPI_Send(&mine, 1, MPI_INT, (me + ranks - 1) % ranks, 9, world));
      OK(MPI_Wait(&request, &status));
      OK(MPI_Test_cancelled(&status, &flag));
      EXPECT(!flag);
      EXPECT_INT(data, 1234 + (me + 1) % ranks);
      OK(MPI_Request_free(&request));
    }
    MPI_Barrier(world);
  }
  // A matched message is not cancelled.
  if (me == 0) OK(MPI_Send(&me, 1, MPI_INT, 1, 10, world));
  if (me == 1) {
    int data = -1, flag = 1;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Probe(0, 10, world, MPI_STATUS_IGNORE));
    OK(MPI_Irecv(&data, 1, MPI_INT, 0, 10, world, &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    EXPECT(!flag);
    EXPECT_INT(data, 0);
  }
}

// A synchronous send that nobody receives is taken back, and its receiver finds nothing; one that was received is not.
static void cancel_sends(void) {
  for (int s = 0; s < size_count; ++s) {
    const int bytes = sizes[s];
    int flag = 0;
    if (me == 0) {
      fill(out, bytes, 5);
      MPI_Request request;
      MPI_Status status = dirty();
      OK(MPI_Issend(out, bytes, MPI_BYTE, 1, 11, world, &request));
      OK(MPI_Cancel(&request));
      OK(MPI_Wait(&request, &status));
      OK(MPI_Test_cancelled(&status, &flag));
      EXPECT(flag);
      token(0, 1);
      OK(MPI_Issend(out, bytes, MPI_BYTE, 1, 12, world, &request));
      token(1, 0);  // it has been received
      OK(MPI_Cancel(&request));
      OK(MPI_Wait(&request, &status));
      OK(MPI_Test_cancelled(&status, &flag));
      EXPECT(!flag);
    }
    if (me != 1) continue;
    MPI_Status status;
    OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, tag_token, world, &status));
    OK(MPI_Iprobe(0, 11, world, &flag, &status));
    EXPECT(!flag);
    OK(MPI_Recv(in, bytes, MPI_BYTE, 0, 12, world, &status));
    EXPECT_INT(wrong_at(in, bytes, 5), -1);
    token(1, 0);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  world = MPI_COMM_WORLD;
  in = malloc(largest);
  out = malloc(largest);
  void (*const parts[])(void) = {order_across_paths, order_of_posting, selection,   any_source, truncation, probes,
                                 matched_messages,   cancel_receives,  cancel_sends};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    parts[i]();
    MPI_Barrier(world);
  }
  free(in);
  free(out);
  return finish();
}
