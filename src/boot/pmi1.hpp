// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A client of the PMI-1.1 wire protocol: lines of text over a descriptor that the launcher gave us (PMI_FD), or over
// TCP (PMI_PORT). Every call asks and waits for the answer; on failure it returns false and `problem()` says why.

#include <string>

#include "base/message.hpp"
#include "boot/environment.hpp"
#include "boot/pmi_line.hpp"

namespace weft::boot {

class Pmi1 {
 public:
  // Connects, says hello and learns the limits. With PMI_PORT the rank and size may come from the server: they are put
  // into `offer`.
  [[nodiscard]] bool begin(Offer& offer);
  [[nodiscard]] bool put(const std::string& key, const std::string& value);
  [[nodiscard]] bool get(const std::string& key, std::string& value);
  [[nodiscard]] bool barrier();
  void finish();
  void abort(int status);

  size_t longest_value() const { return longest_value_; }
  int app_number() const { return app_number_; }
  int universe_size() const { return universe_size_; }
  const std::string& space() const { return space_; }
  const base::Problem& problem() const { return problem_; }
  bool open() const { return fd_ >= 0; }

 private:
  bool connect(const std::string& port);
  bool greet_by_port(Offer& offer);
  bool send(const std::string& line);
  bool read_line();  // into line_ and reply_
  bool ask(const std::string& line, std::string_view answer);
  bool fail(const std::string& cause, int error = 0);

  int fd_ = -1;
  std::string space_;  // "kvsname"
  size_t longest_key_ = 32;
  size_t longest_value_ = 256;
  int app_number_ = -1;
  int universe_size_ = -1;
  char buffer_[PmiLine::longest + 1];
  size_t filled_ = 0;  // of buffer_
  std::string line_;
  PmiLine reply_;
  base::Problem problem_;
};

}  // namespace weft::boot
