// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "exchange.hpp"

namespace mhd {

// Borders by puts into the mailboxes of the other rank: one window, locked once for the whole run. Any thread puts the
// borders of a patch, flushes, and then sets the flags, which the receiver reads in its own memory. MPI-5.0, 12.4
// (unified memory model) and 12.7.
class Window : public Exchange {
 public:
  Window(const Domain& domain, const Place& place, int threads);
  ~Window() override;
  void poll(int thread, int64_t step, bool last, Times* times) override;

 protected:
  double* room(int thread, int slot, int direction, int64_t step, Times* times) override;
  void post(int thread, const std::vector<Border>& borders, Times* times) override;

 private:
  MPI_Win win_ = MPI_WIN_NULL;
  std::vector<std::vector<double>> rooms_;  // of each thread: the borders of one patch
};

}  // namespace mhd
