// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/handover.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/job/environment.hpp"
#include "boot/job/mpiexec_settings.hpp"
#include "mpiexec/launch.hpp"
#include "mpiexec/process.hpp"
#include "mpiexec/supervisor.hpp"

namespace weft::mpiexec {
namespace {

using Words = std::vector<std::string>;

constexpr int status_mistake = 2;

void tell(const base::Problem& problem) {
  fprintf(stderr, "weft: mpiexec: %s\n", base::describe(problem).c_str());
}

// The file itself: "mpiexec" may be a link to mpiexec.hydra.
std::string resolved(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  std::string out = real ? real : path;
  free(real);
  return out;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
}

bool tell_kind(const std::string& path, Remote& kind) {
  for (const std::string& file : {path, resolved(path)}) {
    const std::string name = file.substr(file.rfind('/') + 1);
    kind = name.find("hydra") != std::string::npos ? Remote::hydra : Remote::prterun;
    if (kind == Remote::hydra || name.find("prterun") != std::string::npos) return true;
  }
  return false;
}

void add(Words& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more.begin(), more.end());
}

// Threads that were asked for, with a core each.
bool binds_threads(const Command& command) {
  return command.threads_asked && topo::is_by_core(command.binding.binding);
}

const char* binding_of(const Command& command) {
  switch (command.binding.binding) {
    case topo::Binding::core:
    case topo::Binding::pack:
      return "core";
    case topo::Binding::numa:
      return "numa";
    default:
      return "none";
  }
}

// Settings for which a launcher has no option, or only one for all programs, go through env.
void add_env(Words& words, const Program& program, bool with_folder, bool with_variables) {
  const bool folder = with_folder && !program.folder.empty();
  const bool variables = with_variables && !program.variables.empty();
  if (!folder && !variables) return;
  words.emplace_back("env");
  if (folder) words.push_back("--chdir=" + program.folder);
  if (!variables) return;
  for (const Variable& v : program.variables) words.push_back(v.first + "=" + v.second);
}

// The hosts in a file without a name, which lasts as long as it is open. Intel's Hydra takes numbers of ranks from
// nowhere else. -1 and errno when there can be none.
int make_hosts_file(const std::vector<Host>& hosts) {
  std::string text;
  for (const Host& host : hosts) text += host.name + ":" + std::to_string(host.ranks) + "\n";
  const int fd = memfd_create("weft-hosts", 0);
  if (fd < 0) return fd;
  if (write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) return -1;
  return fd;
}

Words hydra_words(const Command& command, const RemoteLauncher& launcher) {
  Words words{launcher.path};
  if (!launcher.shell.empty()) add(words, {"-launcher", "ssh", "-launcher-exec", launcher.shell});
  add(words, {"-machinefile", launcher.hosts_file});
  if (command.tag_output) words.emplace_back("-prepend-rank");
  if (binds_threads(command)) {
    add(words, {"-bind-to", "core:" + std::to_string(command.binding.threads)});
  } else if (command.binding_asked) {
    add(words, {"-bind-to", binding_of(command)});
  }
  for (const Variable& v : command.variables) add(words, {"-genv", v.first, v.second});
  bool first = true;
  for (const Program& program : command.programs) {
    if (!first) words.emplace_back(":");
    first = false;
    add(words, {"-n", std::to_string(program.ranks)});
    for (const Variable& v : program.variables) add(words, {"-env", v.first, v.second});
    add_env(words, program, true, false);
    words.insert(words.end(), program.words.begin(), program.words.end());
  }
  return words;
}

// Variables of this host or this shell alone, variables of the launcher itself, and names that options cannot hold,
// such as those of functions that shells export.
bool stays_here(const std::string& name) {
  constexpr const char* names[] = {"_", "HOSTNAME", "OLDPWD", "PWD", "SHLVL"};
  constexpr const char* beginnings[] = {"PMIX_", "PRTE_", "SSH_"};
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  return !plain || std::any_of(std::begin(names), std::end(names), [&](const char* n) { return name == n; }) ||
         std::any_of(std::begin(beginnings), std::end(beginnings), [&](const char* b) { return name.starts_with(b); });
}

// prterun passes on nothing by itself. Each variable is named once, as it does not take two values for one.
Words exports(const Command& command, const Words& inherited) {
  constexpr const char* library_path = "LD_LIBRARY_PATH";
  Words words;
  const auto given = [&command](const std::string& name) {
    return std::any_of(command.variables.begin(), command.variables.end(),
                       [&name](const Variable& v) { return v.first == name; });
  };
  for (const std::string& name : inherited) {
    if (!stays_here(name) && !given(name) && name != library_path) add(words, {"-x", name});
  }
  // prterun puts folders of its own in front of it on other hosts, where ranks might find another MPI.
  if (!given(library_path)) {
    const char* folders = getenv(library_path);
    add(words, {"-x", std::string(library_path) + "=" + (folders ? folders : "")});
  }
  for (const Variable& v : command.variables) add(words, {"-x", v.first + "=" + v.second});
  return words;
}

Words prterun_words(const Command& command, const RemoteLauncher& launcher, const Words& inherited) {
  // Without its prefix a PRRTE that was moved looks for its daemon where it was built for.
  Words words{launcher.path, "--prefix", folder_of(folder_of(resolved(launcher.path)))};
  if (command.allow_root) words.emplace_back("--allow-run-as-root");
  if (!launcher.shell.empty()) add(words, {"--prtemca", "plm_ssh_agent", launcher.shell});
  add(words, {"--host", listed(command.hosts)});
  if (command.tag_output) add(words, {"--output", "tag"});
  if (binds_threads(command)) add(words, {"--map-by", "slot:PE=" + std::to_string(command.binding.threads)});
  add(words, {"--bind-to", command.binding_asked || binds_threads(command) ? binding_of(command) : "none"});
  const Words exported = exports(command, inherited);
  bool first = true;
  for (const Program& program : command.programs) {
    if (!first) words.emplace_back(":");
    first = false;
    add(words, {"-n", std::to_string(program.ranks)});
    if (!program.folder.empty()) add(words, {"--wdir", program.folder});
    // A variable that one program exports may reach the others too, so -x is for variables that all have alike.
    words.insert(words.end(), exported.begin(), exported.end());
    add_env(words, program, false, true);
    words.insert(words.end(), program.words.begin(), program.words.end());
  }
  return words;
}

// Variables for OpenMP that no one has given yet, for all programs.
void add_openmp(Command& job) {
  const topo::Places places = binds_threads(job) ? topo::Places::cores : topo::Places::unsaid;
  std::vector<Variable> added = openmp_variables(job, job.programs[0], places);
  std::erase_if(added, [&job](const Variable& v) {
    return std::any_of(job.programs.begin(), job.programs.end(),
                       [&](const Program& program) { return job.variable(program, v.first) != nullptr; });
  });
  job.variables.insert(job.variables.end(), added.begin(), added.end());
}

// By which `weft why` finds the ranks of this job on each host.
std::string job_of_this_process() {
  char host[65] = "";
  gethostname(host, sizeof host - 1);
  return std::string(host) + "-" + std::to_string(getpid());
}

bool counts_calls(const Command& job) {
  const char* const given = job.variable(job.programs.front(), "WEFT_STATS");
  const std::string level = given != nullptr ? given : "";
  return level == "summary" || level == "calls" || level == "full";
}

void tell_of_statistics(int status) {
  tell(
      {.cause = "the job ended with status " + std::to_string(status) +
                ": if that was before MPI_Finalize, where ranks on several hosts gather their statistics (WEFT_STATS), "
                "there are none",
       .remedy = "ask while the job runs: weft stats PID on a host shows the calls of one of its processes there"});
}

// Options that Weft has on this host alone, and that scripts give for any host.
void tell_of_this_host_alone(Command job) {
  job.ignored.clear();
  if (job.report_bindings) job.ignore("--report-bindings", "mpiexec knows the layout of this host alone");
  if (job.merge_output)
    job.ignore("--merge-stderr-to-stdout", "the launcher of other hosts keeps both apart, and 2>&1 joins them");
  const auto is_open = [](const Host& host) { return host.ranks == 0; };
  if (job.no_oversubscribe && std::any_of(job.hosts.begin(), job.hosts.end(), is_open))
    job.ignore("--nooversubscribe", "a host without a number takes any number of ranks (-hosts a:4 gives one)");
  tell_ignored(job);
}

// The ranks take their numbers from host to host by themselves.
std::string number_by_node(Command& job) {
  if (!job.ranks_by_node.value_or(job.maps_by_node)) return {};
  constexpr const char* method = "WEFT_RANK_REORDER_METHOD";
  const char* const given = job.variable(job.programs.front(), method);
  if (given == nullptr) job.variables.emplace_back(method, "0");
  if (given == nullptr || strcmp(given, "0") == 0) return {};
  return std::string("--map-by or --rank-by node numbers ranks from host to host, and ") + method + "=" + given +
         " in another way";
}

// "a,b"
std::string names_of(const std::vector<Host>& hosts) {
  std::string names;
  for (const Host& host : hosts) names.append(names.empty() ? "" : ",").append(host.name);
  return names;
}

}  // namespace

std::string find_remote_launcher(const std::string& wanted, RemoteLauncher& launcher) {
  if (!wanted.empty()) {
    launcher.path = find_program(wanted, "");
    if (launcher.path.empty()) return "WEFT_REMOTE_LAUNCHER=" + wanted + " is no program that can be started";
    if (tell_kind(launcher.path, launcher.kind)) return {};
    return "WEFT_REMOTE_LAUNCHER=" + wanted + " is neither mpiexec.hydra nor prterun";
  }
  for (const char* name : {"mpiexec.hydra", "prterun"}) {
    launcher.path = find_program(name, "");
    if (!launcher.path.empty() && tell_kind(launcher.path, launcher.kind)) return {};
  }
  return "there is neither mpiexec.hydra nor prterun in PATH";
}

Words translate(const Command& command, const RemoteLauncher& launcher, const Words& inherited) {
  return launcher.kind == Remote::hydra ? hydra_words(command, launcher) : prterun_words(command, launcher, inherited);
}

int hand_over(const Command& command) {
  base::load_known_settings();
  Command job = command;
  const int universe = std::max(job.universe != 0 ? job.universe : places_of(job.hosts, job.ranks()), job.ranks());
  tell_of_this_host_alone(job);
  if (job.maps_by_node) deal_in_turn(job.hosts, job.ranks());
  if (const std::string wrong = spread(job.hosts, job.ranks(), job.oversubscribe); !wrong.empty()) {
    tell({.cause = wrong});
    return status_mistake;
  }
  if (const std::string wrong = number_by_node(job); !wrong.empty()) {
    tell({.cause = wrong, .remedy = "leave one of them out"});
    return status_mistake;
  }
  if (job.binding.binding == topo::Binding::list) {
    tell({.cause = "--bind with a list of processors is for ranks on this host alone",
          .remedy = "use --bind core, numa or none"});
    return status_mistake;
  }
  if (job.show_layout) {
    tell({.cause = "--show-layout knows this host alone, and ranks start on others (" + listed(job.hosts) + ")",
          .remedy = "leave it out, or use it without -hosts, and with --machine for another machine"});
    return status_mistake;
  }
  if (job.threads_asked) add_openmp(job);
  if (job.binding.reserve > 0) job.variables.emplace_back("WEFT_RESERVE_CORES", std::to_string(job.binding.reserve));
  const std::string job_id = job_of_this_process();
  job.variables.emplace_back(boot::variable::job_id, job_id);
  job.variables.emplace_back(boot::variable::universe_size, std::to_string(universe));
  RemoteLauncher launcher;
  if (const std::string wrong = find_remote_launcher(boot::remote_launcher(), launcher); !wrong.empty()) {
    tell({.cause = "cannot start ranks on other hosts (" + listed(job.hosts) + "): " + wrong,
          .remedy =
              "install Hydra (Debian: apt-get install mpich) or PRRTE (apt-get install prrte), or name the program "
              "with WEFT_REMOTE_LAUNCHER; without -hosts all ranks start here"});
    return status_not_found;
  }
  if (launcher.kind == Remote::hydra) {
    const int fd = make_hosts_file(job.hosts);
    if (fd < 0) {
      tell({.cause = "cannot write the hosts down for Hydra", .error = errno, .remedy = "check ulimit -n"});
      return status_not_started;
    }
    launcher.hosts_file = "/proc/self/fd/" + std::to_string(fd);
  }
  launcher.shell = boot::remote_shell();
  Environment environment;
  const Words words = translate(job, launcher, environment.all_names());
  const int status = supervise(words, environment, job.timeout_us, {.hosts = names_of(job.hosts), .name = job_id});
  if (status != 0 && counts_calls(job)) tell_of_statistics(status);
  return status;
}

}  // namespace weft::mpiexec
