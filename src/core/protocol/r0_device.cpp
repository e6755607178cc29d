// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// R0 of data on a device: the RTS says how other processes of the host find the sender's allocation. The receiver maps
// it and has the device copy, into its own memory of the device or the host's. Data that cannot be mapped come by R1.
#include <algorithm>
#include <cerrno>
#include <new>
#include <string>

#include "base/clock.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "core/protocol/protocol.hpp"
#include "datatype/pack.hpp"
#include "device/contention.hpp"
#include "device/mappings.hpp"
#include "device/pins.hpp"
#include "device/traffic.hpp"

namespace weft::core {

namespace {

// Two copies between host and device take about as long as one of them and the handshake (docs/devices.md).
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

// A message that a device copies.
struct Loading {
  Loading* next;
  Request* receive;
  Peer* peer;
  uint64_t send;
  uint32_t their_lane;  // the sender's, for answers
  Envelope envelope;
  int64_t message_bytes;
  int64_t wanted;  // bytes of it
  device::Mapping* mapping;
  device::Copy copy;
};

namespace {

// The data are there, or cannot be copied: the message comes by R1 then. It is in no list.
void end(const Loading& over, bool copied) {
  device::let_go(over.mapping);
  if (!copied) {
    return send_cts(*over.receive, over.envelope, *over.peer, over.their_lane, over.send, over.message_bytes,
                    over.wanted);
  }
  device::count(device::Way::mapped, over.wanted);
  send_fin(*over.peer, over.their_lane, over.send);
  finish_receive(*over.receive, over.envelope, over.message_bytes);
}

bool advance_loadings(Lane& lane) {
  for (Loading** at = &lane.loadings; *at != nullptr; at = &(*at)->next) {
    Loading* const loading = *at;
    const device::Progress progress = device::active->look(loading->copy);
    if (progress == device::Progress::running) continue;
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

// Waits for a copy with none before it, which is short unless the device changes between processes.
device::Progress wait_briefly(const device::Copy& copy) {
  const uint64_t begun = base::now_ns();
  device::Progress progress;
  do {
    progress = device::active->look(copy);
  } while (progress == device::Progress::running && base::now_ns() - begun < device::change_ns);
  if (progress == device::Progress::running) device::note_change();
  return progress;
}

constinit const LaneWork loading_work{"R0 device", advance_loadings,
                                      [](const Lane& lane) { return lane.loadings != nullptr; }, [](Lane&) {}};
WEFT_LANE_WORK(loading_work);

}  // namespace

bool load(Request& r, const Envelope& envelope, Peer& peer, const wire::Rts& rts, const device::Shared& shared,
          int64_t wanted) {
  if (!device::on() || shared.bytes == 0 || !peer.transport->capabilities().claims) return false;
  std::string problem;
  device::Mapping* mapping = device::hold(peer.rank, shared, problem);
  if (mapping == nullptr) {
    base::warn_once("device mapping",
                    {.cause = "memory of the device of another rank of this host cannot be mapped: " + problem,
                     .remedy = "messages go through memory of the host, which takes longer (docs/devices.md)"});
    return false;
  }
  Loading loading{nullptr, &r,      &peer, rts.send, rts.lane, envelope, static_cast<int64_t>(rts.bytes),
                  wanted,  mapping, {}};
  const void* const from = device::here(*mapping, shared, rts.memory.address, static_cast<uint64_t>(wanted));
  const bool gaps = r.layout != nullptr && !r.layout->contiguous;
  Lane& lane = world->lanes[envelope.lane];
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
  const device::Progress progress = alone ? wait_briefly(kept->copy) : device::Progress::running;
  if (progress != device::Progress::running) {
    const Loading over = *kept;
    delete kept;
    end(over, progress == device::Progress::done);
    return true;
  }
  Loading** last = &lane.loadings;
  while (*last != nullptr) last = &(*last)->next;
  *last = kept;
  lane.at_work.store(true, std::memory_order_relaxed);
  return true;
}

namespace {

// Two pieces of the lane's chunk: one is filled while the device copies from the other.
constexpr int64_t piece_bytes = lane_chunk_bytes / 2;

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
  device::Copy copies[2];
  int error = 0;
  for (int turn = 0; bytes > 0 && error == 0; turn ^= 1) {
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
    device::let_go(loading->mapping);
    ended.push_back(loading->receive);
    delete loading;
  }
}

}  // namespace weft::core
