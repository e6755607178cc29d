// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net/transport.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/hex.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "base/thread_number.hpp"
#include "boot/job/notes.hpp"
#include "device/api/pins.hpp"
#include "transport/api/device_memory.hpp"
#include "transport/api/failure.hpp"
#include "transport/net/check.hpp"
#include "transport/net/lifeline.hpp"
#include "transport/net/reading.hpp"
#include "transport/net/socket.hpp"

namespace weft::transport::net {
namespace {

constexpr size_t buffers_first = 64;  // for what a lane sends,
constexpr size_t buffers_more = 8;    // and again so many, when peers that take nothing hold all of these
// Up to here messages are pushed where they can be, and no setting says otherwise.
constexpr int64_t pushed_usual = 128 << 10;

// A rank's published record. Under lanes_key "1s/ucx/344/h2": the number of its lanes as a power of two (with `s` when
// source and tag choose among them), the carrier, and the characters of the addresses of its lanes in hexadecimal, with
// commas between. These are in as many values as they need. Behind it the name of the host, for people.
constexpr const char* lanes_key = "weft-lanes";
std::string address_key(uint32_t part) {
  return "weft-address" + std::to_string(part);
}

struct PeerRecord {
  LaneMap lanes;
  std::string carrier;
  size_t characters = 0;
  std::string host;
};

// The result has the host's name in characters that every launcher passes on.
std::string printable(std::string_view name) {
  constexpr size_t longest = 63;
  std::string text(name.substr(0, longest));
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c <= 32 || c > 126 || c == '/' || c == '='; }, '?');
  return text;
}

std::string name_of_this_host() {
  char name[256] = "";
  (void)gethostname(name, sizeof name - 1);
  return printable(name);
}

// `rank` as the process knows it.
void fail_of_record(int rank) {
  fail(rank, {.cause = "what rank " + std::to_string(rank) + " published is no address of a carrier",
              .remedy = "give all ranks the same Weft library and the same WEFT_ settings"});
}

bool parse_record(const std::string& text, PeerRecord& record) {
  const char* const end = text.data() + text.size();
  uint32_t log2 = 0;
  auto [at, error] = std::from_chars(text.data(), end, log2);
  if (error != std::errc() || (1u << std::min(log2, 31u)) > max_lanes) return false;
  const bool spread = at != end && *at == 's';
  if (spread) ++at;
  if (at == end || *at != '/') return false;
  const char* const name = ++at;
  at = std::find(name, end, '/');
  record = {{(1u << log2) - 1, spread ? ~0u : 0u}, {name, at}};
  if (at == end) return false;
  at = std::from_chars(at + 1, end, record.characters).ptr;
  if (at != end && *at == '/') record.host = printable({at + 1, static_cast<size_t>(end - at - 1)});
  return at == end || *at == '/';
}

}  // namespace

std::string protocol_in(std::string_view publication) {
  std::string_view value;
  PeerRecord record;
  if (!boot::find_entry(publication, lanes_key, value) || !parse_record(std::string(value), record)) return {};
  return record.carrier;
}

NetTransport::NetTransport(std::unique_ptr<Carrier> carrier, const Opening& opening)
    : rank_(opening.rank),
      ranks_(opening.ranks),
      renumber_(opening.renumber),
      threads_(opening.threads),
      lanes_(opening.lanes),
      secret_(Key::of_secret(opening.secret)),
      receiver_{static_cast<uint32_t>(opening.rank),
                static_cast<uint32_t>(opening.ranks),
                opening.lanes.lanes(),
                opening.encrypt,
                opening.side,
                mask_of(secret_, static_cast<uint32_t>(opening.rank))},
      directory_(opening.directory),
      ports_(std::make_unique<LanePort[]>(lanes_.lanes())),
      carrier_(std::move(carrier)),
      lends_(carrier_->lends()),
      window_(carrier_->window()),
      tell_every_((3 * window_ + 7) / 8) {
  capabilities_ = {.names_senders = true,
                   .read = carrier_->reads() && !encrypts(),
                   .write = carrier_->writes() && !encrypts(),
                   .wakes = carrier_->wakes(),
                   .memory = carrier_->reaches_devices() && !encrypts() ? host_memory | device_memory : host_memory,
                   .staging_most = carrier_->staged_most(),
                   .push_most = carrier_->pushes() && !encrypts() ? pushed_most : 0};
  reads_ = capabilities_.read;
  writes_ = capabilities_.write;
  for (uint32_t lane = 0; lane < lanes_.lanes(); ++lane) {
    if (!lends_) add_buffers(ports_[lane], buffers_first);
    if (encrypts()) ports_[lane].opened = std::make_unique_for_overwrite<unsigned char[]>(frame_most);
  }
  carrier_->each_intake(device::lend);
  publish_address();
}

// A process may leave another job as soon as it has been told so, and its last messages are to arrive.
NetTransport::~NetTransport() {
  if (renumber_ != 0) carrier_->linger();
  carrier_->each_intake(device::unpin);
  for (uint32_t lane = 0; lane < lanes_.lanes(); ++lane) {
    for (const LanePort::Buffers& buffers : ports_[lane].buffers) device::unpin(buffers.all.get(), buffers.bytes);
  }
}

// The protocol, which ranks must have alike.
std::string NetTransport::protocol() const {
  return std::string(carrier_->name()) + (encrypts() ? "+encrypted" : "");
}

void NetTransport::publish_address() {
  std::string text;
  for (uint32_t lane = 0; lane < lanes_.lanes(); ++lane) {
    text += (text.empty() ? "" : ",") + base::to_hex(carrier_->address(lane));
  }
  directory_.publish(lanes_key, std::to_string(lanes_.lanes_log2()) + (lanes_.spread != 0 ? "s/" : "/") + protocol() +
                                    "/" + std::to_string(text.size()) + "/" + name_of_this_host());
  for (uint32_t part = 0; part * directory_.longest < text.size(); ++part) {
    directory_.publish(address_key(part), text.substr(part * directory_.longest, directory_.longest));
  }
}

// Ranks with different carriers cannot talk: each would wait for the other.
void NetTransport::fail_of_carrier(int rank, const std::string& theirs) const {
  fail(known_as(rank),
       {.cause = "rank " + std::to_string(rank) + " reaches other hosts with " + base::quoted(theirs) + ", and rank " +
                 std::to_string(rank_) + " with \"" + protocol() + "\"",
        .remedy = "give all ranks the same WEFT_NETWORK_LIBRARY (tcp, ofi or ucx) and the same WEFT_ENCRYPT"});
}

void NetTransport::meet() {
  if (rank_ == 0) return;
  PeerRecord record;
  if (!parse_record(directory_.published(0, lanes_key), record)) return fail_of_record(0);
  if (record.carrier != protocol()) fail_of_carrier(0, record.carrier);
}

bool NetTransport::read_address(int rank, NetEndpoint& endpoint, size_t characters) {
  std::string value;
  for (uint32_t part = 0; value.size() < characters; ++part) {
    const std::string more = directory_.published(known_as(rank), address_key(part));
    if (more.empty()) return false;
    value += more;
  }
  std::string_view text = value;
  for (uint32_t lane = 0; lane < endpoint.lanes_.lanes(); ++lane) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    std::string address;
    if (!base::from_hex(one, address) || !carrier_->insert(address, endpoint.way_to_lane(lane).address)) return false;
  }
  return true;
}

// nullptr: there is none, which was reported.
NetEndpoint* NetTransport::endpoint(int rank) {
  std::lock_guard guard(lock_);
  if (const auto known = endpoints_.find(rank); known != endpoints_.end()) return &known->second;
  PeerRecord record;
  const std::string published = directory_.published(known_as(rank), lanes_key);
  if (published.empty()) {
    fail(known_as(rank),
         {.cause = "rank " + std::to_string(rank) + " of the job, on another host, has not been introduced to rank " +
                   std::to_string(rank_) + ": one of them was spawned",
          .remedy = "make a communicator of both by MPI_Intercomm_create, over one that has a rank of each side"});
    return nullptr;
  }
  if (!parse_record(published, record)) {
    fail_of_record(known_as(rank));
    return nullptr;
  }
  if (record.carrier != protocol()) {
    ::sleep(2);  // that rank has noticed it in `meet()`, and reports it, once
    fail_of_carrier(rank, record.carrier);
    return nullptr;
  }
  NetEndpoint& made = endpoints_.try_emplace(rank, *this, rank, record.lanes).first->second;
  if (!read_address(rank, made, record.characters)) {
    endpoints_.erase(rank);
    fail_of_record(known_as(rank));
    return nullptr;
  }
  return &made;
}

bool NetTransport::knows(int rank) {
  std::lock_guard guard(lock_);
  return endpoints_.contains(rank);
}

Endpoint* NetTransport::connect(int rank) {
  return endpoint(known_as(rank));  // and the reverse
}

// Buffers stay with the lane they were last sent on: one that has none left takes another's. A peer that takes nothing
// must not keep others from being sent to: it gets a buffer while it holds fewer than are free, so that each of n such
// peers ends with one of n + 1 parts; and a peer that holds none gets one in any case.
Buffer* NetTransport::take(uint32_t lane, uint32_t held, Carrier::Use use) {
  if (lends_) [[unlikely]]
    return carrier_->lend(use);
  for (uint32_t i = 0; i < lanes_.lanes(); ++i) {
    LanePort& port = port_for(lane + i);
    const base::LockIf guard(port.lock, threads_);
    if (port.free_count <= held) continue;
    Buffer* const buffer = port.free;
    port.free = buffer->next;
    --port.free_count;
    return buffer;
  }
  if (held != 0) return nullptr;
  add_buffers(port_for(lane), buffers_more);
  return take(lane, held);
}

// Whether the rule of take() allows sending data to a peer that lie in a buffer already.
bool NetTransport::has_room(uint32_t lane, uint32_t held) {
  if (lends_) [[unlikely]]
    return true;
  LanePort& port = port_for(lane);
  const base::LockIf guard(port.lock, threads_);
  return held <= port.free_count;
}

void NetTransport::add_buffers(LanePort& port, size_t count) {
  auto made = std::make_unique_for_overwrite<OwnBuffer[]>(count);
  const size_t bytes = count * sizeof(OwnBuffer);
  carrier_->register_buffers(made.get(), bytes);
  device::lend(made.get(), bytes);
  for (size_t i = 0; i < count; ++i) give(port, &made[i]);
  const base::LockIf guard(port.lock, threads_);
  port.buffers.push_back({std::move(made), bytes});
}

void NetTransport::give(LanePort& port, Buffer* buffer) {
  if (lends_) [[unlikely]]
    return carrier_->take_back(buffer);
  const base::LockIf guard(port.lock, threads_);
  buffer->next = port.free;
  port.free = buffer;
  ++port.free_count;
}

int NetTransport::poll(uint32_t lane, Sink sink) {
  LanePort& port = ports_[lane];
  if (to_tell_.load(std::memory_order_relaxed)) [[unlikely]]
    tell_congestion();
  if (port.behind) [[unlikely]]
    tell_taken_again(port, lane);
  if (port.written != nullptr) [[unlikely]]
    tell_written_again(port);
  port.sink = sink;
  return carrier_->poll(lane, *this);
}

void NetTransport::sent(uint32_t lane, Buffer* buffer, int error) {
  LanePort& port = ports_[lane];
  port.outgoing.fetch_sub(1, std::memory_order_relaxed);
  buffer->peer->held_.fetch_sub(1, std::memory_order_relaxed);
  if (error != 0 && !leaving_.load(std::memory_order_relaxed)) lose(buffer->peer, error, "to");
  const Left left = std::exchange(buffer->left, {});
  give(port, buffer);
  if (left.call != nullptr) left.call(left.whose);
}

void NetTransport::lost_pushed(uint32_t rank, int error) {
  if (!leaving_.load(std::memory_order_relaxed)) lose(endpoint(static_cast<int>(rank)), error, "from");
}

void NetTransport::lost(uint32_t rank, int error) {
  if (!leaving_.load(std::memory_order_relaxed)) lose(endpoint(static_cast<int>(rank)), error, "to");
}

// Once for each peer.
void NetTransport::lose(NetEndpoint* peer, int error, const char* which) {
  if (peer != nullptr && !peer->lost_.exchange(true, std::memory_order_relaxed)) report_lost(peer->rank_, error, which);
}

void NetTransport::report_lost(int rank, int error, const char* which) const {
  wait_for_news();
  fail(known_as(rank),
       {.cause = std::string("a message ") + which + " rank " + std::to_string(rank) +
                 (renumber_ != 0 ? " of another job" : "") +
                 ", on another host, cannot be delivered: " + carrier_->error_text(error),
        .remedy = no_descriptor(error)
                      ? descriptor_remedy
                      : "see whether that rank or its host failed; if the hosts cannot reach each other at the "
                        "addresses used, name their common network with WEFT_NETWORKS"});
}

// Asking takes a round trip of 15 to 25 us: 16 KiB in 12 instead of 25 us, 32 KiB in 17 instead of 43, and pushed 64
// KiB in 24 instead of 45, 128 KiB in 35 instead of 56 (bench/latency between two hosts, TCP).
int64_t NetTransport::eager_bytes() const {
  if (capabilities_.push_most == 0) return static_cast<int64_t>(capabilities_.staging_most);
  return std::clamp<int64_t>(read_from(pushed_usual + 1) - 1, staging_most, pushed_usual);
}

MemoryRef NetTransport::register_memory(void* address, size_t bytes, Access access) {
  MemoryRef memory{reinterpret_cast<uint64_t>(address), MemoryRef::no_key};
  const bool may_read = reads_.load(std::memory_order_relaxed) && (!checks_all_data() || carrier_->checks_reads());
  const bool used = (access == Access::read && may_read) || (access == Access::write && capabilities_.write);
  if (used && static_cast<int64_t>(bytes) >= read_from(carrier_->reads_from())) {
    (void)carrier_->register_memory(address, bytes, access, memory);
  }
  return memory;
}

// After a failure no read is tried again.
void NetTransport::have_read(Read& read, int error) {
  if (error != 0) reads_.store(false, std::memory_order_relaxed);
  read.over(read, error);
}

// The header says whether the contents come along. Bytes that lie in the receiver's memory already do not matter: they
// are put there again.
void NetTransport::have_written(uint32_t lane, Buffer* buffer, int error) {
  if (error != 0) {
    writes_.store(false, std::memory_order_relaxed);
  } else {
    std::memset(buffer->frame + offsetof(Header, staged), 0, sizeof Header::staged);
  }
  tell_written(ports_[lane], buffer);
}

void NetTransport::tell_written(LanePort& port, Buffer* buffer) {
  const Written told = buffer->told;
  Header h;
  std::memcpy(&h, buffer->frame, sizeof h);
  const Post posted = buffer->peer->post_written(h, buffer);
  if (posted == Post::retry) {
    buffer->next = std::exchange(port.written, buffer);
    return;
  }
  port.outgoing.fetch_sub(1, std::memory_order_relaxed);
  told.call(told.whose, h.staged == 0);
}

void NetTransport::tell_written_again(LanePort& port) {
  for (Buffer* waiting = std::exchange(port.written, nullptr); waiting != nullptr;) {
    tell_written(port, std::exchange(waiting, waiting->next));
  }
}

// The sender of a frame that proves to be the next one (`in_turn`), or one of those soon after; nullptr: it does not. A
// sender is remembered once it has proved something.
Sender* NetTransport::proved(const Header& h, bool in_turn, uint64_t& number) {
  std::map<uint32_t, Sender>& senders = ports_[h.lane].senders;
  const uint32_t from = receiver_.sender_of(h);
  auto known = senders.find(from);
  const bool is_new = known == senders.end();
  const Key key = is_new ? frame_key(secret_, from, receiver_.rank) : known->second.key;
  const uint64_t expected = is_new ? 0 : known->second.expected;
  number = 0;
  if (!is_of_ours(h.kind)) {
    // Credits allow far fewer in flight: this one was here before, or its sender keeps to no credits.
    constexpr uint16_t early_most = 256;
    const auto ahead = static_cast<uint16_t>(h.sequence - static_cast<uint16_t>(expected));
    if (ahead >= (in_turn ? 1 : early_most)) return nullptr;
    number = expected + ahead;
  }
  if (h.proof != proof_of(h, number, key)) return nullptr;
  if (is_new) [[unlikely]] {
    known = senders.try_emplace(from).first;
    known->second.key = key;
    if (encrypts()) known->second.cipher = std::make_unique<Cipher>(secret_, from, receiver_.rank);
  }
  return &known->second;
}

Events::Came NetTransport::came(uint32_t lane, const unsigned char* frame, size_t bytes) {
  const Header* h = check_frame(frame, bytes, receiver_);
  uint64_t number = 0;
  Sender* const sender = h != nullptr && h->lane == lane ? proved(*h, false, number) : nullptr;
  if (sender == nullptr || !fits(h->check, h + 1, bytes - sizeof *h)) [[unlikely]] {
    if (!carrier_->knows_peers()) refuse(lane, frame, bytes);
    return Came::refused;
  }
  if (is_of_ours(h->kind)) {
    hear_word(*h, *sender);
    return Came::in_turn;
  }
  if (number != sender->expected) {
    if (sender->early == nullptr) sender->early = std::make_unique<Early>();
    (*sender->early)[number].assign(frame, frame + bytes);
    return Came::early;
  }
  const uint32_t origin = receiver_.sender_of(*h);
  take_in(*h, number, *sender);
  ++sender->expected;
  if (sender->early != nullptr) [[unlikely]]
    deliver_early(*sender);
  have_taken(lane, origin, *sender);
  return Came::in_turn;
}

bool NetTransport::believes(uint32_t lane, const Header& header) {
  uint64_t number = 0;
  return header.lane == lane && check_frame(&header, frame_bytes(&header), receiver_) != nullptr &&
         proved(header, false, number) != nullptr;
}

// Takes the lock of all endpoints the first time alone. nullptr: there is no way, which was reported.
NetEndpoint* NetTransport::way_to(uint32_t origin, Sender& sender) {
  if (sender.peer == nullptr) sender.peer = endpoint(static_cast<int>(origin));
  return sender.peer;
}

// A word of flow control.
void NetTransport::hear_word(const Header& h, Sender& sender) {
  const uint32_t from = receiver_.sender_of(h);
  if (h.kind == congestion) {
    if (too_late_for(from)) return;
    if (NetEndpoint* peer = way_to(from, sender)) peer->hear_congestion(static_cast<uint32_t>(h.tag));
    return;
  }
  NetEndpoint* peer = way_to(from, sender);
  const auto their_lane = static_cast<size_t>(h.source);
  if (peer == nullptr || their_lane >= peer->lanes_.lanes()) return;
  std::atomic<uint64_t>& known = peer->way_to_lane(static_cast<uint32_t>(their_lane)).taken;
  const uint64_t more = h.stamp - known.load(std::memory_order_relaxed);
  if (more <= window_) known.store(h.stamp, std::memory_order_relaxed);  // no more can have been sent
}

// Frames that came before their turn, which is now.
void NetTransport::deliver_early(Sender& sender) {
  Early& early = *sender.early;
  for (auto next = early.find(sender.expected); next != early.end(); next = early.find(sender.expected)) {
    take_in(*reinterpret_cast<const Header*>(next->second.data()), next->first, sender);
    early.erase(next);
    ++sender.expected;
  }
  if (early.empty()) sender.early = nullptr;
}

// Its data go where core says, which is known from here on: it is taken.
bool NetTransport::pushing(uint32_t lane, const Header& header, PushDestination& room) {
  room = {};
  uint64_t number = 0;
  Sender* const sender =
      check_pushed(header, receiver_) && header.lane == lane ? proved(header, true, number) : nullptr;
  if (sender == nullptr) return false;
  const uint32_t origin = receiver_.sender_of(header);
  deliver(header, &room);
  ++sender->expected;
  if (sender->early != nullptr) [[unlikely]]
    deliver_early(*sender);
  have_taken(lane, origin, *sender);
  return true;
}

std::string NetTransport::shown(int rank) {
  if (rank == rank_) return "rank " + std::to_string(rank) + " on host " + name_of_this_host();
  PeerRecord record;
  const bool known = parse_record(directory_.published(known_as(rank), lanes_key), record);
  return "rank " + std::to_string(rank) + (known && !record.host.empty() ? " on host " + record.host : "");
}

void NetTransport::have_taken(uint32_t lane, uint32_t origin, Sender& sender) {
  if (sender.expected - sender.told < tell_every_) return;
  if (!tell_taken(lane, origin, sender)) ports_[lane].behind = true;
}

// The launcher has no time for addresses during the last barrier; a message of a first sender then has no receiver.
bool NetTransport::too_late_for(uint32_t origin) {
  return last_barrier_.load(std::memory_order_relaxed) && !knows(static_cast<int>(origin));
}

bool NetTransport::tell_taken(uint32_t lane, uint32_t origin, Sender& sender) {
  if (too_late_for(origin)) return true;
  NetEndpoint* peer = way_to(origin, sender);
  if (peer == nullptr) return true;
  const Envelope envelope{0, static_cast<int32_t>(lane), 0, lane & peer->lanes_.mask, sender.expected};
  if (peer->send_own(taken, envelope) == Post::retry) return false;
  sender.told = sender.expected;
  return true;
}

void NetTransport::tell_taken_again(LanePort& port, uint32_t lane) {
  port.behind = false;
  for (auto& [origin, sender] : port.senders) {
    if (sender.expected - sender.told < tell_every_) continue;
    if (!tell_taken(lane, origin, sender)) port.behind = true;
  }
}

// The header that proves itself, with what it brings behind it.
void NetTransport::take_in(const Header& h, uint64_t number, Sender& sender) {
  if (!encrypts()) return deliver(h, &h + 1);
  auto* const opened = reinterpret_cast<Header*>(ports_[h.lane].opened.get());
  *opened = h;
  if (!sender.cipher->open(h, number, &h + 1, size_t{h.bytes} + h.staged, opened + 1)) {
    return changed(receiver_.sender_of(h), "");
  }
  deliver(*opened, opened + 1);
}

void NetTransport::deliver(const Header& h, const void* data) {
  if (congested_.load(std::memory_order_relaxed) && !leaving_.load(std::memory_order_relaxed)) [[unlikely]] {
    (void)endpoint(static_cast<int>(receiver_.sender_of(h)));  // so that it is told
    to_tell_.store(true, std::memory_order_relaxed);
  }
  ports_[h.lane].sink(Arrival{h.kind,
                              {h.context, h.source, h.tag, h.lane, h.stamp},
                              data,
                              h.bytes,
                              known_as(static_cast<int32_t>(receiver_.sender_of(h))),
                              h.magic == pushed_magic});
}

// A thread begins to look for a buffer on its own lane.
Staging NetTransport::reserve_staging(size_t bytes) {
  if (bytes > capabilities_.staging_most) return {};
  Buffer* buffer = take(base::thread_number(), 0, Carrier::Use::staging);
  if (buffer == nullptr) return {};
  return {buffer->staging(), reinterpret_cast<uint64_t>(buffer)};
}

void NetTransport::drop_staging(const Staging& staging, size_t) {
  give(port_for(base::thread_number()), reinterpret_cast<Buffer*>(staging.handle));
}

void NetTransport::set_congested(bool on) {
  congested_.store(on, std::memory_order_relaxed);
  to_tell_.store(true, std::memory_order_relaxed);
}

void NetTransport::tell_congestion() {
  std::lock_guard guard(lock_);
  const bool on = congested_.load(std::memory_order_relaxed);
  bool all = true;
  for (auto& [rank, peer] : endpoints_) {
    if (!peer.tell_congestion(on)) all = false;
  }
  if (all && on == congested_.load(std::memory_order_relaxed)) to_tell_.store(false, std::memory_order_relaxed);
}

bool NetTransport::all_sent() const {
  for (uint32_t lane = 0; lane < lanes_.lanes(); ++lane) {
    if (ports_[lane].outgoing.load(std::memory_order_relaxed) != 0) return false;
  }
  return carrier_->all_sent();
}

}  // namespace weft::transport::net
