// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Rules that turn the numbers of a run into advice. A rule states its evidence and a remedy.

#include <algorithm>
#include <map>

#include "base/format.hpp"
#include "stats/sizes.hpp"
#include "stats/text.hpp"

namespace weft::stats {
namespace {

using base::format;

struct Finding {
  double seconds;  // that the change is about: the order of the list
  std::string text;
};

const CallSum& sum_of(const Report& report, Call call) {
  return report.calls[static_cast<size_t>(call)];
}

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

constexpr double worth = 0.05;  // of the time of all ranks: less is not worth a change

// Other programs take the processors of the ranks.
bool is_disturbed(const Report& report) {
  return share(report.all.queued, report.all.run.sum) > 2 * worth;
}

// A rank that has no processor is late without a fault of its own, and the ranks that wait for it lose no more time
// than all ranks together were without one; and it does not compute for that long. The rest of such a time is evidence.
double unexplained(const Report& report, double seconds) {
  return seconds - report.all.queued;
}

// Ranks that share processors wait for each other's turns: no rank is late by its own doing.
bool waits_for_processors(const Report& report) {
  return 2 * int64_t{report.all.crowded} > report.all.size || is_disturbed(report);
}

void disturbed(const Report& report, std::vector<Finding>& list) {
  if (!is_disturbed(report) || report.all.crowded != 0) return;
  list.push_back(
      {report.all.queued + report.all.idle.sum,
       format("other programs use the processors: ranks were ready to run and had none %.0f %% of the time, and "
              "others waited for them meanwhile: run alone on the host, or bind to cores that are free",
              100 * share(report.all.queued, report.all.run.sum))});
}

// Where most of the waiting in calls of a kind is, as far as call sites are counted.
template <class Matches>
std::string at_site(const Report& report, Matches&& matches) {
  const SiteSum* most = nullptr;
  for (const SiteSum& site : report.sites) {
    if (matches(site.call) && (most == nullptr || site.idle > most->idle)) most = &site;
  }
  if (most == nullptr) return "";
  return std::string(" (most of it in ") + call_info[most->call].name + " at " + most->text + ")";
}
std::string at_site_of_kind(const Report& report, CallKind kind) {
  return at_site(report, [&](uint32_t call) { return call_info[call].kind == kind; });
}

// Ranks that wait for one another in a row, each longer than the one that it waits for: the longest wait first. Empty
// unless there are many enough.
std::vector<const PairSum*> waits_in_row(const Report& report) {
  std::map<int32_t, const PairSum*> longest;  // of each rank
  const PairSum* start = nullptr;
  for (const PairSum& pair : report.pairs) {
    if (pair.from == pair.to || pair.idle <= 0) continue;
    const PairSum*& known = longest[pair.from];
    if (known == nullptr || pair.idle > known->idle) known = &pair;
    if (start == nullptr || pair.idle > start->idle) start = &pair;
  }
  std::vector<const PairSum*> row;
  if (waits_for_processors(report)) return row;
  if (start == nullptr || unexplained(report, start->idle) < 2 * worth * report.all.run.mean()) return row;
  constexpr double less = 0.9;
  const double least = start->idle / 50;
  for (const PairSum* pair = start;;) {
    row.push_back(pair);
    const auto next = longest.find(pair->to);
    if (next == longest.end() || next->second->idle > less * pair->idle || next->second->idle < least) break;
    pair = next->second;
    // Two that wait for each other, or more in a circle, are no row.
    if (std::any_of(row.begin(), row.end(), [&](const PairSum* before) { return before->from == pair->to; })) {
      row.clear();
      return row;
    }
  }
  const size_t needed = report.all.size > 3 ? 3 : 2;
  if (row.size() < needed) row.clear();
  return row;
}

// A serialised order of sends and receives.
void waits_in_turn(const Report& report, std::vector<Finding>& list) {
  const std::vector<const PairSum*> row = waits_in_row(report);
  if (row.empty()) return;
  constexpr size_t most = 4;
  std::string text = "messages pass from rank to rank one after the other: rank " + std::to_string(row[0]->from);
  double seconds = report.all.sync.sum;
  for (size_t i = 0; i < row.size(); ++i) {
    seconds += row[i]->idle;
    if (i < most) text += format("%s waits for %d (%.3f s)", i == 0 ? "" : ", that", row[i]->to, row[i]->idle);
  }
  if (row.size() > most) text += format(", and so on over %zu ranks", row.size() + 1);
  text += at_site_of_kind(report, CallKind::receive) +
          ": let ranks send before they receive (MPI_Isend, MPI_Sendrecv), or odd ranks in the other order";
  list.push_back({seconds, text});
}

// Returns the collective calls of an average rank.
uint64_t collective_calls(const Report& report) {
  uint64_t calls = 0;
  for (int c = 0; c < call_count; ++c) {
    if (call_info[c].kind == CallKind::collective) calls += report.calls[static_cast<size_t>(c)].calls;
  }
  return calls / static_cast<uint64_t>(std::max(report.all.size, 1));
}

// Seconds that each other rank waits for one in collective operations, 0 where there is no such one. A few calls are no
// pattern: then it has to be much time.
double waits_for_late_rank(const Report& report) {
  constexpr uint64_t few = 8;
  const Spread& sync = report.all.sync;
  const double least = (collective_calls(report) < few ? 4 : 1) * worth;
  if (sync.ranks < 2 || share(sync.sum, report.all.run.sum) < worth) return 0;
  const double others = (sync.sum - sync.least) / static_cast<double>(sync.ranks - 1);
  if (sync.least > others / 4 || unexplained(report, others) < least * report.all.run.mean()) return 0;
  const std::vector<const PairSum*> row = waits_in_row(report);
  const bool is_why = !row.empty() && row[0]->from == sync.least_rank;
  return is_why ? 0 : others;
}

void late_rank(const Report& report, std::vector<Finding>& list) {
  const Spread& sync = report.all.sync;
  const double others = waits_for_late_rank(report);
  if (others <= 0) return;
  std::string text = format("rank %d is late in collective operations: it waits %.3f s there, the others %.3f s each",
                            sync.least_rank, sync.least, others);
  const Spread* prompt = nullptr;
  int call = 0;
  for (int c = 0; c < call_count; ++c) {
    const CallSum& sum = report.calls[static_cast<size_t>(c)];
    if (call_info[c].kind != CallKind::collective || sum.calls < 8 || sum.prompt.most_rank != sync.least_rank) continue;
    if (prompt != nullptr && sum.idle.sum < report.calls[static_cast<size_t>(call)].idle.sum) continue;
    prompt = &sum.prompt;
    call = c;
  }
  if (prompt != nullptr && prompt->most >= 0.5)
    text += format("; it waits for nobody in %.0f %% of its calls of %s", 100 * prompt->most, call_info[call].name);
  const Spread& computing = report.all.computing;
  if (computing.most_rank == sync.least_rank && computing.most > 1.1 * computing.mean()) {
    text += format(". It computes %.2f times as long as the mean: give it less work",
                   share(computing.most, computing.mean()));
  } else {
    text += ". Look at what it does before them";
  }
  list.push_back({others * static_cast<double>(sync.ranks - 1), text});
}

// A rank that others wait for between two ranks.
void late_partner(const Report& report, std::vector<Finding>& list) {
  if (!waits_in_row(report).empty() || waits_for_processors(report)) return;
  const PairSum* longest = nullptr;
  for (const PairSum& pair : report.pairs) {
    if (pair.from != pair.to && (longest == nullptr || pair.idle > longest->idle)) longest = &pair;
  }
  if (longest == nullptr || unexplained(report, longest->idle) < 2 * worth * report.all.run.mean()) return;
  double all = 0;
  int ranks = 0;
  for (const PairSum& pair : report.pairs) {
    if (pair.to != longest->to || pair.from == pair.to || pair.idle <= 0) continue;
    all += pair.idle;
    ++ranks;
  }
  list.push_back(
      {all, format("%d rank%s wait%s %.3f s in all for messages of rank %d (rank %d the longest)%s: let it send "
                   "earlier, or do other work before the wait",
                   ranks, ranks == 1 ? "" : "s", ranks == 1 ? "s" : "", all, longest->to, longest->from,
                   at_site(report, [](uint32_t call) {
                     const CallKind kind = call_info[call].kind;
                     return kind == CallKind::receive || kind == CallKind::completion;
                   }).c_str())});
}

// Senders that wait for receives. A sender also waits while its data are copied: that long is not late.
void late_receivers(const Report& report, std::vector<Finding>& list) {
  constexpr double of_call = 20e-6, of_byte = 1e-9;  // seconds
  if (waits_for_processors(report)) return;
  double late = 0;
  double most = 0;
  int call = -1;
  for (int c = 0; c < call_count; ++c) {
    const CallSum& sum = report.calls[static_cast<size_t>(c)];
    if (call_info[c].kind != CallKind::send || sum.calls == 0) continue;
    const double seconds =
        sum.idle.sum - of_call * static_cast<double>(sum.calls) - of_byte * static_cast<double>(sum.bytes);
    if (seconds <= 0) continue;
    late += seconds;
    if (seconds > most) {
      most = seconds;
      call = c;
    }
  }
  if (call < 0 || share(late, report.all.run.sum) < 2 * worth) return;
  const Spread& idle = report.calls[static_cast<size_t>(call)].idle;
  if (unexplained(report, idle.most) < 2 * worth * report.all.run.mean()) return;
  const PairSum* longest = nullptr;
  for (const PairSum& pair : report.pairs) {
    if (pair.idle_sends > 0 && (longest == nullptr || pair.idle_sends > longest->idle_sends)) longest = &pair;
  }
  std::string text = format("receives are posted late: sends wait %.3f s for them, most in %s (rank %d %.3f s)", late,
                            call_info[call].name, idle.most_rank, idle.most);
  if (longest != nullptr)
    text += format("; rank %d waits %.3f s for receives of rank %d", longest->from, longest->idle_sends, longest->to);
  text += at_site_of_kind(report, CallKind::send) +
          ": let the receiver post them (MPI_Irecv) before its work, or send with MPI_Isend";
  list.push_back({late, text});
}

// One rank after the other as the root, at once: another operation does it in one call.
void roots_in_turn(const Report& report, std::vector<Finding>& list) {
  struct Meant {
    Call call;
    const char* instead;
  };
  static constexpr Meant pairs[] = {{Call::bcast_, "MPI_Allgather (or MPI_Allgatherv)"},
                                    {Call::gather_, "MPI_Alltoall (or MPI_Allgather, where all get the same)"},
                                    {Call::scatter_, "MPI_Alltoall"},
                                    {Call::reduce_, "MPI_Reduce_scatter_block"}};
  for (const Meant& meant : pairs) {
    const CallSum& sum = sum_of(report, meant.call);
    const double turns = share(static_cast<double>(sum.turns), static_cast<double>(sum.calls));
    constexpr uint64_t few = 16;
    if (sum.calls < few || turns < 0.5 || share(sum.seconds.sum, report.all.run.sum) < worth) continue;
    const auto same = [&](uint32_t call) { return call == static_cast<uint32_t>(meant.call); };
    list.push_back(
        {sum.seconds.sum,
         format("%s takes %.0f %% of the time and has one rank after the other as its root, at once, in %.0f "
                "%% of its calls%s: one call of %s does that",
                call_info[static_cast<int>(meant.call)].name, 100 * share(sum.seconds.sum, report.all.run.sum),
                100 * turns, at_site(report, same).c_str(), meant.instead)});
  }
}

// By the time with a processor: other programs that take processors make no work uneven, and hide none.
void unbalanced_work(const Report& report, std::vector<Finding>& list) {
  const Spread& computing = report.all.computing;
  const double uneven = is_disturbed(report) ? 1.5 : 1.2;  // that time is an estimate
  if (computing.ranks < 2 || computing.mean() <= 0 || computing.most < uneven * computing.mean()) return;
  const double lost = (computing.most - computing.mean()) * static_cast<double>(computing.ranks);
  if (share(lost, report.all.run.sum) < worth) return;
  if (waits_for_late_rank(report) > 0 && report.all.sync.least_rank == computing.most_rank) return;  // it is named
  list.push_back({lost, format("work is uneven: rank %d computes %.3f s, the mean is %.3f s: distribute it better",
                               computing.most_rank, computing.most, computing.mean())});
}

void shared_cores(const Report& report, std::vector<Finding>& list) {
  if (report.all.crowded == 0 || share(report.all.idle.sum, report.all.run.sum) < worth) return;
  list.push_back(
      {report.all.idle.sum / 2,
       format("%d rank%s share processors with others (%d for the ranks of a host): waits give the processor "
              "away instead of looking; start fewer ranks",
              report.all.crowded, report.all.crowded == 1 ? "" : "s", report.all.processors)});
}

void late_receives(const Report& report, std::vector<Finding>& list) {
  uint64_t messages = 0;
  for (const uint64_t path : report.all.path_messages) messages += path;
  const double unexpected = share(static_cast<double>(report.all.unexpected), static_cast<double>(messages));
  if (messages < 1000 || unexpected < 0.25) return;
  double seconds = 0;
  for (int c = 0; c < call_count; ++c) {
    const CallSum& sum = report.calls[static_cast<size_t>(c)];
    if (call_info[c].kind == CallKind::receive) seconds += sum.seconds.sum - sum.idle.sum;  // a wait is no work
  }
  if (share(seconds, report.all.run.sum) < worth) return;
  list.push_back({seconds * unexpected,
                  format("%.0f %% of the messages came before their receive: post receives (MPI_Irecv) before the "
                         "work that the senders do not wait for",
                         100 * unexpected)});
}

// Much time in a collective operation that moves data rather than waits.
void heavy_collective(const Report& report, std::vector<Finding>& list) {
  struct AdviceSetting {
    Call call;
    const char* setting;
  };
  static constexpr AdviceSetting choices[] = {
      {Call::bcast_, "WEFT_BCAST_ALGORITHM"},         {Call::allreduce_, "WEFT_ALLREDUCE_ALGORITHM"},
      {Call::allgather_, "WEFT_ALLGATHER_ALGORITHM"}, {Call::alltoall_, "WEFT_ALLTOALL_ALGORITHM"},
      {Call::reduce_, "WEFT_REDUCE_ALGORITHM"},       {Call::gather_, "WEFT_GATHER_ALGORITHM"},
      {Call::scatter_, "WEFT_SCATTER_ALGORITHM"},
  };
  for (const AdviceSetting& choice : choices) {
    const CallSum& sum = sum_of(report, choice.call);
    const double moving = sum.seconds.sum - sum.idle.sum;
    if (sum.bytes == 0 || share(unexplained(report, moving), report.all.run.sum) < 2 * worth) continue;
    list.push_back(
        {moving, format("%s of %s takes %.0f %% of the time without waiting: weft advice on the file of "
                        "WEFT_STATS_FILE simulates its algorithms, weft tune -n %d measures them, %s tries one",
                        call_info[static_cast<int>(choice.call)].name, sizes_text(sum.sizes, sum.bytes).c_str(),
                        100 * share(moving, report.all.run.sum), report.all.size, choice.setting)});
  }
}

// Polling: many calls of MPI_Test or MPI_Iprobe that find nothing.
void polling(const Report& report, std::vector<Finding>& list) {
  for (const Call call : {Call::test_, Call::testall_, Call::testany_, Call::testsome_, Call::iprobe_}) {
    const CallSum& sum = sum_of(report, call);
    if (sum.calls < 100000 || share(sum.seconds.sum, report.all.run.sum) < 2 * worth) continue;
    list.push_back(
        {sum.seconds.sum, format("%s is called %llu times, %.0f %% of the time: where there is nothing else to "
                                 "do, a waiting call leaves the processor to others",
                                 call_info[static_cast<int>(call)].name, static_cast<unsigned long long>(sum.calls),
                                 100 * share(sum.seconds.sum, report.all.run.sum))});
  }
}

}  // namespace

std::vector<std::string> advice(const Report& report) {
  constexpr double short_run = 0.1;  // seconds: the start of a job tells nothing of it
  if (report.all.run.most < short_run) return {};
  std::vector<Finding> found;
  for (const auto& rule : {late_rank, waits_in_turn, late_partner, late_receivers, roots_in_turn, unbalanced_work,
                           shared_cores, disturbed, late_receives, heavy_collective, polling}) {
    rule(report, found);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Finding& a, const Finding& b) { return a.seconds > b.seconds; });
  std::vector<std::string> texts;
  texts.reserve(found.size());
  for (Finding& one : found) texts.push_back(std::move(one.text));
  return texts;
}

}  // namespace weft::stats
