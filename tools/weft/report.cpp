// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>

#include "base/setting.hpp"
#include "weft/commands.hpp"
#include "weft/report_page.hpp"
#include "weft/text_file.hpp"

namespace weft::tool {
namespace {

constexpr const char* usage =
    "usage: weft report FILE [FILE] [-o FILE.html] [--measured FILE]\n\n"
    "Writes a page about the statistics of a run (the file of WEFT_STATS_FILE), or about two runs in comparison.\n\n"
    "  -o, --output FILE  the page; weft-report.html otherwise\n"
    "  --measured FILE    of weft tune, for the advice about algorithms (weft advice --help)\n"
    "  -h, --help         this\n";

int refuse(const base::Problem& problem) {
  fprintf(stderr, "weft: report: %s\n", base::describe(problem).c_str());
  return 2;
}

}  // namespace

int report(const Words& words) {
  std::string page = "weft-report.html";
  std::string measured;
  Words files;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "-h" || word == "--help") return fputs(usage, stdout) < 0 ? 1 : 0;
    if (word == "-o" || word == "--output" || word == "--measured") {
      if (i + 1 == words.size() || words[i + 1].empty()) {
        return refuse({.cause = word + " needs the name of a file", .remedy = "write it as in -o report.html"});
      }
      (word == "--measured" ? measured : page) = words[i + 1];
      ++i;
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
  printf("%s\n", page.c_str());
  return 0;
}

}  // namespace weft::tool
