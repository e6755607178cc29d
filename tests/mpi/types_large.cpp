// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// More than 2^31 of everything: sizes, extents and counts that no int holds, and messages of more than 2 GiB. Their
// buffers are a few pages of memory, mapped again and again.
#include <climits>
#include <cstring>

#include "expect.hpp"
#include "repeated.hpp"

namespace {

constexpr MPI_Count giga = MPI_Count{1} << 30;

struct Bounds {
  MPI_Count size, lb, extent;
};

// Checks and frees.
void expect_bounds(MPI_Datatype type, const Bounds& wanted, const char* what) {
  Bounds found{};
  MPI_Type_size_c(type, &found.size);
  MPI_Type_get_extent_c(type, &found.lb, &found.extent);
  EXPECT(found.size == wanted.size && found.lb == wanted.lb && found.extent == wanted.extent,
         "%s: size %lld, lower bound %lld, extent %lld", what, static_cast<long long>(found.size),
         static_cast<long long>(found.lb), static_cast<long long>(found.extent));
  int narrow = 0;
  MPI_Type_size(type, &narrow);
  EXPECT(narrow == (wanted.size > INT_MAX ? MPI_UNDEFINED : wanted.size), "%s: MPI_Type_size says %d", what, narrow);
  MPI_Pack_size(1, type, MPI_COMM_SELF, &narrow);
  EXPECT(narrow == (wanted.size > INT_MAX ? MPI_UNDEFINED : wanted.size), "%s: MPI_Pack_size says %d", what, narrow);
  MPI_Type_free(&type);
}

void sizes() {
  const MPI_Count lengths[] = {3 * giga, 1}, places[] = {5 * giga, 0}, bytes[] = {-20 * giga, 0};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT};
  const MPI_Count whole[] = {8 * giga, 3}, part[] = {4 * giga, 2}, start[] = {3 * giga, 1};
  const int block[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  const int by_default[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {4, 2};
  MPI_Datatype type;
  MPI_Type_indexed_c(2, lengths, places, MPI_INT, &type);
  expect_bounds(type, {12 * giga + 4, 0, 32 * giga}, "indexed_c");
  MPI_Type_create_hindexed_c(2, lengths, bytes, MPI_INT, &type);
  expect_bounds(type, {12 * giga + 4, -20 * giga, 20 * giga + 4}, "hindexed_c");
  MPI_Type_create_indexed_block_c(2, 2 * giga, places, MPI_SHORT, &type);
  expect_bounds(type, {8 * giga, 0, 14 * giga}, "indexed_block_c");
  MPI_Type_create_hindexed_block_c(2, 5 * giga, bytes, MPI_CHAR, &type);
  expect_bounds(type, {10 * giga, -20 * giga, 25 * giga}, "hindexed_block_c");
  MPI_Type_create_struct_c(2, lengths, places, types, &type);
  expect_bounds(type, {24 * giga + 4, 0, 29 * giga}, "struct_c");
  MPI_Type_create_subarray_c(2, whole, part, start, MPI_ORDER_C, MPI_INT, &type);
  expect_bounds(type, {32 * giga, 0, 96 * giga}, "subarray_c");
  MPI_Type_create_darray_c(8, 5, 2, whole, block, by_default, grid, MPI_ORDER_FORTRAN, MPI_CHAR, &type);
  expect_bounds(type, {2 * giga, 0, 24 * giga}, "darray_c");
  MPI_Type_vector_c(3 * giga, 1, 2, MPI_CHAR, &type);
  expect_bounds(type, {3 * giga, 0, 6 * giga - 1}, "vector_c");
}

// The narrow functions' answers about a message too large for them.
void counts() {
  MPI_Status status;
  MPI_Datatype row;
  int narrow = 0;
  MPI_Count large = 0;
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  MPI_Type_create_struct(2, lengths, places, types, &row);
  MPI_Status_set_elements_c(&status, row, 6 * giga + 1);
  MPI_Get_elements(&status, row, &narrow);
  MPI_Get_elements_c(&status, row, &large);
  EXPECT(narrow == MPI_UNDEFINED && large == 6 * giga + 1, "%d, %lld", narrow, static_cast<long long>(large));
  MPI_Get_count_c(&status, row, &large);
  EXPECT(large == MPI_UNDEFINED, "%lld whole structs", static_cast<long long>(large));
  MPI_Status_set_elements_c(&status, row, 6 * giga);
  MPI_Get_count(&status, row, &narrow);
  MPI_Get_count_c(&status, row, &large);
  EXPECT(narrow == MPI_UNDEFINED && large == 3 * giga, "%d, %lld", narrow, static_cast<long long>(large));
  MPI_Type_free(&row);
}

// A message of more than 2^31 bytes as one element of a derived datatype; the receiver counts bytes.
void message() {
  const MPI_Count bytes = 2 * giga + 4096;
  Repeated memory(bytes);
  if (memory.get() == nullptr) exit(77);  // not enough of something here: no result
  const MPI_Count lengths[] = {giga + 1, giga + 4095}, places[] = {0, giga + 1};
  MPI_Datatype type;
  MPI_Type_indexed_c(2, lengths, places, MPI_CHAR, &type);
  MPI_Type_commit(&type);
  memset(memory.get(), expect::rank == 0 ? 'a' : 'b', Repeated::chunk);
  if (expect::rank == 0) {
    MPI_Send_c(memory.get(), 1, type, 1, 0, MPI_COMM_WORLD);
  } else if (expect::rank == 1) {
    MPI_Status status;
    MPI_Recv_c(memory.get(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status);
    int narrow = 0;
    MPI_Count whole = 0, basics = 0, of_type = 0;
    MPI_Get_count(&status, MPI_BYTE, &narrow);
    MPI_Get_count_c(&status, MPI_BYTE, &whole);
    MPI_Get_elements_c(&status, type, &basics);
    MPI_Get_count_c(&status, type, &of_type);
    EXPECT(narrow == MPI_UNDEFINED && whole == bytes && basics == bytes && of_type == 1, "%d, %lld, %lld, %lld", narrow,
           static_cast<long long>(whole), static_cast<long long>(basics), static_cast<long long>(of_type));
    for (MPI_Count at = 0; at < Repeated::chunk; at += 4096) {
      if (memory.get()[at] == 'a') continue;
      EXPECT(false, "byte %lld did not arrive", static_cast<long long>(at));
      break;
    }
  }
  MPI_Type_free(&type);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  sizes();
  counts();
  if (expect::size > 1) message();
  return expect::finish();
}
