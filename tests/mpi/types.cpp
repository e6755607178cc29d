// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Datatypes: sizes and extents, counts of messages, packing, names, how a type was made, life while in use.
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

// What a message of `bytes` counts as.
void expect_counts(MPI_Datatype type, int basics_set, int count, int elements, const char* what) {
  MPI_Status status;
  int found = -1, basics = -1;
  MPI_Count large = -1;
  MPI_Status_set_elements(&status, type, basics_set);
  MPI_Get_count(&status, type, &found);
  MPI_Get_elements(&status, type, &basics);
  MPI_Get_elements_x(&status, type, &large);
  EXPECT(found == count && basics == elements && large == elements, "%s of %d: %d, %d", what, basics_set, found,
         basics);
}

void counts() {
  MPI_Datatype three, pairs;
  MPI_Type_vector(3, 1, 2, MPI_INT, &three);
  MPI_Type_contiguous(2, MPI_DOUBLE_INT, &pairs);
  expect_counts(MPI_INT, 5, 5, 5, "ints");
  expect_counts(three, 6, 2, 6, "vectors");
  expect_counts(three, 7, MPI_UNDEFINED, 7, "vectors");
  expect_counts(pairs, 4, 1, 4, "pairs");
  expect_counts(pairs, 5, MPI_UNDEFINED, 5, "pairs");
  MPI_Status status;
  int count = 0;
  MPI_Status_set_elements_c(&status, MPI_BYTE, 13);
  MPI_Get_elements(&status, MPI_INT, &count);
  EXPECT(count == MPI_UNDEFINED, "13 bytes are %d ints", count);
  MPI_Status_set_elements_c(&status, MPI_BYTE, huge);
  MPI_Get_count(&status, MPI_BYTE, &count);
  MPI_Count large = 0;
  MPI_Get_count_c(&status, MPI_BYTE, &large);
  EXPECT(count == MPI_UNDEFINED && large == huge, "%d, %lld", count, static_cast<long long>(large));
  MPI_Type_free(&three);
  MPI_Type_free(&pairs);
}

void status_fields() {
  MPI_Status status;
  int value = 0, flag = -1;
  MPI_Status_set_source(&status, 3);
  MPI_Status_set_tag(&status, 4);
  MPI_Status_set_error(&status, 5);
  MPI_Status_get_source(&status, &value);
  EXPECT(value == 3 && status.MPI_SOURCE == 3, "source %d", value);
  MPI_Status_get_tag(&status, &value);
  EXPECT(value == 4 && status.MPI_TAG == 4, "tag %d", value);
  MPI_Status_get_error(&status, &value);
  EXPECT(value == 5 && status.MPI_ERROR == 5, "error %d", value);
  for (int cancelled : {1, 0}) {
    MPI_Status_set_cancelled(&status, cancelled);
    MPI_Test_cancelled(&status, &flag);
    EXPECT(flag == cancelled, "cancelled %d", flag);
  }
}

void packing() {
  int matrix[4][5], back[4][5] = {}, position = 0, room = 0;
  for (int i = 0; i < 20; ++i) matrix[i / 5][i % 5] = i;
  MPI_Datatype column;
  MPI_Type_vector(4, 1, 5, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Pack_size(2, column, MPI_COMM_WORLD, &room);
  EXPECT(room == 32, "room %d", room);
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

void expect_envelope(MPI_Datatype type, int integers, int addresses, int large, int types, int combiner) {
  MPI_Count found[4];
  int made = -1;
  MPI_Type_get_envelope_c(type, &found[0], &found[1], &found[2], &found[3], &made);
  EXPECT(found[0] == integers && found[1] == addresses && found[2] == large && found[3] == types && made == combiner,
         "%lld, %lld, %lld, %lld, combiner %d", static_cast<long long>(found[0]), static_cast<long long>(found[1]),
         static_cast<long long>(found[2]), static_cast<long long>(found[3]), made);
}

void histories() {
  MPI_Datatype inner, outer, wide, parts[1];
  int integers[3] = {}, small[4];
  MPI_Aint addresses[2] = {};
  MPI_Count large[3] = {};
  expect_envelope(MPI_INT, 0, 0, 0, 0, MPI_COMBINER_NAMED);
  MPI_Type_vector(3, 2, 4, MPI_INT, &inner);
  expect_envelope(inner, 3, 0, 0, 1, MPI_COMBINER_VECTOR);
  MPI_Type_get_contents(inner, 3, 0, 1, integers, addresses, parts);
  EXPECT(integers[0] == 3 && integers[1] == 2 && integers[2] == 4 && parts[0] == MPI_INT, "vector of others");
  MPI_Type_create_resized(inner, -8, 80, &outer);
  MPI_Type_free(&inner);  // its history stays
  expect_envelope(outer, 0, 2, 0, 1, MPI_COMBINER_RESIZED);
  MPI_Type_get_contents(outer, 0, 2, 1, nullptr, addresses, parts);
  EXPECT(addresses[0] == -8 && addresses[1] == 80, "%ld, %ld", static_cast<long>(addresses[0]),
         static_cast<long>(addresses[1]));
  expect_envelope(parts[0], 3, 0, 0, 1, MPI_COMBINER_VECTOR);
  expect_sizes(parts[0], 24, 0, 40, "the part");
  MPI_Type_free(&parts[0]);
  MPI_Type_dup(outer, &inner);
  expect_envelope(inner, 0, 0, 0, 1, MPI_COMBINER_DUP);
  MPI_Type_free(&inner);
  MPI_Type_free(&outer);
  MPI_Type_create_hvector_c(2, 3, 50, MPI_CHAR, &wide);
  expect_envelope(wide, 0, 0, 3, 1, MPI_COMBINER_HVECTOR);
  MPI_Type_get_contents_c(wide, 0, 0, 3, 1, nullptr, nullptr, large, parts);
  EXPECT(large[0] == 2 && large[1] == 3 && large[2] == 50 && parts[0] == MPI_CHAR, "hvector of others");
  EXPECT_CLASS(MPI_Type_get_envelope(wide, &small[0], &small[1], &small[2], &small[3]), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Type_get_contents_c(wide, 0, 0, 2, 1, nullptr, nullptr, large, parts), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_get_contents(MPI_INT, 0, 0, 0, nullptr, nullptr, nullptr), MPI_ERR_TYPE);
  MPI_Type_free(&wide);
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
  counts();
  status_fields();
  packing();
  names();
  histories();
  freed_in_use();
  addresses();
  return expect::finish();
}
