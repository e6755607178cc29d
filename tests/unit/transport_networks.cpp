// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "transport/net/network.hpp"
#include "transport/net/socket.hpp"

namespace weft::transport::net {
namespace {

bool allows(const Networks& networks, const char* address) {
  in_addr parsed{};
  EXPECT_EQ(inet_pton(AF_INET, address, &parsed), 1);
  return networks.allow(parsed);
}

TEST(Networks, NoneNamedAllowsAll) {
  Networks networks;
  EXPECT_EQ(networks.parse(""), "");
  EXPECT_FALSE(networks.named());
  EXPECT_TRUE(allows(networks, "8.8.8.8"));
}

TEST(Networks, AllowWhatTheyHold) {
  Networks networks;
  EXPECT_EQ(networks.parse("10.1.0.0/16,192.168.7.9,172.16.0.0/12"), "");
  EXPECT_TRUE(networks.named());
  EXPECT_TRUE(allows(networks, "10.1.255.255"));
  EXPECT_FALSE(allows(networks, "10.2.0.0"));
  EXPECT_TRUE(allows(networks, "192.168.7.9"));
  EXPECT_FALSE(allows(networks, "192.168.7.8"));
  EXPECT_TRUE(allows(networks, "172.31.9.9"));
  EXPECT_EQ(networks.parse("1.2.3.4/0"), "");
  EXPECT_TRUE(allows(networks, "255.255.255.255"));
}

TEST(Networks, SayWhatIsNone) {
  Networks networks;
  for (const char* text : {"eth0", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0/8", "10.0.0.0/8;", "300.1.1.1",
                           ",", "10.0.0.0/8,,"}) {
    EXPECT_NE(networks.parse(text).find("is no network"), std::string::npos) << text;
  }
}

TEST(Networks, TheLoopbackIsTriedLast) {
  const std::vector<LocalAddress> addresses = local_addresses({});
  ASSERT_FALSE(addresses.empty());
  bool loopback = false;
  for (const LocalAddress& local : addresses) {
    if (!local.usable()) continue;
    const bool is_loopback = (ntohl(local.address.s_addr) >> 24) == 127;
    EXPECT_EQ(is_loopback, local.use == AddressUse::loopback);
    EXPECT_TRUE(is_loopback || !loopback) << "after the loopback";
    loopback = loopback || is_loopback;
    if (text_of(local.address) == "127.0.0.1") {
      EXPECT_EQ(local.bits, 8);
    }
  }
}

TEST(Networks, AddressesOfOthersAreSeenAndNotUsable) {
  Networks networks;
  ASSERT_EQ(networks.parse("240.0.0.0/8"), "");  // no host has one of these reserved addresses
  const std::vector<LocalAddress> addresses = local_addresses(networks);
  EXPECT_EQ(addresses.size(), local_addresses({}).size());
  for (const LocalAddress& local : addresses) EXPECT_FALSE(local.usable()) << text_of(local.address);
}

// The system's choice stays, but for BBR between ranks that are near each other.
TEST(Sockets, AreNotPacedNearby) {
  const auto control = [](const Socket& socket) {
    char name[16] = {};
    socklen_t length = sizeof name;
    EXPECT_EQ(getsockopt(socket.descriptor(), IPPROTO_TCP, TCP_CONGESTION, name, &length), 0);
    return std::string(name);
  };
  const auto choose = [](const Socket& socket, std::string_view name) {
    return setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_CONGESTION, name.data(), name.size()) == 0;
  };
  ListenAddresses here{.addresses = {{htonl(INADDR_LOOPBACK)}}};
  const std::vector<Socket> listeners = listen_at(here);
  ASSERT_EQ(listeners.size(), 1u);
  const Socket& listener = listeners[0];
  int error = 0;
  const Socket caller = begin_connect(here.addresses[0], here.port, error);
  ASSERT_EQ(error, 0);
  pollfd waiting = {.fd = listener.descriptor(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&waiting, 1, 10'000), 1);
  const Socket called = accept_one(listener);
  ASSERT_TRUE(choose(caller, "reno"));
  suit_to_distance(caller);
  EXPECT_EQ(control(caller), "reno");
  for (const Socket* end : {&caller, &called}) {
    if (!choose(*end, "bbr")) GTEST_SKIP() << "this system has no BBR";
    suit_to_distance(*end);
    EXPECT_NE(control(*end), "bbr");
  }
}

// One port of several addresses, and of no other.
TEST(Sockets, ListenAtTheAddressesOfAPlaceAlone) {
  const auto local = [](uint32_t last) { return in_addr{htonl(INADDR_LOOPBACK + last)}; };
  ListenAddresses here{.addresses = {local(0), local(1), local(2)}};
  const std::vector<Socket> listeners = listen_at(here);
  ASSERT_EQ(listeners.size(), 3u);
  ASSERT_NE(here.port, 0);
  const auto answered = [&](in_addr address) {
    int error = 0;
    const Socket caller = begin_connect(address, here.port, error);
    pollfd there = {.fd = caller.descriptor(), .events = POLLOUT, .revents = 0};
    return error == 0 && ::poll(&there, 1, 5'000) == 1 && error_of(caller) == 0;
  };
  for (const in_addr& address : here.addresses) EXPECT_TRUE(answered(address));
  EXPECT_FALSE(answered(local(3)));
}

// Other hosts would find themselves there, and on them whoever listens.
TEST(Networks, TheLoopbackIsForHostsThatHaveNothingElse) {
  const std::vector<in_addr> addresses = allowed_addresses();
  const auto is_loopback = [](const in_addr& a) { return ntohl(a.s_addr) >> 24 == IN_LOOPBACKNET; };
  const auto found = std::count_if(addresses.begin(), addresses.end(), is_loopback);
  EXPECT_TRUE(found == 0 || addresses.size() == 1);
}

}  // namespace
}  // namespace weft::transport::net
