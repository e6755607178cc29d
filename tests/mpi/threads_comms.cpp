// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Communicators made by many threads at once over one parent, told apart by tags alone, and intercommunicators
// likewise; with the tags at both ends of their range. And an intercommunicator of groups with a common member, which
// takes two threads of that process to ask for.
#include <climits>
#include <thread>
#include <vector>

#include "expect.hpp"

namespace {

constexpr int tags[] = {0, INT_MAX, 1, INT_MAX - 1, 14, 15, 16, INT_MAX - 15, INT_MAX - 16};
constexpr int rounds = 30;

// Each thread's communicator has an order of its own: it is seen at once when two were mixed up.
MPI_Comm order(int turn) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, 0, (expect::rank + turn) % expect::size, &comm);
  return comm;
}

void check(MPI_Comm comm, int round, int tag) {
  int rank = 0, size = 0, in = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int mine[2] = {round, tag};
  int most[2] = {0, 0}, least[2] = {0, 0};
  MPI_Allreduce(mine, most, 2, MPI_INT, MPI_MAX, comm);
  MPI_Allreduce(mine, least, 2, MPI_INT, MPI_MIN, comm);
  EXPECT(most[0] == least[0] && most[1] == least[1], "tags %d and %d, rounds %d and %d are mixed", least[1], most[1],
         least[0], most[0]);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
               MPI_STATUS_IGNORE);
  EXPECT(in == (rank + size - 1) % size, "tag %d: %d before %d", tag, in, rank);
}

void groups_by_tag(MPI_Group group, int turn) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm comm;
    MPI_Comm_create_group(MPI_COMM_WORLD, group, tags[turn], &comm);
    check(comm, round, tags[turn]);
    MPI_Comm_free(&comm);
  }
}

void groups_at_once() {
  std::vector<std::thread> threads;
  std::vector<MPI_Group> groups;
  for (size_t t = 0; t < std::size(tags); ++t) {
    MPI_Comm comm = order(static_cast<int>(t));
    groups.emplace_back();
    MPI_Comm_group(comm, &groups.back());
    MPI_Comm_free(&comm);
  }
  for (size_t t = 0; t < std::size(tags); ++t) threads.emplace_back(groups_by_tag, groups[t], static_cast<int>(t));
  for (std::thread& thread : threads) thread.join();
  for (MPI_Group& group : groups) MPI_Group_free(&group);
}

void inter_by_tag(MPI_Comm half, int tag) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm inter, both, copy;
    MPI_Request request;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, expect::rank % 2 == 0 ? 1 : 0, tag, &inter);
    MPI_Comm_idup(inter, &copy, &request);
    MPI_Intercomm_merge(inter, expect::rank % 2, &both);
    check(both, round, tag);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&both);
  }
}

void inters_at_once() {
  std::vector<std::thread> threads;
  std::vector<MPI_Comm> halves;
  for (size_t t = 0; t < 4; ++t) {
    halves.emplace_back();
    MPI_Comm_split(MPI_COMM_WORLD, expect::rank % 2, expect::rank, &halves.back());
  }
  for (size_t t = 0; t < 4; ++t) threads.emplace_back(inter_by_tag, halves[t], tags[t]);
  for (std::thread& thread : threads) thread.join();
  for (MPI_Comm& half : halves) MPI_Comm_free(&half);
}

// One group is rank 0, the other one all ranks, led by the last.
void common_members() {
  MPI_Comm all, self;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -expect::rank, &all);
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
  auto create = [](MPI_Comm local, int remote_leader) {
    MPI_Comm made = MPI_COMM_WORLD;
    EXPECT_CLASS(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, remote_leader, 9, &made), MPI_ERR_COMM);
    EXPECT(made == MPI_COMM_NULL, "there is a communicator");
  };
  std::thread other;
  if (expect::rank == 0) other = std::thread(create, self, expect::size - 1);
  create(all, 0);
  if (other.joinable()) other.join();
  MPI_Comm_free(&all);
  MPI_Comm_free(&self);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &expect::rank);
  MPI_Comm_size(MPI_COMM_WORLD, &expect::size);
  groups_at_once();
  if (expect::size > 1) {
    inters_at_once();
    common_members();
  }
  return expect::finish();
}
