// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <memory>

#include "mpiexec/far_line.hpp"

namespace weft::mpiexec {
namespace {

namespace net = transport::net;

const std::string secret = "0123456789abcdef0123456789abcdef";
const std::string other_secret = "0123456789abcdef0123456789abcdee";

// A caller of a port on the loopback, and the line that it gets. `between` passes on what they say.
class Lines : public ::testing::Test {
 protected:
  void SetUp() override {
    here.addresses = {{htonl(INADDR_LOOPBACK)}};
    listeners = net::try_to_listen_at(here);
    ASSERT_EQ(listeners.size(), 1u);
  }
  void call(const std::string& its_secret) { caller = std::make_unique<FarLine>("weft:1:h:1", here, its_secret); }
  net::Socket accept() {
    pollfd p{listeners[0].descriptor(), POLLIN, 0};
    EXPECT_EQ(poll(&p, 1, 10'000), 1);
    return net::accept_one(listeners[0]);
  }
  void answer(net::Socket socket) {
    called = std::make_unique<FarLine>(
        std::move(socket), [](const std::string& port) { return port == "weft:1:h:1" ? secret : std::string(); });
  }
  // Until both are open, or one of them is over.
  void greet() {
    const auto is_over = [](const auto& line) { return line->state() == FarLine::State::over; };
    while (!is_over(caller) && !is_over(called) && !(caller->has_greeted() && called->has_greeted())) turn();
    for (int i = 0; i < 100; ++i) turn();  // the other one notices
  }
  void turn() {
    pollfd p[] = {{caller->descriptor(), caller->events(), 0}, {called->descriptor(), called->events(), 0}};
    (void)poll(p, 2, 1);
    if (p[0].revents != 0) caller->advance();
    if (p[1].revents != 0) called->advance();
  }
  std::string hear(FarLine& line) {
    boot::Packet packet;
    for (int i = 0; i < 10'000 && !line.next(packet) && line.state() != FarLine::State::over; ++i) turn();
    return packet.take_text();
  }

  net::ListenAddresses here;
  std::vector<net::Socket> listeners;
  std::unique_ptr<FarLine> caller, called;
};

TEST_F(Lines, OpenForTheSecretOfThePort) {
  call(secret);
  answer(accept());
  greet();
  ASSERT_TRUE(caller->has_greeted() && called->has_greeted());
  EXPECT_EQ(caller->secret_of_jobs(), called->secret_of_jobs());
  EXPECT_EQ(caller->secret_of_jobs().size(), 32u);
  EXPECT_EQ(caller->proof_of_port("p", secret), called->proof_of_port("p", secret));
  EXPECT_NE(caller->proof_of_port("p", secret), called->proof_of_port("p", other_secret));
  for (const size_t bytes : {size_t{1}, size_t{1000}, size_t{1} << 20}) {
    caller->send(boot::Packet().put(std::string(bytes, 'a')));
    called->send(boot::Packet().put(std::string(bytes, 'b')));
    EXPECT_EQ(hear(*called), std::string(bytes, 'a'));
    EXPECT_EQ(hear(*caller), std::string(bytes, 'b'));
  }
}

TEST_F(Lines, StayClosedToAnotherSecret) {
  call(other_secret);
  answer(accept());
  greet();
  EXPECT_FALSE(caller->has_greeted() || called->has_greeted());
  EXPECT_NE(caller->why().find("does not take the port's secret"), std::string::npos) << caller->why();
}

// Somebody passes on all words, to and fro, and is answered at another address than the caller has called.
TEST_F(Lines, StayClosedWhenSomebodyElsePassesTheGreetingOn) {
  call(secret);
  const net::Socket front = accept();
  int error = 0;
  const net::Socket back = net::begin_connect(here.addresses[0], here.port, error);
  net::ListenAddresses elsewhere{.addresses = here.addresses};
  const std::vector<net::Socket> other = net::try_to_listen_at(elsewhere);
  const net::Socket passed = net::begin_connect(elsewhere.addresses[0], elsewhere.port, error);
  pollfd p{other.at(0).descriptor(), POLLIN, 0};
  ASSERT_EQ(poll(&p, 1, 10'000), 1);
  answer(net::accept_one(other[0]));
  for (int i = 0; i < 3000 && called->state() != FarLine::State::over; ++i) {
    turn();
    char words[4096];
    for (const auto& [from, to] : {std::pair(&front, &passed), std::pair(&passed, &front)}) {
      const ssize_t n = recv(from->descriptor(), words, sizeof words, MSG_DONTWAIT);
      if (n <= 0) continue;
      EXPECT_EQ(send(to->descriptor(), words, static_cast<size_t>(n), MSG_NOSIGNAL), n);
    }
  }
  EXPECT_EQ(called->state(), FarLine::State::over);
  EXPECT_FALSE(caller->has_greeted());
}

// A packet that is changed, sent again, or longer than any ends the line.
TEST_F(Lines, EndAtWhatProvesNothing) {
  for (const bool is_long : {false, true}) {
    call(secret);
    net::Socket socket = accept();
    const int thief = dup(socket.descriptor());  // writes into the caller's line as the listener
    answer(std::move(socket));
    greet();
    ASSERT_TRUE(caller->has_greeted() && called->has_greeted());
    called->send(boot::Packet().put("first"));
    EXPECT_EQ(hear(*caller), "first");
    const uint32_t frame[] = {is_long ? 1U << 30 : 8, 0, 4, 0x61616161, 1, 2};
    EXPECT_EQ(send(thief, frame, sizeof frame, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof frame));
    EXPECT_EQ(hear(*caller), "");
    EXPECT_EQ(caller->state(), FarLine::State::over);
    close(thief);
  }
}

}  // namespace
}  // namespace weft::mpiexec
