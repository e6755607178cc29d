// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "exchange.hpp"

#include <atomic>

#include "messages.hpp"
#include "window.hpp"

namespace mhd {
namespace {

int rank_of_this() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

}  // namespace

Layout::Layout(const Domain& domain) : slots_(domain.most()), sides_(domain.directions()), before_{0} {
  for (int side = 0; side < sides_; ++side) before_.push_back(before_.back() + domain.ghosts(side).cells() * fields);
  all_ = before_.back();
  flags_ = (static_cast<std::size_t>(slots_) * sides_ * 2 + 7) / 8 * 8;
}

Exchange::Exchange(const Domain& domain, const Place& place, int threads)
    : domain_(domain),
      place_(place),
      rank_(rank_of_this()),
      threads_(threads),
      first_(domain.first_of(rank_)),
      count_(domain.first_of(rank_ + 1) - first_),
      layout_(domain),
      going_(static_cast<std::size_t>(threads)) {}

std::unique_ptr<Exchange> Exchange::make(Way way, const Domain& domain, const Place& place, int threads) {
  if (way == Way::window) return std::make_unique<Window>(domain, place, threads);
  return std::make_unique<Messages>(domain, place, threads, way);
}

void Exchange::follow() {
  first_ = domain_.first_of(rank_);
  count_ = domain_.first_of(rank_ + 1) - first_;
}

// Release: pairs with the acquire of ready().
void Exchange::arrived(int slot, int side, int64_t step) {
  std::atomic_ref(flags_[layout_.flag(slot, side, step)]).store(step + 1, std::memory_order_release);
}

bool Exchange::ready(int patch, int64_t step) const {
  for (int side = 0; side < domain_.directions(); ++side) {
    const std::atomic_ref flag(flags_[layout_.flag(patch - first_, side, step)]);
    if (flag.load(std::memory_order_acquire) != step + 1) return false;
  }
  return true;
}

// The next call of the scheme finds the ghosts there.
void Exchange::take(int thread, int patch, int64_t step, double* state, Times* times) const {
  Times::add(&times->copying, [&] {
    for (int side = 0; side < domain_.directions(); ++side)
      place_.scheme(thread).unpack(domain_.ghosts(side), boxes_ + layout_.box(patch - first_, side, step), state);
  });
}

void Exchange::send(int thread, int patch, int64_t step, const double* state, Times* times) {
  std::vector<Border>& going = going_[static_cast<std::size_t>(thread)];
  going.clear();
  Scheme& scheme = place_.scheme(thread);
  // Borders for other ranks first: they travel farthest.
  for (int direction = 0; direction < domain_.directions(); ++direction) {
    const int to = domain_.neighbour(patch, direction), side = domain_.opposite(direction);
    if (domain_.rank_of(to) == rank_) continue;
    double* data = room(thread, patch - first_, direction, step, times);
    Times::add(&times->copying, [&] { scheme.pack(domain_.repeated(side), state, data); });
    going.push_back({to, side, step, data});
    times->messages += 1;
    times->bytes += static_cast<double>(layout_.doubles(side) * sizeof(double));
  }
  if (!going.empty()) {
    Times::add(&times->copying, [&] { scheme.finish(); });
    post(thread, going, times);
  }
  const auto each_here = [&](auto call) {
    for (int direction = 0; direction < domain_.directions(); ++direction) {
      const int to = domain_.neighbour(patch, direction);
      if (domain_.rank_of(to) == rank_) call(to - first_, domain_.opposite(direction));
    }
  };
  Times::add(&times->copying, [&] {
    each_here([&](int slot, int side) {
      scheme.pack(domain_.repeated(side), state, boxes_ + layout_.box(slot, side, step));
    });
    scheme.finish();
    each_here([&](int slot, int side) { arrived(slot, side, step); });
  });
}

}  // namespace mhd
