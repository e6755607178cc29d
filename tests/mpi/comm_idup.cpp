// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_idup: copies are complete when their requests are, however many are under way beside other communication,
// and have the attributes and hints of the moment they were asked for.
#include <cstring>
#include <vector>

#include "expect.hpp"

namespace {

void check_copy(MPI_Comm copy, MPI_Comm of) {
  int result = -1, sum = 0, right = 0, rank = 0, size = 0, in = -1;
  MPI_Comm_compare(copy, of, &result);
  EXPECT(result == MPI_CONGRUENT, "compares as %d", result);
  MPI_Comm_rank(copy, &rank);
  MPI_Comm_size(copy, &size);
  for (int r = 0; r < size; ++r) right += r;
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copy,
               MPI_STATUS_IGNORE);
  EXPECT(in == (rank + size - 1) % size, "from before us came %d", in);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy);
  EXPECT(sum == right, "sum %d, not %d", sum, right);
}

void many_at_once() {
  constexpr int count = 50;
  MPI_Comm copies[count], others[3];
  MPI_Request requests[count];
  for (int i = 0; i < count; ++i) {
    MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[i]);
    if (i % 20 == 0) MPI_Comm_dup(MPI_COMM_WORLD, &others[i / 20]);
    if (i % 7 == 0) {
      int one = 1, all = 0;
      MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      EXPECT(all == expect::size, "%d ranks", all);
    }
  }
  // The last first.
  for (int i = count; i-- > 0;) {
    MPI_Status status;
    MPI_Wait(&requests[i], &status);
    check_copy(copies[i], MPI_COMM_WORLD);
  }
  for (MPI_Comm& copy : copies) MPI_Comm_free(&copy);
  for (MPI_Comm& other : others) {
    check_copy(other, MPI_COMM_WORLD);
    MPI_Comm_free(&other);
  }
}

// One rank begins late, the others send and receive meanwhile: nobody needs a call of MPI_Wait to go on.
void in_the_background() {
  MPI_Comm copy;
  MPI_Request request;
  int flag = 0, in = 0;
  const int last = expect::size - 1;
  if (expect::rank != last) MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
  if (expect::size > 1) {
    if (expect::rank == last) {
      MPI_Recv(&in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (expect::rank == 0) {
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      EXPECT(!flag, "complete without the last rank");
      MPI_Send(&in, 1, MPI_INT, last, 1, MPI_COMM_WORLD);
    }
  }
  if (expect::rank == last) {
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    // The others' rounds go on while they wait for this.
    for (int r = 0; r < last; ++r) MPI_Send(&in, 1, MPI_INT, r, 2, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&in, 1, MPI_INT, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  check_copy(copy, MPI_COMM_WORLD);
  MPI_Comm_free(&copy);
}

// The parent's handle goes before its copy is complete; copies of copies; ranks that make different ones.
void of_other_communicators() {
  MPI_Comm half, copy, second;
  MPI_Request requests[2];
  MPI_Comm_split(MPI_COMM_WORLD, expect::rank % 2, expect::rank, &half);
  MPI_Comm_idup(half, &copy, &requests[0]);
  MPI_Comm_idup(MPI_COMM_WORLD, &second, &requests[1]);
  MPI_Comm_free(&half);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  check_copy(second, MPI_COMM_WORLD);
  MPI_Comm_idup(copy, &half, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  check_copy(half, copy);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&second);
  MPI_Comm_idup(MPI_COMM_SELF, &copy, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  check_copy(copy, MPI_COMM_SELF);
  MPI_Comm_free(&copy);
}

int refuse(MPI_Comm, int, void*, void*, void*, int*) {
  return MPI_ERR_OTHER;
}

void attributes_and_hints() {
  MPI_Comm parent, copy, informed;
  MPI_Request requests[2];
  MPI_Info info, used;
  int key = 0, value = 1, later = 2, flag = 0, *found = nullptr;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm_set_attr(parent, key, &value);
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
  MPI_Comm_idup(parent, &copy, &requests[0]);
  MPI_Comm_set_attr(parent, key, &later);
  MPI_Comm_idup_with_info(parent, info, &informed, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Comm_get_attr(copy, key, &found, &flag);
  EXPECT(flag && found == &value, "flag %d, value %d", flag, flag ? *found : -1);
  MPI_Comm_get_attr(informed, key, &found, &flag);
  EXPECT(flag && found == &later, "flag %d, value %d", flag, flag ? *found : -1);
  char text[10] = "";
  MPI_Comm_get_info(informed, &used);
  MPI_Info_get(used, "mpi_assert_no_any_tag", 9, text, &flag);
  EXPECT(flag && strcmp(text, "true") == 0, "the hint is \"%s\"", text);
  MPI_Info_free(&used);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "maybe");
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Comm_idup_with_info(parent, info, &copy, &requests[0]), MPI_ERR_INFO_VALUE);
  MPI_Comm_free(&informed);
  int refusing = 0;
  MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &refusing, nullptr);
  MPI_Comm_set_attr(parent, refusing, &value);
  EXPECT_CLASS(MPI_Comm_idup(parent, &informed, &requests[0]), MPI_ERR_OTHER);
  MPI_Info_free(&info);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free_keyval(&refusing);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&parent);
}

// Forbidden actions of programs before the request is complete do no harm.
void too_early() {
  MPI_Comm copy;
  MPI_Request request;
  int size = 0;
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
  MPI_Comm_size(copy, &size);
  EXPECT(size == expect::size, "size %d", size);
  MPI_Comm_free(&copy);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void errors() {
  MPI_Comm copy;
  MPI_Request request;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Comm_idup(MPI_COMM_NULL, &copy, &request), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Comm_idup(MPI_COMM_WORLD, nullptr, &request), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Comm_idup(MPI_COMM_WORLD, &copy, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Comm_idup_with_info(MPI_COMM_WORLD, (MPI_Info)&copy, &copy, &request), MPI_ERR_INFO);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  many_at_once();
  in_the_background();
  of_other_communicators();
  attributes_and_hints();
  too_early();
  errors();
  return expect::finish();
}
