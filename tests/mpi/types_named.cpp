// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Predefined datatypes that are asked for by what they hold: by class and size, value and index, precision and range.
#include <climits>

#include "expect.hpp"

namespace {

void sizes() {
  const struct {
    int typeclass, size;
    MPI_Datatype wanted;
  } rows[] = {{MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},   {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
              {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16}, {MPI_TYPECLASS_REAL, 4, MPI_REAL4},
              {MPI_TYPECLASS_REAL, 16, MPI_REAL16},       {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},
              {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32}, {MPIX_TYPECLASS_LOGICAL, 4, MPI_LOGICAL4}};
  for (const auto& row : rows) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int size = -1;
    MPI_Type_match_size(row.typeclass, row.size, &type);
    MPI_Type_size(type, &size);
    EXPECT(type == row.wanted && size == row.size, "class %d of %d bytes: %d bytes, or another datatype", row.typeclass,
           row.size, size);
  }
  MPI_Datatype type = MPI_INT;
  EXPECT_CLASS(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 2, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_match_size(0, 4, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_match_size(MPI_TYPECLASS_REAL, 4, nullptr), MPI_ERR_ARG);
  EXPECT(type == MPI_INT, "a failed call wrote a datatype");
}

void pairs() {
  const struct {
    MPI_Datatype value, index, wanted;
  } rows[] = {
      {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},      {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
      {MPI_LONG, MPI_INT, MPI_LONG_INT},        {MPI_INT, MPI_INT, MPI_2INT},
      {MPI_SHORT, MPI_INT, MPI_SHORT_INT},      {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
      {MPI_REAL, MPI_REAL, MPI_2REAL},          {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
      {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER}, {MPI_FLOAT, MPI_FLOAT, MPI_DATATYPE_NULL},
      {MPI_BYTE, MPI_INT, MPI_DATATYPE_NULL},   {MPI_2INT, MPI_INT, MPI_DATATYPE_NULL}};
  for (const auto& row : rows) {
    MPI_Datatype pair = MPI_BYTE;
    EXPECT_CLASS(MPI_Type_get_value_index(row.value, row.index, &pair), MPI_SUCCESS);
    const bool as_wanted = row.wanted == MPI_BYTE ? pair != MPI_BYTE && pair != MPI_DATATYPE_NULL : pair == row.wanted;
    EXPECT(as_wanted, "row %d: another datatype", static_cast<int>(&row - rows));
  }
  MPI_Datatype pair = MPI_BYTE;
  EXPECT_CLASS(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &pair), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Type_get_value_index(MPI_INT, MPI_DATATYPE_NULL, &pair), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Type_get_value_index(MPI_INT, MPI_INT, nullptr), MPI_ERR_ARG);
  EXPECT(pair == MPI_BYTE, "a failed call wrote a datatype");
}

// A pair without a name: laid out as the C struct, remembered, the same for who asks again, ready for reductions.
template <class Value, class Index>
void expect_pair(MPI_Datatype value, MPI_Datatype index, int external_bytes) {
  struct Pair {
    Value value;
    Index index;
  };
  MPI_Datatype pair = MPI_DATATYPE_NULL, again = MPI_DATATYPE_NULL, parts[2];
  EXPECT_CLASS(MPI_Type_get_value_index(value, index, &pair), MPI_SUCCESS);
  MPI_Type_get_value_index(value, index, &again);
  EXPECT(pair == again && pair != MPI_DATATYPE_NULL, "asking twice gives two handles");
  int size = -1, integers = -1, addresses = -1, types = -1, combiner = -1;
  MPI_Aint lb = -1, extent = -1, external = -1;
  MPI_Type_size(pair, &size);
  MPI_Type_get_extent(pair, &lb, &extent);
  EXPECT(size == static_cast<int>(sizeof(Value) + sizeof(Index)) && lb == 0 && extent == sizeof(Pair),
         "size %d, extent %ld", size, static_cast<long>(extent));
  MPI_Type_get_envelope(pair, &integers, &addresses, &types, &combiner);
  MPI_Type_get_contents(pair, 0, 0, 2, nullptr, nullptr, parts);
  EXPECT(integers == 0 && addresses == 0 && types == 2 && combiner == MPI_COMBINER_VALUE_INDEX, "combiner %d",
         combiner);
  EXPECT(parts[0] == value && parts[1] == index, "made of other datatypes");
  MPI_Pack_external_size("external32", 1, pair, &external);
  EXPECT(external == external_bytes, "%ld bytes in external32", static_cast<long>(external));

  Pair mine{static_cast<Value>(10 + expect::rank), static_cast<Index>(expect::rank)}, best{}, back{};
  MPI_Allreduce(&mine, &best, 1, pair, MPI_MAXLOC, MPI_COMM_WORLD);
  EXPECT(best.value == static_cast<Value>(9 + expect::size) && best.index == static_cast<Index>(expect::size - 1),
         "another maximum");
  char packed[64];
  MPI_Aint position = 0;
  MPI_Pack_external("external32", &mine, 1, pair, packed, 64, &position);
  position = 0;
  MPI_Unpack_external("external32", packed, 64, &position, &back, 1, pair);
  EXPECT(back.value == mine.value && back.index == mine.index, "external32 gives another pair back");
  EXPECT_CLASS(MPI_Type_free(&again), MPI_ERR_TYPE);
  EXPECT(again == pair, "a predefined datatype was freed");
  EXPECT_CLASS(MPI_Type_commit(&again), MPI_SUCCESS);
}

void unnamed_pairs() {
  expect_pair<double, long long>(MPI_DOUBLE, MPI_INT64_T, 16);
  expect_pair<float, short>(MPI_FLOAT, MPI_SHORT, 6);
  expect_pair<unsigned char, unsigned>(MPI_UNSIGNED_CHAR, MPI_UNSIGNED, 5);
  expect_pair<long, long>(MPI_LONG, MPI_LONG, 8);
  expect_pair<long long, int>(MPI_INT64_T, MPI_INT, 12);
  expect_pair<long double, signed char>(MPI_LONG_DOUBLE, MPI_INT8_T, 17);
}

// The datatype has this size and remembers what was asked for; asking again gives the same handle, freeing is an error.
using Create = int (*)(int, int, MPI_Datatype*);

void expect_kind(Create create, int combiner, int p, int r, int size) {
  MPI_Datatype type = MPI_DATATYPE_NULL, again = MPI_DATATYPE_NULL;
  EXPECT_CLASS(create(p, r, &type), MPI_SUCCESS);
  create(p, r, &again);
  EXPECT(type == again && type != MPI_DATATYPE_NULL, "(%d, %d) gives two handles", p, r);
  int found = -1, integers = -1, addresses = -1, types = -1, made_by = -1, asked[2] = {-1, -1};
  MPI_Type_size(type, &found);
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &made_by);
  MPI_Type_get_contents(type, 2, 0, 0, asked, nullptr, nullptr);
  EXPECT(found == size, "(%d, %d) has %d bytes, not %d", p, r, found, size);
  EXPECT(integers == 2 && addresses == 0 && types == 0 && made_by == combiner, "(%d, %d): %d integers, combiner %d", p,
         r, integers, made_by);
  EXPECT(asked[0] == p && asked[1] == r, "(%d, %d) remembers (%d, %d)", p, r, asked[0], asked[1]);
  again = type;
  EXPECT_CLASS(MPI_Type_free(&again), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Type_commit(&type), MPI_SUCCESS);
}

void kinds() {
  const int no = MPI_UNDEFINED;
  const struct {
    int p, r, size;
  } reals[] = {{3, 10, 4},   {6, 37, 4},   {6, no, 4},    {no, 37, 4},    {7, 30, 8},     {3, 38, 8},
               {15, 307, 8}, {16, no, 16}, {no, 308, 16}, {33, 4931, 16}, {no, 4931, 16}, {0, 0, 4}};
  for (const auto& row : reals) {
    expect_kind(MPI_Type_create_f90_real, MPI_COMBINER_F90_REAL, row.p, row.r, row.size);
    expect_kind(MPI_Type_create_f90_complex, MPI_COMBINER_F90_COMPLEX, row.p, row.r, 2 * row.size);
  }
  const struct {
    int r, size;
  } integers[] = {{0, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 4}, {9, 4}, {10, 8}, {18, 8}, {19, 16}, {38, 16}};
  for (const auto& row : integers) {
    MPI_Datatype type = MPI_DATATYPE_NULL, again = MPI_DATATYPE_NULL, copy;
    MPI_Type_create_f90_integer(row.r, &type);
    MPI_Type_create_f90_integer(row.r, &again);
    int size = -1, asked = -1;
    MPI_Type_size(type, &size);
    MPI_Type_get_contents(type, 1, 0, 0, &asked, nullptr, nullptr);
    EXPECT(type == again && size == row.size && asked == row.r, "range %d: %d bytes, remembers %d", row.r, size, asked);
    // A datatype made of it names it, as the predefined datatype it is.
    MPI_Type_dup(type, &copy);
    MPI_Datatype inside = MPI_DATATYPE_NULL;
    MPI_Type_get_contents(copy, 0, 0, 1, nullptr, nullptr, &inside);
    EXPECT(inside == type, "the contents of a duplicate name another datatype");
    MPI_Type_free(&copy);
  }
}

// The representation of 15.5.2 is chosen by precision and range alone; reductions know the kind.
void use() {
  MPI_Datatype real, extended, integer;
  MPI_Type_create_f90_real(15, 300, &real);
  MPI_Type_create_f90_real(18, MPI_UNDEFINED, &extended);
  MPI_Type_create_f90_integer(9, &integer);
  MPI_Aint size = -1;
  MPI_Pack_external_size("external32", 1, real, &size);
  EXPECT(size == 8, "%ld bytes", static_cast<long>(size));
  MPI_Pack_external_size("external32", 1, extended, &size);
  EXPECT(size == 16, "%ld bytes", static_cast<long>(size));
  double number = expect::rank + 0.5, sum = 0;
  MPI_Allreduce(&number, &sum, 1, real, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(sum == expect::size * expect::size / 2.0, "sum %g", sum);
  int rank = expect::rank, last = -1;
  MPI_Allreduce(&rank, &last, 1, integer, MPI_MAX, MPI_COMM_WORLD);
  EXPECT(last == expect::size - 1, "maximum %d", last);
}

void wrong_kinds() {
  MPI_Datatype type = MPI_INT;
  EXPECT_CLASS(MPI_Type_create_f90_real(34, 10, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_f90_real(3, 4932, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_f90_real(-1, 10, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_f90_real(3, 10, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_f90_complex(34, 10, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_f90_complex(3, INT_MIN, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_f90_integer(39, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_f90_integer(-1, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_f90_integer(3, nullptr), MPI_ERR_ARG);
  EXPECT(type == MPI_INT, "a failed call wrote a datatype");
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  sizes();
  pairs();
  unnamed_pairs();
  kinds();
  use();
  wrong_kinds();
  return expect::finish();
}
