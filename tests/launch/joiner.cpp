// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// A rank that joins its job as the library does, without the library: prints who it is, proves that the segment is
// shared by the ranks of its host by leaving its mark there and waiting for all others' marks, and then does what its
// argument says.

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/clock.hpp"
#include "base/own_cpus.hpp"
#include "boot/job/notes.hpp"
#include "boot/job/status.hpp"
#include "boot/start/join.hpp"

using namespace weft;

namespace {

constexpr uint64_t patience_ns = 60'000'000'000;  // nothing but a rank that does not come takes so long

size_t segment_bytes(int size) {
  const char* extra = getenv("JOINER_EXTRA");  // lets a rank disagree
  return boot::head_bytes(size) + 65536 + (extra ? static_cast<size_t>(atoi(extra)) : 0);
}

bool everybody_came(std::atomic<uint32_t>* marks, int ranks) {
  uint64_t until = base::now_ns() + patience_ns;
  for (int place = 0; place < ranks; ++place) {
    while (marks[place].load() != static_cast<uint32_t>(place) + 1) {
      if (base::now_ns() > until) return false;
      usleep(500);
    }
  }
  return true;
}

// The value that rank `rank` publishes in turn `turn`: as long as the launcher takes it.
std::string text_of(int rank, int turn) {
  const size_t length = boot::longest_value() < 2000 ? boot::longest_value() : 2000;
  std::string text = std::to_string(rank) + ":" + std::to_string(turn) + "/";
  return text.append(length - text.size(), static_cast<char>('a' + rank % 26));
}

int count_listeners() {
  int count = 0;
  for (int fd = 0; fd < 256; ++fd) {
    int listens = 0;
    socklen_t bytes = sizeof listens;
    count += getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) == 0 && listens != 0;
  }
  return count;
}

std::atomic<uint32_t>* count_here = nullptr;

// Everybody publishes, and sees after the barrier what all others have. A rank that comes early to a barrier is not
// kept in it: rank 0 comes to the last one when the others of its host have been called back there, which they count in
// `calls`.
bool exchange(const boot::Job& job, std::atomic<uint32_t>* calls) {
  constexpr uint32_t enough = 20;
  const int place = job.place_here(job.rank);
  auto called_back = [&] {
    for (int other = 0; other < job.local_ranks; ++other) {
      if (other != place && calls[other].load() < enough) return false;
    }
    return true;
  };
  for (int turn = 0; turn < 3; ++turn) {
    const std::string key = "joiner-" + std::to_string(turn);
    boot::publish(key, text_of(job.rank, turn));
    const uint64_t until = base::now_ns() + patience_ns;
    while (turn == 2 && job.rank == 0 && !called_back()) {
      if (base::now_ns() > until) return false;
      usleep(500);
    }
    count_here = turn == 2 ? &calls[place] : nullptr;
    boot::barrier([] {
      if (count_here != nullptr) count_here->fetch_add(1);
      usleep(1000);
    });
    for (int rank = 0; rank < job.size; ++rank) {
      if (boot::published(rank, key) != text_of(rank, turn)) return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const char* then = argc > 1 ? argv[1] : "";
  boot::Job job = boot::join(segment_bytes, [] { return true; });
  const int ranks = job.local_ranks;
  const int places = job.one_host() ? job.places : ranks;
  const int place = job.place_here(job.rank);
  if (place < 0 || place >= ranks) return 89;
  void* segment = mmap(nullptr, segment_bytes(places), PROT_READ | PROT_WRITE, MAP_SHARED, job.segment.needed(), 0);
  if (segment == MAP_FAILED) return 90;
  boot::set_phase(segment, place, boot::Phase::initialised);
  auto* marks = reinterpret_cast<std::atomic<uint32_t>*>(static_cast<char*>(segment) + boot::head_bytes(places));
  marks[place].store(static_cast<uint32_t>(place) + 1);
  if (!everybody_came(marks, ranks)) return 91;
  printf("%d/%d %s app=%d local=%d cpus=%d%s\n", job.rank, job.size, boot::name(job.launcher), job.app_number,
         job.local_ranks, job.local_cpus, job.universe_size < 1 ? " universe unknown" : "");
  bool chosen = job.rank == job.size - 1;
  if (strcmp(then, "unfinished") == 0 && chosen) return 0;
  if (strcmp(then, "abort") == 0) {
    if (chosen) boot::abort(42, "told to abort");
    sleep(200);  // until it is ended
  }
  if (strcmp(then, "abort0") == 0) {
    if (chosen) boot::abort(0, nullptr);
    sleep(200);  // until it is ended
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
  if (strcmp(then, "listeners") == 0) printf("listeners=%d\n", count_listeners());
  if (strcmp(then, "masks") == 0) {
    printf("mask=%s service=%s\n", base::shown_cpu_list(base::affinity()).c_str(),
           base::shown_cpu_list(base::service_cpus()).c_str());
  }
  if (strcmp(then, "exchange") == 0 && !exchange(job, marks + ranks)) return 94;
  boot::set_phase(segment, place, boot::Phase::finalized);
  boot::leave(job);
  return strcmp(then, "status") == 0 && chosen ? 6 : 0;
}
