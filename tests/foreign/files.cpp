// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Files through another ABI: its modes, places to seek from and null handle, views, statuses, error handlers, and the
// functions of a data representation with the handles of their side.
#include <mpi.h>

#include <cstdio>
#include <string>
#include <vector>

#include "same.hpp"

namespace {

using expect::rank;
using expect::size;

int handled = 0;
MPI_File of_handler = MPI_FILE_NULL;

void handle(MPI_File* file, int* code, ...) {
  int error_class = -1;
  MPI_Error_class(*code, &error_class);
  SAME(error_class, MPI_ERR_AMODE);
  of_handler = *file;
  ++handled;
}

void modes_and_data(const std::string& path) {
  MPI_File file = MPI_FILE_NULL;
  SAME(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &file),
       MPI_SUCCESS);
  HOLDS(file != MPI_FILE_NULL);
  SAME(MPI_File_c2f(MPI_FILE_NULL), 0);
  HOLDS(MPI_File_f2c(0) == MPI_FILE_NULL && MPI_File_f2c(MPI_File_c2f(file)) == file);
  int amode = 0;
  MPI_File_get_amode(file, &amode);
  SAME(amode, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Datatype turns = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, static_cast<MPI_Aint>(sizeof(int)) * size, &turns);
  MPI_Type_commit(&turns);
  const char native[] = "native";
  SAME(MPI_File_set_view(file, static_cast<MPI_Offset>(sizeof(int)) * rank, MPI_INT, turns, native, MPI_INFO_NULL),
       MPI_SUCCESS);
  const std::vector<int> out(5, rank);
  MPI_Status status;
  SAME(MPI_File_write_all(file, out.data(), 5, MPI_INT, &status), MPI_SUCCESS);
  int count = 0;
  MPI_Get_count(&status, MPI_INT, &count);
  SAME(count, 5);
  MPI_File_seek(file, -2, MPI_SEEK_CUR);
  MPI_Offset place = -1;
  MPI_File_get_position(file, &place);
  SAME(place, 3);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, native, MPI_INFO_NULL);
  MPI_File_seek(file, 0, MPI_SEEK_END);
  MPI_File_get_position(file, &place);
  SAME(place, 5 * size);
  std::vector<int> in(5 * size, -1);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_File_iread_at(file, 0, in.data(), 5 * size, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 5 * size; ++i) SAME(in[i], i % size);
  MPI_Type_free(&turns);
  SAME(MPI_File_close(&file), MPI_SUCCESS);
  HOLDS(file == MPI_FILE_NULL);
}

void errors(const std::string& path) {
  MPI_File file = MPI_FILE_NULL;
  int error_class = -1;
  const int error = MPI_File_open(MPI_COMM_SELF, (path + ".none").c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_Error_class(error, &error_class);
  SAME(error_class, MPI_ERR_NO_SUCH_FILE);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_File_create_errhandler(handle, &handler);
  MPI_File_set_errhandler(MPI_FILE_NULL, handler);
  MPI_Errhandler_free(&handler);
  MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  SAME(handled, 1);
  HOLDS(of_handler == MPI_FILE_NULL);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
}

int state = 0;
int extent_of(MPI_Datatype type, MPI_Aint* extent, void* extra) {
  HOLDS(extra == &state);
  SAME(type, MPI_INT);
  *extent = sizeof(int);
  return MPI_SUCCESS;
}
int negate(void* memory, MPI_Datatype type, int count, void* in_file, MPI_Offset position, void* extra) {
  HOLDS(extra == &state);
  SAME(type, MPI_INT);
  ++state;
  for (int i = 0; i < count; ++i) static_cast<int*>(memory)[position + i] = -static_cast<int*>(in_file)[i];
  return MPI_SUCCESS;
}

void representations(const std::string& path) {
  SAME(MPI_Register_datarep("negative", negate, MPI_CONVERSION_FN_NULL, extent_of, &state), MPI_SUCCESS);
  MPI_File file = MPI_FILE_NULL;
  MPI_File_open(MPI_COMM_SELF, (path + std::to_string(rank)).c_str(),
                MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  const int out[] = {1, 2, 3};
  MPI_File_write_at(file, 0, out, 3, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "negative", MPI_INFO_NULL);
  int in[] = {0, 0, 0};
  MPI_File_read_at(file, 0, in, 3, MPI_INT, MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; ++i) SAME(in[i], -out[i]);
  HOLDS(state > 0);
  MPI_File_close(&file);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  // In the folder that the test runs in, named after the number of ranks: rows run at the same time.
  const std::string path = "foreign_files." + std::to_string(size);
  modes_and_data(path);
  errors(path);
  representations(path);
  return expect::finish();
}
