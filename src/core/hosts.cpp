// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/hosts.hpp"

#include <unordered_map>

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

std::unique_ptr<const Hosts> find_hosts(int32_t rank, std::span<const int32_t> host_of_rank) {
  const auto size = static_cast<int32_t>(host_of_rank.size());
  auto hosts = std::make_unique<Hosts>();
  std::vector<int32_t> number(host_of_rank.size());  // of each rank's host
  std::unordered_map<int32_t, int32_t> numbers;
  std::vector<int32_t>& starts = hosts->starts;  // at first how many ranks each has
  bool consecutive = true;
  for (size_t r = 0; r < number.size(); ++r) {
    const auto [entry, is_new] = numbers.try_emplace(host_of_rank[r], static_cast<int32_t>(starts.size()));
    if (is_new) starts.push_back(0);
    number[r] = entry->second;
    ++starts[static_cast<size_t>(number[r])];
    consecutive = consecutive && (r == 0 || number[r] >= number[r - 1]);
  }
  if (starts.size() < 2 || static_cast<int32_t>(starts.size()) == size) return nullptr;
  int32_t next = 0;
  for (int32_t& start : starts) {
    const int32_t ranks = start;
    start = next;
    next += ranks;
  }
  starts.push_back(size);
  starts.shrink_to_fit();
  if (!consecutive) {
    hosts->order.resize(number.size());
    std::vector<int32_t> end(starts);
    for (int32_t r = 0; r < size; ++r) {
      const auto h = static_cast<size_t>(number[static_cast<size_t>(r)]);
      hosts->order[static_cast<size_t>(end[h]++)] = r;
    }
    for (int32_t h = 0; h < hosts->count(); ++h) hosts->first_by_host.push_back(hosts->rank_at(hosts->start(h)));
    hosts->host_by_rank = std::move(number);
  }
  hosts->host = hosts->host_of(rank);
  hosts->place = hosts->place_of(rank);
  return hosts;
}

}  // namespace weft::core
