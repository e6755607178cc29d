// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// A rank that joins its job as the library does, without the library: prints who it is, proves that the segment is
// shared by leaving its mark there and waiting for all others' marks, and then does what its argument says.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/clock.hpp"
#include "boot/job.hpp"
#include "boot/status.hpp"

using namespace weft;

namespace {

size_t segment_bytes(int size) {
  const char* extra = getenv("JOINER_EXTRA");  // lets a rank disagree
  return boot::job_header_bytes(size) + 65536 + (extra ? static_cast<size_t>(atoi(extra)) : 0);
}

bool everybody_came(std::atomic<uint32_t>* marks, int size) {
  uint64_t until = base::now_ns() + 10'000'000'000;
  for (int rank = 0; rank < size; ++rank) {
    while (marks[rank].load() != static_cast<uint32_t>(rank) + 1) {
      if (base::now_ns() > until) return false;
      usleep(500);
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const char* then = argc > 1 ? argv[1] : "";
  boot::Job job = boot::join(segment_bytes);
  void* segment = mmap(nullptr, segment_bytes(job.size), PROT_READ | PROT_WRITE, MAP_SHARED, job.segment_fd, 0);
  if (segment == MAP_FAILED) return 90;
  boot::set_phase(segment, job.rank, boot::Phase::initialised);
  auto* marks =
      reinterpret_cast<std::atomic<uint32_t>*>(static_cast<char*>(segment) + boot::job_header_bytes(job.size));
  marks[job.rank].store(static_cast<uint32_t>(job.rank) + 1);
  if (!everybody_came(marks, job.size)) return 91;
  printf("%d/%d %s app=%d local=%d cpus=%d%s\n", job.rank, job.size, boot::name(job.launcher), job.app_number,
         job.local_ranks, job.local_cpus, job.universe_size < 1 ? " universe unknown" : "");
  bool chosen = job.rank == job.size - 1;
  if (strcmp(then, "unfinished") == 0 && chosen) return 0;
  if (strcmp(then, "abort") == 0) {
    if (chosen) boot::abort(42, "told to abort");
    sleep(30);
  }
  if (strcmp(then, "abort0") == 0) {
    if (chosen) boot::abort(0, nullptr);
    sleep(30);
  }
  if (strcmp(then, "again") == 0) {
    fflush(stdout);
    execl("/proc/self/exe", argv[0], nullptr);  // the same process joins once more, with its segment closed
    return 92;
  }
  if (strcmp(then, "child") == 0 && chosen) {
    fflush(stdout);
    return system(argv[0]) == 0 ? 93 : 5;
  }
  boot::set_phase(segment, job.rank, boot::Phase::finalized);
  boot::leave(job);
  return strcmp(then, "status") == 0 && chosen ? 6 : 0;
}
