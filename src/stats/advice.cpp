// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Rules that turn the numbers of a run into advice. A rule states its evidence and a remedy.

#include <algorithm>

#include "base/bytes.hpp"
#include "stats/text.hpp"

namespace weft::stats {
namespace {

struct Found {
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

// One rank that all others wait for in collective operations.
void late_rank(const Report& report, std::vector<Found>& list) {
  const Spread& sync = report.all.sync;
  if (sync.ranks < 2 || share(sync.sum, report.all.run.sum) < worth) return;
  const double others = (sync.sum - sync.least) / static_cast<double>(sync.ranks - 1);
  if (sync.least > others / 4) return;
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
  const Spread& outside = report.all.outside;
  if (outside.most_rank == sync.least_rank && outside.most > 1.1 * outside.mean()) {
    text +=
        format(". It computes %.2f times as long as the mean: give it less work", share(outside.most, outside.mean()));
  } else {
    text += ". Look at what it does before them";
  }
  list.push_back({others * static_cast<double>(sync.ranks - 1), text});
}

// A rank that others wait for between two ranks.
void late_partner(const Report& report, std::vector<Found>& list) {
  const PairSum* longest = nullptr;
  for (const PairSum& pair : report.pairs) {
    if (pair.from != pair.to && (longest == nullptr || pair.idle > longest->idle)) longest = &pair;
  }
  if (longest == nullptr || longest->idle < 2 * worth * report.all.run.mean()) return;
  double all = 0;
  int ranks = 0;
  for (const PairSum& pair : report.pairs) {
    if (pair.to != longest->to || pair.from == pair.to || pair.idle <= 0) continue;
    all += pair.idle;
    ++ranks;
  }
  list.push_back(
      {all, format("%d rank%s wait%s %.3f s in all for messages of rank %d (rank %d the longest): let it send "
                   "earlier, or do other work before the wait",
                   ranks, ranks == 1 ? "" : "s", ranks == 1 ? "s" : "", all, longest->to, longest->from)});
}

void unbalanced_work(const Report& report, std::vector<Found>& list) {
  const Spread& outside = report.all.outside;
  if (outside.ranks < 2 || outside.mean() <= 0 || outside.most < 1.2 * outside.mean()) return;
  const double lost = (outside.most - outside.mean()) * static_cast<double>(outside.ranks);
  if (share(lost, report.all.run.sum) < worth || report.all.sync.least_rank == outside.most_rank) return;
  list.push_back({lost, format("work is uneven: rank %d computes %.3f s, the mean is %.3f s: distribute it better",
                               outside.most_rank, outside.most, outside.mean())});
}

void shared_cores(const Report& report, std::vector<Found>& list) {
  if (report.all.crowded == 0 || share(report.all.idle.sum, report.all.run.sum) < worth) return;
  list.push_back(
      {report.all.idle.sum / 2,
       format("%d rank%s share processors with others (%d for the ranks of a host): waits give the processor "
              "away instead of looking; start fewer ranks",
              report.all.crowded, report.all.crowded == 1 ? "" : "s", report.all.processors)});
}

void late_receives(const Report& report, std::vector<Found>& list) {
  uint64_t messages = 0;
  for (const uint64_t path : report.all.path_messages) messages += path;
  const double unexpected = share(static_cast<double>(report.all.unexpected), static_cast<double>(messages));
  if (messages < 1000 || unexpected < 0.25) return;
  double seconds = 0;
  for (int c = 0; c < call_count; ++c) {
    if (call_info[c].kind == CallKind::receive) seconds += report.calls[static_cast<size_t>(c)].seconds.sum;
  }
  if (share(seconds, report.all.run.sum) < worth) return;
  list.push_back({seconds * unexpected,
                  format("%.0f %% of the messages came before their receive: post receives (MPI_Irecv) before the "
                         "work that the senders do not wait for",
                         100 * unexpected)});
}

// Much time in a collective operation that moves data rather than waits.
void heavy_collective(const Report& report, std::vector<Found>& list) {
  struct Choice {
    Call call;
    const char* setting;
  };
  static constexpr Choice choices[] = {
      {Call::bcast_, "WEFT_BCAST_ALGORITHM"},         {Call::allreduce_, "WEFT_ALLREDUCE_ALGORITHM"},
      {Call::allgather_, "WEFT_ALLGATHER_ALGORITHM"}, {Call::alltoall_, "WEFT_ALLTOALL_ALGORITHM"},
      {Call::reduce_, "WEFT_REDUCE_ALGORITHM"},       {Call::gather_, "WEFT_GATHER_ALGORITHM"},
      {Call::scatter_, "WEFT_SCATTER_ALGORITHM"},
  };
  for (const Choice& choice : choices) {
    const CallSum& sum = sum_of(report, choice.call);
    const double moving = sum.seconds.sum - sum.idle.sum;
    if (share(moving, report.all.run.sum) < 2 * worth || sum.calls == 0) continue;
    list.push_back(
        {moving, format("%s of %s takes %.0f %% of the time without waiting: weft advice on the file of "
                        "WEFT_STATS_FILE simulates its algorithms, weft tune -n %d measures them, %s tries one",
                        call_info[static_cast<int>(choice.call)].name, base::shown_bytes(sum.bytes / sum.calls).c_str(),
                        100 * share(moving, report.all.run.sum), report.all.size, choice.setting)});
  }
}

// Polling: many calls of MPI_Test or MPI_Iprobe that find nothing.
void polling(const Report& report, std::vector<Found>& list) {
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
  std::vector<Found> found;
  for (const auto& rule :
       {late_rank, late_partner, unbalanced_work, shared_cores, late_receives, heavy_collective, polling}) {
    rule(report, found);
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.seconds > b.seconds; });
  std::vector<std::string> texts;
  texts.reserve(found.size());
  for (Found& one : found) texts.push_back(std::move(one.text));
  return texts;
}

}  // namespace weft::stats
