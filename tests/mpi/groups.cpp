// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Groups against sets computed by hand: every operation, orders that no formula describes, empty results, wrong
// arguments.
#include <algorithm>
#include <random>
#include <vector>

#include "expect.hpp"

namespace {

using Ranks = std::vector<int>;

MPI_Group world;

// The ranks in MPI_COMM_WORLD of a group's members, in its order.
Ranks members(MPI_Group group) {
  int size = -1;
  MPI_Group_size(group, &size);
  Ranks own(static_cast<size_t>(size)), result(own.size());
  for (int i = 0; i < size; ++i) own[static_cast<size_t>(i)] = i;
  MPI_Group_translate_ranks(group, size, own.data(), world, result.data());
  return result;
}

MPI_Group group_of(const Ranks& ranks) {
  MPI_Group group;
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  return group;
}

bool has(const Ranks& ranks, int r) {
  return std::find(ranks.begin(), ranks.end(), r) != ranks.end();
}

// The group has these members; it is freed.
void expect_members(MPI_Group group, const Ranks& wanted, const char* what) {
  EXPECT(members(group) == wanted, "%s: %zu members, %zu wanted", what, members(group).size(), wanted.size());
  EXPECT((group == MPI_GROUP_EMPTY) == wanted.empty(), "%s: only the empty group is MPI_GROUP_EMPTY", what);
  int rank = -1;
  MPI_Group_rank(group, &rank);
  auto at = std::find(wanted.begin(), wanted.end(), expect::rank);
  int place = at == wanted.end() ? MPI_UNDEFINED : static_cast<int>(at - wanted.begin());
  EXPECT(rank == place, "%s: our rank is %d, not %d", what, rank, place);
  MPI_Group_free(&group);
  EXPECT(group == MPI_GROUP_NULL, "%s: not set to MPI_GROUP_NULL", what);
}

Ranks random_ranks(std::mt19937& random) {
  Ranks ranks;
  for (int r = 0; r < expect::size; ++r) {
    if (random() % 2) ranks.push_back(r);
  }
  if (random() % 2) std::shuffle(ranks.begin(), ranks.end(), random);
  return ranks;
}

void set_operations(std::mt19937& random) {
  Ranks a = random_ranks(random), b = random_ranks(random);
  Ranks both, only, either = a;
  for (int r : a) (has(b, r) ? both : only).push_back(r);
  for (int r : b) {
    if (!has(a, r)) either.push_back(r);
  }
  MPI_Group ga = group_of(a), gb = group_of(b), result;
  MPI_Group_union(ga, gb, &result);
  expect_members(result, either, "union");
  MPI_Group_intersection(ga, gb, &result);
  expect_members(result, both, "intersection");
  MPI_Group_difference(ga, gb, &result);
  expect_members(result, only, "difference");
  Ranks sorted_a = a, sorted_b = b;
  std::sort(sorted_a.begin(), sorted_a.end());
  std::sort(sorted_b.begin(), sorted_b.end());
  int wanted = a == b ? MPI_IDENT : sorted_a == sorted_b ? MPI_SIMILAR : MPI_UNEQUAL, compared = 0;
  MPI_Group_compare(ga, gb, &compared);
  EXPECT(compared == wanted, "comparison gives %d, not %d", compared, wanted);
  MPI_Group_free(&ga);
  MPI_Group_free(&gb);
}

void selections(std::mt19937& random) {
  Ranks picked = random_ranks(random), rest;
  for (int r = 0; r < expect::size; ++r) {
    if (!has(picked, r)) rest.push_back(r);
  }
  MPI_Group result;
  MPI_Group_incl(world, static_cast<int>(picked.size()), picked.data(), &result);
  expect_members(result, picked, "incl");
  MPI_Group_excl(world, static_cast<int>(picked.size()), picked.data(), &result);
  expect_members(result, rest, "excl");
}

void ranges() {
  int last = expect::size - 1;
  int down[1][3] = {{last, 0, -1}}, even[1][3] = {{0, last, 2}}, nothing[1][3] = {{1, 0, 1}};
  Ranks backwards, evens, odds, all;
  for (int r = 0; r <= last; ++r) {
    backwards.insert(backwards.begin(), r);
    all.push_back(r);
    (r % 2 ? odds : evens).push_back(r);
  }
  MPI_Group result;
  MPI_Group_range_incl(world, 1, down, &result);
  expect_members(result, backwards, "range_incl down");
  MPI_Group_range_incl(world, 1, even, &result);
  expect_members(result, evens, "range_incl even");
  MPI_Group_range_excl(world, 1, even, &result);
  expect_members(result, odds, "range_excl even");
  MPI_Group_range_excl(world, 0, nullptr, &result);
  expect_members(result, all, "range_excl nothing");
  if (last > 0) {
    MPI_Group_range_incl(world, 1, nothing, &result);
    expect_members(result, {}, "range_incl of an empty range");
  }
}

void wrong_arguments() {
  MPI_Group group;
  int outside[1] = {expect::size}, twice[2] = {0, 0}, result;
  int still[1][3] = {{0, 0, 0}}, beyond[1][3] = {{0, expect::size, 1}}, same[2][3] = {{0, 0, 1}, {0, 0, 1}};
  EXPECT_CLASS(MPI_Group_incl(world, 1, outside, &group), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Group_excl(world, 1, outside, &group), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Group_incl(world, 2, twice, &group), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Group_incl(world, -1, twice, &group), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Group_incl(world, 1, nullptr, &group), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Group_incl(world, 1, twice, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Group_incl(MPI_GROUP_NULL, 1, twice, &group), MPI_ERR_GROUP);
  EXPECT_CLASS(MPI_Group_range_incl(world, 1, still, &group), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Group_range_incl(world, 1, beyond, &group), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Group_range_excl(world, 2, same, &group), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Group_translate_ranks(world, 1, outside, world, &result), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Group_union(world, MPI_GROUP_NULL, &group), MPI_ERR_GROUP);
  EXPECT_CLASS(MPI_Group_compare(world, world, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Group_size(reinterpret_cast<MPI_Group>(MPI_COMM_WORLD), &result), MPI_ERR_GROUP);
  EXPECT_CLASS(MPI_Group_size(reinterpret_cast<MPI_Group>(&result), &result), MPI_ERR_GROUP);
  group = MPI_GROUP_NULL;
  EXPECT_CLASS(MPI_Group_free(&group), MPI_ERR_GROUP);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    set_operations(random);
    selections(random);
  }
  ranges();
  wrong_arguments();
  int nobody = MPI_PROC_NULL, translated = 0;
  MPI_Group_translate_ranks(world, 1, &nobody, world, &translated);
  EXPECT(translated == MPI_PROC_NULL, "MPI_PROC_NULL became %d", translated);
  MPI_Group_free(&world);
  return expect::finish();
}
