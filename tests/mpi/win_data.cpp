// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Puts, gets and accumulates of all layouts at both ends (MPI-5.0, 12.3): each pair of layouts carries the right
// elements to the right places and leaves the gaps alone. Nothing, nobody, oneself; much; with requests.
#include <array>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "windows.hpp"

using expect::rank;
using expect::size;
using windows::left;
using windows::right;
using windows::Window;

namespace {

// ---- layouts: each holds `elements` ints at `places` of a buffer of `room` ints

constexpr int elements = 24;
constexpr int room = 200;

struct Layout {
  std::string name;
  MPI_Datatype type;
  int count;
  std::vector<int> places;  // in ints from the start, in the order of the type
};

std::vector<Layout> make_layouts() {
  std::vector<Layout> all;
  auto add = [&](const char* name, MPI_Datatype type, int count, const std::function<int(int)>& place) {
    Layout layout{name, type, count, {}};
    for (int i = 0; i < elements; ++i) layout.places.push_back(place(i));
    MPI_Type_commit(&layout.type);
    all.push_back(layout);
  };
  MPI_Datatype type, inner, inner2;
  MPI_Type_dup(MPI_INT, &type);
  add("contiguous", type, elements, [](int i) { return i; });
  MPI_Type_vector(8, 3, 7, MPI_INT, &type);
  add("vector", type, 1, [](int i) { return i / 3 * 7 + i % 3; });
  MPI_Type_vector(4, 1, 3, MPI_INT, &inner);
  MPI_Type_create_resized(inner, 0, 12 * sizeof(int), &type);
  MPI_Type_free(&inner);
  add("vectors, several", type, 6, [](int i) { return i / 4 * 12 + i % 4 * 3; });
  const int lengths[] = {5, 0, 1, 18}, starts[] = {40, 3, 0, 10};
  MPI_Type_indexed(4, lengths, starts, MPI_INT, &type);
  add("indexed, out of order", type, 1, [](int i) { return i < 5 ? 40 + i : i == 5 ? 0 : 10 + i - 6; });
  const int sizes[] = {9, 10}, subsizes[] = {6, 4}, firsts[] = {2, 3};
  MPI_Type_create_subarray(2, sizes, subsizes, firsts, MPI_ORDER_C, MPI_INT, &type);
  add("subarray", type, 1, [](int i) { return (2 + i / 4) * 10 + 3 + i % 4; });
  const int block_lengths[] = {2, 10};
  const MPI_Aint bytes[] = {4, 100};
  const MPI_Datatype parts[] = {MPI_INT, MPI_INT};
  MPI_Type_create_struct(2, block_lengths, bytes, parts, &inner);
  MPI_Type_create_resized(inner, 0, 200, &type);
  MPI_Type_free(&inner);
  add("structs", type, 2, [](int i) { return i / 12 * 50 + (i % 12 < 2 ? 1 + i % 12 : 25 + i % 12 - 2); });
  // Backwards: the second of two comes before the first.
  MPI_Type_create_hvector(elements, 1, -8, MPI_INT, &inner);
  const MPI_Aint forward = 8 * (elements - 1);
  MPI_Type_create_hindexed_block(1, 1, &forward, inner, &type);
  MPI_Type_free(&inner);
  add("backwards", type, 1, [](int i) { return 2 * (elements - 1 - i); });
  MPI_Type_vector(2, 1, 2, MPI_INT, &inner);
  MPI_Type_create_hvector(3, 1, 20, inner, &inner2);
  MPI_Type_create_hvector(4, 1, 100, inner2, &type);
  MPI_Type_free(&inner);
  MPI_Type_free(&inner2);
  add("nested", type, 1, [](int i) { return i / 6 * 25 + i / 2 % 3 * 5 + i % 2 * 2; });
  return all;
}

void free_layouts(std::vector<Layout>& all) {
  for (Layout& layout : all) MPI_Type_free(&layout.type);
}

enum class Call {
  put,
  put_c,
  rput,
  get,
  get_c,
  rget,
  accumulate,
  accumulate_c,
  raccumulate,
  exchange,
  exchange_c,
  rexchange
};
constexpr std::array calls = {Call::put,         Call::put_c,    Call::rput,       Call::get,
                              Call::get_c,       Call::rget,     Call::accumulate, Call::accumulate_c,
                              Call::raccumulate, Call::exchange, Call::exchange_c, Call::rexchange};
constexpr std::array names = {"put",
                              "put_c",
                              "rput",
                              "get",
                              "get_c",
                              "rget",
                              "accumulate",
                              "accumulate_c",
                              "raccumulate",
                              "get_accumulate",
                              "get_accumulate_c",
                              "rget_accumulate"};

// Data and layouts of the origin, of the target's window, and of what a get_accumulate found there.
struct Ends {
  const void* out;
  void* in;
  const Layout *origin, *found, *target;
  MPI_Aint at;
};

void call(Call which, const Ends& e, int there, MPI_Win window) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int n = e.origin->count, m = e.target->count, f = e.found->count;
  switch (which) {
    case Call::put:
      OK(MPI_Put(e.out, n, e.origin->type, there, e.at, m, e.target->type, window));
      break;
    case Call::put_c:
      OK(MPI_Put_c(e.out, n, e.origin->type, there, e.at, m, e.target->type, window));
      break;
    case Call::rput:
      OK(MPI_Rput(e.out, n, e.origin->type, there, e.at, m, e.target->type, window, &request));
      break;
    case Call::get:
      OK(MPI_Get(e.in, f, e.found->type, there, e.at, m, e.target->type, window));
      break;
    case Call::get_c:
      OK(MPI_Get_c(e.in, f, e.found->type, there, e.at, m, e.target->type, window));
      break;
    case Call::rget:
      OK(MPI_Rget(e.in, f, e.found->type, there, e.at, m, e.target->type, window, &request));
      break;
    case Call::accumulate:
      OK(MPI_Accumulate(e.out, n, e.origin->type, there, e.at, m, e.target->type, MPI_SUM, window));
      break;
    case Call::accumulate_c:
      OK(MPI_Accumulate_c(e.out, n, e.origin->type, there, e.at, m, e.target->type, MPI_SUM, window));
      break;
    case Call::raccumulate:
      OK(MPI_Raccumulate(e.out, n, e.origin->type, there, e.at, m, e.target->type, MPI_SUM, window, &request));
      break;
    case Call::exchange:
      OK(MPI_Get_accumulate(e.out, n, e.origin->type, e.in, f, e.found->type, there, e.at, m, e.target->type, MPI_SUM,
                            window));
      break;
    case Call::exchange_c:
      OK(MPI_Get_accumulate_c(e.out, n, e.origin->type, e.in, f, e.found->type, there, e.at, m, e.target->type, MPI_SUM,
                              window));
      break;
    case Call::rexchange:
      OK(MPI_Rget_accumulate(e.out, n, e.origin->type, e.in, f, e.found->type, there, e.at, m, e.target->type, MPI_SUM,
                             window, &request));
      break;
  }
  if (request != MPI_REQUEST_NULL) OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

bool reads(Call which) {
  return which == Call::get || which == Call::get_c || which == Call::rget || which >= Call::exchange;
}
bool writes(Call which) {
  return !(which == Call::get || which == Call::get_c || which == Call::rget);
}
bool adds(Call which) {
  return which >= Call::accumulate;
}

// Element i of rank r before and after.
int before(int r, int i) {
  return 1000 * r + i;
}
int given(int r, int i) {
  return 100000 * (r + 1) + 3 * i;
}

void one_pair(Call which, const Layout& origin, const Layout& found, const Layout& target, Window<int>& window) {
  const std::string what = std::string(names[static_cast<size_t>(which)]) + ", " + origin.name + " to " + target.name;
  static constexpr int at = 10;
  std::vector<int> out(room, -7), in(room, -8);
  for (int i = 0; i < elements; ++i) out[static_cast<size_t>(origin.places[static_cast<size_t>(i)])] = given(rank, i);
  for (size_t i = 0; i < window.count(); ++i) window[i] = -9;
  for (int i = 0; i < elements; ++i)
    window[static_cast<size_t>(at + target.places[static_cast<size_t>(i)])] = before(rank, i);
  windows::meet(window);
  const Ends ends = {out.data(), in.data(), &origin, &found, &target, at};
  call(which, ends, right(), window);
  OK(MPI_Win_flush(right(), window));
  windows::meet(window);
  std::vector<int> wanted(window.count(), -9), wanted_in(room, -8);
  for (int i = 0; i < elements; ++i) {
    int& place = wanted[static_cast<size_t>(at + target.places[static_cast<size_t>(i)])];
    place = writes(which) ? given(left(), i) + (adds(which) ? before(rank, i) : 0) : before(rank, i);
    if (reads(which)) wanted_in[static_cast<size_t>(found.places[static_cast<size_t>(i)])] = before(right(), i);
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT(window[i] == wanted[i], "%s: int %zu of the window is %d, not %d", what.c_str(), i, window[i], wanted[i]);
  }
  for (size_t i = 0; i < wanted_in.size(); ++i) {
    EXPECT(in[i] == wanted_in[i], "%s: int %zu of the result is %d, not %d", what.c_str(), i, in[i], wanted_in[i]);
  }
}

void all_pairs() {
  std::vector<Layout> layouts = make_layouts();
  Window<int> window(room + 20);
  OK(MPI_Win_lock_all(0, window));
  for (size_t c = 0; c < calls.size(); ++c) {
    for (size_t o = 0; o < layouts.size(); ++o) {
      for (size_t t = 0; t < layouts.size(); ++t) {
        // All pairs for two calls, for the others some: the kinds of calls share their ways.
        if (calls[c] != Call::put && calls[c] != Call::exchange && (o + t + c) % 5 != 0) continue;
        one_pair(calls[c], layouts[o], layouts[(o + 3) % layouts.size()], layouts[t], window);
      }
    }
  }
  OK(MPI_Win_unlock_all(window));
  free_layouts(layouts);
}

// The program may free its types right after the call.
void types_freed_early() {
  Window<int> window(100, -1);
  std::vector<int> out(100);
  std::iota(out.begin(), out.end(), 100 * rank);
  OK(MPI_Win_fence(0, window));
  for (int i = 0; i < 10; ++i) {
    MPI_Datatype column;
    MPI_Type_vector(10, 1, 10, MPI_INT, &column);
    MPI_Type_commit(&column);
    OK(MPI_Put(&out[static_cast<size_t>(10 * i)], 10, MPI_INT, right(), i, 1, column, window));
    MPI_Type_free(&column);
  }
  OK(MPI_Win_fence(0, window));
  for (int i = 0; i < 100; ++i) {
    const int wanted = 100 * left() + i % 10 * 10 + i / 10;
    EXPECT(window[static_cast<size_t>(i)] == wanted, "int %d is %d, not %d", i, window[static_cast<size_t>(i)], wanted);
  }
}

// ---- elements of several types at once

struct Record {
  double number;
  int32_t count;
  char letter;
  int16_t few[2];
};

void records() {
  MPI_Datatype plain, type;
  const int lengths[] = {1, 1, 1, 2};
  const MPI_Aint places[] = {offsetof(Record, number), offsetof(Record, count), offsetof(Record, letter),
                             offsetof(Record, few)};
  const MPI_Datatype parts[] = {MPI_DOUBLE, MPI_INT32_T, MPI_CHAR, MPI_INT16_T};
  MPI_Type_create_struct(4, lengths, places, parts, &plain);
  MPI_Type_create_resized(plain, 0, sizeof(Record), &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&plain);
  Window<Record> window(300);
  std::vector<Record> out(300), back(300);
  for (int i = 0; i < 300; ++i) {
    const auto few = static_cast<int16_t>(i);
    out[static_cast<size_t>(i)] = {
        0.5 * i + rank, i - rank, static_cast<char>('a' + i % 26), {few, static_cast<int16_t>(-few)}};
  }
  OK(MPI_Win_fence(0, window));
  OK(MPI_Put(out.data(), 300, type, right(), 0, 300, type, window));
  OK(MPI_Win_fence(0, window));
  OK(MPI_Get(back.data(), 300, type, right(), 0, 300, type, window));
  OK(MPI_Win_fence(0, window));
  for (int i = 0; i < 300; ++i) {
    const Record &here = window[static_cast<size_t>(i)], &mine = back[static_cast<size_t>(i)];
    EXPECT(here.number == 0.5 * i + left() && here.count == i - left() && here.letter == 'a' + i % 26 &&
               here.few[0] == i && here.few[1] == -i,
           "record %d: %g, %d, %c", i, here.number, here.count, here.letter);
    EXPECT(mine.number == 0.5 * i + rank && mine.count == i - rank && mine.few[1] == -i, "record %d: %g, %d", i,
           mine.number, mine.count);
  }
  MPI_Type_free(&type);
}

// ---- nothing, nobody, oneself

void nothing() {
  Window<int> window(4, 3);
  MPI_Datatype empty;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  int value = 5, got = 6;
  MPI_Request requests[4];
  OK(MPI_Win_lock_all(0, window));
  for (const int there : {right(), int{MPI_PROC_NULL}}) {
    const int count = there == MPI_PROC_NULL ? 1 : 0;
    OK(MPI_Put(&value, count, MPI_INT, there, 0, count, MPI_INT, window));
    OK(MPI_Get(&got, count, MPI_INT, there, 0, count, MPI_INT, window));
    OK(MPI_Accumulate(&value, count, MPI_INT, there, 0, count, MPI_INT, MPI_SUM, window));
    OK(MPI_Get_accumulate(&value, count, MPI_INT, &got, count, MPI_INT, there, 0, count, MPI_INT, MPI_SUM, window));
    OK(MPI_Rput(&value, count, MPI_INT, there, 0, count, MPI_INT, window, &requests[0]));
    OK(MPI_Rget(&got, count, MPI_INT, there, 0, count, MPI_INT, window, &requests[1]));
    OK(MPI_Raccumulate(&value, count, MPI_INT, there, 0, count, MPI_INT, MPI_SUM, window, &requests[2]));
    OK(MPI_Rget_accumulate(&value, count, MPI_INT, &got, count, MPI_INT, there, 0, count, MPI_INT, MPI_SUM, window,
                           &requests[3]));
    OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
  }
  OK(MPI_Fetch_and_op(&value, &got, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, window));
  OK(MPI_Compare_and_swap(&value, &value, &got, MPI_INT, MPI_PROC_NULL, 0, window));
  OK(MPI_Put(&value, 100, empty, right(), 0, 7, empty, window));
  OK(MPI_Put(nullptr, 0, MPI_INT, right(), 4, 0, MPI_INT, window));  // just past the end
  OK(MPI_Win_flush(right(), window));
  OK(MPI_Win_unlock_all(window));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, window));
  OK(MPI_Win_flush(MPI_PROC_NULL, window));
  OK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window));
  OK(MPI_Win_unlock(MPI_PROC_NULL, window));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(got == 6, "%d was received from nobody", got);
  for (size_t i = 0; i < 4; ++i) EXPECT(window[i] == 3, "int %zu is %d", i, window[i]);
  MPI_Type_free(&empty);
}

// One's own memory is a target as any: from one end of it to the other.
void oneself() {
  Window<int> window(1000);
  OK(MPI_Win_fence(0, window));
  for (size_t i = 0; i < 500; ++i) window[i] = rank + static_cast<int>(i);
  OK(MPI_Win_fence(0, window));
  OK(MPI_Put(window.data(), 250, MPI_INT, rank, 500, 250, MPI_INT, window));
  OK(MPI_Get(window.data() + 750, 250, MPI_INT, rank, 250, 250, MPI_INT, window));
  OK(MPI_Win_fence(0, window));
  for (size_t i = 0; i < 1000; ++i)
    EXPECT(window[i] == rank + static_cast<int>(i % 500), "int %zu is %d", i, window[i]);
}

// ---- much

void large(bool in_order) {
  static constexpr int count = 1 << 18;  // of int64_t: 2 MiB, with gaps 4 MiB
  Window<int64_t> window(2 * count, -1);
  MPI_Datatype every_other;
  MPI_Type_vector(count, 1, 2, MPI_INT64_T, &every_other);
  MPI_Type_commit(&every_other);
  std::vector<int64_t> out(2 * count), in(2 * count, -2);
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int64_t>(i) * 3 + rank;
  OK(MPI_Win_fence(0, window));
  if (in_order) {
    OK(MPI_Put(out.data(), 2 * count, MPI_INT64_T, right(), 0, 2 * count, MPI_INT64_T, window));
  } else {
    OK(MPI_Put(out.data(), count, MPI_INT64_T, right(), 0, 1, every_other, window));
    OK(MPI_Put(out.data() + count, count, MPI_INT64_T, right(), 1, 1, every_other, window));
  }
  OK(MPI_Win_fence(0, window));
  int64_t wrong = 0;
  for (int64_t i = 0; i < 2 * count; ++i) {
    const int64_t k = in_order ? i : i % 2 * count + i / 2;
    wrong += window[static_cast<size_t>(i)] != k * 3 + left();
  }
  EXPECT(wrong == 0, "%ld elements are wrong after the put", static_cast<long>(wrong));
  OK(MPI_Win_fence(0, window));  // all have looked
  OK(MPI_Accumulate(out.data(), count, MPI_INT64_T, right(), 1, 1, every_other, MPI_SUM, window));
  OK(MPI_Win_fence(0, window));
  OK(MPI_Get_accumulate(out.data(), count, MPI_INT64_T, in.data(), 1, every_other, right(), 0, count, MPI_INT64_T,
                        MPI_MIN, window));
  OK(MPI_Win_fence(0, window));
  // The value before the minimum: every second element had been increased.
  wrong = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t k = in_order ? i : i % 2 * count + i / 2;
    const int64_t wanted = k * 3 + rank + (i % 2 == 1 ? i / 2 * 3 + rank : 0);
    wrong += in[static_cast<size_t>(2 * i)] != wanted || in[static_cast<size_t>(2 * i + 1)] != -2;
  }
  EXPECT(wrong == 0, "%ld elements are wrong after the get_accumulate", static_cast<long>(wrong));
  std::fill(in.begin(), in.end(), -3);
  OK(MPI_Get(in.data(), 1, every_other, right(), count, count, MPI_INT64_T, window));
  OK(MPI_Win_fence(0, window));
  wrong = 0;
  for (int64_t i = count; i < 2 * count; ++i) {
    const int64_t k = in_order ? i : i % 2 * count + i / 2;
    wrong += in[static_cast<size_t>(2 * (i - count))] != k * 3 + rank + (i % 2 == 1 ? i / 2 * 3 + rank : 0);
  }
  EXPECT(wrong == 0, "%ld elements are wrong after the get", static_cast<long>(wrong));
  MPI_Type_free(&every_other);
}

// Large puts and gets in both directions at the same time, begun in another order on each side. The memory is the
// program's own, so that they go as messages where it cannot be reached.
void large_both_ways() {
  static constexpr int count = 20000;
  std::vector<int> memory(2 * count), out(count), in(count);
  std::iota(memory.begin() + count, memory.end(), 1000000 * rank);  // for gets; puts go before it
  MPI_Win window = MPI_WIN_NULL;
  OK(MPI_Win_create(memory.data(), 2 * count * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  OK(MPI_Win_lock_all(0, window));
  for (int round = 0; round < 40; ++round) {
    std::fill(in.begin(), in.end(), -1);
    std::fill(out.begin(), out.end(), 1000 * round + rank);
    const bool get_first = (rank + round) % 2 == 0;
    if (get_first) OK(MPI_Get(in.data(), count, MPI_INT, right(), count, count, MPI_INT, window));
    OK(MPI_Put(out.data(), count, MPI_INT, right(), 0, count, MPI_INT, window));
    if (!get_first) OK(MPI_Get(in.data(), count, MPI_INT, right(), count, count, MPI_INT, window));
    OK(MPI_Win_flush(right(), window));
    windows::meet(window);
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      if (in[at] == 1000000 * right() + i && memory[at] == 1000 * round + left()) continue;
      EXPECT(false, "round %d: int %d that was got is %d, that was put %d", round, i, in[at], memory[at]);
      break;
    }
    windows::meet(window);
  }
  OK(MPI_Win_unlock_all(window));
  OK(MPI_Win_free(&window));
}

// ---- requests

void requests() {
  static constexpr int many = 60;
  Window<int> window(many * 100, -1);
  std::vector<int> out(many * 100), in(many * 100, -2), old(many, -3);
  std::iota(out.begin(), out.end(), 10000 * rank);
  std::vector<MPI_Request> all(many);
  OK(MPI_Win_lock_all(0, window));
  for (int i = 0; i < many; ++i) {
    OK(MPI_Rput(&out[static_cast<size_t>(100 * i)], 100, MPI_INT, right(), 100 * i, 100, MPI_INT, window,
                &all[static_cast<size_t>(i)]));
  }
  OK(MPI_Waitall(many, all.data(), MPI_STATUSES_IGNORE));
  std::fill(out.begin(), out.end(), 1);  // the origin's memory is free again
  OK(MPI_Win_flush(right(), window));
  for (int i = 0; i < many; ++i) {
    OK(MPI_Rget(&in[static_cast<size_t>(100 * i)], 100, MPI_INT, right(), 100 * i, 100, MPI_INT, window,
                &all[static_cast<size_t>(i)]));
  }
  for (int done = 0; done < many;) {
    int index = 0;
    MPI_Status status;
    OK(MPI_Waitany(many, all.data(), &index, &status));
    EXPECT(in[static_cast<size_t>(100 * index + 99)] == 10000 * rank + 100 * index + 99, "%d: %d", index,
           in[static_cast<size_t>(100 * index + 99)]);
    ++done;
  }
  windows::meet(window);
  for (int i = 0; i < many * 100; ++i) {
    EXPECT(window[static_cast<size_t>(i)] == 10000 * left() + i, "int %d is %d", i, window[static_cast<size_t>(i)]);
  }
  windows::meet(window);
  for (int i = 0; i < many; ++i) {
    const auto k = static_cast<size_t>(i);
    if (i % 2 == 0) {
      OK(MPI_Rget_accumulate(&out[k], 1, MPI_INT, &old[k], 1, MPI_INT, right(), i, 1, MPI_INT, MPI_SUM, window,
                             &all[k]));
    } else {
      OK(MPI_Raccumulate(&out[k], 1, MPI_INT, right(), i, 1, MPI_INT, MPI_SUM, window, &all[k]));
    }
  }
  for (int i = many - 1; i >= 0; --i) {
    const auto k = static_cast<size_t>(i);
    for (int flag = 0; flag == 0;) OK(MPI_Test(&all[k], &flag, MPI_STATUS_IGNORE));
    EXPECT(old[k] == (i % 2 == 0 ? 10000 * rank + i : -3), "%d: %d", i, old[k]);
  }
  // A request that nobody waits for; flush completes its operation.
  int last = 77;
  MPI_Request request;
  OK(MPI_Rput(&last, 1, MPI_INT, right(), many, 1, MPI_INT, window, &request));
  OK(MPI_Win_flush_all(window));
  int flag = 0;
  OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  windows::meet(window);
  for (int i = 0; i < many; ++i) {
    EXPECT(window[static_cast<size_t>(i)] == 10000 * left() + i + 1, "int %d is %d", i, window[static_cast<size_t>(i)]);
  }
  EXPECT(window[many] == 77, "%d", window[many]);
  OK(MPI_Win_unlock_all(window));
}

// Many small ones under way at once, by all ranks to all ranks, between two fences and under locks.
void many_small() {
  static constexpr int many = 400;
  Window<int> window(static_cast<size_t>(many * size), -1);
  std::vector<int> out(static_cast<size_t>(many * size)), in(out.size(), -2);
  std::iota(out.begin(), out.end(), 100000 * rank);
  OK(MPI_Win_fence(0, window));
  for (int i = 0; i < many; ++i) {
    for (int r = 0; r < size; ++r) {
      OK(MPI_Put(&out[static_cast<size_t>(i * size + r)], 1, MPI_INT, r, rank * many + i, 1, MPI_INT, window));
    }
  }
  OK(MPI_Win_fence(0, window));
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i < many; ++i) {
      const int value = window[static_cast<size_t>(r * many + i)];
      EXPECT(value == 100000 * r + i * size + rank, "int %d of rank %d is %d", i, r, value);
    }
  }
  for (int i = 0; i < many; ++i) {
    for (int r = 0; r < size; ++r) {
      OK(MPI_Get(&in[static_cast<size_t>(i * size + r)], 1, MPI_INT, r, rank * many + i, 1, MPI_INT, window));
    }
  }
  OK(MPI_Win_fence(0, window));
  EXPECT(in == out, "%d ... %d", in.front(), in.back());
}

}  // namespace

int main(int argc, char** argv) {
  windows::start(&argc, &argv);
  all_pairs();
  types_freed_early();
  records();
  nothing();
  oneself();
  large(true);
  large(false);
  large_both_ways();
  requests();
  many_small();
  return expect::finish();
}
