// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Datatypes: sizes and extents, packing, names, life while in use.
#include <climits>
#include <cstring>
#include <vector>

#include "expect.hpp"

namespace {

constexpr MPI_Count huge = MPI_Count{1} << 40;

void expect_sizes(MPI_Datatype type, MPI_Count size, MPI_Count lb, MPI_Count extent, const char* what) {
  MPI_Count found_size = -1, found_lb = -1, found_extent = -1;
  MPI_Type_size_c(type, &found_size);
  MPI_Type_get_extent_c(type, &found_lb, &found_extent);
  EXPECT(found_size == size && found_lb == lb && found_extent == extent, "%s: size %lld, lower bound %lld, extent %lld",
         what, static_cast<long long>(found_size), static_cast<long long>(found_lb),
         static_cast<long long>(found_extent));
}

void sizes() {
  int size = 0;
  MPI_Aint lb = -1, extent = -1;
  MPI_Type_size(MPI_DOUBLE, &size);
  EXPECT(size == 8, "MPI_DOUBLE has %d bytes", size);
  MPI_Type_get_extent(MPI_SHORT_INT, &lb, &extent);
  EXPECT(lb == 0 && extent == 8, "MPI_SHORT_INT: %ld, %ld", static_cast<long>(lb), static_cast<long>(extent));
  MPI_Datatype type, other;
  MPI_Type_vector(3, 2, 4, MPI_INT, &type);
  expect_sizes(type, 24, 0, 40, "vector");
  MPI_Type_create_resized(type, -4, 64, &other);
  expect_sizes(other, 24, -4, 64, "resized");
  MPI_Type_get_true_extent(other, &lb, &extent);
  EXPECT(lb == 0 && extent == 40, "true extent %ld from %ld", static_cast<long>(extent), static_cast<long>(lb));
  MPI_Type_free(&type);
  MPI_Type_free(&other);
  MPI_Type_create_hvector(2, 1, 100, MPI_CHAR, &type);
  expect_sizes(type, 2, 0, 101, "hvector");
  MPI_Type_free(&type);
  MPI_Type_contiguous_c(huge, MPI_INT, &type);
  expect_sizes(type, 4 * huge, 0, 4 * huge, "huge");
  MPI_Type_size(type, &size);
  EXPECT(size == MPI_UNDEFINED, "a size beyond int is %d", size);
  MPI_Type_free(&type);
  EXPECT(type == MPI_DATATYPE_NULL, "not set to MPI_DATATYPE_NULL");
}

void packing() {
  int matrix[4][5], back[4][5] = {}, position = 0, room = 0;
  for (int i = 0; i < 20; ++i) matrix[i / 5][i % 5] = i;
  MPI_Datatype column;
  MPI_Type_vector(4, 1, 5, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Pack_size(2, column, MPI_COMM_WORLD, &room);
  EXPECT(room == 32, "%d bytes", room);
  char packed[100];
  double number = 2.5, again = 0;
  MPI_Pack(&matrix[0][1], 1, column, packed, 100, &position, MPI_COMM_WORLD);
  MPI_Pack(&number, 1, MPI_DOUBLE, packed, 100, &position, MPI_COMM_WORLD);
  EXPECT(position == 24, "position %d", position);
  MPI_Count where = 0;
  MPI_Unpack_c(packed, 24, &where, &back[0][1], 1, column, MPI_COMM_WORLD);
  MPI_Unpack_c(packed, 24, &where, &again, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  EXPECT(where == 24 && again == 2.5, "position %lld, number %g", static_cast<long long>(where), again);
  for (int i = 0; i < 20; ++i) {
    int wanted = i % 5 == 1 ? i : 0;
    EXPECT(back[i / 5][i % 5] == wanted, "element %d is %d", i, back[i / 5][i % 5]);
  }
  position = 20;
  EXPECT_CLASS(MPI_Pack(&number, 1, MPI_DOUBLE, packed, 24, &position, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
  EXPECT_CLASS(MPI_Unpack(packed, 24, &position, &number, 1, MPI_DOUBLE, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
  EXPECT(position == 20, "a failed call moved the position to %d", position);
  MPI_Type_free(&column);
}

void expect_name(MPI_Datatype type, const char* wanted) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1;
  MPI_Type_get_name(type, name, &length);
  EXPECT(strcmp(name, wanted) == 0 && length == static_cast<int>(strlen(wanted)), "\"%s\", not %s", name, wanted);
}

void names() {
  expect_name(MPI_INT, "MPI_INT");
  expect_name(MPI_LONG_LONG_INT, "MPI_LONG_LONG");
  expect_name(MPI_COMPLEX32, "MPI_COMPLEX32");
  expect_name(MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL");
  MPI_Datatype type, dup;
  MPI_Type_contiguous(2, MPI_INT, &type);
  expect_name(type, "");
  MPI_Type_set_name(type, "two");
  expect_name(type, "two");
  MPI_Type_dup(type, &dup);
  expect_name(dup, "");
  MPI_Type_free(&type);
  MPI_Type_free(&dup);
}

// A type may be freed while a message of it is under way.
void freed_in_use() {
  std::vector<int> out(40000), in(out.size(), -1);
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int>(i);
  MPI_Datatype type;
  MPI_Request requests[2];
  MPI_Type_vector(20000, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Irecv(in.data(), 1, type, 0, 0, MPI_COMM_SELF, &requests[0]);
  MPI_Isend(out.data(), 1, type, 0, 0, MPI_COMM_SELF, &requests[1]);
  MPI_Datatype copy = type;
  MPI_Type_free(&type);
  int size = 0;
  EXPECT_CLASS(MPI_Type_size(copy, &size), MPI_ERR_TYPE);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (size_t i = 0; i < in.size(); i += 1111) {
    EXPECT(in[i] == (i % 2 == 0 ? static_cast<int>(i) : -1), "element %zu is %d", i, in[i]);
  }
}

void addresses() {
  int pair[2] = {};
  MPI_Aint first = 0, second = 0;
  MPI_Get_address(&pair[0], &first);
  MPI_Get_address(&pair[1], &second);
  EXPECT(MPI_Aint_diff(second, first) == 4 && MPI_Aint_add(first, 4) == second, "wrong differences");
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  sizes();
  packing();
  names();
  freed_in_use();
  addresses();
  return expect::finish();
}
