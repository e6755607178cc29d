// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "place.hpp"

#include <mpi.h>

#include <algorithm>

#include "on_device.hpp"
#include "on_host.hpp"

namespace mhd {

Place::Place(const Domain& domain, double gamma, int threads, const common::Cuda* cuda) : domain_(domain), cuda_(cuda) {
  for (int t = 0; t < threads; ++t) {
    if (cuda != nullptr) {
      schemes_.push_back(std::make_unique<OnDevice>(domain, gamma, *cuda));
    } else {
      schemes_.push_back(std::make_unique<OnHost>(domain, gamma));
    }
  }
}

Place::~Place() {
  if (cuda_ != nullptr && cells_ != nullptr) cuda_->release(cells_);
}

void Place::enter() const {
  if (cuda_ != nullptr) cuda_->enter();
}

double* Place::allocate(std::size_t doubles) const {
  if (cuda_ != nullptr) return cuda_->allocate(doubles);
  double* memory = nullptr;
  MPI_Alloc_mem(static_cast<MPI_Aint>(doubles * sizeof(double)), MPI_INFO_NULL, &memory);
  std::fill_n(memory, doubles, 0.0);
  return memory;
}

void Place::release(double* memory) const {
  if (cuda_ != nullptr) {
    cuda_->release(memory);
  } else {
    MPI_Free_mem(memory);
  }
}

void Place::bring(State* state) {
  first_ = state->first;
  if (cuda_ == nullptr) {
    cells_ = state->cells.data();
    return;
  }
  if (cells_ != nullptr) cuda_->release(cells_);
  cells_ = cuda_->allocate(state->cells.size());
  cuda_->copy(cells_, state->cells.data(), state->cells.size() * sizeof(double));
}

void Place::fetch(State* state) const {
  if (cuda_ != nullptr) cuda_->copy(state->cells.data(), cells_, state->cells.size() * sizeof(double));
}

}  // namespace mhd
