// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments of functions on datatypes and statuses: the class of each error, and that nothing is changed.
#include <climits>

#include "expect.hpp"

namespace {

void constructors() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  EXPECT_CLASS(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Type_contiguous(1, MPI_INT, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_vector(-1, 1, 1, MPI_INT, &type), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Type_vector(1, -1, 1, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_hvector(1, -1, 1, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_resized(reinterpret_cast<MPI_Datatype>(MPI_SUM), 0, 4, &type), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Type_dup(MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Type_contiguous_c(LLONG_MAX / 2, MPI_INT, &type), MPI_ERR_NO_MEM);
  EXPECT_CLASS(MPI_Type_vector_c(2, 1, LLONG_MAX / 2, MPI_DOUBLE, &type), MPI_ERR_NO_MEM);
  EXPECT(type == MPI_DATATYPE_NULL, "a failed call made a datatype");
}

void indexed() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int lengths[] = {1, -1}, places[] = {0, 4};
  const MPI_Aint bytes[] = {0, 16};
  const MPI_Count large_lengths[] = {1, -1}, large_places[] = {0, 16}, far[] = {LLONG_MAX / 2, 0};
  const MPI_Count huge[] = {LLONG_MAX / 4, LLONG_MAX / 4}, fine[] = {1, 1};
  const MPI_Datatype types[] = {MPI_INT, MPI_DATATYPE_NULL};
  const MPI_Datatype good[] = {MPI_INT, MPI_INT}, garbage[] = {MPI_INT, reinterpret_cast<MPI_Datatype>(0x12345678)};
  EXPECT_CLASS(MPI_Type_indexed(-1, lengths, places, MPI_INT, &type), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Type_indexed(2, lengths, places, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_indexed(1, nullptr, places, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_indexed(1, lengths, nullptr, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_indexed(1, lengths, places, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Type_indexed(1, lengths, places, MPI_INT, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_indexed_c(2, large_lengths, large_places, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_indexed_c(2, fine, far, MPI_INT, &type), MPI_ERR_NO_MEM);
  EXPECT_CLASS(MPI_Type_indexed_c(2, huge, fine, MPI_INT, &type), MPI_ERR_NO_MEM);
  EXPECT_CLASS(MPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_hindexed_c(-1, fine, large_places, MPI_INT, &type), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Type_create_indexed_block(2, -1, places, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_indexed_block(0, -1, places, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_indexed_block_c(-1, 1, large_places, MPI_INT, &type), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Type_create_hindexed_block(1, 1, nullptr, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_hindexed_block_c(2, 1, large_places, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Type_create_struct(-1, lengths, bytes, good, &type), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Type_create_struct(2, lengths, bytes, good, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_struct(1, lengths, bytes, nullptr, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_struct(1, lengths, bytes, good, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_struct_c(2, fine, large_places, types, &type), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Type_create_struct_c(2, fine, large_places, garbage, &type), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Type_create_struct_c(2, huge, large_places, good, &type), MPI_ERR_NO_MEM);
  EXPECT(type == MPI_DATATYPE_NULL, "a failed call made a datatype");
}

void subarrays() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int sizes[] = {4, 5}, parts[] = {2, 5}, starts[] = {2, 0}, zero[] = {2, 0}, wide[] = {2, 6}, far[] = {3, 0},
            negative[] = {-1, 0};
  const MPI_Count huge[] = {LLONG_MAX / 2, 5}, ones[] = {1, 1}, none[] = {0, 0};
  const int c = MPI_ORDER_C;
  EXPECT_CLASS(MPI_Type_create_subarray(0, sizes, parts, starts, c, MPI_INT, &type), MPI_ERR_DIMS);
  EXPECT_CLASS(MPI_Type_create_subarray(-1, sizes, parts, starts, c, MPI_INT, &type), MPI_ERR_DIMS);
  EXPECT_CLASS(MPI_Type_create_subarray(2, nullptr, parts, starts, c, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_subarray(2, sizes, nullptr, starts, c, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_subarray(2, sizes, parts, nullptr, c, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_subarray(2, zero, parts, starts, c, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_subarray(2, sizes, zero, starts, c, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_subarray(2, sizes, wide, starts, c, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_subarray(2, sizes, parts, far, c, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_subarray(2, sizes, parts, negative, c, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_subarray(2, sizes, parts, starts, 0, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_subarray(2, sizes, parts, starts, c, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Type_create_subarray(2, sizes, parts, starts, c, MPI_INT, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_create_subarray_c(2, huge, ones, none, c, MPI_INT, &type), MPI_ERR_NO_MEM);
  EXPECT(type == MPI_DATATYPE_NULL, "a failed call made a datatype");
}

// One wrong argument among good ones: rank 1 of a grid of 2 by 1 on an array of 4 by 5.
struct Grid {
  int size = 2, rank = 1, ndims = 2;
  int gsizes[2] = {4, 5}, distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
  int dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, psizes[2] = {2, 1};
  int order = MPI_ORDER_C;

  int create(MPI_Datatype old, MPI_Datatype* type) const {
    return MPI_Type_create_darray(size, rank, ndims, gsizes, distribs, dargs, psizes, order, old, type);
  }
};

void darrays() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const struct {
    int Grid::*member;
    int value, wanted;
  } rows[] = {{&Grid::size, 0, MPI_ERR_ARG},  {&Grid::size, 3, MPI_ERR_ARG},   {&Grid::rank, -1, MPI_ERR_RANK},
              {&Grid::rank, 2, MPI_ERR_RANK}, {&Grid::ndims, 0, MPI_ERR_DIMS}, {&Grid::order, -1, MPI_ERR_ARG}};
  for (const auto& row : rows) {
    Grid grid;
    grid.*row.member = row.value;
    const int found = expect::class_of(grid.create(MPI_INT, &type));
    EXPECT(found == row.wanted, "row %d: class %d", static_cast<int>(&row - rows), found);
  }
  const struct {
    int (Grid::*member)[2];
    int index, value;
  } numbers[] = {{&Grid::gsizes, 0, 0},
                 {&Grid::gsizes, 1, -5},
                 {&Grid::distribs, 1, MPI_DISTRIBUTE_DFLT_DARG},
                 {&Grid::distribs, 0, MPI_DISTRIBUTE_NONE},  // with two processes
                 {&Grid::dargs, 0, 0},
                 {&Grid::dargs, 0, 1},  // blocks of 1 on 2 processes do not hold 4
                 {&Grid::psizes, 0, 0},
                 {&Grid::psizes, 0, 1}};
  for (const auto& row : numbers) {
    Grid grid;
    (grid.*row.member)[row.index] = row.value;
    const int found = expect::class_of(grid.create(MPI_INT, &type));
    EXPECT(found == MPI_ERR_ARG, "number %d: class %d", static_cast<int>(&row - numbers), found);
  }
  const Grid good;
  const MPI_Count huge[] = {LLONG_MAX, 5};
  EXPECT_CLASS(good.create(MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
  EXPECT_CLASS(good.create(MPI_INT, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(
      MPI_Type_create_darray(2, 1, 2, nullptr, good.distribs, good.dargs, good.psizes, MPI_ORDER_C, MPI_INT, &type),
      MPI_ERR_ARG);
  EXPECT_CLASS(
      MPI_Type_create_darray(2, 1, 2, good.gsizes, nullptr, good.dargs, good.psizes, MPI_ORDER_C, MPI_INT, &type),
      MPI_ERR_ARG);
  EXPECT_CLASS(
      MPI_Type_create_darray(2, 1, 2, good.gsizes, good.distribs, nullptr, good.psizes, MPI_ORDER_C, MPI_INT, &type),
      MPI_ERR_ARG);
  EXPECT_CLASS(
      MPI_Type_create_darray(2, 1, 2, good.gsizes, good.distribs, good.dargs, nullptr, MPI_ORDER_C, MPI_INT, &type),
      MPI_ERR_ARG);
  EXPECT_CLASS(
      MPI_Type_create_darray_c(2, 1, 2, huge, good.distribs, good.dargs, good.psizes, MPI_ORDER_C, MPI_CHAR, &type),
      MPI_ERR_NO_MEM);
  EXPECT(type == MPI_DATATYPE_NULL, "a failed call made a datatype");
}

void life() {
  MPI_Datatype type = MPI_DATATYPE_NULL, predefined = MPI_INT, copy;
  EXPECT_CLASS(MPI_Type_commit(&type), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Type_commit(nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_free(&type), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Type_free(&predefined), MPI_ERR_TYPE);
  EXPECT(predefined == MPI_INT, "MPI_INT was freed");
  MPI_Type_contiguous(2, MPI_INT, &type);
  copy = type;
  MPI_Type_free(&type);
  EXPECT_CLASS(MPI_Type_commit(&copy), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Type_free(&copy), MPI_ERR_TYPE);
}

void questions() {
  int value = 0;
  MPI_Aint lb = 0;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Status status;
  EXPECT_CLASS(MPI_Type_size(MPI_DATATYPE_NULL, &value), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Type_size(MPI_INT, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_get_extent(MPI_INT, &lb, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_get_name(reinterpret_cast<MPI_Datatype>(0x2ff), name, &value), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Type_set_name(MPI_INT, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &value), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Get_count(&status, MPI_DATATYPE_NULL, &value), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Get_elements(&status, MPI_INT, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Status_set_elements(&status, MPI_INT, -1), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Get_address(&value, nullptr), MPI_ERR_ARG);
}

void packing() {
  int value = 0, position = 0;
  char packed[16];
  MPI_Datatype type;
  MPI_Type_contiguous(1, MPI_INT, &type);
  EXPECT_CLASS(MPI_Pack(&value, 1, type, packed, 16, &position, MPI_COMM_WORLD), MPI_ERR_TYPE);  // not committed
  EXPECT_CLASS(MPI_Pack(&value, -1, MPI_INT, packed, 16, &position, MPI_COMM_WORLD), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Pack(&value, 1, MPI_INT, packed, 16, nullptr, MPI_COMM_WORLD), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Pack(&value, 1, MPI_INT, packed, -1, &position, MPI_COMM_WORLD), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Pack(&value, 1, MPI_INT, nullptr, 16, &position, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Pack(&value, 1, MPI_INT, packed, 16, &position, MPI_COMM_NULL), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Pack_size(1, MPI_DATATYPE_NULL, MPI_COMM_WORLD, &value), MPI_ERR_TYPE);
  position = 17;
  EXPECT_CLASS(MPI_Unpack(packed, 16, &position, &value, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_ARG);
  MPI_Type_free(&type);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  constructors();
  indexed();
  subarrays();
  darrays();
  life();
  questions();
  packing();
  return expect::finish();
}
