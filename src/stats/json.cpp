// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "stats/text.hpp"

namespace weft::stats {
namespace {

using base::format;

std::string spread_json(const Spread& s) {
  return format(
      "{\"sum\": %.9f, \"mean\": %.9f, \"deviation\": %.9f, \"min\": %.9f, \"min_rank\": %d, \"max\": %.9f, "
      "\"max_rank\": %d, \"ranks\": %lld}",
      s.sum, s.mean(), s.deviation(), s.least, s.least_rank, s.most, s.most_rank, static_cast<long long>(s.ranks));
}

std::string energy_json(const Totals& all) {
  if (!knows_energy(all)) return ",\n \"energy\": {\"unknown\": " + base::json_text(energy_problem(all)) + "}";
  return format(
      ",\n \"energy\": {\"joules\": %.6f, \"hosts\": %d, \"in_mpi\": %.6f, \"waiting_awake\": %.6f, "
      "\"processor_seconds\": %.6f, \"asleep_seconds\": %.6f}",
      all.joules, all.energy_hosts, joules_of(all, all.mpi.sum - all.asleep), joules_of(all, all.idle.sum - all.asleep),
      all.cpu, all.asleep);
}

std::string call_json(const CallSum& sum, const Totals& all, int c) {
  std::string text =
      format("{\"call\": \"%s\", \"kind\": \"%s\", \"calls\": %llu, \"bytes\": %llu, ", call_info[c].name,
             kind_names[static_cast<int>(call_info[c].kind)], wide(sum.calls), wide(sum.bytes));
  if (sum.turns > 0) text += format("\"turns\": %llu, ", wide(sum.turns));
  text += format("\"longest\": %.9f, \"longest_rank\": %d, \"seconds\": ", sum.longest, sum.longest_rank);
  text += spread_json(sum.seconds);
  text += ", \"waiting\": ";
  text += spread_json(sum.idle);
  if (knows_energy(all)) {
    text += format(", \"asleep\": %.9f, \"joules\": %.6f, \"joules_waiting\": %.6f", sum.asleep,
                   joules_of(all, sum.seconds.sum - sum.asleep), joules_of(all, sum.idle.sum - sum.asleep));
  }
  text += ", \"sizes\": [";
  bool first = true;
  for (int k = 0; k < size_classes; ++k) {
    if (sum.sizes[k] == 0) continue;
    text += format("%s[%llu, %llu]", first ? "" : ", ", k == 0 ? 0ULL : 1ULL << (k - 1), wide(sum.sizes[k]));
    first = false;
  }
  return text + "]}";
}

template <class Entry, class Shown>
void append_list(std::string& text, const char* name, const std::vector<Entry>& list, Shown&& shown) {
  text += format(",\n \"%s\": [", name);
  bool first = true;
  for (const Entry& one : list) {
    text += first ? "\n  " : ",\n  ";
    text += shown(one);
    first = false;
  }
  text += "]";
}

constexpr double shortest_timeline = 0.1;  // seconds

// A list that has not all pairs is made much shorter.
constexpr size_t most_of_cut_pairs = size_t{1} << 16;
constexpr size_t most_waits = size_t{1} << 14;

template <class Weight>
void keep_heaviest(std::vector<PairSum>& pairs, size_t most, Weight&& weight) {
  if (pairs.size() <= most) return;
  std::nth_element(pairs.begin(), pairs.begin() + static_cast<ptrdiff_t>(most), pairs.end(),
                   [&](const PairSum& a, const PairSum& b) { return weight(a) > weight(b); });
  pairs.resize(most);
}

// Lists the pairs that `seconds` says most of: the longest waits.
std::string waits_json(const Report& report, const char* name, double PairSum::*seconds) {
  std::vector<PairSum> pairs;
  for (const PairSum& pair : report.pairs) {
    if (pair.*seconds > 0) pairs.push_back(pair);
  }
  keep_heaviest(pairs, most_waits, [&](const PairSum& p) { return p.*seconds; });
  std::string text;
  append_list(text, name, pairs, [&](const PairSum& p) { return format("[%d, %d, %.9f]", p.from, p.to, p.*seconds); });
  return text;
}

// The machines of the hosts, each with its hosts by their first ranks.
std::string machines_json(const Report& report) {
  std::string text;
  append_list(text, "machines", report.machines, [&](const MachineSum& machine) {
    std::string one = "{\"cores\": " + base::json_text(machine.text) + ", \"hosts\": [";
    bool first = true;
    std::vector<int32_t> hosts;
    for (const HostSum& host : report.hosts) {
      if (host.machine == machine.key) hosts.push_back(host.host);
    }
    std::sort(hosts.begin(), hosts.end());
    for (const int32_t host : hosts) {
      one += format("%s%d", first ? "" : ", ", host);
      first = false;
    }
    return one + "]}";
  });
  return text;
}

// For each group of ranks the shares of the slices' parts, in thousandths.
std::string timeline_json(const Report& report) {
  std::vector<GroupSlices> groups = report.timeline;
  std::sort(groups.begin(), groups.end(), [](const GroupSlices& a, const GroupSlices& b) { return a.group < b.group; });
  std::string text = format(",\n \"timeline\": {\"seconds\": %.9f, \"parts\": [", report.all.run.mean());
  for (int p = 0; p < part_count; ++p) text += format("%s\"%s\"", p == 0 ? "" : ", ", part_names[p]);
  text += "],\n  \"groups\": [";
  bool first = true;
  for (const GroupSlices& g : groups) {
    // The first rank of a group: group_of() rounds down.
    const int64_t number = std::min<int64_t>(most_groups, report.all.size);
    const int64_t begin = (g.group * static_cast<int64_t>(report.all.size) + number - 1) / std::max<int64_t>(number, 1);
    text += format("%s{\"first\": %lld, \"ranks\": %d, \"slices\": [", first ? "\n   " : ",\n   ",
                   static_cast<long long>(begin), g.ranks);
    first = false;
    for (int s = 0; s < slice_count; ++s) {
      float whole = 0;
      for (const float part : g.seconds[s]) whole += part;
      for (int p = 0; p < part_count; ++p) {
        const float share = whole > 0 ? g.seconds[s][p] / whole : 0;
        text += format("%s%d", p != 0 ? "," : s == 0 ? "[" : ",[", static_cast<int>(std::lround(1000 * share)));
      }
      text += "]";
    }
    text += "]}";
  }
  return text + "]}";
}

std::string settings_json(const Report::Settings& settings) {
  std::string text = ",\n \"settings\": {";
  for (const auto& [name, value] : settings) {
    if (text.back() != '{') text += ", ";
    text += base::json_text(name);
    text += ": ";
    text += base::json_text(value);
  }
  return text + "}";
}

// Ranks of each host, in the order of the hosts' first ranks.
std::string hosts_json(const Report& report) {
  if (static_cast<int64_t>(report.ranks.size()) != report.all.run.ranks) return {};  // not all are listed
  std::vector<std::pair<int32_t, int>> hosts;
  for (const RankSum& one : report.ranks) {
    const auto found = std::find_if(hosts.begin(), hosts.end(), [&](const auto& h) { return h.first == one.host; });
    if (found == hosts.end()) {
      hosts.emplace_back(one.host, 1);
    } else {
      ++found->second;
    }
  }
  std::sort(hosts.begin(), hosts.end());
  std::string text;
  for (const auto& [host, ranks] : hosts) text += format("%s%d", text.empty() ? "" : ", ", ranks);
  return text;
}

// Ranks of each host, and data that ranks gave to sends and one-sided operations as [from, to, bytes, messages].
std::string matrix_json(const Report& report) {
  std::vector<PairSum> pairs = report.pairs;
  keep_heaviest(pairs, pairs.size() < most_pairs ? most_pairs : most_of_cut_pairs,
                [](const PairSum& p) { return static_cast<double>(p.bytes); });
  std::sort(pairs.begin(), pairs.end(),
            [](const PairSum& a, const PairSum& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
  std::string text = format(",\n \"matrix\": {\"ranks\": %d, \"ranks_per_host\": [", report.all.size);
  text += hosts_json(report);
  text += "], \"bytes\": [";
  bool first = true;
  for (const PairSum& pair : pairs) {
    if (pair.messages == 0) continue;
    text +=
        format("%s[%d, %d, %llu, %llu]", first ? "" : ", ", pair.from, pair.to, wide(pair.bytes), wide(pair.messages));
    first = false;
  }
  return text + "]}";
}

}  // namespace

std::string as_json(const Report& report, const std::string& end) {
  static constexpr const char* levels[] = {"off", "on", "summary", "calls", "full"};
  const Totals& all = report.all;
  std::string text =
      format("{\"weft\": \"" WEFT_VERSION "\", \"level\": \"%s\", \"ranks\": %d, \"counted_ranks\": %lld, ",
             levels[std::min(all.level, 4U)], all.size, static_cast<long long>(all.run.ranks));
  text += "\"end\": " + base::json_text(end.empty() ? last_call(report) : end);
  text += ",\n \"program\": " + base::json_text(all.program);
  text += ",\n \"run\": " + spread_json(all.run);
  text += ",\n \"mpi\": " + spread_json(all.mpi);
  text += ",\n \"mpi_share\": " + spread_json(all.share);
  text += ",\n \"waiting\": " + spread_json(all.idle);
  text += ",\n \"waiting_in_collectives\": " + spread_json(all.sync);
  text += ",\n \"outside\": " + spread_json(all.outside);
  text += ",\n \"waiting_by_kind\": {";
  for (int k = 0; k < kind_count; ++k)
    text += format("%s\"%s\": %.9f", k == 0 ? "" : ", ", kind_names[k], waiting_in(report, static_cast<CallKind>(k)));
  text += "}";
  text += ",\n \"paths\": {";
  static constexpr const char* paths[4] = {"E0", "E1", "R0", "R1"};
  for (int p = 0; p < 4; ++p) {
    text += format("%s\"%s\": [%llu, %llu]", p == 0 ? "" : ", ", paths[p], wide(all.path_messages[p]),
                   wide(all.path_bytes[p]));
  }
  static constexpr const char* ways[4] = {"mapped", "packed", "by_host", "straight"};
  text += "},\n \"devices\": {";
  for (int w = 0; w < 4; ++w) {
    text += format("%s\"%s\": [%llu, %llu]", w == 0 ? "" : ", ", ways[w], wide(all.device_copies[w]),
                   wide(all.device_bytes[w]));
  }
  text += format("}, \"unexpected\": %llu, \"found_full\": %llu, \"sleeps\": %llu, \"not_listed\": %llu",
                 wide(all.unexpected), wide(all.retries), wide(all.sleeps), wide(all.lost));
  text += format(", \"without_processor\": %.9f", all.queued);
  text += format(", \"processors\": %d, \"crowded\": %d", all.processors, all.crowded);
  if (asks_energy(all)) text += energy_json(all);
  if (report.settings.has_value()) text += settings_json(*report.settings);
  append_list(text, "advice", advice(report), [](const std::string& line) { return base::json_text(line); });
  std::vector<int> made;
  for (int c = 0; c < call_count; ++c) {
    if (report.calls[static_cast<size_t>(c)].calls > 0) made.push_back(c);
  }
  append_list(text, "calls", made, [&](int c) { return call_json(report.calls[static_cast<size_t>(c)], all, c); });
  append_list(text, "by_rank", ranks_in_order(report), [&](const RankSum& r) {
    const std::string joules =
        knows_energy(all) ? format(", \"processor_seconds\": %.9f, \"joules\": %.6f", r.cpu, r.joules) : "";
    return format(
        "{\"rank\": %d, \"host\": %d, \"seconds\": %.9f, \"mpi\": %.9f, \"waiting\": %.9f, "
        "\"waiting_in_collectives\": %.9f, \"threads\": %u, \"processors\": \"%s\", \"in\": %s%s%s, "
        "\"in_seconds\": %.9f%s}",
        r.rank, r.host, r.run, r.mpi, r.idle, r.sync, r.threads, r.cpus, r.in_call < 0 ? "" : "\"",
        r.in_call < 0 ? "null" : call_info[r.in_call].name, r.in_call < 0 ? "" : "\"", r.in_call_for, joules.c_str());
  });
  if (!report.threads.empty()) {
    append_list(text, "threads", threads_in_order(report), [](const ThreadSum& t) {
      return format(
          "{\"rank\": %d, \"thread\": %d, \"threads\": %u, \"calls\": %llu, \"mpi\": %.9f, \"waiting\": %.9f}", t.rank,
          t.place, t.threads, wide(t.calls), t.seconds, t.idle);
    });
  }
  text += machines_json(report);
  if (!report.timeline.empty() && all.run.most >= shortest_timeline) text += timeline_json(report);
  if (all.level >= static_cast<uint32_t>(Level::calls)) {
    text += matrix_json(report);
    text += waits_json(report, "waiting_for", &PairSum::idle);
    text += waits_json(report, "waiting_for_receives_of", &PairSum::idle_sends);
    append_list(text, "communicators", report.comms, [](const CommSum& c) {
      return format(
          "{\"name\": %s, \"context\": %llu, \"size\": %d, \"calls\": %llu, \"bytes\": %llu, \"seconds\": %.9f, "
          "\"waiting\": %.9f}",
          base::json_text(c.name).c_str(), wide(c.key - 1), c.size, wide(c.calls), wide(c.bytes), c.seconds, c.idle);
    });
  }
  if (all.level >= static_cast<uint32_t>(Level::full)) {
    append_list(text, "sites", report.sites, [](const SiteSum& p) {
      return format(
                 "{\"call\": \"%s\", \"calls\": %llu, \"bytes\": %llu, \"seconds\": %.9f, \"waiting\": %.9f, "
                 "\"site\": ",
                 call_info[p.call].name, wide(p.calls), wide(p.bytes), p.seconds, p.idle) +
             base::json_text(p.text) + "}";
    });
  }
  return text + "}\n";
}

}  // namespace weft::stats
