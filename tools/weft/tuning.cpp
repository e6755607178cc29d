// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <sstream>

#include "base/json.hpp"
#include "weft/median.hpp"

namespace weft::tool {
namespace {

using coll::Algorithm;

const Timed* timed_of(const Measured& measured, Algorithm algorithm) {
  for (const Timed& timed : measured.timed) {
    if (timed.algorithm == algorithm) return &timed;
  }
  return nullptr;
}

bool is_faster(const Timed& timed, const Timed& other) {
  size_t wins = 0;
  for (size_t r = 0; r < timed.us.size(); ++r) wins += timed.us[r] < other.us[r] ? 1 : 0;
  return wins * 4 >= timed.us.size() * 3;
}

bool read_line(const std::string& line, JobMeasured& job) {
  std::istringstream words(line);
  std::string first;
  words >> first;
  if (first == "job") {
    words >> job.shape.ranks >> job.shape.hosts;
    return !words.fail() && job.shape.hosts >= 1 && job.shape.ranks >= job.shape.hosts;
  }
  Measured measured{};
  std::string algorithm;
  Timed timed{};
  words >> measured.bytes >> algorithm;
  if (words.fail() || !coll::find_collective(first, measured.collective) ||
      !coll::find_algorithm(measured.collective, algorithm, timed.algorithm)) {
    return false;
  }
  for (double us = 0; words >> us;) timed.us.push_back(us);
  const bool is_new = job.sizes.empty() || job.sizes.back().collective != measured.collective ||
                      job.sizes.back().bytes != measured.bytes;
  if (is_new) job.sizes.push_back(measured);
  Measured& at = job.sizes.back();
  if (timed.us.empty() || (!at.timed.empty() && at.timed.front().us.size() != timed.us.size())) return false;
  at.timed.push_back(std::move(timed));
  return true;
}

std::string shown(double us) {
  char text[32];
  snprintf(text, sizeof text, "%.4g", us);
  return text;
}

std::string shown_bytes(int64_t bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return std::to_string(bytes >> 20) + " MiB";
  if (bytes >= 1024 && bytes % 1024 == 0) return std::to_string(bytes >> 10) + " KiB";
  return std::to_string(bytes);
}

std::string figures_of(const Measured& measured) {
  std::string text =
      "{\"bytes\": " + std::to_string(measured.bytes) + ", \"default\": \"" + name(measured.fallback) + "\", \"us\": {";
  for (const Timed& timed : measured.timed) {
    text += (&timed == measured.timed.data() ? "\"" : ", \"") + std::string(name(timed.algorithm)) +
            "\": " + shown(median_of(measured, timed.algorithm));
  }
  return text + "}}";
}

// Sizes that follow each other and take the same algorithm.
struct Stretch {
  size_t first;
  size_t end;
};

// A file's text grows by entries of a list.
void add_entry(std::string& list, const std::string& entry) {
  list += (list.empty() ? "\n    " : ",\n    ") + entry;
}

class Writer {
 public:
  void take(const JobMeasured& job) {
    for (size_t first = 0, end = 0; first < job.sizes.size(); first = end) {
      while (end < job.sizes.size() && job.sizes[end].collective == job.sizes[first].collective) ++end;
      take(job, first, end);
    }
  }

  std::string rows;
  std::string unchanged;

 private:
  // The sizes of one collective. Behind the last change the default rows hold anyway.
  void take(const JobMeasured& job, size_t first, size_t end) {
    size_t changed = end;
    while (changed > first && job.sizes[changed - 1].best == job.sizes[changed - 1].fallback) --changed;
    for (size_t from = first; from < changed;) {
      size_t to = from;
      while (to < changed && job.sizes[to].best == job.sizes[from].best) ++to;
      add_entry(rows, row(job, from, to, to == end));
      from = to;
    }
    for (size_t i = changed; i < end; ++i) {
      add_entry(unchanged, "{\"collective\": \"" + std::string(name(job.sizes[i].collective)) + "\", \"ranks\": " +
                               std::to_string(job.shape.ranks) + ", \"hosts\": " + std::to_string(job.shape.hosts) +
                               ", \"measured\": " + figures_of(job.sizes[i]) + "}");
    }
  }

  // A row ends halfway, by factors, to the next size.
  static std::string row(const JobMeasured& job, size_t from, size_t to, bool is_last) {
    const Measured& one = job.sizes[from];
    std::string text = "{\"collective\": \"" + std::string(name(one.collective)) + "\", \"ranks\": [" +
                       std::to_string(job.above) + ", " + std::to_string(job.shape.ranks) +
                       "], \"hosts\": " + std::to_string(job.shape.hosts);
    if (!is_last) {
      const double middle =
          std::sqrt(static_cast<double>(job.sizes[to - 1].bytes) * static_cast<double>(job.sizes[to].bytes));
      text += ", \"bytes\": " + std::to_string(static_cast<int64_t>(middle));
    }
    text += ", \"algorithm\": \"" + std::string(name(one.best)) + "\",\n     \"measured\": [";
    for (size_t i = from; i < to; ++i) text += (i == from ? "" : ",\n                  ") + figures_of(job.sizes[i]);
    return text + "]}";
  }
};

}  // namespace

double median_of(const Measured& measured, Algorithm algorithm) {
  const Timed* timed = timed_of(measured, algorithm);
  if (timed == nullptr) return 0;
  return median(timed->us);
}

bool read_measured(const std::string& output, JobMeasured& job, std::string& wrong) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || read_line(line, job)) continue;
    wrong = line;
    return false;
  }
  job.shape.ranks_per_host = (job.shape.ranks + job.shape.hosts - 1) / job.shape.hosts;
  job.shape.leaders = job.shape.hosts > 1 && job.shape.hosts < job.shape.ranks;
  return !job.sizes.empty();
}

void decide(JobMeasured& job) {
  constexpr double worth = 0.95;
  const coll::Choices defaults = coll::compile(job.shape, {});
  for (Measured& size : job.sizes) {
    coll::Algorithms able = coll::Algorithms::blocking();
    for (const Algorithm one : coll::algorithms_of(size.collective))
      able = able.without(one, timed_of(size, one) == nullptr);
    size.best = size.fallback = defaults.choose(size.collective, size.bytes, able);
    double least = worth * median_of(size, size.fallback);
    for (const Timed& timed : size.timed) {
      const double median = median_of(size, timed.algorithm);
      if (median > least || !is_faster(timed, *timed_of(size, size.fallback))) continue;
      least = median;
      size.best = timed.algorithm;
    }
  }
}

std::string tuning_file(const std::vector<JobMeasured>& jobs, const std::string& model, const std::string& where) {
  Writer writer;
  std::string ranks;
  for (const JobMeasured& job : jobs) {
    writer.take(job);
    ranks += (ranks.empty() ? "" : ", ") + std::to_string(job.shape.ranks);
  }
  char when[32];
  const time_t now = time(nullptr);
  tm parts{};
  strftime(when, sizeof when, "%Y-%m-%d %H:%M", localtime_r(&now, &parts));
  return "{\n  \"weft_tuning\": 1,\n  \"rows\": [" + writer.rows +
         "\n  ],\n  \"measured\": {\n    \"by\": \"weft tune, Weft " + std::string(WEFT_VERSION) + "\", \"when\": \"" +
         when + "\", \"where\": " + base::json_text(where) + ",\n    \"ranks\": [" + ranks +
         "], \"unit\": \"microseconds of a call, medians\",\n" +
         (model.empty() ? "" : "    \"model\": {" + model + "},\n") + "    \"unchanged\": [" + writer.unchanged +
         "\n  ]}\n}\n";
}

std::string changes_text(const JobMeasured& job) {
  std::string text = std::to_string(job.shape.ranks) + " ranks on " + std::to_string(job.shape.hosts) +
                     (job.shape.hosts == 1 ? " host" : " hosts") + ":\n";
  char line[160];
  std::string same;
  size_t shown_lines = 0;
  for (size_t first = 0, end = 0; first < job.sizes.size(); first = end) {
    bool changes = false;
    for (; end < job.sizes.size() && job.sizes[end].collective == job.sizes[first].collective; ++end) {
      const Measured& size = job.sizes[end];
      if (size.best == size.fallback) continue;
      changes = true;
      if (shown_lines++ == 0) {
        snprintf(line, sizeof line, "  %-15s %10s  %-14s %10s  %-14s %10s  %s\n", "collective", "bytes", "default",
                 "us", "faster", "us", "time saved");
        text += line;
      }
      const double before = median_of(size, size.fallback);
      const double after = median_of(size, size.best);
      snprintf(line, sizeof line, "  %-15s %10s  %-14s %10.4g  %-14s %10.4g  %.0f %%\n", name(size.collective),
               shown_bytes(size.bytes).c_str(), name(size.fallback), before, name(size.best), after,
               100 * (1 - after / before));
      text += line;
    }
    if (!changes) same += (same.empty() ? "" : ", ") + std::string(name(job.sizes[first].collective));
  }
  if (!same.empty()) text += "  the default stays for all sizes: " + same + "\n";
  return text;
}

}  // namespace weft::tool
