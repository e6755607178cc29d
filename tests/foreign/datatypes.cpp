// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Datatypes through another ABI: every predefined one, the constructors, and what their envelopes and contents tell.
#include <mpi.h>

#include <cstring>
#include <vector>

#include "same.hpp"

namespace {

using expect::rank;
using expect::size;

// Handles of basic types hold their size in their second byte.
void predefined() {
  static const MPI_Datatype types[] = {MPI_CHAR,
                                       MPI_SIGNED_CHAR,
                                       MPI_UNSIGNED_CHAR,
                                       MPI_BYTE,
                                       MPI_WCHAR,
                                       MPI_SHORT,
                                       MPI_UNSIGNED_SHORT,
                                       MPI_INT,
                                       MPI_UNSIGNED,
                                       MPI_LONG,
                                       MPI_UNSIGNED_LONG,
                                       MPI_LONG_LONG,
                                       MPI_UNSIGNED_LONG_LONG,
                                       MPI_FLOAT,
                                       MPI_DOUBLE,
                                       MPI_LONG_DOUBLE,
                                       MPI_INT8_T,
                                       MPI_INT16_T,
                                       MPI_INT32_T,
                                       MPI_INT64_T,
                                       MPI_UINT8_T,
                                       MPI_UINT16_T,
                                       MPI_UINT32_T,
                                       MPI_UINT64_T,
                                       MPI_C_BOOL,
                                       MPI_C_FLOAT_COMPLEX,
                                       MPI_C_DOUBLE_COMPLEX,
                                       MPI_C_LONG_DOUBLE_COMPLEX,
                                       MPI_AINT,
                                       MPI_OFFSET,
                                       MPI_COUNT,
                                       MPI_PACKED,
                                       MPI_2INT,
                                       MPI_CXX_BOOL,
                                       MPI_CXX_FLOAT_COMPLEX,
                                       MPI_CXX_DOUBLE_COMPLEX,
                                       MPI_CXX_LONG_DOUBLE_COMPLEX,
                                       MPI_INTEGER,
                                       MPI_REAL,
                                       MPI_DOUBLE_PRECISION,
                                       MPI_COMPLEX,
                                       MPI_DOUBLE_COMPLEX,
                                       MPI_LOGICAL,
                                       MPI_CHARACTER,
                                       MPI_2INTEGER,
                                       MPI_2REAL,
                                       MPI_2DOUBLE_PRECISION,
                                       MPI_INTEGER1,
                                       MPI_INTEGER2,
                                       MPI_INTEGER4,
                                       MPI_INTEGER8,
                                       MPI_REAL4,
                                       MPI_REAL8,
                                       MPI_COMPLEX8,
                                       MPI_COMPLEX16};
  for (const MPI_Datatype type : types) {
    int bytes = -1;
    MPI_Type_size(type, &bytes);
#ifdef MPICH_NAME
    SAME(bytes, type >> 8 & 0xff);
#else
    HOLDS(bytes > 0);
#endif
  }
  static const struct {
    MPI_Datatype type;
    int size;
    const char* name;
  } pairs[] = {{MPI_FLOAT_INT, 8, "MPI_FLOAT_INT"},
               {MPI_DOUBLE_INT, 12, "MPI_DOUBLE_INT"},
               {MPI_LONG_INT, 12, "MPI_LONG_INT"},
               {MPI_SHORT_INT, 6, "MPI_SHORT_INT"},
               {MPI_LONG_DOUBLE_INT, 20, "MPI_LONG_DOUBLE_INT"}};
  for (const auto& pair : pairs) {
    int bytes = -1;
    MPI_Type_size(pair.type, &bytes);
    SAME(bytes, pair.size);
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    MPI_Type_get_name(pair.type, name, &length);
    HOLDS(strcmp(name, pair.name) == 0);
  }
  MPI_Datatype matched = MPI_DATATYPE_NULL;
  MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &matched);
  HOLDS(matched == MPI_REAL8 || matched == MPI_DOUBLE_PRECISION || matched == MPI_DOUBLE);
}

struct Contents {
  int integers[20] = {};
  MPI_Aint addresses[8] = {};
  MPI_Datatype types[8] = {};
  int integer_count = 0;
  int address_count = 0;
  int type_count = 0;
  int combiner = -1;
};

Contents contents_of(MPI_Datatype type) {
  Contents c;
  MPI_Type_get_envelope(type, &c.integer_count, &c.address_count, &c.type_count, &c.combiner);
  if (c.combiner == MPI_COMBINER_NAMED) return c;
  MPI_Type_get_contents(type, 20, 8, 8, c.integers, c.addresses, c.types);
  return c;
}

void contents() {
  SAME(contents_of(MPI_INT).combiner, MPI_COMBINER_NAMED);
  SAME(contents_of(MPI_DOUBLE_INT).combiner, MPI_COMBINER_NAMED);
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 2, 5, MPI_DOUBLE, &vector);
  Contents c = contents_of(vector);
  SAME(c.combiner, MPI_COMBINER_VECTOR);
  HOLDS(c.integers[0] == 3 && c.integers[1] == 2 && c.integers[2] == 5);
  SAME(c.types[0], MPI_DOUBLE);

  const int lengths[2] = {1, 2};
  const MPI_Aint places[2] = {0, 8};
  const MPI_Datatype parts[2] = {MPI_CHAR, vector};
  MPI_Datatype record = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths, places, parts, &record);
  c = contents_of(record);
  SAME(c.combiner, MPI_COMBINER_STRUCT);
  SAME(c.types[0], MPI_CHAR);
  SAME(contents_of(c.types[1]).combiner, MPI_COMBINER_VECTOR);
  SAME(c.addresses[1], 8);
  MPI_Type_free(&record);
  MPI_Type_free(&c.types[1]);  // a reference of its own
  MPI_Type_free(&vector);

  const int sizes[2] = {6, 7};
  const int subsizes[2] = {2, 3};
  const int starts[2] = {1, 1};
  MPI_Datatype block = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_FORTRAN, MPI_INT, &block);
  c = contents_of(block);
  SAME(c.combiner, MPI_COMBINER_SUBARRAY);
  SAME(c.integers[0], 2);
  SAME(c.integers[2], 7);
  SAME(c.integers[7], MPI_ORDER_FORTRAN);
  MPI_Type_free(&block);

  const int gsizes[2] = {8, 9};
  const int distribs[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
  const int dargs[2] = {2, MPI_DISTRIBUTE_DFLT_DARG};
  const int psizes[2] = {2, 1};
  MPI_Type_create_darray(2, 1, 2, gsizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_FLOAT, &block);
  c = contents_of(block);
  SAME(c.combiner, MPI_COMBINER_DARRAY);
  SAME(c.integer_count, 12);
  SAME(c.integers[5], MPI_DISTRIBUTE_CYCLIC);
  SAME(c.integers[6], MPI_DISTRIBUTE_NONE);
  SAME(c.integers[7], 2);
  SAME(c.integers[8], MPI_DISTRIBUTE_DFLT_DARG);
  SAME(c.integers[11], MPI_ORDER_C);
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count large = 0;
  MPI_Count types = 0;
  int combiner = 0;
  MPI_Type_get_envelope_c(block, &integers, &addresses, &large, &types, &combiner);
  SAME(combiner, MPI_COMBINER_DARRAY);
  MPI_Type_free(&block);

  MPI_Type_create_resized(MPI_INT, -4, 16, &block);
  SAME(contents_of(block).combiner, MPI_COMBINER_RESIZED);
  MPI_Type_free(&block);
  MPI_Type_create_f90_real(6, MPI_UNDEFINED, &block);
  SAME(contents_of(block).combiner, MPI_COMBINER_F90_REAL);
}

// MPICH and Open MPI call types of two names by the second; a name of the program's is its own.
void names() {
  const struct {
    MPI_Datatype type;
    const char* name;
  } types[] = {{MPI_LONG_LONG, "MPI_LONG_LONG_INT"}, {MPI_C_FLOAT_COMPLEX, "MPI_C_COMPLEX"}, {MPI_LONG, "MPI_LONG"}};
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  for (const auto& of : types) {
    MPI_Type_get_name(of.type, name, &length);
    HOLDS(strcmp(name, of.name) == 0 && length == static_cast<int>(strlen(name)));
  }
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  MPI_Type_dup(MPI_LONG, &copy);
  MPI_Type_set_name(copy, "MPI_LONG_LONG");
  MPI_Type_get_name(copy, name, &length);
  HOLDS(strcmp(name, "MPI_LONG_LONG") == 0);
  MPI_Type_free(&copy);
}

// A type with a handle of MPICH's or Open MPI's own beside MPI_REAL2.
#ifndef MPICH_NAME
#define MPIX_C_FLOAT16 MPIX_SHORT_FLOAT
#endif
void half_precision() {
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  MPI_Type_dup(MPIX_C_FLOAT16, &copy);
  const Contents c = contents_of(copy);
  SAME(c.combiner, MPI_COMBINER_DUP);
  SAME(c.types[0], MPIX_C_FLOAT16);
  MPI_Type_free(&copy);
}

void moved() {
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 1, 4, MPI_INT, &column);
  MPI_Type_commit(&column);
  int sent[16];
  int got[4] = {};
  for (int i = 0; i < 16; ++i) sent[i] = 100 * rank + i;
  const int left = (rank + size - 1) % size;
  MPI_Sendrecv(sent + 1, 1, column, (rank + 1) % size, 0, got, 4, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 4; ++i) SAME(got[i], 100 * left + 1 + 4 * i);
  // Types of each rank, predefined and not.
  std::vector<int> one(size, 1);
  std::vector<int> zero(size, 0);
  std::vector<MPI_Datatype> columns(size, column);
  std::vector<MPI_Datatype> rows(size);
  std::vector<int> places(size);
  std::vector<int> all(4 * size, -1);
  MPI_Datatype row = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(4, MPI_INT, &row);
  MPI_Type_commit(&row);
  for (int i = 0; i < size; ++i) {
    rows[i] = row;
    places[i] = i * 4 * static_cast<int>(sizeof(int));
  }
  MPI_Alltoallw(sent, one.data(), zero.data(), columns.data(), all.data(), one.data(), places.data(), rows.data(),
                MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) SAME(all[4 * r + 3], 100 * r + 12);
  char packed[64];
  int position = 0;
  MPI_Pack(sent, 1, column, packed, sizeof packed, &position, MPI_COMM_WORLD);
  SAME(position, 16);
  MPI_Type_free(&row);
  MPI_Type_free(&column);
  SAME(column, MPI_DATATYPE_NULL);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  predefined();
  contents();
  names();
  half_precision();
  moved();
  return expect::finish();
}
