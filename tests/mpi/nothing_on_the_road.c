// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// No allocation, no system call, no mutex on the path of a small message in steady state.
//
// malloc and its kin and pthread_mutex_lock are this program's own, and counted. System calls: the stretch under test
// runs in a thread of its own under a seccomp filter, which raises SIGSYS for every call; the handler says which and
// ends the program. The thread never leaves its filter: it spins until the program ends. (A filter belongs to a thread;
// calls of the vDSO are not seen, as they do not enter the kernel.) Waiting must not sleep: run it with a large
// WEFT_SPIN.
//
// usage: nothing_on_the_road ROUNDS [malloc|syscall|mutex]: with a word the program itself does what must not happen,
// so that the test can be seen to fail.
#include <dlfcn.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "p2p.h"

static void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

static volatile int watching;
static volatile long allocations, locks, all_allocations;

// Allocations of the library come here: the names of the program go before those of libc.
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void __libc_free(void*);
void* __libc_memalign(size_t, size_t);
void* malloc(size_t n) {
  return all_allocations++, allocations += watching, __libc_malloc(n);
}
void* calloc(size_t n, size_t m) {
  return all_allocations++, allocations += watching, __libc_calloc(n, m);
}
void* realloc(void* p, size_t n) {
  return all_allocations++, allocations += watching, __libc_realloc(p, n);
}
void free(void* p) {
  allocations += watching, __libc_free(p);
}
void* aligned_alloc(size_t a, size_t n) {
  return all_allocations++, allocations += watching, __libc_memalign(a, n);
}
void* memalign(size_t a, size_t n) {
  return all_allocations++, allocations += watching, __libc_memalign(a, n);
}
int posix_memalign(void** p, size_t a, size_t n) {
  allocations += watching;
  return (*p = __libc_memalign(a, n)) == NULL ? ENOMEM : 0;
}

static int (*real_lock)(pthread_mutex_t*);
int pthread_mutex_lock(pthread_mutex_t* mutex) {
  locks += watching;
  if (real_lock == NULL) *(void**)&real_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
  return real_lock(mutex);
}

static void say_and_end(const char* text, long number) {
  char line[160];
  const int n = snprintf(line, sizeof line, "rank %d: %s %ld\n", me, text, number);
  syscall(SYS_write, 2, line, n);
  syscall(SYS_exit_group, 2);
}

static void on_system_call(int sig, siginfo_t* info, void* context) {
  (void)sig, (void)context;
  say_and_end("a system call on the path of a small message:", info->si_syscall);
}

// Allowed is what the handler needs: to write, to end the process.
static void forbid_system_calls(void) {
#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), ALLOW(SYS_write),
                               ALLOW(SYS_exit_group), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)};
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  struct sigaction action = {.sa_sigaction = on_system_call, .sa_flags = SA_SIGINFO};
  sigaction(SIGSYS, &action, NULL);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    say_and_end("no seccomp filter can be set here: errno", errno);
  }
}

static volatile char sink;

static void exchange(int peer, int times) {
  char out[64] = "", in[64];
  for (int i = 0; i < times; ++i) {
    MPI_Request r[2];
    MPI_Status status;
    const int bytes = i % 49, tag = i % 7;
    MPI_Irecv(in, sizeof in, MPI_BYTE, i % 3 ? peer : MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &r[1]);
    if (i % 2) {
      MPI_Wait(&r[0], &status);
      MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    } else {
      MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    // Blocking, and in the other order: the message comes before its receive.
    MPI_Send(out, 8, MPI_BYTE, peer, 20, MPI_COMM_WORLD);
    MPI_Recv(in, sizeof in, MPI_BYTE, peer, 20, MPI_COMM_WORLD, &status);
    sink = in[0];
  }
}

static int rounds = 1000;
static const char* broken = "";
static volatile int finished;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* stretch(void* unused) {
  const int peer = ranks == 1 ? 0 : me ^ 1;
  exchange(peer, 1000);  // until every pool has what it needs
  forbid_system_calls();
  watching = 1;
  if (strcmp(broken, "malloc") == 0) {
    void* volatile one = malloc(1);
    free(one);
  }
  if (strcmp(broken, "mutex") == 0) pthread_mutex_lock(&mutex);
  if (strcmp(broken, "syscall") == 0) syscall(SYS_getppid);
  exchange(peer, rounds);
  watching = 0;
  finished = 1;
  for (;;) relax();
  return unused;
}

int main(int argc, char** argv) {
  pthread_mutex_lock(&mutex);  // finds the real one
  pthread_mutex_unlock(&mutex);
  const long before = all_allocations;
  start(&argc, &argv);
  if (all_allocations == before) failed(__FILE__, __LINE__, "MPI_Init allocates nothing? Its malloc is not ours");
  if (argc > 1) rounds = atoi(argv[1]);
  if (argc > 2) broken = argv[2];
  pthread_t thread;
  if (pthread_create(&thread, NULL, stretch, NULL) != 0) return EXIT_FAILURE;
  while (!finished) usleep(1000);
  if (allocations != 0) failed(__FILE__, __LINE__, "%ld allocations on the path of a small message", allocations);
  if (locks != 0) failed(__FILE__, __LINE__, "%ld mutexes on the path of a small message", locks);
  return finish();
}
