// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "mpiexec/ports.hpp"

namespace weft::mpiexec {
namespace {

class Job : public ::testing::Test {
 protected:
  Job() { ports.begin("h-1"); }
  std::string wait(const std::string& port, bool accepts, uint64_t caller, uint64_t due = UINT64_MAX) {
    return ports.wait(port, accepts, {.caller = caller, .place = static_cast<int>(caller), .due_ns = due}, matched,
                      other);
  }
  Ports ports;
  bool matched = false;
  Ports::Waiter other;
};

TEST_F(Job, TheTwoSidesOfAPortMeetInTurn) {
  const std::string port = ports.open(0);
  for (const uint64_t caller : {1, 2}) {
    EXPECT_EQ(wait(port, false, caller), "");
    EXPECT_FALSE(matched);
  }
  for (const uint64_t caller : {11, 12}) {
    EXPECT_EQ(wait(port, true, caller), "");
    EXPECT_TRUE(matched);
    EXPECT_EQ(other.caller, caller - 10) << "the first that came";
  }
  EXPECT_EQ(wait(port, true, 13), "");
  EXPECT_FALSE(matched);
  EXPECT_NE(ports.open(0), port);
}

TEST_F(Job, OneThatIsGoneIsNotMet) {
  const std::string port = ports.open(0);
  EXPECT_EQ(wait(port, true, 1), "");
  ports.stop_waiting(1);
  EXPECT_EQ(wait(port, false, 2), "");
  EXPECT_FALSE(matched);
}

TEST_F(Job, OneWhoseProcessHasEndedIsNotMet) {
  const std::string port = ports.open(0);
  EXPECT_EQ(wait(port, true, 5), "");
  Ports::Waiter waiter;
  EXPECT_FALSE(ports.end_owner(5, waiter));
  EXPECT_EQ(wait(port, false, 2), "");
  EXPECT_FALSE(matched);
}

TEST_F(Job, OnesThatAcceptWithAllProcessesWaitInVain) {
  const std::string port = ports.open(0);
  Ports::Waiter waiter;
  EXPECT_EQ(wait(port, true, 1), "");
  EXPECT_FALSE(ports.take_vain(1, waiter)) << "other jobs may connect";
  EXPECT_EQ(ports.wait(port, true, {.caller = 2, .callers = 2}, matched, other), "");
  EXPECT_FALSE(ports.take_vain(3, waiter)) << "the third process may connect";
  EXPECT_TRUE(ports.take_vain(2, waiter));
  EXPECT_EQ(waiter.caller, 2u);
  EXPECT_FALSE(ports.take_vain(2, waiter));
}

TEST_F(Job, NamesAreOneProcesssAtATime) {
  const std::string port = ports.open(0);
  std::string found;
  EXPECT_EQ(ports.publish("name", port, 0), "");
  EXPECT_NE(ports.publish("name", "other", 1), "");
  EXPECT_EQ(ports.look_up("name", found), "");
  EXPECT_EQ(found, port);
  EXPECT_NE(ports.unpublish("name", "other"), "");
  EXPECT_EQ(ports.unpublish("name", port), "");
  EXPECT_NE(ports.look_up("name", found), "");
}

TEST_F(Job, PortsAndNamesEndWithTheirProcess) {
  const std::string port = ports.open(3);
  EXPECT_EQ(ports.publish("name", port, 3), "");
  EXPECT_EQ(wait(port, false, 7), "");
  Ports::Waiter waiter;
  EXPECT_FALSE(ports.end_owner(4, waiter));
  ASSERT_TRUE(ports.end_owner(3, waiter));
  EXPECT_EQ(waiter.caller, 7U) << "it would wait for ever";
  EXPECT_FALSE(ports.end_owner(3, waiter));
  std::string found;
  EXPECT_NE(ports.look_up("name", found), "");
  EXPECT_NE(wait(port, false, 8), "");
}

TEST_F(Job, AClosedPortTakesNobody) {
  const std::string port = ports.open(0);
  EXPECT_EQ(wait(port, false, 7), "");
  EXPECT_EQ(ports.close(port), "");
  EXPECT_NE(ports.close(port), "");
  EXPECT_NE(wait(port, true, 8), "");
  Ports::Waiter waiter;
  ASSERT_TRUE(ports.end_owner(-1, waiter));
  EXPECT_EQ(waiter.caller, 7U);
}

TEST_F(Job, WaitsEndInTime) {
  const std::string port = ports.open(0);
  EXPECT_EQ(ports.next_due(), UINT64_MAX);
  EXPECT_EQ(wait(port, true, 1, 100), "");
  EXPECT_EQ(wait(port, true, 2), "");
  EXPECT_EQ(ports.next_due(), 100U);
  Ports::Waiter waiter;
  EXPECT_FALSE(ports.take_due(99, waiter));
  ASSERT_TRUE(ports.take_due(100, waiter));
  EXPECT_EQ(waiter.caller, 1U);
  EXPECT_FALSE(ports.take_due(UINT64_MAX - 1, waiter));
}

TEST_F(Job, PortsOfOthersAreToldApart) {
  EXPECT_NE(wait("weft:elsewhere-2:1", false, 1).find("is not of this job"), std::string::npos);
  EXPECT_NE(wait("anything", false, 1).find("no open port"), std::string::npos);
  EXPECT_NE(wait("weft:h-1:77", false, 1).find("no open port"), std::string::npos);
}

}  // namespace
}  // namespace weft::mpiexec
