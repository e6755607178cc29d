// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The page of a process as bytes of unknown origin.
#include <algorithm>
#include <cstring>

#include "boot/job/environment.hpp"
#include "why/snapshot.hpp"

namespace weft::why {
namespace {

using boot::WaitPage;

// The text up to its zero, with nothing in it that a terminal would take for more than text.
template <size_t room>
std::string bounded_text(const char (&text)[room]) {
  std::string out(text, strnlen(text, room));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return out;
}

bool is_rank(int32_t rank, int32_t size) {
  return (rank >= 0 && rank < size) || rank == boot::no_rank || rank == boot::any_rank;
}

bool read_message(const boot::PageMessage& from, int32_t size, Message& to) {
  if (from.kind >= boot::message_kinds || !is_rank(from.peer, size) || from.rank < boot::no_rank) return false;
  to = {static_cast<MessageKind>(from.kind), from.context, from.peer, from.rank, from.tag, from.bytes};
  return true;
}

bool read_messages(const boot::PageMessage* from, uint32_t count, uint32_t most, int32_t size,
                   std::vector<Message>& to) {
  if (count > most) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!read_message(from[i], size, to.emplace_back())) return false;
  }
  return true;
}

bool read_comm(const boot::PageComm& from, int32_t size, Comm& to) {
  if (from.size == 0) return true;
  if (from.size < 0 || from.size > boot::most_ranks || from.listed > boot::PageComm::most) return false;
  to = {from.context, from.size, from.rank, bounded_text(from.name), {}};
  const bool formula = from.stride != 0;
  const auto count = formula ? from.size : std::min<int32_t>(from.size, static_cast<int32_t>(from.listed));
  to.members.reserve(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) {
    const int64_t rank = formula ? from.first + int64_t{i} * from.stride : from.members[i];
    if (rank < 0 || rank >= size) return false;
    to.members.push_back(static_cast<int32_t>(rank));
  }
  return true;
}

bool read_wait(const boot::PageWait& from, int32_t size, Wait& to) {
  if (from.kind >= boot::wait_kinds || !is_rank(from.target, size)) return false;
  to.kind = static_cast<WaitKind>(from.kind);
  to.thread = from.thread;
  to.number = from.number;
  to.since_ns = from.since_ns;
  to.site = from.site;
  to.call = bounded_text(from.call);
  to.target = from.target;
  to.root = from.root;
  to.bytes = from.bytes;
  to.order = from.order;
  to.messages = from.messages;
  return from.listed <= from.messages &&
         read_messages(from.message, from.listed, boot::PageWait::most, size, to.listed) &&
         read_comm(from.comm, size, to.comm);
}

}  // namespace

bool read_page(const void* bytes, size_t size, Page& page) {
  page = {};
  if (size < WaitPage::bytes_with(0)) return false;
  WaitPage from{};  // waits that are not there are free places
  memcpy(&from, bytes, std::min(size, sizeof from));
  if (from.magic != boot::wait_magic || from.sequence % 2 != 0) return false;
  if (from.bytes > size || from.bytes < WaitPage::bytes_with(0)) return false;
  if (from.size < 1 || from.size > boot::most_ranks || from.rank < 0 || from.rank >= from.size) return false;
  page.sequence = from.sequence;
  page.pid = from.pid;
  page.rank = from.rank;
  page.size = from.size;
  page.concurrent = from.concurrent != 0;
  page.untold = from.untold;
  page.turned_away = from.turned_away;
  page.arrived = from.arrived;
  page.open = from.open;
  page.job = bounded_text(from.job);
  for (const boot::PageWait& wait : from.waits) {
    if (wait.kind == static_cast<uint32_t>(WaitKind::none)) continue;
    if (!read_wait(wait, from.size, page.waits.emplace_back())) return false;
  }
  constexpr uint32_t most = WaitPage::most_listed;
  if (from.past_listed > most || from.locks_listed > most) return false;
  if (!read_messages(from.arrived_messages, from.arrived_listed, most, from.size, page.arrived_messages) ||
      !read_messages(from.open_messages, from.open_listed, most, from.size, page.open_messages)) {
    return false;
  }
  for (uint32_t i = 0; i < from.past_listed; ++i) {
    const boot::PagePast& past = from.past[i];
    page.past.push_back({past.context, past.order, past.root, past.bytes, bounded_text(past.call)});
  }
  for (uint32_t i = 0; i < from.locks_listed; ++i) {
    const boot::PageLock& lock = from.locks[i];
    if (lock.target < 0 || lock.target >= from.size) return false;
    page.locks.push_back({lock.context, lock.target, lock.exclusive != 0});
  }
  return true;
}

}  // namespace weft::why
