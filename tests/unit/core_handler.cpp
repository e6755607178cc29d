// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The rows of message handlers: each kind has one, and a message reaches it only when it is long enough.
#include <gtest/gtest.h>

#include <set>

#include "core/lane/counters.hpp"
#include "core/message/handler.hpp"
#include "core/message/path.hpp"
#include "core/object/identity.hpp"
#include "core/peer/request_number.hpp"
#include "core/protocol/wire.hpp"
#include "core/runtime/world.hpp"

namespace weft::core {
namespace {

int taken = 0;

void take_one(const transport::Arrival& /*arrival*/) {
  ++taken;
}

constinit const Handler test_handler{.kind = kind_limit - 1, .least_bytes = 16, .name = "a test's", .take = take_one};
WEFT_HANDLER(test_handler);

transport::Arrival message(uint8_t kind, uint32_t bytes) {
  static char data[64] = {};
  return {kind, {}, data, bytes};
}

TEST(Handler, NoTwoRowsShareAKind) {
  EXPECT_EQ(check_handlers(all_handlers()), "");
  std::set<int> kinds;
  for (const Handler* row : all_handlers()) {
    EXPECT_TRUE(kinds.insert(row->kind).second) << row->name;
    EXPECT_LT(row->kind, kind_limit) << row->name;
    EXPECT_NE(row->take, nullptr) << row->name;
  }
}

TEST(Handler, EveryKindOfThePathsHasARow) {
  open_handlers();
  for (uint8_t kind = wire::eager; kind <= wire::recalled; ++kind) {
    EXPECT_NE(handler_of(kind), nullptr) << static_cast<int>(kind);
  }
}

TEST(Handler, ACollisionIsFound) {
  constexpr Handler other{.kind = kind_limit - 1, .least_bytes = 0, .name = "another", .take = take_one};
  constexpr Handler beyond{.kind = kind_limit, .least_bytes = 0, .name = "beyond", .take = take_one};
  constexpr Handler zero{.kind = 0, .least_bytes = 0, .name = "zero", .take = take_one};
  const Handler* const twice[] = {&test_handler, &other};
  EXPECT_NE(check_handlers(twice).find("(another) is also that of a test's"), std::string::npos);
  const Handler* const large[] = {&beyond};
  EXPECT_NE(check_handlers(large), "");
  const Handler* const small[] = {&zero};
  EXPECT_NE(check_handlers(small), "");
}

TEST(Handler, AMessageReachesItsRow) {
  open_handlers();
  taken = 0;
  on_arrival(message(kind_limit - 1, 16));
  EXPECT_EQ(taken, 1);
}

uint64_t stale() {
  return counters().stale;
}

// From a peer, on lane 0.
template <class Payload>
void arrive(uint8_t kind, const Payload& payload, int32_t source) {
  identity->size = identity->places = 8;
  on_arrival({kind, {0, source, 0, 0}, &payload, sizeof payload, source});
}

TEST(Handler, LateAndInventedAnswersAreDroppedAndCounted) {
  open_handlers();
  Peer peer;
  peer.rank = 3;
  Request* send = base::make_object<Request>();
  send->kind = base::Kind::request;
  send->peer = &peer;
  send->bytes = 100;
  const uint64_t late = give_number(*send);
  take_number(*send);
  const uint64_t number = give_number(*send);
  const uint64_t before = stale();
  arrive(wire::fin, wire::Fin{late}, 3);
  arrive(wire::fin, wire::Fin{reinterpret_cast<uint64_t>(send)}, 3);
  arrive(wire::fin, wire::Fin{number}, 4);  // not its peer
  arrive(wire::cts, wire::Cts{late, 10, {}, 0, 0}, 3);
  arrive(wire::cts, wire::Cts{number, 10, {}, 0, 0}, 4);
  arrive(wire::recalled, wire::Recalled{late, 1, 0}, 3);
  arrive(wire::recalled, wire::Recalled{number, 0, 0}, 3);  // an answer without effect
  arrive(wire::helped, wire::Helped{1, 1, 0}, 3);
  EXPECT_EQ(stale() - before, 7U);
  EXPECT_FALSE(is_done(*send));
  EXPECT_FALSE(send->flags.cancelled);
  arrive(wire::fin, wire::Fin{number}, 3);
  EXPECT_TRUE(is_done(*send));
  EXPECT_EQ(stale() - before, 7U);
  arrive(wire::fin, wire::Fin{number}, 3);  // once more
  EXPECT_EQ(stale() - before, 8U);
  base::destroy_object(send);
}

TEST(HandlerDeathTest, AMessageOfNoRankIsRejected) {
  open_handlers();
  const wire::Recall recall{1, 1 << 30, 0};
  EXPECT_DEATH(arrive(wire::recall, recall, 0), "which does not exist");
  const wire::Recall below{1, -1, 0};
  EXPECT_DEATH(arrive(wire::recall, below, 0), "which does not exist");
}

TEST(HandlerDeathTest, AMessageThatNamesAnotherSenderIsRejected) {
  open_handlers();
  EXPECT_DEATH(arrive(wire::recall, wire::Recall{1, 3, 0}, 2), "lane 0 of rank 3 as its sender, which .* is not");
  EXPECT_DEATH(arrive(wire::rts, wire::Rts{1, 8, {}, 3, 1, 0}, 2), "rank 3 as its sender");
}

TEST(HandlerDeathTest, DataThatComeInAnotherWayThanTheirKindsAreRejected) {
  open_handlers();
  transport::Arrival pushed = message(wire::buffered, 24);
  pushed.pushed = true;
  EXPECT_DEATH(on_arrival(pushed), "kind 3 .E1. follow it");
  EXPECT_DEATH(on_arrival(message(wire::pushed, 24)), "kind 4 .E1 pushed. do not follow it");
}

TEST(HandlerDeathTest, AShortMessageIsRejected) {
  open_handlers();
  EXPECT_DEATH(on_arrival(message(kind_limit - 1, 15)), "too short: 15 bytes instead of at least 16");
  EXPECT_DEATH(on_arrival(message(wire::cts, 8)), "CTS.* is too short");
}

TEST(HandlerDeathTest, AnUnknownKindIsRejected) {
  open_handlers();
  EXPECT_DEATH(on_arrival(message(kind_limit - 2, 64)), "unknown kind");
  EXPECT_DEATH(on_arrival(message(255, 64)), "unknown kind");
}

}  // namespace
}  // namespace weft::core
