// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Every predefined operation on every predefined datatype by its handle (MPI-5.0, 6.9.2 and 6.9.4): the result is what
// plain code computes, or the error of an operation the type does not have. Operations of the program's own.
#include <climits>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

__extension__ using Int128 = __int128;
#if defined(__SIZEOF_FLOAT128__)
__extension__ using Float128 = __float128;
#else
using Float128 = long double;
#endif

enum Operation { sum, prod, min, max, band, bor, bxor, land, lor, lxor, minloc, maxloc, operations };

MPI_Op op_of(Operation op) {
  static const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_BAND,   MPI_BOR,
                               MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MINLOC, MPI_MAXLOC};
  return ops[op];
}

enum Group { integer, floating, complex, logical, byte, pair, none };

bool allowed(Group group, Operation op) {
  switch (group) {
    case integer:  // the standard grants Fortran's and MPI_AINT only arithmetic and bits, and characters nothing
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
      return op >= minloc;
    default:
      return false;
  }
}

template <class T>
T naive(Operation op, T a, T b) {
  if (op == sum) return static_cast<T>(a + b);
  if (op == prod) return static_cast<T>(a * b);
  if constexpr (!std::is_same_v<T, std::complex<float>> && !std::is_same_v<T, std::complex<double>> &&
                !std::is_same_v<T, std::complex<long double>>) {
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
  return T();
}

// Calls with every operation; `wanted(op, a, b)` gives the expected result.
template <class T, class Wanted>
void check(MPI_Datatype type, const char* name, Group group, const std::vector<T>& values, Wanted wanted) {
  for (int i = 0; i < operations; ++i) {
    const auto op = static_cast<Operation>(i);
    std::vector<T> in, inout, expected;
    for (const T& a : values) {
      for (const T& b : values) {
        in.push_back(a);
        inout.push_back(b);
        expected.push_back(allowed(group, op) ? wanted(op, a, b) : b);
      }
    }
    const int error = MPI_Reduce_local(in.data(), inout.data(), static_cast<int>(in.size()), type, op_of(op));
    EXPECT(expect::class_of(error) == (allowed(group, op) ? MPI_SUCCESS : MPI_ERR_OP), "%s, operation %d: class %d",
           name, i, expect::class_of(error));
    for (size_t k = 0; k < in.size(); ++k) {
      EXPECT(inout[k] == expected[k], "%s, operation %d: element %zu", name, i, k);
    }
  }
}

template <class T>
void check_numbers(MPI_Datatype type, const char* name, Group group) {
  check<T>(type, name, group, {T(0), T(1), T(2), T(3), T(5)}, [](Operation op, T a, T b) { return naive(op, a, b); });
}

#define CHECK(type, T, group) check_numbers<T>(type, #type, group)

void integers() {
  CHECK(MPI_INT, int, integer);
  CHECK(MPI_LONG, long, integer);
  CHECK(MPI_SHORT, short, integer);
  CHECK(MPI_UNSIGNED_SHORT, unsigned short, integer);
  CHECK(MPI_UNSIGNED, unsigned, integer);
  CHECK(MPI_UNSIGNED_LONG, unsigned long, integer);
  CHECK(MPI_LONG_LONG_INT, long long, integer);
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
  CHECK(MPI_INTEGER, int32_t, integer);
  CHECK(MPI_INTEGER1, int8_t, integer);
  CHECK(MPI_INTEGER2, int16_t, integer);
  CHECK(MPI_INTEGER4, int32_t, integer);
  CHECK(MPI_INTEGER8, int64_t, integer);
  CHECK(MPI_INTEGER16, Int128, integer);
  CHECK(MPI_AINT, MPI_Aint, integer);
  CHECK(MPI_OFFSET, MPI_Offset, integer);
  CHECK(MPI_COUNT, MPI_Count, integer);
  CHECK(MPI_BYTE, unsigned char, byte);
  CHECK(MPI_CHAR, char, integer);
  CHECK(MPI_CHARACTER, char, integer);
  CHECK(MPI_WCHAR, wchar_t, none);
  CHECK(MPI_PACKED, char, none);
}

void logicals() {
  CHECK(MPI_C_BOOL, uint8_t, logical);
  CHECK(MPI_CXX_BOOL, uint8_t, logical);
  CHECK(MPI_LOGICAL, int32_t, logical);
  CHECK(MPI_LOGICAL1, int8_t, logical);
  CHECK(MPI_LOGICAL2, int16_t, logical);
  CHECK(MPI_LOGICAL4, int32_t, logical);
  CHECK(MPI_LOGICAL8, int64_t, logical);
  CHECK(MPI_LOGICAL16, Int128, logical);
}

// The 16-bit floats that stand for small whole numbers.
uint16_t half(int number) {
  static const uint16_t bits[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600};
  return bits[number];
}

void floats() {
  CHECK(MPI_FLOAT, float, floating);
  CHECK(MPI_DOUBLE, double, floating);
  CHECK(MPI_LONG_DOUBLE, long double, floating);
  CHECK(MPI_REAL, float, floating);
  CHECK(MPI_DOUBLE_PRECISION, double, floating);
  CHECK(MPI_REAL4, float, floating);
  CHECK(MPI_REAL8, double, floating);
  CHECK(MPI_REAL16, Float128, floating);
  check<uint16_t>(MPI_REAL2, "MPI_REAL2", floating, {half(0), half(1), half(2)},
                  [](Operation op, uint16_t a, uint16_t b) {
                    auto number = [](uint16_t bits) { return bits == half(0) ? 0 : bits == half(1) ? 1 : 2; };
                    return half(naive(op, number(a), number(b)));
                  });
}

void complexes() {
  CHECK(MPI_C_COMPLEX, std::complex<float>, complex);
  CHECK(MPI_C_FLOAT_COMPLEX, std::complex<float>, complex);
  CHECK(MPI_C_DOUBLE_COMPLEX, std::complex<double>, complex);
  CHECK(MPI_C_LONG_DOUBLE_COMPLEX, std::complex<long double>, complex);
  CHECK(MPI_CXX_FLOAT_COMPLEX, std::complex<float>, complex);
  CHECK(MPI_CXX_DOUBLE_COMPLEX, std::complex<double>, complex);
  CHECK(MPI_CXX_LONG_DOUBLE_COMPLEX, std::complex<long double>, complex);
  CHECK(MPI_COMPLEX, std::complex<float>, complex);
  CHECK(MPI_DOUBLE_COMPLEX, std::complex<double>, complex);
  CHECK(MPI_COMPLEX8, std::complex<float>, complex);
  CHECK(MPI_COMPLEX16, std::complex<double>, complex);
  using Z = std::complex<double>;
  check<Z>(MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", complex, {Z(1, 2), Z(-3, 0.5), Z(0, 1)},
           [](Operation op, Z a, Z b) { return naive(op, a, b); });
  struct Wide {
    Float128 re, im;
    bool operator==(const Wide& other) const { return re == other.re && im == other.im; }
  };
  check<Wide>(MPI_COMPLEX32, "MPI_COMPLEX32", complex, {{1, 2}, {-3, 5}}, [](Operation op, Wide a, Wide b) {
    return op == sum ? Wide{a.re + b.re, a.im + b.im} : Wide{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  });
  struct Halves {
    uint16_t re, im;
    bool operator==(const Halves&) const = default;
  };
  const Halves one{half(1), half(0)}, two{half(2), half(1)};  // 1 and 2 + i
  check<Halves>(MPI_COMPLEX4, "MPI_COMPLEX4", complex, {one}, [&](Operation op, Halves, Halves) {
    return op == sum ? Halves{half(2), half(0)} : one;
  });
  Halves in = two, inout = one;
  MPI_Reduce_local(&in, &inout, 1, MPI_COMPLEX4, MPI_SUM);
  EXPECT((inout == Halves{half(3), half(1)}), "%x, %x", inout.re, inout.im);
}

template <class Value, class Index>
void check_pair(MPI_Datatype type, const char* name) {
  struct Pair {
    Value value;
    Index index;
    bool operator==(const Pair& other) const { return value == other.value && index == other.index; }
  };
  check<Pair>(type, name, pair,
              {{Value(1), Index(5)}, {Value(1), Index(3)}, {Value(2), Index(1)}, {Value(0), Index(9)}},
              [](Operation op, Pair a, Pair b) {
                const bool better = op == minloc ? a.value < b.value : a.value > b.value;
                return better || (a.value == b.value && a.index < b.index) ? a : b;
              });
}

void pairs() {
  check_pair<float, int>(MPI_FLOAT_INT, "MPI_FLOAT_INT");
  check_pair<double, int>(MPI_DOUBLE_INT, "MPI_DOUBLE_INT");
  check_pair<long, int>(MPI_LONG_INT, "MPI_LONG_INT");
  check_pair<int, int>(MPI_2INT, "MPI_2INT");
  check_pair<short, int>(MPI_SHORT_INT, "MPI_SHORT_INT");
  check_pair<long double, int>(MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT");
  check_pair<float, float>(MPI_2REAL, "MPI_2REAL");
  check_pair<double, double>(MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION");
  check_pair<int, int>(MPI_2INTEGER, "MPI_2INTEGER");
}

template <class Value, class Index>
void check_unnamed(MPI_Datatype value, MPI_Datatype index, const char* name) {
  MPI_Datatype pair_type = MPI_DATATYPE_NULL;
  EXPECT_CLASS(MPI_Type_get_value_index(value, index, &pair_type), MPI_SUCCESS);
  check_pair<Value, Index>(pair_type, name);
}

void unnamed_pairs() {
  check_unnamed<double, uint64_t>(MPI_DOUBLE, MPI_UINT64_T, "MPI_DOUBLE with MPI_UINT64_T");
  check_unnamed<int8_t, int64_t>(MPI_INT8_T, MPI_INT64_T, "MPI_INT8_T with MPI_INT64_T");
  check_unnamed<long, long>(MPI_LONG, MPI_LONG, "MPI_LONG with MPI_LONG");
  check_unnamed<uint64_t, MPI_Aint>(MPI_UNSIGNED_LONG, MPI_AINT, "MPI_UNSIGNED_LONG with MPI_AINT");
  check_unnamed<long double, short>(MPI_LONG_DOUBLE, MPI_SHORT, "MPI_LONG_DOUBLE with MPI_SHORT");
  check_unnamed<Float128, Int128>(MPI_REAL16, MPI_INTEGER16, "MPI_REAL16 with MPI_INTEGER16");
  // Across ranks, where the elements travel.
  struct Pair {
    double value;
    uint64_t index;
  };
  MPI_Datatype type;
  MPI_Type_get_value_index(MPI_DOUBLE, MPI_UINT64_T, &type);
  Pair in[1000], out[1000];
  for (int i = 0; i < 1000; ++i) {
    in[i] = {static_cast<double>((rank + i) % size), (uint64_t{1} << 40) + static_cast<uint64_t>(rank)};
  }
  EXPECT_CLASS(MPI_Allreduce(in, out, 1000, type, MPI_MAXLOC, MPI_COMM_WORLD), MPI_SUCCESS);
  for (int i = 0; i < 1000; ++i) {
    const int best = (size - 1 - i % size + size) % size;
    EXPECT(out[i].value == size - 1 && out[i].index == (uint64_t{1} << 40) + static_cast<uint64_t>(best),
           "element %d is %g", i, out[i].value);
  }
}

// ---- what is no number, across ranks: the result is the same wherever it was

void nans_arrive() {
  for (int where = 0; where < size; ++where) {
    double in[2] = {rank == where ? std::nan("") : rank, rank == where ? -0.0 : 0.0}, out[2];
    MPI_Allreduce(in, out, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    EXPECT(std::isnan(out[0]), "the maximum with a NaN of rank %d is %g", where, out[0]);
    EXPECT(out[1] == 0 && std::signbit(out[1]) == (size == 1), "the maximum of zeros has the sign %d",
           std::signbit(out[1]));
    MPI_Allreduce(in, out, 2, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    EXPECT(std::isnan(out[0]), "the minimum with a NaN of rank %d is %g", where, out[0]);
    EXPECT(out[1] == 0 && std::signbit(out[1]), "the minimum of zeros has the sign %d", std::signbit(out[1]));
  }
}

// ---- the program's own

MPI_Datatype told_type;
MPI_Count told = 0;
int calls = 0;

void count_narrow(void*, void*, int* length, MPI_Datatype* type) {
  ++calls;
  told += *length;
  told_type = *type;
  *length = 0;  // it is ours to write
}
void count_wide(void*, void*, MPI_Count* length, MPI_Datatype* type) {
  ++calls;
  told += *length;
  told_type = *type;
}

// More elements than an int counts, on a type whose elements lie upon each other.
void more_than_an_int_counts() {
  MPI_Datatype type;
  MPI_Op narrow, wide;
  int in = 1, inout = 2;
  const MPI_Count count = MPI_Count{5} * INT_MAX / 2;
  MPI_Type_create_resized(MPI_INT, 0, 0, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(count_narrow, 1, &narrow);
  MPI_Op_create_c(count_wide, 1, &wide);
  EXPECT_CLASS(MPI_Reduce_local_c(&in, &inout, count, type, narrow), MPI_SUCCESS);
  EXPECT(told == count && calls == 3 && told_type == type, "%lld elements in %d calls", static_cast<long long>(told),
         calls);
  told = calls = 0;
  EXPECT_CLASS(MPI_Reduce_local_c(&in, &inout, count, type, wide), MPI_SUCCESS);
  EXPECT(told == count && calls == 1 && told_type == type, "%lld elements in %d calls", static_cast<long long>(told),
         calls);
  told = calls = 0;
  EXPECT_CLASS(MPI_Reduce_local(nullptr, nullptr, 0, MPI_INT, narrow), MPI_SUCCESS);
  EXPECT(calls == 0, "called for nothing");
  MPI_Op_free(&narrow);
  MPI_Op_free(&wide);
  EXPECT(narrow == MPI_OP_NULL && wide == MPI_OP_NULL, "the handles stay");
  MPI_Type_free(&type);
}

void commutes() {
  for (int i = 0; i < operations; ++i) {
    int flag = -1;
    EXPECT_CLASS(MPI_Op_commutative(op_of(static_cast<Operation>(i)), &flag), MPI_SUCCESS);
    EXPECT(flag == 1, "operation %d", i);
  }
  for (const int commute : {0, 1, 7}) {
    MPI_Op op;
    int flag = -1;
    MPI_Op_create(count_narrow, commute, &op);
    MPI_Op_commutative(op, &flag);
    EXPECT(flag == (commute != 0), "%d", flag);
    MPI_Op_free(&op);
  }
}

void errors() {
  int a[2] = {1, 2}, b[2] = {3, 4};
  const auto garbage = reinterpret_cast<MPI_Op>(static_cast<uintptr_t>(0xdeadbeef));
  MPI_Op op = MPI_OP_NULL;
  int flag = 0;
  EXPECT_CLASS(MPI_Reduce_local(a, b, 1, MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Reduce_local(a, b, 1, MPI_INT, garbage), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Reduce_local(a, b, 1, MPI_INT, MPI_REPLACE), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Reduce_local(a, b, 1, MPI_INT, MPI_NO_OP), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Reduce_local(a, b, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Reduce_local(a, b, 1, MPI_DATATYPE_NULL, MPI_SUM), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Reduce_local(nullptr, b, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Reduce_local(a, nullptr, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Reduce_local(MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Reduce_local(a, a, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Op_commutative(MPI_OP_NULL, &flag), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Op_commutative(MPI_SUM, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Op_create(nullptr, 1, &op), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Op_create_c(nullptr, 1, &op), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Op_create(count_narrow, 1, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Op_free(nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Op_free(&op), MPI_ERR_OP);
  op = MPI_MAX;
  EXPECT_CLASS(MPI_Op_free(&op), MPI_ERR_OP);
  MPI_Datatype copy;
  MPI_Type_dup(MPI_INT, &copy);
  EXPECT_CLASS(MPI_Reduce_local(a, b, 1, copy, MPI_SUM), MPI_ERR_OP);
  MPI_Type_free(&copy);
  EXPECT(b[0] == 3 && b[1] == 4, "a call that failed wrote %d and %d", b[0], b[1]);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  integers();
  logicals();
  floats();
  complexes();
  pairs();
  unnamed_pairs();
  nans_arrive();
  more_than_an_int_counts();
  commutes();
  errors();
  return expect::finish();
}
