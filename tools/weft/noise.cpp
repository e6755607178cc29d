// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// weft noise: the interference on each core of this host, and what it does to allreduces.

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/setting.hpp"
#include "topo/machine.hpp"
#include "weft/commands.hpp"
#include "weft/interference.hpp"
#include "weft/job.hpp"

namespace weft::tool {
namespace {

constexpr double most_seconds = 60;
constexpr int columns = 64;  // of the picture

struct Options {
  double seconds = 2;  // of each measurement
  bool json = false;
};

struct Allreduce {
  int ranks = 0;
  int reserved = 0;  // cores
  long long count = 0;
  Quantiles us;
  double mean = 0;
};

const char* noise_usage =
    R"(usage: weft noise [options]
Measures how much the system and other programs hold up each core of this host, by a loop of fixed work on all cores at
once, and an allreduce of 8 bytes with a rank on each core, then with a core reserved (mpiexec --reserve-cores 1).
Measure on a host where no job runs.

  --seconds S   the time of each of these three measurements; 2 otherwise, 60 at most
  --json        the result as JSON
)";

bool take(const Words& words, Options& options, std::string& wrong) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--json") {
      options.json = true;
    } else if (words[i] == "--seconds" && i + 1 < words.size()) {
      char* end = nullptr;
      options.seconds = strtod(words[++i].c_str(), &end);
      if (end == words[i].c_str() || *end != '\0' || !(options.seconds >= 0.01 && options.seconds <= most_seconds)) {
        wrong = "--seconds: " + base::quoted(words[i]) + " is out of range: 0.01 to 60";
        return false;
      }
    } else {
      wrong = "the option " + base::quoted(words[i]) + " is not known or has no value";
      return false;
    }
  }
  return true;
}

// One job, as mpiexec places its ranks by default.
bool measure_allreduce(double seconds, Allreduce& one, base::Problem& problem) {
  const std::string folder = own_folder();
  Words words{folder + "/mpiexec", "-q", "-n", std::to_string(one.ranks)};
  if (one.reserved > 0) words.insert(words.end(), {"-r", std::to_string(one.reserved)});
  char time[32];
  snprintf(time, sizeof time, "%g", seconds);
  words.insert(words.end(), {folder + "/../libexec/weft/weft-measure-noise", time});
  std::string output;
  if (!run(words, output, problem)) return false;
  if (sscanf(output.c_str(), "%lld %lf %lf %lf %lf %lf", &one.count, &one.us.median, &one.us.p99, &one.us.p999,
             &one.us.most, &one.mean) == 6) {
    return true;
  }
  problem = {.cause = "the measuring job printed " + base::quoted(output) + ", which is no result",
             .remedy = "use the weft, mpiexec and library of one installation"};
  return false;
}

// Marks the share of the time that is lost: nothing below a thousandth, then a character for each doubling or so.
char mark_of(double lost) {
  constexpr double from[] = {0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5};
  constexpr char marks[] = " .:-=+*#@";
  size_t mark = 0;
  for (const double bound : from) mark += lost >= bound;
  return marks[mark];
}

void print_cores(const std::vector<CoreNoise>& cores, double seconds) {
  puts("Fixed work on each core, microseconds; lost: share of the time against the fastest turn");
  puts("processor   turns   fastest    median       99%     99.9%   slowest     lost");
  for (const CoreNoise& core : cores) {
    const Quantiles q = quantiles_of(core);
    printf("%9d %7zu %9.1f %9.1f %9.1f %9.1f %9.1f %7.2f%%\n", core.processor, core.turns.size(), q.least, q.median,
           q.p99, q.p999, q.most, q.lost * 100);
  }
  printf("\nWhen it was lost, over %g s:\n", seconds);
  for (const CoreNoise& core : cores) {
    std::string line;
    for (const double lost : lost_over_time(core, seconds, columns)) line += mark_of(lost);
    printf("%9d [%s]\n", core.processor, line.c_str());
  }
  puts("           below 0.1%, . 0.1% : 0.5% - 1% = 2% + 5% * 10% # 20% @ 50% and more");
}

void print_allreduces(const std::vector<Allreduce>& all, int cores) {
  puts("\nAllreduce of 8 bytes, microseconds");
  puts("ranks  reserved     count    median       99%     99.9%   slowest      mean");
  for (const Allreduce& one : all) {
    printf("%5d  %8d %9lld %9.2f %9.2f %9.2f %9.1f %9.2f%s\n", one.ranks, one.reserved, one.count, one.us.median,
           one.us.p99, one.us.p999, one.us.most, one.mean,
           one.ranks + one.reserved > cores ? "  (ranks share cores)" : "");
  }
  if (all.size() == 1) puts("With one core there is none to reserve.");
}

void print_json(const std::vector<CoreNoise>& cores, const std::vector<Allreduce>& all, double seconds) {
  printf("{\n  \"seconds\": %g,\n  \"cores\": [", seconds);
  const char* between = "";
  for (const CoreNoise& core : cores) {
    const Quantiles q = quantiles_of(core);
    printf(
        "%s\n    {\"processor\": %d, \"turns\": %zu, \"fastest_us\": %g, \"median_us\": %g, \"p99_us\": %g, "
        "\"p999_us\": %g, \"slowest_us\": %g, \"lost\": %.6f}",
        between, core.processor, core.turns.size(), q.least, q.median, q.p99, q.p999, q.most, q.lost);
    between = ",";
  }
  printf("\n  ],\n  \"allreduce\": [");
  between = "";
  for (const Allreduce& one : all) {
    printf(
        "%s\n    {\"ranks\": %d, \"reserved\": %d, \"count\": %lld, \"median_us\": %g, \"p99_us\": %g, "
        "\"p999_us\": %g, \"slowest_us\": %g, \"mean_us\": %g}",
        between, one.ranks, one.reserved, one.count, one.us.median, one.us.p99, one.us.p999, one.us.most, one.mean);
    between = ",";
  }
  puts("\n  ]\n}");
}

}  // namespace

int noise(const Words& words) {
  if (words.size() == 1 && (words[0] == "--help" || words[0] == "-h")) return fputs(noise_usage, stdout), 0;
  Options options;
  std::string wrong;
  if (!take(words, options, wrong)) {
    fprintf(stderr, "weft: noise: %s. Remedy: see weft noise --help\n", wrong.c_str());
    return 2;
  }
  const topo::Machine machine = topo::this_machine();
  std::vector<int> processors;
  for (const topo::Core& core : machine.cores) processors.push_back(core.processors.front());
  if (processors.empty()) processors.push_back(base::affinity().first());
  base::Problem problem;
  std::vector<CoreNoise> cores;
  const auto fails = [&] {
    fprintf(stderr, "weft: noise: %s\n", base::describe(problem).c_str());
    return 1;
  };
  if (!measure_cores(processors, options.seconds, cores, problem)) return fails();
  const int count = static_cast<int>(processors.size());
  std::vector<Allreduce> all{{.ranks = std::max(count, 2)}};
  if (count > 1) all.push_back({.ranks = std::max(count - 1, 2), .reserved = 1});
  for (Allreduce& one : all) {
    if (!measure_allreduce(options.seconds, one, problem)) return fails();
  }
  if (options.json) {
    print_json(cores, all, options.seconds);
  } else {
    print_cores(cores, options.seconds);
    print_allreduces(all, count);
  }
  return 0;
}

}  // namespace weft::tool
