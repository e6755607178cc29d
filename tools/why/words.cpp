// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "why/words.hpp"

#include <algorithm>

namespace weft::why {

std::string ranks_text(const std::vector<int32_t>& ranks) {
  constexpr size_t most = 8;
  std::vector<std::string> parts;
  for (size_t i = 0; i < ranks.size() && parts.size() < most;) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (last == i + 1) last = i;  // two ranks are no range
    std::string part = std::to_string(ranks[i]);
    if (last > i) part.append("-").append(std::to_string(ranks[last]));
    parts.push_back(part);
    i = last + 1;
  }
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < parts.size(); ++i) {
    text.append(i == 0 ? "" : i + 1 == parts.size() && parts.size() < most ? " and " : ", ").append(parts[i]);
  }
  return parts.size() < most ? text : text + " and others";
}

std::string peer_text(int32_t peer) {
  if (peer == boot::any_rank) return "any rank";
  return peer < 0 ? "another rank" : "rank " + std::to_string(peer);
}

std::string tag_text(int32_t tag) {
  return tag == boot::any_tag ? "any tag" : "tag " + std::to_string(tag);
}

std::string comm_text(const Comm& comm) {
  if (comm.name.starts_with("MPI_COMM_")) return comm.name;
  if (!comm.name.empty()) return "communicator \"" + comm.name + "\"";
  if (comm.size == 0) return "a communicator";
  return "a communicator of " + std::to_string(comm.size) + " ranks (context " + std::to_string(comm.context) + ")";
}

std::string context_text(uint32_t context, const Wait& wait) {
  if (context <= 1) return "MPI_COMM_WORLD";
  if (context <= 3) return "MPI_COMM_SELF";
  if (wait.comm.size > 0 && (wait.comm.context | 1) == (context | 1)) return comm_text(wait.comm);
  return "another communicator (context " + std::to_string(context) + ")";
}

std::string call_text(const Wait& wait) {
  return wait.place.empty() ? wait.call : wait.call + " at " + wait.place;
}

namespace {

std::string message_text(const Message& m, const Wait& wait) {
  std::string text;
  switch (m.kind) {
    case MessageKind::receive:
    case MessageKind::arrived:
      return text.append("a message with ")
          .append(tag_text(m.tag))
          .append(" from ")
          .append(peer_text(m.peer))
          .append(" in ")
          .append(context_text(m.context, wait));
    case MessageKind::operation:
      return text.append("an operation in ").append(context_text(m.context, wait));
    default:
      return text.append(peer_text(m.peer))
          .append(" to receive ")
          .append(std::to_string(m.bytes))
          .append(" bytes with ")
          .append(tag_text(m.tag))
          .append(" in ")
          .append(context_text(m.context, wait));
  }
}

std::string collective_text(const Wait& wait) {
  std::string text = "the other ranks of " + comm_text(wait.comm);
  std::string about;
  if (wait.order > 0) about.append("operation ").append(std::to_string(wait.order));
  if (wait.root >= 0) about.append(about.empty() ? "" : ", ").append("root ").append(std::to_string(wait.root));
  if (wait.bytes >= 0) about.append(about.empty() ? "" : ", ").append(std::to_string(wait.bytes)).append(" bytes");
  return about.empty() ? text : text + " (" + about + ")";
}

}  // namespace

std::string purpose_text(const Wait& wait) {
  switch (wait.kind) {
    case WaitKind::collective:
      return "for " + collective_text(wait);
    case WaitKind::lock:
      return "for the lock of " + peer_text(wait.target) + "'s window";
    case WaitKind::exposure:
      return "for MPI_Win_post of " + peer_text(wait.target);
    case WaitKind::access:
      return "for MPI_Win_complete of " + peer_text(wait.target);
    case WaitKind::flush:
      return "for one-sided operations to end at " + peer_text(wait.target);
    case WaitKind::memory:
      return "for memory of its own to change";
    default:
      break;
  }
  if (wait.listed.empty()) return "for something that is not known";
  std::string text;
  constexpr size_t most = 3;
  for (size_t i = 0; i < wait.listed.size() && i < most; ++i) {
    const bool first = i == 0;
    text.append(first ? "for " : wait.kind == WaitKind::any ? ", or " : ", and ");
    text.append(message_text(wait.listed[i], wait));
  }
  if (wait.messages > most) text.append(" (and ").append(std::to_string(wait.messages - most)).append(" more)");
  return text;
}

std::string state_name(State state) {
  constexpr const char* names[] = {"not looked at",
                                   "before the end of MPI_Init",
                                   "computing, outside of MPI",
                                   "asleep, outside of MPI",
                                   "waiting in MPI",
                                   "stopped by a signal",
                                   "in waits of its threads for each other",
                                   "after MPI_Finalize",
                                   "ended"};
  return names[static_cast<int>(state)];
}

std::string state_text(const Process& process) {
  switch (process.state) {
    case State::unknown:
      return "could not be looked at";
    case State::starting:
      return "has not come through MPI_Init";
    case State::running:
      return "computes: it uses its processor and does not wait in MPI";
    case State::sleeping:
      return "sleeps outside of MPI";
    case State::waiting:
      return process.page.waits.empty() ? "waits in MPI" : "waits in " + call_text(process.page.waits[0]);
    case State::stopped:
      return "is stopped by a signal";
    case State::locked:
      return "stands still outside of MPI: its threads wait for each other";
    case State::finalized:
      return "has called MPI_Finalize";
    default:
      return "has ended";
  }
}

}  // namespace weft::why
