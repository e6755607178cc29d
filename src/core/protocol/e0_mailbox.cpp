// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// E0: envelope and data in the receiver's mailbox, in one piece. One copy here, one there.
#include "base/setting.hpp"
#include "core/protocol/protocol.hpp"
#include "core/settings.hpp"
#include "datatype/pack.hpp"

namespace weft::core {

const PathInfo mailbox_info = {"E0 mailbox", "envelope and data in the receiver's ring", "two copies, no handshake"};

namespace {

constinit base::IntSetting mailbox_limit{
    {.name = "WEFT_MAILBOX_LIMIT",
     .help = "largest message sent whole into the receiver's ring (E0); 0: by job size",
     .unit = base::Unit::bytes,
     .level = base::Level::basic,
     .subject = base::Subject::messages,
     .change = base::Change::before_start},
    0,
    {0, transport::mailbox_limit(1)}};
WEFT_SETTING(mailbox_limit);

}  // namespace

int64_t mailbox_bytes(int64_t ranks) {
  return mailbox_limit.value() != 0 ? mailbox_limit.value() : transport::mailbox_limit(ranks);
}

bool send_mailbox(Request& r) {
  alignas(64) unsigned char staged[transport::mailbox_limit(1) + sizeof(wire::Sync)];
  const void* data = r.buffer;
  auto bytes = static_cast<uint32_t>(r.bytes);
  uint8_t kind = wire::eager;
  if (r.mode == Mode::synchronous || r.layout != nullptr) {
    unsigned char* end = staged;
    if (r.mode == Mode::synchronous) {
      const wire::Sync sync{reinterpret_cast<uint64_t>(&r), world->rank, r.lane};
      __builtin_memcpy(end, &sync, sizeof sync);
      end += sizeof sync;
      kind = wire::eager_sync;
    }
    if (r.layout != nullptr) {
      datatype::pack(*r.layout, r.count, r.buffer, 0, end, r.bytes);
    } else if (bytes != 0) {
      __builtin_memcpy(end, r.buffer, bytes);
    }
    bytes += static_cast<uint32_t>(end - staged);
    data = staged;
  }
  if (r.peer->endpoint->send(kind, r.match, data, bytes) != transport::Post::done) return false;
  // A synchronous send is complete when the receiver says that it was matched.
  if (kind == wire::eager) complete_send(r, Path::mailbox);
  return true;
}

}  // namespace weft::core
