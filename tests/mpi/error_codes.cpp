// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Error classes and codes of the standard, and those a program adds and removes.
#include <cstring>

#include "expect.hpp"

namespace {

void expect_text(int code, const char* wanted) {
  char text[MPI_MAX_ERROR_STRING];
  int length = -1;
  MPI_Error_string(code, text, &length);
  EXPECT(strcmp(text, wanted) == 0 && length == static_cast<int>(strlen(wanted)), "\"%s\", %d", text, length);
}

int last_used() {
  int* value = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
  return flag ? *value : -1;
}

void every_class_has_a_text() {
  for (int code = MPI_SUCCESS; code <= MPI_ERR_ABI; ++code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    EXPECT(expect::class_of(code) == code, "class %d is in another", code);
    MPI_Error_string(code, text, &length);
    EXPECT(length > 8 && strncmp(text, "MPI_", 4) == 0, "%d is \"%s\"", code, text);
  }
}

void adding_and_removing() {
  int added = 0, code = 0, other = 0, standard = 0;
  EXPECT(last_used() == MPI_ERR_LASTCODE, "last %d", last_used());
  MPI_Add_error_class(&added);
  EXPECT(added > MPI_ERR_LASTCODE && last_used() == added, "class %d, last %d", added, last_used());
  MPI_Add_error_code(added, &code);
  MPI_Add_error_code(MPI_ERR_IO, &standard);
  EXPECT(expect::class_of(code) == added && expect::class_of(standard) == MPI_ERR_IO, "wrong classes");
  EXPECT(last_used() == standard, "last %d", last_used());
  expect_text(code, "");
  MPI_Add_error_string(code, "the pump is dry");
  MPI_Add_error_string(added, "pumps");
  expect_text(code, "the pump is dry");
  expect_text(added, "pumps");
  EXPECT_CLASS(MPI_Remove_error_class(added), MPI_ERR_ARG);  // has a code
  EXPECT_CLASS(MPI_Remove_error_code(code), MPI_ERR_ARG);    // has a string
  EXPECT_CLASS(MPI_Remove_error_string(code), MPI_SUCCESS);
  expect_text(code, "");
  EXPECT_CLASS(MPI_Remove_error_code(code), MPI_SUCCESS);
  EXPECT_CLASS(MPI_Error_class(code, &other), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Remove_error_class(added), MPI_ERR_ARG);  // has a string
  EXPECT_CLASS(MPI_Remove_error_string(added), MPI_SUCCESS);
  EXPECT_CLASS(MPI_Remove_error_class(added), MPI_SUCCESS);
  EXPECT_CLASS(MPI_Remove_error_code(standard), MPI_SUCCESS);
  EXPECT(last_used() == standard, "codes do not come back: last %d", last_used());
}

void wrong_arguments() {
  int value = 0;
  char longer[MPI_MAX_ERROR_STRING + 1];
  memset(longer, 'x', sizeof longer);
  longer[MPI_MAX_ERROR_STRING] = '\0';
  EXPECT_CLASS(MPI_Error_class(-1, &value), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Error_class(MPI_ERR_IO, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Error_string(MPI_ERR_LASTCODE, longer, &value), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Add_error_class(nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Add_error_code(9999, &value), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Add_error_string(MPI_ERR_IO, "mine"), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Remove_error_class(MPI_ERR_IO), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Remove_error_code(MPI_ERR_IO), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Remove_error_string(MPI_ERR_IO), MPI_ERR_ARG);
  MPI_Add_error_class(&value);
  EXPECT_CLASS(MPI_Add_error_string(value, longer), MPI_ERR_ARG);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  every_class_has_a_text();
  adding_and_removing();
  wrong_arguments();
  return expect::finish();
}
