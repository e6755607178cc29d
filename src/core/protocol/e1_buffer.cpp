// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// E1: the data in a staging buffer of the sender; the mailbox carries its name. The receiver copies it out when the
// message arrives, matched or not, and gives the buffer back. TCP takes the data from where they lie: e1_push.cpp.
//
//   buffered  sender to receiver: the name of the staging buffer
#include <cstring>

#include "base/copy.hpp"
#include "base/setting.hpp"
#include "core/lane/lane.hpp"
#include "core/object/failure.hpp"
#include "core/object/settings.hpp"
#include "core/protocol/protocol.hpp"
#include "datatype/pack.hpp"

namespace weft::core {

const PathInfo buffer_info = {"E1 buffer", "data in a staging buffer of the sender, the receiver copies it out",
                              "two copies, no handshake"};

namespace {

constinit base::IntSetting eager_limit{{.name = "WEFT_EAGER_LIMIT",
                                        .help = "largest message sent without asking the receiver first (E1); where "
                                                "this is not set, over TCP 128 KiB",
                                        .unit = base::Unit::bytes,
                                        .level = base::SettingLevel::basic,
                                        .subject = base::Subject::messages,
                                        .change = base::Change::always},
                                       32768,
                                       {0, 128 << 10}};
WEFT_SETTING(eager_limit);

}  // namespace

int64_t buffer_bytes() {
  return eager_limit.value();
}

int64_t buffer_bytes(const transport::Transport& way) {
  const int64_t usual = way.eager_bytes();
  return usual != 0 && eager_limit.source() == base::ValueSource::fallback ? usual : eager_limit.value();
}

bool send_buffer(Request& r, bool* no_staging) {
  // News of pushed data come on the lane that they left by.
  if (r.peer->transport->capabilities().push_most != 0 && r.layout == nullptr &&
      r.lane == (r.match.lane & lanes->map.mask)) {
    bool refused;
    if (push(r, &refused)) return true;
    if (!refused) {
      *no_staging = false;
      return false;
    }
  }
  const auto bytes = static_cast<size_t>(r.bytes);
  transport::Staging staging = r.peer->transport->reserve_staging(bytes);
  *no_staging = staging.memory == nullptr;
  if (*no_staging) return false;
  if (r.layout != nullptr) {
    pack_data(r, 0, staging.memory, r.bytes);
    if (note_failed_copy(r)) {
      r.peer->transport->drop_staging(staging, bytes);
      if (!try_unsent(r)) return false;
      complete_send(r, Path::buffer);
      return true;
    }
  } else {
    base::copy(staging.memory, r.buffer, bytes);
  }
  const wire::Buffered buffered{staging.handle, bytes, r.peer->our_rank, 0};
  if (r.peer->endpoint->send_staged(wire::buffered, r.match, &buffered, sizeof buffered, staging, bytes) !=
      transport::Post::done) {
    r.peer->transport->drop_staging(staging, bytes);
    return false;
  }
  complete_send(r, Path::buffer);
  return true;
}

// ---- receiving

namespace {

[[gnu::cold, noreturn]] void reject_missing(const wire::Buffered& buffered) {
  failed(FailureCause::protocol, buffered.origin,
         {.cause = "a message of rank " + std::to_string(buffered.origin) + " of " + std::to_string(buffered.bytes) +
                   " bytes came without its data",
          .remedy = "run all ranks with the same version of Weft"});
}

void on_buffered(const transport::Arrival& a) {
  const auto buffered = payload_of<wire::Buffered>(a);
  const Peer& peer = sender_of(a, buffered.origin);
  const void* data = staged(a, peer, buffered.handle, buffered.bytes);
  if (data == nullptr) reject_missing(buffered);
  const auto bytes = static_cast<int64_t>(buffered.bytes);
  if (Request* r = match(a)) {
    store_staged(*r, 0, *peer.endpoint, buffered.handle, data, bytes);
    finish_receive(*r, a.envelope, bytes);
  } else {
    keep(a.envelope, wire::eager, data, bytes, bytes);
    peer.endpoint->release_staging(buffered.handle, buffered.bytes);
  }
}

constinit const Handler buffered_handler{
    .kind = wire::buffered, .least_bytes = sizeof(wire::Buffered), .name = "E1", .take = on_buffered};
WEFT_HANDLER(buffered_handler);

}  // namespace

}  // namespace weft::core
