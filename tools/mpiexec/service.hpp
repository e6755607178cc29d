// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Requests of ranks while the job runs (boot/connect/service.hpp): a socket, and a connection for each request that
// waits for its answer. Nothing blocks.

#include <poll.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "boot/connect/fd_passing.hpp"
#include "boot/connect/packet.hpp"

namespace weft::mpiexec {

class Service {
 public:
  using Caller = uint64_t;  // names a request; never given twice
  struct Handlers {
    std::function<void(Caller, boot::Packet&)> asked;
    std::function<void(Caller)> gone;  // without its answer
  };

  ~Service();
  Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // With a number by which other jobs find it, if it may have one.
  void open(bool numbered);
  // Empty: there is no socket.
  const std::string& name() const { return listener_.name(); }

  void add_to(std::vector<pollfd>& polled);
  // `polled` as add_to() left it, after poll().
  void take(const std::vector<pollfd>& polled, const Handlers& handlers);
  // Once for each caller. One that is gone gets nothing.
  void answer(Caller caller, const boot::Packet& packet);

 private:
  struct Line {
    int fd = -1;
    std::string in;
    std::string out;
    bool asked = false;
    bool answered = false;
  };
  void take_callers();
  void read_from(Caller caller, Line& line, const Handlers& handlers);
  [[nodiscard]] static bool write_to(Line& line);

  static constexpr size_t most_lines = 4096;
  boot::ListeningSocket listener_;
  std::map<Caller, Line> lines_;
  Caller next_ = 1;
  size_t first_polled_ = 0;
  std::vector<Caller> polled_;
};

}  // namespace weft::mpiexec
