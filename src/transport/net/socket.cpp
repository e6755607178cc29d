// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net/socket.hpp"

#include <linux/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include "base/message.hpp"
#include "transport/api/failure.hpp"

namespace weft::transport::net {
namespace {

void set(const Socket& socket, int level, int option, int value) {
  (void)setsockopt(socket.descriptor(), level, option, &value, sizeof value);
}

sockaddr_in at(in_addr address, uint16_t port) {
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_addr = address;
  place.sin_port = htons(port);
  return place;
}

}  // namespace

std::string ListenAddresses::bytes() const {
  std::string text(reinterpret_cast<const char*>(&port), sizeof port);
  for (const in_addr& address : addresses) text.append(reinterpret_cast<const char*>(&address), sizeof address);
  return text;
}

bool ListenAddresses::parse(std::string_view bytes) {
  if (bytes.size() < sizeof port + sizeof(in_addr) || (bytes.size() - sizeof port) % sizeof(in_addr) != 0) return false;
  bytes.copy(reinterpret_cast<char*>(&port), sizeof port);
  bytes.remove_prefix(sizeof port);
  addresses.resize(bytes.size() / sizeof(in_addr));
  std::memcpy(addresses.data(), bytes.data(), bytes.size());
  return port != 0;
}

namespace {

Socket listen_at_one(in_addr address, uint16_t& port) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in place = at(address, port);
  socklen_t length = sizeof place;
  if (!socket || ::bind(socket.descriptor(), reinterpret_cast<sockaddr*>(&place), sizeof place) != 0 ||
      ::listen(socket.descriptor(), SOMAXCONN) != 0 ||
      ::getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&place), &length) != 0) {
    return {};
  }
  port = ntohs(place.sin_port);
  return socket;
}

}  // namespace

std::vector<Socket> try_to_listen_at(ListenAddresses& place) {
  constexpr int tries = 100;  // a port that is free at one address may be taken at another
  for (int i = 0; i < tries; ++i) {
    std::vector<Socket> sockets;
    place.port = 0;
    for (const in_addr& address : place.addresses) {
      Socket socket = listen_at_one(address, place.port);
      if (!socket) break;
      sockets.push_back(std::move(socket));
    }
    if (sockets.size() == place.addresses.size()) return sockets;
    if (errno != EADDRINUSE) break;
  }
  return {};
}

std::vector<Socket> listen_at(ListenAddresses& place) {
  std::vector<Socket> sockets = try_to_listen_at(place);
  if (!sockets.empty()) return sockets;
  fail_for_good({.cause = "no TCP port can be had to listen for other hosts: " + text_of_error(errno),
                 .remedy = "see ulimit -n for the number of open files, and whether this process may use the network"});
}

Socket accept_one(const Socket& listener) {
  Socket socket(::accept4(listener.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket) set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  return socket;
}

bool no_descriptor(int error) {
  return error == EMFILE || error == ENFILE;
}

namespace {

uint64_t number_of(const sockaddr_in& place) {
  return uint64_t{ntohl(place.sin_addr.s_addr)} << 16 | ntohs(place.sin_port);
}

}  // namespace

uint64_t near_end(const Socket& socket) {
  sockaddr_in place = {};
  socklen_t length = sizeof place;
  (void)::getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&place), &length);
  return number_of(place);
}

uint64_t far_end(const Socket& socket) {
  sockaddr_in place = {};
  socklen_t length = sizeof place;
  (void)::getpeername(socket.descriptor(), reinterpret_cast<sockaddr*>(&place), &length);
  return number_of(place);
}

Socket begin_connect(in_addr address, uint16_t port, int& error) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  error = errno;
  if (!socket) return socket;
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  const sockaddr_in place = at(address, port);
  error = 0;
  if (::connect(socket.descriptor(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 &&
      errno != EINPROGRESS) {
    error = errno;
    socket.close();
  }
  return socket;
}

Socket connect_in_turn(const ListenAddresses& place, size_t& turn, int& error) {
  while (turn < place.addresses.size()) {
    Socket socket = begin_connect(place.addresses[turn++], place.port, error);
    if (socket) return socket;
  }
  turn = 0;
  return {};
}

int error_of(const Socket& socket) {
  int error = 0;
  socklen_t length = sizeof error;
  return ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

Socket datagrams_beside(const Socket& connection, uint16_t& port) {
  sockaddr_in place = {};
  socklen_t length = sizeof place;
  auto* const address = reinterpret_cast<sockaddr*>(&place);
  if (::getsockname(connection.descriptor(), address, &length) != 0) return {};
  place.sin_port = 0;
  Socket socket(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket || ::bind(socket.descriptor(), address, sizeof place) != 0 ||
      ::getsockname(socket.descriptor(), address, &length) != 0) {
    return {};
  }
  port = ntohs(place.sin_port);
  return socket;
}

bool connect_beside(const Socket& datagrams, const Socket& connection, uint16_t port) {
  sockaddr_in place = {};
  socklen_t length = sizeof place;
  auto* const address = reinterpret_cast<sockaddr*>(&place);
  if (::getpeername(connection.descriptor(), address, &length) != 0) return false;
  place.sin_port = htons(port);
  return ::connect(datagrams.descriptor(), address, sizeof place) == 0;
}

// BBR sends at the pace that it has measured. Where a round trip takes some 10 us and the data come in bursts it
// measures too little: 1 MiB moved at 1.8 to 4.8 GB/s with it, and at 4.1 to 6.5 with Reno in the same minutes
// (bench/bandwidth between two hosts). Far away it is the better one. Every process may have Reno; Cubic where the
// system lets it.
void suit_to_distance(const Socket& connection) {
  constexpr uint32_t near_us = 1000;
  tcp_info info = {};
  socklen_t length = sizeof info;
  char name[16] = {};
  socklen_t name_length = sizeof name;
  const int descriptor = connection.descriptor();
  if (::getsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, name, &name_length) != 0 ||
      std::string_view(name) != "bbr" || ::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 ||
      info.tcpi_min_rtt >= near_us) {
    return;
  }
  for (const std::string_view better : {"cubic", "reno"}) {
    if (::setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, better.data(), better.size()) == 0) return;
  }
}

void keep_alive(const Socket& socket) {
  constexpr int quiet_seconds = 60;
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, quiet_seconds);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, quiet_seconds / 2);
}

// Asked after a third of the time and then each second, since any of these may fall into a short cut or be lost alone.
// When the kernel gives up is TCP_USER_TIMEOUT's to say, at which it looks whenever it would ask; the number of
// questions does not matter then. That also bounds what was sent.
void lose_after(const Socket& socket, int seconds) {
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, std::max(1, seconds / 3));
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, seconds * 1000);
}

std::string text_of_error(int error) {
  return std::system_category().message(error);
}

}  // namespace weft::transport::net
