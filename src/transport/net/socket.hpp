// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// TCP sockets between hosts. None of them blocks, and none outlives an exec.

#include <netinet/in.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/message.hpp"

namespace weft::transport::net {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor, "messages between hosts") {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, {})) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket() { descriptor_.close(); }

  explicit operator bool() const { return descriptor_.is_open(); }
  // Not checked, as that takes a call of the system: only for calls that refuse what is no socket.
  int descriptor() const { return descriptor_.unchecked(); }
  // Whether the program has left it alone.
  bool is_intact() const { return descriptor_.is_intact(); }
  // Ends the job if the program has closed it.
  void check() const { (void)descriptor_.needed(); }
  void close() { *this = Socket(); }

 private:
  base::Descriptor descriptor_;
};

// Where a rank listens: the addresses of its host in the order to try, and a port of all of them.
struct ListenAddresses {
  std::vector<in_addr> addresses;
  uint16_t port = 0;

  std::string bytes() const;                         // for the others
  [[nodiscard]] bool parse(std::string_view bytes);  // false: these are not the bytes of a place
};

// Listens at the addresses of a place, at one port of all of them that the system chooses. None: errno says why.
std::vector<Socket> try_to_listen_at(ListenAddresses& place);
// Listens likewise, and ends the job with a message when it cannot.
std::vector<Socket> listen_at(ListenAddresses& place);
// The next caller of a listener; none: errno says why.
Socket accept_one(const Socket& listener);
// Whether an error says that the process, or the system, has no descriptor left.
bool no_descriptor(int error);
// The remedy for that.
inline constexpr const char* descriptor_remedy =
    "raise the limit of open files (ulimit -n): a rank needs one for each rank of another host that it talks to, and a "
    "second one for datagrams and windows, on each lane that threads use";

// No check tells the greeting of a process outside the job from one that was changed on its way.
inline base::Problem unproved_connection() {
  return {
      .cause = "a connection was rejected that does not prove to be from a rank of this job, as later ones will be",
      .remedy =
          "keep other programs from this host's ports; if there are none, look for a broken cable, adapter or switch"};
}

// Address and port of a connection's ends, as one number; 0: it has ended.
uint64_t near_end(const Socket& socket);
uint64_t far_end(const Socket& socket);

// Begins to connect. error_of() tells how it ended once the socket is writable.
Socket begin_connect(in_addr address, uint16_t port, int& error);
int error_of(const Socket& socket);
// Begins to connect to the first address of a place, from `turn` on, where that is possible; `turn` is behind it then.
// None: each has had its turn, and the first is next.
Socket connect_in_turn(const ListenAddresses& place, size_t& turn, int& error);

// A socket for datagrams at the address that a connection has here, and its port; none: errno says why. And leading it
// to the other end's address; false: that cannot be.
Socket datagrams_beside(const Socket& connection, uint16_t& port);
[[nodiscard]] bool connect_beside(const Socket& datagrams, const Socket& connection, uint16_t port);

// Takes another congestion control than BBR for a connection within one network.
void suit_to_distance(const Socket& connection);

// The kernel asks now and then whether the other host is there when nothing is sent: firewalls forget no connection
// that is quiet for long, and one to a host that is gone ends. A peer may compute and take nothing for as long as it
// likes, so nothing limits how long sent data wait.
void keep_alive(const Socket& socket);
// A peer that does not acknowledge anything for so long is lost: reads and writes fail with ETIMEDOUT then.
void lose_after(const Socket& socket, int seconds);

// The text of a system's error.
std::string text_of_error(int error);

}  // namespace weft::transport::net
