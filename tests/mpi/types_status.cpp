// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The counts of a message, in elements and in basic elements of a datatype; the fields of a status.
#include <cstddef>

#include "expect.hpp"

namespace {

constexpr MPI_Count huge = MPI_Count{1} << 40;

// The counts of a message of `bytes`.
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

// A struct of an int, two doubles and a pair: 26 bytes, 5 basic elements, which end at these bytes.
void counts_of_mixed() {
  const int lengths[] = {1, 2, 1};
  const MPI_Aint places[] = {0, 8, 24};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_SHORT_INT};
  const int ends[] = {0, 4, 12, 20, 22, 26};
  MPI_Datatype mixed, twice, none;
  MPI_Type_create_struct(3, lengths, places, types, &mixed);
  MPI_Type_contiguous(2, mixed, &twice);
  for (int basics = 0; basics < 15; ++basics) {
    expect_counts(mixed, basics, basics % 5 == 0 ? basics / 5 : MPI_UNDEFINED, basics, "structs");
    expect_counts(twice, basics, basics % 10 == 0 ? basics / 10 : MPI_UNDEFINED, basics, "two structs");
    MPI_Status status;
    int bytes = -1;
    MPI_Status_set_elements(&status, mixed, basics);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    EXPECT(bytes == basics / 5 * 26 + ends[basics % 5], "%d basic elements are %d bytes", basics, bytes);
  }
  for (int bytes = 0; bytes < 60; ++bytes) {
    MPI_Status status;
    int wanted = MPI_UNDEFINED, found = -1;
    for (int i = 0; i < 5; ++i) {
      if (bytes % 26 == ends[i]) wanted = bytes / 26 * 5 + i;
    }
    MPI_Status_set_elements(&status, MPI_BYTE, bytes);
    MPI_Get_elements(&status, mixed, &found);
    EXPECT(found == wanted, "%d bytes are %d basic elements, not %d", bytes, found, wanted);
  }
  MPI_Type_create_struct(0, nullptr, nullptr, nullptr, &none);
  expect_counts(none, 0, 0, 0, "nothing");
  MPI_Type_free(&none);
  MPI_Type_free(&twice);
  MPI_Type_free(&mixed);
}

// The counts of a receive of less than an element.
void received() {
  struct Row {
    int key;
    double value;
  } out = {7, 2.5}, in[2] = {{-1, -1}, {-1, -1}};
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, offsetof(Row, value)};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  MPI_Datatype row;
  MPI_Type_create_struct(2, lengths, places, types, &row);
  MPI_Type_commit(&row);
  MPI_Status status;
  int count = -1, basics = -1;
  MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, in, 2, row, 0, 1, MPI_COMM_SELF, &status);
  MPI_Get_count(&status, row, &count);
  MPI_Get_elements(&status, row, &basics);
  EXPECT(count == MPI_UNDEFINED && basics == 1, "%d elements, %d basic ones", count, basics);
  EXPECT(in[0].key == 7 && in[0].value == -1, "key %d, value %g", in[0].key, in[0].value);
  MPI_Sendrecv(&out, 1, row, 0, 1, in, 2, row, 0, 1, MPI_COMM_SELF, &status);
  MPI_Get_count(&status, row, &count);
  MPI_Get_elements(&status, row, &basics);
  EXPECT(count == 1 && basics == 2, "%d elements, %d basic ones", count, basics);
  EXPECT(in[0].key == 7 && in[0].value == 2.5, "key %d, value %g", in[0].key, in[0].value);
  MPI_Type_free(&row);
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

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  counts();
  counts_of_mixed();
  received();
  status_fields();
  return expect::finish();
}
