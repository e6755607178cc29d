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
  life();
  questions();
  packing();
  return expect::finish();
}
