// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <mutex>
#include <vector>

#include "exchange.hpp"

namespace mhd {

// Borders as messages: persistent receives into the mailboxes, nonblocking sends.
class Messages : public Exchange {
 public:
  Messages(const Domain& domain, const Place& place, int threads, Way way);
  ~Messages() override;
  void poll(int thread, int64_t step, bool last, Times* times) override;
  void step_ends(int64_t step, Times* times) override;
  void finish() override;
  void follow() override;

 protected:
  double* room(int thread, int slot, int direction, int64_t step, Times* times) override;
  void post(int thread, const std::vector<Border>& borders, Times* times) override;

 private:
  struct Mailbox {
    int slot, side;
  };
  // The receives of one communicator. Only its thread uses them.
  struct alignas(64) Inbox {
    MPI_Comm comm = MPI_COMM_NULL;
    std::vector<Mailbox> of;                           // in the order of the requests
    std::array<std::vector<MPI_Request>, 2> receives;  // by parity of the step
    std::vector<int> done;                             // for MPI_Testsome
    int64_t next = -1;
    std::array<int64_t, 2> active = {-1, -1};  // the steps under way; next: the one to start then
  };
  [[nodiscard]] int inbox_of(int patch) const;
  [[nodiscard]] int tag(int patch, int side, int64_t step) const;
  void start(const Border& border);
  void prepare();  // receives and memory for the patches of this rank
  void free_receives();

  bool funnelled_;
  std::vector<Inbox> inboxes_;
  std::vector<int64_t> arrivals_;  // flags of the mailboxes
  // Where borders are packed: by slot, direction and parity, in one piece of memory. None for a neighbour of this rank.
  std::vector<std::size_t> rooms_;
  double* room_ = nullptr;
  std::vector<MPI_Request> sends_;
  std::mutex lock_;              // guards waiting_, when funnelled
  std::vector<Border> waiting_;  // funnelled: packed, for thread 0 to send
};

}  // namespace mhd
