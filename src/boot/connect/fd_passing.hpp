// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Passes a descriptor to processes of this host that do not see ours, as in containers with processes of their own:
// over a listening socket with an abstract name, which they share as long as they share the network.

#include <string>

namespace weft::boot {

class ListeningSocket {
 public:
  ~ListeningSocket();
  ListeningSocket() = default;
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;

  // Without a socket (no such sockets, no descriptor left) the name is empty, and nobody comes.
  void open();
  // Opens it by a name of the caller's, as name() gives it; false: another has it.
  [[nodiscard]] bool open_as(const std::string& name);
  const std::string& name() const { return name_; }
  // Sends the descriptor to processes of our user that have come since. Never waits.
  void send_fd(int descriptor) const;
  // The socket, readable when one has come; -1: there is no socket.
  int socket() const { return socket_; }
  // A connection to the next that has come; -1: there is none of our user.
  [[nodiscard]] int accept() const;

 private:
  int socket_ = -1;
  std::string name_;
};

// A connection to the socket with this name; -1 and errno: there is none, or it is of another user (EPERM).
[[nodiscard]] int connect_to_socket(const std::string& name);
// The descriptor behind the socket with this name; -1 and errno: there is none. Waits up to ten seconds for it.
[[nodiscard]] int receive_fd(const std::string& name);

}  // namespace weft::boot
