// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// weft why: the waits of a job's ranks, and the reason why it stands still. docs/guide/why.md.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "weft/colour.hpp"
#include "weft/commands.hpp"
#include "weft/job.hpp"
#include "why/findings.hpp"
#include "why/part.hpp"
#include "why/system.hpp"

namespace weft::tool {
namespace {

// The sentences about the causes stand out from the lines that explain them, which are indented.
std::string with_strong_causes(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    out.append(coloured(line, line.starts_with(' ') || line.empty() ? Colour::none : Colour::strong)).append("\n");
    at = end + 1;
  }
  return out;
}

constexpr const char* why_usage =
    "usage: weft why [JOB|PID] [--hosts A,B,...] [--json]\n\n"
    "Says why a job stands still: which ranks wait for which, and what for. JOB is a job's name (HOST-PID), PID a "
    "process\n"
    "of it, also mpiexec's; without either, all of your jobs on this host. Nothing is stopped or changed.\n\n"
    "  --hosts ... looks on these hosts, where it is started as ranks are, and judges what all of them saw together\n"
    "  --json      an object for each job, in a line\n"
    "  --help      this\n\n"
    "Status: 0 when no job is found to stand still for ever, 1 when one is (a deadlock, a rank that is stopped or has\n"
    "ended, calls that do not match), 2 when there is no such job.\n";

bool is_wanted(const why::Job& job, const std::string& wanted) {
  if (wanted.empty() || job.name == wanted) return true;
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), pid);
  return error == std::errc() && end == wanted.data() + wanted.size() && pid > 1 && why::is_of(job, pid);
}

std::string exe_of(const std::string& process) {
  char path[4096];
  const ssize_t length = readlink(("/proc/" + process + "/exe").c_str(), path, sizeof path);
  return {path, length > 0 ? static_cast<size_t>(length) : 0};
}

std::vector<why::Snapshot> look(const std::string& wanted) {
  std::vector<why::Snapshot> seen;
  for (const why::Job& job : why::find_jobs()) {
    if (!is_wanted(job, wanted)) continue;
    why::Snapshot snapshot = why::look_at(job);
    if (!snapshot.processes.empty()) seen.push_back(std::move(snapshot));
  }
  return seen;
}

// The job in which we, or our like, were started to look.
bool is_ours(const why::Job& job) {
  const std::string own = exe_of("self");
  return std::any_of(job.pids.begin(), job.pids.end(), [&](pid_t pid) { return exe_of(std::to_string(pid)) == own; });
}

// Prints the part of this host in the job of that name, or in all jobs; also in jobs whose names it does not know.
int print_parts(const std::string& name) {
  for (const why::Job& job : why::find_jobs()) {
    if (is_ours(job)) continue;
    const why::Snapshot snapshot = why::look_at(job);
    if (snapshot.processes.empty() || (!name.empty() && !snapshot.job.empty() && snapshot.job != name)) {
      continue;
    }
    fputs(as_part(snapshot).c_str(), stdout);
  }
  return 0;
}

struct Answer {
  std::vector<why::Snapshot> parts;
  base::Problem problem;
  bool good = false;
};

// One mpiexec for each host: their outputs may come in any pieces.
void ask(const std::string& host, const std::string& name, Answer& answer) {
  const std::string folder = own_folder();
  Words words = {folder + "/mpiexec", "-q", "-hosts", host, "-n", "1", folder + "/weft", "why", "--part"};
  if (!name.empty()) words.push_back(name);
  std::string output;
  answer.good = run(words, output, answer.problem);
  if (!answer.good || why::read_parts(output, answer.parts)) return;
  answer.good = false;
  answer.problem = {.cause = "its answer cannot be read", .remedy = "install the same version of Weft on all hosts"};
}

bool ask_all(const std::vector<std::string>& hosts, const std::string& name, std::vector<why::Snapshot>& parts) {
  constexpr size_t at_once = 32;
  std::vector<Answer> answers(hosts.size());
  for (size_t first = 0; first < hosts.size(); first += at_once) {
    std::vector<std::thread> threads;
    for (size_t h = first; h < std::min(first + at_once, hosts.size()); ++h) {
      threads.emplace_back([&, h] { ask(hosts[h], name, answers[h]); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  bool good = true;
  for (size_t h = 0; h < hosts.size(); ++h) {
    if (!answers[h].good) {
      answers[h].problem.cause.insert(0, "host " + base::quoted(hosts[h]) + " could not be asked: ");
      fprintf(stderr, "weft: why: %s\n", base::describe(answers[h].problem).c_str());
      good = false;
    }
    for (why::Snapshot& part : answers[h].parts) parts.push_back(std::move(part));
  }
  return good;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// Whether a job has a process that this host has found.
bool has_any(const why::Snapshot& job, const std::vector<why::Snapshot>& here) {
  return std::any_of(here.begin(), here.end(), [&](const why::Snapshot& found) {
    return std::any_of(found.processes.begin(), found.processes.end(), [&](const why::Process& own) {
      return std::any_of(job.processes.begin(), job.processes.end(),
                         [&](const why::Process& p) { return p.pid == own.pid && p.rank == own.rank; });
    });
  });
}

// False: a host did not answer.
bool look_on(const std::string& hosts, const std::string& wanted, std::vector<why::Snapshot>& seen) {
  const bool by_pid = is_number(wanted);
  const std::vector<why::Snapshot> here = by_pid ? look(wanted) : std::vector<why::Snapshot>();
  const std::string name = by_pid ? "" : wanted;
  std::vector<why::Snapshot> earlier;
  std::vector<why::Snapshot> later;
  const std::vector<std::string> list = parts_of(hosts);
  setenv("WEFT_WHY_AFTER", "0", 1);  // of the jobs that ask
  if (!ask_all(list, name, earlier) || !ask_all(list, name, later)) return false;
  seen = why::join_parts(earlier, std::move(later));
  std::erase_if(
      seen, [&](const why::Snapshot& job) { return by_pid ? !has_any(job, here) : !name.empty() && job.job != name; });
  return true;
}

int report(const std::string& wanted, const std::string& hosts, bool json) {
  std::vector<why::Snapshot> seen;
  if (hosts.empty()) {
    seen = look(wanted);
  } else if (!look_on(hosts, wanted, seen)) {
    return 2;
  }
  bool certain = false;
  for (const why::Snapshot& snapshot : seen) {
    if (&snapshot != seen.data() && !json) putchar('\n');
    fputs(json ? (as_json(snapshot) + "\n").c_str() : with_strong_causes(as_text(snapshot)).c_str(), stdout);
    for (const why::Finding& f : find_causes(snapshot)) certain |= is_certain(f.cause);
  }
  if (!seen.empty()) return certain ? 1 : 0;
  if (!hosts.empty()) {
    fprintf(
        stderr,
        "weft: why: no such job runs on %s. Remedy: name the hosts where its ranks run, as the user who started it\n",
        base::quoted(hosts).c_str());
    return 2;
  }
  const std::string which = wanted.empty()
                                ? "no job of yours runs on this host"
                                : "\"" + wanted.substr(0, 60) + "\" is no job on this host, and no process of one";
  fprintf(stderr,
          "weft why: %s. Remedy: ask on the host where its ranks run, as the user who started it; ps shows the pids\n",
          which.c_str());
  return 2;
}

}  // namespace

int why(const Words& words) {
  std::string wanted;
  std::string hosts;
  bool json = false;
  bool part = false;  // of several hosts
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--help" || word == "-h") {
      fputs(why_usage, stdout);
      return 0;
    }
    if (word == "--json") {
      json = true;
    } else if (word == "--part") {
      part = true;
    } else if (word == "--hosts" || word == "-hosts") {
      if (++i == words.size() || words[i].empty()) {
        fprintf(stderr, "weft why: %s needs the names of hosts: --hosts a,b\n", word.c_str());
        return 2;
      }
      hosts = words[i];
    } else if (!word.empty() && word[0] != '-' && wanted.empty()) {
      wanted = word;
    } else {
      fprintf(stderr, "weft why: \"%.60s\" is no option, or a second job. Remedy: see weft why --help\n", word.c_str());
      return 2;
    }
  }
  return part ? print_parts(wanted) : report(wanted, hosts, json);
}

}  // namespace weft::tool
