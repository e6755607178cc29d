// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/paths.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/copy.hpp"
#include "base/cpus.hpp"
#include "base/setting.hpp"
#include "core/message/path.hpp"
#include "transport/api/memory.hpp"
#include "transport/shm/crossing.hpp"
#include "transport/shm/layout.hpp"
#include "weft/job.hpp"
#include "weft/json_object.hpp"
#include "weft/median.hpp"

namespace weft::tool {
namespace {

bool read_pair(const std::string& between, int (&pair)[2], base::Problem& problem) {
  const std::vector<std::string> parts = parts_of(between);
  bool good = parts.size() == 2;
  for (int i = 0; good && i < 2; ++i) {
    int64_t number = -1;
    good = base::parse_number(parts[static_cast<size_t>(i)], base::Unit::none, number).empty() && number >= 0 &&
           number < 65536;
    pair[i] = static_cast<int>(number);
  }
  good = good && pair[0] != pair[1];  // two ranks that spin on one processor hold each other up
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

bool measure(const std::string& between, bool quick, PathsMeasured& measured, base::Problem& problem) {
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
  if (read_paths(output, measured, wrong)) return true;
  problem = {.cause = "the measuring job printed " + base::quoted(wrong) + ", which is no result",
             .remedy = "use the weft, mpiexec and library of one installation"};
  return false;
}

void print(const std::vector<PathTimes>& times) {
  puts("     bytes   E1 buffer   R0 kernel    R1 cells   microseconds of half a round trip, medians");
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

// Two cores of a virtual machine that share an L3 pass a line in 39 ns (`weft info --paths --between 0,1`).
constexpr double most_near_ns = 130;

const char* distance_of(double line_ns) {
  return line_ns <= most_near_ns ? "near" : "far";
}

std::string text_of(int64_t bytes) {
  return bytes >= 1 << 20 ? std::to_string(bytes >> 20) + " MiB" : std::to_string(bytes >> 10) + " KiB";
}

// The two ways of a class of sizes: the times of one size of it.
struct Ways {
  std::string sizes;  // "up to 128 KiB"
  int64_t bytes;
  double cells, kernel;  // microseconds

  const char* faster() const { return cells <= kernel ? "cells" : "kernel"; }
  std::string reason() const {
    char times[96];
    snprintf(times, sizeof times, "%.1f us by cells and %.1f us by the kernel", cells, kernel);
    return text_of(bytes) + " take " + times;
  }
};

// Half of the largest size stands for a class, of the last class the largest that was measured.
std::vector<Ways> ways_of(const std::vector<PathTimes>& times) {
  using transport::shm::Crossing;
  std::vector<Ways> all;
  for (int i = 0; i < Crossing::classes; ++i) {
    const bool last = i == Crossing::classes - 1;
    const int64_t end = last ? 0 : static_cast<int64_t>(Crossing::class_ends[i]);
    for (const PathTimes& one : times) {
      if (one.bytes != (last ? times.back().bytes : end / 2)) continue;
      all.push_back({last ? "larger" : "up to " + text_of(end), one.bytes, median(one.r1), median(one.r0)});
    }
  }
  return all;
}

// The way to force if one must be: the product of the ratios decides, as each class counts the same.
const char* way_to_force(const std::vector<Ways>& ways) {
  double ratio = 1;
  for (const Ways& one : ways) ratio *= one.cells / one.kernel;
  return ratio <= 1 ? "cells" : "kernel";
}

// The memory of cells under the settings in force.
struct CellMemory {
  transport::shm::SegmentLayout layout = transport::shm::layout_for(2);
  bool shared = transport::minimum_memory();
};

// The times, and what follows from them.
JsonObject as_json(const PathsMeasured& measured) {
  std::vector<std::string> sizes, ways;
  for (const PathTimes& one : measured.sizes) {
    JsonObject size;
    size.whole("bytes", one.bytes);
    if (!one.e1.empty()) size.value("E1", std::to_string(median(one.e1)));
    sizes.push_back(
        size.value("R0", std::to_string(median(one.r0))).value("R1", std::to_string(median(one.r1))).json());
  }
  const std::vector<Ways> all = ways_of(measured.sizes);
  for (const Ways& one : all) {
    ways.push_back(JsonObject()
                       .text("sizes", one.sizes)
                       .text("way", one.faster())
                       .whole("bytes", one.bytes)
                       .value("cells", std::to_string(one.cells))
                       .value("kernel", std::to_string(one.kernel))
                       .text("why", one.reason())
                       .json());
  }
  const CellMemory cells;
  const double line = median(measured.line_ns);
  return JsonObject()
      .text("unit", "microseconds of half a round trip, medians")
      .list("sizes", sizes)
      .value("line_ns", std::to_string(line))
      .text("distance", distance_of(line))
      .text("routine", base::name_of(base::copy_routine()))
      .value("cells", JsonObject()
                          .whole("buffer_bytes", static_cast<int64_t>(cells.layout.staging_buffer))
                          .whole("buffers", cells.layout.staging_buffers)
                          .flag("shared", cells.shared)
                          .whole("least_chunk", core::least_chunk)
                          .whole("most_chunk", core::most_chunk)
                          .json())
      .list("ways", ways)
      .text("WEFT_CROSSING", "auto")
      .text("way_to_force", way_to_force(all))
      .whole("WEFT_EAGER_LIMIT", best_eager_limit(measured.sizes));
}

// The environment may have chosen a way already.
void print_forced() {
  for (const base::SettingRow* row : base::all_settings()) {
    if (std::string(row->text().name) != "WEFT_CROSSING" || row->shown() == row->shown_default()) continue;
    printf("  WEFT_CROSSING=%s is set here and forces that way for all sizes.\n", row->shown().c_str());
  }
}

// How data cross between the two cores.
void print_crossing(const PathsMeasured& measured) {
  const double line = median(measured.line_ns);
  const bool near = line <= most_near_ns;
  printf("\nA cache line takes %.0f ns from one core to the other (half a round trip): they are %s, %s.\n", line,
         distance_of(line), near ? "like cores that share a cache" : "like cores that share none");
  printf("Copies are loops of %s.\n", base::name_of(base::copy_routine()));
  const CellMemory cells;
  printf("Cells: %s %d staging buffers of %s%s; chunks have %s to %s.\n",
         cells.shared ? "the ranks of a host share" : "a rank has", cells.layout.staging_buffers,
         text_of(static_cast<int64_t>(cells.layout.staging_buffer)).c_str(),
         cells.shared ? " and have one more each" : "", text_of(core::least_chunk).c_str(),
         text_of(core::most_chunk).c_str());
  puts("Large messages while both ranks are in a call go by the faster way of their class of sizes:");
  for (const Ways& one : ways_of(measured.sizes)) {
    printf("  %-14s %s: %s\n", one.sizes.c_str(), one.faster(), one.reason().c_str());
  }
  print_forced();
}

}  // namespace

bool read_paths(const std::string& output, PathsMeasured& measured, std::string& wrong) {
  std::vector<PathTimes>& times = measured.sizes;
  std::istringstream lines(output);
  while (std::getline(lines, wrong)) {
    std::istringstream line(wrong);
    int64_t bytes = 0;
    std::string path;
    std::vector<double> values;
    const bool of_line = wrong.starts_with("line ");
    if (!of_line) line >> bytes;
    line >> path;
    for (double one = 0; line >> one;) values.push_back(one);
    if (values.empty() || !line.eof()) return false;
    if (of_line) {
      measured.line_ns = values;
      continue;
    }
    if (bytes < 1 || (path != "E1" && path != "R0" && path != "R1")) return false;
    if (times.empty() || times.back().bytes != bytes) times.emplace_back().bytes = bytes;
    PathTimes& of = times.back();
    (path == "E1" ? of.e1 : path == "R0" ? of.r0 : of.r1) = values;
  }
  for (const PathTimes& one : times) {
    wrong = "no time of " + std::to_string(one.bytes) + " bytes by R0 or R1";
    if (one.r0.empty() || one.r1.empty()) return false;
  }
  wrong = measured.line_ns.empty() ? "no time of a cache line" : "nothing";
  return !times.empty() && !measured.line_ns.empty();
}

int64_t best_eager_limit(const std::vector<PathTimes>& times) {
  int64_t limit = 0;
  for (const PathTimes& one : times) {
    if (one.e1.empty() || median(one.e1) > std::min(median(one.r0), median(one.r1))) break;
    limit = one.bytes;
  }
  return limit;
}

bool tune_paths(const std::string& between, bool quick, bool json, base::Problem& problem) {
  base::load_settings();
  PathsMeasured measured;
  if (!measure(between, quick, measured, problem)) return false;
  if (json) return puts(as_json(measured).json().c_str()) >= 0;
  print(measured.sizes);
  print_crossing(measured);
  printf(
      "\nWEFT_CROSSING=auto     the default takes the faster way and follows changes; %s is the better one to force\n",
      way_to_force(ways_of(measured.sizes)));
  if (const int64_t limit = best_eager_limit(measured.sizes)) {
    printf("WEFT_EAGER_LIMIT=%lld     E1 is the fastest up to there\n", static_cast<long long>(limit));
  } else {
    puts("WEFT_EAGER_LIMIT=0     E1 is not the fastest above the mailbox");
  }
  return true;
}

bool show_between(const std::string& between, bool json, base::Problem& problem) {
  int pair[2] = {};
  PathsMeasured measured;
  if (!read_pair(between, pair, problem) || !measure(between, true, measured, problem)) return false;
  const std::vector<std::string> caches = shared_caches(pair);
  if (json) return puts(as_json(measured).texts("shared_caches", caches).json().c_str()) >= 0;
  printf("Processors %d and %d share, as the kernel says:", pair[0], pair[1]);
  for (const std::string& cache : caches) printf("%s %s", &cache == caches.data() ? "" : ",", cache.c_str());
  puts(caches.empty() ? " no cache" : "");
  print(measured.sizes);
  print_crossing(measured);
  return true;
}

}  // namespace weft::tool
