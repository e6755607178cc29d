// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "why/findings.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "why/words.hpp"

namespace weft::why {
namespace {

std::string person(const Process& p) {
  return "rank " + std::to_string(p.rank) + " (pid " + std::to_string(p.pid) +
         (p.host.empty() ? ")" : " on " + p.host + ")");
}

std::string duration(const Snapshot& snapshot, const Wait& wait) {
  if (wait.since_ns == 0 || wait.since_ns > snapshot.now_ns) return {};
  return ", for " + std::to_string((snapshot.now_ns - wait.since_ns) / 1000000000) + " s";
}

std::string wait_line(const Snapshot& snapshot, const Process& p, const Wait& wait) {
  std::string text = person(p);
  if (p.page.waits.size() > 1) text.append(", thread ").append(std::to_string(wait.thread)).append(",");
  return text.append(" is in ")
      .append(call_text(wait))
      .append(" and waits ")
      .append(purpose_text(wait))
      .append(duration(snapshot, wait));
}

void add_waits(const Snapshot& snapshot, const Process& p, std::vector<std::string>& lines) {
  for (const Wait& wait : p.page.waits) lines.push_back(wait_line(snapshot, p, wait));
}

// ---- Ranks that will never act, and are waited for

void find_gone(const Graph& graph, std::vector<Finding>& findings) {
  std::map<int32_t, std::vector<int32_t>> waiters;
  for (const Process& p : graph.snapshot().processes) {
    if (p.state != State::waiting) continue;
    for (const int32_t rank : graph.awaited_by(p.rank)) waiters[rank].push_back(p.rank);
  }
  for (const Process& p : graph.snapshot().processes) {
    const bool stopped = p.state == State::stopped;
    if (!stopped && p.state != State::ended && p.state != State::finalized) continue;
    const auto& by = waiters[p.rank];
    const bool blocks = std::any_of(by.begin(), by.end(), [&](int32_t rank) { return graph.is_stuck(rank); });
    if (!stopped && !blocks) continue;
    Finding f{stopped ? Cause::stopped : Cause::ended, {}, {}, {p.rank}};
    f.text = person(p) + " " + state_text(p);
    if (!by.empty())
      f.text.append(by.size() == 1 ? ", and " + ranks_text(by) + " waits for it"
                                   : ", and " + ranks_text(by) + " wait for it");
    if (stopped) f.lines.push_back("kill -CONT " + std::to_string(p.pid) + " lets it go on");
    for (const int32_t rank : by) add_waits(graph.snapshot(), *graph.find(rank), f.lines);
    findings.push_back(std::move(f));
  }
}

// ---- Threads that wait for each other outside of MPI

// A pool that waits for work may have many threads with equal waits.
void add_thread_waits(const Process& p, const char* unless, std::vector<std::string>& lines) {
  std::map<std::string, std::vector<uint32_t>> alike;
  for (const ThreadWait& wait : p.thread_waits) {
    if (wait.place.empty()) continue;
    alike["in " + (wait.call.empty() ? "a wait" : wait.call) + " at " + wait.place].push_back(wait.thread);
  }
  for (const auto& [text, threads] : alike) {
    const bool one = threads.size() == 1;
    std::string line = person(p) + ", ";
    line.append(one ? "thread " : std::to_string(threads.size()) + " threads, such as ");
    line.append(std::to_string(threads.front())).append(one ? ", is " : ", are ").append(text);
    lines.push_back(line.append(", and no thread is left to wake ").append(one ? "it" : "them").append(unless));
  }
}

void find_locked(const Graph& graph, std::vector<Finding>& findings) {
  for (const Process& p : graph.snapshot().processes) {
    if (p.state != State::locked) continue;
    Finding f{Cause::threads_locked, "lost wake: all threads of " + person(p), {}, {p.rank}};
    f.text +=
        " wait for each other outside of MPI: a condition was signalled before it was waited for, or locks are "
        "taken in different orders";
    add_thread_waits(p, "", f.lines);
    for (const Process& other : graph.snapshot().processes) {
      const std::vector<int32_t> awaited = graph.awaited_by(other.rank);
      const bool waits = std::find(awaited.begin(), awaited.end(), p.rank) != awaited.end();
      if (other.state == State::waiting && waits) add_waits(graph.snapshot(), other, f.lines);
    }
    findings.push_back(std::move(f));
  }
}

// ---- Collective operations that do not match

// One rank's call of the operation with this number on a communicator.
struct Called {
  int32_t rank;
  std::string call;
  int32_t root;
  int64_t bytes;
  const Wait* wait;  // nullptr: the rank has been through it
};

// A communicator: its context, and, as disjoint ones may have the same, its first member and size.
using CommName = std::tuple<uint32_t, int32_t, int32_t>;

CommName name_of(const Comm& comm) {
  return {comm.context, comm.members.empty() ? -1 : comm.members[0], comm.size};
}

using Calls = std::map<std::pair<CommName, uint32_t>, std::vector<Called>>;

Calls collect_calls(const Snapshot& snapshot) {
  Calls calls;
  for (const Process& p : snapshot.processes) {
    if (p.state != State::waiting) continue;
    for (const Wait& wait : p.page.waits) {
      if (wait.kind != WaitKind::collective || wait.order == 0 || wait.comm.size == 0) continue;
      calls[{name_of(wait.comm), wait.order}].push_back({p.rank, wait.call, wait.root, wait.bytes, &wait});
    }
    // The past is compared in MPI_COMM_WORLD alone: numbers of others are used again.
    for (const Past& past : p.page.past) {
      auto& same = calls[{CommName{0, 0, snapshot.size}, past.order}];
      const bool waits = !same.empty() && same.back().rank == p.rank;  // for a nonblocking one
      if (past.context == 0 && !waits) same.push_back({p.rank, past.call, past.root, past.bytes, nullptr});
    }
  }
  return calls;
}

// In these all ranks say the same number of bytes.
bool has_one_size(const std::string& call) {
  constexpr const char* names[] = {"MPI_Bcast",  "MPI_Reduce",  "MPI_Allreduce",  "MPI_Scan",  "MPI_Exscan",
                                   "MPI_Ibcast", "MPI_Ireduce", "MPI_Iallreduce", "MPI_Iscan", "MPI_Iexscan"};
  return std::find(std::begin(names), std::end(names), call) != std::end(names);
}

std::string called_text(const Called& c, bool with_root, bool with_bytes) {
  std::string text = c.call;
  if (with_root) text.append(" with root ").append(std::to_string(c.root));
  if (with_bytes) text.append(" of ").append(std::to_string(c.bytes)).append(" bytes");
  return text;
}

void add_mismatch(const Snapshot& snapshot, const Comm& comm, uint32_t order, const std::vector<Called>& calls,
                  std::vector<Finding>& findings) {
  const Called& first = calls.front();
  const auto differs = [&](auto&& part) {
    return std::any_of(calls.begin(), calls.end(), [&](const Called& c) { return part(c) != part(first); });
  };
  const bool other_call = differs([](const Called& c) { return c.call; });
  const bool other_root = !other_call && differs([](const Called& c) { return c.root; });
  const bool other_size =
      !other_call && !other_root && has_one_size(first.call) && differs([](const Called& c) { return c.bytes; });
  if (!other_call && !other_root && !other_size) return;
  std::map<std::string, std::vector<int32_t>> by_text;
  for (const Called& c : calls) by_text[called_text(c, other_root, other_size)].push_back(c.rank);
  Finding f{Cause::mismatch, {}, {}, {}};
  f.text = other_call   ? "collective operations in different orders in "
           : other_root ? "a collective operation with different roots in "
                        : "a collective operation with different sizes in ";
  f.text += comm_text(comm) + ": ";
  const char* between = "";
  for (auto& [text, ranks] : by_text) {
    std::sort(ranks.begin(), ranks.end());
    f.text.append(between).append(ranks_text(ranks)).append(ranks.size() == 1 ? " calls " : " call ").append(text);
    between = ", ";
    f.ranks.insert(f.ranks.end(), ranks.begin(), ranks.end());
  }
  f.text.append(" as operation ").append(std::to_string(order));
  for (const Called& c : calls) {
    const auto p = std::find_if(snapshot.processes.begin(), snapshot.processes.end(),
                                [&](const Process& q) { return q.rank == c.rank; });
    if (c.wait != nullptr) f.lines.push_back(wait_line(snapshot, *p, *c.wait));
  }
  findings.push_back(std::move(f));
}

void find_mismatches(const Snapshot& snapshot, std::vector<Finding>& findings) {
  for (const auto& [key, calls] : collect_calls(snapshot)) {
    const auto waiting = std::find_if(calls.begin(), calls.end(), [](const Called& c) { return c.wait != nullptr; });
    if (waiting == calls.end() || calls.size() < 2) continue;
    const size_t before = findings.size();
    add_mismatch(snapshot, waiting->wait->comm, key.second, calls, findings);
    if (findings.size() != before) return;  // later findings follow from the first
  }
}

// ---- Messages that nearly match

std::string near_text(const Process& p, const Message& wanted, const Message& there, const Wait& wait) {
  const bool same_comm = wanted.context == there.context;
  const bool same_peer = same_comm ? wanted.rank == there.rank : wanted.peer == there.peer;
  const std::string who = "rank " + std::to_string(p.rank);
  const std::string from = there.peer >= 0 ? peer_text(there.peer) : "rank " + std::to_string(there.rank) + " there";
  const std::string has_sent = from + " has sent it ";
  if (same_comm && same_peer)
    return "wrong tag: " + who + " waits for " + tag_text(wanted.tag) + " from " + peer_text(wanted.peer) + ", and " +
           has_sent + tag_text(there.tag);
  if (same_comm && wanted.tag == there.tag)
    return "wrong source: " + who + " waits for " + tag_text(wanted.tag) + " from " + peer_text(wanted.peer) +
           ", and " + has_sent + "that";
  if (!same_comm && wanted.tag == there.tag && (same_peer || there.peer < 0))
    return "wrong communicator: " + who + " waits for " + tag_text(wanted.tag) + " from " + peer_text(wanted.peer) +
           " in " + context_text(wanted.context, wait) + ", and " + has_sent + "that in " +
           context_text(there.context, wait);
  return {};
}

void find_near_misses(const Graph& graph, std::vector<Finding>& findings) {
  for (const Process& p : graph.snapshot().processes) {
    if (!graph.is_stuck(p.rank)) continue;
    for (const Wait& wait : p.page.waits) {
      for (const Message& wanted : wait.listed) {
        if (wanted.kind != MessageKind::receive || wanted.context % 2 != 0) continue;
        for (const Message& there : p.page.arrived_messages) {
          if (there.context % 2 != 0) continue;
          const std::string text = near_text(p, wanted, there, wait);
          if (text.empty()) continue;
          Finding f{Cause::near_miss, text, {wait_line(graph.snapshot(), p, wait)}, {p.rank}};
          if (wanted.peer >= 0) f.ranks.push_back(wanted.peer);
          if (const Process* other = graph.find(wanted.peer); other != nullptr)
            add_waits(graph.snapshot(), *other, f.lines);
          findings.push_back(std::move(f));
          break;
        }
      }
    }
  }
}

// ---- Circles

bool is_send(const Message& m) {
  return m.kind == MessageKind::send || m.kind == MessageKind::synchronous_send;
}

const Wait& first_wait(const Process& p) {
  return p.page.waits.front();
}

std::string short_purpose(const Wait& wait, int32_t next) {
  std::string rank = "rank " + std::to_string(next);
  for (const Message& m : wait.listed) {
    if (m.peer == next && is_send(m)) return rank + " to receive";
  }
  if (wait.kind == WaitKind::lock) return "a lock that " + rank + " holds";
  if (wait.kind == WaitKind::collective) return rank + " in " + wait.call + " of " + comm_text(wait.comm);
  if (wait.kind == WaitKind::all || wait.kind == WaitKind::any || wait.kind == WaitKind::probe)
    return "a message from " + rank;
  return rank;
}

// Ranks that are in operations of different communicators, and each of them waits for one that is in another.
bool is_of_other_orders(const Graph& graph, const std::vector<int32_t>& ranks) {
  std::set<uint32_t> contexts;
  for (const int32_t rank : ranks) {
    const Wait& wait = first_wait(*graph.find(rank));
    if (wait.kind != WaitKind::collective) return false;
    contexts.insert(wait.comm.context);
  }
  return contexts.size() > 1;
}

void find_cycle(const Graph& graph, std::vector<Finding>& findings) {
  const std::vector<int32_t> ranks = graph.cycle();
  if (ranks.empty()) return;
  Finding f{Cause::deadlock, "deadlock: ", {}, ranks};
  bool sends = true;
  for (const int32_t rank : ranks)
    add_thread_waits(*graph.find(rank), ": a lost wake, unless it is there for other work", f.lines);
  for (size_t i = 0; i < ranks.size(); ++i) {
    const Process& p = *graph.find(ranks[i]);
    const Wait& wait = first_wait(p);
    const int32_t next = ranks[(i + 1) % ranks.size()];
    constexpr size_t most = 4;
    if (ranks.size() == 1) {
      f.text.append("rank ").append(std::to_string(p.rank)).append(" waits for itself");
    } else if (i < most) {
      f.text.append(i == 0 ? "" : i + 1 == ranks.size() ? ", and " : ", ");
      f.text.append("rank ").append(std::to_string(p.rank)).append(" waits for ").append(short_purpose(wait, next));
    } else if (i == most) {
      f.text.append(", and so on round ").append(std::to_string(ranks.size())).append(" ranks");
    }
    if (wait.kind == WaitKind::lock) f.cause = Cause::lock;
    sends &= std::any_of(wait.listed.begin(), wait.listed.end(), is_send);
    add_waits(graph.snapshot(), p, f.lines);
  }
  if (is_of_other_orders(graph, ranks)) f.text.insert(10, "collective operations in different orders: ");
  if (f.cause == Cause::lock) {
    f.lines.emplace_back("a lock is held until MPI_Win_unlock: call it before waiting for ranks that want the lock");
  } else if (sends && ranks.size() == 1) {
    f.lines.emplace_back(
        "a rank that sends to itself posts the receive first, with MPI_Irecv, or sends with MPI_Isend");
  } else if (sends) {
    f.lines.emplace_back(
        "all of them send before they receive: MPI_Sendrecv, MPI_Isend, or another order on some ranks");
  }
  findings.push_back(std::move(f));
}

// ---- Messages that were changed on their way

std::string turned_away_text(const Snapshot& snapshot) {
  std::string text;
  for (const Process& p : snapshot.processes) {
    if (p.page.turned_away == 0) continue;
    text.append(text.empty() ? "" : ", ").append(person(p)).append(" has turned away ");
    text.append(std::to_string(p.page.turned_away));
  }
  if (text.empty()) return text;
  return "messages or connections of other hosts did not prove to be of this job: " + text;
}

// A circle of waits is no fault of the program where a message of it may be among those.
void find_turned_away(const Snapshot& snapshot, std::vector<Finding>& findings) {
  const std::string text = turned_away_text(snapshot);
  if (text.empty()) return;
  for (Finding& f : findings) {
    if (f.cause != Cause::deadlock && f.cause != Cause::lock) continue;
    f.cause = Cause::turned_away;
    f.text = text + ". If they were changed on their way, " + ranks_text(f.ranks) +
             " wait for what they brought, and not because of the program";
    f.lines.insert(f.lines.begin(), "look for a broken cable, adapter or switch between the hosts");
    return;
  }
  findings.front().lines.push_back(text);
}

// ---- Ranks that others wait for, and that may still act

Cause cause_of(const Process* p) {
  if (p == nullptr || p->state == State::unknown) return Cause::elsewhere;
  switch (p->state) {
    case State::starting:
      return Cause::starting;
    case State::running:
      return Cause::computes;
    case State::sleeping:
      return Cause::sleeps;
    case State::waiting:
      return p->threads_act ? Cause::threads : Cause::unknown;
    default:
      return Cause::unknown;
  }
}

const char* deed(Cause cause, bool one) {
  switch (cause) {
    case Cause::computes:
      return one ? "computes" : "compute";
    case Cause::sleeps:
      return one ? "sleeps outside of MPI" : "sleep outside of MPI";
    case Cause::threads:
      return one ? "has threads outside of MPI that may still call it"
                 : "have threads outside of MPI that may still call it";
    case Cause::starting:
      return one ? "has not come through MPI_Init" : "have not come through MPI_Init";
    default:
      return one ? "was not looked at (on another host, or hidden)" : "were not looked at (on other hosts, or hidden)";
  }
}

// The ranks at the ends of all chains of waits that begin with `rank`.
void follow(const Graph& graph, int32_t rank, std::set<int32_t>& seen, std::set<int32_t>& ends) {
  std::vector<int32_t> open{rank};
  while (!open.empty()) {
    const int32_t r = open.back();
    open.pop_back();
    if (!seen.insert(r).second) continue;
    const Process* p = graph.find(r);
    const std::vector<int32_t> awaited = graph.awaited_by(r);
    if (p == nullptr || p->state != State::waiting || p->threads_act || awaited.empty()) ends.insert(r);
    for (const int32_t next : awaited) open.push_back(next);
  }
}

void find_busy(const Graph& graph, std::vector<Finding>& findings) {
  std::map<int32_t, std::vector<int32_t>> waiters;  // by the rank at the end
  for (const Process& p : graph.snapshot().processes) {
    if (p.state != State::waiting || graph.is_stuck(p.rank)) continue;
    std::set<int32_t> seen, ends;
    follow(graph, p.rank, seen, ends);
    for (const int32_t end : ends) {
      if (end != p.rank) waiters[end].push_back(p.rank);
    }
  }
  std::map<Cause, std::vector<int32_t>> ends;
  for (const auto& [end, by] : waiters) ends[cause_of(graph.find(end))].push_back(end);
  for (const auto& [cause, ranks] : ends) {
    if (cause == Cause::unknown) continue;
    std::set<int32_t> by;
    for (const int32_t end : ranks) by.insert(waiters[end].begin(), waiters[end].end());
    const std::vector<int32_t> waiting(by.begin(), by.end());
    Finding f{cause, {}, {}, ranks};
    const bool one = ranks.size() == 1;
    f.text = ranks_text(ranks) + " " + deed(cause, one);
    f.text.append(", and ").append(ranks_text(waiting)).append(waiting.size() == 1 ? " waits" : " wait");
    f.text.append(one ? " for it: no deadlock" : " for them: no deadlock");
    if (cause == Cause::elsewhere) f.text.append(" is seen");
    for (const int32_t rank : ranks) {
      const Process* p = graph.find(rank);
      if (p != nullptr && f.lines.size() < 4) {
        if (p->state == State::waiting) {
          add_waits(graph.snapshot(), *p, f.lines);
        } else {
          f.lines.push_back(person(*p) + " " + state_text(*p) +
                            (cause == Cause::computes ? "; gdb -p " + std::to_string(p->pid) + " shows where" : ""));
        }
      }
    }
    for (const int32_t rank : waiting) {
      if (f.lines.size() < 8) add_waits(graph.snapshot(), *graph.find(rank), f.lines);
    }
    findings.push_back(std::move(f));
  }
}

Finding nothing_found(const Snapshot& snapshot) {
  std::vector<int32_t> waiting;
  for (const Process& p : snapshot.processes) {
    if (p.state == State::waiting) waiting.push_back(p.rank);
  }
  std::vector<int32_t> starting;
  for (const Process& p : snapshot.processes) {
    if (p.state == State::starting) starting.push_back(p.rank);
  }
  if (!starting.empty() && waiting.empty()) {
    return {Cause::starting, ranks_text(starting) + " " + deed(Cause::starting, starting.size() == 1), {}, starting};
  }
  if (waiting.empty()) return {Cause::not_in_mpi, "no rank waits in MPI", {}, {}};
  Finding f{Cause::unknown,
            ranks_text(waiting) + (waiting.size() == 1 ? " waits" : " wait") +
                " in MPI, and nothing says that this will not end: look again",
            {},
            waiting};
  for (const Process& p : snapshot.processes) {
    if (f.lines.size() < 8) add_waits(snapshot, p, f.lines);
  }
  return f;
}

}  // namespace

bool is_certain(Cause cause) {
  return cause <= Cause::lock;
}

const char* name(Cause cause) {
  constexpr const char* names[] = {"ended",       "stopped",  "threads locked", "mismatch", "near miss",
                                   "turned away", "deadlock", "lock",           "starting", "computes",
                                   "sleeps",      "threads",  "elsewhere",      "unknown",  "not in MPI"};
  return names[static_cast<int>(cause)];
}

std::vector<Finding> find_causes(const Snapshot& snapshot) {
  const Graph graph(snapshot);
  std::vector<Finding> findings;
  find_gone(graph, findings);
  find_locked(graph, findings);
  find_mismatches(snapshot, findings);
  find_near_misses(graph, findings);
  find_cycle(graph, findings);
  find_busy(graph, findings);
  if (findings.empty()) findings.push_back(nothing_found(snapshot));
  find_turned_away(snapshot, findings);
  std::set<std::string> told;  // a line is of use once
  for (Finding& f : findings) {
    std::erase_if(f.lines, [&](const std::string& line) { return !told.insert(line).second; });
  }
  return findings;
}

std::vector<std::string> describe_ranks(const Snapshot& snapshot) {
  std::vector<std::pair<std::string, std::vector<int32_t>>> groups;  // in order of the first rank
  const auto add = [&](const std::string& text, int32_t rank) {
    for (auto& [known, ranks] : groups) {
      if (known != text) continue;
      if (ranks.back() != rank) ranks.push_back(rank);
      return;
    }
    groups.emplace_back(text, std::vector<int32_t>{rank});
  };
  for (const Process& p : snapshot.processes) {
    if (p.state != State::waiting || p.page.waits.empty()) add(state_name(p.state), p.rank);
    for (const Wait& wait : p.page.waits) {
      if (p.state == State::waiting) add("in " + call_text(wait) + ", " + purpose_text(wait), p.rank);
    }
  }
  std::vector<std::string> lines;
  lines.reserve(groups.size());
  for (const auto& [text, ranks] : groups) lines.push_back(ranks_text(ranks) + ": " + text);
  return lines;
}

}  // namespace weft::why
