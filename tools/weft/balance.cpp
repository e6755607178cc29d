// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/balance.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <set>

namespace weft::tool {
namespace {

using Ranks = std::vector<int32_t>;

size_t at(int32_t n) {
  return static_cast<size_t>(n);
}

Ranks listed(std::vector<Ranks>& members) {
  Ranks ranks;
  for (Ranks& of_host : members) {
    std::sort(of_host.begin(), of_host.end());
    ranks.insert(ranks.end(), of_host.begin(), of_host.end());
  }
  return ranks;
}

class Trade {
 public:
  Trade(const Traffic& traffic, const Ranks& hosts, const Ranks& ranks)
      : traffic_(traffic), members_(hosts.size()), host_(ranks.size()), load_(hosts.size()) {
    size_t slot = 0;
    for (size_t h = 0; h < hosts.size(); ++h) {
      for (int32_t i = 0; i < hosts[h]; ++i) {
        const int32_t rank = ranks[slot++];
        members_[h].push_back(rank);
        host_[at(rank)] = static_cast<int32_t>(h);
        load_[h] += seconds(rank);
      }
    }
    for (size_t h = 0; h < hosts.size(); ++h) by_load_.emplace(load_[h], static_cast<int32_t>(h));
    for (int32_t r = 0; r < traffic.ranks; ++r) {
      for (const Link& link : traffic.of(r)) {
        if (host_[at(link.to)] != host_[at(r)]) leaving_ += static_cast<double>(link.bytes) / 2;
      }
    }
    const double sum = std::accumulate(load_.begin(), load_.end(), 0.0);
    mean_ = sum / static_cast<double>(hosts.size());
  }

  Ranks run() {
    std::vector<Swap> swaps;
    double least = cost();
    size_t kept = 0;
    for (Swap swap; mean_ > 0 && best(swap);) {
      apply(swap);
      swaps.push_back(swap);
      if (cost() >= least) continue;
      least = cost();
      kept = swaps.size();
    }
    for (size_t i = swaps.size(); i-- > kept;) apply({.one = swaps[i].other, .other = swaps[i].one});
    return listed(members_);
  }

 private:
  struct Swap {
    int32_t one = 0;    // of the busiest host
    int32_t other = 0;  // of another
  };

  [[nodiscard]] double seconds(int32_t rank) const { return traffic_.user_seconds[at(rank)]; }
  [[nodiscard]] double cost() const {
    const double share = traffic_.bytes == 0 ? 0 : leaving_ / static_cast<double>(traffic_.bytes);
    return share + by_load_.rbegin()->first / mean_ - 1;
  }
  // Bytes between a rank and the others of a host.
  [[nodiscard]] double bytes_to(int32_t rank, int32_t host) const {
    double bytes = 0;
    for (const Link& link : traffic_.of(rank)) {
      if (host_[at(link.to)] == host) bytes += static_cast<double>(link.bytes);
    }
    return bytes;
  }
  // The bytes that a swap makes leave.
  [[nodiscard]] double loss(const Swap& swap, double one_gains, double other_gains) const {
    return 2 * static_cast<double>(traffic_.between(swap.one, swap.other)) - one_gains - other_gains;
  }

  // The swap that takes seconds off the busiest host for the fewest bytes each. False: none makes it less busy without
  // making the other host as busy, or enough have been looked at.
  bool best(Swap& found) {
    const int32_t busy = by_load_.rbegin()->second;
    double price = std::numeric_limits<double>::infinity();
    size_t partners = 0;
    constexpr size_t most_partners = 8;
    for (const auto& [load, host] : by_load_) {
      if (host == busy || partners++ == most_partners) break;
      const Ranks& ones = members_[at(busy)];
      const Ranks& others = members_[at(host)];
      std::vector<double> gains;
      gains.reserve(ones.size());
      for (const int32_t one : ones) gains.push_back(bytes_to(one, host) - bytes_to(one, busy));
      for (const int32_t other : others) {
        const double gain = bytes_to(other, busy) - bytes_to(other, host);
        for (size_t i = 0; i < ones.size(); ++i) {
          const double moved = seconds(ones[i]) - seconds(other);
          if (moved <= least_moved * mean_ || load + moved >= load_[at(busy)]) continue;
          const Swap swap{ones[i], other};
          const double lost = loss(swap, gains[i], gain) / moved;
          if (lost >= price) continue;
          price = lost;
          found = swap;
        }
      }
      looked_at_ += ones.size() * others.size();
    }
    constexpr size_t most_looked_at = 200'000'000;
    return price < std::numeric_limits<double>::infinity() && looked_at_ < most_looked_at;
  }

  void apply(const Swap& swap) {
    const int32_t from = host_[at(swap.one)];
    const int32_t to = host_[at(swap.other)];
    leaving_ += loss(swap, bytes_to(swap.one, to) - bytes_to(swap.one, from),
                     bytes_to(swap.other, from) - bytes_to(swap.other, to));
    std::replace(members_[at(from)].begin(), members_[at(from)].end(), swap.one, swap.other);
    std::replace(members_[at(to)].begin(), members_[at(to)].end(), swap.other, swap.one);
    host_[at(swap.one)] = to;
    host_[at(swap.other)] = from;
    add(from, seconds(swap.other) - seconds(swap.one));
    add(to, seconds(swap.one) - seconds(swap.other));
  }
  void add(int32_t host, double more) {
    by_load_.erase({load_[at(host)], host});
    load_[at(host)] += more;
    by_load_.emplace(load_[at(host)], host);
  }

  static constexpr double least_moved = 1e-4;  // of a host's mean load: smaller steps would take long

  const Traffic& traffic_;
  std::vector<Ranks> members_;  // by host
  Ranks host_;                  // by rank
  std::vector<double> load_;    // user seconds of a host
  std::set<std::pair<double, int32_t>> by_load_;
  double leaving_ = 0;  // bytes
  double mean_ = 0;
  size_t looked_at_ = 0;
};

}  // namespace

std::vector<int32_t> balance_hosts(const Traffic& traffic, const std::vector<int32_t>& hosts) {
  Ranks by_time(at(traffic.ranks));
  std::iota(by_time.begin(), by_time.end(), 0);
  std::stable_sort(by_time.begin(), by_time.end(),
                   [&](int32_t a, int32_t b) { return traffic.user_seconds[at(a)] > traffic.user_seconds[at(b)]; });
  using Entry = std::pair<double, int32_t>;  // load, host
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> free;
  for (size_t h = 0; h < hosts.size(); ++h) free.emplace(0, static_cast<int32_t>(h));
  std::vector<Ranks> members(hosts.size());
  for (const int32_t rank : by_time) {
    const auto [load, host] = free.top();
    free.pop();
    members[at(host)].push_back(rank);
    if (members[at(host)].size() < at(hosts[at(host)])) free.emplace(load + traffic.user_seconds[at(rank)], host);
  }
  return listed(members);
}

std::vector<int32_t> trade_hosts(const Traffic& traffic, const std::vector<int32_t>& hosts,
                                 const std::vector<int32_t>& ranks) {
  return Trade(traffic, hosts, ranks).run();
}

}  // namespace weft::tool
