// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Completion: Wait and Test of one, any, all and some, with null, inactive, pending and finished requests; statuses;
// Request_get_status; freeing requests that are still active. Every rank sends to the next one.
#include "p2p.h"

static MPI_Comm world;
static int to, from;
enum { large = 300000 };
static unsigned char *in, *out;

static void sync_ranks(void) {
  MPI_Barrier(world);
}

// Makes a receive that stays pending until release_message(tag) on the sender's side.
static MPI_Request pending(int* data, int tag) {
  MPI_Request r;
  OK(MPI_Irecv(data, 1, MPI_INT, from, tag, world, &r));
  return r;
}
static void give(int value, int tag) {
  OK(MPI_Send(&value, 1, MPI_INT, to, tag, world));
}

static MPI_Request inactive(int* data) {
  MPI_Request r;
  OK(MPI_Recv_init(data, 1, MPI_INT, from, 999, world, &r));
  return r;
}

static void nothing_to_wait_for(void) {
  int data, flag, index, count, indices[3];
  MPI_Request r[3] = {MPI_REQUEST_NULL, inactive(&data), MPI_REQUEST_NULL};
  MPI_Status s[3];
  for (int i = 0; i < 3; ++i) {
    s[0] = dirty();
    OK(MPI_Wait(&r[i], &s[0]));
    EXPECT(is_empty(&s[0]));
    flag = 0, s[0] = dirty();
    OK(MPI_Test(&r[i], &flag, &s[0]));
    EXPECT(flag && is_empty(&s[0]));
    flag = 0, s[0] = dirty();
    OK(MPI_Request_get_status(r[i], &flag, &s[0]));
    EXPECT(flag && is_empty(&s[0]));
  }
  for (int i = 0; i < 3; ++i) s[i] = dirty();
  OK(MPI_Waitall(3, r, s));
  for (int i = 0; i < 3; ++i) EXPECT(is_empty(&s[i]));
  for (int i = 0; i < 3; ++i) s[i] = dirty();
  flag = 0;
  OK(MPI_Testall(3, r, &flag, s));
  for (int i = 0; i < 3; ++i) EXPECT(flag && is_empty(&s[i]));
  for (int i = 0; i < 3; ++i) s[i] = dirty();
  flag = 0;
  OK(MPI_Request_get_status_all(3, r, &flag, s));
  for (int i = 0; i < 3; ++i) EXPECT(flag && is_empty(&s[i]));
  index = 7, s[0] = dirty();
  OK(MPI_Waitany(3, r, &index, &s[0]));
  EXPECT(index == MPI_UNDEFINED && is_empty(&s[0]));
  index = 7, flag = 0, s[0] = dirty();
  OK(MPI_Testany(3, r, &index, &flag, &s[0]));
  EXPECT(flag && index == MPI_UNDEFINED && is_empty(&s[0]));
  index = 7, flag = 0, s[0] = dirty();
  OK(MPI_Request_get_status_any(3, r, &index, &flag, &s[0]));
  EXPECT(flag && index == MPI_UNDEFINED && is_empty(&s[0]));
  count = 7;
  OK(MPI_Waitsome(3, r, &count, indices, s));
  EXPECT_INT(count, MPI_UNDEFINED);
  count = 7;
  OK(MPI_Testsome(3, r, &count, indices, s));
  EXPECT_INT(count, MPI_UNDEFINED);
  count = 7;
  OK(MPI_Request_get_status_some(3, r, &count, indices, s));
  EXPECT_INT(count, MPI_UNDEFINED);
  // Arrays of none.
  OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
  flag = 0;
  OK(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE));
  EXPECT(flag);
  OK(MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE));
  EXPECT_INT(index, MPI_UNDEFINED);
  OK(MPI_Testany(0, NULL, &index, &flag, MPI_STATUS_IGNORE));
  EXPECT(flag && index == MPI_UNDEFINED);
  OK(MPI_Waitsome(0, NULL, &count, NULL, MPI_STATUSES_IGNORE));
  EXPECT_INT(count, MPI_UNDEFINED);
  OK(MPI_Startall(0, NULL));
  OK(MPI_Request_free(&r[1]));
  EXPECT(r[1] == MPI_REQUEST_NULL);
}

static void one(void) {
  int data = -1, flag = 1;
  MPI_Status s = dirty();
  MPI_Request r = pending(&data, 1);
  OK(MPI_Test(&r, &flag, &s));
  EXPECT(!flag && r != MPI_REQUEST_NULL);
  OK(MPI_Request_get_status(r, &flag, &s));
  EXPECT(!flag);
  sync_ranks();
  give(me + 10, 1);
  for (flag = 0; !flag;) {
    s = dirty();
    OK(MPI_Request_get_status(r, &flag, &s));
  }
  EXPECT(r != MPI_REQUEST_NULL && is_message(&s, from, 1, 4));
  s = dirty();
  OK(MPI_Test(&r, &flag, &s));
  EXPECT(flag && r == MPI_REQUEST_NULL && is_message(&s, from, 1, 4));
  EXPECT_INT(s.MPI_ERROR, dirty().MPI_ERROR);  // calls that complete one leave the error field alone
  EXPECT_INT(data, from + 10);
  // A send's status, and a finished send tested again and again through get_status.
  MPI_Request send;
  const int sent = me;
  OK(MPI_Isend(&sent, 1, MPI_INT, to, 2, world, &send));
  r = pending(&data, 2);
  for (flag = 0; !flag;) OK(MPI_Request_get_status(send, &flag, MPI_STATUS_IGNORE));
  OK(MPI_Wait(&send, &s));
  EXPECT(send == MPI_REQUEST_NULL);
  OK(MPI_Test_cancelled(&s, &flag));
  EXPECT(!flag);
  OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

static void any(void) {
  int data[4] = {-1, -1, -1, -1}, index = -1, flag = 1, persistent;
  MPI_Request r[5] = {MPI_REQUEST_NULL, pending(&data[1], 1), pending(&data[2], 2), inactive(&persistent),
                      pending(&data[3], 3)};
  MPI_Status s = dirty();
  OK(MPI_Testany(5, r, &index, &flag, &s));
  EXPECT(!flag && index == MPI_UNDEFINED);
  OK(MPI_Request_get_status_any(5, r, &index, &flag, &s));
  EXPECT(!flag && index == MPI_UNDEFINED);
  sync_ranks();
  give(20, 2);
  OK(MPI_Waitany(5, r, &index, &s));
  EXPECT(index == 2 && r[2] == MPI_REQUEST_NULL && data[2] == 20 && is_message(&s, from, 2, 4));
  sync_ranks();
  give(30, 3);
  for (flag = 0; !flag;) OK(MPI_Request_get_status_any(5, r, &index, &flag, &s));
  EXPECT(index == 4 && r[4] != MPI_REQUEST_NULL && is_message(&s, from, 3, 4));
  s = dirty();
  OK(MPI_Testany(5, r, &index, &flag, &s));
  EXPECT(flag && index == 4 && r[4] == MPI_REQUEST_NULL && data[3] == 30 && is_message(&s, from, 3, 4));
  sync_ranks();
  give(10, 1);
  OK(MPI_Waitany(5, r, &index, MPI_STATUS_IGNORE));
  EXPECT(index == 1 && data[1] == 10);
  OK(MPI_Waitany(5, r, &index, &s));
  EXPECT(index == MPI_UNDEFINED && is_empty(&s));
  OK(MPI_Request_free(&r[3]));
}

static void all(void) {
  int data[3] = {-1, -1, -1}, flag = 1, persistent = -1;
  MPI_Request r[5] = {pending(&data[0], 1), MPI_REQUEST_NULL, pending(&data[1], 2), inactive(&persistent),
                      pending(&data[2], 3)};
  MPI_Status s[5];
  sync_ranks();
  give(10, 1);
  give(20, 2);
  for (int i = 0; i < 1000; ++i) {
    OK(MPI_Testall(5, r, &flag, s));
    EXPECT(!flag && r[0] != MPI_REQUEST_NULL && r[2] != MPI_REQUEST_NULL);  // all or none
    OK(MPI_Request_get_status_all(5, r, &flag, s));
    EXPECT(!flag);
  }
  sync_ranks();
  give(30, 3);
  for (flag = 0; !flag;) OK(MPI_Request_get_status_all(5, r, &flag, s));
  EXPECT(is_message(&s[0], from, 1, 4) && is_empty(&s[1]) && is_message(&s[4], from, 3, 4) && r[0] != MPI_REQUEST_NULL);
  for (int i = 0; i < 5; ++i) s[i] = dirty();
  if (me % 2) {
    OK(MPI_Waitall(5, r, s));
  } else {
    OK(MPI_Testall(5, r, &flag, s));
    EXPECT(flag);
  }
  EXPECT(is_message(&s[0], from, 1, 4) && is_message(&s[2], from, 2, 4) && is_message(&s[4], from, 3, 4));
  EXPECT(is_empty(&s[1]) && is_empty(&s[3]));
  EXPECT(data[0] == 10 && data[1] == 20 && data[2] == 30);
  EXPECT(r[0] == MPI_REQUEST_NULL && r[2] == MPI_REQUEST_NULL && r[3] != MPI_REQUEST_NULL && r[4] == MPI_REQUEST_NULL);
  OK(MPI_Request_free(&r[3]));
}

static void some(void) {
  enum { n = 6 };
  int data[n], count = 7, indices[n + 2], persistent;
  MPI_Request r[n + 2];
  MPI_Status s[n + 2];
  for (int i = 0; i < n; ++i) data[i] = -1, r[i] = pending(&data[i], i);
  r[n] = MPI_REQUEST_NULL;
  r[n + 1] = inactive(&persistent);
  OK(MPI_Testsome(n + 2, r, &count, indices, s));
  EXPECT_INT(count, 0);
  count = 7;
  OK(MPI_Request_get_status_some(n + 2, r, &count, indices, s));
  EXPECT_INT(count, 0);
  sync_ranks();
  give(4, 4);
  give(1, 1);
  int done = 0, seen[n] = {0}, given = 0;
  for (int round = 0; done < n; ++round) {
    if (done == 2 && !given) {
      given = 1;
      sync_ranks();
      for (int i = 0; i < n; ++i) {
        if (i != 4 && i != 1) give(i, i);
      }
    }
    count = 7;
    if (round % 3 == 0) {
      OK(MPI_Waitsome(n + 2, r, &count, indices, s));
      EXPECT(count >= 1);
    } else if (round % 3 == 1) {
      OK(MPI_Testsome(n + 2, r, &count, indices, s));
    } else {
      OK(MPI_Request_get_status_some(n + 2, r, &count, indices, s));
      for (int k = 0; k < count; ++k)
        EXPECT(is_message(&s[k], from, indices[k], 4) && r[indices[k]] != MPI_REQUEST_NULL);
      continue;
    }
    if (count == MPI_UNDEFINED) {
      EXPECT(count != MPI_UNDEFINED);
      break;
    }
    for (int k = 0; k < count; ++k) {
      const int i = indices[k];
      EXPECT(i >= 0 && i < n && !seen[i]);
      if (i < 0 || i >= n) continue;
      seen[i] = 1;
      ++done;
      EXPECT(r[i] == MPI_REQUEST_NULL && data[i] == i && is_message(&s[k], from, i, 4));
      EXPECT_INT(s[k].MPI_ERROR == dirty().MPI_ERROR || s[k].MPI_ERROR == MPI_SUCCESS, 1);
    }
  }
  OK(MPI_Request_free(&r[n + 1]));
}

// A failed operation among several: MPI_ERR_IN_STATUS, the others are complete, each status says what happened.
static void failures_among_several(void) {
  for (int way = 0; way < 4; ++way) {
    int small[2] = {-1, -1}, count = 0, indices[3], flag = 0;
    MPI_Request r[3];
    MPI_Status s[3] = {dirty(), dirty(), dirty()};
    OK(MPI_Irecv(&small[0], 1, MPI_INT, from, 1, world, &r[0]));
    OK(MPI_Irecv(in, 10, MPI_BYTE, from, 2, world, &r[1]));
    OK(MPI_Irecv(&small[1], 1, MPI_INT, from, 3, world, &r[2]));
    sync_ranks();
    give(1, 1);
    OK(MPI_Send(out, 20, MPI_BYTE, to, 2, world));
    give(3, 3);
    for (flag = 0; !flag;) OK(MPI_Request_get_status(r[2], &flag, MPI_STATUS_IGNORE));  // they come in order
    switch (way) {
      case 0:
        EXPECT_CLASS(MPI_Waitall(3, r, s), MPI_ERR_IN_STATUS);
        break;
      case 1:
        EXPECT_CLASS(MPI_Testall(3, r, &flag, s), MPI_ERR_IN_STATUS);
        break;
      case 2:
        EXPECT_CLASS(MPI_Waitsome(3, r, &count, indices, s), MPI_ERR_IN_STATUS);
        break;
      default:
        EXPECT_CLASS(MPI_Testsome(3, r, &count, indices, s), MPI_ERR_IN_STATUS);
    }
    if (way >= 2) EXPECT_INT(count, 3);
    EXPECT_CLASS(s[0].MPI_ERROR, MPI_SUCCESS);
    EXPECT_CLASS(s[1].MPI_ERROR, MPI_ERR_TRUNCATE);
    EXPECT_CLASS(s[2].MPI_ERROR, MPI_SUCCESS);
    for (int i = 0; i < 3; ++i) EXPECT(r[i] == MPI_REQUEST_NULL);
    EXPECT(small[0] == 1 && small[1] == 3);
  }
  // Completion of one: the class itself.
  MPI_Request r;
  MPI_Status s;
  int index;
  OK(MPI_Irecv(in, 10, MPI_BYTE, from, 2, world, &r));
  sync_ranks();
  OK(MPI_Send(out, 20, MPI_BYTE, to, 2, world));
  EXPECT_CLASS(MPI_Waitany(1, &r, &index, &s), MPI_ERR_TRUNCATE);
  EXPECT(index == 0 && r == MPI_REQUEST_NULL);
}

// Freed requests complete on their own: the data arrives all the same.
static void freed_while_active(void) {
  const int sizes[] = {8, 8152, 8192, 20000, large};
  for (int i = 0; i < 5; ++i) {
    MPI_Request r;
    int done = -1;
    fill(out, sizes[i], (uint64_t)i);
    memset(in, 0, (size_t)sizes[i]);
    OK(MPI_Irecv(in, sizes[i], MPI_BYTE, from, 1, world, &r));
    OK(MPI_Request_free(&r));
    EXPECT(r == MPI_REQUEST_NULL);
    sync_ranks();
    if (i % 2) {
      OK(MPI_Isend(out, sizes[i], MPI_BYTE, to, 1, world, &r));
    } else {
      OK(MPI_Issend(out, sizes[i], MPI_BYTE, to, 1, world, &r));
    }
    OK(MPI_Request_free(&r));
    EXPECT(r == MPI_REQUEST_NULL);
    // The message behind it in the same order says that it was matched; the data follows.
    give(i, 2);
    OK(MPI_Recv(&done, 1, MPI_INT, from, 2, world, MPI_STATUS_IGNORE));
    const double end = MPI_Wtime() + 20;
    while (wrong_at(in, sizes[i], (uint64_t)i) >= 0 && MPI_Wtime() < end) {
      int flag;
      OK(MPI_Iprobe(MPI_ANY_SOURCE, 77, world, &flag, MPI_STATUS_IGNORE));
    }
    EXPECT_INT(wrong_at(in, sizes[i], (uint64_t)i), -1);
    sync_ranks();
  }
  // A started persistent request.
  MPI_Request r;
  int data = -1, value = 5;
  OK(MPI_Recv_init(&data, 1, MPI_INT, from, 3, world, &r));
  OK(MPI_Start(&r));
  OK(MPI_Request_free(&r));
  sync_ranks();
  OK(MPI_Send_init(&value, 1, MPI_INT, to, 3, world, &r));
  OK(MPI_Start(&r));
  OK(MPI_Request_free(&r));
  sync_ranks();
  while (*(volatile int*)&data == -1) {
    int flag;
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 77, world, &flag, MPI_STATUS_IGNORE));
  }
  EXPECT_INT(data, 5);
}

// Persistent requests many times over, started one by one and together.
static void persistent(void) {
  enum { n = 4 };
  static const int bytes[n] = {8, 8192, 50000, large};
  unsigned char* bufs[2 * n];
  MPI_Request r[2 * n];
  for (int i = 0; i < n; ++i) {
    bufs[i] = malloc((size_t)bytes[i]);
    bufs[n + i] = malloc((size_t)bytes[i]);
    OK(MPI_Recv_init(bufs[i], bytes[i], MPI_BYTE, from, i, world, &r[i]));
    if (i % 2) {
      OK(MPI_Send_init(bufs[n + i], bytes[i], MPI_BYTE, to, i, world, &r[n + i]));
    } else {
      OK(MPI_Ssend_init(bufs[n + i], bytes[i], MPI_BYTE, to, i, world, &r[n + i]));
    }
  }
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < n; ++i) {
      memset(bufs[i], 0, (size_t)bytes[i]);
      fill(bufs[n + i], bytes[i], (uint64_t)(round * 10 + i));
    }
    if (round % 2) {
      OK(MPI_Startall(2 * n, r));
    } else {
      for (int i = 0; i < 2 * n; ++i) OK(MPI_Start(&r[i]));
    }
    MPI_Status s[2 * n];
    OK(MPI_Waitall(2 * n, r, s));
    for (int i = 0; i < n; ++i) {
      EXPECT(is_message(&s[i], from, i, bytes[i]));
      EXPECT_INT(wrong_at(bufs[i], bytes[i], (uint64_t)(round * 10 + i)), -1);
      EXPECT(r[i] != MPI_REQUEST_NULL && r[n + i] != MPI_REQUEST_NULL);
    }
  }
  for (int i = 0; i < 2 * n; ++i) {
    OK(MPI_Request_free(&r[i]));
    free(bufs[i]);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  world = MPI_COMM_WORLD;
  to = (me + 1) % ranks;
  from = (me + ranks - 1) % ranks;
  in = malloc(large);
  out = malloc(large);
  void (*const parts[])(void) = {nothing_to_wait_for, one,       any, all, some, failures_among_several,
                                 freed_while_active,  persistent};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    parts[i]();
    sync_ranks();
  }
  free(in);
  free(out);
  return finish();
}
