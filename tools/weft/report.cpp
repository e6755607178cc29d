// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdio>

#include "base/setting.hpp"
#include "weft/advice_lines.hpp"
#include "weft/commands.hpp"
#include "weft/json_object.hpp"
#include "weft/report_page.hpp"
#include "weft/text_file.hpp"

namespace weft::tool {
namespace {

constexpr const char* report_usage =
    "usage: weft report FILE [FILE] [-o FILE.html] [--measured FILE] [--json]\n\n"
    "Writes a page about the statistics of a run (the file of WEFT_STATS_FILE), or about two runs in comparison.\n\n"
    "  -o, --output FILE  the page; weft-report.html otherwise\n"
    "  --measured FILE    of weft tune, for the advice about algorithms (weft advice --help)\n"
    "  --json             prints what the page adds to its files: the advice, and the comparison\n"
    "  -h, --help         this\n";

int refuse(const base::Problem& problem) {
  fprintf(stderr, "weft: report: %s\n", base::describe(problem).c_str());
  return 2;
}

// The rest of the page is in its files, which are JSON.
std::string as_json(const std::string& page, const std::vector<RunStatistics>& runs, const Machine& machine) {
  std::vector<std::string> files;
  files.reserve(runs.size());
  for (const RunStatistics& run : runs) {
    files.push_back(JsonObject().text("file", run.path).texts("advice", advice_lines(run, machine)).json());
  }
  JsonObject answer;
  answer.text("page", page).list("runs", files);
  if (runs.size() < 2) return answer.json();
  std::vector<std::string> changes;
  for (const Change& change : compare(runs[0], runs[1])) {
    const auto seconds = [](double number) { return std::isfinite(number) ? std::to_string(number) : "null"; };
    changes.push_back(JsonObject()
                          .text("of", change.name)
                          .value("before", seconds(change.before))
                          .value("after", seconds(change.after))
                          .json());
  }
  return answer.list("comparison", changes).json();
}

}  // namespace

int report(const Words& words) {
  std::string page = "weft-report.html";
  std::string measured;
  Words files;
  bool json = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "-h" || word == "--help") return fputs(report_usage, stdout) < 0 ? 1 : 0;
    if (word == "-o" || word == "--output" || word == "--measured") {
      if (i + 1 == words.size() || words[i + 1].empty()) {
        return refuse({.cause = word + " needs the name of a file", .remedy = "write it as in -o report.html"});
      }
      (word == "--measured" ? measured : page) = words[i + 1];
      ++i;
    } else if (word == "--json") {
      json = true;
    } else if (!word.empty() && word[0] == '-') {
      return refuse({.cause = base::quoted(word) + " is not known", .remedy = "see weft report --help"});
    } else {
      files.push_back(word);
    }
  }
  if (files.empty() || files.size() > 2) {
    return refuse({.cause = std::to_string(files.size()) + " files of statistics are given",
                   .remedy = "give one, or two to compare them"});
  }
  std::vector<RunStatistics> runs(files.size());
  Machine machine;
  base::Problem problem;
  if (!measured.empty() && !read_machine(measured, machine, problem)) return refuse(problem);
  for (size_t i = 0; i < files.size(); ++i) {
    if (!read_statistics(files[i], runs[i], problem)) return refuse(problem);
  }
  if (!write_text("report", "-o", page, page_of(runs, machine))) return 1;
  puts(json ? as_json(page, runs, machine).c_str() : page.c_str());
  return 0;
}

}  // namespace weft::tool
