// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A client of the PMI-2 wire protocol: messages with their length in front, over the descriptor that the launcher gave
// us (PMI_FD). Used where PMI-1, which is simpler, is refused.

#include <string>

#include "boot/pmi/kvs.hpp"
#include "boot/pmi/pmi2_message.hpp"
#include "boot/pmi/wire.hpp"

namespace weft::boot {

class Pmi2 final : public Kvs {
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

  const std::string& id() const override { return job_; }
  size_t longest_value() const override { return most_value; }
  int app_number() const override { return app_number_; }
  int universe_size() const override { return universe_size_; }

 private:
  static constexpr size_t most_key = 64;      // PMI2_MAX_KEYLEN
  static constexpr size_t most_value = 1023;  // PMI2_MAX_VALLEN counts the zero behind it

  // The parts of a barrier, in order: the first fence, a sign of each rank (at rank 0), the second fence, the sign of
  // rank 0.
  enum class BarrierStep : unsigned char { coming, gathering, going, last };

  bool greet();
  bool take_step();
  bool send(const std::string& fields);
  bool read_message(bool wait, bool& there);  // into text_ and reply_
  // Sends "cmd=command;" with the fields and reads the answer.
  bool ask(const std::string& command, const std::string& fields = "");
  bool answered(const std::string& command);           // checks the answer that was read
  std::string question(const std::string& key) const;  // for the value of a key
  bool attribute(const std::string& key, std::string& value);
  bool fail(const std::string& cause, int error = 0);

  Wire wire_;
  std::string job_;
  int turn_ = 0;  // of barriers
  BarrierStep step_ = BarrierStep::last;
  int next_ = 1;  // whose sign rank 0 waits for
  int app_number_ = -1;
  int universe_size_ = -1;
  std::string text_;
  Pmi2Message reply_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace weft::boot
