// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Which path a send takes.
#include "core/path.hpp"

#include "core/protocol/protocol.hpp"
#include "core/settings.hpp"

namespace weft::core {

bool try_send(Request& r) {
  const bool room = !r.peer->endpoint->congested();
  const bool sync = r.mode == Mode::synchronous;
  const int64_t mailbox_room = world->mailbox_limit;
  if (room && r.bytes <= mailbox_room - (sync ? static_cast<int64_t>(sizeof(wire::Sync)) : 0)) return send_mailbox(r);
  if (room && !sync && r.peer->transport != world->self && r.bytes <= buffer_bytes(*r.peer->transport)) {
    bool no_staging = false;
    if (send_buffer(r, &no_staging)) return true;
    if (!no_staging) return false;  // all buffers in use: an RTS keeps the order and needs none
  }
  return send_rts(r);
}

// A send whose memory is registered for its RTS sends that RTS: a path that registers nothing would leave the
// registration behind, and the next send of this request would take it for its own.
bool try_again(Request& r) {
  return r.registered.key != MemoryRef::no_key ? send_rts(r) : try_send(r);
}

}  // namespace weft::core
