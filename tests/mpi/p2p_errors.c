// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments to every point-to-point call give the right error class through MPI_ERRORS_RETURN, whatever the
// handle: garbage, freed, of another kind. Works afterwards as before.
#include "p2p.h"

typedef int SendCall(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int IsendCall(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
typedef int SendCallC(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
typedef int IsendCallC(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static MPI_Comm world, freed_comm;
static MPI_Datatype freed_type, not_committed;
static MPI_Request freed_request, foreign_request;

static SendCall* const sends[] = {MPI_Send, MPI_Ssend, MPI_Rsend, MPI_Bsend};
static SendCallC* const sends_c[] = {MPI_Send_c, MPI_Ssend_c, MPI_Rsend_c, MPI_Bsend_c};
static IsendCall* const isends[] = {MPI_Isend,     MPI_Issend,     MPI_Irsend,     MPI_Ibsend,
                                    MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init};
static IsendCallC* const isends_c[] = {MPI_Isend_c,     MPI_Issend_c,     MPI_Irsend_c,     MPI_Ibsend_c,
                                       MPI_Send_init_c, MPI_Ssend_init_c, MPI_Rsend_init_c, MPI_Bsend_init_c};

// All the ways in with one set of arguments: as a send, and (peer and tag allowing wildcards) as a receive.
static void each_way(int line, const void* buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                     int wanted, int receives_too) {
  MPI_Request r = MPI_REQUEST_NULL;
  MPI_Status s;
  int got[64], n = 0;
  for (int i = 0; i < 4; ++i) {
    got[n++] = sends[i](buf, count, type, peer, tag, comm);
    got[n++] = sends_c[i](buf, count, type, peer, tag, comm);
  }
  for (int i = 0; i < 8; ++i) {
    got[n++] = isends[i](buf, count, type, peer, tag, comm, &r);
    got[n++] = isends_c[i](buf, count, type, peer, tag, comm, &r);
  }
  if (receives_too) {
    int ok = 0;
    void* to = (void*)buf;
    got[n++] = MPI_Recv(to, count, type, peer, tag, comm, &s);
    got[n++] = MPI_Recv_c(to, count, type, peer, tag, comm, &s);
    got[n++] = MPI_Irecv(to, count, type, peer, tag, comm, &r);
    got[n++] = MPI_Irecv_c(to, count, type, peer, tag, comm, &r);
    got[n++] = MPI_Recv_init(to, count, type, peer, tag, comm, &r);
    got[n++] = MPI_Recv_init_c(to, count, type, peer, tag, comm, &r);
    got[n++] = MPI_Sendrecv(&ok, 1, MPI_INT, MPI_PROC_NULL, 0, to, count, type, peer, tag, comm, &s);
    got[n++] = MPI_Isendrecv(&ok, 1, MPI_INT, MPI_PROC_NULL, 0, to, count, type, peer, tag, comm, &r);
  }
  int ok = 0;
  got[n++] = MPI_Sendrecv(buf, count, type, peer, tag, &ok, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &s);
  got[n++] = MPI_Isendrecv(buf, count, type, peer, tag, &ok, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &r);
  got[n++] = MPI_Sendrecv_replace((void*)buf, count, type, peer, tag, MPI_PROC_NULL, 0, comm, &s);
  got[n++] = MPI_Isendrecv_replace((void*)buf, count, type, peer, tag, MPI_PROC_NULL, 0, comm, &r);
  for (int i = 0; i < n; ++i) {
    if (class_of(got[i]) == wanted) continue;
    failed(__FILE__, line, "way %d gives class %d, not %d", i, class_of(got[i]), wanted);
  }
  EXPECT(r == MPI_REQUEST_NULL);  // no request comes out of a failed call
}
#define EACH(...) each_way(__LINE__, __VA_ARGS__)

static void arguments(void) {
  int data[4] = {0};
  const uintptr_t garbage[] = {0xdeadbeef,
                               0xdeadbeefdeadbeef,
                               1,
                               0xfff,
                               0x1000,
                               64,
                               UINTPTR_MAX,
                               0x7fffffffffff,
                               (uintptr_t)data & ~(uintptr_t)63};
  for (size_t i = 0; i < sizeof garbage / sizeof *garbage; ++i) {
    EACH(data, 1, MPI_INT, me, 0, (MPI_Comm)garbage[i], MPI_ERR_COMM, 1);
    EACH(data, 1, (MPI_Datatype)garbage[i], me, 0, world, MPI_ERR_TYPE, 1);
  }
  const MPI_Comm comms[] = {MPI_COMM_NULL, freed_comm, (MPI_Comm)MPI_INT, (MPI_Comm)MPI_SUM, (MPI_Comm)not_committed};
  for (int i = 0; i < 5; ++i) EACH(data, 1, MPI_INT, me, 0, comms[i], MPI_ERR_COMM, 1);
  const MPI_Datatype types[] = {MPI_DATATYPE_NULL, freed_type, not_committed, (MPI_Datatype)MPI_COMM_WORLD,
                                (MPI_Datatype)foreign_request};
  for (int i = 0; i < 5; ++i) EACH(data, 1, types[i], me, 0, world, MPI_ERR_TYPE, 1);
  EACH(data, -1, MPI_INT, me, 0, world, MPI_ERR_COUNT, 1);
  EACH(data, 1, MPI_INT, ranks, 0, world, MPI_ERR_RANK, 1);
  EACH(data, 1, MPI_INT, -77, 0, world, MPI_ERR_RANK, 1);
  EACH(data, 1, MPI_INT, MPI_ANY_SOURCE, 0, world, MPI_ERR_RANK, 0);
  EACH(data, 1, MPI_INT, me, -77, world, MPI_ERR_TAG, 1);
  EACH(data, 1, MPI_INT, me, MPI_ANY_TAG, world, MPI_ERR_TAG, 0);
  EACH(NULL, 1, MPI_INT, me, 0, world, MPI_ERR_BUFFER, 1);
  EACH(data, -1, MPI_INT, MPI_PROC_NULL, 0, world, MPI_ERR_COUNT, 1);  // nobody excuses nothing else
  EACH(data, 1, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, world, MPI_ERR_TYPE, 1);
  EXPECT_CLASS(MPI_Send_c(data, INT64_MAX, MPI_INT, me, 0, world), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Recv_c(data, INT64_MAX / 2, MPI_INT, me, 0, world, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
  for (int i = 0; i < 8; ++i) EXPECT_CLASS(isends[i](data, 1, MPI_INT, me, 0, world, NULL), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Irecv(data, 1, MPI_INT, me, 0, world, NULL), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Recv_init(data, 1, MPI_INT, me, 0, world, NULL), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Isendrecv(data, 1, MPI_INT, me, 0, data + 1, 1, MPI_INT, me, 0, world, NULL), MPI_ERR_ARG);
}

static void probes(void) {
  int flag = 0;
  MPI_Message m = MPI_MESSAGE_NULL;
  MPI_Status s;
  const struct {
    int source, tag;
    MPI_Comm comm;
    int wanted;
  } bad[] = {{me, 0, MPI_COMM_NULL, MPI_ERR_COMM}, {me, 0, (MPI_Comm)(uintptr_t)0xdeadbeef, MPI_ERR_COMM},
             {me, 0, freed_comm, MPI_ERR_COMM},    {ranks, 0, world, MPI_ERR_RANK},
             {-9, 0, world, MPI_ERR_RANK},         {me, -9, world, MPI_ERR_TAG}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    EXPECT_CLASS(MPI_Probe(bad[i].source, bad[i].tag, bad[i].comm, &s), bad[i].wanted);
    EXPECT_CLASS(MPI_Iprobe(bad[i].source, bad[i].tag, bad[i].comm, &flag, &s), bad[i].wanted);
    EXPECT_CLASS(MPI_Mprobe(bad[i].source, bad[i].tag, bad[i].comm, &m, &s), bad[i].wanted);
    EXPECT_CLASS(MPI_Improbe(bad[i].source, bad[i].tag, bad[i].comm, &flag, &m, &s), bad[i].wanted);
  }
  EXPECT_CLASS(MPI_Iprobe(me, 0, world, NULL, &s), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Mprobe(me, 0, world, NULL, &s), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Improbe(me, 0, world, NULL, &m, &s), MPI_ERR_ARG);
  // Messages: null, garbage, received already, of other kinds.
  int data = 3, got = -1;
  MPI_Request r = MPI_REQUEST_NULL;
  OK(MPI_Isend(&data, 1, MPI_INT, me, 1, world, &r));
  OK(MPI_Wait(&r, &s));
  OK(MPI_Mprobe(me, 1, world, &m, &s));
  MPI_Message copy = m;
  EXPECT_CLASS(MPI_Mrecv(&got, 1, MPI_DATATYPE_NULL, &m, &s), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Mrecv(&got, -1, MPI_INT, &m, &s), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Mrecv(NULL, 1, MPI_INT, &m, &s), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Imrecv(&got, 1, MPI_INT, &m, NULL), MPI_ERR_ARG);
  OK(MPI_Mrecv(&got, 1, MPI_INT, &m, &s));  // still there
  EXPECT_INT(got, 3);
  MPI_Message wrong[] = {MPI_MESSAGE_NULL, copy, (MPI_Message)(uintptr_t)0xdeadbeef, (MPI_Message)MPI_COMM_WORLD};
  for (int i = 0; i < 4; ++i) {
    EXPECT_CLASS(MPI_Mrecv(&got, 1, MPI_INT, &wrong[i], &s), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Imrecv(&got, 1, MPI_INT, &wrong[i], &r), MPI_ERR_REQUEST);
  }
  EXPECT_CLASS(MPI_Mrecv(&got, 1, MPI_INT, NULL, &s), MPI_ERR_ARG);
}

static void requests(void) {
  int flag, index, count, indices[2];
  MPI_Status s[2];
  const MPI_Request wrong[] = {freed_request,
                               (MPI_Request)(uintptr_t)0xdeadbeef,
                               (MPI_Request)UINTPTR_MAX,
                               (MPI_Request)(uintptr_t)8,
                               (MPI_Request)MPI_COMM_WORLD,
                               (MPI_Request)not_committed,
                               (MPI_Request)((uintptr_t)foreign_request + 64),
                               (MPI_Request)((uintptr_t)foreign_request + 8)};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    MPI_Request r = wrong[i], two[2] = {MPI_REQUEST_NULL, wrong[i]};
    EXPECT_CLASS(MPI_Wait(&r, s), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Test(&r, &flag, s), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Request_get_status(r, &flag, s), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Request_free(&r), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Cancel(&r), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Start(&r), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Startall(1, &r), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Waitall(2, two, s), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Testall(2, two, &flag, s), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Waitany(2, two, &index, s), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Testany(2, two, &index, &flag, s), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Waitsome(2, two, &count, indices, s), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Testsome(2, two, &count, indices, s), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Request_get_status_all(2, two, &flag, s), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Request_get_status_any(2, two, &index, &flag, s), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Request_get_status_some(2, two, &count, indices, s), MPI_ERR_REQUEST);
    EXPECT(r == wrong[i]);
  }
  MPI_Request none = MPI_REQUEST_NULL;
  EXPECT_CLASS(MPI_Request_free(&none), MPI_ERR_REQUEST);
  EXPECT_CLASS(MPI_Cancel(&none), MPI_ERR_REQUEST);
  EXPECT_CLASS(MPI_Start(&none), MPI_ERR_REQUEST);
  EXPECT_CLASS(MPI_Wait(NULL, s), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Test(&none, NULL, s), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Waitall(-1, &none, s), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Waitall(1, NULL, s), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Waitany(1, &none, NULL, s), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Waitsome(1, &none, NULL, indices, s), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Testsome(1, &none, &count, NULL, s), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Startall(-1, &none), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Start(NULL), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cancel(NULL), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Request_free(NULL), MPI_ERR_ARG);
  // Persistent requests in the wrong state; starting what is not persistent.
  int a = 1, b = 0;
  MPI_Request p, r;
  OK(MPI_Recv_init(&b, 1, MPI_INT, me, 3, world, &p));
  EXPECT_CLASS(MPI_Cancel(&p), MPI_ERR_REQUEST);
  OK(MPI_Start(&p));
  EXPECT_CLASS(MPI_Start(&p), MPI_ERR_REQUEST);
  OK(MPI_Irecv(&b, 1, MPI_INT, me, 4, world, &r));
  EXPECT_CLASS(MPI_Start(&r), MPI_ERR_REQUEST);
  OK(MPI_Send(&a, 1, MPI_INT, me, 3, world));
  OK(MPI_Send(&a, 1, MPI_INT, me, 4, world));
  OK(MPI_Wait(&p, s));
  OK(MPI_Wait(&r, s));
  EXPECT_INT(b, 1);
  OK(MPI_Request_free(&p));
  EXPECT_CLASS(MPI_Start(&p), MPI_ERR_REQUEST);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  world = MPI_COMM_WORLD;
  OK(MPI_Comm_dup(world, &freed_comm));
  MPI_Comm comm = freed_comm;
  OK(MPI_Comm_free(&comm));
  OK(MPI_Type_contiguous(3, MPI_INT, &freed_type));
  MPI_Datatype type = freed_type;
  OK(MPI_Type_free(&type));
  OK(MPI_Type_contiguous(3, MPI_INT, &not_committed));
  int data = 0;
  OK(MPI_Recv_init(&data, 1, MPI_INT, me, 50, world, &freed_request));
  OK(MPI_Recv_init(&data, 1, MPI_INT, me, 50, world, &foreign_request));
  MPI_Request request = freed_request;
  OK(MPI_Request_free(&request));
  arguments();
  requests();
  probes();
  EXPECT_CLASS(MPI_Wait(&freed_request, MPI_STATUS_IGNORE), MPI_SUCCESS + MPI_ERR_REQUEST);
  // And a message as if nothing had been.
  int sent = me + 5, got = -1;
  OK(MPI_Sendrecv(&sent, 1, MPI_INT, (me + 1) % ranks, 1, &got, 1, MPI_INT, (me + ranks - 1) % ranks, 1, world,
                  MPI_STATUS_IGNORE));
  EXPECT_INT(got, (me + ranks - 1) % ranks + 5);
  OK(MPI_Type_free(&not_committed));
  OK(MPI_Request_free(&foreign_request));
  return finish();
}
