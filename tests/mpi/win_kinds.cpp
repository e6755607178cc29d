// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Windows of every kind (MPI-5.0, 12.2): their memory, and sizes and units that differ by rank.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "windows.hpp"

using expect::rank;
using expect::size;
using windows::left;
using windows::right;

namespace {

// The attributes that every window has.
void expect_attributes(MPI_Win window, const void* base, MPI_Aint bytes, int unit, int flavor) {
  void* value = nullptr;
  int flag = 0;
  OK(MPI_Win_get_attr(window, MPI_WIN_BASE, static_cast<void*>(&value), &flag));
  EXPECT(flag != 0 && value == base, "base %p, not %p", value, base);
  OK(MPI_Win_get_attr(window, MPI_WIN_SIZE, static_cast<void*>(&value), &flag));
  EXPECT(flag != 0 && *static_cast<MPI_Aint*>(value) == bytes, "not %ld bytes", static_cast<long>(bytes));
  OK(MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, static_cast<void*>(&value), &flag));
  EXPECT(flag != 0 && *static_cast<int*>(value) == unit, "unit %d, not %d", *static_cast<int*>(value), unit);
  OK(MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, static_cast<void*>(&value), &flag));
  EXPECT(flag != 0 && *static_cast<int*>(value) == flavor, "flavor %d, not %d", *static_cast<int*>(value), flavor);
  OK(MPI_Win_get_attr(window, MPI_WIN_MODEL, static_cast<void*>(&value), &flag));
  const int model = *static_cast<int*>(value);
  EXPECT(flag != 0 && (model == MPI_WIN_UNIFIED || model == MPI_WIN_SEPARATE), "model %d", model);
}

// Every rank has 2 + rank ints in units of 1, 2, 4 or 12 bytes, none of which need be the size of an element.
int unit_of(int r) {
  static const int units[] = {4, 1, 2, 12};
  return units[r % 4];
}

void put_to_each(MPI_Win window, int* memory) {
  for (int i = 0; i < 12; ++i) memory[i] = -1;
  OK(MPI_Win_fence(0, window));
  for (int r = 0; r < size; ++r) {
    // Element 3 * (rank % 4) lies at a whole number of every unit.
    const int value = 1000 * rank + r;
    if (rank < 4) OK(MPI_Put(&value, 1, MPI_INT, r, 12 * rank / unit_of(r), 1, MPI_INT, window));
    OK(MPI_Win_fence(0, window));
  }
  for (int i = 0; i < 12; ++i) {
    const int wanted = i % 3 == 0 && i / 3 < size ? 1000 * (i / 3) + rank : -1;
    EXPECT(memory[i] == wanted, "element %d is %d, not %d", i, memory[i], wanted);
  }
}

void created() {
  std::vector<int> memory(static_cast<size_t>(12 + rank));
  const auto bytes = static_cast<MPI_Aint>(memory.size() * sizeof(int));
  MPI_Win window = MPI_WIN_NULL;
  OK(MPI_Win_create(memory.data(), bytes, unit_of(rank), MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  expect_attributes(window, memory.data(), bytes, unit_of(rank), MPI_WIN_FLAVOR_CREATE);
  put_to_each(window, memory.data());
  OK(MPI_Win_free(&window));
  EXPECT(window == MPI_WIN_NULL, "the handle stays");
  OK(MPI_Win_create_c(memory.data(), bytes, MPI_Aint{unit_of(rank)}, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  expect_attributes(window, memory.data(), bytes, unit_of(rank), MPI_WIN_FLAVOR_CREATE);
  put_to_each(window, memory.data());
  OK(MPI_Win_free(&window));
}

void allocated() {
  int *memory[2] = {nullptr, nullptr}, count = 12 + rank;
  const MPI_Aint bytes = count * MPI_Aint{sizeof(int)};
  MPI_Win window[2];
  OK(MPI_Win_allocate(bytes, unit_of(rank), MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&memory[0]), &window[0]));
  OK(MPI_Win_allocate_c(bytes, unit_of(rank), MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&memory[1]),
                        &window[1]));
  EXPECT(memory[0] + count <= memory[1] || memory[1] + count <= memory[0], "%p and %p overlap",
         static_cast<void*>(memory[0]), static_cast<void*>(memory[1]));
  for (int i = 0; i < 2; ++i) {
    expect_attributes(window[i], memory[i], bytes, unit_of(rank), MPI_WIN_FLAVOR_ALLOCATE);
    EXPECT(reinterpret_cast<uintptr_t>(memory[i]) % alignof(std::max_align_t) == 0, "at %p",
           static_cast<void*>(memory[i]));
    put_to_each(window[i], memory[i]);
  }
  std::fill_n(memory[0], count, 5);
  OK(MPI_Win_free(&window[1]));
  EXPECT(std::count(memory[0], memory[0] + count, 5) == count, "the end of a window changed another");
  OK(MPI_Win_free(&window[0]));
}

// Only even ranks have memory, then nobody.
void sizes_of_zero() {
  for (const bool some : {true, false}) {
    int value = -1, from_left = rank;
    const bool mine = some && rank % 2 == 0;
    MPI_Win window;
    OK(MPI_Win_create(mine ? &value : nullptr, mine ? MPI_Aint{sizeof value} : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                      &window));
    OK(MPI_Win_fence(0, window));
    if (some && right() % 2 == 0) OK(MPI_Put(&from_left, 1, MPI_INT, right(), 0, 1, MPI_INT, window));
    if (!some) OK(MPI_Put(&from_left, 0, MPI_INT, right(), 0, 0, MPI_INT, window));
    OK(MPI_Win_fence(0, window));
    EXPECT(value == (mine ? left() : -1), "%d", value);
    OK(MPI_Win_free(&window));
    int* base = nullptr;
    OK(MPI_Win_allocate(mine ? 4 : 0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&base), &window));
    OK(MPI_Win_fence(0, window));
    if (some && right() % 2 == 0) OK(MPI_Put(&from_left, 1, MPI_INT, right(), 0, 1, MPI_INT, window));
    OK(MPI_Win_fence(0, window));
    EXPECT(!mine || *base == left(), "%d", *base);
    OK(MPI_Win_free(&window));
  }
}

// ---- shared memory

MPI_Comm on_this_host() {
  MPI_Comm comm;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm);
  return comm;
}

// Rank r has `ints(r)` ints.
template <class Ints>
void shared(Ints ints, bool noncontiguous, bool wide) {
  MPI_Comm comm = on_this_host();
  int me, ranks;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &ranks);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", noncontiguous ? "true" : "false");
  const auto bytes = static_cast<MPI_Aint>(ints(me) * sizeof(int));
  int* mine = nullptr;
  MPI_Win window;
  if (wide) {
    OK(MPI_Win_allocate_shared_c(bytes, me + 1, info, comm, static_cast<void*>(&mine), &window));
  } else {
    OK(MPI_Win_allocate_shared(bytes, me + 1, info, comm, static_cast<void*>(&mine), &window));
  }
  MPI_Info_free(&info);
  if (bytes > 0) expect_attributes(window, mine, bytes, me + 1, MPI_WIN_FLAVOR_SHARED);
  OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, window));
  for (int i = 0; i < ints(me); ++i) mine[i] = 100 * me + i;
  windows::meet(window, comm);
  const char* end = nullptr;
  for (int r = 0; r < ranks; ++r) {
    MPI_Aint there = -1, unit_wide = -1;
    int unit = -1, *base = nullptr;
    if (wide) {
      OK(MPI_Win_shared_query_c(window, r, &there, &unit_wide, static_cast<void*>(&base)));
      unit = static_cast<int>(unit_wide);
    } else {
      OK(MPI_Win_shared_query(window, r, &there, &unit, static_cast<void*>(&base)));
    }
    EXPECT(there == static_cast<MPI_Aint>(ints(r) * sizeof(int)), "rank %d has %ld bytes", r, static_cast<long>(there));
    if (there == 0) continue;
    EXPECT(unit == r + 1, "rank %d has units of %d", r, unit);
    if (!noncontiguous && end != nullptr) {
      EXPECT(static_cast<const void*>(base) == end, "rank %d begins at %p, not %p", r, static_cast<void*>(base),
             static_cast<const void*>(end));
    }
    end = reinterpret_cast<const char*>(base) + there;
    for (int i = 0; i < ints(r); ++i) EXPECT(base[i] == 100 * r + i, "element %d of rank %d is %d", i, r, base[i]);
    if (r == me) EXPECT(base == mine, "%p, not %p", static_cast<void*>(base), static_cast<void*>(mine));
  }
  // The lowest rank that has any.
  MPI_Aint lowest_bytes = -1;
  int lowest = 0, unit = -1, *base = nullptr;
  while (lowest < ranks && ints(lowest) == 0) ++lowest;
  OK(MPI_Win_shared_query(window, MPI_PROC_NULL, &lowest_bytes, &unit, static_cast<void*>(&base)));
  if (lowest < ranks) {
    EXPECT(lowest_bytes == static_cast<MPI_Aint>(ints(lowest) * sizeof(int)) && unit == lowest + 1 &&
               base[0] == 100 * lowest,
           "%ld bytes in units of %d", static_cast<long>(lowest_bytes), unit);
  } else {
    EXPECT(lowest_bytes == 0, "%ld bytes", static_cast<long>(lowest_bytes));
  }
  windows::meet(window, comm);
  // Stores by others and puts go to one memory.
  const int next = (me + 1) % ranks;
  if (ints(next) > 1) {
    MPI_Aint there;
    OK(MPI_Win_shared_query(window, next, &there, &unit, static_cast<void*>(&base)));
    base[0] = 7000 + me;
    const int value = 8000 + me;
    MPI_Datatype type;  // a unit of 3 bytes does not lead to the second int
    const int length = 1, place = 1;
    MPI_Type_indexed(1, &length, &place, MPI_INT, &type);
    MPI_Type_commit(&type);
    OK(MPI_Put(&value, 1, MPI_INT, next, 0, 1, type, window));
    OK(MPI_Win_flush(next, window));
    MPI_Type_free(&type);
  }
  windows::meet(window, comm);
  const int previous = (me + ranks - 1) % ranks;
  if (ints(me) > 1) {
    EXPECT(mine[0] == 7000 + previous && mine[1] == 8000 + previous, "%d and %d", mine[0], mine[1]);
  }
  OK(MPI_Win_unlock_all(window));
  OK(MPI_Win_free(&window));
  MPI_Comm_free(&comm);
}

void shared_of_all_shapes() {
  for (const bool noncontiguous : {false, true}) {
    for (const bool wide : {false, true}) {
      shared([](int) { return 10; }, noncontiguous, wide);
      shared([](int r) { return 3 + 5 * r; }, noncontiguous, wide);
      shared([](int r) { return r % 2 == 0 ? 0 : 4; }, noncontiguous, wide);
      shared([](int r) { return r == 0 ? 5000 : 0; }, noncontiguous, wide);
      shared([](int) { return 0; }, noncontiguous, wide);
    }
  }
}

// Where a window of another kind can be reached by loads, what is there is what the owner wrote (MPI-5.0, 12.2.3). The
// memory of the rank itself always is.
void query_of_other_kinds() {
  std::vector<int> own(4, 50 + rank);
  for (const bool created : {true, false}) {
    MPI_Win window;
    int* mine = own.data();
    if (created) {
      OK(MPI_Win_create(mine, 16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    } else {
      OK(MPI_Win_allocate(16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&mine), &window));
    }
    OK(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
    OK(MPI_Win_lock_all(0, window));
    std::fill_n(mine, 4, 50 + rank);
    windows::meet(window);
    for (int r = 0; r < size; ++r) {
      MPI_Aint bytes = -1;
      int unit = 4, *base = nullptr;
      OK(MPI_Win_shared_query(window, r, &bytes, &unit, static_cast<void*>(&base)));
      if (bytes == 0) {
        EXPECT(base == nullptr, "no bytes of rank %d, but at %p", r, static_cast<void*>(base));
      } else {
        EXPECT(bytes == 16 && unit == 4 && base[0] == 50 + r && base[3] == 50 + r, "rank %d: %ld bytes, %d", r,
               static_cast<long>(bytes), base[0]);
      }
      if (!created && windows::is_weft() && r == rank) EXPECT(base == mine, "%p", static_cast<void*>(base));
    }
    // The lowest rank that has any, or nothing: never another one's that happens to be nearer.
    MPI_Aint bytes = -1;
    int unit = 4, *base = nullptr;
    OK(MPI_Win_shared_query(window, MPI_PROC_NULL, &bytes, &unit, static_cast<void*>(&base)));
    EXPECT(bytes == 0 || (bytes == 16 && base[0] == 50), "%ld bytes, %d", static_cast<long>(bytes),
           bytes == 0 ? 0 : base[0]);
    windows::meet(window);
    OK(MPI_Win_unlock_all(window));
    OK(MPI_Win_free(&window));
  }
}

// ---- memory that comes and goes

void dynamic() {
  MPI_Win window;
  OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  expect_attributes(window, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
  OK(MPI_Win_lock_all(0, window));
  // Three pieces, the last two side by side in one array.
  std::vector<int> alone(100, -1), pair(200, -1);
  const std::vector<int*> pieces = {alone.data(), pair.data(), pair.data() + 100};
  for (int round = 0; round < 3; ++round) {
    std::fill(alone.begin(), alone.end(), -1);
    std::fill(pair.begin(), pair.end(), -1);
    MPI_Aint mine[3];
    std::vector<MPI_Aint> all(static_cast<size_t>(3 * size));
    for (size_t i = 0; i < 3; ++i) {
      OK(MPI_Win_attach(window, pieces[i], 100 * sizeof(int)));
      MPI_Get_address(pieces[i], &mine[i]);
    }
    MPI_Allgather(mine, 3, MPI_AINT, all.data(), 3, MPI_AINT, MPI_COMM_WORLD);
    windows::meet(window);
    const MPI_Aint* there = &all[static_cast<size_t>(3 * right())];
    std::vector<int> out(100), back(100), old(10);
    std::iota(out.begin(), out.end(), 1000 * rank + round);
    for (int i = 0; i < 3; ++i) {
      OK(MPI_Put(out.data(), 100 - i, MPI_INT, right(), there[i], 100 - i, MPI_INT, window));
    }
    OK(MPI_Win_flush(right(), window));
    const int one = 1;
    OK(MPI_Accumulate(&one, 1, MPI_INT, right(), MPI_Aint_add(there[1], 4), 1, MPI_INT, MPI_SUM, window));
    OK(MPI_Get_accumulate(out.data(), 10, MPI_INT, old.data(), 10, MPI_INT, right(), there[2] + 40, 10, MPI_INT,
                          MPI_SUM, window));
    OK(MPI_Get(back.data(), 100, MPI_INT, right(), there[0], 100, MPI_INT, window));
    OK(MPI_Win_flush_all(window));
    EXPECT(back == out, "%d ... %d", back.front(), back.back());
    EXPECT(std::equal(old.begin(), old.end(), out.begin() + 10), "%d ... %d", old.front(), old.back());
    windows::meet(window);
    const int first = 1000 * left() + round;
    for (int i = 0; i < 100; ++i) {
      const int plain = first + i, more = i >= 10 && i < 20 ? first + i - 10 : 0;
      EXPECT(alone[static_cast<size_t>(i)] == plain, "element %d is %d", i, alone[static_cast<size_t>(i)]);
      const int second = pair[static_cast<size_t>(i)], third = pair[static_cast<size_t>(100 + i)];
      EXPECT(second == (i == 99 ? -1 : plain + (i == 1 ? 1 : 0)), "element %d of the second is %d", i, second);
      EXPECT(third == (i >= 98 ? -1 : plain + more), "element %d of the third is %d", i, third);
    }
    windows::meet(window);
    for (size_t i = 0; i < 3; ++i) OK(MPI_Win_detach(window, pieces[round == 1 ? 2 - i : i]));
  }
  OK(MPI_Win_unlock_all(window));
  OK(MPI_Win_free(&window));
}

// Absolute addresses in the types, at both sides: MPI_BOTTOM at the origin, displacement 0 at the target.
void absolute_types() {
  std::vector<int> memory(50, -1), out(50);
  std::iota(out.begin(), out.end(), 100 * rank);
  MPI_Win window;
  OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  OK(MPI_Win_attach(window, memory.data(), static_cast<MPI_Aint>(memory.size() * sizeof(int))));
  MPI_Aint mine[2], there[2], here[2];
  MPI_Get_address(&memory[5], &mine[0]);
  MPI_Get_address(&memory[30], &mine[1]);
  MPI_Get_address(&out[0], &here[0]);
  MPI_Get_address(&out[20], &here[1]);
  MPI_Sendrecv(mine, 2, MPI_AINT, left(), 0, there, 2, MPI_AINT, right(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const int lengths[] = {10, 5};
  MPI_Datatype from, to;
  MPI_Type_create_hindexed(2, lengths, here, MPI_INT, &from);
  MPI_Type_create_hindexed(2, lengths, there, MPI_INT, &to);
  MPI_Type_commit(&from);
  MPI_Type_commit(&to);
  OK(MPI_Win_fence(0, window));
  OK(MPI_Put(MPI_BOTTOM, 1, from, right(), 0, 1, to, window));
  MPI_Type_free(&from);
  MPI_Type_free(&to);
  OK(MPI_Win_fence(0, window));
  for (int i = 0; i < 50; ++i) {
    int wanted = -1;
    if (i >= 5 && i < 15) wanted = 100 * left() + i - 5;
    if (i >= 30 && i < 35) wanted = 100 * left() + 20 + i - 30;
    EXPECT(memory[static_cast<size_t>(i)] == wanted, "element %d is %d, not %d", i, memory[static_cast<size_t>(i)],
           wanted);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_Win_detach(window, memory.data()));
  OK(MPI_Win_free(&window));
}

// Data may lie in several pieces of attached memory: in some that touch each other, attached in any order, and with
// what is not attached in a gap.
void several_regions() {
  constexpr int all = 50;
  std::vector<int> memory(all, -1), out(30), back(30), old(30);
  std::iota(out.begin(), out.end(), 100 * rank);
  MPI_Win window;
  OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  OK(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
  for (int first : {10, 0, 40}) OK(MPI_Win_attach(window, &memory[static_cast<size_t>(first)], 10 * sizeof(int)));
  MPI_Aint mine, there;
  MPI_Get_address(memory.data(), &mine);
  MPI_Sendrecv(&mine, 1, MPI_AINT, left(), 0, &there, 1, MPI_AINT, right(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Datatype apart;
  OK(MPI_Type_vector(2, 10, 30, MPI_INT, &apart));
  OK(MPI_Type_commit(&apart));
  const MPI_Aint at = there + 10 * static_cast<MPI_Aint>(sizeof(int));
  OK(MPI_Win_lock_all(0, window));
  OK(MPI_Put(out.data(), 20, MPI_INT, right(), there, 20, MPI_INT, window));
  OK(MPI_Win_flush(right(), window));
  OK(MPI_Put(out.data(), 20, MPI_INT, right(), at, 1, apart, window));
  OK(MPI_Win_flush(right(), window));
  const int ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  OK(MPI_Accumulate(ones, 10, MPI_INT, right(), there + 5 * static_cast<MPI_Aint>(sizeof(int)), 10, MPI_INT, MPI_SUM,
                    window));
  OK(MPI_Get_accumulate(nullptr, 0, MPI_INT, old.data(), 20, MPI_INT, right(), at, 1, apart, MPI_NO_OP, window));
  OK(MPI_Get(back.data(), 20, MPI_INT, right(), there, 20, MPI_INT, window));
  OK(MPI_Win_flush(right(), window));
  for (size_t i = 0; i < 20; ++i) {
    const int value = 100 * rank + static_cast<int>(i);
    const int first = (i < 10 ? value : value - 10) + (i >= 5 && i < 15 ? 1 : 0);
    EXPECT(back[i] == first, "element %zu is %d, not %d", i, back[i], first);
    EXPECT(old[i] == value + (i < 5 ? 1 : 0), "element %zu of the pieces was %d", i, old[i]);
  }
  windows::meet(window);
  EXPECT(std::count(memory.begin() + 20, memory.begin() + 40, -1) == 20, "something was written between");
  windows::meet(window);
  // One element more than is attached.
  const int error = MPI_Put(out.data(), 21, MPI_INT, right(), there, 21, MPI_INT, window);
  const int later = MPI_Win_flush(right(), window);
  if (windows::is_weft()) {
    int classes[2] = {};
    MPI_Error_class(error, &classes[0]);
    MPI_Error_class(later, &classes[1]);
    EXPECT(classes[0] == MPI_ERR_RMA_RANGE || classes[1] == MPI_ERR_RMA_RANGE, "%d, %d", classes[0], classes[1]);
    windows::meet(window);
    EXPECT(memory[20] == -1, "%d", memory[20]);
  }
  OK(MPI_Win_unlock_all(window));
  OK(MPI_Type_free(&apart));
  for (int first : {0, 10, 40}) OK(MPI_Win_detach(window, &memory[static_cast<size_t>(first)]));
  OK(MPI_Win_free(&window));
}

// More windows than anything is likely to have prepared, freed in another order, many times.
void many() {
  for (int round = 0; round < 3; ++round) {
    std::vector<MPI_Win> all(40);
    std::vector<int> memory(all.size(), -1);
    for (size_t i = 0; i < all.size(); ++i) {
      OK(MPI_Win_create(&memory[i], sizeof(int), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &all[i]));
    }
    for (MPI_Win window : all) OK(MPI_Win_fence(0, window));
    std::vector<int> out(all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      out[i] = static_cast<int>(i) + rank;
      OK(MPI_Put(&out[i], 1, MPI_INT, right(), 0, 1, MPI_INT, all[i]));
    }
    for (MPI_Win window : all) OK(MPI_Win_fence(0, window));
    for (size_t i = 0; i < all.size(); ++i)
      EXPECT(memory[i] == static_cast<int>(i) + left(), "window %zu: %d", i, memory[i]);
    for (size_t i = 0; i < all.size(); ++i) OK(MPI_Win_free(&all[(i * 7 + 3) % all.size()]));
  }
}

}  // namespace

int main(int argc, char** argv) {
  windows::start(&argc, &argv);
  created();
  allocated();
  sizes_of_zero();
  shared_of_all_shapes();
  dynamic();
  absolute_types();
  several_regions();
  many();
  query_of_other_kinds();
  return expect::finish();
}
