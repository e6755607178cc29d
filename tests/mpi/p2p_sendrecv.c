// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Send-receive in all forms, MPI_PROC_NULL in every call, messages to oneself, the large-count forms.
#include "p2p.h"

static const int sizes[] = {0, 8, 8152, 8153, 8193, 100000, (4 << 20) + 1};
enum { size_count = sizeof sizes / sizeof *sizes, largest = (4 << 20) + 64 };
static MPI_Comm world;
static unsigned char *in, *out;

static void around_the_ring(void) {
  const int to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
  for (int s = 0; s < size_count; ++s) {
    const int bytes = sizes[s];
    for (int form = 0; form < 8; ++form) {
      MPI_Status status = dirty();
      MPI_Request request;
      const int replaces = form & 1;
      unsigned char* data = replaces ? in : out;
      memset(in, 0, (size_t)bytes);
      fill(data, bytes, (uint64_t)(me + form));
      switch (form) {
        case 0:
          OK(MPI_Sendrecv(out, bytes, MPI_BYTE, to, 5, in, bytes, MPI_BYTE, from, 5, world, &status));
          break;
        case 1:
          OK(MPI_Sendrecv_replace(in, bytes, MPI_BYTE, to, 5, from, 5, world, &status));
          break;
        case 2:
          OK(MPI_Isendrecv(out, bytes, MPI_BYTE, to, 5, in, bytes, MPI_BYTE, MPI_ANY_SOURCE, 5, world, &request));
          OK(MPI_Wait(&request, &status));
          break;
        case 3:
          OK(MPI_Isendrecv_replace(in, bytes, MPI_BYTE, to, 5, from, MPI_ANY_TAG, world, &request));
          OK(MPI_Wait(&request, &status));
          break;
        case 4:
          OK(MPI_Sendrecv_c(out, bytes, MPI_BYTE, to, 5, in, bytes, MPI_BYTE, from, 5, world, &status));
          break;
        case 5:
          OK(MPI_Sendrecv_replace_c(in, bytes, MPI_BYTE, to, 5, from, 5, world, &status));
          break;
        case 6: {
          int flag = 0;
          OK(MPI_Isendrecv_c(out, bytes, MPI_BYTE, to, 5, in, bytes, MPI_BYTE, from, 5, world, &request));
          while (!flag) OK(MPI_Test(&request, &flag, &status));
          EXPECT(request == MPI_REQUEST_NULL);
          break;
        }
        default: {
          int index = -1;
          OK(MPI_Isendrecv_replace_c(in, bytes, MPI_BYTE, to, 5, from, 5, world, &request));
          OK(MPI_Waitany(1, &request, &index, &status));
          EXPECT(index == 0 && request == MPI_REQUEST_NULL);
        }
      }
      EXPECT(is_message(&status, from, 5, bytes));
      EXPECT_INT(wrong_at(in, bytes, (uint64_t)(from + form)), -1);
      if (!replaces) EXPECT_INT(wrong_at(out, bytes, (uint64_t)(me + form)), -1);
      MPI_Barrier(world);
    }
  }
  EXPECT_CLASS(MPI_Sendrecv(out, 100, MPI_BYTE, to, 5, in, 10, MPI_BYTE, from, 5, world, MPI_STATUS_IGNORE),
               MPI_ERR_TRUNCATE);
}

// One side nobody: the other goes on, and the end of a chain keeps its data.
static void chain(void) {
  const int to = me + 1 < ranks ? me + 1 : MPI_PROC_NULL, from = me > 0 ? me - 1 : MPI_PROC_NULL;
  for (int form = 0; form < 4; ++form) {
    int mine = me * 10 + form, got = -7, replaced = mine;
    MPI_Status status = dirty();
    MPI_Request request;
    switch (form) {
      case 0:
        OK(MPI_Sendrecv(&mine, 1, MPI_INT, to, 6, &got, 1, MPI_INT, from, 6, world, &status));
        break;
      case 1:
        OK(MPI_Sendrecv_replace(&replaced, 1, MPI_INT, to, 6, from, 6, world, &status));
        break;
      case 2:
        OK(MPI_Isendrecv(&mine, 1, MPI_INT, to, 6, &got, 1, MPI_INT, from, 6, world, &request));
        OK(MPI_Wait(&request, &status));
        break;
      default:
        OK(MPI_Isendrecv_replace(&replaced, 1, MPI_INT, to, 6, from, 6, world, &request));
        OK(MPI_Wait(&request, &status));
    }
    if (form & 1) got = replaced;
    if (from == MPI_PROC_NULL) {
      EXPECT(is_from_nobody(&status));
      EXPECT_INT(got, form & 1 ? mine : -7);
    } else {
      EXPECT(is_message(&status, from, 6, 4));
      EXPECT_INT(got, from * 10 + form);
    }
    MPI_Barrier(world);
  }
}

static void nobody(void) {
  int data = 42, flag;
  MPI_Status s;
  MPI_Request r;
  MPI_Message m;
  OK(MPI_Send(&data, 1, MPI_INT, MPI_PROC_NULL, 1, world));
  OK(MPI_Ssend(&data, 1, MPI_INT, MPI_PROC_NULL, 1, world));
  OK(MPI_Rsend(&data, 1, MPI_INT, MPI_PROC_NULL, 1, world));
  OK(MPI_Bsend(&data, 1, MPI_INT, MPI_PROC_NULL, 1, world));
  int (*const isends[])(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = {MPI_Isend, MPI_Issend,
                                                                                             MPI_Irsend, MPI_Ibsend};
  for (int i = 0; i < 4; ++i) {
    OK(isends[i](&data, 1, MPI_INT, MPI_PROC_NULL, 1, world, &r));
    OK(MPI_Wait(&r, &s));
    EXPECT(r == MPI_REQUEST_NULL);
  }
  s = dirty();
  OK(MPI_Recv(&data, 1, MPI_INT, MPI_PROC_NULL, 1, world, &s));
  EXPECT(is_from_nobody(&s) && data == 42);
  s = dirty();
  OK(MPI_Irecv(&data, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, world, &r));
  OK(MPI_Wait(&r, &s));
  EXPECT(is_from_nobody(&s) && data == 42 && r == MPI_REQUEST_NULL);
  s = dirty();
  OK(MPI_Probe(MPI_PROC_NULL, 1, world, &s));
  EXPECT(is_from_nobody(&s));
  s = dirty(), flag = 0;
  OK(MPI_Iprobe(MPI_PROC_NULL, 1, world, &flag, &s));
  EXPECT(flag && is_from_nobody(&s));
  s = dirty(), m = MPI_MESSAGE_NULL;
  OK(MPI_Mprobe(MPI_PROC_NULL, 1, world, &m, &s));
  EXPECT(m == MPI_MESSAGE_NO_PROC && is_from_nobody(&s));
  s = dirty();
  OK(MPI_Mrecv(&data, 1, MPI_INT, &m, &s));
  EXPECT(m == MPI_MESSAGE_NULL && is_from_nobody(&s) && data == 42);
  s = dirty(), flag = 0;
  OK(MPI_Improbe(MPI_PROC_NULL, 1, world, &flag, &m, &s));
  EXPECT(flag && m == MPI_MESSAGE_NO_PROC && is_from_nobody(&s));
  OK(MPI_Imrecv(&data, 1, MPI_INT, &m, &r));
  s = dirty();
  OK(MPI_Wait(&r, &s));
  EXPECT(m == MPI_MESSAGE_NULL && is_from_nobody(&s));
  int (*const inits[])(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = {
      MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init};
  for (int i = 0; i < 5; ++i) {
    if (i < 4) {
      OK(inits[i](&data, 1, MPI_INT, MPI_PROC_NULL, 1, world, &r));
    } else {
      OK(MPI_Recv_init(&data, 1, MPI_INT, MPI_PROC_NULL, 1, world, &r));
    }
    for (int round = 0; round < 2; ++round) {
      OK(MPI_Start(&r));
      s = dirty();
      OK(MPI_Wait(&r, &s));
      if (i == 4) EXPECT(is_from_nobody(&s));
      EXPECT(r != MPI_REQUEST_NULL);
    }
    OK(MPI_Request_free(&r));
  }
  EXPECT_INT(data, 42);
}

static void to_myself(void) {
  for (int s = 0; s < size_count; ++s) {
    const int bytes = sizes[s];
    for (int order = 0; order < 2; ++order) {
      for (int mode = 0; mode < 3; ++mode) {
        MPI_Request r[2];
        MPI_Status status[2];
        memset(in, 0, (size_t)bytes);
        fill(out, bytes, (uint64_t)(mode + 3));
        if (order == 0) OK(MPI_Irecv(in, bytes, MPI_BYTE, me, 7, world, &r[0]));
        if (mode == 1) {
          OK(MPI_Issend(out, bytes, MPI_BYTE, me, 7, world, &r[1]));
        } else {
          OK(MPI_Isend(out, bytes, MPI_BYTE, me, 7, world, &r[1]));
        }
        if (order == 1)
          OK(MPI_Irecv(in, bytes, MPI_BYTE, mode == 2 ? MPI_ANY_SOURCE : 0, MPI_ANY_TAG,
                       mode == 2 ? world : MPI_COMM_SELF, &r[0]));
        if (order == 1 && mode != 2) {  // the receive on the other communicator must not take it
          int flag = 1;
          OK(MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE));
          EXPECT(!flag);
          OK(MPI_Cancel(&r[0]));
          OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
          OK(MPI_Irecv(in, bytes, MPI_BYTE, me, 7, world, &r[0]));
        }
        OK(MPI_Waitall(2, r, status));
        EXPECT(is_message(&status[0], me, 7, bytes));
        EXPECT_INT(wrong_at(in, bytes, (uint64_t)(mode + 3)), -1);
      }
    }
  }
}

// A vector to oneself and strided on both sides, by the large-count forms.
static void large_counts(void) {
  enum { n = 50000 };
  const int to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
  MPI_Datatype pairs;
  OK(MPI_Type_vector(n, 1, 2, MPI_INT, &pairs));
  OK(MPI_Type_commit(&pairs));
  int* a = (int*)out;
  int* b = (int*)in;
  MPI_Request r[2];
  MPI_Status s;
  for (int form = 0; form < 3; ++form) {
    for (int i = 0; i < 2 * n; ++i) a[i] = me * 1000000 + i, b[i] = -1;
    OK(MPI_Irecv_c(b, 1, pairs, from, 8, world, &r[0]));
    if (form == 0) OK(MPI_Isend_c(a, 1, pairs, to, 8, world, &r[1]));
    if (form == 1) OK(MPI_Issend_c(a, 1, pairs, to, 8, world, &r[1]));
    if (form == 2) OK(MPI_Irsend_c(a, 1, pairs, to, 8, world, &r[1]));
    OK(MPI_Wait(&r[0], &s));
    OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
    MPI_Count count = -1;
    OK(MPI_Get_count_c(&s, pairs, &count));
    EXPECT_INT(count, 1);
    for (int i = 0; i < 2 * n - 1; ++i) {
      if (b[i] == (i % 2 ? -1 : from * 1000000 + i)) continue;
      failed(__FILE__, __LINE__, "form %d: element %d is %d", form, i, b[i]);
      break;
    }
    MPI_Barrier(world);
  }
  OK(MPI_Type_free(&pairs));
  int x = 5, y = -1;
  OK(MPI_Recv_init_c(&y, 1, MPI_INT, from, 9, world, &r[0]));
  OK(MPI_Send_init_c(&x, 1, MPI_INT, to, 9, world, &r[1]));
  OK(MPI_Startall(2, r));
  OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
  EXPECT_INT(y, 5);
  OK(MPI_Request_free(&r[0]));
  OK(MPI_Request_free(&r[1]));
  OK(MPI_Send_c(&x, 1, MPI_INT, to, 9, world));
  MPI_Message m;
  OK(MPI_Mprobe(from, 9, world, &m, MPI_STATUS_IGNORE));
  y = -1;
  OK(MPI_Mrecv_c(&y, 1, MPI_INT, &m, MPI_STATUS_IGNORE));
  EXPECT_INT(y, 5);
  OK(MPI_Send_c(&x, 1, MPI_INT, to, 9, world));
  OK(MPI_Mprobe(from, 9, world, &m, MPI_STATUS_IGNORE));
  y = -1;
  OK(MPI_Imrecv_c(&y, 1, MPI_INT, &m, &r[0]));
  OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
  EXPECT_INT(y, 5);
  OK(MPI_Send_c(&x, 1, MPI_INT, to, 9, world));
  y = -1;
  OK(MPI_Recv_c(&y, 1, MPI_INT, from, 9, world, &s));
  EXPECT(y == 5 && is_message(&s, from, 9, 4));
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  world = MPI_COMM_WORLD;
  in = malloc(largest);
  out = malloc(largest);
  void (*const parts[])(void) = {around_the_ring, chain, nobody, to_myself, large_counts};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    parts[i]();
    MPI_Barrier(world);
  }
  free(in);
  free(out);
  return finish();
}
