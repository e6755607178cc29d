// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "output.hpp"
#include "scheme.hpp"

namespace common {
class Cuda;
}

namespace mhd {

// Where the patches of this rank are advanced: in the host's memory, or in that of a device, to which they are copied,
// and from which they come back when they are wanted for output. MPI gets borders from there and puts them there.
class Place {
 public:
  // `cuda` may be null: the host.
  Place(const Domain& domain, double gamma, int threads, const common::Cuda* cuda);
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  [[nodiscard]] bool on_device() const { return cuda_ != nullptr; }
  void enter() const;  // each thread, before its first use of its scheme
  [[nodiscard]] Scheme& scheme(int thread) const { return *schemes_[static_cast<std::size_t>(thread)]; }

  // Memory for borders, zeros.
  [[nodiscard]] double* allocate(std::size_t doubles) const;
  void release(double* memory) const;

  // The patches of a state, or the ranges of which have changed, are brought here; and back.
  void bring(State* state);
  void fetch(State* state) const;
  [[nodiscard]] double* patch(int index) const {
    return cells_ + static_cast<std::size_t>(index - first_) * fields * domain_.patch.volume;
  }

 private:
  const Domain& domain_;
  const common::Cuda* cuda_;
  std::vector<std::unique_ptr<Scheme>> schemes_;
  double* cells_ = nullptr;
  int first_ = 0;
};

}  // namespace mhd
