// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// R0 of a receive without gaps: the receiver reads the sender's memory by whatever way its transport has. On one host
// that is done at once. Between hosts a read takes its time, and large messages are read in pieces whose size the
// transport gives: two are in flight, so that the network has the next one while we learn of the last. It sends no
// message of its own: the FIN is r0_get.cpp's.
//
// A read that fails ends the attempt. When nothing is under way any more that writes into the receive, the whole
// message comes by R1.
#include <new>

#include "core/lane/lane.hpp"
#include "core/protocol/protocol.hpp"
#include "device/api/traffic.hpp"
#include "device/select/adapter.hpp"

namespace weft::core {
namespace {

struct PieceRead : transport::Read {
  RendezvousRead* of = nullptr;
  bool under_way = false;
};

}  // namespace

struct RendezvousRead {
  RendezvousRead* next = nullptr;
  Request* receive = nullptr;
  Peer* peer = nullptr;
  MemoryRef from{};
  uint64_t send = 0;
  uint32_t their_lane = 0;  // the sender's, for answers
  Envelope envelope{};
  int64_t message_bytes = 0;
  int64_t wanted = 0;  // bytes of it
  int64_t begun = 0;   // bytes read or being read
  bool posted = false;
  bool failed = false;
  PieceRead pieces[2];

  bool may_begin() const { return !failed && begun < wanted; }
  bool is_over() const { return !may_begin() && !pieces[0].under_way && !pieces[1].under_way; }
};

namespace {

// Begins what may begin; whether there was any.
bool begin_pieces(RendezvousRead& reading) {
  char* const to = static_cast<char*>(reading.receive->buffer);
  bool moved = false;
  for (PieceRead& piece : reading.pieces) {
    while (!piece.under_way && reading.may_begin()) {
      auto bytes = static_cast<size_t>(reading.wanted - reading.begun);
      switch (reading.peer->endpoint->read(reading.from, static_cast<size_t>(reading.begun), to + reading.begun, bytes,
                                           reading.envelope.lane, piece)) {
        case transport::Post::retry:
          return moved;
        case transport::Post::unsupported:
        case transport::Post::lost:
          reading.failed = true;
          return moved;
        case transport::Post::posted:
          piece.under_way = reading.posted = true;
          break;
        case transport::Post::done:
          break;
      }
      reading.begun += static_cast<int64_t>(bytes);
      moved = true;
    }
  }
  return moved;
}

void unlist(Lane& lane, const RendezvousRead* reading) {
  RendezvousRead** at = &lane.readings;
  while (*at != reading) at = &(*at)->next;
  *at = reading->next;
}

// It is over, and in no list. The receive may start others from here.
void end(Lane& lane, RendezvousRead* reading) {
  const RendezvousRead over = *reading;
  reading->next = lane.free_readings;
  lane.free_readings = reading;
  if (over.failed) {
    if (const int32_t error = over.peer->lost.load(std::memory_order_relaxed)) return end_lost(*over.receive, error);
    if (over.posted) count(lane.reads_failed);
    return send_cts(*over.receive, over.envelope, *over.peer, over.their_lane, over.send, over.message_bytes,
                    over.wanted);
  }
  over.peer->readable.store(true, std::memory_order_relaxed);
  if (over.receive->flags.on_device) {
    device::settle(over.receive->buffer);
    device::count(device::CopyMethod::straight, over.wanted);
  }
  send_fin(*over.peer, over.their_lane, over.send);
  note_end(*over.receive, *over.peer, over.wanted);
  finish_receive(*over.receive, over.envelope, over.message_bytes);
}

void on_over(transport::Read& read, int error) {
  auto& piece = static_cast<PieceRead&>(read);
  RendezvousRead& reading = *piece.of;
  Lane& lane = lanes->all[reading.envelope.lane];
  piece.under_way = false;
  if (error != 0) reading.failed = true;
  (void)begin_pieces(reading);
  if (reading.is_over()) {
    unlist(lane, &reading);
    end(lane, &reading);
  } else if (reading.may_begin()) {
    lane.at_work.store(true, std::memory_order_relaxed);
  }
}

RendezvousRead* take_reading(Lane& lane) {
  RendezvousRead* reading = lane.free_readings;
  if (reading == nullptr) return new (std::nothrow) RendezvousRead;
  lane.free_readings = reading->next;
  return reading;
}

}  // namespace

void read(Request& r, const Envelope& envelope, Peer& peer, const wire::Rts& rts, int64_t wanted) {
  Lane& lane = lanes->all[envelope.lane];
  const auto message_bytes = static_cast<int64_t>(rts.bytes);
  RendezvousRead* reading = take_reading(lane);
  if (reading == nullptr) {
    return send_cts(r, envelope, peer, rts.lane, rts.send, message_bytes, wanted);
  }
  *reading = {.receive = &r,
              .peer = &peer,
              .from = rts.memory,
              .send = rts.send,
              .their_lane = rts.lane,
              .envelope = envelope,
              .message_bytes = message_bytes,
              .wanted = wanted,
              .pieces = {{{on_over}, reading}, {{on_over}, reading}}};
  (void)begin_pieces(*reading);
  if (reading->is_over()) return end(lane, reading);
  RendezvousRead** last = &lane.readings;
  while (*last != nullptr) last = &(*last)->next;
  *last = reading;
  lane.at_work.store(true, std::memory_order_relaxed);
}

namespace {

// Begins reads that could not begin before; whether anything moved.
bool advance_readings(Lane& lane) {
  for (RendezvousRead* reading = lane.readings; reading != nullptr; reading = reading->next) {
    if (!begin_pieces(*reading) && !reading->is_over()) continue;
    if (reading->is_over()) {
      unlist(lane, reading);
      end(lane, reading);
    }
    return true;  // the list may be another now
  }
  return false;
}

// Whether there is one that may begin.
bool reading_open(const Lane& lane) {
  const RendezvousRead* reading = lane.readings;
  while (reading != nullptr &&
         (!reading->may_begin() || (reading->pieces[0].under_way && reading->pieces[1].under_way))) {
    reading = reading->next;
  }
  return reading != nullptr;
}

void free_readings(Lane& lane) {
  while (RendezvousRead* reading = lane.free_readings) {
    lane.free_readings = reading->next;
    delete reading;
  }
}

}  // namespace

void end_readings(Lane& lane, const Peer& peer, std::vector<Request*>& ended) {
  for (RendezvousRead* reading = lane.readings; reading != nullptr;) {
    RendezvousRead* const next = reading->next;
    if (reading->peer == &peer) {
      reading->failed = true;
      if (reading->is_over()) {
        unlist(lane, reading);
        ended.push_back(reading->receive);
        reading->next = lane.free_readings;
        lane.free_readings = reading;
      }
    }
    reading = next;
  }
}

int64_t count_readings(const Lane& lane, const Peer& peer) {
  int64_t count = 0;
  for (const RendezvousRead* reading = lane.readings; reading != nullptr; reading = reading->next) {
    if (reading->peer == &peer) ++count;
  }
  return count;
}

namespace {

constinit const ProgressHook reading_work{"R0 reads", advance_readings, reading_open, free_readings};
WEFT_PROGRESS_HOOK(reading_work);

}  // namespace

}  // namespace weft::core
