// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/transport.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/message.hpp"
#include "transport/ofi/network.hpp"

namespace weft::transport::ofi {
namespace {

constexpr int incoming_buffers = 64;  // of a lane
constexpr int outgoing_buffers = 64;
// What a sender may have under way to a lane. Providers take in all that has come and keep what we have no buffers for
// in memory of their own, without bound.
constexpr uint16_t window = 64;
constexpr uint16_t tell_every = 24;     // frames
constexpr size_t longest_address = 64;  // bytes of an endpoint's name

// What a rank publishes: "1s" (a digit for the number of lanes as a power of two, `s` when source and tag choose among
// them) under lanes_key, and the names of its endpoints in hexadecimal, as many in a value as there is room for.
constexpr const char* lanes_key = "weft-lanes";
std::string address_key(uint32_t part) {
  return "weft-address" + std::to_string(part);
}

[[noreturn]] void die_of(const char* call, int64_t error) {
  base::die({.cause = std::string("libfabric refused ") + call + ": " + error_text(error),
             .remedy = "choose another provider with WEFT_OFI_PROVIDER (fi_info lists them)"});
}
void must(const char* call, int64_t result) {
  if (result != 0) die_of(call, result);
}

std::string to_hex(const unsigned char* bytes, size_t count) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < count; ++i) text += {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
  return text;
}

bool from_hex(std::string_view text, unsigned char* bytes) {
  for (size_t i = 0; 2 * i + 1 < text.size(); ++i) {
    const char* at = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(at, at + 2, bytes[i], 16);
    if (error != std::errc() || end != at + 2) return false;
  }
  return true;
}

[[noreturn]] void die_of_peer(int rank, int64_t error) {
  base::die({.cause = "a message to rank " + std::to_string(rank) +
                      ", on another host, cannot be delivered: " + error_text(error),
             .remedy = "see whether that rank or its host failed; if the hosts cannot reach each other at the "
                       "addresses used, name their common network with WEFT_NETWORKS"});
}

[[noreturn]] void die_of_record(int rank) {
  base::die({.cause = "what rank " + std::to_string(rank) + " published is no address of libfabric",
             .remedy = "give all ranks the same Weft library and the same WEFT_ settings"});
}

}  // namespace

OfiTransport::OfiTransport(int rank, int ranks, LaneMap lanes, const std::string& secret, const Directory& directory)
    : rank_(rank), ranks_(ranks), lanes_(lanes), proofs_(secret), directory_(directory) {
  const Library& l = library();
  info_ = choose_provider();
  must("fi_fabric", l.fabric(info_->fabric_attr, &fabric_, nullptr));
  must("fi_domain", fi_domain(fabric_, info_, &domain_, nullptr));
  fi_av_attr attributes = {};
  attributes.type = FI_AV_TABLE;
  must("fi_av_open", fi_av_open(domain_, &attributes, &addresses_, nullptr));
  ports_ = std::make_unique<Port[]>(lanes_.lanes());
  for (uint32_t lane = 0; lane < lanes_.lanes(); ++lane) open_port(ports_[lane]);
  publish_address();
}

OfiTransport::~OfiTransport() {
  for (uint32_t lane = 0; lane < lanes_.lanes(); ++lane) {
    if (ports_[lane].endpoint != nullptr) fi_close(&ports_[lane].endpoint->fid);
    if (ports_[lane].completions != nullptr) fi_close(&ports_[lane].completions->fid);
  }
  if (addresses_ != nullptr) fi_close(&addresses_->fid);
  if (domain_ != nullptr) fi_close(&domain_->fid);
  if (fabric_ != nullptr) fi_close(&fabric_->fid);
  if (info_ != nullptr) library().freeinfo(info_);
}

void OfiTransport::open_port(Port& port) {
  must("fi_endpoint", fi_endpoint(domain_, info_, &port.endpoint, nullptr));
  fi_cq_attr attributes = {};
  attributes.size = incoming_buffers + outgoing_buffers;
  attributes.format = FI_CQ_FORMAT_MSG;
  attributes.wait_obj = FI_WAIT_NONE;
  must("fi_cq_open", fi_cq_open(domain_, &attributes, &port.completions, nullptr));
  must("fi_ep_bind (completions)", fi_ep_bind(port.endpoint, &port.completions->fid, FI_TRANSMIT | FI_RECV));
  must("fi_ep_bind (addresses)", fi_ep_bind(port.endpoint, &addresses_->fid, 0));
  must("fi_enable", fi_enable(port.endpoint));
  port.buffers = std::make_unique<Buffer[]>(incoming_buffers + outgoing_buffers);
  for (int i = 0; i < incoming_buffers + outgoing_buffers; ++i) {
    Buffer& buffer = port.buffers[static_cast<size_t>(i)];
    buffer.incoming = i < incoming_buffers;
    if (buffer.incoming) {
      listen(port, &buffer);
    } else {
      give(port, &buffer);
    }
  }
}

void OfiTransport::publish_address() {
  directory_.publish(lanes_key, std::to_string(lanes_.lanes_log2()) + (lanes_.spread != 0 ? "s" : ""));
  std::string text;
  uint32_t part = 0;
  for (uint32_t lane = 0; lane < lanes_.lanes(); ++lane) {
    unsigned char name[longest_address];
    size_t bytes = sizeof name;
    must("fi_getname", fi_getname(&ports_[lane].endpoint->fid, name, &bytes));
    const std::string one = to_hex(name, bytes);
    if (!text.empty() && text.size() + 1 + one.size() > directory_.longest) {
      directory_.publish(address_key(part++), text);
      text.clear();
    }
    text += (text.empty() ? "" : ",") + one;
  }
  directory_.publish(address_key(part), text);
}

LaneMap OfiTransport::read_lanes(int rank) {
  const std::string text = directory_.published(rank, lanes_key);
  uint32_t log2 = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), log2);
  if (error != std::errc() || (1u << std::min(log2, 31u)) > max_lanes) die_of_record(rank);
  return {(1u << log2) - 1, text.ends_with('s') ? ~0u : 0u};
}

void OfiTransport::read_address(int rank, OfiEndpoint& endpoint) {
  uint32_t lane = 0;
  for (uint32_t part = 0; lane < endpoint.lanes_.lanes(); ++part) {
    const std::string value = directory_.published(rank, address_key(part));
    std::string_view text = value;
    while (!text.empty()) {
      const std::string_view one = text.substr(0, text.find(','));
      text.remove_prefix(std::min(text.size(), one.size() + 1));
      unsigned char name[longest_address];
      if (lane == endpoint.lanes_.lanes() || one.size() / 2 > sizeof name || !from_hex(one, name) ||
          fi_av_insert(addresses_, name, 1, &endpoint.ways_[lane++].address, 0, nullptr) != 1) {
        die_of_record(rank);
      }
    }
    if (value.empty()) die_of_record(rank);
  }
}

OfiEndpoint& OfiTransport::endpoint(int rank) {
  std::lock_guard guard(lock_);
  std::unique_ptr<OfiEndpoint>& known = endpoints_[rank];
  if (known == nullptr) {
    known = std::make_unique<OfiEndpoint>(*this, rank, read_lanes(rank));
    read_address(rank, *known);
  }
  return *known;
}

bool OfiTransport::knows(int rank) {
  std::lock_guard guard(lock_);
  return endpoints_.contains(rank);
}

Endpoint* OfiTransport::connect(int rank) {
  return &endpoint(rank);
}

// Buffers stay with the lane they were last sent on: one that has none left takes another's.
Buffer* OfiTransport::take(uint32_t lane) {
  for (uint32_t i = 0; i < lanes_.lanes(); ++i) {
    Port& port = port_for(lane + i);
    std::lock_guard guard(port.lock);
    if (Buffer* buffer = port.free) {
      port.free = buffer->next;
      return buffer;
    }
  }
  return nullptr;
}

void OfiTransport::give(Port& port, Buffer* buffer) {
  std::lock_guard guard(port.lock);
  buffer->next = port.free;
  port.free = buffer;
}

void OfiTransport::listen(Port& port, Buffer* buffer) {
  const auto result =
      fi_recv(port.endpoint, buffer->bytes, sizeof buffer->bytes, nullptr, FI_ADDR_UNSPEC, &buffer->context);
  if (result == 0) return;
  if (result != -FI_EAGAIN) die_of("fi_recv", result);
  buffer->next = port.unposted;
  port.unposted = buffer;
}

int OfiTransport::poll(uint32_t lane, Sink sink) {
  Port& port = ports_[lane];
  if (to_tell_.load(std::memory_order_relaxed)) [[unlikely]]
    tell_congestion();
  if (port.behind) [[unlikely]]
    tell_taken_again(port, lane);
  for (Buffer* waiting = std::exchange(port.unposted, nullptr); waiting != nullptr;) {
    listen(port, std::exchange(waiting, waiting->next));
  }
  constexpr size_t most = 16;
  fi_cq_msg_entry done[most];
  const auto count = fi_cq_read(port.completions, done, most);
  if (count == -FI_EAGAIN) return 0;
  if (count < 0) {
    failed(port);
    return 0;
  }
  int handled = 0;
  for (int i = 0; i < count; ++i) {
    auto* buffer = static_cast<Buffer*>(done[i].op_context);
    if (buffer->incoming) {
      handle(lane, buffer->bytes, done[i].len, sink);
      listen(port, buffer);
    } else {
      port.outgoing.fetch_sub(1, std::memory_order_relaxed);
      give(port, buffer);
    }
    ++handled;
  }
  return handled;
}

void OfiTransport::drain(uint32_t lane, Sink sink) {
  while (poll(lane, sink) > 0) continue;
}

void OfiTransport::handle(uint32_t lane, const unsigned char* frame, size_t bytes, Sink sink) {
  const Header* h =
      check_frame(frame, bytes, proofs_, static_cast<uint32_t>(rank_), static_cast<uint32_t>(ranks_), lanes_.lanes());
  if (h == nullptr || h->lane != lane) {
    if (strangers_.fetch_add(1, std::memory_order_relaxed) == 0) {
      base::warn({.cause = "a message of " + std::to_string(bytes) +
                           " bytes came in that is not from a rank of this job; it is turned away, as others will be",
                  .remedy = ""});
    }
    return;
  }
  if (h->kind == taken) {
    OfiEndpoint& peer = endpoint(static_cast<int>(h->origin));
    const auto their_lane = static_cast<size_t>(h->source);
    if (their_lane >= peer.lanes_.lanes()) return;
    std::atomic<uint16_t>& known = peer.ways_[their_lane].taken;
    const auto told = static_cast<uint16_t>(h->tag);
    if (static_cast<int16_t>(told - known.load(std::memory_order_relaxed)) > 0) {
      known.store(told, std::memory_order_relaxed);
    }
    return;
  }
  if (h->kind == congestion) return endpoint(static_cast<int>(h->origin)).congest(h->tag != 0);
  const uint32_t origin = h->origin;
  Sender& sender = ports_[lane].senders[origin];
  if (h->sequence != sender.expected) {
    sender.early[h->sequence].frame.assign(frame, frame + bytes);
    return;
  }
  deliver(*h, sink);
  ++sender.expected;
  for (auto next = sender.early.find(sender.expected); next != sender.early.end();
       next = sender.early.find(sender.expected)) {
    deliver(*reinterpret_cast<const Header*>(next->second.frame.data()), sink);
    sender.early.erase(next);
    ++sender.expected;
  }
  if (static_cast<uint16_t>(sender.expected - sender.told) < tell_every) return;
  if (!tell_taken(lane, origin, sender)) ports_[lane].behind = true;
}

bool OfiTransport::tell_taken(uint32_t lane, uint32_t origin, Sender& sender) {
  // The launcher has no time for addresses during the last barrier; who sends us something for the first time then has
  // nobody who receives it.
  if (leaving_.load(std::memory_order_relaxed) && !knows(static_cast<int>(origin))) return true;
  OfiEndpoint& peer = endpoint(static_cast<int>(origin));
  const Envelope envelope{0, static_cast<int32_t>(lane), sender.expected, lane & peer.lanes_.mask};
  if (peer.send_own(taken, envelope) != Post::done) return false;
  sender.told = sender.expected;
  return true;
}

void OfiTransport::tell_taken_again(Port& port, uint32_t lane) {
  port.behind = false;
  for (auto& [origin, sender] : port.senders) {
    if (static_cast<uint16_t>(sender.expected - sender.told) < tell_every) continue;
    if (!tell_taken(lane, origin, sender)) port.behind = true;
  }
}

void OfiTransport::deliver(const Header& h, Sink sink) {
  if (congested_.load(std::memory_order_relaxed) && !leaving_.load(std::memory_order_relaxed)) [[unlikely]] {
    (void)endpoint(static_cast<int>(h.origin));  // so that it is told
    to_tell_.store(true, std::memory_order_relaxed);
  }
  sink(Arrival{h.kind, {h.context, h.source, h.tag, h.lane, h.stamp}, &h + 1, h.bytes});
}

// A completion with an error. What was to be sent is lost, and with it the job.
void OfiTransport::failed(Port& port) {
  fi_cq_err_entry entry = {};
  if (fi_cq_readerr(port.completions, &entry, 0) < 1) return;
  auto* buffer = static_cast<Buffer*>(entry.op_context);
  if (buffer->incoming) {
    if (entry.err != FI_ECANCELED) listen(port, buffer);
    return;
  }
  if (leaving_.load(std::memory_order_relaxed)) {
    port.outgoing.fetch_sub(1, std::memory_order_relaxed);
    return give(port, buffer);
  }
  die_of_peer(buffer->rank, entry.err);
}

Staging OfiTransport::reserve_staging(size_t bytes) {
  if (bytes > staging_most) return {};
  Buffer* buffer = take(0);
  if (buffer == nullptr) return {};
  return {buffer->staging(), reinterpret_cast<uint64_t>(buffer)};
}

void OfiTransport::drop_staging(const Staging& staging, size_t) {
  give(ports_[0], reinterpret_cast<Buffer*>(staging.handle));
}

void OfiTransport::set_congested(bool on) {
  congested_.store(on, std::memory_order_relaxed);
  to_tell_.store(true, std::memory_order_relaxed);
}

void OfiTransport::tell_congestion() {
  std::lock_guard guard(lock_);
  const bool on = congested_.load(std::memory_order_relaxed);
  bool all = true;
  for (auto& [rank, peer] : endpoints_) {
    if (peer == nullptr || peer->told_ == on) continue;
    if (peer->send_own(congestion, {0, 0, on ? 1 : 0, 0}) == Post::done) {
      peer->told_ = on;
    } else {
      all = false;
    }
  }
  if (all && on == congested_.load(std::memory_order_relaxed)) to_tell_.store(false, std::memory_order_relaxed);
}

bool OfiTransport::all_sent() const {
  for (uint32_t lane = 0; lane < lanes_.lanes(); ++lane) {
    if (ports_[lane].outgoing.load(std::memory_order_relaxed) != 0) return false;
  }
  return true;
}

Transport* open(int rank, int ranks, LaneMap lanes, const std::string& secret, const Directory& directory) {
  return new OfiTransport(rank, ranks, lanes, secret, directory);
}

OfiEndpoint::OfiEndpoint(OfiTransport& owner, int rank, LaneMap lanes)
    : owner_(owner),
      rank_(rank),
      lanes_(lanes),
      proof_(owner.proofs_.of(static_cast<uint32_t>(owner.rank_), static_cast<uint32_t>(rank))) {
  attention_ = &word_;
  ways_ = std::make_unique<Way[]>(lanes.lanes());
}

Header OfiEndpoint::header(uint8_t kind, const Envelope& envelope, uint32_t bytes, size_t staged) const {
  return {.magic = magic,
          .origin = static_cast<uint32_t>(owner_.rank_),
          .proof = proof_,
          .stamp = envelope.stamp,
          .context = envelope.context,
          .source = envelope.source,
          .tag = envelope.tag,
          .bytes = bytes,
          .staged = static_cast<uint32_t>(staged),
          .kind = kind,
          .lane = static_cast<uint8_t>(envelope.lane),
          .sequence = 0};
}

Post OfiEndpoint::post(Port& port, Buffer* buffer, unsigned char* start, size_t bytes, uint32_t lane) {
  std::lock_guard guard(lock_);
  Way& way = ways_[lane];
  if (static_cast<uint16_t>(way.sent - way.taken.load(std::memory_order_relaxed)) >= window) return Post::retry;
  std::memcpy(start + offsetof(Header, sequence), &way.sent, sizeof way.sent);
  const Post posted = hand_over(port, buffer, start, bytes, lane);
  if (posted == Post::done) ++way.sent;
  return posted;
}

Post OfiEndpoint::hand_over(Port& port, Buffer* buffer, const void* start, size_t bytes, uint32_t lane) {
  buffer->rank = rank_;
  port.outgoing.fetch_add(1, std::memory_order_relaxed);
  const auto result = fi_send(port.endpoint, start, bytes, nullptr, ways_[lane].address, &buffer->context);
  if (result == 0) return Post::done;
  port.outgoing.fetch_sub(1, std::memory_order_relaxed);
  if (result != -FI_EAGAIN && !owner_.leaving_.load(std::memory_order_relaxed)) {
    die_of_peer(rank_, result);
  }
  return Post::retry;
}

Post OfiEndpoint::send(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes) {
  Port& port = owner_.port_for(envelope.lane);
  Buffer* buffer = owner_.take(envelope.lane);
  if (buffer == nullptr) return Post::retry;
  const Header h = header(kind, envelope, bytes, 0);
  std::memcpy(buffer->bytes, &h, sizeof h);
  if (bytes != 0) std::memcpy(buffer->bytes + sizeof h, data, bytes);
  const Post posted = post(port, buffer, buffer->bytes, sizeof h + bytes, envelope.lane);
  if (posted != Post::done) owner_.give(port, buffer);
  return posted;
}

Post OfiEndpoint::send_own(uint8_t kind, Envelope envelope) {
  Port& port = owner_.port_for(envelope.lane);
  Buffer* buffer = owner_.take(envelope.lane);
  if (buffer == nullptr) return Post::retry;
  const Header h = header(kind, envelope, 0, 0);
  std::memcpy(buffer->bytes, &h, sizeof h);
  const Post posted = hand_over(port, buffer, buffer->bytes, sizeof h, envelope.lane);
  if (posted != Post::done) owner_.give(port, buffer);
  return posted;
}

// The data go in front of what is staged, and the header in front of both.
Post OfiEndpoint::send_staged(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes, const Staging& staging,
                              size_t staged) {
  auto* buffer = reinterpret_cast<Buffer*>(staging.handle);
  const Header h = header(kind, envelope, bytes, staged);
  unsigned char* start = buffer->staging() - bytes - sizeof h;
  std::memcpy(start, &h, sizeof h);
  std::memcpy(start + sizeof h, data, bytes);
  return post(owner_.port_for(envelope.lane), buffer, start, sizeof h + bytes + staged, envelope.lane);
}

}  // namespace weft::transport::ofi
