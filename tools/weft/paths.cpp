// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/paths.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/cpus.hpp"
#include "base/setting.hpp"
#include "weft/job.hpp"
#include "weft/json_object.hpp"

namespace weft::tool {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

bool read_pair(const std::string& between, int (&pair)[2], base::Problem& problem) {
  const std::vector<std::string> parts = parts_of(between);
  bool good = parts.size() == 2;
  for (int i = 0; good && i < 2; ++i) {
    int64_t number = -1;
    good = base::parse_number(parts[static_cast<size_t>(i)], base::Unit::none, number).empty() && number >= 0 &&
           number < 65536;
    pair[i] = static_cast<int>(number);
  }
  if (good) return true;
  problem = {.cause = "--between cannot be used: " + base::quoted(between) + " is no pair of processors",
             .remedy = "write it as in --between 0,1; weft info --topo lists them"};
  return false;
}

// Settings about paths are not for the measurement.
void forget_settings() {
  for (const char* name : {"WEFT_EAGER_LIMIT", "WEFT_R0_LIMIT", "WEFT_RENDEZVOUS", "WEFT_CROSSING", "WEFT_MOCK"}) {
    unsetenv(name);
  }
}

bool measure(const std::string& between, bool quick, std::vector<PathTimes>& times, base::Problem& problem) {
  int pair[2] = {};
  if (!between.empty() && !read_pair(between, pair, problem)) return false;
  const std::string folder = own_folder();
  const std::string places = between.empty() ? "core" : std::to_string(pair[0]) + ":" + std::to_string(pair[1]);
  Words words{folder + "/mpiexec", "-q", "--bind", places, "-n", "2", folder + "/../libexec/weft/weft-measure-paths"};
  words.insert(words.end(), {quick ? "3" : "9", quick ? "500" : "5000"});
  for (int64_t bytes = 9 << 10; bytes <= 4 << 20; bytes = bytes == 9 << 10 ? 16 << 10 : bytes * 2) {
    words.push_back(std::to_string(bytes));
  }
  forget_settings();
  std::string output, wrong;
  if (!run(words, output, problem)) return false;
  if (read_path_times(output, times, wrong)) return true;
  problem = {.cause = "the measuring job printed " + base::quoted(wrong) + ", which is no result",
             .remedy = "use the weft, mpiexec and library of one installation"};
  return false;
}

void print(const std::vector<PathTimes>& times) {
  puts("     bytes   E1 buffer      R0 get   R1 stream   microseconds of half a round trip, medians");
  for (const PathTimes& one : times) {
    const double e1 = median(one.e1), r0 = median(one.r0), r1 = median(one.r1);
    const char* best = !one.e1.empty() && e1 <= std::min(r0, r1) ? "E1" : r0 <= r1 ? "R0" : "R1";
    printf("%10lld  ", static_cast<long long>(one.bytes));
    if (one.e1.empty()) {
      printf("%10s", "-");
    } else {
      printf("%10.2f", e1);
    }
    printf("  %10.2f  %10.2f   %s\n", r0, r1, best);
  }
}

// A line of a file of sysfs, empty where there is none.
std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "L1 32K"
std::vector<std::string> shared_caches(const int (&pair)[2]) {
  std::vector<std::string> caches;
  for (int index = 0; index < 16; ++index) {
    const std::string cache =
        "/sys/devices/system/cpu/cpu" + std::to_string(pair[0]) + "/cache/index" + std::to_string(index) + "/";
    base::CpuSet shared;
    const std::string list = line_of(cache + "shared_cpu_list");
    if (list.empty() || !base::parse_cpu_list(list, shared).empty() || !shared.has(pair[1])) continue;
    caches.push_back("L" + line_of(cache + "level") + " " + line_of(cache + "size"));
  }
  return caches;
}

// The times, and what follows from them.
JsonObject as_json(const std::vector<PathTimes>& times) {
  std::vector<std::string> sizes;
  for (const PathTimes& one : times) {
    JsonObject size;
    size.whole("bytes", one.bytes);
    if (!one.e1.empty()) size.value("E1", std::to_string(median(one.e1)));
    sizes.push_back(
        size.value("R0", std::to_string(median(one.r0))).value("R1", std::to_string(median(one.r1))).json());
  }
  return JsonObject()
      .text("unit", "microseconds of half a round trip, medians")
      .list("sizes", sizes)
      .text("WEFT_CROSSING", seems_near(times) ? "near" : "far")
      .whole("WEFT_EAGER_LIMIT", best_eager_limit(times));
}

}  // namespace

bool read_path_times(const std::string& output, std::vector<PathTimes>& times, std::string& wrong) {
  std::istringstream lines(output);
  while (std::getline(lines, wrong)) {
    std::istringstream line(wrong);
    int64_t bytes = 0;
    std::string path;
    std::vector<double> us;
    line >> bytes >> path;
    for (double one = 0; line >> one;) us.push_back(one);
    if (bytes < 1 || us.empty() || !line.eof()) return false;
    if (times.empty() || times.back().bytes != bytes) times.emplace_back().bytes = bytes;
    PathTimes& of = times.back();
    if (path != "E1" && path != "R0" && path != "R1") return false;
    (path == "E1" ? of.e1 : path == "R0" ? of.r0 : of.r1) = us;
  }
  for (const PathTimes& one : times) {
    wrong = "no time of " + std::to_string(one.bytes) + " bytes by R0 or R1";
    if (one.r0.empty() || one.r1.empty()) return false;
  }
  wrong = "nothing";
  return !times.empty();
}

int64_t best_eager_limit(const std::vector<PathTimes>& times) {
  int64_t limit = 0;
  for (const PathTimes& one : times) {
    if (one.e1.empty() || median(one.e1) > std::min(median(one.r0), median(one.r1))) break;
    limit = one.bytes;
  }
  return limit;
}

bool seems_near(const std::vector<PathTimes>& times) {
  int votes = 0;
  constexpr int64_t from = 64 << 10;
  for (const PathTimes& one : times) {
    if (one.bytes >= from) votes += median(one.r1) < median(one.r0) ? 1 : -1;
  }
  return votes > 0;
}

bool tune_paths(const std::string& between, bool quick, bool json, base::Problem& problem) {
  std::vector<PathTimes> times;
  if (!measure(between, quick, times, problem)) return false;
  if (json) return puts(as_json(times).json().c_str()) >= 0;
  print(times);
  const bool near = seems_near(times);
  printf("\nWEFT_CROSSING=%s     the two are %s each other now; auto, the default, follows when that changes\n",
         near ? "near" : "far", near ? "near" : "far from");
  if (const int64_t limit = best_eager_limit(times)) {
    printf("WEFT_EAGER_LIMIT=%lld     E1 is the fastest up to there\n", static_cast<long long>(limit));
  } else {
    puts("WEFT_EAGER_LIMIT=0     E1 is not the fastest above the mailbox");
  }
  return true;
}

bool show_between(const std::string& between, bool json, base::Problem& problem) {
  int pair[2] = {};
  std::vector<PathTimes> times;
  if (!read_pair(between, pair, problem) || !measure(between, true, times, problem)) return false;
  const std::vector<std::string> caches = shared_caches(pair);
  if (json) return puts(as_json(times).texts("shared_caches", caches).json().c_str()) >= 0;
  printf("Processors %d and %d share, as the kernel says:", pair[0], pair[1]);
  for (const std::string& cache : caches) printf("%s %s", &cache == caches.data() ? "" : ",", cache.c_str());
  puts(caches.empty() ? " no cache" : "");
  printf("They are %s each other: chunks in a cache (R1) %s data read where they lie (R0).\n",
         seems_near(times) ? "near" : "far from", seems_near(times) ? "beat" : "are beaten by");
  print(times);
  return true;
}

}  // namespace weft::tool
