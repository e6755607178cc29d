// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The bandwidth of memory for ranks and threads in any number: the four kernels of STREAM (McCalpin, 1995) on three
// arrays that ranks, and in these OpenMP's threads, share out. A thread touches its part first, so that its pages lie
// where the thread runs. Bytes are counted as STREAM does: those that a kernel reads and writes, without the lines that
// a store may read first.
//
//   stream [--bytes=N] [--times=N] [--memory=malloc|mpi] [--quick]
//
// --bytes is the size of each array, of all ranks together, so that layouts of ranks and threads can be compared.
// `weft sweep` runs it under several layouts (docs/measurements/memory.md).
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "bench.h"

enum { KERNELS = 4, MOST_TIMES = 1000, SAMPLES = 64, WRONG_OPTION = 2 };
enum memory { MEMORY_MALLOC, MEMORY_MPI };

struct options {
  size_t bytes;
  int times;
  enum memory memory;
};

// Where a thread ran, and where a sample of its pages lay.
struct place {
  int cpu, node;
  int moved;           // it ran elsewhere before
  int sampled, local;  // pages that the system told of, and those of them on the thread's node
};

struct job {
  struct options options;
  int rank, ranks, threads;
  size_t count;  // elements of this rank in each array
  double *a, *b, *c;
  struct place* places;  // of this rank's threads
};

static const struct kernel {
  const char* name;
  double arrays;  // that it reads and writes
} kernels[KERNELS] = {{"copy", 2}, {"scale", 2}, {"add", 3}, {"triad", 3}};

// A round of the four multiplies `a` by s (2 + s): 0.96, so that each round leaves its mark and none overflows.
static const double scalar = 0.4;

// The numbers of bytes of --bytes: 4096, 64K, 128M, 2G. 0: it is none.
static size_t bytes_of(const char* text) {
  char* rest = NULL;
  errno = 0;
  const unsigned long long value = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &rest, 10) : 0;
  if (rest == NULL || errno != 0) return 0;
  const char* units = "KMG";
  const char* unit = *rest ? strchr(units, *rest) : NULL;
  if (*rest && (unit == NULL || rest[1] != '\0')) return 0;
  const int shift = unit ? (int)(10 * (unit - units + 1)) : 0;
  return value > (unsigned long long)LONG_MAX >> shift ? 0 : (size_t)value << shift;
}

// Returns the fault of the word at which it stopped, or NULL.
static const char* read_options(int argc, char** argv, struct options* options, const char** word) {
  *options = (struct options){.bytes = (size_t)128 << 20, .times = 10, .memory = MEMORY_MALLOC};
  for (int i = 1; i < argc; ++i) {
    *word = argv[i];
    if (strcmp(argv[i], "--quick") == 0) {
      options->bytes = (size_t)1 << 20;
      options->times = 2;
    } else if (strncmp(argv[i], "--bytes=", 8) == 0) {
      options->bytes = bytes_of(argv[i] + 8);
      if (options->bytes == 0) return "wants bytes, such as 64M";
    } else if (strncmp(argv[i], "--times=", 8) == 0) {
      const size_t times = bytes_of(argv[i] + 8);
      if (times < 1 || times > MOST_TIMES) return "wants a number from 1 to 1000";
      options->times = (int)times;
    } else if (strcmp(argv[i], "--memory=malloc") == 0) {
      options->memory = MEMORY_MALLOC;
    } else if (strcmp(argv[i], "--memory=mpi") == 0) {
      options->memory = MEMORY_MPI;
    } else {
      return "is none of --bytes=N, --times=N, --memory=malloc, --memory=mpi and --quick";
    }
  }
  return NULL;
}

static int threads_here(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

static int thread_number(void) {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

// A thread's part of the rank's elements: from `begin` up to `end`.
struct part {
  size_t begin, end;
};

static struct part part_of(const struct job* job, int thread) {
  const size_t all = (size_t)job->threads;
  const size_t each = job->count / all, rest = job->count % all, i = (size_t)thread;
  const size_t begin = i * each + (i < rest ? i : rest);
  return (struct part){begin, begin + each + (i < rest)};
}

static void first_touch(double* restrict a, double* restrict b, double* restrict c, struct part part) {
  for (size_t i = part.begin; i < part.end; ++i) {
    a[i] = 1;
    b[i] = 2;
    c[i] = 3;
  }
}

static void kernel_on(int kernel, double* restrict a, double* restrict b, double* restrict c, struct part part) {
  switch (kernel) {
    case 0:
      for (size_t i = part.begin; i < part.end; ++i) c[i] = a[i];
      break;
    case 1:
      for (size_t i = part.begin; i < part.end; ++i) b[i] = scalar * c[i];
      break;
    case 2:
      for (size_t i = part.begin; i < part.end; ++i) c[i] = a[i] + b[i];
      break;
    default:
      for (size_t i = part.begin; i < part.end; ++i) a[i] = b[i] + scalar * c[i];
  }
}

static void note_place(struct place* place) {
  unsigned cpu = 0, node = 0;
  if (syscall(SYS_getcpu, &cpu, &node, NULL) != 0) return;
  if (place->cpu >= 0 && place->cpu != (int)cpu) place->moved = 1;
  place->cpu = (int)cpu;
  place->node = (int)node;
}

// Asks where some of the pages lie; a system that does not tell leaves the numbers at 0.
static void note_pages(const double* a, struct part part, struct place* place) {
  void* pages[SAMPLES];
  int nodes[SAMPLES];
  const size_t count = part.end - part.begin;
  for (size_t i = 0; i < SAMPLES; ++i) {
    pages[i] = (void*)((uintptr_t)(a + part.begin + i * count / SAMPLES) & ~(uintptr_t)(BENCH_PAGE - 1));
  }
  if (syscall(SYS_move_pages, 0, (unsigned long)SAMPLES, pages, NULL, nodes, 0) != 0) return;
  for (int i = 0; i < SAMPLES; ++i) {
    place->sampled += nodes[i] >= 0;
    place->local += nodes[i] == place->node;
  }
}

// All of the job's threads begin together; the time ends with the slowest.
static double run_kernel(struct job* job, int kernel) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = bench_now_us();
#pragma omp parallel num_threads(job->threads)
  {
    const int thread = thread_number();
    kernel_on(kernel, job->a, job->b, job->c, part_of(job, thread));
    note_place(&job->places[thread]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return bench_now_us() - begin;
}

static double* array_of(const struct job* job) {
  const size_t bytes = (job->count * sizeof(double) + BENCH_PAGE - 1) / BENCH_PAGE * BENCH_PAGE;
  void* memory = NULL;
  if (job->options.memory == MEMORY_MPI) {
    MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &memory);
  } else {
    memory = aligned_alloc(BENCH_PAGE, bytes);
    if (memory == NULL) bench_die("stream: there is no memory for the arrays: give fewer --bytes");
  }
  return memory;
}

static void free_array(const struct job* job, double* array) {
  if (job->options.memory == MEMORY_MPI) {
    MPI_Free_mem(array);
  } else {
    free(array);
  }
}

// A window over memory of MPI_Alloc_mem tells what was obtained, if the library is Weft.
static void print_kind(const struct job* job) {
  static const char* const keys[] = {"weft_mem_affinity", "weft_mem_nodes", "weft_mem_page_size", "weft_mem_pages"};
  MPI_Win window;
  MPI_Info info;
  MPI_Win_create(job->a, (MPI_Aint)(job->count * sizeof(double)), 1, MPI_INFO_NULL, MPI_COMM_SELF, &window);
  MPI_Win_get_info(window, &info);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
    char value[MPI_MAX_INFO_VAL] = "";
    int size = sizeof value, found = 0;
    MPI_Info_get_string(info, keys[i], &size, value, &found);
    if (found) printf("%s %s\n", keys[i], value);
  }
  MPI_Info_free(&info);
  MPI_Win_free(&window);
}

static void print_places(const struct job* job) {
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  int size = 0, most = 0;
  MPI_Get_processor_name(name, &size);
  MPI_Allreduce(&job->threads, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  const size_t each = sizeof(struct place) * (size_t)most;
  struct place* own = calloc((size_t)most, sizeof *own);
  struct place* all = calloc((size_t)most * (size_t)job->ranks, sizeof *all);
  char* names = calloc((size_t)job->ranks, sizeof name);
  int* threads = calloc((size_t)job->ranks, sizeof *threads);
  if (!own || !all || !names || !threads) bench_die("stream: out of memory");
  memcpy(own, job->places, sizeof *own * (size_t)job->threads);
  MPI_Gather(own, (int)each, MPI_BYTE, all, (int)each, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Gather(name, (int)sizeof name, MPI_CHAR, names, (int)sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Gather(&job->threads, 1, MPI_INT, threads, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int rank = 0; job->rank == 0 && rank < job->ranks; ++rank) {
    int sampled = 0, local = 0;
    printf("rank %d on %s:", rank, names + (size_t)rank * sizeof name);
    for (int thread = 0; thread < threads[rank]; ++thread) {
      const struct place* place = &all[rank * most + thread];
      printf("%s cpu %d node %d%s", thread ? "," : "", place->cpu, place->node, place->moved ? " (moved)" : "");
      sampled += place->sampled;
      local += place->local;
    }
    if (sampled) printf("; %d %% of pages on the node of their thread", 100 * local / sampled);
    printf("\n");
  }
  free(own);
  free(all);
  free(names);
  free(threads);
}

// Every element of every rank, up to roundings.
static bool contents_are_right(const struct job* job) {
  double expected[3] = {1, 2, 3};
  for (int n = 0; n < job->options.times; ++n) {
    expected[1] = scalar * expected[0];
    expected[2] = expected[0] + expected[1];
    expected[0] = expected[1] + scalar * expected[2];
  }
  const double* const arrays[3] = {job->a, job->b, job->c};
  long wrong = 0, all = 0;
  for (int k = 0; k < 3; ++k) {
    for (size_t i = 0; i < job->count; ++i) {
      const double error = arrays[k][i] / expected[k] - 1;
      if (error < 1e-11 && error > -1e-11) continue;
      if (wrong++ == 0) {
        fprintf(stderr, "stream: rank %d: %c[%zu] is %.17g instead of %.17g\n", job->rank, "abc"[k], i, arrays[k][i],
                expected[k]);
      }
    }
  }
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all == 0;
}

static void measure(struct job* job, double times[KERNELS][MOST_TIMES]) {
#pragma omp parallel num_threads(job->threads)
  first_touch(job->a, job->b, job->c, part_of(job, thread_number()));
  for (int n = 0; n < job->options.times; ++n) {
    for (int kernel = 0; kernel < KERNELS; ++kernel) times[kernel][n] = run_kernel(job, kernel);
  }
#pragma omp parallel num_threads(job->threads)
  note_pages(job->a, part_of(job, thread_number()), &job->places[thread_number()]);
  for (int kernel = 0; kernel < KERNELS; ++kernel) {
    MPI_Allreduce(MPI_IN_PLACE, times[kernel], job->options.times, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
}

static void print_rates(const struct job* job, double times[KERNELS][MOST_TIMES]) {
  const double bytes = (double)(job->options.bytes / sizeof(double) * sizeof(double));
  printf("kernel        best     median  GB/s, of %d\n", job->options.times);
  for (int kernel = 0; kernel < KERNELS; ++kernel) {
    const double median = bench_median(times[kernel], job->options.times);  // which sorts
    const double moved = kernels[kernel].arrays * bytes * 1e-3;
    printf("%-6s  %10.2f %10.2f\n", kernels[kernel].name, moved / times[kernel][0], moved / median);
  }
}

// One message of rank 0 for all.
static int refuse(int rank, const char* what, const char* why) {
  if (rank == 0) fprintf(stderr, "stream: %s %s\n", what, why);
  MPI_Finalize();
  return WRONG_OPTION;
}

int main(int argc, char** argv) {
  static double times[KERNELS][MOST_TIMES];
  struct job job = {.threads = threads_here()};
  int provided, most = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  const char* word = NULL;
  const char* wrong = read_options(argc, argv, &job.options, &word);
  if (wrong) return refuse(job.rank, word, wrong);
  const size_t elements = job.options.bytes / sizeof(double);
  MPI_Allreduce(&job.threads, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (elements / (size_t)job.ranks < (size_t)most) {
    return refuse(job.rank, "--bytes", "is too small: every thread needs an element of 8 bytes");
  }
  job.count = elements / (size_t)job.ranks + ((size_t)job.rank < elements % (size_t)job.ranks);
  job.a = array_of(&job);
  job.b = array_of(&job);
  job.c = array_of(&job);
  job.places = calloc((size_t)job.threads, sizeof *job.places);
  if (job.places == NULL) bench_die("stream: out of memory");
  for (int i = 0; i < job.threads; ++i) job.places[i].cpu = -1;
  measure(&job, times);
  const bool right = contents_are_right(&job);
  if (job.rank == 0) {
    printf("stream: %d x %d ranks x threads, three arrays of %.6g MiB, from %s\n", job.ranks, job.threads,
           (double)job.options.bytes / 1048576, job.options.memory == MEMORY_MPI ? "MPI_Alloc_mem" : "malloc");
    if (job.options.memory == MEMORY_MPI) print_kind(&job);
  }
  print_places(&job);
  if (job.rank == 0) {
    print_rates(&job, times);
    printf("contents: %s\n", right ? "right" : "wrong");
  }
  free_array(&job, job.a);
  free_array(&job, job.b);
  free_array(&job, job.c);
  free(job.places);
  MPI_Finalize();
  return right ? 0 : 1;
}
