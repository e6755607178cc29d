// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The data movement of a collective access in two phases: some ranks, the aggregators, access the file in large pieces,
// each in a domain of its own; all others exchange data with them. A domain is worked through window by window, in as
// many rounds on all ranks.

#include <vector>

#include "coll/plan/schedule.hpp"
#include "io/file.hpp"
#include "io/strided_runs.hpp"

namespace weft::io {

// Bytes [low, high) of the file.
struct ByteRange {
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
         const ByteRange& whole, std::vector<ByteRange> spans);

  [[nodiscard]] int64_t rounds() const { return rounds_; }
  [[nodiscard]] bool aggregates() const { return domain_ >= 0; }
  [[nodiscard]] const Result& result() const { return result_; }
  // The smallest offset at which a read found the end of the file.
  [[nodiscard]] int64_t end_found() const { return end_found_; }

  // The steps, each a schedule that `way` runs before the next is named.
  void exchange_heads(coll::Schedule& way);
  void exchange_lists(coll::Schedule& way);
  void take_lists();

  // Then the rounds. Each is prepared, and then of a write exchanged and accessed, of a read the other way round. Two
  // rounds are under way at most: one is exchanged while another thread accesses the file for the other.
  void prepare();
  [[nodiscard]] bool all_prepared() const { return prepared_ == rounds_; }
  [[nodiscard]] bool all_exchanged() const { return exchanged_ == rounds_; }
  void exchange(coll::Schedule& way);
  void exchanged();  // after it
  void access();     // of an aggregator, on any thread
  void accessed();   // after it

 private:
  static constexpr int inline_groups = 2;
  struct RunsHead {
    int64_t count;
    StridedRuns first[inline_groups];
  };
  // A rank whose data this aggregator moves.
  struct Source {
    int32_t rank;
    RunsHead head{};
    std::vector<StridedRuns> groups;
    Cursor cursor;  // at the beginning of the next window
  };
  // An aggregator that moves data of this rank.
  struct DataTarget {
    int32_t rank;
    int32_t domain;
    std::vector<StridedRuns> groups;
    RunsHead head{};
    Cursor cursor;         // at the beginning of the next window
    int64_t position = 0;  // of that in the stream of our memory
  };
  // The data of a source in a round.
  struct IncomingData {
    int32_t rank;
    Cursor cursor;         // at the beginning of the window
    char* data = nullptr;  // packed
    int64_t bytes = 0;
    int64_t at = 0;       // of the first run in the window
    bool direct = false;  // the data lie in the window itself
  };
  struct OutgoingData {
    int32_t rank;
    int64_t position = 0;
    char* data = nullptr;
    int64_t bytes = 0;
  };
  struct Round {
    ByteRange range;         // of the window of our domain
    char* window = nullptr;  // its bytes
    std::vector<IncomingData> sources;
    std::vector<OutgoingData> targets;
    bool broken = false;  // there is no memory: messages are empty
    bool late = false;    // an earlier round has failed
    // By access().
    std::vector<Run> spans;
    Result result;
    int64_t end_found = INT64_MAX;
  };

  [[nodiscard]] ByteRange domain(int32_t index) const;
  [[nodiscard]] ByteRange window(int32_t index, int64_t round) const;
  void list_ours(int64_t position, int64_t bytes);
  void place(Round& round, File::PhaseMemory& room);
  [[nodiscard]] Round& round(int64_t number) { return under_way_[number % 2]; }
  static void fill_window(const Round& round);
  void write_window(Round& round);
  void read_window(Round& round);
  static void empty_window(const Round& round);
  static void find_spans(Round& round, int64_t gap);
  void note(const Result& result);

  File& file_;
  const bool writes_;
  const View view_;
  const Memory memory_;
  const std::vector<ByteRange> rank_spans_;
  std::vector<int32_t> aggregators_;
  int64_t base_ = 0;  // where the first domain begins
  int64_t domain_bytes_ = 0;
  int64_t end_ = 0;      // of all that is accessed
  int32_t domain_ = -1;  // ours; -1: none
  int64_t rounds_ = 0;
  int64_t prepared_ = 0;  // rounds
  int64_t exchanged_ = 0;
  int64_t accessed_ = 0;
  Round under_way_[2];
  std::vector<Source> sources_;
  std::vector<DataTarget> targets_;
  Result result_;
  int64_t end_found_ = INT64_MAX;
};

}  // namespace weft::io
