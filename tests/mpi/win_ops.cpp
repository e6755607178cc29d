// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Accumulating operations (MPI-5.0, 12.3.4 and 12.3.5): every predefined operation on every predefined datatype, at the
// target and with what was there before; that concurrent ones lose nothing, and that those of one rank keep their
// order.
#include <algorithm>
#include <complex>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "windows.hpp"

using expect::rank;
using expect::size;
using windows::right;
using windows::Window;

namespace {

__extension__ using Int128 = __int128;
#if defined(__SIZEOF_FLOAT128__)
__extension__ using Float128 = __float128;
#else
using Float128 = long double;
#endif

enum Operation { sum, prod, min, max, band, bor, bxor, land, lor, lxor, minloc, maxloc, replace, no_op, operations };

MPI_Op op_of(int op) {
  static const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MIN,  MPI_MAX,    MPI_BAND,   MPI_BOR,     MPI_BXOR,
                               MPI_LAND, MPI_LOR,  MPI_LXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
  return ops[op];
}

enum Group { integer, floating, complex, logical, byte, pair, none };

bool allowed(Group group, int op) {
  if (op >= replace) return true;
  switch (group) {
    case integer:
      return op <= lxor;
    case floating:
      return op <= max;
    case complex:
      return op <= prod;
    case logical:
      return op >= land && op <= lxor;
    case byte:
      return op >= band && op <= bxor;
    case pair:
      return op == minloc || op == maxloc;
    default:
      return false;
  }
}

template <class T>
constexpr bool is_complex = false;
template <class T>
constexpr bool is_complex<std::complex<T>> = true;

// The target's value after `b` was combined with `a` from the origin.
template <class T>
T naive(int op, T a, T b) {
  if (op == sum) return static_cast<T>(a + b);
  if (op == prod) return static_cast<T>(a * b);
  if constexpr (!is_complex<T>) {
    if (op == min) return a < b ? a : b;
    if (op == max) return a > b ? a : b;
    if (op == land) return static_cast<T>(a != 0 && b != 0);
    if (op == lor) return static_cast<T>(a != 0 || b != 0);
    if (op == lxor) return static_cast<T>((a != 0) != (b != 0));
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, Int128>) {
      if (op == band) return static_cast<T>(a & b);
      if (op == bor) return static_cast<T>(a | b);
      if (op == bxor) return static_cast<T>(a ^ b);
    }
  }
  return b;
}

// Every operation on all pairs of `values`: by accumulate, get_accumulate and, for single elements, fetch_and_op.
template <class T, class Wanted>
void check(MPI_Datatype type, const char* name, Group group, const std::vector<T>& values, Wanted wanted) {
  std::vector<T> a, b;
  for (const T& x : values) {
    for (const T& y : values) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const int count = static_cast<int>(a.size());
  Window<T> window(3 * a.size());
  OK(MPI_Win_lock_all(0, window));
  for (int op = 0; op < operations; ++op) {
    if (!allowed(group, op)) continue;
    std::vector<T> old(a.size(), T()), fetched(a.size(), T());
    for (size_t i = 0; i < window.count(); ++i) window[i] = b[i % b.size()];
    windows::meet(window);
    // MPI_NO_OP is for those that fetch.
    if (op != no_op) OK(MPI_Accumulate(a.data(), count, type, right(), 0, count, type, op_of(op), window));
    const T* none_needed = op == no_op ? nullptr : a.data();
    OK(MPI_Get_accumulate(none_needed, op == no_op ? 0 : count, type, old.data(), count, type, right(), count, count,
                          type, op_of(op), window));
    for (int i = 0; i < count; ++i) {
      const auto k = static_cast<size_t>(i);
      OK(MPI_Fetch_and_op(&a[k], &fetched[k], type, right(), 2 * count + i, op_of(op), window));
    }
    OK(MPI_Win_flush(right(), window));
    windows::meet(window);
    for (size_t i = 0; i < a.size(); ++i) {
      T result = op == replace ? a[i] : op == no_op ? b[i] : wanted(op, a[i], b[i]);
      EXPECT(old[i] == b[i], "%s, operation %d: get_accumulate found another element %zu", name, op, i);
      EXPECT(fetched[i] == b[i], "%s, operation %d: fetch_and_op found another element %zu", name, op, i);
      EXPECT(window[a.size() + i] == result, "%s, operation %d: get_accumulate left another element %zu", name, op, i);
      EXPECT(window[2 * a.size() + i] == result, "%s, operation %d: fetch_and_op left another element %zu", name, op,
             i);
      EXPECT(window[i] == result, "%s, operation %d: accumulate left another element %zu", name, op, i);
    }
    windows::meet(window);
  }
  OK(MPI_Win_unlock_all(window));
}

template <class T>
void check_numbers(MPI_Datatype type, const char* name, Group group) {
  check<T>(type, name, group, {T(0), T(1), T(2), T(3), T(5)}, [](int op, T a, T b) { return naive(op, a, b); });
}

#define CHECK(type, T, group) check_numbers<T>(type, #type, group)

void integers() {
  CHECK(MPI_INT, int, integer);
  CHECK(MPI_LONG, long, integer);
  CHECK(MPI_SHORT, short, integer);
  CHECK(MPI_UNSIGNED_SHORT, unsigned short, integer);
  CHECK(MPI_UNSIGNED, unsigned, integer);
  CHECK(MPI_UNSIGNED_LONG, unsigned long, integer);
  CHECK(MPI_LONG_LONG, long long, integer);
  CHECK(MPI_UNSIGNED_LONG_LONG, unsigned long long, integer);
  CHECK(MPI_SIGNED_CHAR, signed char, integer);
  CHECK(MPI_UNSIGNED_CHAR, unsigned char, integer);
  CHECK(MPI_INT8_T, int8_t, integer);
  CHECK(MPI_INT16_T, int16_t, integer);
  CHECK(MPI_INT32_T, int32_t, integer);
  CHECK(MPI_INT64_T, int64_t, integer);
  CHECK(MPI_UINT8_T, uint8_t, integer);
  CHECK(MPI_UINT16_T, uint16_t, integer);
  CHECK(MPI_UINT32_T, uint32_t, integer);
  CHECK(MPI_UINT64_T, uint64_t, integer);
  CHECK(MPI_AINT, MPI_Aint, integer);
  CHECK(MPI_OFFSET, MPI_Offset, integer);
  CHECK(MPI_COUNT, MPI_Count, integer);
  CHECK(MPI_BYTE, unsigned char, byte);
  check<uint8_t>(MPI_C_BOOL, "MPI_C_BOOL", logical, {0, 1},
                 [](int op, uint8_t a, uint8_t b) { return naive(op, a, b); });
  CHECK(MPI_CHAR, char, none);
  CHECK(MPI_WCHAR, wchar_t, none);
}

// The wheels of other libraries were built without Fortran.
void fortran() {
  CHECK(MPI_INTEGER, int32_t, integer);
  CHECK(MPI_INTEGER1, int8_t, integer);
  CHECK(MPI_INTEGER2, int16_t, integer);
  CHECK(MPI_INTEGER4, int32_t, integer);
  CHECK(MPI_INTEGER8, int64_t, integer);
  CHECK(MPI_INTEGER16, Int128, integer);
  CHECK(MPI_LOGICAL, int32_t, logical);
  CHECK(MPI_LOGICAL1, int8_t, logical);
  CHECK(MPI_LOGICAL8, int64_t, logical);
  CHECK(MPI_REAL, float, floating);
  CHECK(MPI_DOUBLE_PRECISION, double, floating);
  CHECK(MPI_REAL4, float, floating);
  CHECK(MPI_REAL8, double, floating);
  CHECK(MPI_REAL16, Float128, floating);
  CHECK(MPI_COMPLEX, std::complex<float>, complex);
  CHECK(MPI_DOUBLE_COMPLEX, std::complex<double>, complex);
  CHECK(MPI_CHARACTER, char, none);
}

void numbers() {
  CHECK(MPI_FLOAT, float, floating);
  CHECK(MPI_DOUBLE, double, floating);
  CHECK(MPI_LONG_DOUBLE, long double, floating);
  CHECK(MPI_C_FLOAT_COMPLEX, std::complex<float>, complex);
  CHECK(MPI_C_DOUBLE_COMPLEX, std::complex<double>, complex);
  CHECK(MPI_C_LONG_DOUBLE_COMPLEX, std::complex<long double>, complex);
  using Z = std::complex<double>;
  check<Z>(MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", complex, {Z(1, 2), Z(-3, 0.5), Z(0, 1)},
           [](int op, Z a, Z b) { return naive(op, a, b); });
}

template <class Value>
void check_pair(MPI_Datatype type, const char* name) {
  struct Pair {
    Value value;
    int index;
    bool operator==(const Pair& other) const { return value == other.value && index == other.index; }
  };
  check<Pair>(type, name, pair, {{Value(1), 5}, {Value(1), 3}, {Value(2), 1}, {Value(0), 9}},
              [](int op, Pair a, Pair b) {
                const bool better = op == minloc ? a.value < b.value : a.value > b.value;
                return better || (a.value == b.value && a.index < b.index) ? a : b;
              });
}

void pairs() {
  check_pair<float>(MPI_FLOAT_INT, "MPI_FLOAT_INT");
  check_pair<double>(MPI_DOUBLE_INT, "MPI_DOUBLE_INT");
  check_pair<long>(MPI_LONG_INT, "MPI_LONG_INT");
  check_pair<int>(MPI_2INT, "MPI_2INT");
  check_pair<short>(MPI_SHORT_INT, "MPI_SHORT_INT");
  check_pair<long double>(MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT");
}

// ---- compare and swap

template <class T>
void swaps(MPI_Datatype type, const char* name) {
  Window<T> window(2, T(1));
  T found = T(99);
  const T one = T(1), two = T(2), three = T(3);
  OK(MPI_Win_lock_all(0, window));
  windows::meet(window);
  OK(MPI_Compare_and_swap(&two, &one, &found, type, right(), 1, window));
  OK(MPI_Win_flush(right(), window));
  EXPECT(found == T(1), "%s: not what was there", name);
  OK(MPI_Compare_and_swap(&three, &one, &found, type, right(), 1, window));  // it is 2 by now
  OK(MPI_Win_flush(right(), window));
  EXPECT(found == T(2), "%s: not what was there the second time", name);
  windows::meet(window);
  EXPECT(window[0] == T(1) && window[1] == T(2), "%s: wrongly swapped", name);
  OK(MPI_Win_unlock_all(window));
}

void swaps_of_all_types() {
#define SWAPS(type, T) swaps<T>(type, #type)
  SWAPS(MPI_INT, int);
  SWAPS(MPI_LONG, long);
  SWAPS(MPI_SHORT, short);
  SWAPS(MPI_UNSIGNED, unsigned);
  SWAPS(MPI_INT8_T, int8_t);
  SWAPS(MPI_UINT16_T, uint16_t);
  SWAPS(MPI_UINT32_T, uint32_t);
  SWAPS(MPI_INT64_T, int64_t);
  SWAPS(MPI_UINT64_T, uint64_t);
  SWAPS(MPI_AINT, MPI_Aint);
  SWAPS(MPI_OFFSET, MPI_Offset);
  SWAPS(MPI_COUNT, MPI_Count);
  SWAPS(MPI_BYTE, unsigned char);
  SWAPS(MPI_C_BOOL, bool);
}

// ---- all at once

// Sums of all ranks into the same elements: small, and of more than any one message carries, also where they lie apart.
void sums_of_all(int count) {
  Window<int64_t> window(static_cast<size_t>(2 * count));
  MPI_Datatype every_other;
  MPI_Type_vector(count, 1, 2, MPI_INT64_T, &every_other);
  MPI_Type_commit(&every_other);
  std::vector<int64_t> out(static_cast<size_t>(count));
  std::iota(out.begin(), out.end(), rank);
  OK(MPI_Win_lock_all(0, window));
  windows::meet(window);
  for (int r = 0; r < size; ++r) {
    OK(MPI_Accumulate(out.data(), count, MPI_INT64_T, r, 0, count, MPI_INT64_T, MPI_SUM, window));
    OK(MPI_Accumulate(out.data(), count, MPI_INT64_T, r, 0, 1, every_other, MPI_SUM, window));
  }
  OK(MPI_Win_flush_all(window));
  windows::meet(window);
  const int64_t ranks = int64_t{size} * (size - 1) / 2;
  int64_t wrong = 0;
  for (int64_t i = 0; i < 2 * count; ++i) {
    int64_t wanted = i < count ? i * size + ranks : 0;
    if (i % 2 == 0) wanted += i / 2 * size + ranks;
    wrong += window[static_cast<size_t>(i)] != wanted;
  }
  EXPECT(wrong == 0, "%ld of %d sums are wrong, the first is %ld", static_cast<long>(wrong), 2 * count,
         static_cast<long>(window[0]));
  OK(MPI_Win_unlock_all(window));
  MPI_Type_free(&every_other);
}

// Tickets: nobody draws one that another has, and all are drawn.
void tickets() {
  static constexpr int each = 100;
  Window<int> window(1);
  std::vector<int> mine(each, -1), all(static_cast<size_t>(each * size));
  OK(MPI_Win_lock_all(0, window));
  const int one = 1;
  for (int i = 0; i < each; ++i) {
    const auto k = static_cast<size_t>(i);
    if (i % 2 == 0) {
      OK(MPI_Fetch_and_op(&one, &mine[k], MPI_INT, 0, 0, MPI_SUM, window));
    } else {
      OK(MPI_Get_accumulate(&one, 1, MPI_INT, &mine[k], 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window));
    }
    if (i % 10 == 9) OK(MPI_Win_flush(0, window));
  }
  OK(MPI_Win_unlock_all(window));
  for (int i = 1; i < each; ++i) {
    const auto k = static_cast<size_t>(i);
    EXPECT(mine[k] > mine[k - 1], "ticket %d after %d", mine[k], mine[k - 1]);
  }
  MPI_Allgather(mine.data(), each, MPI_INT, all.data(), each, MPI_INT, MPI_COMM_WORLD);
  std::sort(all.begin(), all.end());
  for (int i = 0; i < each * size; ++i)
    EXPECT(all[static_cast<size_t>(i)] == i, "ticket %d is %d", i, all[static_cast<size_t>(i)]);
}

// A lock of the program's own, made of compare-and-swap, that protects a sum made of gets and puts.
void own_lock() {
  static constexpr int rounds = 10;
  Window<int> window(2);
  const int nobody = 0, me = rank + 1;
  OK(MPI_Win_lock_all(0, window));
  for (int i = 0; i < rounds; ++i) {
    for (int found = -1; found != nobody;) {
      OK(MPI_Compare_and_swap(&me, &nobody, &found, MPI_INT, 0, 0, window));
      OK(MPI_Win_flush(0, window));
    }
    int value = -1, holder = -1;
    OK(MPI_Get(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, window));
    OK(MPI_Win_flush(0, window));
    ++value;
    OK(MPI_Put(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, window));
    OK(MPI_Win_flush(0, window));
    OK(MPI_Fetch_and_op(&nobody, &holder, MPI_INT, 0, 0, MPI_REPLACE, window));
    OK(MPI_Win_flush(0, window));
    EXPECT(holder == me, "held by %d", holder);
  }
  windows::meet(window);
  if (rank == 0) EXPECT(window[1] == rounds * size, "%d, not %d", window[1], rounds * size);
  OK(MPI_Win_unlock_all(window));
}

// Pairs of 16 bytes and more are one element: nobody sees half of one.
void whole_elements() {
  using Z = std::complex<double>;
  Window<Z> window(1, Z(0, 0));
  OK(MPI_Win_lock_all(0, window));
  for (int i = 0; i < 100; ++i) {
    const Z mine(rank + size * i, rank + size * i);
    Z found(-1, -2);
    OK(MPI_Fetch_and_op(&mine, &found, MPI_C_DOUBLE_COMPLEX, 0, 0, i % 3 == 2 ? MPI_NO_OP : MPI_REPLACE, window));
    OK(MPI_Win_flush(0, window));
    EXPECT(found.real() == found.imag(), "%g and %g", found.real(), found.imag());
  }
  OK(MPI_Win_unlock_all(window));
}

// ---- the order of one rank's operations on the same elements (12.7.2)

void order(int count) {
  Window<int64_t> window(static_cast<size_t>(count), 1);
  std::vector<int64_t> two(static_cast<size_t>(count), 2), five(two.size(), 5), ten(two.size(), 10);
  std::vector<std::vector<int64_t>> old(6, std::vector<int64_t>(two.size(), -1));
  const auto n = static_cast<size_t>(count);
  OK(MPI_Win_lock_all(0, window));
  windows::meet(window);
  auto exchange = [&](const std::vector<int64_t>& out, size_t found, MPI_Op op) {
    OK(MPI_Get_accumulate(out.data(), count, MPI_INT64_T, old[found].data(), count, MPI_INT64_T, right(), 0, count,
                          MPI_INT64_T, op, window));
  };
  exchange(two, 0, MPI_NO_OP);     // 1
  exchange(five, 1, MPI_REPLACE);  // 1, then 5: a write after a read
  OK(MPI_Accumulate(two.data(), count, MPI_INT64_T, right(), 0, count, MPI_INT64_T, MPI_PROD, window));  // 10
  exchange(two, 2, MPI_NO_OP);  // a read after a write
  OK(MPI_Accumulate(two.data(), count, MPI_INT64_T, right(), 0, count, MPI_INT64_T, MPI_SUM, window));  // 12
  OK(MPI_Accumulate(ten.data(), count, MPI_INT64_T, right(), 0, count, MPI_INT64_T, MPI_MIN, window));  // 10
  exchange(five, 3, MPI_SUM);                                                                           // 15
  OK(MPI_Accumulate(two.data(), count, MPI_INT64_T, right(), 0, count, MPI_INT64_T, MPI_REPLACE, window));
  exchange(five, 4, MPI_PROD);  // 10
  // One element of many, by the call for one.
  OK(MPI_Fetch_and_op(five.data(), old[5].data(), MPI_INT64_T, right(), count - 1, MPI_SUM, window));
  OK(MPI_Accumulate(two.data(), 1, MPI_INT64_T, right(), count - 1, 1, MPI_INT64_T, MPI_PROD, window));
  OK(MPI_Win_flush(right(), window));
  windows::meet(window);
  static const int64_t wanted[] = {1, 1, 10, 10, 2};
  for (size_t s = 0; s < 5; ++s) {
    EXPECT(std::count(old[s].begin(), old[s].end(), wanted[s]) == count, "of %d, step %zu found %ld, not %ld", count, s,
           static_cast<long>(old[s][0]), static_cast<long>(wanted[s]));
  }
  EXPECT(old[5][0] == 10, "of %d, %ld", count, static_cast<long>(old[5][0]));
  for (size_t i = 0; i < n; ++i) {
    EXPECT(window[i] == (i == n - 1 ? 30 : 10), "of %d, element %zu is %ld", count, i, static_cast<long>(window[i]));
  }
  OK(MPI_Win_unlock_all(window));
}

// Large operations and small ones, on whole arrays and on layouts, must not overtake each other.
void order_of_sizes() {
  static constexpr int count = 1 << 16;
  Window<int32_t> window(2 * count);
  MPI_Datatype every_other;
  MPI_Type_vector(count, 1, 2, MPI_INT32_T, &every_other);
  MPI_Type_commit(&every_other);
  OK(MPI_Win_lock_all(0, window));
  windows::meet(window);
  for (int round = 1; round <= 10; ++round) {
    std::vector<int32_t> big(2 * count, round), found(2 * count, -1);
    const int32_t small = 100 * round;
    int32_t got = -1;
    OK(MPI_Accumulate(big.data(), 2 * count, MPI_INT32_T, right(), 0, 2 * count, MPI_INT32_T, MPI_REPLACE, window));
    OK(MPI_Accumulate(&small, 1, MPI_INT32_T, right(), 2 * count - 2, 1, MPI_INT32_T, MPI_SUM, window));
    OK(MPI_Accumulate(big.data(), count, MPI_INT32_T, right(), 0, 1, every_other, MPI_SUM, window));
    OK(MPI_Fetch_and_op(&small, &got, MPI_INT32_T, right(), 2 * count - 2, MPI_SUM, window));
    OK(MPI_Get_accumulate(nullptr, 0, MPI_INT32_T, found.data(), 2 * count, MPI_INT32_T, right(), 0, 2 * count,
                          MPI_INT32_T, MPI_NO_OP, window));
    OK(MPI_Win_flush(right(), window));
    EXPECT(got == 102 * round, "round %d: %d", round, got);
    int wrong = 0;
    for (int i = 0; i < 2 * count; ++i) {
      wrong += found[static_cast<size_t>(i)] != (i == 2 * count - 2 ? 202 * round : i % 2 == 0 ? 2 * round : round);
    }
    EXPECT(wrong == 0, "round %d: %d elements are wrong", round, wrong);
  }
  OK(MPI_Win_unlock_all(window));
  MPI_Type_free(&every_other);
}

}  // namespace

int main(int argc, char** argv) {
  windows::start(&argc, &argv);
  integers();
  if (windows::is_weft()) fortran();
  numbers();
  pairs();
  swaps_of_all_types();
  for (const int count : {1, 10, 3000, 100000}) sums_of_all(count);
  tickets();
  own_lock();
  whole_elements();
  for (const int count : {1, 7, 1000, 20000}) order(count);
  order_of_sizes();
  return expect::finish();
}
