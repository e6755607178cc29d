// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The exchanges by which the ranks of a communicator make a group of UCC, as rounds that all take part in, whether they
// still can or not. In a round each rank says first whether it has data for the others, of so many bytes, or has ended,
// well or not; the data follow if all have some. The first round in which one has ended is the last of all: so all know
// how it went, and nothing is left on the way.

#include <memory>
#include <vector>

#include "coll/plan/schedule.hpp"
#include "transport/ucc/collective.hpp"

namespace weft::coll::offload {

class Rounds final : public transport::ucc::Exchange {
 public:
  explicit Rounds(core::Comm& comm) : comm_(comm), words_(static_cast<size_t>(comm.size)) {}
  ~Rounds() = default;
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  // ---- For the library: they send nothing.
  bool start(const void* mine, size_t bytes, void* all) override;
  ExchangeState test() override;

  // ---- For the rank, in turn with waiting.
  [[nodiscard]] bool is_under_way() const { return stage_ != RoundStage::none; }
  // Something to do for advance().
  [[nodiscard]] bool has_work() const;
  void advance();
  // Makes progress until no round is in flight.
  void settle();
  // The last round, of a rank that has ended.
  void end(bool well);

  // Rounds that have begun.
  [[nodiscard]] int32_t count() const { return count_; }
  [[nodiscard]] bool is_last() const { return outcome_ != RoundOutcome::open; }
  // Whether the last round ended well on all ranks.
  [[nodiscard]] bool all_well() const { return outcome_ == RoundOutcome::well; }

 private:
  enum class RoundStage : uint8_t { none, begun, words, data };
  enum class RoundOutcome : uint8_t { open, well, failed };
  enum class RoundWord : int64_t { data, well, failed };
  struct Said {
    RoundWord word;
    int64_t bytes;
  };

  void say(const Said& said);
  void gather(const void* mine, int64_t bytes, void* all);
  void look_at_words();

  core::Comm& comm_;
  RoundStage stage_ = RoundStage::none;
  RoundOutcome outcome_ = RoundOutcome::open;
  int32_t count_ = 0;
  Said ours_{};
  std::vector<Said> words_;
  // Copies: the library may end its part before the round is over.
  std::vector<unsigned char> mine_, all_;
  void* to_ = nullptr;  // of the library: where the data of all go
  // The allgather under way.
  std::unique_ptr<Schedule> schedule_;
  core::Request* request_ = nullptr;
};

}  // namespace weft::coll::offload
