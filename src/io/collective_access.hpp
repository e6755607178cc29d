// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Collective access: the ranks tell each other their parts, decide from all parts whether they exchange data first (two
// phases, phases.hpp) or each access the file alone, do so, and agree on the result.
//
// One state machine runs all forms. In a blocking call each step ends before the next begins. In a nonblocking call a
// step that has to wait returns: messages go on by themselves, a worker moves the data of the file, and the thread that
// ends the step continues. Accesses to one file go one after another, so that their messages cannot be mixed up.
//
// In an access of several rounds an aggregator accesses the file for one round on a worker while it exchanges the data
// of another round: the next one of a write, the one before of a read.

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "coll/plan/schedule.hpp"
#include "io/file.hpp"
#include "io/phases.hpp"
#include "io/worker.hpp"

namespace weft::io {

// The part of one rank in the access, which it tells all ranks.
struct AccessSummary {
  int64_t first = 0;  // offsets, from the first byte
  int64_t end = 0;    // to behind the last; the same: no data
  int64_t bytes = 0;  // of data
  int64_t size = 0;   // of the file, to the rank's knowledge
  int64_t run = 0;    // typical bytes of a run
  int32_t error = 0;  // of its arguments
  int32_t flags = 0;
  static constexpr int32_t rising = 1;  // offsets never fall in the view
  static constexpr int32_t local = 2;   // the file is the host's own
};
static_assert(sizeof(AccessSummary) == 48);

class CollectiveAccess final : public WorkerJob {
 public:
  // `given`: the error of this rank's arguments; then it takes part without data. `request`: the composite one that
  // completes; nullptr: a blocking access.
  CollectiveAccess(File& file, bool writes, int64_t position, const Memory& memory, const Result& given,
                   core::Request* request);
  ~CollectiveAccess() override = default;

  // Performs a blocking access, from the first step to the last.
  void perform();
  // Queues a nonblocking access behind those on the same file that are in flight.
  void start();

  [[nodiscard]] const Result& result() const { return result_; }
  [[nodiscard]] int64_t done() const { return done_; }
  // The path of the file. It is kept for a failure, when the file may have been closed.
  [[nodiscard]] const std::string& path() const { return path_; }
  Type* filetype() const { return view_.filetype; }
  Type* memory_type() const { return memory_.type; }

  void run() override;
  void follow() override { advance(); }

 private:
  enum class AccessStage : uint8_t {
    meet,
    decide,
    alone,
    heads,
    lists,
    take_lists,
    join,
    joined,
    disk,
    accessed,
    ahead,
    exchange,
    exchanged,
    next,
    agree,
    tell,
    end
  };

  // The access of a round while another round is exchanged.
  struct Behind final : WorkerJob {
    explicit Behind(CollectiveAccess& whole) : whole_(whole) {}
    ~Behind() override = default;
    void run() override;
    void follow() override;
    CollectiveAccess& whole_;
    bool under_way_ = false;
    core::Request* request_ = nullptr;  // of a blocking access, which waits for it
    std::atomic<bool> met_ = false;     // the joining step or the end of the access was here
  };

  void advance();
  bool step();
  bool pays_behind() const;
  void start_behind();
  bool join();
  bool meet();
  void decide();
  bool exchanges_pay(int64_t first, int64_t end, int64_t bytes, bool interleaved) const;
  bool agree();
  bool tell();
  void finish();

  // Runs a schedule; whether it is complete. `plan` names its steps.
  template <class Plan>
  bool perform_schedule(Plan&& plan);
  bool launch();
  static bool step_ended(core::Request& request);
  // Runs access() here or on a worker; whether it is complete.
  bool use_disk();
  void access();
  void note(const Result& result);
  void note_exchange(int32_t error);
  void count_exchange();

  File& file_;
  const bool writes_;
  const View view_;
  const int64_t position_;
  const Memory memory_;
  core::Request* const request_;
  AccessStage stage_ = AccessStage::meet;
  Result result_;
  std::string path_;
  int64_t done_ = 0;
  AccessSummary mine_;
  std::vector<AccessSummary> parts_;
  int64_t votes_[2] = {};  // the first rank with a failure, and where a read found the end of the file
  int64_t agreed_[2] = {};
  std::unique_ptr<Phases> phases_;
  Behind behind_{*this};
  std::optional<coll::Schedule> schedule_;
  uint64_t exchange_began_ = 0;
  std::atomic<bool> met_ = false;     // one of the two ends of a step was here: its beginner or its completion
  CollectiveAccess* next_ = nullptr;  // of the file
  friend void drain(File& file);
};

// The rounds in which the file was accessed while another round was exchanged.
[[nodiscard]] uint64_t rounds_behind_exchanges();

// Waits for the collective accesses of a file that are under way.
void drain(File& file);

}  // namespace weft::io
