// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// `weft advice`: the changes that would make a run faster, from its statistics, and the gain of other algorithms.
#include <cstdio>

#include "base/setting.hpp"
#include "weft/advice_lines.hpp"
#include "weft/commands.hpp"
#include "weft/json_object.hpp"

namespace weft::tool {
namespace {

constexpr const char* advice_usage =
    "usage: weft advice FILE [--measured FILE] [--json]\n\n"
    "What would make a run faster: the advice in the file of its statistics (WEFT_STATS_FILE), and for each "
    "collective\n"
    "operation that took much of the time what another algorithm would take of that. Times are those that weft tune\n"
    "measured for such a job; otherwise they are simulated with the run's ranks, hosts and sizes.\n\n"
    "  --measured FILE  of weft tune: times, and the model for the simulation\n"
    "  --json           a list of texts\n"
    "  -h, --help       this\n";

int refuse(const base::Problem& problem) {
  fprintf(stderr, "weft: advice: %s\n", base::describe(problem).c_str());
  return 2;
}

void print(const std::vector<std::string>& lines, bool json) {
  if (json) return void(printf("%s\n", json_texts(lines).c_str()));
  if (lines.empty()) puts("nothing stands out");
  for (const std::string& line : lines) printf("%s\n", line.c_str());
}

}  // namespace

int advice(const Words& words) {
  std::string file;
  std::string measured;
  bool json = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "-h" || word == "--help") return fputs(advice_usage, stdout) < 0 ? 1 : 0;
    if (word == "--json") {
      json = true;
    } else if (word == "--measured") {
      if (++i == words.size() || words[i].empty()) {
        return refuse({.cause = "--measured needs the name of a file", .remedy = "give the one that weft tune wrote"});
      }
      measured = words[i];
    } else if (!word.empty() && word[0] != '-' && file.empty()) {
      file = word;
    } else {
      return refuse(
          {.cause = base::quoted(word) + " is no option, or a second file", .remedy = "see weft advice --help"});
    }
  }
  RunStatistics run;
  Machine machine;
  base::Problem problem;
  if (file.empty()) {
    return refuse({.cause = "no file of statistics is given", .remedy = "give the one that WEFT_STATS_FILE named"});
  }
  if (!measured.empty() && !read_machine(measured, machine, problem)) return refuse(problem);
  if (!read_statistics(file, run, problem)) return refuse(problem);
  print(advice_lines(run, machine), json);
  return 0;
}

}  // namespace weft::tool
