// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/hosts.hpp"

#include <strings.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/setting.hpp"

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

std::string add_host(std::string_view name, std::string_view number, bool has_number, std::vector<Host>& hosts) {
  if (!is_host_name(name)) {
    return base::quoted(name) + " is no name of a host: write names or IPv4 addresses, as a,b:4";
  }
  int64_t ranks = 0;
  if (has_number) {
    std::string wrong = base::parse_number(number, base::Unit::none, ranks);
    if (!wrong.empty()) return "the number of ranks for " + base::quoted(name) + " cannot be used: " + wrong;
    if (ranks < 1 || ranks > most_on_host) return "the number of ranks for " + base::quoted(name) + " is out of range";
  }
  auto known = std::find_if(hosts.begin(), hosts.end(), [&](const Host& host) { return host.name == name; });
  if (known == hosts.end()) {
    hosts.push_back({std::string(name), static_cast<int>(ranks)});
  } else {
    const int64_t sum = std::max<int64_t>(known->ranks, 1) + std::max<int64_t>(ranks, 1);
    known->ranks = static_cast<int>(std::min(sum, most_on_host));
  }
  return {};
}

// "b:4", also "b" alone.
std::string add_entry(std::string_view entry, std::vector<Host>& hosts) {
  const size_t colon = entry.find(':');
  const bool has_number = colon != std::string_view::npos;
  return add_host(entry.substr(0, colon), has_number ? entry.substr(colon + 1) : "", has_number, hosts);
}

std::string_view trimmed(std::string_view text) {
  constexpr const char* blanks = " \t\r";
  const size_t from = text.find_first_not_of(blanks);
  return from == std::string_view::npos ? "" : text.substr(from, text.find_last_not_of(blanks) - from + 1);
}

std::string add_line(std::string_view line, std::vector<Host>& hosts) {
  constexpr std::string_view slots = "slots=";
  const size_t blank = line.find_first_of(" \t");
  if (blank == std::string_view::npos) return add_entry(line, hosts);
  const std::string_view rest = trimmed(line.substr(blank));
  if (!rest.starts_with(slots)) {
    return base::quoted(rest) + " behind a host's name is not understood: write host:4 or host slots=4";
  }
  return add_host(line.substr(0, blank), rest.substr(slots.size()), true, hosts);
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
    std::string wrong = add_entry(text.substr(0, comma), hosts);
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
  const int64_t times = open == 0 && named > 0 && named < ranks ? (ranks + named - 1) / named : 1;
  int64_t rest = std::max<int64_t>(ranks - named, 0);  // for the hosts without a number, as evenly as it goes
  int64_t left = ranks;
  for (Host& host : hosts) {
    int64_t share = host.ranks * times;
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

std::string listed(const std::vector<Host>& hosts) {
  std::string list;
  for (const Host& host : hosts) {
    list += (list.empty() ? "" : ",") + host.name;
    if (host.ranks > 0) list += ":" + std::to_string(host.ranks);
  }
  return list;
}

}  // namespace weft::mpiexec
