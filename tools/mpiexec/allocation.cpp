// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/allocation.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/job/environment.hpp"

namespace weft::mpiexec {
namespace {

constexpr size_t most_hosts = 100000;

std::string variable(const char* name) {
  const char* const value = getenv(name);
  return value != nullptr ? value : "";
}

bool take_number(std::string_view text, int64_t least, int64_t most, int64_t& number) {
  return base::parse_number(std::string(text), base::Unit::none, number).empty() && number >= least && number <= most;
}

// ---- Slurm: "n[01-03,7],login" and "4(x2),3".

// The words of a list, without the commas inside brackets.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

// The numbers of "01-03,7" as they stand in names: 01, 02, 03, 7.
bool read_ranges(std::string_view text, std::vector<std::string>& numbers) {
  for (const std::string& range : split(text)) {
    const size_t dash = range.find('-');
    const std::string from = range.substr(0, dash), to = dash == std::string::npos ? from : range.substr(dash + 1);
    int64_t first = 0, last = 0;
    if (!take_number(from, 0, INT32_MAX, first) || !take_number(to, first, INT32_MAX, last)) return false;
    if (static_cast<size_t>(last - first) + numbers.size() >= most_hosts) return false;
    for (int64_t i = first; i <= last; ++i) {
      const std::string digits = std::to_string(i);
      numbers.push_back(std::string(from.size() - std::min(from.size(), digits.size()), '0') + digits);
    }
  }
  return true;
}

// The names of "r[1-2]n[0-3]", in their order.
bool expand(std::string_view word, std::vector<std::string>& names) {
  std::vector<std::string> starts{""};
  while (!word.empty()) {
    const size_t open = std::min(word.find('['), word.size());
    for (std::string& start : starts) start += word.substr(0, open);
    word.remove_prefix(open);
    if (word.empty()) break;
    const size_t close = word.find(']');
    std::vector<std::string> numbers, longer;
    if (close == std::string_view::npos || !read_ranges(word.substr(1, close - 1), numbers)) return false;
    if (starts.size() * numbers.size() > most_hosts) return false;
    for (const std::string& start : starts) {
      for (const std::string& number : numbers) longer.push_back(start + number);
    }
    starts = std::move(longer);
    word.remove_prefix(close + 1);
  }
  names.insert(names.end(), starts.begin(), starts.end());
  return names.size() <= most_hosts;
}

// The numbers of "4(x2),3": 4, 4, 3.
bool read_tasks(std::string_view text, std::vector<int>& tasks) {
  for (const std::string& word : split(text)) {
    const size_t times_at = word.find("(x");
    int64_t number = 0, times = 1;
    if (!take_number(word.substr(0, times_at), 0, most_ranks, number)) return false;
    if (times_at != std::string::npos &&
        (!word.ends_with(')') || !take_number(word.substr(times_at + 2, word.size() - times_at - 3), 1,
                                              static_cast<int64_t>(most_hosts - tasks.size()), times))) {
      return false;
    }
    tasks.insert(tasks.end(), static_cast<size_t>(times), static_cast<int>(number));
  }
  return true;
}

// A host and its number, joined as -hosts takes them: this checks both.
std::string add_pair(const std::string& host, const std::string& number, Allocation& allocation) {
  return parse_hosts(host + ":" + number, allocation.hosts);
}

std::string read_slurm(Allocation& allocation) {
  const std::string nodes = variable("SLURM_JOB_NODELIST"), tasks = variable("SLURM_TASKS_PER_NODE");
  std::vector<std::string> names;
  for (const std::string& word : split(nodes)) {
    if (!expand(word, names)) return "SLURM_JOB_NODELIST=" + base::quoted(nodes) + " is no list of hosts";
  }
  std::vector<int> numbers;
  if (!tasks.empty() && (!read_tasks(tasks, numbers) || numbers.size() != names.size())) {
    return "SLURM_TASKS_PER_NODE=" + base::quoted(tasks) + " does not fit the " + std::to_string(names.size()) +
           " hosts of SLURM_JOB_NODELIST";
  }
  numbers.resize(names.size(), 1);
  for (size_t i = 0; i < names.size(); ++i) {
    if (numbers[i] == 0 || names[i].empty()) continue;
    const std::string wrong = add_pair(names[i], std::to_string(numbers[i]), allocation);
    if (!wrong.empty()) return "SLURM_JOB_NODELIST: " + wrong;
  }
  allocation.source = "SLURM_NTASKS, SLURM_JOB_NODELIST and SLURM_TASKS_PER_NODE";
  const std::string all = variable("SLURM_NTASKS");
  int64_t ranks = 0;
  if (!all.empty() && !take_number(all, 1, most_ranks, ranks)) {
    return "SLURM_NTASKS=" + base::quoted(all) + " is no number of ranks from 1 to " + std::to_string(most_ranks);
  }
  allocation.ranks = static_cast<int>(ranks);
  return {};
}

// ---- The others: words or lines with a host and its number.

std::string read_pbs(Allocation& allocation) {
  allocation.source = "PBS_NODEFILE";
  const std::string path = variable("PBS_NODEFILE");
  const std::string wrong = read_host_file(path, allocation.hosts);
  return wrong.empty() ? wrong : "PBS_NODEFILE: " + wrong;
}

// "a 4 b 2"
std::string read_lsf(Allocation& allocation) {
  allocation.source = "LSB_MCPU_HOSTS";
  std::istringstream words(variable("LSB_MCPU_HOSTS"));
  for (std::string host, number; words >> host;) {
    words >> number;
    const std::string wrong = words ? add_pair(host, number, allocation) : "the last host has no number";
    if (!wrong.empty()) return "LSB_MCPU_HOSTS: " + wrong;
  }
  return {};
}

// Each line is "host slots queue processors".
std::string read_grid_engine(Allocation& allocation) {
  allocation.source = "PE_HOSTFILE";
  const std::string path = variable("PE_HOSTFILE");
  std::ifstream file(path);
  if (!file) return "PE_HOSTFILE: " + base::quoted(path) + " cannot be read: " + strerror(errno);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string host, number;
    if (!(words >> host)) continue;
    words >> number;
    const std::string wrong = words ? add_pair(host, number, allocation) : "a host has no number";
    if (!wrong.empty()) return "PE_HOSTFILE: " + wrong;
  }
  return {};
}

struct System {
  const char* name;
  const char* sign;  // the variable that tells of it
  std::string (*read)(Allocation& allocation);
};
constexpr System systems[] = {
    {"Slurm", "SLURM_JOB_ID", read_slurm},
    {"PBS", "PBS_NODEFILE", read_pbs},
    {"LSF", "LSB_MCPU_HOSTS", read_lsf},
    {"Grid Engine", "PE_HOSTFILE", read_grid_engine},
};

// Leaves the first hosts, as many as take so many ranks, or `all`. Where all do not suffice they share the ranks.
void leave_first(std::vector<Host>& hosts, int ranks, bool all) {
  int64_t sum = 0;
  auto last = hosts.begin();
  while (last != hosts.end() && (all || sum < ranks)) sum += (last++)->ranks;
  hosts.erase(last, hosts.end());
  for (Host& host : hosts) host.ranks = sum < ranks ? 0 : host.ranks;
}

// -N on the hosts of a command or of an allocation. Without -n each must take so many.
std::string limit_ranks(const Command& command, std::vector<Host>& hosts) {
  return limit_hosts(hosts, command.per_host, !command.ranks_given && !command.oversubscribe);
}

int64_t most_ranks_on(const Command& command, const std::vector<Host>& hosts) {
  return command.per_host * static_cast<int64_t>(std::max<size_t>(hosts.size(), 1));
}

}  // namespace

std::string read_allocation(Allocation& allocation) {
  allocation = {};
  for (const System& system : systems) {
    if (variable(system.sign).empty()) continue;
    allocation.system = system.name;
    std::string wrong = system.read(allocation);
    if (!wrong.empty()) return wrong;
    int64_t sum = 0;
    for (Host& host : allocation.hosts) sum += host.ranks = std::max(host.ranks, 1);
    if (allocation.ranks == 0) allocation.ranks = static_cast<int>(std::min<int64_t>(sum, most_ranks));
    return {};
  }
  return {};
}

std::string take_allocation(Command& command, const std::string& own_host) {
  if (!command.hosts.empty() || getenv(boot::variable::rank) != nullptr) return {};
  Allocation allocation;
  const bool counts = command.programs.size() == 1 && !command.ranks_given;
  const std::string wrong = read_allocation(allocation);
  if (!wrong.empty()) {
    return counts ? "the number of ranks is not given, and the allocation of " + allocation.system +
                        " cannot be used: " + wrong + "; give -n, and -hosts for other hosts"
                  : "";
  }
  if (allocation.ranks == 0) return {};
  if (command.per_host > 0) {
    std::string low = limit_ranks(command, allocation.hosts);
    if (!low.empty()) return "the allocation of " + allocation.system + ": " + low;
    allocation.ranks = static_cast<int>(std::min<int64_t>(most_ranks_on(command, allocation.hosts), most_ranks));
  }
  if (counts) command.programs[0].ranks = allocation.ranks;
  leave_first(allocation.hosts, command.ranks(), command.maps_by_node);
  if (!all_are_here(allocation.hosts, own_host)) command.hosts = std::move(allocation.hosts);
  if (!counts || command.quiet) return {};
  fprintf(stderr, "weft: mpiexec: %d rank%s%s, as %s allows (%s); -n gives another number\n", allocation.ranks,
          allocation.ranks == 1 ? "" : "s", command.hosts.empty() ? "" : (" on " + listed(command.hosts)).c_str(),
          allocation.system.c_str(), allocation.source.c_str());
  return {};
}

std::string count_per_host(Command& command) {
  if (command.per_host == 0) return {};
  std::string low = limit_ranks(command, command.hosts);
  if (!low.empty()) return low;
  const int64_t all = most_ranks_on(command, command.hosts);
  const std::string few = std::to_string(command.per_host) + " on each host (-N), " + std::to_string(all) + " in all";
  if (command.ranks_given) {
    if (command.ranks() <= all) return {};
    return std::to_string(command.ranks()) + " ranks are more than " + few + ": start fewer, or name more hosts";
  }
  if (all > most_ranks) return few + ", are more ranks than the " + std::to_string(most_ranks) + " of a job";
  command.programs[0].ranks = static_cast<int>(all);
  return {};
}

}  // namespace weft::mpiexec
