// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "window.hpp"

#include <algorithm>
#include <cstdio>

namespace mhd {

Window::Window(const Domain& domain, const Place& place, int threads)
    : Exchange(domain, place, threads), rooms_(static_cast<std::size_t>(threads)) {
  double* memory = nullptr;
  MPI_Win_allocate(static_cast<MPI_Aint>(layout_.words() * sizeof(double)), sizeof(double), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &memory, &win_);
  int *model = nullptr, found = 0;
  MPI_Win_get_attr(win_, MPI_WIN_MODEL, &model, &found);
  if (found == 0 || *model != MPI_WIN_UNIFIED) {
    std::fprintf(stderr, "mhd: -w window needs windows of the unified memory model; use -w communicators\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win_);
  std::fill_n(memory, layout_.words(), 0.0);
  boxes_ = memory;
  flags_ = reinterpret_cast<int64_t*>(memory);
  MPI_Win_sync(win_);
  MPI_Barrier(MPI_COMM_WORLD);  // before the first put of another rank
  std::size_t all = 0;
  for (int side = 0; side < domain.directions(); ++side) all += layout_.doubles(side);
  for (std::vector<double>& room : rooms_) room.resize(all);
}

Window::~Window() {
  MPI_Win_unlock_all(win_);
  MPI_Win_free(&win_);
}

double* Window::room(int thread, int /*slot*/, int direction, int64_t /*step*/, Times* /*times*/) {
  // The layout is that of a mailbox; the side on which the neighbour gets it gives the size.
  const int side = domain_.opposite(direction);
  return rooms_[static_cast<std::size_t>(thread)].data() + (layout_.box(0, side, 0) - layout_.box(0, 0, 0));
}

void Window::post(int /*thread*/, const std::vector<Border>& borders, Times* times) {
  const auto flush = [&] {
    for (auto border = borders.begin(); border != borders.end(); ++border) {
      const int rank = domain_.rank_of(border->patch);
      const auto same = [&](const Border& other) { return domain_.rank_of(other.patch) == rank; };
      if (std::find_if(borders.begin(), border, same) == border) MPI_Win_flush(rank, win_);
    }
  };
  Times::add(&times->in_mpi, [&] {
    for (const Border& border : borders) {
      const int rank = domain_.rank_of(border.patch), slot = border.patch - domain_.first_of(rank);
      const int count = static_cast<int>(layout_.doubles(border.side));
      const auto at = layout_.box(slot, border.side, border.step);
      MPI_Put(border.data, count, MPI_DOUBLE, rank, static_cast<MPI_Aint>(at), count, MPI_DOUBLE, win_);
    }
    // The data are there before the flags, which are single words: an accumulate writes each as one.
    flush();
    const int64_t value = borders.front().step + 1;
    for (const Border& border : borders) {
      const int rank = domain_.rank_of(border.patch), slot = border.patch - domain_.first_of(rank);
      const auto at = layout_.flag(slot, border.side, border.step);
      MPI_Accumulate(&value, 1, MPI_INT64_T, rank, static_cast<MPI_Aint>(at), 1, MPI_INT64_T, MPI_REPLACE, win_);
    }
    flush();
  });
}

// A rank that waits lets others in: puts over a network may need its help.
void Window::poll(int /*thread*/, int64_t /*step*/, bool /*last*/, Times* times) {
  Times::add(&times->in_mpi, [&] {
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Win_sync(win_);
  });
}

}  // namespace mhd
