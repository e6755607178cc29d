// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/hosts.hpp"

#include <arpa/inet.h>
#include <pwd.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "base/setting.hpp"
#include "boot/job/environment.hpp"

namespace weft::mpiexec {
namespace {

constexpr size_t longest_host = 253;  // of a name in the DNS
constexpr int64_t most_on_host = 1 << 20;

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// A name that begins with a dash would be an option to the remote shell.
bool is_host_name(std::string_view text) {
  return !text.empty() && text.size() <= longest_host && is_alphanumeric(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alphanumeric(c) || c == '-' || c == '.' || c == '_'; });
}

constexpr std::string_view in_brackets = "[]";

// The name alone: of user@host, and of an address in brackets that is this host's.
std::string take_host_name(std::string_view text, std::string& name) {
  const size_t at = text.find('@');
  if (at != std::string_view::npos) {
    const std::string_view user = text.substr(0, at);
    const passwd* const own = getpwuid(geteuid());
    if (user.empty() || own == nullptr || user != own->pw_name) {
      return base::quoted(text) +
             " names another account than that of this process, and launchers start all ranks "
             "from one: write the host alone, and give ssh the account (User in ~/.ssh/config)";
    }
    text.remove_prefix(at + 1);
  }
  if (text.starts_with(in_brackets[0]) && text.ends_with(in_brackets[1])) {
    const std::string address(text.substr(1, text.size() - 2));
    in6_addr parsed{};
    if (inet_pton(AF_INET6, address.substr(0, address.find('%')).c_str(), &parsed) != 1) {
      return base::quoted(text) + " is no IPv6 address: write a name of the host";
    }
    if (!IN6_IS_ADDR_LOOPBACK(&parsed)) {
      return base::quoted(text) +
             " is an IPv6 address, and ranks on several hosts use IPv4: write a name of the host "
             "or its IPv4 address";
    }
    text = "localhost";
  }
  if (!is_host_name(text)) {
    return base::quoted(text) + " is no name of a host: write names or IPv4 addresses, as a,b:4";
  }
  name = text;
  return {};
}

std::string parse_ranks(std::string_view host, std::string_view number, int& ranks) {
  int64_t value = 0;
  const std::string wrong = base::parse_number(number, base::Unit::none, value);
  if (!wrong.empty())
    return "the number of ranks for " + base::quoted(host) + " cannot be used (" + wrong +
           "): write a number from 1 on";
  if (value < 1 || value > most_on_host) {
    return "the number of ranks for " + base::quoted(host) + " is out of range: write 1 to " +
           std::to_string(most_on_host);
  }
  ranks = static_cast<int>(value);
  return {};
}

void add_host(Host host, std::vector<Host>& hosts) {
  auto known = std::find_if(hosts.begin(), hosts.end(), [&](const Host& other) { return other.name == host.name; });
  if (known == hosts.end()) return hosts.push_back(std::move(host));
  const int64_t sum = std::max<int64_t>(known->ranks, 1) + std::max<int64_t>(host.ranks, 1);
  known->ranks = static_cast<int>(std::min(sum, most_on_host));
  const bool limited = known->most > 0 && host.most > 0;
  known->most = limited ? static_cast<int>(std::min<int64_t>(int64_t{known->most} + host.most, most_on_host)) : 0;
}

// "b:4", also "b" alone.
std::string parse_entry(std::string_view entry, Host& host) {
  const size_t closed = entry.rfind(in_brackets[1]);
  const size_t colon = entry.find(':', closed == std::string_view::npos ? 0 : closed);
  std::string wrong = take_host_name(entry.substr(0, colon), host.name);
  if (!wrong.empty() || colon == std::string_view::npos) return wrong;
  return parse_ranks(host.name, entry.substr(colon + 1), host.ranks);
}

std::string_view trimmed(std::string_view text) {
  constexpr const char* blanks = " \t\r";
  const size_t from = text.find_first_not_of(blanks);
  return from == std::string_view::npos ? "" : text.substr(from, text.find_last_not_of(blanks) - from + 1);
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), word) != names.end();
}

// "slots = 2 max_slots=4", as Open MPI's files have it, from the text behind the host.
std::string parse_slots(std::string_view text, Host& host) {
  constexpr const char* blanks = " \t";
  while (!text.empty()) {
    const size_t equals = text.find('=');
    const std::string_view name = trimmed(text.substr(0, equals));
    const bool slots = is_one_of(name, {"slots", "cpu", "cpus", "count"});
    const bool most = is_one_of(name, {"max_slots", "max-slots", "slots_max", "slots-max"});
    if (equals == std::string_view::npos || !(slots || most)) {
      return base::quoted(text) +
             " behind a host's name is not understood: write host:4, host slots=4 or host slots=4 "
             "max_slots=8";
    }
    text = trimmed(text.substr(equals + 1));
    const std::string_view number = text.substr(0, text.find_first_of(blanks));
    int& field = slots ? host.ranks : host.most;
    if (field != 0) return base::quoted(host.name) + " has two numbers of ranks: write one of them";
    if (std::string wrong = parse_ranks(host.name, number, field); !wrong.empty()) return wrong;
    text = trimmed(text.substr(number.size()));
  }
  if (host.ranks == 0) host.ranks = host.most;
  if (host.most == 0 || host.most >= host.ranks) return {};
  return base::quoted(host.name) + " has slots=" + std::to_string(host.ranks) +
         ", which is more than its max_slots=" + std::to_string(host.most) +
         ": write a max_slots that is not below slots";
}

std::string add_line(std::string_view line, std::vector<Host>& hosts) {
  const size_t blank = std::min(line.find_first_of(" \t"), line.size());
  Host host;
  std::string wrong = parse_entry(line.substr(0, blank), host);
  if (wrong.empty()) wrong = parse_slots(trimmed(line.substr(blank)), host);
  if (wrong.empty()) add_host(std::move(host), hosts);
  return wrong;
}

int64_t taken(const Host& host, int64_t times) {
  return host.most > 0 ? std::min<int64_t>(host.ranks * times, host.most) : host.ranks * times;
}

int64_t taken(const std::vector<Host>& hosts, int64_t times) {
  int64_t sum = 0;
  for (const Host& host : hosts) sum += taken(host, times);
  return sum;
}

bool is_here(const std::string& name, const std::string& own) {
  const auto same = [&name](const std::string& other) { return strcasecmp(name.c_str(), other.c_str()) == 0; };
  const std::string own_first = own.substr(0, own.find('.'));
  // A short name is ours when it begins our full one; so is a full name when all we know of ourselves is the short one.
  return same("localhost") || name.starts_with("127.") || same(own) || same(own_first) ||
         (own == own_first && strcasecmp(name.substr(0, name.find('.')).c_str(), own.c_str()) == 0);
}

}  // namespace

std::string parse_hosts(std::string_view text, std::vector<Host>& hosts) {
  for (;;) {
    const size_t comma = text.find(',');
    Host host;
    std::string wrong = parse_entry(text.substr(0, comma), host);
    if (wrong.empty()) add_host(std::move(host), hosts);
    if (!wrong.empty() || comma == std::string_view::npos) return wrong;
    text.remove_prefix(comma + 1);
  }
}

std::string parse_host_file(std::string_view text, std::vector<Host>& hosts) {
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = trimmed(line.substr(0, line.find('#')));
    std::string wrong = line.empty() ? "" : add_line(line, hosts);
    if (!wrong.empty()) return "line " + std::to_string(number) + ": " + wrong;
  }
  return hosts.empty() ? "it names no host" : "";
}

std::string read_host_file(const std::string& path, std::vector<Host>& hosts) {
  constexpr size_t most = 16 << 20;
  std::string text;
  size_t length = 0;
  FILE* file = fopen(path.c_str(), "re");
  int error = file ? 0 : errno;
  while (error == 0) {
    text.resize(length + (1 << 16));
    const size_t count = fread(text.data() + length, 1, text.size() - length, file);
    length += count;
    if (ferror(file) != 0) error = errno;
    if (length > most) error = EFBIG;
    if (count == 0) break;
  }
  if (file) fclose(file);
  if (error != 0) return "cannot read the file of hosts " + base::quoted(path) + ": " + strerror(error);
  text.resize(length);
  std::string wrong = parse_host_file(text, hosts);
  return wrong.empty() ? wrong : "the file of hosts " + base::quoted(path) + ", " + wrong;
}

bool all_are_here(const std::vector<Host>& hosts, const std::string& own) {
  return std::all_of(hosts.begin(), hosts.end(), [&own](const Host& host) { return is_here(host.name, own); });
}

std::string spread(std::vector<Host>& hosts, int ranks, bool oversubscribe) {
  int64_t named = 0;
  int open = 0;  // hosts without a number
  for (const Host& host : hosts) {
    named += host.ranks;
    open += host.ranks == 0;
  }
  if (open == 0 && named < ranks && !oversubscribe) {
    return std::to_string(ranks) + " ranks are more than the " + std::to_string(named) + " that the hosts take (" +
           listed(hosts) + "): name more hosts, leave out the numbers, or add --oversubscribe";
  }
  int64_t times = 1;  // the least with which the hosts take all ranks
  if (open == 0 && named < ranks) {
    if (taken(hosts, ranks) < ranks) {
      return std::to_string(ranks) + " ranks are more than the " + std::to_string(taken(hosts, ranks)) +
             " that max_slots of the hosts allow: name more hosts, or leave max_slots out";
    }
    for (int64_t more = ranks; times < more;) {
      const int64_t middle = (times + more) / 2;
      if (taken(hosts, middle) >= ranks) {
        more = middle;
      } else {
        times = middle + 1;
      }
    }
  }
  int64_t rest = std::max<int64_t>(ranks - named, 0);  // for the hosts without a number, as evenly as it goes
  int64_t left = ranks;
  for (Host& host : hosts) {
    int64_t share = taken(host, times);
    if (host.ranks == 0 && open > 0) {
      share = (rest + open - 1) / open;
      rest -= share;
      --open;
    }
    host.ranks = static_cast<int>(std::min(share, left));
    left -= host.ranks;
  }
  std::erase_if(hosts, [](const Host& host) { return host.ranks == 0; });
  return {};
}

std::string limit_hosts(std::vector<Host>& hosts, int most, bool all) {
  for (Host& host : hosts) {
    if (all && host.ranks > 0 && host.ranks < most) {
      return base::quoted(host.name) + " takes " + std::to_string(host.ranks) + " ranks, fewer than the " +
             std::to_string(most) + " that each host is to have (-N): raise its number, or add --oversubscribe";
    }
    host.ranks = host.ranks == 0 ? most : std::min(host.ranks, most);
    host.most = host.most == 0 ? most : std::min(host.most, most);
  }
  return {};
}

void deal_in_turn(std::vector<Host>& hosts, int ranks) {
  std::vector<Host> dealt = hosts;
  for (Host& host : dealt) host.ranks = 0;
  for (int left = ranks, before = 0; left > 0;) {
    before = left;
    for (size_t i = 0; i < hosts.size() && left > 0; ++i) {
      if (hosts[i].ranks > 0 && dealt[i].ranks == hosts[i].ranks) continue;
      ++dealt[i].ranks;
      --left;
    }
    if (left == before) return;
  }
  std::erase_if(dealt, [](const Host& host) { return host.ranks == 0; });
  hosts = std::move(dealt);
}

int places_of(const std::vector<Host>& hosts, int ranks) {
  int64_t places = 0;
  for (const Host& host : hosts) places += std::max(host.ranks, 1);
  return static_cast<int>(std::clamp<int64_t>(places, ranks, boot::most_ranks));
}

std::string listed(const std::vector<Host>& hosts) {
  std::string list;
  for (const Host& host : hosts) {
    list += (list.empty() ? "" : ",") + host.name;
    if (host.ranks > 0) list += ":" + std::to_string(host.ranks);
  }
  return list;
}

}  // namespace weft::mpiexec
