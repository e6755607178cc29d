// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// "weft selftest": whether this installation works on this host. Ranks are started and exchange data by each way; the
// files of the installation are looked at, and what other installations put before or over them.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "abi/elf.hpp"
#include "abi/face.hpp"
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

std::string real_file(const std::string& path) {
  char* const real = realpath(path.c_str(), nullptr);
  std::string made = real == nullptr ? std::string() : real;
  free(real);
  return made;
}

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

// A library of this installation is Weft's when it needs libweft.so.
bool is_of_weft(const std::string& file) {
  abi::Object object;
  return abi::read_object(file, object) &&
         std::find(object.needed.begin(), object.needed.end(), "libweft.so") != object.needed.end();
}

void look_at_libraries(Findings& findings) {
  for (const abi::Face& face : abi::faces()) {
    if (face.option == nullptr) continue;
    const std::string folder = abi::folder_of(face);
    const std::string subject = std::string("programs of ") + face.label;
    const std::string file = folder + "/" + face.runtime;
    if (folder.empty()) {
      findings.push_back(
          {Grade::note, subject, std::string(face.runtime) + " is not in this installation", "they cannot be started"});
    } else if (is_of_weft(file)) {
      findings.push_back({Grade::good, subject, file, ""});
    } else {
      findings.push_back({Grade::bad, subject, file + " is not Weft's",
                          "another installation has written over it: install Weft again"});
    }
    // Modules of Python look here, and so do the files of other MPIs' wheels.
    const std::string beside = own_folder() + "/../lib/" + face.runtime;
    if (access(beside.c_str(), F_OK) != 0 || is_of_weft(beside)) continue;
    findings.push_back({Grade::bad, "lib", real_file(beside) + " is another MPI's",
                        "a package that was installed later has written it: programs that start without mpiexec run on "
                        "that MPI. Install Weft again, or remove the other package"});
  }
}

// Launchers and wrappers that a shell would start instead of ours.
void look_at_path(Findings& findings) {
  const std::string own = real_file(own_folder());
  const char* const path = getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  std::set<std::string> found;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const std::string folder = rest.substr(0, end);
    rest.erase(0, std::min(end + 1, rest.size()));
    const std::string real = real_file(folder);
    if (real == own) break;
    if (real.empty()) continue;
    for (const char* const name : {"mpiexec", "mpirun", "mpicc"}) {
      const std::string file = folder + "/" + name;
      if (access(file.c_str(), X_OK) == 0 && found.insert(name).second && real_file(file).find(own + "/") != 0) {
        std::string why = "a shell finds it first. Put ";
        why.append(own).append(" before ").append(folder).append(" in PATH");
        findings.push_back({Grade::note, std::string("another ") + name, file, why});
      }
    }
  }
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
  look_at_libraries(findings);
  look_at_path(findings);
  show(findings, json);
  return worst_of(findings);
}

}  // namespace weft::tool
