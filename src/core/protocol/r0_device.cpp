// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// R0 of data on a device: the RTS says how other processes of the host find the sender's allocation. The receiver maps
// it and has the device copy, into its own memory of the device or the host's. Data that cannot be mapped come by R1.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>
#include <string>

#include "base/clock.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "core/lane/lane.hpp"
#include "core/object/comm.hpp"
#include "core/protocol/device_pipe.hpp"
#include "core/protocol/p2p.hpp"
#include "core/protocol/protocol.hpp"
#include "datatype/pack.hpp"
#include "device/api/contention.hpp"
#include "device/api/mappings.hpp"
#include "device/api/pins.hpp"
#include "device/api/traffic.hpp"

namespace weft::core {

namespace {

// Two copies between host and device take about as long as one of them and the handshake (docs/design/devices.md).
constinit base::IntSetting map_from{
    {.name = "WEFT_DEVICE_MAP_FROM",
     .help = "smallest message of memory of a device that a rank of the same host copies from there",
     .unit = base::Unit::bytes,
     .subject = base::Subject::messages,
     .change = base::Change::always},
    8 << 10,
    {0, int64_t{1} << 40}};
WEFT_SETTING(map_from);

}  // namespace

bool goes_by_device(const Request& r) {
  return r.flags.on_device && r.layout->contiguous && r.bytes >= map_from.value() &&
         r.peer->transport->capabilities().claims;
}

// Pinned memory where a message from the host lands, to be copied to the device from there.
struct DeviceLanding {
  void* memory;
  Request* receive;  // on the device
  Peer* peer;
  Envelope envelope;
  int64_t message_bytes;
  int64_t wanted;
};

// A message that a device copies.
struct Loading {
  Loading* next = nullptr;
  Request* receive = nullptr;
  Peer* peer = nullptr;
  uint64_t send = 0;
  uint32_t their_lane = 0;  // the sender's, for answers
  Envelope envelope{};
  int64_t message_bytes = 0;
  int64_t wanted = 0;  // bytes of it
  device::Mapping* mapping = nullptr;
  DeviceLanding* landing = nullptr;  // in place of a mapping
  device::Copy copy{};
  uint64_t alone_since_ns = 0;  // 0: others are copied at the same time, or it is large
  uint32_t looks = 0;
};

namespace {

std::atomic<int64_t> landed = 0;  // bytes of all landings

void end(DeviceLanding* landing, int32_t error) {
  Request& r = *landing->receive;
  const DeviceLanding over = *landing;
  delete landing;
  device::give_pinned(over.memory, static_cast<size_t>(over.wanted));
  landed.fetch_sub(over.wanted, std::memory_order_relaxed);
  if (error != no_error && error != other_error) return end_lost(r, error);
  if (error != no_error) {
    device::fail("a copy that was begun has failed");
    (void)note_failed_copy(r);
  }
  device::count(device::CopyMethod::packed, over.wanted);
  finish_receive(r, over.envelope, over.message_bytes);
}

// The data are there, or cannot be copied: the message comes by R1 then. It is in no list.
void end(const Loading& over, bool copied) {
  if (over.landing != nullptr) return end(over.landing, copied ? no_error : other_error);
  device::let_go(over.mapping);
  if (!copied) {
    return send_cts(*over.receive, over.envelope, *over.peer, over.their_lane, over.send, over.message_bytes,
                    over.wanted);
  }
  device::count(device::CopyMethod::mapped, over.wanted);
  send_fin(*over.peer, over.their_lane, over.send);
  finish_receive(*over.receive, over.envelope, over.message_bytes);
}

// Notes how long a short copy lasted, if this thread looked at it all the time.
void note_time(const Loading& loading) {
  constexpr uint64_t most_between_looks_ns = 5000;
  if (loading.alone_since_ns == 0) return;
  const uint64_t lasted = base::now_ns() - loading.alone_since_ns;
  if (lasted < device::change_ns || loading.looks > lasted / most_between_looks_ns) device::note_short_copy(lasted);
}

bool advance_loadings(Lane& lane) {
  const void* busy = nullptr;  // its copies are over in the order in which they were begun
  for (Loading** at = &lane.loadings; *at != nullptr; at = &(*at)->next) {
    Loading* const loading = *at;
    if (loading->copy.engine == busy && busy != nullptr) continue;
    const device::Progress progress = device::active->look(loading->copy);
    if (progress == device::Progress::running) {
      ++loading->looks;
      busy = loading->copy.engine;
      continue;
    }
    note_time(*loading);
    *at = loading->next;
    const Loading over = *loading;
    delete loading;
    end(over, progress == device::Progress::done);
    return true;  // the list may be another now
  }
  return false;
}

// Messages up to so many bytes take less time through the host's memory than a device takes to change between
// processes.
constexpr int64_t most_alone = 1 << 20;

constinit const ProgressHook loading_work{"R0 device", advance_loadings,
                                          [](const Lane& lane) { return lane.loadings != nullptr; }, [](Lane&) {}};
WEFT_PROGRESS_HOOK(loading_work);

void enlist(Lane& lane, Loading* loading) {
  Loading** last = &lane.loadings;
  while (*last != nullptr) last = &(*last)->next;
  *last = loading;
  lane.at_work.store(true, std::memory_order_relaxed);
}

}  // namespace

bool load(Request& r, const Envelope& envelope, Peer& peer, const wire::Rts& rts, const device::Shared& shared,
          int64_t wanted) {
  if (!device::on() || shared.bytes == 0 || !peer.transport->capabilities().claims) return false;
  std::string problem;
  device::Mapping* mapping = device::hold(peer.rank, shared, problem);
  if (mapping == nullptr) {
    base::warn_once("device mapping",
                    {.cause = "memory of the device of another rank of this host cannot be mapped: " + problem,
                     .remedy = "messages go through memory of the host, which takes longer (docs/guide/devices.md)"});
    return false;
  }
  const Loading loading{.receive = &r,
                        .peer = &peer,
                        .send = rts.send,
                        .their_lane = rts.lane,
                        .envelope = envelope,
                        .message_bytes = static_cast<int64_t>(rts.bytes),
                        .wanted = wanted,
                        .mapping = mapping};
  const void* const from = device::here(*mapping, shared, rts.memory.address, static_cast<uint64_t>(wanted));
  const bool gaps = r.layout != nullptr && !r.layout->contiguous;
  Lane& lane = lanes->all[envelope.lane];
  // Where processes take turns on the device, a message with no other beside it comes by copy engines, through R1.
  const bool alone = wanted <= most_alone && lane.loadings == nullptr;
  if (from == nullptr || (alone && device::takes_turns() && count_streams_in(lane, peer) == 0)) {
    device::let_go(mapping);
    return false;
  }
  if (gaps) {
    datatype::unpack(*r.layout, r.count, r.buffer, 0, from, wanted);
    note_failed_copy(r);
    end(loading, true);
    return true;
  }
  auto* const kept = new (std::nothrow) Loading(loading);
  if (kept == nullptr || !device::active->begin(r.buffer, from, static_cast<size_t>(wanted), kept->copy).empty()) {
    delete kept;
    device::let_go(mapping);
    return false;
  }
  if (alone) kept->alone_since_ns = base::now_ns();
  enlist(lane, kept);
  return true;
}

namespace {

// The message is in the landing. The thread holds no lane.
bool take_off(Request& inner) {
  auto* const landing = static_cast<DeviceLanding*>(inner.owner);
  const int32_t error = inner.error == truncated ? no_error : inner.error;
  free_request(&inner);
  Request& r = *landing->receive;
  auto* const loading = new (std::nothrow) Loading;
  if (error != no_error || loading == nullptr ||
      !device::active->begin(r.buffer, landing->memory, static_cast<size_t>(landing->wanted), loading->copy).empty()) {
    delete loading;
    end(landing, error != no_error ? error : other_error);
    return false;
  }
  loading->receive = &r;
  loading->peer = landing->peer;
  loading->landing = landing;
  Lane& lane = lanes->all[landing->envelope.lane];
  LaneGuard guard(lane);
  enlist(lane, loading);
  return false;
}

}  // namespace

Request* land(Request& r, const Envelope& envelope, Peer& peer, int64_t message_bytes, int64_t wanted) {
  constexpr int64_t least = 256 << 10, most = 16 << 20, most_of_all = 64 << 20;
  if (wanted < least || wanted > most || !r.layout->contiguous) return nullptr;
  if (landed.fetch_add(wanted, std::memory_order_relaxed) + wanted > most_of_all) {
    landed.fetch_sub(wanted, std::memory_order_relaxed);
    return nullptr;
  }
  void* const memory = device::take_pinned(static_cast<size_t>(wanted));
  Request* const inner = memory == nullptr ? nullptr : new_request(*r.comm, Role::receive);
  auto* const landing =
      inner == nullptr ? nullptr : new (std::nothrow) DeviceLanding{memory, &r, &peer, envelope, message_bytes, wanted};
  if (landing == nullptr) {
    if (inner != nullptr) free_request(inner);
    if (memory != nullptr) device::give_pinned(memory, static_cast<size_t>(wanted));
    landed.fetch_sub(wanted, std::memory_order_relaxed);
    return nullptr;
  }
  inner->match = r.match;
  inner->lane = envelope.lane;
  inner->buffer = memory;
  inner->bytes = inner->count = wanted;
  inner->layout = nullptr;
  inner->owner = landing;
  inner->on_done = take_off;
  return inner;
}

namespace {

void wait_for(device::Copy& copy, int& error) {
  if (copy.engine == nullptr && copy.number == 0) return;
  device::Progress progress;
  do {
    progress = device::active->look(copy);
  } while (progress == device::Progress::running);
  copy = {};
  if (progress == device::Progress::failed && error == 0) error = EIO;
}

}  // namespace

int get_to_device(Lane& lane, Peer& peer, const MemoryRef& from, const Request& r, int64_t position, int64_t bytes) {
  if (chunk_of(lane) == nullptr) return ENOMEM;
  device::pin_once(lane.chunk, lane_chunk_bytes);
  // Pieces of the lane's chunk: one is filled while the device copies from the others.
  const DevicePipe pipe = device_pipe(bytes);
  const int64_t piece_bytes = std::min(pipe.chunk, lane_chunk_bytes / pipe.depth);
  device::Copy copies[most_device_depth];
  int error = 0;
  for (int32_t turn = 0; bytes > 0 && error == 0; turn = (turn + 1) % pipe.depth) {
    const int64_t some = std::min(bytes, piece_bytes);
    char* const piece = lane.chunk + turn * piece_bytes;
    wait_for(copies[turn], error);
    if (error == 0) {
      error = peer.endpoint->get(transport::advanced(from, static_cast<uint64_t>(position)), piece,
                                 static_cast<size_t>(some));
    }
    if (error != 0) break;
    if (r.layout->contiguous) {
      if (!device::active
               ->begin(static_cast<char*>(r.buffer) + position, piece, static_cast<size_t>(some), copies[turn])
               .empty())
        error = EIO;
    } else {
      datatype::unpack(*r.layout, r.count, r.buffer, position, piece, some);
      if (device::take_failure()) error = EIO;
    }
    position += some;
    bytes -= some;
  }
  for (device::Copy& copy : copies) wait_for(copy, error);
  return error;
}

void pin_staging(Peer& peer) {
  if (!device::on() || peer.pinned.exchange(true, std::memory_order_relaxed)) return;
  for (const transport::Span& memory : {peer.transport->staging_memory(), peer.endpoint->staging_memory()}) {
    if (memory.bytes != 0) device::pin_once(memory.begin, memory.bytes);
  }
  device::pin_lent();
}

int64_t count_loadings(const Lane& lane, const Peer& peer) {
  int64_t count = 0;
  for (const Loading* loading = lane.loadings; loading != nullptr; loading = loading->next) {
    if (loading->peer == &peer) ++count;
  }
  return count;
}

// A copy that the device has begun is over soon, also when the memory's owner is gone.
void end_loadings(Lane& lane, const Peer& peer, std::vector<Request*>& ended) {
  for (Loading** at = &lane.loadings; *at != nullptr;) {
    Loading* const loading = *at;
    if (loading->peer != &peer) {
      at = &loading->next;
      continue;
    }
    while (device::active->look(loading->copy) == device::Progress::running) {
    }
    *at = loading->next;
    if (loading->landing != nullptr) {
      end(loading->landing, no_error);  // all of it is here
    } else {
      device::let_go(loading->mapping);
      ended.push_back(loading->receive);
    }
    delete loading;
  }
}

}  // namespace weft::core
