// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The functions that the standard allows before MPI_Init and after MPI_Finalize (MPI-5.0, 11.4.1).
#include <cstring>

#include "expect.hpp"

namespace {

void ignore(MPI_Comm*, int*, ...) {}

void use_what_needs_no_init() {
  int length = 0, flag = -1, added = 0, code = 0, found = 0;
  char text[MPI_MAX_ERROR_STRING];
  EXPECT(MPI_Error_string(MPI_ERR_RANK, text, &length) == MPI_SUCCESS && strstr(text, "MPI_ERR_RANK"), "\"%s\"", text);
  EXPECT(MPI_Add_error_class(&added) == MPI_SUCCESS && added > MPI_ERR_LASTCODE, "class %d", added);
  EXPECT(MPI_Add_error_code(added, &code) == MPI_SUCCESS && code != added, "code %d", code);
  EXPECT(MPI_Error_class(code, &found) == MPI_SUCCESS && found == added, "class %d", found);
  MPI_Info info = MPI_INFO_NULL;
  EXPECT(MPI_Info_create(&info) == MPI_SUCCESS && info != MPI_INFO_NULL, "no info");
  MPI_Info_set(info, "key", "value");
  MPI_Info_get(info, "key", 10, text, &flag);
  EXPECT(flag == 1 && strcmp(text, "value") == 0, "\"%s\"", text);
  MPI_Info_free(&info);
  EXPECT(info == MPI_INFO_NULL, "not set to MPI_INFO_NULL");
  int keys = 0;
  EXPECT(MPI_Info_get_nkeys(MPI_INFO_ENV, &keys) == MPI_SUCCESS && keys > 0, "%d keys in MPI_INFO_ENV", keys);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  EXPECT(MPI_Comm_create_errhandler(ignore, &handler) == MPI_SUCCESS, "no error handler");
  MPI_Errhandler_free(&handler);
  EXPECT(handler == MPI_ERRHANDLER_NULL, "not set to MPI_ERRHANDLER_NULL");
  EXPECT(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD, "MPI_COMM_WORLD is another integer");
  EXPECT(MPI_Wtime() > 0, "no time");
}

}  // namespace

int main(int argc, char** argv) {
  use_what_needs_no_init();
  MPI_Init(&argc, &argv);
  use_what_needs_no_init();
  MPI_Finalize();
  use_what_needs_no_init();
  return expect::failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
