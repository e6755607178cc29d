// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// "weft doctor": the settings of this host, or of several, that programs of MPI suffer from, each with its remedy.

#include "weft/doctor.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <map>

#include "abi/program.hpp"
#include "base/json.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "weft/colour.hpp"
#include "weft/commands.hpp"
#include "weft/job.hpp"

namespace weft::tool {
namespace {

constexpr const char* doctor_usage =
    "usage: weft doctor [--all] [--json] [--hosts a,b] [--root FOLDER] [PROGRAM [ARGUMENTS]]\n\n"
    "Looks at the settings of this host that programs of MPI suffer from, and says what to do about them. Changes\n"
    "nothing. Says too whether this installation's files are Weft's, and whether another MPI stands before it in "
    "PATH.\n"
    "With a program, also which libraries of MPI its ranks get under mpiexec, and why. The status is 0 unless\n"
    "something is marked bad.\n\n"
    "  --all           also what is as it should be\n"
    "  --json          an object with the member findings: grade, subject, state, why\n"
    "  --hosts a,b     looks at these hosts, started as ranks are, and says what differs between them\n"
    "  --root FOLDER   the system's files are copies below FOLDER: another host's, or a test's\n";

constexpr const char* grades[] = {"good", "note", "bad"};

struct Wanted {
  bool all = false;
  bool json = false;
  std::string hosts;
  std::string root;
  Words program;  // with its arguments
};

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

Findings look(const Wanted& wanted) {
  const HostFiles host(wanted.root);
  Findings findings;
  look_at_memory(host, findings);
  look_at_processors(host, findings);
  look_at_limits(host, findings);
  look_at_networks(host, findings);
  look_at_carrier(findings);
  look_at_environment(findings);
  if (wanted.root.empty()) look_at_installation(findings);
  if (!wanted.program.empty()) look_at_program(wanted.program, findings);
  return findings;
}

std::string as_json(const Findings& findings) {
  std::string text = "{\"host\": " + base::json_text(host_name()) + ", \"findings\": [";
  for (const Finding& f : findings) {
    text += &f == findings.data() ? "" : ", ";
    text += std::string("{\"grade\": \"") + grades[static_cast<int>(f.grade)] +
            "\", \"subject\": " + base::json_text(f.subject) + ", \"state\": " + base::json_text(f.state) +
            ", \"why\": " + base::json_text(f.why) + "}";
  }
  return text + "]}";
}

void print(const Findings& findings, bool all) {
  size_t hidden = 0;
  for (const Grade grade : {Grade::bad, Grade::note, Grade::good}) {
    for (const Finding& f : findings) {
      if (f.grade != grade) continue;
      if (grade == Grade::good && !all && !f.is_asked) {
        ++hidden;
        continue;
      }
      char word[8];
      snprintf(word, sizeof word, "%-5s", grades[static_cast<int>(grade)]);
      const Colour colour = grade == Grade::bad ? Colour::red : grade == Grade::note ? Colour::yellow : Colour::green;
      printf("%s %s: %s\n", coloured(word, colour).c_str(), f.subject.c_str(), f.state.c_str());
      if (!f.why.empty()) printf("      %s\n", f.why.c_str());
    }
  }
  if (hidden > 0)
    printf("%zu more %s as %s should be (--all)\n", hidden, hidden == 1 ? "is" : "are", hidden == 1 ? "it" : "they");
}

// One host's answer: a line of JSON by its `weft doctor --json`, which is another process's and read with care.
bool read_answer(const base::Json& answer, std::string& host, Findings& findings) {
  const base::Json* name = answer.find("host");
  const base::Json* list = answer.find("findings");
  if (name == nullptr || list == nullptr || list->kind != base::Json::ValueKind::list) return false;
  host = name->text;
  for (const base::Json& item : list->items) {
    const base::Json* grade = item.find("grade");
    const base::Json* subject = item.find("subject");
    const base::Json* state = item.find("state");
    const base::Json* why = item.find("why");
    if (grade == nullptr || subject == nullptr || state == nullptr || why == nullptr) return false;
    const Grade value = grade->text == "bad" ? Grade::bad : grade->text == "note" ? Grade::note : Grade::good;
    findings.push_back({value, subject->text, state->text, why->text});
  }
  return true;
}

// The subjects whose state is not the same on all hosts.
void print_differences(const std::map<std::string, Findings>& hosts) {
  std::map<std::string, std::map<std::string, std::string>> states;  // by subject and state: the hosts
  for (const auto& [host, findings] : hosts) {
    for (const Finding& f : findings) {
      std::string& names = states[f.subject][f.state];
      names += (names.empty() ? "" : ", ") + host;
    }
  }
  bool any = false;
  for (const auto& [subject, by_state] : states) {
    if (by_state.size() == 1 && hosts.size() > 1) continue;
    if (!any) puts("Different between hosts:");
    any = true;
    printf("  %s\n", subject.c_str());
    for (const auto& [state, names] : by_state) printf("    %-40s %s\n", state.c_str(), names.c_str());
  }
  if (!any) printf("Nothing that was looked at differs between the %zu hosts.\n", hosts.size());
}

int ask_hosts(const Wanted& wanted) {
  const std::string folder = own_folder();
  std::string output;
  base::Problem problem;
  Words words = {folder + "/mpiexec", "-hosts", wanted.hosts, "-n",    std::to_string(parts_of(wanted.hosts).size()),
                 folder + "/weft",    "doctor", "--json",     "--part"};
  words.insert(words.end(), wanted.program.begin(), wanted.program.end());
  if (!run(words, output, problem)) {
    problem.cause = "the hosts " + wanted.hosts + " could not be asked: " + problem.cause;
    base::tell(problem);
    return 2;
  }
  std::map<std::string, Findings> hosts;
  int status = 0;
  for (size_t at = 0; at < output.size();) {
    const size_t end = std::min(output.find('\n', at), output.size());
    const std::string line = output.substr(at, end - at);
    at = end + 1;
    base::Json answer;
    base::JsonProblem wrong;
    std::string host;
    Findings findings;
    if (line.empty() || line[0] != '{') continue;
    if (!base::parse_json(line, answer, wrong) || !read_answer(answer, host, findings)) {
      fprintf(stderr, "weft doctor: a host's answer cannot be read: %.100s\n", line.c_str());
      return 2;
    }
    if (wanted.json) {
      puts(line.c_str());
    } else {
      printf("%s\n", host.c_str());
      print(findings, wanted.all);
      putchar('\n');
    }
    status |= worst_of(findings);
    hosts[host] = findings;
  }
  if (!wanted.json) print_differences(hosts);
  return status;
}

}  // namespace

int worst_of(const Findings& findings) {
  for (const Finding& f : findings) {
    if (f.grade == Grade::bad) return 1;
  }
  return 0;
}

void show(const Findings& findings, bool json) {
  if (json) {
    puts(as_json(findings).c_str());
  } else {
    print(findings, true);
  }
}

int doctor(const Words& words) {
  Wanted wanted;
  bool part = false;  // of several hosts: the status is for failures alone
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--help" || word == "-h") {
      fputs(doctor_usage, stdout);
      return 0;
    }
    const bool valued = word == "--hosts" || word == "-hosts" || word == "--root";
    if (valued && i + 1 == words.size()) {
      fprintf(stderr, "weft doctor: %s needs a value. Remedy: see weft doctor --help\n", word.c_str());
      return 2;
    }
    if (word == "--all") {
      wanted.all = true;
    } else if (word == "--json") {
      wanted.json = true;
    } else if (word == "--part") {
      part = true;
    } else if (word == "--root") {
      wanted.root = words[++i];
    } else if (valued) {
      wanted.hosts = words[++i];
    } else if (!word.empty() && word[0] != '-') {
      wanted.program.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      break;
    } else {
      fprintf(stderr, "weft doctor: there is no option \"%.60s\". Remedy: see weft doctor --help\n", word.c_str());
      return 2;
    }
  }
  if (!wanted.root.empty() && access((wanted.root + "/proc").c_str(), R_OK) != 0) {
    fprintf(stderr, "weft doctor: there is no folder %s/proc: --root names a folder with copies of /proc and /sys\n",
            wanted.root.c_str());
    return 2;
  }
  if (!wanted.program.empty() && abi::find_program(wanted.program[0], "").empty()) {
    fprintf(stderr,
            "weft doctor: the program %s cannot be started: %s (errno %d). Remedy: name its file, ./program for one "
            "of this folder\n",
            base::quoted(wanted.program[0]).c_str(), strerror(errno), errno);
    return 2;
  }
  if (!wanted.hosts.empty()) return ask_hosts(wanted);
  const Findings findings = look(wanted);
  if (wanted.json) {
    puts(as_json(findings).c_str());
  } else {
    print(findings, wanted.all);
  }
  return part ? 0 : worst_of(findings);
}

}  // namespace weft::tool
