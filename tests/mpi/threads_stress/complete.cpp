// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// All calls of completion, by the thread that issued a request or by another.
#include <algorithm>
#include <vector>

#include "threads_stress/worker.hpp"

namespace stress {

namespace {

// Whose request stands where in the arrays of a completion call.
struct Ref {
  Slot* slot;
  Out* out;
};

}  // namespace

bool Worker::complete_something() {
  std::vector<MPI_Request> requests;
  std::vector<Ref> refs;
  bool waits_for_higher = false;
  for (Channel& channel : channels_) {
    for (Slot* slot : channel.posted) {
      if (slot->lent || slot->done) continue;
      requests.push_back(slot->request);
      refs.push_back({slot, nullptr});
    }
  }
  for (Out* out : mine_) {
    requests.push_back(out->request);
    refs.push_back({nullptr, out});
    waits_for_higher |= may_block_for(*out->target);
  }
  if (requests.empty()) return false;
  const int count = static_cast<int>(requests.size());
  std::vector<int> indices(requests.size(), -1);
  std::vector<MPI_Status> statuses(requests.size());
  int done = 0, index = MPI_UNDEFINED, flag = 0;
  const int way = random_.below(waits_for_higher ? 10 : 6);
  switch (way) {
    case 0:
      for (int i = 0; i < count; ++i) {
        const size_t at = static_cast<size_t>(i);
        if (!random_.one_in(3)) continue;
        OK(MPI_Test(&requests[at], &flag, &statuses[static_cast<size_t>(done)]));
        if (flag != 0) indices[static_cast<size_t>(done++)] = i;
      }
      break;
    case 1:
      OK(MPI_Testany(count, requests.data(), &index, &flag, statuses.data()));
      if (flag != 0 && index != MPI_UNDEFINED) indices[static_cast<size_t>(done++)] = index;
      break;
    case 2: {  // Testall of some in a row
      const int first = random_.below(count), some = 1 + random_.below(std::min(3, count - first));
      OK(MPI_Testall(some, &requests[static_cast<size_t>(first)], &flag, statuses.data()));
      for (int i = 0; flag != 0 && i < some; ++i) indices[static_cast<size_t>(done++)] = first + i;
      break;
    }
    case 6:
      where_ = "Waitany";
      OK(MPI_Waitany(count, requests.data(), &index, statuses.data()));
      if (index != MPI_UNDEFINED) indices[static_cast<size_t>(done++)] = index;
      break;
    case 7:
      where_ = "Waitsome";
      OK(MPI_Waitsome(count, requests.data(), &done, indices.data(), statuses.data()));
      break;
    case 8:
    case 9: {  // all sends to higher threads
      std::vector<MPI_Request> some;
      for (int i = 0; i < count; ++i) {
        const Out* out = refs[static_cast<size_t>(i)].out;
        if (out == nullptr || !may_block_for(*out->target)) continue;
        indices[static_cast<size_t>(done++)] = i;
        some.push_back(requests[static_cast<size_t>(i)]);
      }
      where_ = "Waitall";
      OK(MPI_Waitall(done, some.data(), way == 8 ? MPI_STATUSES_IGNORE : statuses.data()));
      for (int i = 0; i < done; ++i) {
        requests[static_cast<size_t>(indices[static_cast<size_t>(i)])] = some[static_cast<size_t>(i)];
      }
      break;
    }
    default:
      OK(MPI_Testsome(count, requests.data(), &done, indices.data(), statuses.data()));
  }
  where_ = "running";
  if (done == MPI_UNDEFINED) done = 0;
  for (int i = 0; i < done; ++i) {
    const size_t at = static_cast<size_t>(indices[static_cast<size_t>(i)]);
    if (refs[at].slot != nullptr) {
      refs[at].slot->request = requests[at];
      refs[at].slot->status = statuses[static_cast<size_t>(i)];
      received(refs[at].slot);
    } else {
      refs[at].out->request = requests[at];
      sent_mine(refs[at].out);
    }
  }
  return done > 0;
}

void Worker::put(const Task& task) {
  const std::lock_guard<std::mutex> hold(turn_.box_lock);
  turn_.box.push_back(task);
}

bool Worker::serve_box() {
  Task task;
  {
    const std::lock_guard<std::mutex> hold(turn_.box_lock);
    if (turn_.box.empty()) return false;
    const size_t at = static_cast<size_t>(random_.below(static_cast<int>(turn_.box.size())));
    task = turn_.box[at];
    turn_.box[at] = turn_.box.back();
    turn_.box.pop_back();
  }
  int flag = 0;
  switch (task.what) {
    case Task::complete_receive:
      OK(MPI_Test(&task.slot->request, &flag, &task.slot->status));
      if (flag == 0 && task.slot->cancel) {
        OK(MPI_Cancel(&task.slot->request));
        where_ = "wait for a cancelled receive";
        OK(MPI_Wait(&task.slot->request, &task.slot->status));
        where_ = "running";
        flag = 1;
      }
      if (flag != 0) received(task.slot);
      break;
    case Task::complete_send:
      if (may_block_for(*task.out->target) && random_.one_in(8)) {
        where_ = "wait for another thread's send";
        OK(MPI_Wait(&task.out->request, MPI_STATUS_IGNORE));
        where_ = "running";
        flag = 1;
      } else {
        OK(MPI_Test(&task.out->request, &flag, MPI_STATUS_IGNORE));
      }
      if (flag != 0) sent(task.out);
      break;
    case Task::ready:
      OK(MPI_Pready(task.partition, task.parts->send));
      --task.parts->not_ready;
      flag = 1;
      break;
    case Task::arrived:
      OK(MPI_Parrived(task.parts->receive, task.partition, &flag));
      if (flag != 0) {
        check_part(*task.parts, task.partition);
        --task.parts->not_arrived;
      }
  }
  if (flag == 0) put(task);
  return flag != 0;
}

}  // namespace stress
