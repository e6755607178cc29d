// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "messages.hpp"

namespace mhd {

Messages::Messages(const Domain& domain, const Place& place, int threads, Way way)
    : Exchange(domain, place, threads),
      funnelled_(way == Way::funnelled),
      inboxes_(way == Way::communicators ? static_cast<std::size_t>(threads) : 1) {
  boxes_ = place.allocate(layout_.words());
  arrivals_.resize(layout_.box(0, 0, 0));
  flags_ = arrivals_.data();
  for (Inbox& inbox : inboxes_) MPI_Comm_dup(MPI_COMM_WORLD, &inbox.comm);
  prepare();
}

void Messages::prepare() {
  const auto borders = static_cast<std::size_t>(count_) * domain_.directions() * 2;
  std::size_t all = 0;
  rooms_.assign(borders, 0);
  sends_.assign(borders, MPI_REQUEST_NULL);
  for (int slot = 0; slot < count_; ++slot) {
    for (int side = 0; side < domain_.directions(); ++side) {
      const int from = domain_.neighbour(first_ + slot, side), rank = domain_.rank_of(from);
      if (rank == rank_) continue;
      Inbox& inbox = inboxes_[static_cast<std::size_t>(inbox_of(first_ + slot))];
      inbox.of.push_back({slot, side});
      for (int parity = 0; parity < 2; ++parity) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Recv_init(boxes_ + layout_.box(slot, side, parity), static_cast<int>(layout_.doubles(side)), MPI_DOUBLE,
                      rank, tag(first_ + slot, side, parity), inbox.comm, &request);
        inbox.receives[parity].push_back(request);
        // A border to the neighbour on this side is as large as one from it on the opposite side.
        rooms_[layout_.flag(slot, side, parity)] = all;
        all += layout_.doubles(domain_.opposite(side));
      }
    }
  }
  if (all > 0) room_ = place_.allocate(all);
  for (Inbox& inbox : inboxes_) inbox.done.resize(inbox.of.size());
}

Messages::~Messages() {
  free_receives();
  for (Inbox& inbox : inboxes_) MPI_Comm_free(&inbox.comm);
  place_.release(boxes_);
}

void Messages::free_receives() {
  if (room_ != nullptr) place_.release(room_);
  room_ = nullptr;
  for (Inbox& inbox : inboxes_) {
    inbox.of.clear();
    for (std::vector<MPI_Request>& receives : inbox.receives) {
      for (MPI_Request& request : receives) MPI_Request_free(&request);
      receives.clear();
    }
  }
}

// All borders have arrived, so that no receive is active.
void Messages::follow() {
  Exchange::follow();
  free_receives();
  prepare();
}

int Messages::inbox_of(int patch) const {
  return patch % static_cast<int>(inboxes_.size());
}

// Names a mailbox of the receiver. Patches of a rank are at most 300 in three dimensions, by the least MPI_TAG_UB.
int Messages::tag(int patch, int side, int64_t step) const {
  const int slot = patch - domain_.first_of(domain_.rank_of(patch));
  return static_cast<int>((slot * domain_.directions() + side) * 2 + (step & 1));
}

double* Messages::room(int /*thread*/, int slot, int direction, int64_t step, Times* times) {
  const std::size_t at = layout_.flag(slot, direction, step);
  // The border of two steps ago has long arrived. Funnelled, thread 0 has waited for it in step_ends().
  if (!funnelled_) Times::add(&times->in_mpi, [&] { MPI_Wait(&sends_[at], MPI_STATUS_IGNORE); });
  return room_ + rooms_[at];
}

void Messages::start(const Border& border) {
  // The sender's slot and direction, which name the request.
  const int direction = domain_.opposite(border.side), from = domain_.neighbour(border.patch, border.side);
  MPI_Request* request = &sends_[layout_.flag(from - first_, direction, border.step)];
  MPI_Isend(border.data, static_cast<int>(layout_.doubles(border.side)), MPI_DOUBLE, domain_.rank_of(border.patch),
            tag(border.patch, border.side, border.step),
            inboxes_[static_cast<std::size_t>(inbox_of(border.patch))].comm, request);
}

void Messages::post(int thread, const std::vector<Border>& borders, Times* times) {
  if (funnelled_ && thread != 0) {
    const std::lock_guard guard(lock_);
    waiting_.insert(waiting_.end(), borders.begin(), borders.end());
    return;
  }
  Times::add(&times->in_mpi, [&] {
    for (const Border& border : borders) start(border);
  });
}

void Messages::poll(int thread, int64_t step, bool last, Times* times) {
  if (thread >= static_cast<int>(inboxes_.size())) return;
  if (funnelled_) {
    std::vector<Border> ready;
    {
      const std::lock_guard guard(lock_);
      ready.swap(waiting_);
    }
    if (!ready.empty()) post(0, ready, times);
  }
  Inbox& inbox = inboxes_[static_cast<std::size_t>(thread)];
  if (inbox.of.empty()) return;
  Times::add(&times->in_mpi, [&] {
    const int count = static_cast<int>(inbox.of.size());
    // All boxes of step - 1 have been used when step is under way, so that their receives may start for step + 1.
    if (inbox.next < 0) inbox.next = step;
    for (; inbox.next <= step + (last ? 0 : 1); ++inbox.next) {
      inbox.active[inbox.next & 1] = inbox.next;
      MPI_Startall(count, inbox.receives[inbox.next & 1].data());
    }
    for (int parity = 0; parity < 2; ++parity) {
      int finished = 0;
      MPI_Testsome(count, inbox.receives[parity].data(), &finished, inbox.done.data(), MPI_STATUSES_IGNORE);
      for (int i = 0; finished != MPI_UNDEFINED && i < finished; ++i) {
        const Mailbox& box = inbox.of[static_cast<std::size_t>(inbox.done[static_cast<std::size_t>(i)])];
        arrived(box.slot, box.side, inbox.active[parity]);
      }
    }
  });
}

void Messages::step_ends(int64_t step, Times* times) {
  if (!funnelled_) return;
  Times::add(&times->in_mpi, [&] {
    for (std::size_t at = static_cast<std::size_t>(step & 1); at < sends_.size(); at += 2)
      MPI_Wait(&sends_[at], MPI_STATUS_IGNORE);
  });
}

void Messages::finish() {
  MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
}

}  // namespace mhd
