// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "exchange.hpp"
#include "output.hpp"
#include "problem.hpp"
#include "scheme.hpp"

namespace mhd {

struct Options {
  const Problem* problem = nullptr;
  int cells = 128, patch = 32, threads = 1;
  int64_t steps = 1LL << 40;
  double end = 0, courant = 0.4;
  Way way = Way::window;
  int64_t report = 20, keep = 1LL << 40;
  int64_t move = 0;   // steps between moves of patches; 0: none
  bool wave = false;  // by made-up loads, not by measured ones
  std::string checkpoint, restart, vtk, picture, film;
  bool quiet = false, device = false;
};

// A run on this rank. The threads share no barrier: each takes the next patch whose ghosts are there, advances it and
// sends its borders. When the last patch of a step is done, one thread finds the length of the next step together with
// the other ranks; only this the others wait for. Where patches move between ranks, the threads return for it.
class Run {
 public:
  Run(const Options& options, Domain* domain, State* state, Place* place);

  // Collective; the exit status of the program.
  [[nodiscard]] int go();

 private:
  struct alignas(64) Claim {
    std::atomic<int64_t> step;  // the next step of this patch; -1: its first borders have not been sent
  };
  void work(int thread);
  // No border is sent after the last step of a leg.
  [[nodiscard]] bool ends_leg(int64_t step) const { return options_.move > 0 && (step + 1) % options_.move == 0; }
  [[nodiscard]] bool is_last(int64_t step) const {
    return step >= last_.load(std::memory_order_relaxed) || ends_leg(step);
  }
  void begin_leg();
  void balance();
  bool first_step();
  int claim(int64_t step);
  void advance(int thread, int index, int64_t step);
  void end_step(int thread, int64_t step);
  void choose_step();
  void report();
  bool film();
  int conclude(double seconds);

  const Options& options_;
  Domain& domain_;
  State* state_;  // its patches are at the place while steps are done
  Place& place_;
  int rank_ = 0, ranks_ = 1;
  std::vector<Times> times_;
  std::unique_ptr<Exchange> exchange_;
  Film film_;
  std::vector<int> order_;  // patches, those with neighbours in other ranks first
  std::vector<Claim> claims_;
  std::vector<double> longest_;  // by patch
  std::vector<double> load_;     // by patch: seconds of computing in this leg
  int64_t received_ = 0, moves_ = 0, chances_ = 0;

  std::atomic<int> sent_{0};      // patches whose first borders have been sent
  std::atomic<int> finished_{0};  // patches that have done the step
  // Written by the thread that ends a step; the store to step_ releases them to those that see it.
  std::atomic<int64_t> step_{0};
  double dt_ = 0;
  // Atomic, as a thread that was late may look when the next step is being ended.
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> last_{INT64_MAX};  // the number of the last step, once it is known
  int status_ = 0;
  int64_t begun_ = 0, leg_ = 0;  // the first step of the run, and of the leg
};

}  // namespace mhd
