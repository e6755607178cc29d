// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The part of the transport that sends to one rank.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transport/net/check.hpp"
#include "transport/net/transport.hpp"

namespace weft::transport::net {
namespace {

// While so many are in flight nothing large is pushed: the receiver keeps messages that come before their receive, up
// to 5 MiB from each sender beyond WEFT_UNEXPECTED_LIMIT, which senders learn too late.
constexpr uint64_t pushed_window = 32;
// Larger messages are read in pieces, so that a receiver that must register its memory does that beside the last one's
// read.
constexpr size_t piece_most = 4 << 20;

}  // namespace

NetEndpoint::NetEndpoint(NetTransport& owner, int rank, LaneMap lanes)
    : owner_(owner),
      rank_(rank),
      lanes_(lanes),
      key_(frame_key(owner.secret_, static_cast<uint32_t>(owner.rank_), static_cast<uint32_t>(rank))),
      mask_(mask_of(owner.secret_, static_cast<uint32_t>(rank))) {
  attention_ = &word_;
  if (lanes.lanes() > 1) ways_ = std::make_unique<WayOfLane[]>(lanes.lanes());
  for (uint32_t lane = 0; owner.encrypts() && lane < lanes.lanes(); ++lane) {
    way_to_lane(lane).cipher =
        std::make_unique<Cipher>(owner.secret_, static_cast<uint32_t>(owner.rank_), static_cast<uint32_t>(rank));
  }
}

Header NetEndpoint::header(uint8_t kind, const Envelope& envelope, uint32_t bytes, size_t staged) const {
  return {.magic = owner_.encrypts() ? sealed_magic : magic,
          .sequence = 0,
          .origin = static_cast<uint32_t>(owner_.rank_) ^ mask_,
          .proof = 0,
          .stamp = envelope.stamp,
          .context = envelope.context,
          .source = envelope.source,
          .tag = envelope.tag,
          .bytes = bytes,
          .staged = static_cast<uint16_t>(staged),
          .kind = kind,
          .lane = static_cast<uint8_t>(envelope.lane),
          .check = 0};
}

Post NetEndpoint::post(LanePort& port, Buffer* buffer, unsigned char* start, size_t bytes, uint32_t lane) {
  LanePath& way = way_to_lane(lane);
  const base::LockIf guard(way.lock, owner_.threads_);
  if (way.under_way() >= owner_.window_) return Post::retry;
  return post_next(port, buffer, start, bytes, lane);
}

// Called with the lock of the lane's path, when the window is not full.
Post NetEndpoint::post_next(LanePort& port, Buffer* buffer, unsigned char* start, size_t bytes, uint32_t lane) {
  LanePath& way = way_to_lane(lane);
  if (way.cipher == nullptr && checks_data(bytes - sizeof(Header))) write_check(start, bytes);
  seal(start, way.sent);
  const Post posted = way.cipher != nullptr ? post_encrypted(port, buffer, start, bytes, lane)
                                            : hand_over(port, buffer, start, bytes, lane);
  if (posted == Post::done) ++way.sent;
  return posted;
}

// Sends from another buffer: the data in this one may be sent again, and then with another number.
Post NetEndpoint::post_encrypted(LanePort& port, Buffer* buffer, const unsigned char* start, size_t bytes,
                                 uint32_t lane) {
  Buffer* const sealed = owner_.take(lane, held_.load(std::memory_order_relaxed));
  if (sealed == nullptr) return Post::retry;
  Header h;
  std::memcpy(&h, start, sizeof h);
  std::memcpy(sealed->bytes, &h, sizeof h);
  LanePath& way = way_to_lane(lane);
  way.cipher->seal(h, way.sent, start + sizeof h, bytes - sizeof h, sealed->bytes + sizeof h);
  const Post posted = hand_over(port, sealed, sealed->bytes, bytes + tag_bytes, lane);
  owner_.give(port, posted == Post::done ? buffer : sealed);
  return posted;
}

// Writes the check of what is behind a header into it.
void NetEndpoint::write_check(unsigned char* start, size_t bytes) {
  const uint32_t check = check_of(start + sizeof(Header), bytes - sizeof(Header));
  std::memcpy(start + offsetof(Header, check), &check, sizeof check);
}

// Writes a frame's number and its proof into its header.
void NetEndpoint::seal(unsigned char* start, uint64_t number) const {
  Header h;
  std::memcpy(&h, start, sizeof h);
  h.sequence = static_cast<uint16_t>(number);
  h.proof = proof_of(h, number, key_);
  std::memcpy(start, &h, sizeof h);
}

Post NetEndpoint::hand_over(LanePort& port, Buffer* buffer, const void* start, size_t bytes, uint32_t lane) {
  buffer->peer = this;
  const int error = owner_.carrier_->send(lane & owner_.lanes_.mask, buffer, start, bytes, way_to_lane(lane).address);
  if (error == 0) {  // its end may have been told already: then these are back where they were
    held_.fetch_add(1, std::memory_order_relaxed);
    port.outgoing.fetch_add(1, std::memory_order_relaxed);
    return Post::done;
  }
  if (error == Carrier::gone) {
    owner_.give(port, buffer);
    return Post::done;
  }
  return failed(error);
}

// The outcome of a post by the carrier's error. A rank that leaves the job tries no more.
Post NetEndpoint::failed(int error) {
  if (error == EAGAIN || owner_.leaving_.load(std::memory_order_relaxed)) return Post::retry;
  if (!lost_.exchange(true, std::memory_order_relaxed)) owner_.report_lost(rank_, error, "to");
  return Post::lost;
}

Post NetEndpoint::send(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes) {
  LanePort& port = owner_.port_for(envelope.lane);
  Buffer* buffer = owner_.take(envelope.lane, held_.load(std::memory_order_relaxed));
  if (buffer == nullptr) return Post::retry;
  const Header h = header(kind, envelope, bytes, 0);
  std::memcpy(buffer->bytes, &h, sizeof h);
  if (bytes != 0) std::memcpy(buffer->bytes + sizeof h, data, bytes);
  const Post posted = post(port, buffer, buffer->bytes, sizeof h + bytes, envelope.lane);
  if (posted != Post::done) owner_.give(port, buffer);
  return posted;
}

Post NetEndpoint::push(uint8_t kind, Envelope envelope, const void* data, size_t bytes, Left left) {
  if (bytes > owner_.capabilities().push_most) return Post::unsupported;
  LanePort& port = owner_.port_for(envelope.lane);
  Buffer* buffer = owner_.take(envelope.lane, held_.load(std::memory_order_relaxed));
  if (buffer == nullptr) return Post::unsupported;
  Header h = header(kind, envelope, static_cast<uint32_t>(bytes), 0);
  h.magic = pushed_magic;
  if (checks_data(bytes)) h.check = check_of(data, bytes);
  buffer->left = left;
  buffer->peer = this;
  LanePath& way = way_to_lane(envelope.lane);
  const base::LockIf guard(way.lock, owner_.threads_);
  const bool room = way.under_way() < (bytes <= staging_most ? owner_.window_ : pushed_window);
  std::memcpy(buffer->bytes, &h, sizeof h);
  if (room) seal(buffer->bytes, way.sent);
  const int error = room ? owner_.carrier_->push(buffer, data, bytes, way.address) : EAGAIN;
  if (error <= 0) ++way.sent;
  if (error == 0 || error == Carrier::copied) {
    held_.fetch_add(1, std::memory_order_relaxed);
    port.outgoing.fetch_add(1, std::memory_order_relaxed);
    return error == 0 ? Post::posted : Post::done;
  }
  buffer->left = {};
  owner_.give(port, buffer);
  if (error == Carrier::gone) return Post::done;
  return failed(error);
}

Post NetEndpoint::read(const MemoryRef& from, size_t at, void* to, size_t& bytes, uint32_t lane, Read& read) {
  if (from.key == MemoryRef::no_key || !owner_.reads_.load(std::memory_order_relaxed)) return Post::unsupported;
  bytes = std::min({bytes, piece_most, owner_.carrier_->read_most()});
  const int error = owner_.carrier_->read(lane, way_to_lane(0).address, from, at, to, bytes, read);
  return error == 0 ? Post::posted : error == EAGAIN ? Post::retry : Post::unsupported;
}

bool NetEndpoint::tell_congestion(bool on) {
  if ((told_ % 2 != 0) == on) return true;
  if (send_own(congestion, {0, 0, static_cast<int32_t>(told_ + 1), 0}) == Post::retry) return false;
  ++told_;
  return true;
}

void NetEndpoint::hear_congestion(uint32_t number) {
  if (static_cast<int32_t>(number - heard_) <= 0) return;
  heard_ = number;
  word_.store(number % 2 != 0 ? saturated : 0, std::memory_order_relaxed);
}

Post NetEndpoint::send_own(uint8_t kind, Envelope envelope) {
  LanePort& port = owner_.port_for(envelope.lane);
  Buffer* buffer = owner_.take(envelope.lane, held_.load(std::memory_order_relaxed), Carrier::Use::word);
  if (buffer == nullptr) return Post::retry;
  Header h = header(kind, envelope, 0, 0);
  h.magic = magic;
  std::memcpy(buffer->bytes, &h, sizeof h);
  seal(buffer->bytes, 0);
  const Post posted = hand_over(port, buffer, buffer->bytes, sizeof h, envelope.lane);
  if (posted != Post::done) owner_.give(port, buffer);
  return posted;
}

namespace {

// The data go in front of what is staged, and the header in front of both.
unsigned char* put_in_front(Buffer* buffer, const Header& h, const void* data) {
  unsigned char* start = buffer->staging() - h.bytes - sizeof h;
  std::memcpy(start, &h, sizeof h);
  std::memcpy(start + sizeof h, data, h.bytes);
  return start;
}

}  // namespace

Post NetEndpoint::send_staged(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes, const Staging& staging,
                              size_t staged) {
  auto* buffer = reinterpret_cast<Buffer*>(staging.handle);
  if (!owner_.has_room(envelope.lane, held_.load(std::memory_order_relaxed))) return Post::retry;
  unsigned char* start = put_in_front(buffer, header(kind, envelope, bytes, staged), data);
  return post(owner_.port_for(envelope.lane), buffer, start, sizeof(Header) + bytes + staged, envelope.lane);
}

Post NetEndpoint::write(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes, const Staging& staging,
                        size_t staged, const MemoryRef& to, size_t at, uint32_t lane, Written told) {
  if (to.key == MemoryRef::no_key || !owner_.writes_.load(std::memory_order_relaxed) || checks_all_data())
    return Post::unsupported;
  auto* buffer = reinterpret_cast<Buffer*>(staging.handle);
  buffer->peer = this;
  buffer->told = told;
  buffer->frame = put_in_front(buffer, header(kind, envelope, bytes, staged), data);
  LanePath& way = way_to_lane(envelope.lane);
  {
    const base::LockIf guard(way.lock, owner_.threads_);
    if (way.under_way() >= owner_.window_) return Post::retry;
    ++way.placing;
  }
  std::atomic<uint32_t>& outgoing = owner_.ports_[lane].outgoing;
  outgoing.fetch_add(1, std::memory_order_relaxed);
  const int error = owner_.carrier_->write(lane, buffer, staging.memory, staged, way_to_lane(0).address, to, at);
  if (error == 0) return Post::posted;
  outgoing.fetch_sub(1, std::memory_order_relaxed);
  const base::LockIf guard(way.lock, owner_.threads_);
  --way.placing;
  return error == EAGAIN ? Post::retry : Post::unsupported;
}

// The message of contents that were to be written. Its number is that of the moment: nothing waits for it meanwhile.
Post NetEndpoint::post_written(const Header& h, Buffer* buffer) {
  LanePath& way = way_to_lane(h.lane);
  const base::LockIf guard(way.lock, owner_.threads_);
  const Post posted = post_next(owner_.port_for(h.lane), buffer, buffer->frame, sizeof h + h.bytes + h.staged, h.lane);
  if (posted == Post::done) --way.placing;
  return posted;
}

}  // namespace weft::transport::net
