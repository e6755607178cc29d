// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "domain.hpp"
#include "place.hpp"

namespace mhd {

// How borders travel between ranks.
enum class Way : uint8_t {
  ranks,          // messages, one thread per rank
  funnelled,      // messages, thread 0 alone calls MPI
  communicators,  // messages, each thread has a communicator, and receives for the patches that are its by number
  window,         // puts into one window, passive for the whole run, each followed by a flag
};

// A thread's time in seconds.
struct alignas(64) Times {
  double computing = 0, copying = 0, in_mpi = 0, waiting = 0;
  double messages = 0, bytes = 0;

  template <class Call>
  static void add(double* to, Call call) {
    const double begin = MPI_Wtime();
    call();
    *to += MPI_Wtime() - begin;
  }
};

// The mailboxes of a rank: for each of its patches, each side and each parity of the step a box for the ghosts there,
// and a flag. Every border goes into a mailbox, those of patches of the same rank too. All ranks have slots for as many
// patches as a rank may have: patches that move leave the addresses as they are.
//
// A box of step s is written again at step s + 2. Its writer then knows the length of step s + 1, which is the result
// of a reduction that each rank enters after it has used all its boxes of step s: no other synchronisation is needed.
class Layout {
 public:
  explicit Layout(const Domain& domain);
  [[nodiscard]] std::size_t flag(int slot, int side, int64_t step) const {
    return (static_cast<std::size_t>(slot) * sides_ + side) * 2 + static_cast<std::size_t>(step & 1);
  }
  [[nodiscard]] std::size_t box(int slot, int side, int64_t step) const {  // in doubles, as the flag: both have 8 bytes
    return flags_ + (static_cast<std::size_t>(slot) * 2 + static_cast<std::size_t>(step & 1)) * all_ + before_[side];
  }
  [[nodiscard]] std::size_t doubles(int side) const { return before_[side + 1] - before_[side]; }
  [[nodiscard]] std::size_t words() const { return flags_ + static_cast<std::size_t>(slots_) * 2 * all_; }

 private:
  int slots_, sides_;
  std::size_t flags_, all_;
  std::vector<std::size_t> before_;
};

// Borders of patches, between threads of this rank and between ranks. `step` is the step whose state a border has, and
// which will use it.
class Exchange {
 public:
  static std::unique_ptr<Exchange> make(Way way, const Domain& domain, const Place& place, int threads);
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Any thread: sends all borders of a patch of this rank. The state is not needed afterwards.
  void send(int thread, int patch, int64_t step, const double* state, Times* times);
  // Any thread: whether all ghosts of a patch are there; then takes them.
  [[nodiscard]] bool ready(int patch, int64_t step) const;
  void take(int thread, int patch, int64_t step, double* state, Times* times) const;
  // Each thread, often, with the step that is under way: moves messages along. `last`: no border of a later step comes.
  virtual void poll(int thread, int64_t step, bool last, Times* times) = 0;
  // One thread (funnelled: thread 0), when all patches have done a step; and when all steps are done.
  virtual void step_ends(int64_t /*step*/, Times* /*times*/) {}
  virtual void finish() {}
  // After finish(), outside of the parallel region: the domain has been spread anew. No mailbox is in use: its flag is
  // that of an earlier step, for whichever patch gets its slot.
  virtual void follow();

 protected:
  // A border for another rank, packed at data, for side `side` of a patch of another rank.
  struct Border {
    int patch, side;
    int64_t step;
    double* data;
  };
  Exchange(const Domain& domain, const Place& place, int threads);
  // Where a border of local patch `slot` to its neighbour in `direction` is packed.
  virtual double* room(int thread, int slot, int direction, int64_t step, Times* times) = 0;
  virtual void post(int thread, const std::vector<Border>& borders, Times* times) = 0;
  void arrived(int slot, int side, int64_t step);

  const Domain& domain_;
  const Place& place_;
  int rank_, threads_, first_, count_;
  Layout layout_;
  int64_t* flags_ = nullptr;                // the mailboxes: flags, then boxes; the derived class gives the memory
  double* boxes_ = nullptr;                 // at the place
  std::vector<std::vector<Border>> going_;  // of each thread
};

}  // namespace mhd
