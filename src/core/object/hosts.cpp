// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/object/hosts.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/setting.hpp"

namespace weft::core {

namespace {

enum Leaders : uint8_t { automatic, off };
constexpr const char* leader_choices[] = {"auto", "off"};
constinit base::ChoiceSetting leaders{
    {.name = "WEFT_COLL_LEADERS",
     .help = "in jobs on several hosts, auto: one rank of each host speaks with the other hosts in collective "
             "operations; off: ranks do not look at who shares a host",
     .change = base::Change::before_start,
     .alike = true},
    automatic,
    leader_choices,
    2};
WEFT_SETTING(leaders);

}  // namespace

bool hosts_wanted() {
  return leaders.value() == automatic;
}

namespace {

// Where the host changes from rank to rank, and the end; false when a host comes again.
bool find_runs(int32_t size, const std::function<int32_t(int32_t)>& host_of, std::vector<int32_t>& starts) {
  std::vector<int32_t> seen;
  for (int32_t r = 0; r < size; ++r) {
    const int32_t host = host_of(r);
    if (!seen.empty() && seen.back() == host) continue;
    seen.push_back(host);
    starts.push_back(r);
  }
  starts.push_back(size);
  std::sort(seen.begin(), seen.end());
  return std::adjacent_find(seen.begin(), seen.end()) == seen.end();
}

// Sorts ranks by host where those of different hosts alternate.
void sort_by_host(int32_t size, const std::function<int32_t(int32_t)>& host_of, Hosts& hosts) {
  std::vector<int32_t>& starts = hosts.starts;  // at first how many ranks each has
  starts.clear();
  hosts.host_by_rank.reserve(static_cast<size_t>(size));
  std::unordered_map<int32_t, int32_t> numbers;
  for (int32_t r = 0; r < size; ++r) {
    const auto [entry, is_new] = numbers.try_emplace(host_of(r), static_cast<int32_t>(starts.size()));
    if (is_new) {
      starts.push_back(0);
      hosts.first_by_host.push_back(r);
    }
    hosts.host_by_rank.push_back(entry->second);
    ++starts[static_cast<size_t>(entry->second)];
  }
  int32_t next = 0;
  for (int32_t& start : starts) next += std::exchange(start, next);
  std::vector<int32_t> end(starts);
  starts.push_back(size);
  hosts.order.resize(static_cast<size_t>(size));
  for (int32_t r = 0; r < size; ++r) {
    const auto h = static_cast<size_t>(hosts.host_by_rank[static_cast<size_t>(r)]);
    hosts.order[static_cast<size_t>(end[h]++)] = r;
  }
}

}  // namespace

std::unique_ptr<const Hosts> find_hosts(int32_t rank, int32_t size, const std::function<int32_t(int32_t)>& host_of) {
  auto hosts = std::make_unique<Hosts>();
  if (!find_runs(size, host_of, hosts->starts)) sort_by_host(size, host_of, *hosts);
  if (hosts->count() < 2 || hosts->count() == size) return nullptr;
  hosts->starts.shrink_to_fit();
  hosts->host = hosts->host_of(rank);
  hosts->place = hosts->place_of(rank);
  return hosts;
}

}  // namespace weft::core
