// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Intercommunicators: every way to make one and to make others of it, who is on which side, and that every kind of
// message between two ranks reaches the other side.
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "by_host.hpp"
#include "expect.hpp"

namespace {

// Ranks of MPI_COMM_WORLD below this are on the left side of most intercommunicators here.
int left_size() {
  return (expect::size + 1) / 2;
}
bool is_left() {
  return expect::rank < left_size();
}

int size_of(MPI_Comm comm) {
  int size = -1;
  MPI_Comm_size(comm, &size);
  return size;
}
int rank_of(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
int remote_size_of(MPI_Comm comm) {
  int size = -1;
  MPI_Comm_remote_size(comm, &size);
  return size;
}
bool is_inter(MPI_Comm comm) {
  int flag = -1;
  MPI_Comm_test_inter(comm, &flag);
  return flag == 1;
}
int compare(MPI_Comm a, MPI_Comm b) {
  int result = -1;
  MPI_Comm_compare(a, b, &result);
  return result;
}

// The ranks in MPI_COMM_WORLD of a group.
std::vector<int> world_ranks(MPI_Group group) {
  int size = 0;
  MPI_Group all;
  MPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<size_t>(size)), in_world(static_cast<size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_translate_ranks(group, size, ranks.data(), all, in_world.data());
  MPI_Group_free(&all);
  return in_world;
}
std::vector<int> remote_ranks(MPI_Comm inter) {
  MPI_Group group;
  MPI_Comm_remote_group(inter, &group);
  const std::vector<int> ranks = world_ranks(group);
  MPI_Group_free(&group);
  return ranks;
}
std::vector<int> local_ranks(MPI_Comm comm) {
  MPI_Group group;
  MPI_Comm_group(comm, &group);
  const std::vector<int> ranks = world_ranks(group);
  MPI_Group_free(&group);
  return ranks;
}

// A half of MPI_COMM_WORLD, in which ranks run backwards on the right.
MPI_Comm make_half() {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, is_left() ? 0 : 1, is_left() ? expect::rank : -expect::rank, &half);
  return half;
}

// Leaders are the last on the left and the first on the right.
MPI_Comm make_inter() {
  MPI_Comm half = make_half(), inter;
  MPI_Intercomm_create(half, is_left() ? left_size() - 1 : 0, MPI_COMM_WORLD,
                       is_left() ? expect::size - 1 : left_size() - 1, 7, &inter);
  MPI_Comm_free(&half);
  return inter;
}

// Everybody tells everybody on the other side who they are, by message.
void check_messages(MPI_Comm inter) {
  const std::vector<int> others = remote_ranks(inter);
  const size_t count = others.size();
  std::vector<int> in(count, -1);
  std::vector<MPI_Request> requests(2 * count);
  for (size_t r = 0; r < count; ++r) {
    MPI_Irecv(&in[r], 1, MPI_INT, static_cast<int>(r), 3, inter, &requests[2 * r]);
    MPI_Isend(&expect::rank, 1, MPI_INT, static_cast<int>(r), 3, inter, &requests[2 * r + 1]);
  }
  std::vector<MPI_Status> statuses(2 * count);
  MPI_Waitall(static_cast<int>(2 * count), requests.data(), statuses.data());
  for (size_t r = 0; r < count; ++r) {
    EXPECT(in[r] == others[r], "from remote rank %zu came %d, not %d", r, in[r], others[r]);
    EXPECT(statuses[2 * r].MPI_SOURCE == static_cast<int>(r), "source %d", statuses[2 * r].MPI_SOURCE);
  }
}

void check_inter(MPI_Comm inter, const std::vector<int>& ours, const std::vector<int>& theirs) {
  EXPECT(is_inter(inter), "it is none");
  EXPECT(local_ranks(inter) == ours, "another local group of %d", size_of(inter));
  EXPECT(remote_ranks(inter) == theirs, "another remote group of %d", remote_size_of(inter));
  EXPECT(size_of(inter) == static_cast<int>(ours.size()), "size %d", size_of(inter));
  EXPECT(remote_size_of(inter) == static_cast<int>(theirs.size()), "remote size %d", remote_size_of(inter));
  EXPECT(ours[static_cast<size_t>(rank_of(inter))] == expect::rank, "rank %d", rank_of(inter));
  check_messages(inter);
}

struct Halves {
  std::vector<int> ours, theirs;
};
Halves halves() {
  std::vector<int> left, right;
  for (int r = 0; r < expect::size; ++r) {
    if (r < left_size()) {
      left.push_back(r);
    } else {
      right.insert(right.begin(), r);
    }
  }
  return is_left() ? Halves{left, right} : Halves{right, left};
}

void made() {
  MPI_Comm inter = make_inter();
  const auto [ours, theirs] = halves();
  check_inter(inter, ours, theirs);
  EXPECT(compare(inter, inter) == MPI_IDENT, "compares as %d with itself", compare(inter, inter));
  EXPECT(compare(inter, MPI_COMM_WORLD) == MPI_UNEQUAL, "compares as %d", compare(inter, MPI_COMM_WORLD));
  MPI_Comm dup, informed, background;
  MPI_Request request;
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1;
  MPI_Comm_set_name(inter, "bridge");
  MPI_Info info, used;
  char hint[10] = "";
  int flag = 0;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_allow_overtaking", "true");
  MPI_Comm_set_info(inter, info);
  MPI_Comm_get_info(inter, &used);
  MPI_Info_get(used, "mpi_assert_allow_overtaking", 9, hint, &flag);
  EXPECT(flag && strcmp(hint, "true") == 0, "the hint is \"%s\"", hint);
  MPI_Info_free(&used);
  MPI_Info_free(&info);
  check_messages(inter);
  MPI_Comm_dup(inter, &dup);
  MPI_Comm_get_name(dup, name, &length);
  EXPECT(length == 0, "the copy is called %s", name);
  MPI_Comm_dup_with_info(dup, MPI_INFO_NULL, &informed);
  MPI_Comm_idup(inter, &background, &request);
  check_messages(inter);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (MPI_Comm copy : {dup, informed, background}) {
    check_inter(copy, ours, theirs);
    EXPECT(compare(copy, inter) == MPI_CONGRUENT, "compares as %d", compare(copy, inter));
    MPI_Comm_free(&copy);
  }
  MPI_Comm_disconnect(&inter);
  EXPECT(inter == MPI_COMM_NULL, "a handle is left");
}

// One over another one as the peer communicator: the leaders talk on the intercommunicator.
void made_over_another() {
  MPI_Comm inter = make_inter(), half = make_half(), second;
  MPI_Intercomm_create(half, 0, inter, 0, INT_MAX, &second);
  check_inter(second, halves().ours, halves().theirs);
  MPI_Comm_free(&inter);
  check_messages(second);
  MPI_Comm_free(&second);
  MPI_Comm_free(&half);
}

void made_from_groups() {
  MPI_Group all, left, right;
  MPI_Comm inter;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  int left_range[1][3] = {{0, left_size() - 1, 1}}, right_range[1][3] = {{expect::size - 1, left_size(), -1}};
  MPI_Group_range_incl(all, 1, left_range, &left);
  MPI_Group_range_incl(all, 1, right_range, &right);
  MPI_Intercomm_create_from_groups(is_left() ? left : right, 0, is_left() ? right : left, 0, "org.weft.test",
                                   MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
  check_inter(inter, halves().ours, halves().theirs);
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(inter, &handler);
  EXPECT(handler == MPI_ERRORS_RETURN, "another error handler");
  MPI_Comm_free(&inter);
  MPI_Group_free(&all);
  MPI_Group_free(&left);
  MPI_Group_free(&right);
}

void merged() {
  MPI_Comm inter = make_inter();
  const Halves sides = halves();
  std::vector<int> left_first = is_left() ? sides.ours : sides.theirs;
  std::vector<int> right_first = is_left() ? sides.theirs : sides.ours;
  const std::vector<int> left = left_first, right = right_first;
  left_first.insert(left_first.end(), right.begin(), right.end());
  right_first.insert(right_first.end(), left.begin(), left.end());
  for (int left_high = 0; left_high < 2; ++left_high) {
    for (int right_high = 0; right_high < 2; ++right_high) {
      MPI_Comm both;
      MPI_Intercomm_merge(inter, is_left() ? left_high : right_high, &both);
      const std::vector<int> order = local_ranks(both);
      EXPECT(!is_inter(both), "it has two groups");
      if (left_high == right_high) {
        EXPECT(order == left_first || order == right_first, "another order, %d %d", left_high, right_high);
      } else {
        EXPECT(order == (left_high ? right_first : left_first), "another order, %d %d", left_high, right_high);
      }
      int sum = 0;
      MPI_Allreduce(&expect::rank, &sum, 1, MPI_INT, MPI_SUM, both);
      EXPECT(sum == expect::size * (expect::size - 1) / 2, "sum %d", sum);
      MPI_Comm_free(&both);
    }
  }
  MPI_Comm_free(&inter);
}

void split_up() {
  MPI_Comm inter = make_inter(), part;
  const auto [ours, theirs] = halves();
  // Even and odd ranks apart, each side backwards.
  auto chosen = [](const std::vector<int>& ranks, int parity) {
    std::vector<int> some;
    for (size_t r = 0; r < ranks.size(); ++r) {
      if (static_cast<int>(r) % 2 == parity) some.insert(some.begin(), ranks[r]);
    }
    return some;
  };
  const int parity = rank_of(inter) % 2;
  MPI_Comm_split(inter, parity, -rank_of(inter), &part);
  const std::vector<int> theirs_of_color = chosen(theirs, parity);
  if (theirs_of_color.empty()) {
    EXPECT(part == MPI_COMM_NULL, "there is one without another side, of color %d", parity);
  } else {
    check_inter(part, chosen(ours, parity), theirs_of_color);
    MPI_Comm_free(&part);
  }
  // A colour that only one side has; and none.
  MPI_Comm_split(inter, is_left() ? 5 : 6, 0, &part);
  EXPECT(part == MPI_COMM_NULL, "one without another side");
  MPI_Comm_split(inter, is_left() ? MPI_UNDEFINED : 6, 0, &part);
  EXPECT(part == MPI_COMM_NULL, "one without a colour");
  MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
  const std::vector<int> ours_here = by_host::here(ours), theirs_here = by_host::here(theirs);
  if (theirs_here.empty()) {
    EXPECT(part == MPI_COMM_NULL, "there is one without another side on this host");
  } else {
    check_inter(part, ours_here, theirs_here);
    MPI_Comm_free(&part);
  }
  MPI_Comm_free(&inter);
}

// The last of each side, and all of ours but the first.
void created_from_groups() {
  MPI_Comm inter = make_inter(), part;
  const auto [ours, theirs] = halves();
  MPI_Group local, last, none = MPI_GROUP_EMPTY;
  MPI_Comm_group(inter, &local);
  int last_rank = size_of(inter) - 1;
  MPI_Group_incl(local, 1, &last_rank, &last);
  MPI_Comm_create(inter, last, &part);
  if (rank_of(inter) == last_rank) {
    check_inter(part, {ours.back()}, {theirs.back()});
    MPI_Comm_free(&part);
  } else {
    EXPECT(part == MPI_COMM_NULL, "not a member, but there is a communicator of %d", size_of(part));
  }
  MPI_Comm_create(inter, is_left() ? local : none, &part);
  EXPECT(part == MPI_COMM_NULL, "one with an empty side");
  MPI_Group_free(&local);
  MPI_Group_free(&last);
  MPI_Comm_free(&inter);
}

// Every mode of sending to the rank across, and every way to receive.
void every_message() {
  MPI_Comm inter = make_inter();
  const int rank = rank_of(inter), across = rank < remote_size_of(inter) ? rank : MPI_PROC_NULL;
  const bool alone = across == MPI_PROC_NULL;
  const int partner = alone ? -1 : remote_ranks(inter)[static_cast<size_t>(across)];
  int in = partner, flag = 0;
  MPI_Status status;
  MPI_Request send, receive;
  auto got = [&](const char* what) {
    EXPECT(in == partner, "%s: %d, not %d", what, in, partner);
    in = alone ? partner : -2;
  };
  got("begin");
  MPI_Sendrecv(&expect::rank, 1, MPI_INT, across, 1, &in, 1, MPI_INT, across, 1, inter, &status);
  EXPECT(status.MPI_SOURCE == across, "source %d, not %d", status.MPI_SOURCE, across);
  got("sendrecv");

  MPI_Issend(&expect::rank, 1, MPI_INT, across, 2, inter, &send);
  if (!alone) MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status);
  EXPECT(alone || (status.MPI_SOURCE == across && status.MPI_TAG == 2), "from %d", status.MPI_SOURCE);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  got("issend, wildcards");

  std::vector<char> room(MPI_BSEND_OVERHEAD + 100);
  MPI_Comm_attach_buffer(inter, room.data(), static_cast<int>(room.size()));
  MPI_Bsend(&expect::rank, 1, MPI_INT, across, 3, inter);
  if (!alone) {
    MPI_Message message;
    MPI_Probe(MPI_ANY_SOURCE, 3, inter, &status);
    EXPECT(status.MPI_SOURCE == across, "probed %d", status.MPI_SOURCE);
    MPI_Iprobe(across, MPI_ANY_TAG, inter, &flag, &status);
    EXPECT(flag && status.MPI_TAG == 3, "no message, or tag %d", status.MPI_TAG);
    MPI_Mprobe(across, 3, inter, &message, &status);
    MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
    EXPECT(status.MPI_SOURCE == across, "received from %d", status.MPI_SOURCE);
  }
  void* back = nullptr;
  int size = 0;
  MPI_Comm_detach_buffer(inter, &back, &size);
  got("bsend, probes");

  MPI_Send_init(&expect::rank, 1, MPI_INT, across, 4, inter, &send);
  MPI_Recv_init(&in, 1, MPI_INT, across, 4, inter, &receive);
  for (int i = 0; i < 3; ++i) {
    MPI_Start(&receive);
    MPI_Start(&send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    got("persistent");
  }
  MPI_Request_free(&send);
  MPI_Request_free(&receive);

  int out[4], parts[4] = {0, 0, 0, 0};
  for (int i = 0; i < 4; ++i) out[i] = expect::rank + i;
  MPI_Psend_init(out, 4, 1, MPI_INT, across, 5, inter, MPI_INFO_NULL, &send);
  MPI_Precv_init(parts, 2, 2, MPI_INT, across, 5, inter, MPI_INFO_NULL, &receive);
  MPI_Start(&receive);
  MPI_Start(&send);
  MPI_Pready_range(0, 3, send);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  for (int i = 0; i < 4 && !alone; ++i) EXPECT(parts[i] == partner + i, "partition %d: %d", i, parts[i]);
  MPI_Request_free(&send);
  MPI_Request_free(&receive);

  // Large enough for every path.
  for (size_t ints : {size_t{3000}, size_t{300000}}) {
    std::vector<int> large(ints, expect::rank), came(ints, alone ? partner : -1);
    MPI_Irecv(came.data(), static_cast<int>(ints), MPI_INT, across, 6, inter, &receive);
    MPI_Send(large.data(), static_cast<int>(ints), MPI_INT, across, 6, inter);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    EXPECT(came.front() == partner && came.back() == partner, "%d", came.back());
  }
  MPI_Comm_free(&inter);
}

// Operations in flight on both sides and in both groups at once stay apart.
void nothing_mixes() {
  MPI_Comm inter = make_inter(), half = make_half(), both;
  MPI_Intercomm_merge(inter, !is_left(), &both);
  const int rank = rank_of(inter);
  const bool pair = rank < remote_size_of(inter);
  int in[3] = {-1, -1, -1}, out[3] = {1000 + expect::rank, 2000 + expect::rank, 3000 + expect::rank};
  MPI_Request requests[6];
  int n = 0;
  const int next = (rank + 1) % size_of(half), before = (rank + size_of(half) - 1) % size_of(half);
  MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, half, &requests[n++]);
  if (pair) MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &requests[n++]);
  MPI_Irecv(&in[2], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, both, &requests[n++]);
  MPI_Isend(&out[2], 1, MPI_INT, rank_of(both), 0, both, &requests[n++]);
  if (pair) MPI_Isend(&out[1], 1, MPI_INT, rank, 0, inter, &requests[n++]);
  MPI_Isend(&out[0], 1, MPI_INT, next, 0, half, &requests[n++]);
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
  EXPECT(in[0] == 1000 + local_ranks(half)[static_cast<size_t>(before)], "in the half %d", in[0]);
  EXPECT(!pair || in[1] == 2000 + remote_ranks(inter)[static_cast<size_t>(rank)], "across %d", in[1]);
  EXPECT(in[2] == 3000 + expect::rank, "to ourselves %d", in[2]);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
  MPI_Comm_free(&inter);
}

int copies = 0, deletions = 0;
int copy_value(MPI_Comm, int, void*, void* value, void* value_out, int* flag) {
  ++copies;
  *static_cast<void**>(value_out) = value;
  *flag = 1;
  return MPI_SUCCESS;
}
int delete_value(MPI_Comm, int, void*, void*) {
  ++deletions;
  return MPI_SUCCESS;
}

void attributes() {
  MPI_Comm inter = make_inter(), dup, half;
  int key = 0, value = 5, flag = 0, *found = nullptr;
  MPI_Comm_create_keyval(copy_value, delete_value, &key, nullptr);
  MPI_Comm_set_attr(inter, key, &value);
  MPI_Comm_dup(inter, &dup);
  MPI_Comm_get_attr(dup, key, &found, &flag);
  EXPECT(flag && found == &value && copies == 1, "flag %d, %d copies", flag, copies);
  MPI_Intercomm_merge(inter, 0, &half);
  MPI_Comm_get_attr(half, key, &found, &flag);
  EXPECT(!flag, "an attribute went along to %d ranks", size_of(half));
  MPI_Comm_free(&half);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&dup);
  EXPECT(deletions == 2, "%d deletions", deletions);
  MPI_Comm_free_keyval(&key);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  if (expect::size > 1) {
    made();
    made_over_another();
    made_from_groups();
    merged();
    split_up();
    created_from_groups();
    every_message();
    nothing_mixes();
    attributes();
  }
  return expect::finish();
}
