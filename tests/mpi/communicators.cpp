// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Every way to make a communicator: its members and their order, that its messages stay in it, and that nothing is left
// when it is freed.
#include <cstring>
#include <vector>

#include "by_host.hpp"
#include "expect.hpp"

namespace {

// The sum over the ranks of `comm` of their ranks in MPI_COMM_WORLD, by point-to-point messages along a chain.
int chain_sum(MPI_Comm comm) {
  int rank = 0, size = 0, sum = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank > 0) MPI_Recv(&sum, 1, MPI_INT, rank - 1, 5, comm, MPI_STATUS_IGNORE);
  sum += expect::rank;
  if (rank + 1 < size) MPI_Send(&sum, 1, MPI_INT, rank + 1, 5, comm);
  MPI_Bcast(&sum, 1, MPI_INT, size - 1, comm);
  return sum;
}

int sum_to(int size) {
  return size * (size - 1) / 2;
}

int compare(MPI_Comm a, MPI_Comm b) {
  int result = 0;
  MPI_Comm_compare(a, b, &result);
  return result;
}

void duplicates() {
  MPI_Comm dup;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  EXPECT(compare(dup, MPI_COMM_WORLD) == MPI_CONGRUENT, "compares as %d", compare(dup, MPI_COMM_WORLD));
  EXPECT(compare(dup, dup) == MPI_IDENT, "compares as %d with itself", compare(dup, dup));
  EXPECT(chain_sum(dup) == sum_to(expect::size), "sum %d", chain_sum(dup));
  // All three have one tag: the one sent last is received first.
  int next = (expect::rank + 1) % expect::size, before = (expect::rank + expect::size - 1) % expect::size;
  int out[3] = {expect::rank, expect::rank + 100, expect::rank + 200}, in[3] = {-1, -1, -1};
  MPI_Request requests[3];
  MPI_Comm second;
  MPI_Comm_dup(dup, &second);
  MPI_Isend(&out[0], 1, MPI_INT, next, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&out[1], 1, MPI_INT, next, 0, dup, &requests[1]);
  MPI_Isend(&out[2], 1, MPI_INT, next, 0, second, &requests[2]);
  MPI_Recv(&in[2], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, second, MPI_STATUS_IGNORE);
  MPI_Recv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, dup, MPI_STATUS_IGNORE);
  MPI_Recv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT(in[0] == before && in[1] == before + 100 && in[2] == before + 200, "got %d, %d, %d", in[0], in[1], in[2]);
  MPI_Comm_free(&second);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  MPI_Comm_free(&dup);
  EXPECT(dup == MPI_COMM_NULL, "not set to MPI_COMM_NULL");
}

void splits() {
  MPI_Comm half, reversed, none;
  MPI_Comm_split(MPI_COMM_WORLD, expect::rank % 2, 0, &half);
  int rank = -1, size = -1;
  MPI_Comm_rank(half, &rank);
  MPI_Comm_size(half, &size);
  EXPECT(rank == expect::rank / 2 && size == (expect::size + 1 - expect::rank % 2) / 2, "%d of %d", rank, size);
  int wanted = 0;
  for (int r = expect::rank % 2; r < expect::size; r += 2) wanted += r;
  EXPECT(chain_sum(half) == wanted, "sum %d, not %d", chain_sum(half), wanted);
  MPI_Comm_split(MPI_COMM_WORLD, 3, -expect::rank, &reversed);
  MPI_Comm_rank(reversed, &rank);
  EXPECT(rank == expect::size - 1 - expect::rank, "rank %d", rank);
  int relation = expect::size == 1 ? MPI_CONGRUENT : MPI_SIMILAR;
  EXPECT(compare(reversed, MPI_COMM_WORLD) == relation, "compares as %d", compare(reversed, MPI_COMM_WORLD));
  EXPECT(chain_sum(reversed) == sum_to(expect::size), "sum %d", chain_sum(reversed));
  MPI_Comm_split(MPI_COMM_WORLD, expect::rank == 0 ? 0 : MPI_UNDEFINED, 0, &none);
  EXPECT((none == MPI_COMM_NULL) == (expect::rank != 0), "MPI_UNDEFINED has a communicator");
  if (none != MPI_COMM_NULL) MPI_Comm_free(&none);
  MPI_Comm_free(&half);
  MPI_Comm_free(&reversed);
}

void splits_by_type() {
  MPI_Comm comm, host;
  MPI_Comm_split(MPI_COMM_WORLD, by_host::here().front(), 0, &host);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, expect::rank, MPI_INFO_NULL, &comm);
  EXPECT(compare(comm, host) == MPI_CONGRUENT, "compares as %d", compare(comm, host));
  MPI_Comm_free(&comm);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &comm);
  EXPECT(comm == MPI_COMM_NULL, "MPI_UNDEFINED has a communicator");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &comm);
  EXPECT(comm == MPI_COMM_NULL, "guided by nothing");
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &comm);
  EXPECT(compare(comm, host) == MPI_CONGRUENT, "compares as %d", compare(comm, host));
  MPI_Comm_free(&comm);
  MPI_Comm_free(&host);
  MPI_Info_delete(info, "mpi_hw_resource_type");
  MPI_Info_set(info, "mpi_pset_name", "mpi://SELF");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &comm);
  int size = 0;
  MPI_Comm_size(comm, &size);
  EXPECT(size == 1, "%d ranks", size);
  MPI_Comm_free(&comm);
  MPI_Info_free(&info);
}

void from_groups() {
  MPI_Group world, odd, even;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int range[1][3] = {{0, expect::size - 1, 2}};
  MPI_Group_range_incl(world, 1, range, &even);
  MPI_Group_difference(world, even, &odd);
  MPI_Comm comm;
  MPI_Comm_create(MPI_COMM_WORLD, expect::rank % 2 ? odd : even, &comm);
  int wanted = 0;
  for (int r = expect::rank % 2; r < expect::size; r += 2) wanted += r;
  EXPECT(chain_sum(comm) == wanted, "Comm_create: sum %d, not %d", chain_sum(comm), wanted);
  MPI_Comm_free(&comm);
  MPI_Comm_create(MPI_COMM_WORLD, even, &comm);
  EXPECT((comm == MPI_COMM_NULL) == (expect::rank % 2 == 1), "Comm_create: wrong members");
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  if (expect::rank % 2 == 0) {  // the others do not take part
    MPI_Comm_create_group(MPI_COMM_WORLD, even, 42, &comm);
    EXPECT(chain_sum(comm) == wanted, "Comm_create_group: sum %d, not %d", chain_sum(comm), wanted);
    MPI_Group members;
    int result = 0;
    MPI_Comm_group(comm, &members);
    MPI_Group_compare(members, even, &result);
    EXPECT(result == MPI_IDENT, "its group compares as %d", result);
    MPI_Group_free(&members);
    MPI_Comm_free(&comm);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);  // contexts are agreed on by all again
  EXPECT(chain_sum(comm) == sum_to(expect::size), "sum %d", chain_sum(comm));
  MPI_Comm_free(&comm);
  MPI_Group_free(&world);
  MPI_Group_free(&odd);
  MPI_Group_free(&even);
}

// A communicator may be freed while messages on it are under way.
void freed_in_use() {
  MPI_Comm dup;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  int next = (expect::rank + 1) % expect::size, before = (expect::rank + expect::size - 1) % expect::size;
  std::vector<int> out(300000, expect::rank), in(out.size(), -1);
  MPI_Request requests[2];
  MPI_Irecv(in.data(), static_cast<int>(in.size()), MPI_INT, before, 1, dup, &requests[0]);
  MPI_Comm copy = dup;
  MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_INT, next, 1, dup, &requests[1]);
  MPI_Comm_free(&dup);
  int size = 0;
  EXPECT_CLASS(MPI_Comm_size(copy, &size), MPI_ERR_COMM);
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  EXPECT(chain_sum(other) == sum_to(expect::size), "sum %d", chain_sum(other));
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  EXPECT(in.front() == before && in.back() == before, "got %d and %d", in.front(), in.back());
  MPI_Comm_disconnect(&other);
  EXPECT(other == MPI_COMM_NULL, "not set to MPI_COMM_NULL");
}

void many() {
  for (int i = 0; i < 3000; ++i) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, i % 3 == expect::rank % 3, i, &comm);
    MPI_Comm_free(&comm);
  }
}

void names_and_questions() {
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1, flag = -1;
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  EXPECT(strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14, "\"%s\"", name);
  MPI_Comm_get_name(MPI_COMM_NULL, name, &length);
  EXPECT(strcmp(name, "MPI_COMM_NULL") == 0, "\"%s\"", name);
  MPI_Comm dup, parent;
  MPI_Comm_dup(MPI_COMM_SELF, &dup);
  MPI_Comm_get_name(dup, name, &length);
  EXPECT(name[0] == '\0' && length == 0, "\"%s\"", name);
  char longer[MPI_MAX_OBJECT_NAME + 10];
  memset(longer, 'n', sizeof longer - 1);
  longer[sizeof longer - 1] = '\0';
  MPI_Comm_set_name(dup, longer);
  MPI_Comm_get_name(dup, name, &length);
  EXPECT(length == MPI_MAX_OBJECT_NAME - 1, "length %d", length);
  MPI_Comm_free(&dup);
  MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
  EXPECT(flag == 0, "MPI_COMM_WORLD is an inter-communicator");
  MPI_Topo_test(MPI_COMM_WORLD, &flag);
  EXPECT(flag == MPI_UNDEFINED, "MPI_COMM_WORLD has topology %d", flag);
  MPI_Comm_get_parent(&parent);
  EXPECT(parent == MPI_COMM_NULL, "there is a parent");
}

void hints() {
  MPI_Info info, used;
  char value[10];
  int flag = 0;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
  MPI_Info_set(info, "unknown", "ignored");
  MPI_Comm dup, second;
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &dup);
  MPI_Comm_dup(dup, &second);
  for (MPI_Comm comm : {dup, second, MPI_COMM_WORLD}) {
    MPI_Comm_get_info(comm, &used);
    MPI_Info_get(used, "mpi_assert_no_any_tag", 9, value, &flag);
    EXPECT(flag && strcmp(value, comm == dup ? "true" : "false") == 0, "hint is \"%s\"", value);
    MPI_Info_get(used, "unknown", 9, value, &flag);
    EXPECT(!flag, "an unknown hint was kept");
    MPI_Info_free(&used);
  }
  MPI_Info_set(info, "mpi_assert_no_any_tag", "perhaps");
  EXPECT_CLASS(MPI_Comm_set_info(dup, info), MPI_ERR_INFO_VALUE);
  MPI_Info_free(&info);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&second);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  duplicates();
  splits();
  splits_by_type();
  from_groups();
  freed_in_use();
  many();
  names_and_questions();
  hints();
  return expect::finish();
}
