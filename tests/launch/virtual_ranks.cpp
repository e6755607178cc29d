// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The statistics of a job of many ranks that are not there: each one's report is made up, and goes up the tree as
// bytes, as in MPI_Finalize. Arguments: ranks, and the file for the JSON. Prints what a rank holds at most, by count.
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "stats/gather.hpp"
#include "stats/text.hpp"

namespace {

using weft::stats::Call;
using weft::stats::CallSum;
using weft::stats::Report;

constexpr int32_t per_host = 128;

struct Seen {
  size_t longest = 0;  // bytes of a message
  int64_t messages = 0;
  int held = 0;  // reports at the same time, of all virtual ranks on the way down
  int most_held = 0;
};

void call_of(Report& report, Call call, int32_t rank, double seconds, double idle, uint64_t bytes) {
  CallSum& sum = report.calls[static_cast<size_t>(call)];
  sum.calls = 100;
  sum.bytes = bytes;
  sum.sizes[weft::stats::size_class(bytes / 100)] = 100;
  sum.longest = seconds / 50;
  sum.longest_rank = rank;
  sum.seconds.take(seconds, rank);
  sum.idle.take(idle, rank);
  sum.prompt.take(idle > 0 ? 0.1 : 0.9, rank);
}

// Neighbours in three dimensions; the last rank computes longest; call sites and communicators are many.
Report report_of(int32_t rank, int32_t ranks) {
  Report report;
  auto& all = report.all;
  all.level = static_cast<uint32_t>(weft::stats::Level::full);
  all.size = ranks;
  all.processors = per_host;
  snprintf(all.program, sizeof all.program, "/nowhere/program");
  const double mpi = rank == ranks - 1 ? 1 : 4;
  all.run.take(10, rank);
  all.mpi.take(mpi, rank);
  all.share.take(mpi / 10, rank);
  all.idle.take(mpi / 2, rank);
  all.sync.take(mpi / 4, rank);
  all.outside.take(10 - mpi, rank);
  call_of(report, Call::isend_, rank, mpi / 2, 0, 600000);
  call_of(report, Call::barrier_, rank, mpi / 2, mpi / 4, 0);
  const int32_t host = rank / per_host * per_host;
  if (weft::stats::is_listed(rank, ranks)) {
    auto& own = report.ranks.emplace_back();
    own = {.rank = rank, .host = host, .threads = 2, .run = 10, .mpi = mpi, .idle = mpi / 2, .sync = mpi / 4};
    snprintf(own.cpus, sizeof own.cpus, "%d", rank % per_host);
  }
  for (const int32_t away : {1, 90, 8100}) {
    if (rank + away < ranks)
      report.pairs.push_back({rank, rank + away, 100, static_cast<uint64_t>(100000 + rank), 0.1, 0.1});
    if (rank >= away) report.pairs.push_back({rank, rank - away, 100, static_cast<uint64_t>(100000 + rank), 0.1, 0.1});
  }
  report.comms.push_back({.key = 1, .size = ranks, .ranks = 1, .name = "MPI_COMM_WORLD", .calls = 200, .seconds = mpi});
  report.comms.push_back(
      {.key = 2 + static_cast<uint64_t>(rank % 1000), .size = 9, .ranks = 1, .calls = 9, .seconds = 1});
  for (int i = 0; i < 3; ++i) {
    auto& site = report.sites.emplace_back();
    site = {.call = static_cast<uint32_t>(Call::isend_), .ranks = 1, .calls = 9, .bytes = 9, .seconds = 1, .idle = 0};
    snprintf(site.text, sizeof site.text, "program+0x%x", static_cast<unsigned>(rank * 3 + i) % 5000);
  }
  for (int place = 0; place < 2; ++place)
    report.threads.push_back(
        {.rank = rank, .place = place, .threads = 1, .calls = 50, .seconds = mpi / 2, .idle = mpi / 4});
  if (rank == host) {
    auto& machine = report.machines.emplace_back();
    size_t at = 0;
    for (int core = 0; core < per_host; ++core)
      at += static_cast<size_t>(snprintf(machine.text + at, sizeof machine.text - at, "%s%d",
                                         core == 0       ? ""
                                         : core % 8 == 0 ? ";"
                                                         : ",",
                                         core));
    machine.key = 7;
    report.hosts.push_back({.host = host, .machine = 7});
  }
  auto& slices = report.timeline.emplace_back();
  slices.group = weft::stats::group_of(rank, ranks);
  slices.ranks = 1;
  for (auto& slice : slices.seconds) slice[0] = 1;
  return report;
}

// The bytes that the rank sends: the report of all ranks below it in the tree. Rank 0 has the whole, in `report`.
std::string bytes_of(int32_t rank, int32_t ranks, Report& report, Seen& seen) {
  seen.most_held = std::max(seen.most_held, ++seen.held);
  report = report_of(rank, ranks);
  std::string sent;
  const auto receive = [&](int32_t from) {
    Report below;
    return bytes_of(from, ranks, below, seen);
  };
  (void)weft::stats::gather(rank, ranks, report, receive, [&](int32_t, std::string bytes) {
    ++seen.messages;
    seen.longest = std::max(seen.longest, bytes.size());
    sent = std::move(bytes);
  });
  --seen.held;
  return sent;
}

}  // namespace

int main(int argc, char** argv) {
  int32_t ranks = 0;
  if (argc != 3 || std::from_chars(argv[1], argv[1] + strlen(argv[1]), ranks).ec != std::errc() || ranks < 1) {
    fputs("usage: virtual_ranks RANKS FILE.json\n", stderr);
    return 2;
  }
  Seen seen;
  Report report;
  (void)bytes_of(0, ranks, report, seen);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const std::string text = weft::stats::as_text(report, "");
  const std::string json = weft::stats::as_json(report, "");
  FILE* file = fopen(argv[2], "w");
  if (file == nullptr || fwrite(json.data(), 1, json.size(), file) != json.size() || fclose(file) != 0) {
    perror(argv[2]);
    return 1;
  }
  printf("{\"messages\": %lld, \"longest\": %zu, \"held\": %d, \"resident\": %ld, \"json\": %zu, \"text\": %zu}\n",
         static_cast<long long>(seen.messages), seen.longest, seen.most_held, usage.ru_maxrss * 1024L, json.size(),
         text.size());
  return 0;
}
