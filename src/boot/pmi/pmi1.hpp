// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A client of the PMI-1.1 wire protocol: lines of text over a descriptor that the launcher gave us (PMI_FD), or over
// TCP (PMI_PORT). A server that refuses it may speak PMI-2: begin() says so in `offer`, with the descriptor.

#include <string>

#include "boot/pmi/kvs.hpp"
#include "boot/pmi/line.hpp"
#include "boot/pmi/wire.hpp"

namespace weft::boot {

class Pmi1 final : public Kvs {
 public:
  bool begin(Offer& offer) override;
  bool put(const std::string& key, const std::string& value) override;
  bool get(int rank, const std::string& key, std::string& value) override;
  bool start_barrier() override;
  bool end_barrier(bool wait, bool& over) override;
  bool local_ranks(std::vector<int>& ranks) override;
  void finish() override;
  void abort(int status) override;
  void hang_up() override { wire_.hang_up(); }

  const std::string& id() const override { return kvs_name_; }
  size_t longest_value() const override { return longest_value_; }
  int app_number() const override { return app_number_; }
  int universe_size() const override { return universe_size_; }

 private:
  static constexpr size_t most_key = 64;  // of ours

  bool connect(const std::string& port);
  bool greet_by_port(Offer& offer);
  bool send(const std::string& line);
  bool read_line(bool wait, bool& there);  // into line_ and reply_
  bool read_line() {
    bool there = false;
    return read_line(true, there);
  }
  bool ask(const std::string& line, std::string_view answer);
  bool answered(std::string_view question, std::string_view answer);  // checks the answer that was read
  std::string put_line(const std::string& key, const std::string& value) const;
  bool look_up(const std::string& key, std::string& value);
  bool fail(const std::string& cause, int error = 0);

  Wire wire_;
  std::string kvs_name_;  // "kvsname"
  size_t longest_key_ = 32;
  size_t longest_value_ = 256;
  int app_number_ = -1;
  int universe_size_ = -1;
  std::string line_;
  PmiLine reply_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace weft::boot
