// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Two ABIs in one process: a program of one loads a library of the other, which finds its own functions because it is
// loaded with RTLD_DEEPBIND. Compiled once for each ABI.
#include <dlfcn.h>
#include <mpi.h>

#include <filesystem>
#include <string>

#include "same.hpp"

namespace {

// Callbacks of the program, for objects that the library's calls use.
int copied = 0;
int copy_attribute(MPI_Comm comm, int /*keyval*/, void* extra_state, void* value, void* copy, int* flag) {
  ++copied;
  HOLDS(comm == MPI_COMM_WORLD && extra_state == &copied);
  *static_cast<void**>(copy) = value;
  *flag = 1;
  return MPI_SUCCESS;
}
int deleted = 0;
int delete_attribute(MPI_Comm comm, int /*keyval*/, void* /*value*/, void* extra_state) {
  ++deleted;
  HOLDS(comm != MPI_COMM_NULL && extra_state == &copied);
  return MPI_SUCCESS;
}
int errors = 0;
void note_error(MPI_Comm* comm, int* code, ...) {  // NOLINT(cert-dcl50-cpp): the type is the standard's
  ++errors;
  HOLDS(*comm == MPI_COMM_WORLD);
  EXPECT_CLASS(*code, MPI_ERR_ROOT);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  void* library = argc < 2 ? nullptr : dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  EXPECT(library != nullptr, "%s", dlerror());
  if (library != nullptr) {
    auto* checks = reinterpret_cast<int (*)(const char*, int)>(dlsym(library, "other_face_checks"));
    const std::string path = std::filesystem::path(argv[1]).filename().string() + "." +
                             std::filesystem::path(argv[0]).filename().string() + "." + std::to_string(expect::size) +
                             "." + std::to_string(expect::rank);
    int keyval = MPI_KEYVAL_INVALID;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keyval, &copied);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &keyval);
    MPI_Comm_create_errhandler(note_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int i = 0; i < 3; ++i) SAME(checks(path.c_str(), i), 0);
    // The library duplicates the communicator twice each time.
    SAME(copied, 6);
    SAME(deleted, 6);
    SAME(errors, 3);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
    MPI_Comm_free_keyval(&keyval);
    SAME(deleted, 7);
  }
  // The program's own side goes on as before.
  int sum = -1;
  MPI_Allreduce(&expect::rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  SAME(sum, expect::size * (expect::size - 1) / 2);
  return expect::finish();
}
