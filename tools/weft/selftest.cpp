// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// "weft selftest": whether this installation works on this host. Ranks are started and exchange data by each way, and
// the files of the installation are looked at.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "weft/commands.hpp"
#include "weft/doctor.hpp"
#include "weft/job.hpp"

namespace weft::tool {
namespace {

constexpr const char* selftest_usage =
    "usage: weft selftest [-n RANKS] [--json]\n\n"
    "Tries this installation on this host, in some seconds: ranks start, messages of each size come through, windows\n"
    "and files work; the libraries are there and Weft's; no other MPI stands in front of them. The status is 0 unless\n"
    "something is marked bad.\n\n"
    "  -n RANKS   how many ranks it starts; 4\n"
    "  --json     an object with the member findings: grade, subject, state, why\n";

// Lines "good NAME" and "bad NAME: WHAT" of the ranks' program.
void take_lines(const std::string& output, Findings& findings) {
  for (size_t at = 0; at < output.size();) {
    const size_t end = std::min(output.find('\n', at), output.size());
    const std::string line = output.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("good ")) {
      findings.push_back({Grade::good, line.substr(5), "works", ""});
    } else if (line.starts_with("bad ")) {
      const size_t colon = std::min(line.find(": "), line.size());
      findings.push_back(
          {Grade::bad, line.substr(4, colon - 4), "does not work", line.substr(std::min(colon + 2, line.size()))});
    }
  }
}

void try_ranks(const std::string& ranks, Findings& findings) {
  const char* const temporary = getenv("TMPDIR");
  const std::string folder = own_folder();
  const Words words{folder + "/mpiexec",
                    "-q",
                    "--oversubscribe",
                    "-n",
                    ranks,
                    folder + "/../libexec/weft/weft-selftest",
                    temporary != nullptr && *temporary != 0 ? temporary : "/tmp",
                    ranks};
  std::string output;
  base::Problem problem;
  const bool ended = run(words, output, problem);
  take_lines(output, findings);
  if (ended) return;
  findings.push_back({Grade::bad, "a job of " + ranks + " ranks", problem.cause,
                      problem.remedy.empty() ? "weft doctor says what this host lacks" : problem.remedy});
}

}  // namespace

int selftest(const Words& words) {
  std::string ranks = "4";
  bool json = false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--help" || words[i] == "-h") return fputs(selftest_usage, stdout) < 0 ? 1 : 0;
    if (words[i] == "--json") {
      json = true;
    } else if (words[i] == "-n" && i + 1 < words.size() &&
               words[i + 1].find_first_not_of("0123456789") == std::string::npos && !words[i + 1].empty() &&
               words[i + 1].size() < 5 && words[i + 1] != "0") {
      ranks = words[++i];
    } else {
      fprintf(stderr, "weft selftest: \"%.60s\" is no option, or has no value. Remedy: see weft selftest --help\n",
              words[i].c_str());
      return 2;
    }
  }
  Findings findings;
  try_ranks(ranks, findings);
  look_at_installation(findings);
  show(findings, json);
  return worst_of(findings);
}

}  // namespace weft::tool
