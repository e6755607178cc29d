// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stats/text.hpp"

#include <algorithm>
#include <numeric>

#include "base/bytes.hpp"
#include "base/format.hpp"
#include "stats/sizes.hpp"

namespace weft::stats {
namespace {

using base::format;

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

// "12.3 s", "4.56 ms", "789 us": three digits.
std::string span(double seconds) {
  if (seconds >= 1) return format("%.3g s", seconds);
  if (seconds >= 1e-3) return format("%.3g ms", seconds * 1e3);
  return format("%.3g us", seconds * 1e6);
}

struct Models {
  bool mpi = false;
  bool shmem = false;
};
Models models_of(const Report& report) {
  const auto made = [](const CallSum& sum) { return sum.calls > 0; };
  const auto shmem = report.calls.begin() + mpi_call_count;
  return {std::any_of(report.calls.begin(), shmem, made), std::any_of(shmem, report.calls.end(), made)};
}

// Times are in or outside MPI, or calls where the program uses OpenSHMEM.
const char* inside(const Report& report) {
  return models_of(report).shmem ? "calls" : "MPI";
}

const char* share_title(const Report& report) {
  return models_of(report).shmem ? "time %" : "MPI %";
}

// The calls that were made, the most time first.
std::vector<int> by_time(const Report& report) {
  std::vector<int> order;
  for (int c = 0; c < call_count; ++c) {
    if (report.calls[static_cast<size_t>(c)].calls > 0) order.push_back(c);
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return report.calls[static_cast<size_t>(a)].seconds.sum > report.calls[static_cast<size_t>(b)].seconds.sum;
  });
  return order;
}

std::string share_line(const Report& report) {
  const Totals& all = report.all;
  const std::string title = format("  in %-9s", inside(report));
  if (all.run.ranks == 0 || all.run.sum <= 0) return title + "nothing was counted\n";
  const bool threads =
      std::any_of(report.ranks.begin(), report.ranks.end(), [](const RankSum& r) { return r.threads > 1; });
  return format("%s%.1f %% of the time (rank %d %.1f %% to rank %d %.1f %%), of which waiting %.0f %%%s\n",
                title.c_str(), percent(all.mpi.sum, all.run.sum), all.share.least_rank, 100 * all.share.least,
                all.share.most_rank, 100 * all.share.most, percent(all.idle.sum, all.mpi.sum),
                threads ? ", threads added up" : "");
}

std::string call_line(const Report& report, int c, bool first) {
  const CallSum& sum = report.calls[static_cast<size_t>(c)];
  std::string text = format("  %-11s %s %.0f %% of that: %llu calls, mean %s, longest %s (rank %d)",
                            first ? "most in" : "then", call_info[c].name, percent(sum.seconds.sum, report.all.mpi.sum),
                            wide(sum.calls), span(sum.seconds.sum / static_cast<double>(sum.calls)).c_str(),
                            span(sum.longest).c_str(), sum.longest_rank);
  if (sum.idle.sum > 0.01 * sum.seconds.sum)
    text += format(", waiting %.0f %%", percent(sum.idle.sum, sum.seconds.sum));
  return text + "\n";
}

// The call that carries the most bytes, and the size that carries most of them.
std::string size_line(const Report& report) {
  int most = -1;
  for (int c = 0; c < call_count; ++c) {
    const bool sends = call_info[c].kind != CallKind::receive;
    const uint64_t bytes = report.calls[static_cast<size_t>(c)].bytes;
    if (sends && bytes > 0 && (most < 0 || bytes > report.calls[static_cast<size_t>(most)].bytes)) most = c;
  }
  if (most < 0) return "  sizes       no data were sent\n";
  const CallSum& sum = report.calls[static_cast<size_t>(most)];
  const uint64_t counted = std::accumulate(std::begin(sum.sizes), std::end(sum.sizes), uint64_t{0});
  const int usual = usual_size(sum.sizes);
  return format("  sizes       %s has the most bytes, %s; %.0f %% of its calls have %s\n", call_info[most].name,
                base::shown_bytes(sum.bytes).c_str(),
                percent(static_cast<double>(sum.sizes[usual]), static_cast<double>(counted)), size_text(usual).c_str());
}

std::string waits_line(const Report& report) {
  const Totals& all = report.all;
  if (all.run.ranks < 2) return "";
  std::string text = format("  waiting     mean %s of %s; most %s (rank %d), least %s (rank %d)",
                            span(all.idle.mean()).c_str(), span(all.run.mean()).c_str(), span(all.idle.most).c_str(),
                            all.idle.most_rank, span(all.idle.least).c_str(), all.idle.least_rank);
  if (all.sync.sum > 0) text += format("; in collectives %s", span(all.sync.mean()).c_str());
  for (const auto& [kind, words] :
       {std::pair(CallKind::receive, "for senders"), std::pair(CallKind::send, "for receivers"),
        std::pair(CallKind::completion, "for requests")}) {
    const double seconds = waiting_in(report, kind);
    if (seconds > 0.01 * all.idle.sum)
      text += format(", %s %s", words, span(seconds / static_cast<double>(all.run.ranks)).c_str());
  }
  text += "\n";
  const auto longest = std::max_element(report.pairs.begin(), report.pairs.end(),
                                        [](const PairSum& a, const PairSum& b) { return a.idle < b.idle; });
  if (longest != report.pairs.end() && longest->idle > 0.01 * all.run.mean()) {
    text += format("  for whom    rank %d waits the longest for one rank: %s for rank %d\n", longest->from,
                   span(longest->idle).c_str(), longest->to);
  }
  return text;
}

std::string imbalance_line(const Report& report) {
  const Spread& outside = report.all.outside;
  if (outside.ranks < 2 || outside.mean() <= 0) return "";
  return format("  imbalance   outside %s: mean %s, most %s (rank %d), least %s (rank %d); most / mean %.2f\n",
                inside(report), span(outside.mean()).c_str(), span(outside.most).c_str(), outside.most_rank,
                span(outside.least).c_str(), outside.least_rank, outside.most / outside.mean());
}

std::string paths_line(const Report& report) {
  static constexpr const char* names[4] = {"E0", "E1", "R0", "R1"};
  std::string text;
  for (int p = 0; p < 4; ++p) {
    if (report.all.path_messages[p] == 0) continue;
    text += format("%s%s %llu (%s)", text.empty() ? "" : ", ", names[p], wide(report.all.path_messages[p]),
                   base::shown_bytes(report.all.path_bytes[p]).c_str());
  }
  if (text.empty()) return "";
  return "  messages    " + text + format("; before their receive %llu\n", wide(report.all.unexpected));
}

std::string devices_line(const Report& report) {
  static constexpr const char* names[4] = {"from mapped memory", "packed or unpacked", "by memory of the host",
                                           "by a network's adapter"};
  std::string text;
  for (int w = 0; w < 4; ++w) {
    if (report.all.device_copies[w] == 0) continue;
    text += format("%s%s %llu (%s)", text.empty() ? "" : ", ", names[w], wide(report.all.device_copies[w]),
                   base::shown_bytes(report.all.device_bytes[w]).c_str());
  }
  return text.empty() ? "" : "  devices     " + text + "\n";
}

// Energy goes with the time in which threads are awake.
std::string energy_line(const Report& report) {
  const Totals& all = report.all;
  if (!asks_energy(all)) return "";
  if (!knows_energy(all)) return "  energy      not known: " + energy_problem(all) + "\n";
  const double in_mpi = joules_of(all, all.mpi.sum - all.asleep);
  const double polling = joules_of(all, all.idle.sum - all.asleep);
  return format(
      "  energy      %.3g J, %.3g W, of %d host%s; in %s %.3g J, of which waiting awake %.3g J, which sleep would "
      "save; asleep %s\n",
      all.joules, all.run.mean() > 0 ? all.joules / all.run.mean() : 0, all.energy_hosts,
      all.energy_hosts == 1 ? "" : "s", inside(report), in_mpi, polling, span(all.asleep).c_str());
}

const char* joules_title(const Totals& all) {
  return knows_energy(all) ? "     joules" : "";
}
std::string joules_column(const Totals& all, double joules) {
  return knows_energy(all) ? format(" %10.4g", joules) : "";
}

std::string calls_table(const Report& report, const std::vector<int>& order) {
  std::string text = format("\n  %-26s %12s %11s %6s %10s %10s %10s %6s %11s %11s%s\n", "call", "calls", "seconds",
                            share_title(report), "min", "max rank", "mean call", "wait %", "bytes", "usual size",
                            joules_title(report.all));
  constexpr size_t most_rows = 30;
  for (size_t i = 0; i < std::min(order.size(), most_rows); ++i) {
    const CallSum& sum = report.calls[static_cast<size_t>(order[i])];
    const int usual = usual_size(sum.sizes);
    const std::string size = usual == 0 ? "-" : base::shown_bytes(uint64_t{1} << (usual - 1)) + "+";
    text += format("  %-26s %12llu %11.6f %6.1f %10s %10s %10s %6.0f %11s %11s%s\n", call_info[order[i]].name,
                   wide(sum.calls), sum.seconds.sum, percent(sum.seconds.sum, report.all.mpi.sum),
                   span(sum.seconds.ranks < report.all.run.ranks ? 0 : sum.seconds.least).c_str(),
                   span(sum.seconds.most).c_str(), span(sum.seconds.sum / static_cast<double>(sum.calls)).c_str(),
                   percent(sum.idle.sum, sum.seconds.sum), base::shown_bytes(sum.bytes).c_str(), size.c_str(),
                   joules_column(report.all, joules_of(report.all, sum.seconds.sum - sum.asleep)).c_str());
  }
  if (order.size() > most_rows) text += format("  ... and %zu more calls\n", order.size() - most_rows);
  return text;
}

std::string ranks_table(const Report& report) {
  const std::vector<RankSum> ranks = ranks_in_order(report);
  constexpr size_t most_rows = 16;
  const std::string in = std::string("in ") + inside(report);
  std::string text = format("\n  %-8s %11s %11s %8s %11s %11s %8s%s\n", "rank", "seconds", in.c_str(),
                            share_title(report), "waiting", "in coll.", "threads", joules_title(report.all));
  for (size_t i = 0; i < std::min(ranks.size(), most_rows); ++i) {
    const RankSum& one = ranks[i];
    text += format("  %-8d %11.6f %11.6f %8.1f %11.6f %11.6f %8u", one.rank, one.run, one.mpi,
                   percent(one.mpi, one.run), one.idle, one.sync, one.threads);
    text += joules_column(report.all, one.joules);
    if (one.in_call >= 0 && call_info[one.in_call].kind != CallKind::other)
      text += format("  in %s for %s", call_info[one.in_call].name, span(one.in_call_for).c_str());
    text += "\n";
  }
  if (static_cast<size_t>(report.all.run.ranks) > most_rows)
    text += format("  ... and %lld more ranks\n", static_cast<long long>(report.all.run.ranks) - 16);
  return text;
}

template <class Entry, class Less>
std::vector<Entry> heaviest(std::vector<Entry> list, size_t most, Less&& more) {
  std::sort(list.begin(), list.end(), more);
  if (list.size() > most) list.resize(most);
  return list;
}

std::string lists(const Report& report) {
  constexpr size_t most = 10;
  std::string text;
  const auto pairs = heaviest(report.pairs, most, [](const PairSum& a, const PairSum& b) { return a.bytes > b.bytes; });
  if (!pairs.empty()) text += format("\n  %-8s %8s %12s %12s %12s\n", "from", "to", "messages", "bytes", "waiting");
  for (const PairSum& p : pairs) {
    text += format("  %-8d %8d %12llu %12s %12s\n", p.from, p.to, wide(p.messages), base::shown_bytes(p.bytes).c_str(),
                   span(p.idle).c_str());
  }
  const auto threads =
      heaviest(report.threads, most, [](const ThreadSum& a, const ThreadSum& b) { return a.seconds > b.seconds; });
  if (!threads.empty())
    text += format("\n  %-8s %8s %12s %11s %11s\n", "rank", "thread", "calls",
                   (std::string("in ") + inside(report)).c_str(), "waiting");
  for (const ThreadSum& t : threads) {
    const std::string place = t.place == own_blocks ? "others" : std::to_string(t.place);
    text += format("  %-8d %8s %12llu %11.6f %11.6f", t.rank, place.c_str(), wide(t.calls), t.seconds, t.idle);
    text += t.threads > 1 ? format("  %u threads\n", t.threads) : "\n";
  }
  const auto comms =
      heaviest(report.comms, most, [](const CommSum& a, const CommSum& b) { return a.seconds > b.seconds; });
  if (!comms.empty())
    text +=
        format("\n  %-26s %8s %12s %11s %6s %12s\n", "communicator", "ranks", "calls", "seconds", "wait %", "bytes");
  for (const CommSum& c : comms) {
    const std::string name = c.name[0] != '\0' ? c.name : format("context %llu", wide(c.key - 1));
    text += format("  %-26.26s %8d %12llu %11.6f %6.0f %12s\n", name.c_str(), c.size, wide(c.calls), c.seconds,
                   percent(c.idle, c.seconds), base::shown_bytes(c.bytes).c_str());
  }
  const auto sites =
      heaviest(report.sites, most, [](const SiteSum& a, const SiteSum& b) { return a.seconds > b.seconds; });
  if (!sites.empty()) text += format("\n  %-20s %12s %11s %6s  %s\n", "call", "calls", "seconds", "wait %", "site");
  for (const SiteSum& p : sites) {
    text += format("  %-20s %12llu %11.6f %6.0f  ", call_info[p.call].name, wide(p.calls), p.seconds,
                   percent(p.idle, p.seconds));
    text += p.text;
    text += "\n";
  }
  return text;
}

// Broken between words.
void append_advice(std::string& text, std::string_view advice) {
  constexpr size_t width = 86;
  text += "  to try      ";
  while (advice.size() > width) {
    const size_t end = advice.rfind(' ', width);
    if (end == std::string_view::npos || end == 0) break;
    text += advice.substr(0, end);
    text += "\n              ";
    advice.remove_prefix(end + 1);
  }
  text += advice;
  text += "\n";
}

}  // namespace

const char* last_call(const Report& report) {
  const Models models = models_of(report);
  return models.shmem && !models.mpi ? "shmem_finalize" : "MPI_Finalize";
}

std::string as_text(const Report& report, const std::string& end) {
  const Totals& all = report.all;
  const Models models = models_of(report);
  std::string text =
      format("\nWeft: calls of %s, %lld of %d rank%s, %s",
             !models.shmem ? "MPI"
             : models.mpi  ? "MPI and OpenSHMEM"
                           : "OpenSHMEM",
             static_cast<long long>(all.run.ranks), all.size, all.size == 1 ? "" : "s", span(all.run.most).c_str());
  text += end.empty() ? "\n" : ", " + end + "\n";
  text += share_line(report);
  const std::vector<int> order = by_time(report);
  for (size_t i = 0; i < std::min<size_t>(order.size(), 2); ++i) text += call_line(report, order[i], i == 0);
  text += size_line(report) + waits_line(report) + imbalance_line(report) + paths_line(report) + devices_line(report) +
          energy_line(report);
  const std::vector<std::string> list = advice(report);
  for (size_t i = 0; i < std::min<size_t>(list.size(), 3); ++i) append_advice(text, list[i]);
  if (list.empty()) text += "  to try      nothing stands out\n";
  text += calls_table(report, order) + ranks_table(report) + lists(report);
  if (all.lost > 0) text += format("  not listed: %llu entries that did not fit into the lists\n", wide(all.lost));
  return text;
}

}  // namespace weft::stats
