/* SPDX-FileCopyrightText: 2026 the Weft authors
   SPDX-License-Identifier: BSD-3-Clause
   Programs that stand still, each in its own way, and programs that only take their time: what `weft why` is tested
   with. The first argument is the way. The slow ones go on until the file is there that WRONG_UNTIL names. */
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int rank, size, large = 4 << 20;
static char *buffer, *other;

static int is_enough(void) {
  const char* file = getenv("WRONG_UNTIL");
  return file == NULL || access(file, F_OK) == 0;
}

static void sleep_long(void) {
  const struct timespec moment = {0, 20000000};
  while (!is_enough()) nanosleep(&moment, NULL);
}

static void compute_long(void) {
  while (!is_enough()) {
    for (volatile int i = 0; i < 1000000; ++i) continue;
  }
}

static void send_to(int peer, int tag) {
  MPI_Send(buffer, 4, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
}
static void receive_from(int peer, int tag) {
  MPI_Recv(buffer, 4, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- Wrong ---- */

static void wrong_tag(void) {
  if (rank == 0) receive_from(1, 7);
  if (rank == 1) send_to(0, 8);
}

static void wrong_communicator(void) {
  MPI_Comm twin;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  if (rank == 0) MPI_Recv(buffer, 4, MPI_BYTE, 1, 7, twin, MPI_STATUS_IGNORE);
  if (rank == 1) send_to(0, 7);
}

static void wrong_source(void) {
  if (rank == 0) receive_from(2, 7);
  if (rank == 1) send_to(0, 7);
}

static void receives(void) {
  receive_from((rank + 1) % size, 3);
}

static void sends(void) {
  MPI_Send(buffer, large, MPI_BYTE, (rank + 1) % size, 0, MPI_COMM_WORLD);
  MPI_Recv(other, large, MPI_BYTE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void synchronous_sends(void) {
  MPI_Ssend(buffer, 4, MPI_BYTE, size - 1 - rank, 0, MPI_COMM_WORLD);
}

static void self_send(void) {
  if (rank == 0) MPI_Ssend(buffer, 4, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
}

static void order(void) {
  for (int i = 0; i < 3; ++i) MPI_Allreduce(buffer, other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) MPI_Reduce(buffer, other, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank != 0) MPI_Bcast(buffer, 4, MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* Rank 0 waits for the data of the others, and they for those of rank 0. */
static void nonblocking_order(void) {
  MPI_Request request;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Igather(buffer, 4, MPI_BYTE, other, 4, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  if (rank != 0) MPI_Ibcast(buffer, 4, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void communicators(void) {
  MPI_Comm twins[2];
  MPI_Comm_dup(MPI_COMM_WORLD, &twins[0]);
  MPI_Comm_dup(MPI_COMM_WORLD, &twins[1]);
  MPI_Comm_set_name(twins[0], "first");
  MPI_Comm_set_name(twins[1], "second");
  MPI_Barrier(twins[rank % 2]);
  MPI_Barrier(twins[1 - rank % 2]);
}

static void roots(void) {
  MPI_Bcast(buffer, 64, MPI_BYTE, rank == 0 ? 1 : 0, MPI_COMM_WORLD);
}

static void missing(void) {
  if (rank == 0) receive_from(1, 2);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void lock(void) {
  MPI_Win win;
  int* memory;
  MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    send_to(1, 1);
    receive_from(1, 2); /* with the lock */
    MPI_Win_unlock(0, win);
  } else if (rank == 1) {
    receive_from(0, 1);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    send_to(0, 2);
    MPI_Win_unlock(0, win);
  }
  MPI_Win_free(&win);
}

static void posts(void) {
  MPI_Win win;
  MPI_Group all;
  int* memory;
  MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Win_start(all, 0, win); /* nobody posts */
}

static void any_source(void) {
  if (rank == 0) MPI_Recv(buffer, 4, MPI_BYTE, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void waitall(void) {
  MPI_Request requests[3];
  for (int i = 0; i < 3; ++i) MPI_Irecv(other + i, 1, MPI_BYTE, (rank + 1) % size, i, MPI_COMM_WORLD, &requests[i]);
  MPI_Send(buffer, 1, MPI_BYTE, (rank + size - 1) % size, 0, MPI_COMM_WORLD);
  MPI_Send(buffer, 1, MPI_BYTE, (rank + size - 1) % size, 1, MPI_COMM_WORLD);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

static void* receive_in_thread(void* argument) {
  (void)argument;
  MPI_Recv(other, 4, MPI_BYTE, 1 - rank, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return NULL;
}

static void threads(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, receive_in_thread, NULL);
  receive_from(1 - rank, 12);
  pthread_join(thread, NULL);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;

static void* send_when_told(void* to) {
  pthread_mutex_lock(&mutex);
  pthread_cond_wait(&told, &mutex); /* and nothing says whether it has been signalled */
  pthread_mutex_unlock(&mutex);
  MPI_Send(buffer, 4, MPI_BYTE, *(int*)to, 11, MPI_COMM_WORLD);
  return NULL;
}

/* Signals the thread that is to send, before it waits. */
static pthread_t start_too_late(int* to) {
  pthread_t thread;
  pthread_cond_signal(&told);
  pthread_create(&thread, NULL, send_when_told, to);
  return thread;
}

static void thread_lost_wake(void) {
  int to = 1;
  if (rank == 0) {
    const pthread_t thread = start_too_late(&to);
    receive_from(1, 12);
    pthread_join(thread, NULL);
  } else if (rank == 1) {
    receive_from(0, 11);
    send_to(0, 12);
  }
}

static void thread_lost_wake_self(void) {
  if (rank != 0) return;
  const pthread_t thread = start_too_late(&rank);
  receive_from(0, 11);
  pthread_join(thread, NULL);
}

static void thread_lost_wake_outside(void) {
  int to = 1;
  if (rank == 0) pthread_join(start_too_late(&to), NULL);
  if (rank == 1) receive_from(0, 11);
}

/* ---- Right, but slow ---- */

static void compute(void) {
  if (rank == 1) compute_long();
  MPI_Barrier(MPI_COMM_WORLD);
}

static void sleeping(void) {
  if (rank == 1) sleep_long();
  MPI_Barrier(MPI_COMM_WORLD);
}

static void late_sender(void) {
  if (rank == 0) {
    sleep_long();
    send_to(1, 1);
  } else if (rank == 1) {
    receive_from(0, 1);
    send_to(2 % size, 1);
  } else if (rank == 2) {
    receive_from(1, 1);
  }
  if (size == 2 && rank == 0) receive_from(1, 1);
}

static void server(void) {
  if (rank == 0) {
    MPI_Request requests[16];
    for (int i = 1; i < size; ++i) MPI_Irecv(other + i, 1, MPI_BYTE, i, 0, MPI_COMM_WORLD, &requests[i - 1]);
    for (int i = 1; i < size; ++i) {
      int which;
      MPI_Waitany(size - 1, requests, &which, MPI_STATUS_IGNORE);
    }
  } else {
    if (rank == 1) compute_long();
    MPI_Send(buffer, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
}

static void ping_pong(void) {
  while (rank < 2) {
    int more = rank == 0 ? !is_enough() : 0;
    if (rank == 0) {
      MPI_Send(&more, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(&more, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&more, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&more, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    if (!more) break;
  }
}

static void slow_lock(void) {
  MPI_Win win;
  int* memory;
  MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  if (rank == 1) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    send_to(0, 1);
    compute_long();
    MPI_Win_unlock(0, win);
  } else if (rank == 0) {
    receive_from(1, 1);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Win_unlock(0, win);
  }
  MPI_Win_free(&win);
}

static void* send_later(void* argument) {
  (void)argument;
  sleep_long();
  MPI_Send(buffer, 4, MPI_BYTE, 1 - rank, 11, MPI_COMM_WORLD);
  return NULL;
}

static void slow_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, send_later, NULL);
  receive_from(1 - rank, 11);
  pthread_join(thread, NULL);
}

/* Waits again and again, a while each time. */
static void* send_when_time(void* nothing) {
  pthread_mutex_lock(&mutex);
  while (!is_enough()) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    pthread_cond_timedwait(&told, &mutex, &until);
  }
  pthread_mutex_unlock(&mutex);
  MPI_Send(buffer, 4, MPI_BYTE, 1 - rank, 11, MPI_COMM_WORLD);
  return nothing;
}

static void timed_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, send_when_time, NULL);
  receive_from(1 - rank, 11);
  pthread_join(thread, NULL);
}

static sem_t enough;

static void post_if_enough(int signal) {
  (void)signal;
  if (is_enough()) sem_post(&enough);
}

/* Rank 0 waits for what the handler of a signal does. */
static void handler(void) {
  if (rank == 0) {
    sem_init(&enough, 0, 0);
    signal(SIGALRM, post_if_enough);
    const struct itimerval often = {{1, 0}, {1, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    while (sem_wait(&enough) != 0) continue;
    signal(SIGALRM, SIG_IGN);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void all_fail(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(buffer, 1, MPI_BYTE, size, 0, MPI_COMM_WORLD);
}

static void no_init(void) {} /* see main */

static const struct {
  const char* name;
  void (*run)(void);
} ways[] = {{"wrong_tag", wrong_tag},
            {"wrong_communicator", wrong_communicator},
            {"wrong_source", wrong_source},
            {"receives", receives},
            {"sends", sends},
            {"synchronous_sends", synchronous_sends},
            {"self_send", self_send},
            {"order", order},
            {"nonblocking_order", nonblocking_order},
            {"communicators", communicators},
            {"roots", roots},
            {"missing", missing},
            {"lock", lock},
            {"posts", posts},
            {"any_source", any_source},
            {"waitall", waitall},
            {"threads", threads},
            {"thread_lost_wake", thread_lost_wake},
            {"thread_lost_wake_self", thread_lost_wake_self},
            {"thread_lost_wake_outside", thread_lost_wake_outside},
            {"compute", compute},
            {"sleeping", sleeping},
            {"late_sender", late_sender},
            {"server", server},
            {"ping_pong", ping_pong},
            {"slow_lock", slow_lock},
            {"slow_thread", slow_thread},
            {"timed_thread", timed_thread},
            {"handler", handler},
            {"all_fail", all_fail},
            {"no_init", no_init}};

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  int provided;
  const char* own = getenv("WEFT_RANK");
  if (strcmp(way, "no_init") == 0 && own != NULL && strcmp(own, "1") == 0) sleep_long();
  MPI_Init_thread(&argc, &argv, strstr(way, "thread") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  buffer = calloc(1, (size_t)large);
  other = calloc(1, (size_t)large);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
    if (strcmp(ways[i].name, way) == 0) ways[i].run();
  }
  MPI_Finalize();
  return 0;
}
