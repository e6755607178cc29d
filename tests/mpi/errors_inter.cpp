// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Every wrong argument of the functions of intercommunicators is the error that the standard names, and nothing hangs:
// where all ranks must agree, all of them get it wrong.
#include "expect.hpp"

namespace {

MPI_Comm garbage() {
  static long words[8];
  return reinterpret_cast<MPI_Comm>(words);
}

// The ranks of each side of an intercommunicator: even and odd ones.
MPI_Comm half = MPI_COMM_NULL;

void creation() {
  MPI_Comm made = MPI_COMM_NULL;
  const int other = expect::rank % 2 == 0 ? 1 : 0;
  EXPECT_CLASS(MPI_Intercomm_create(MPI_COMM_NULL, 0, MPI_COMM_WORLD, other, 0, &made), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Intercomm_create(garbage(), 0, MPI_COMM_WORLD, other, 0, &made), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Intercomm_create(half, -1, MPI_COMM_WORLD, other, 0, &made), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Intercomm_create(half, 1000, MPI_COMM_WORLD, other, 0, &made), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, other, -1, &made), MPI_ERR_TAG);
  EXPECT_CLASS(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, other, 0, nullptr), MPI_ERR_ARG);
  if (expect::rank < 2) {  // the leaders: any other rank that asks would wait for them
    EXPECT_CLASS(MPI_Intercomm_create(half, 0, MPI_COMM_NULL, other, 0, &made), MPI_ERR_COMM);
    EXPECT_CLASS(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, -1, 0, &made), MPI_ERR_RANK);
    EXPECT_CLASS(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, expect::size, 0, &made), MPI_ERR_RANK);
    EXPECT_CLASS(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, expect::rank, 0, &made), MPI_ERR_RANK);
  }
}

void from_groups() {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group ours, theirs, self;
  MPI_Comm_group(half, &ours);
  MPI_Comm_group(MPI_COMM_SELF, &self);
  MPI_Comm_group(MPI_COMM_WORLD, &theirs);
  auto create = [&](MPI_Group local, int leader, MPI_Group remote, int remote_leader, const char* tag, MPI_Info info,
                    MPI_Errhandler handler, MPI_Comm* comm) {
    return MPI_Intercomm_create_from_groups(local, leader, remote, remote_leader, tag, info, handler, comm);
  };
  auto wrong = reinterpret_cast<MPI_Group>(garbage());
  auto wrong_info = reinterpret_cast<MPI_Info>(garbage());
  EXPECT_CLASS(create(MPI_GROUP_NULL, 0, theirs, 0, "a", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made), MPI_ERR_GROUP);
  EXPECT_CLASS(create(wrong, 0, theirs, 0, "a", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made), MPI_ERR_GROUP);
  EXPECT_CLASS(create(ours, -1, theirs, 0, "a", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made), MPI_ERR_RANK);
  EXPECT_CLASS(create(self, 0, wrong, 0, "a", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made), MPI_ERR_GROUP);
  EXPECT_CLASS(create(self, 0, theirs, expect::size, "a", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made), MPI_ERR_RANK);
  EXPECT_CLASS(create(ours, 0, theirs, 0, nullptr, MPI_INFO_NULL, MPI_ERRORS_RETURN, &made), MPI_ERR_ARG);
  EXPECT_CLASS(create(ours, 0, theirs, 0, "a", wrong_info, MPI_ERRORS_RETURN, &made), MPI_ERR_INFO);
  EXPECT_CLASS(create(ours, 0, theirs, 0, "a", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &made), MPI_ERR_ERRHANDLER);
  EXPECT_CLASS(create(ours, 0, theirs, 0, "a", MPI_INFO_NULL, MPI_ERRORS_RETURN, nullptr), MPI_ERR_ARG);
  // With an empty group it is local, and makes nothing.
  made = MPI_COMM_WORLD;
  EXPECT_CLASS(create(MPI_GROUP_EMPTY, 0, theirs, 0, "a", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made), MPI_SUCCESS);
  EXPECT(made == MPI_COMM_NULL, "there is a communicator");
  EXPECT_CLASS(create(ours, 0, MPI_GROUP_EMPTY, 0, "a", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made), MPI_SUCCESS);
  if (expect::rank > 0) {
    MPI_Group others;
    const int first[1] = {0};
    MPI_Group_incl(theirs, 1, first, &others);
    EXPECT_CLASS(create(others, 0, ours, 0, "a", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made), MPI_ERR_GROUP);
    MPI_Group_free(&others);
  }
  MPI_Group_free(&ours);
  MPI_Group_free(&theirs);
  MPI_Group_free(&self);
}

void of_one_group() {
  MPI_Comm made;
  MPI_Group group;
  int size = 0;
  EXPECT_CLASS(MPI_Comm_remote_size(MPI_COMM_WORLD, &size), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Comm_remote_group(MPI_COMM_WORLD, &group), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &made), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Intercomm_merge(MPI_COMM_NULL, 0, &made), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Intercomm_merge(garbage(), 0, &made), MPI_ERR_COMM);
}

void of_two_groups(MPI_Comm inter) {
  MPI_Comm made;
  MPI_Group remote;
  int size = 0, remote_size = 0;
  MPI_Comm_size(inter, &size);
  MPI_Comm_remote_size(inter, &remote_size);
  EXPECT_CLASS(MPI_Comm_remote_size(inter, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Comm_remote_group(inter, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Intercomm_merge(inter, 0, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 0, &made), MPI_ERR_COMM);
  MPI_Comm_remote_group(inter, &remote);
  EXPECT_CLASS(MPI_Comm_create(inter, remote, &made), MPI_ERR_GROUP);
  EXPECT_CLASS(MPI_Comm_create_group(inter, remote, 0, &made), MPI_ERR_COMM);
  MPI_Group_free(&remote);
  // Ranks are the other side's.
  EXPECT_CLASS(MPI_Send(nullptr, 0, MPI_INT, remote_size, 0, inter), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Recv(nullptr, 0, MPI_INT, remote_size, 0, inter, MPI_STATUS_IGNORE), MPI_ERR_RANK);
  int in = 0;
  EXPECT_CLASS(MPI_Scan(&size, &in, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
  // Ranks of one group that do not agree who is high; of a group of one they always do.
  int rank = 0;
  MPI_Comm_rank(inter, &rank);
  if (size > 1 || remote_size > 1) {
    made = MPI_COMM_WORLD;
    EXPECT_CLASS(MPI_Intercomm_merge(inter, rank == 0, &made), MPI_ERR_ARG);
    EXPECT(made == MPI_COMM_NULL, "there is a communicator");
  }
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_split(MPI_COMM_WORLD, expect::rank % 2, expect::rank, &half);
  creation();
  from_groups();
  of_one_group();
  if (expect::size > 1) {
    MPI_Comm inter;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, expect::rank % 2 == 0 ? 1 : 0, 1, &inter);
    of_two_groups(inter);
    MPI_Comm_free(&inter);
  }
  MPI_Comm_free(&half);
  return expect::finish();
}
