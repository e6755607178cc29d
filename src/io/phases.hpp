// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The data movement of a collective access in two phases: some ranks, the aggregators, access the file in large pieces,
// each in a domain of its own; all others exchange data with them. A domain is worked through window by window, in as
// many rounds on all ranks.

#include <vector>

#include "coll/schedule.hpp"
#include "io/file.hpp"
#include "io/train.hpp"

namespace weft::io {

// Bytes [low, high) of the file.
struct Range {
  int64_t low = 0;
  int64_t high = 0;
  [[nodiscard]] int64_t bytes() const { return high - low; }
};

// The ranks that access the file, in the order of their domains: on all ranks the same.
[[nodiscard]] std::vector<int32_t> choose_aggregators(const core::Comm& comm, const Hints& hints, int64_t bytes);

class Phases {
 public:
  // All accesses lie in `whole`; of reads nothing lies behind the end of the file. `bytes` of the stream from
  // `position` on are ours; `spans`: each rank's access, from its first byte to its last.
  Phases(File& file, bool writes, const View& view, int64_t position, const Memory& memory, int64_t bytes,
         const Range& whole, std::vector<Range> spans);

  [[nodiscard]] int64_t rounds() const { return rounds_; }
  [[nodiscard]] bool aggregates() const { return domain_ >= 0; }
  [[nodiscard]] const Result& result() const { return result_; }
  // The smallest offset at which a read found the end of the file.
  [[nodiscard]] int64_t end_found() const { return end_found_; }

  // The steps, each a schedule that `way` runs before the next is named.
  void exchange_heads(coll::Schedule& way);
  void exchange_lists(coll::Schedule& way);
  void take_lists();

  // One round: of a write the exchange first.
  void exchange(coll::Schedule& way);
  void exchanged();   // after it, of a read: data go to their places
  void access();      // of the aggregator, on any thread
  bool next_round();  // false: that was the last

 private:
  static constexpr int inline_trains = 2;
  struct Head {
    int64_t count;
    Train first[inline_trains];
  };
  // A rank whose data this aggregator moves.
  struct Source {
    int32_t rank;
    Head head{};
    std::vector<Train> trains;
    Cursor cursor;         // at the beginning of the window
    char* data = nullptr;  // of the window, packed
    int64_t bytes = 0;
    int64_t at = 0;       // of the first run in the window
    bool direct = false;  // the data lie in the window itself
  };
  // An aggregator that moves data of this rank.
  struct Target {
    int32_t rank;
    int32_t domain;
    std::vector<Train> trains;
    Head head{};
    Cursor cursor;
    int64_t position = 0;  // in the stream of our memory
    char* data = nullptr;
    int64_t bytes = 0;  // in this round
  };

  [[nodiscard]] Range domain(int32_t index) const;
  [[nodiscard]] Range window(int32_t index) const;
  void list_ours(int64_t position, int64_t bytes);
  void prepare_round();
  void fill_window();
  void write_window();
  void read_window();
  void empty_window();
  void find_spans(int64_t gap);
  void note(const Result& result);

  File& file_;
  const bool writes_;
  const View view_;
  const Memory memory_;
  const std::vector<Range> rank_spans_;
  std::vector<int32_t> aggregators_;
  int64_t base_ = 0;  // where the first domain begins
  int64_t domain_bytes_ = 0;
  int64_t end_ = 0;      // of all that is accessed
  int32_t domain_ = -1;  // ours; -1: none
  int64_t rounds_ = 0;
  int64_t round_ = 0;
  std::vector<Source> sources_;
  std::vector<Target> targets_;
  std::vector<Run> spans_;  // of the window
  Result result_;
  int64_t end_found_ = INT64_MAX;
  bool broken_ = false;  // no memory in this round: messages are empty
};

}  // namespace weft::io
