// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The open ports of a job, the processes that wait at them, and the names under which they are published. Pure data:
// the caller answers. Ports and names of a process end with it.

#include <cstdint>
#include <list>
#include <map>
#include <string>

namespace weft::mpiexec {

class Ports {
 public:
  // `job` begins the name of each port, so that those of other jobs are told apart.
  void begin(const std::string& job) { prefix_ = "weft:" + job + ":"; }

  // `address` ends the name.
  [[nodiscard]] std::string open(int owner, const std::string& address = {});
  [[nodiscard]] bool is_open(const std::string& port) const;
  [[nodiscard]] bool is_published(const std::string& service, const std::string& port) const;
  // Each returns why it cannot be; empty: done.
  [[nodiscard]] std::string close(const std::string& port);
  [[nodiscard]] std::string publish(const std::string& service, const std::string& port, int owner);
  [[nodiscard]] std::string unpublish(const std::string& service, const std::string& port);
  [[nodiscard]] std::string look_up(const std::string& service, std::string& port) const;

  // One that waits at a port, to accept or to connect.
  struct Waiter {
    uint64_t caller = 0;
    int place = 0;
    uint32_t generation = 0;
    int number = 0;   // of its job; 0: this one
    std::string job;  // and its name
    uint64_t due_ns = UINT64_MAX;
    int callers = 0;  // processes of this host that accept with it, where others cannot connect; 0: some may
  };
  // Waits there, unless one of the other side does: `other` is that one, whose wait is over.
  [[nodiscard]] std::string wait(const std::string& port, bool accepts, const Waiter& waiter, bool& matched,
                                 Waiter& other);
  void stop_waiting(uint64_t caller);
  // One whose time is over, which waits no more; false: there is none.
  [[nodiscard]] bool take_due(uint64_t now_ns, Waiter& waiter);
  [[nodiscard]] uint64_t next_due() const;
  // One that accepts with all processes that there are, so that nobody can come, and waits no more; false: there is
  // none.
  [[nodiscard]] bool take_vain(int processes, Waiter& waiter);

  // The process of this place has ended (-1: none), and its ports and waits with it. One that waits to connect at a
  // port that has ended or was closed, and waits no more; false: there is none.
  [[nodiscard]] bool end_owner(int owner, Waiter& waiter);

 private:
  static constexpr int closed = -2;
  struct Port {
    int owner = 0;
    std::list<Waiter> accepting;
    std::list<Waiter> connecting;
  };
  struct Name {
    std::string port;
    int owner = 0;
  };
  std::string no_port(const std::string& port) const;

  std::string prefix_;
  uint64_t opened_ = 0;
  std::map<std::string, Port> ports_;
  std::map<std::string, Name> names_;
};

}  // namespace weft::mpiexec
