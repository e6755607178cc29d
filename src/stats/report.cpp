// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stats/report.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <type_traits>

#include "base/ticks.hpp"

namespace weft::stats {
namespace {

// Text of an area as it may be printed: it ends, and has no control characters.
template <size_t n>
void copy_text(char (&to)[n], const char (&from)[n]) {
  size_t i = 0;
  for (; i + 1 < n && from[i] != '\0'; ++i) to[i] = from[i] >= 32 && from[i] < 127 ? from[i] : '?';
  to[i] = '\0';
}

template <class Entry, class Same, class Merge>
void merge(std::vector<Entry>& into, const std::vector<Entry>& from, Same&& same, Merge&& sum) {
  for (const Entry& one : from) {
    const auto found = std::find_if(into.begin(), into.end(), [&](const Entry& other) { return same(one, other); });
    if (found == into.end()) {
      into.push_back(one);
    } else {
      sum(*found, one);
    }
  }
}

// Keeps the `most` entries with the largest weight.
template <class Entry, class Weight>
uint64_t keep(std::vector<Entry>& list, size_t most, Weight&& weight) {
  if (list.size() <= most) return 0;
  std::nth_element(list.begin(), list.begin() + static_cast<ptrdiff_t>(most), list.end(),
                   [&](const Entry& a, const Entry& b) { return weight(a) > weight(b); });
  const uint64_t lost = list.size() - most;
  list.resize(most);
  return lost;
}

// One rank's area on its way into a report.
struct AreaReader {
  const Area& area;
  const int32_t rank;
  const base::Moment now;
  const double tick;

  [[nodiscard]] double seconds(uint64_t ticks) const { return static_cast<double>(ticks) * tick; }
  // Returns the ticks since a call under way has begun. A block that another processor has just begun may be ahead of
  // us.
  [[nodiscard]] uint64_t since(uint64_t begun) const { return now.ticks > begun ? now.ticks - begun : 0; }
};

// Returns the idle ticks of the call under way.
uint64_t idle_of(const CounterBlock& block, uint64_t now) {
  uint64_t idle = block.clock.ticks - block.idle_before;
  if (block.clock.pausing != 0 && now > block.clock.at) idle += now - std::max(block.clock.at, block.since);
  return idle;
}

void read_calls(const AreaReader& in, RankSum& own, Report& report) {
  std::vector<CallRow> rows(call_count);
  for (const CounterBlock& block : in.area.blocks) {
    if (block.threads == 0) continue;
    own.threads += block.threads;
    ThreadSum& thread = report.threads.emplace_back();
    thread = {.rank = in.rank,
              .place = static_cast<int32_t>(&block - in.area.blocks),
              .threads = block.threads,
              .seconds = in.seconds(block.ticks),
              .idle = in.seconds(block.idle)};
    own.mpi += in.seconds(block.ticks);
    own.idle += in.seconds(block.idle);
    report.all.asleep += in.seconds(block.clock.asleep);
    for (int c = 0; c < call_count; ++c) {
      const CallRow& from = block.rows[c];
      if (from.calls == 0) continue;
      CallRow& to = rows[static_cast<size_t>(c)];
      to.calls += from.calls;
      to.ticks += from.ticks;
      to.idle += from.idle;
      to.longest = std::max(to.longest, from.longest);
      to.bytes += from.bytes;
      to.prompt += from.prompt;
      to.asleep += from.asleep;
      to.turns += from.turns;
      thread.calls += from.calls;
      for (int k = 0; k < size_classes; ++k) to.sizes[k] += from.sizes[k];
    }
    if (block.now == 0 || block.now > call_count) continue;
    // A call under way counts with the time it has taken.
    CallRow& under_way = rows[block.now - 1];
    const uint64_t taken = in.since(block.since);
    const uint64_t idle = std::min(idle_of(block, in.now.ticks), taken);
    under_way.calls += 1;
    under_way.ticks += taken;
    under_way.idle += idle;
    under_way.asleep += std::min(block.clock.asleep - block.asleep_before, idle);
    under_way.longest = std::max(under_way.longest, taken);
    own.mpi += in.seconds(taken);
    own.idle += in.seconds(idle);
    if (in.seconds(taken) >= own.in_call_for) {
      own.in_call = static_cast<int32_t>(block.now) - 1;
      own.in_call_for = in.seconds(taken);
    }
  }
  if (report.threads.size() < 2) report.threads.clear();  // the rank's numbers are the thread's
  for (int c = 0; c < call_count; ++c) {
    const CallRow& row = rows[static_cast<size_t>(c)];
    if (row.calls == 0) continue;
    CallSum& sum = report.calls[static_cast<size_t>(c)];
    sum.calls = row.calls;
    sum.bytes = row.bytes;
    std::copy(std::begin(row.sizes), std::end(row.sizes), std::begin(sum.sizes));
    sum.longest = in.seconds(row.longest);
    sum.longest_rank = in.rank;
    sum.asleep = in.seconds(row.asleep);
    sum.turns = row.turns;
    sum.seconds.take(in.seconds(row.ticks), in.rank);
    sum.idle.take(in.seconds(row.idle), in.rank);
    sum.prompt.take(static_cast<double>(row.prompt) / static_cast<double>(row.calls), in.rank);
    if (call_info[c].kind == CallKind::collective) own.sync += in.seconds(row.idle);
  }
}

void read_lists(const AreaReader& in, Report& report) {
  for (const CommCounts& comm : in.area.comms) {
    if (comm.key == 0 || comm.calls == 0) continue;
    CommSum sum{.key = comm.key,
                .size = comm.size,
                .ranks = 1,
                .calls = comm.calls,
                .bytes = comm.bytes,
                .seconds = in.seconds(comm.ticks),
                .idle = in.seconds(comm.idle)};
    copy_text(sum.name, comm.name);
    report.comms.push_back(sum);
  }
  for (const Site& site : in.area.sites) {
    if (site.address == 0 || site.calls == 0 || site.call >= call_count) continue;
    SiteSum sum{.call = site.call,
                .ranks = 1,
                .calls = site.calls,
                .bytes = site.bytes,
                .seconds = in.seconds(site.ticks),
                .idle = in.seconds(site.idle)};
    if (site.ready != 0) copy_text(sum.text, site.text);
    report.sites.push_back(sum);
  }
  if (in.area.head.level < static_cast<uint32_t>(Level::calls)) return;
  const Partner* partners = partners_of(&in.area);
  for (int32_t r = 0; r < in.area.head.size; ++r) {
    const Partner& one = partners[r];
    if (one.messages == 0 && one.idle == 0 && one.idle_sends == 0) continue;
    report.pairs.push_back({in.rank, r, one.messages, one.bytes, in.seconds(one.idle), in.seconds(one.idle_sends)});
  }
}

void read_machine(const AreaHead& head, Report& report) {
  MachineSum machine;
  copy_text(machine.text, head.machine);
  if (machine.text[0] == '\0') return;
  machine.key = std::hash<std::string_view>{}(machine.text);
  report.hosts.push_back({.host = head.host, .machine = machine.key});
  report.machines.push_back(machine);
}

void read_energy(const AreaHead& head, Totals& all) {
  const auto energy = static_cast<Energy>(head.energy);
  if (energy == Energy::off) return;
  all.cpu = static_cast<double>(head.cpu_ns) * 1e-9;
  if (energy == Energy::read) {
    all.energy_hosts = 1;
    all.joules = static_cast<double>(head.microjoules) * 1e-6;
  } else if (energy == Energy::unknown) {
    all.energy_unknown = 1;
    all.energy_error = head.energy_error;
    copy_text(all.energy_subject, head.energy_subject);
  }
}

// Seconds outside MPI in which a rank had a processor: while it is awake it lacks one as often there as in calls.
double computing_of(const RankSum& rank, double asleep, double queued) {
  const double outside = std::max(0.0, rank.run - rank.mpi);
  const double awake = rank.run - asleep;
  return awake > 0 ? outside * (1 - std::clamp(queued / awake, 0.0, 1.0)) : outside;
}

// Calls that were made, as reports travel.
struct UsedCall {
  uint64_t call = 0;
  CallSum sum;
};

template <class T>
void append(std::string& bytes, const T* items, size_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (count != 0) bytes.append(reinterpret_cast<const char*>(items), count * sizeof(T));
}

template <class T>
void append_list(std::string& bytes, const std::vector<T>& list) {
  const uint64_t count = list.size();
  append(bytes, &count, 1);
  append(bytes, list.data(), list.size());
}

template <class T>
bool take(std::string_view& bytes, T* items, size_t count) {
  if (bytes.size() / sizeof(T) < count) return false;
  if (count != 0) memcpy(static_cast<void*>(items), bytes.data(), count * sizeof(T));
  bytes.remove_prefix(count * sizeof(T));
  return true;
}

template <class T>
bool take_list(std::string_view& bytes, std::vector<T>& list, size_t most) {
  uint64_t count = 0;
  if (!take(bytes, &count, 1) || count > most || count > bytes.size() / sizeof(T)) return false;
  list.resize(count);
  return take(bytes, list.data(), count);
}

bool is_good(const GroupSlices& g) {
  const float* seconds = &g.seconds[0][0];
  return g.group >= 0 && g.group < most_groups && g.ranks >= 0 && g.ranks <= most_ranks &&
         std::all_of(seconds, seconds + slice_count * part_count, [](float s) { return std::isfinite(s) && s >= 0; });
}

// Whether all times are finite numbers: sorting by them needs that.
bool is_good(const Spread& s) {
  return std::isfinite(s.sum) && std::isfinite(s.squares) && std::isfinite(s.least) && std::isfinite(s.most) &&
         s.ranks >= 0 && s.ranks <= most_ranks;
}

bool are_good(const Report& report) {
  const Totals& all = report.all;
  const auto timed = [](const auto& one) { return std::isfinite(one.seconds) && std::isfinite(one.idle); };
  return is_good(all.run) && is_good(all.mpi) && is_good(all.share) && is_good(all.idle) && is_good(all.sync) &&
         is_good(all.outside) && is_good(all.computing) && std::isfinite(all.asleep) && std::isfinite(all.queued) &&
         std::isfinite(all.cpu) && std::isfinite(all.joules) && all.energy_hosts >= 0 && all.energy_unknown >= 0 &&
         std::all_of(report.calls.begin(), report.calls.end(),
                     [](const CallSum& c) {
                       return is_good(c.seconds) && is_good(c.idle) && is_good(c.prompt) && std::isfinite(c.longest) &&
                              std::isfinite(c.asleep);
                     }) &&
         std::all_of(report.ranks.begin(), report.ranks.end(),
                     [](const RankSum& r) {
                       return r.in_call < call_count && std::isfinite(r.run) && std::isfinite(r.mpi) &&
                              std::isfinite(r.idle) && std::isfinite(r.sync) && std::isfinite(r.in_call_for) &&
                              std::isfinite(r.cpu) && std::isfinite(r.joules);
                     }) &&
         std::all_of(report.pairs.begin(), report.pairs.end(),
                     [](const PairSum& p) { return std::isfinite(p.idle) && std::isfinite(p.idle_sends); }) &&
         std::all_of(report.threads.begin(), report.threads.end(), timed) &&
         std::all_of(report.comms.begin(), report.comms.end(), timed) &&
         std::all_of(report.timeline.begin(), report.timeline.end(), [](const GroupSlices& g) { return is_good(g); }) &&
         std::all_of(report.sites.begin(), report.sites.end(),
                     [&](const SiteSum& s) { return timed(s) && s.call < call_count; });
}

}  // namespace

std::vector<RankSum> ranks_in_order(const Report& report) {
  struct HostTotals {
    double joules = 0;
    double cpu = 0;
  };
  std::map<int32_t, HostTotals> hosts;
  for (const RankSum& one : report.ranks) {
    hosts[one.host].joules += one.joules;
    hosts[one.host].cpu += one.cpu;
  }
  const bool whole = static_cast<int64_t>(report.ranks.size()) == report.all.run.ranks;
  std::vector<RankSum> ranks = report.ranks;
  for (RankSum& one : ranks) {
    const HostTotals& host = hosts[one.host];
    one.joules = whole && host.cpu > 0 ? host.joules * one.cpu / host.cpu
                                       : report.all.joules * one.cpu / std::max(report.all.cpu, 1e-9);
  }
  std::sort(ranks.begin(), ranks.end(), [](const RankSum& a, const RankSum& b) { return a.rank < b.rank; });
  return ranks;
}

double waiting_in(const Report& report, CallKind kind) {
  double seconds = 0;
  for (int c = 0; c < call_count; ++c) {
    if (call_info[c].kind == kind) seconds += report.calls[static_cast<size_t>(c)].idle.sum;
  }
  return seconds;
}

std::vector<ThreadSum> threads_in_order(const Report& report) {
  std::vector<ThreadSum> threads = report.threads;
  std::sort(threads.begin(), threads.end(), [](const ThreadSum& a, const ThreadSum& b) {
    return std::pair(a.rank, a.place) < std::pair(b.rank, b.place);
  });
  return threads;
}

std::string energy_problem(const Totals& all) {
  const std::string subject = all.energy_subject;
  if (all.energy_unknown == 0)
    return all.energy_hosts == 0 ? "no rank read counters" : "the job took no processor time";
  if (all.energy_error == ENOENT) {
    return "there are no counters of energy (RAPL) in " + subject + ", as in virtual machines";
  }
  std::string text = subject + " cannot be read: ";
  if (all.energy_error == ERANGE) return text + "it fell, and does not say its range";
  if (all.energy_error == EINVAL) return text + "it is no number";
  text += strerror(all.energy_error);
  if (all.energy_error == EACCES || all.energy_error == EPERM) {
    const bool is_event = subject.find("/events/") != std::string::npos;
    text += is_event ? "; let it be counted, as root: sysctl kernel.perf_event_paranoid=0"
                     : "; let it be read, as root: chmod a+r " + subject;
  }
  return text;
}

void Spread::take(double value, int32_t rank) {
  take({1, value, value * value, value, value, rank, rank});
}

void Spread::take(const Spread& other) {
  if (other.ranks == 0) return;
  if (ranks == 0 || other.least < least) {
    least = other.least;
    least_rank = other.least_rank;
  }
  if (ranks == 0 || other.most > most) {
    most = other.most;
    most_rank = other.most_rank;
  }
  ranks += other.ranks;
  sum += other.sum;
  squares += other.squares;
}

double Spread::deviation() const {
  if (ranks < 2) return 0;
  const auto n = static_cast<double>(ranks);
  return std::sqrt(std::max(0.0, squares / n - mean() * mean()));
}

Report Report::of(const Area& area) {
  const AreaHead& head = area.head;
  const base::Moment now = base::this_moment();
  const AreaReader in{area, head.rank, now, base::seconds_of_tick({head.begun_ticks, head.begun_ns}, now)};
  Report report;
  Totals& all = report.all;
  all.level = head.level;
  all.size = head.size;
  all.processors = head.processors;
  all.crowded = head.ranks_here > head.processors ? 1 : 0;
  for (int p = 0; p < 4; ++p) {
    all.path_messages[p] = head.path_messages[p];
    all.path_bytes[p] = head.path_bytes[p];
  }
  for (int w = 0; w < 4; ++w) {
    all.device_copies[w] = head.device_copies[w];
    all.device_bytes[w] = head.device_bytes[w];
  }
  all.unexpected = head.unexpected;
  all.retries = head.retries;
  all.sleeps = head.sleeps;
  all.queued = static_cast<double>(head.queued_ns) * 1e-9;
  all.lost = head.comms_lost + head.sites_lost;
  read_energy(head, all);
  RankSum own{.rank = in.rank, .host = head.host, .run = in.seconds(in.since(head.begun_ticks))};
  own.cpu = all.cpu;
  own.joules = all.joules;
  read_calls(in, own, report);
  read_lists(in, report);
  read_machine(head, report);
  copy_text(all.program, head.program);
  copy_text(own.cpus, head.cpus);
  all.run.take(own.run, in.rank);
  all.mpi.take(own.mpi, in.rank);
  all.share.take(own.run > 0 ? std::min(1.0, own.mpi / own.run) : 0, in.rank);
  all.idle.take(own.idle, in.rank);
  all.sync.take(own.sync, in.rank);
  all.outside.take(std::max(0.0, own.run - own.mpi), in.rank);
  all.computing.take(computing_of(own, all.asleep, all.queued), in.rank);
  if (is_listed(own.rank, all.size)) report.ranks.push_back(own);
  GroupSlices slices;
  if (slices_of(area, now, in.tick, slices)) report.timeline.push_back(slices);
  return report;
}

void Report::add(const Report& other) {
  const Totals& from = other.all;
  all.level = std::max(all.level, from.level);
  all.size = std::max(all.size, from.size);
  all.processors = all.run.ranks == 0 ? from.processors : std::min(all.processors, from.processors);
  all.crowded += from.crowded;
  for (int p = 0; p < 4; ++p) {
    all.path_messages[p] += from.path_messages[p];
    all.path_bytes[p] += from.path_bytes[p];
  }
  for (int w = 0; w < 4; ++w) {
    all.device_copies[w] += from.device_copies[w];
    all.device_bytes[w] += from.device_bytes[w];
  }
  all.unexpected += from.unexpected;
  all.retries += from.retries;
  all.sleeps += from.sleeps;
  all.lost += from.lost;
  all.asleep += from.asleep;
  all.queued += from.queued;
  all.cpu += from.cpu;
  all.joules += from.joules;
  all.energy_hosts += from.energy_hosts;
  all.energy_unknown += from.energy_unknown;
  if (all.energy_error == 0) {
    all.energy_error = from.energy_error;
    copy_text(all.energy_subject, from.energy_subject);
  }
  if (all.program[0] == '\0') copy_text(all.program, from.program);
  all.run.take(from.run);
  all.mpi.take(from.mpi);
  all.share.take(from.share);
  all.idle.take(from.idle);
  all.sync.take(from.sync);
  all.outside.take(from.outside);
  all.computing.take(from.computing);
  for (int c = 0; c < call_count; ++c) {
    CallSum& to = calls[static_cast<size_t>(c)];
    const CallSum& one = other.calls[static_cast<size_t>(c)];
    if (one.calls == 0) continue;
    if (one.longest > to.longest || to.calls == 0) {
      to.longest = one.longest;
      to.longest_rank = one.longest_rank;
    }
    to.calls += one.calls;
    to.bytes += one.bytes;
    to.asleep += one.asleep;
    to.turns += one.turns;
    for (int k = 0; k < size_classes; ++k) to.sizes[k] += one.sizes[k];
    to.seconds.take(one.seconds);
    to.idle.take(one.idle);
    to.prompt.take(one.prompt);
  }
  ranks.insert(ranks.end(), other.ranks.begin(), other.ranks.end());
  if (ranks.size() > most_rank_sums) ranks.resize(most_rank_sums);  // those of a job are fewer
  threads.insert(threads.end(), other.threads.begin(), other.threads.end());
  all.lost += keep(threads, most_threads, [](const ThreadSum& t) { return t.seconds; });
  hosts.insert(hosts.end(), other.hosts.begin(), other.hosts.end());
  if (hosts.size() > most_hosts) hosts.resize(most_hosts);
  merge(
      machines, other.machines, [](const MachineSum& a, const MachineSum& b) { return a.key == b.key; },
      [](MachineSum&, const MachineSum&) {});
  if (machines.size() > most_machines) machines.resize(most_machines);
  pairs.insert(pairs.end(), other.pairs.begin(), other.pairs.end());
  all.lost += keep(pairs, most_pairs, [](const PairSum& p) { return p.bytes; });
  merge(
      comms, other.comms, [](const CommSum& a, const CommSum& b) { return a.key == b.key && a.size == b.size; },
      [](CommSum& to, const CommSum& one) {
        if (to.name[0] == '\0') memcpy(to.name, one.name, sizeof to.name);
        to.ranks += one.ranks;
        to.calls += one.calls;
        to.bytes += one.bytes;
        to.seconds += one.seconds;
        to.idle += one.idle;
      });
  all.lost += keep(comms, most_comms, [](const CommSum& c) { return c.seconds; });
  merge(
      sites, other.sites,
      [](const SiteSum& a, const SiteSum& b) { return a.call == b.call && strcmp(a.text, b.text) == 0; },
      [](SiteSum& to, const SiteSum& one) {
        to.ranks += one.ranks;
        to.calls += one.calls;
        to.bytes += one.bytes;
        to.seconds += one.seconds;
        to.idle += one.idle;
      });
  merge(
      timeline, other.timeline, [](const GroupSlices& a, const GroupSlices& b) { return a.group == b.group; },
      [](GroupSlices& to, const GroupSlices& one) { to.add(one); });
  all.lost += keep(sites, most_sites, [](const SiteSum& p) { return p.seconds; });
}

std::string Report::bytes() const {
  std::string out;
  append(out, &all, 1);
  std::vector<UsedCall> used;
  for (size_t c = 0; c < calls.size(); ++c) {
    if (calls[c].calls != 0) used.push_back({c, calls[c]});
  }
  append_list(out, used);
  append_list(out, ranks);
  append_list(out, pairs);
  append_list(out, comms);
  append_list(out, sites);
  append_list(out, threads);
  append_list(out, machines);
  append_list(out, hosts);
  append_list(out, timeline);
  return out;
}

bool Report::read(std::string_view bytes) {
  std::vector<UsedCall> used;
  if (!take(bytes, &all, 1) || !take_list(bytes, used, call_count) || !take_list(bytes, ranks, most_rank_sums) ||
      !take_list(bytes, pairs, most_pairs) || !take_list(bytes, comms, most_comms) ||
      !take_list(bytes, sites, most_sites) || !take_list(bytes, threads, most_threads) ||
      !take_list(bytes, machines, most_machines) || !take_list(bytes, hosts, most_hosts) ||
      !take_list(bytes, timeline, most_groups) || !bytes.empty()) {
    return false;
  }
  for (const UsedCall& one : used) {
    if (one.call >= call_count) return false;
    calls[one.call] = one.sum;
  }
  copy_text(all.energy_subject, all.energy_subject);
  copy_text(all.program, all.program);
  for (CommSum& comm : comms) copy_text(comm.name, comm.name);
  for (SiteSum& site : sites) copy_text(site.text, site.text);
  for (MachineSum& machine : machines) copy_text(machine.text, machine.text);
  for (RankSum& rank : ranks) copy_text(rank.cpus, rank.cpus);
  return are_good(*this);
}

}  // namespace weft::stats
