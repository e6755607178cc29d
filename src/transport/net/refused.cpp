// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The part of the transport that handles frames which do not prove themselves.
#include <cstring>

#include "base/message.hpp"
#include "transport/api/failure.hpp"
#include "transport/api/turned_away.hpp"
#include "transport/net/transport.hpp"

namespace weft::transport::net {
namespace {

constexpr uint64_t searches_most =
    2;  // through all ranks, so that processes outside the job cannot take this one's time

}  // namespace

// Whether a frame was taken before: somebody has heard it and sends it again, which changes nothing.
bool NetTransport::was_here(const Header& h) const {
  const uint32_t from = receiver_.sender_of(h);
  const auto known = ports_[h.lane].senders.find(from);
  if (known == ports_[h.lane].senders.end()) return false;
  const auto behind = static_cast<uint16_t>(static_cast<uint16_t>(known->second.expected) - h.sequence);
  for (uint64_t number = known->second.expected - behind;; number -= 1u << 16) {
    if (h.proof == proof_of(h, number, known->second.key)) return true;
    if (number < 1u << 16 || number > known->second.expected) return false;
  }
}

// Whether it proves itself as the next of `from`, or as one of those soon after.
bool NetTransport::is_with_origin(Header h, uint32_t lane, uint32_t from) const {
  const auto known = ports_[lane].senders.find(from);
  const uint64_t expected = known != ports_[lane].senders.end() ? known->second.expected : 0;
  const auto ahead = static_cast<uint16_t>(h.sequence - static_cast<uint16_t>(expected));
  h.origin = from ^ receiver_.mask;
  return h.proof == proof_of(h, is_of_ours(h.kind) ? 0 : expected + ahead, frame_key(secret_, from, receiver_.rank));
}

// Rejects a frame that does not prove itself, of a carrier that takes frames from any process. One from outside the job
// changes nothing; one that is from a rank, by its origin or by its proof with another origin, will not come again.
void NetTransport::refuse(uint32_t lane, const unsigned char* frame, size_t bytes) {
  Header h;
  if (bytes < sizeof h) return turn_away(bytes);
  std::memcpy(&h, frame, sizeof h);
  for (const auto& [from, sender] : ports_[lane].senders) {
    if (is_with_origin(h, lane, from)) return changed(from, "");
  }
  if (const uint32_t from = receiver_.sender_of(h); receiver_.hears(from)) {
    if (h.lane != lane || !was_here(h)) changed(from, "");
    return;
  }
  for (uint32_t from = 0; from < receiver_.ranks && strangers_ < searches_most; ++from) {
    if (receiver_.hears(from) && is_with_origin(h, lane, from)) return changed(from, "");
  }
  turn_away(bytes);
}

void NetTransport::turn_away(size_t bytes) {
  count_turned_away();
  if (strangers_.fetch_add(1, std::memory_order_relaxed) != 0) return;
  base::warn({.cause = "a message of " + std::to_string(bytes) +
                       " bytes came in that is not from a rank of this job; it is turned away, as others will be",
              .remedy = ""});
}

// A rank that leaves the job has had all that it waits for.
void NetTransport::changed(uint32_t rank, const std::string& link) {
  if (leaving_.load(std::memory_order_relaxed)) return;
  const auto from = static_cast<int>(rank);
  fail(known_as(from), {.cause = "data were changed on their way from " + shown(from) + " to " + shown(rank_) +
                                 ", over " + carrier_->name() + (link.empty() ? "" : " (" + link + ")"),
                        .remedy = "look for a broken cable, adapter or switch between the two hosts, or for somebody "
                                  "who changes what is sent"});
}

}  // namespace weft::transport::net
