// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// An answer finds the send that waits for it; late, wrong and invented answers find nothing.
#include <gtest/gtest.h>

#include "core/peer/request_number.hpp"
#include "core/runtime/world.hpp"
#include "schedule.hpp"

namespace weft::core {
namespace {

class RequestNumber : public testing::Test {
 protected:
  RequestNumber() {
    peer_.rank = 3;
    send_->kind = base::Kind::request;
    send_->role = Role::send;
    send_->peer = &peer_;
    send_->lane = 2;
  }
  ~RequestNumber() override { base::destroy_object(send_); }

  Request* find(uint64_t number, NumberStage stage = NumberStage::asked) { return find_send(number, stage, 3, 2); }

  Peer peer_;
  Request* send_ = base::make_object<Request>();
};

TEST_F(RequestNumber, AnAnswerFindsItsSend) {
  const uint64_t number = give_number(*send_);
  EXPECT_EQ(find(number), send_);
  EXPECT_EQ(give_number(*send_), number) << "a send that found the way full keeps its number";
}

TEST_F(RequestNumber, ASendWithoutANumberIsNotFound) {
  EXPECT_EQ(find(number_of(*send_)), nullptr);
  EXPECT_EQ(find(0), nullptr);
}

TEST_F(RequestNumber, ALateAnswerFindsNothing) {
  const uint64_t first = give_number(*send_);
  take_number(*send_);
  EXPECT_EQ(find(first), nullptr);
  const uint64_t second = give_number(*send_);
  EXPECT_NE(first, second);
  EXPECT_EQ(find(first), nullptr) << "the request is used again";
  EXPECT_EQ(find(second), send_);
}

TEST_F(RequestNumber, AnAnswerAtTheWrongStageFindsNothing) {
  const uint64_t number = give_number(*send_);
  EXPECT_EQ(find(number, NumberStage::streaming), nullptr);
  enter_stage(*send_, NumberStage::streaming);
  EXPECT_EQ(number_of(*send_), number) << "the number names the stream";
  EXPECT_EQ(find(number), nullptr) << "a second CTS, a FIN of a stream";
  EXPECT_EQ(find(number, NumberStage::streaming), send_);
}

TEST_F(RequestNumber, AnAnswerOfAnotherPeerFindsNothing) {
  const uint64_t number = give_number(*send_);
  EXPECT_EQ(find_send(number, NumberStage::asked, 4, 2), nullptr);
  EXPECT_EQ(find_send(number, NumberStage::asked, 3, 1), nullptr) << "another lane";
  send_->role = Role::receive;
  EXPECT_EQ(find(number), nullptr);
}

TEST_F(RequestNumber, AnInventedNumberFindsNothing) {
  const uint64_t number = give_number(*send_);
  EXPECT_EQ(find(number + 1), nullptr) << "inside the request";
  EXPECT_EQ(find(number | UINT32_MAX), nullptr) << "out of range";
  EXPECT_EQ(find(number | uint64_t{3} << 62), nullptr) << "a generation that wraps into the stage";
  EXPECT_EQ(find(reinterpret_cast<uintptr_t>(send_)), nullptr) << "an address";
  test::Random random(3);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t invented = random.next();
    if (invented == number) continue;
    ASSERT_EQ(find(invented), nullptr) << invented;
  }
}

TEST_F(RequestNumber, AFreedRequestIsNotFound) {
  const uint64_t number = give_number(*send_);
  send_->kind = base::Kind::free;
  EXPECT_EQ(find(number), nullptr);
}

}  // namespace
}  // namespace weft::core
