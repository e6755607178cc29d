// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/incoming.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "transport/net/check.hpp"

namespace weft::transport::tcp {
namespace {

// Read at once. As much of data that go elsewhere is copied, which takes less time than first to see where they go:
// 64 KiB move at 3.3 GB/s, and at 3.0 where only 4 KiB are read at once (bench/bandwidth between two hosts).
constexpr size_t incoming_bytes = 128 << 10;
constexpr int told_most = 64;  // items reported in one poll
static_assert(incoming_bytes >= 2 * net::frame_most);

constexpr size_t unknown = SIZE_MAX;
constexpr size_t data_changed = SIZE_MAX;

// How long an item is that begins with these bytes; of a few bytes, the most that it can be.
size_t item_bytes(const unsigned char* item, size_t left) {
  if (left < item_least) return net::frame_most;
  switch (*reinterpret_cast<const uint16_t*>(item)) {
    case net::pushed_magic:
      return item_least;
    case net::magic:
    case net::sealed_magic:
      return net::frame_bytes(item);
    default:
      break;
  }
  switch (*reinterpret_cast<const uint32_t*>(item)) {
    case ask_magic:
    case answer_magic:
    case invitation_magic:
      return item_least;
    case datagram_magic:
      return sizeof(Datagram) + size_t{reinterpret_cast<const Datagram*>(item)->bytes};
    default:
      return unknown;
  }
}

// The rest of an item, which has not come, is awaited.
void keep_partial(Link& source, const unsigned char* item, size_t left) {
  if (left != 0) {
    source.partial.assign(item, item + left);
  } else if (source.partial.capacity() != 0) {
    std::vector<unsigned char>().swap(source.partial);
  }
}

}  // namespace

Incoming::Incoming(uint32_t lanes, Links& links, Outgoing& outgoing, DatagramChannel& datagrams,
                   const net::Registered& registered)
    : links_(links), outgoing_(outgoing), datagrams_(datagrams), registered_(registered), batches_(lanes) {
  for (Batch& batch : batches_) batch.memory = std::make_unique_for_overwrite<unsigned char[]>(incoming_bytes);
}

void Incoming::each_intake(void (*call)(void* memory, size_t bytes)) const {
  for (const Batch& batch : batches_) call(batch.memory.get(), incoming_bytes);
}

bool Incoming::holds_any() const {
  return std::any_of(batches_.begin(), batches_.end(),
                     [](const Batch& batch) { return batch.untold.load(std::memory_order_relaxed); });
}

int Incoming::read(uint32_t lane, Link& link, net::Events& events) {
  if (holds(lane) || link.state.load(std::memory_order_acquire) != LinkState::open) return 0;
  Batch& batch = batches_[lane];
  const size_t kept = link.partial.size();
  // Items lie at multiples of 16, also behind what is dropped.
  const size_t begin = kept != 0 ? 0 : (16 - link.filling.drop % 16) % 16;
  // Behind data that were asked for come others as a rule: then their head is read, which tells where they go.
  const size_t behind =
      link.filling.left != 0 && !link.asked.empty() ? link.filling.drop + item_least : incoming_bytes - begin - kept;
  iovec parts[2] = {{link.filling.to, link.filling.left}, {&batch.memory[begin + kept], behind}};
  const int from = link.socket.descriptor();
  const ssize_t bytes = link.filling.left != 0 ? ::readv(from, parts, 2)
                                               : ::recv(from, parts[1].iov_base, parts[1].iov_len, MSG_DONTWAIT);
  if (bytes < 0 && later()) return 0;
  if (bytes <= 0) {
    lose(lane, link, bytes < 0 ? errno : ECONNRESET, events);
    return 0;
  }
  const size_t direct = std::min(static_cast<size_t>(bytes), link.filling.left);
  link.filling.to += direct;
  link.filling.left -= direct;
  if (kept != 0) std::memcpy(batch.memory.get(), link.partial.data(), kept);
  links_.note_heard(links_.port(lane), link);
  batch.source = &link;
  batch.at = begin;
  batch.end = begin + kept + static_cast<size_t>(bytes) - direct;
  return std::max(1, deliver(lane, events));
}

int Incoming::deliver(uint32_t lane, net::Events& events) {
  Batch& batch = batches_[lane];
  batch.untold.store(false, std::memory_order_relaxed);
  Link& source = *batch.source;
  for (int told = 0;; ++told) {
    if (source.filling.what != Filling::FillTarget::nothing) {
      const size_t taken = fill(source, &batch.memory[batch.at], batch.end - batch.at, events);
      if (taken == data_changed) [[unlikely]] {
        batch.at = batch.end;
        outgoing_.end_changed(lane, source, events);
        return told;
      }
      batch.at += taken;
      if (source.filling.what != Filling::FillTarget::nothing) {  // all of it is filled in
        source.partial.clear();
        return told;
      }
    }
    const unsigned char* const item = &batch.memory[batch.at];
    const size_t left = batch.end - batch.at;
    const size_t bytes = item_bytes(item, left);
    const bool whole = left >= on_the_wire(bytes);
    const bool understood = bytes <= net::frame_most && (whole || is_believed(lane, source, item, left, events));
    if (understood && !whole) {
      keep_partial(source, item, left);
      batch.at = batch.end;
      return told;
    }
    if (understood && told >= told_most) {
      batch.untold.store(true, std::memory_order_relaxed);
      return told;
    }
    batch.at += on_the_wire(bytes);
    if (understood && take_item(lane, source, item, bytes, told, events)) continue;
    batch.at = batch.end;
    outgoing_.end_changed(lane, source, events);
    return told;
  }
}

// Whether the length is to be believed of an item whose rest has not come: one that was changed on its way could have
// the receiver wait for bytes that nobody has sent.
bool Incoming::is_believed(uint32_t lane, Link& source, const unsigned char* item, size_t left, net::Events& events) {
  if (left < item_least) return true;
  if (*reinterpret_cast<const uint32_t*>(item) == datagram_magic) {
    return DatagramChannel::believes(source, *reinterpret_cast<const Datagram*>(item));
  }
  return events.believes(lane, *reinterpret_cast<const net::Header*>(item));
}

bool Incoming::take_item(uint32_t lane, Link& source, const unsigned char* item, size_t bytes, int& told,
                         net::Events& events) {
  if (*reinterpret_cast<const uint16_t*>(item) == net::pushed_magic) {
    return begin_pushed(lane, source, *reinterpret_cast<const net::Header*>(item), events);
  }
  switch (*reinterpret_cast<const uint32_t*>(item)) {
    case ask_magic:
      return answer(lane, source, *reinterpret_cast<const Ask*>(item), events);
    case answer_magic:
      return begin_answer(source, *reinterpret_cast<const ReadAnswer*>(item), events);
    case invitation_magic:
      return datagrams_.accept(source, *reinterpret_cast<const Invitation*>(item));
    case datagram_magic:
      return datagrams_.repeated(lane, source, item, bytes, events);
    default:
      break;
  }
  const net::Events::Came came = events.came(lane, item, bytes);
  // The frames that it must wait for may be among the datagrams.
  if (came == net::Events::Came::early) told += datagrams_.read_beside(lane, source, events);
  return came != net::Events::Came::refused;
}

void Incoming::lose(uint32_t lane, Link& link, int error, net::Events& events) {
  Ended ended;
  {
    const std::lock_guard guard(link.lock);
    outgoing_.lose(link, error, ended);
  }
  ended.report(lane, events);
}

// ---- memory that is read

int Incoming::ask(Link& link, const MemoryRef& memory, size_t at, void* to, size_t bytes, Read& read) {
  Ask ask = {.magic = ask_magic,
             .bytes = static_cast<uint32_t>(bytes),
             .key = memory.key,
             .address = memory.address + at,
             .number = ++link.last_number,
             .unused = 0,
             .proof = 0};
  if (link.state.load(std::memory_order_relaxed) == LinkState::open) ask.proof = proof_of(ask, link.keys.ours);
  if (const int error = outgoing_.send_item(link, &ask); error != 0) return error;
  link.asked.push_back({ask.number, &read, static_cast<unsigned char*>(to), bytes});
  link.fills.store(true, std::memory_order_relaxed);
  return 0;
}

// Sends what a peer asks for. false: it is not the peer's.
bool Incoming::answer(uint32_t lane, Link& link, const Ask& ask, net::Events& events) {
  if (ask.number != ++link.their_number || ask.proof != proof_of(ask, link.keys.theirs)) return false;
  const bool allowed = registered_.allows(ask.key, ask.address, ask.bytes);
  ReadAnswer head = {.magic = answer_magic,
                     .error = allowed ? 0u : static_cast<uint32_t>(EFAULT),
                     .number = ask.number,
                     .bytes = allowed ? ask.bytes : 0,
                     .check = 0,
                     .unused = 0,
                     .proof = 0};
  if (allowed && net::checks_data(ask.bytes))
    head.check = net::check_of(reinterpret_cast<const void*>(ask.address), ask.bytes);
  head.proof = proof_of(head, link.keys.ours);
  Ended ended;
  {
    const std::lock_guard guard(link.lock);
    if (link.state.load(std::memory_order_relaxed) != LinkState::open) return true;
    outgoing_.answer(link, head, ask.address, ended);
  }
  ended.report(lane, events);
  return true;
}

// An answer has come in. false: it is not the peer's, or to nothing that was asked.
bool Incoming::begin_answer(Link& link, const ReadAnswer& answer, net::Events& events) {
  if (answer.proof != proof_of(answer, link.keys.theirs)) return false;
  const auto asked =
      std::find_if(link.asked.begin(), link.asked.end(), [&](const Asked& a) { return a.number == answer.number; });
  if (asked == link.asked.end()) return false;
  const Asked one = *asked;
  if (answer.bytes != (answer.error == 0 ? one.bytes : 0)) return false;
  link.asked.erase(asked);
  if (answer.error != 0) {
    link.fills.store(!link.asked.empty(), std::memory_order_relaxed);
    events.have_read(*one.read, static_cast<int>(answer.error));
  } else {
    link.filling = {
        Filling::FillTarget::read,           one.read, one.to, one.bytes, on_the_wire(one.bytes) - one.bytes,
        static_cast<uint32_t>(answer.check), one.bytes};
  }
  return true;
}

// ---- data that go to their place

// Data are pushed. false: nothing can be believed any more.
bool Incoming::begin_pushed(uint32_t lane, Link& link, const net::Header& header, net::Events& events) {
  const size_t bytes = header.bytes;
  PushDestination room;
  if (!events.pushing(lane, header, room)) return false;
  const size_t wanted = std::min(room.bytes, bytes);
  link.filling = {Filling::FillTarget::pushed,
                  room.read,
                  static_cast<unsigned char*>(room.to),
                  wanted,
                  on_the_wire(bytes) - wanted,
                  wanted == bytes ? header.check : 0,
                  bytes};
  link.fills.store(true, std::memory_order_relaxed);
  return true;
}

// Puts data in their place; how many bytes were of use, or data_changed.
size_t Incoming::fill(Link& link, const unsigned char* data, size_t bytes, net::Events& events) {
  Filling& filling = link.filling;
  const size_t part = std::min(bytes, filling.left);
  if (part != 0) std::memcpy(filling.to, data, part);
  filling.to += part;
  filling.left -= part;
  const size_t rest = std::min(bytes - part, filling.drop);
  filling.drop -= rest;
  if (filling.left == 0 && filling.drop == 0) {
    const Filling over = std::exchange(filling, {});
    link.fills.store(!link.asked.empty(), std::memory_order_relaxed);
    if (over.check != 0 && !net::fits(over.check, over.to - over.bytes, over.bytes)) [[unlikely]]
      return data_changed;
    if (over.what == Filling::FillTarget::read) {
      events.have_read(*over.read, 0);
    } else if (over.read != nullptr) {
      events.have_pushed(*over.read);
    }
  }
  return part + rest;
}

void Incoming::give_up(Link& link, net::Events& events) {
  links_.port_of(link).pending.fetch_sub(1, std::memory_order_relaxed);
  const Filling begun = std::exchange(link.filling, {});
  if (begun.what == Filling::FillTarget::pushed) {
    if (begun.read != nullptr) events.lost_pushed(link.rank, link.error);
  } else if (begun.read != nullptr) {
    events.have_read(*begun.read, link.error);
  }
  for (const Asked& asked : std::exchange(link.asked, {})) events.have_read(*asked.read, link.error);
}

}  // namespace weft::transport::tcp
