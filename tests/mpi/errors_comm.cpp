// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments of functions on communicators and of the environment: the class of each error, and that nothing is
// changed.
#include "expect.hpp"

namespace {

void handles() {
  int value = 0;
  char text[MPI_MAX_OBJECT_NAME];
  MPI_Comm comm = MPI_COMM_NULL, freed;
  MPI_Group group;
  EXPECT_CLASS(MPI_Comm_size(MPI_COMM_NULL, &value), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Comm_size(nullptr, &value), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Comm_size(reinterpret_cast<MPI_Comm>(MPI_INT), &value), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Comm_size(reinterpret_cast<MPI_Comm>(&value), &value), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Comm_size(reinterpret_cast<MPI_Comm>(~uintptr_t{63}), &value), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Comm_rank(MPI_COMM_NULL, &value), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Comm_group(MPI_COMM_NULL, &group), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_NULL, &value), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Comm_dup(MPI_COMM_NULL, &comm), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Comm_split(MPI_COMM_NULL, 0, 0, &comm), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Comm_free(&comm), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Comm_get_name(reinterpret_cast<MPI_Comm>(16), text, &value), MPI_ERR_COMM);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  freed = comm;
  MPI_Comm_free(&comm);
  EXPECT_CLASS(MPI_Comm_rank(freed, &value), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Comm_free(&freed), MPI_ERR_COMM);
  auto inside = reinterpret_cast<MPI_Comm>(reinterpret_cast<uintptr_t>(freed) + 8);
  EXPECT_CLASS(MPI_Comm_rank(inside, &value), MPI_ERR_COMM);
}

void values() {
  int value = 0;
  MPI_Comm comm = MPI_COMM_NULL, world = MPI_COMM_WORLD;
  MPI_Group self, other;
  MPI_Comm_group(MPI_COMM_SELF, &self);
  MPI_Comm_group(MPI_COMM_WORLD, &other);
  EXPECT_CLASS(MPI_Comm_size(MPI_COMM_WORLD, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Comm_dup(MPI_COMM_WORLD, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &comm), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, 77, 0, MPI_INFO_NULL, &comm), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &comm), MPI_ERR_GROUP);
  EXPECT_CLASS(MPI_Comm_create_group(MPI_COMM_WORLD, other, -1, &comm), MPI_ERR_TAG);
  if (expect::size > 1) EXPECT_CLASS(MPI_Comm_create(MPI_COMM_SELF, other, &comm), MPI_ERR_GROUP);
  EXPECT_CLASS(MPI_Comm_free(&world), MPI_ERR_COMM);
  EXPECT(world == MPI_COMM_WORLD, "MPI_COMM_WORLD was freed");
  EXPECT_CLASS(MPI_Comm_remote_size(MPI_COMM_WORLD, &value), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Comm_set_info(MPI_COMM_WORLD, MPI_INFO_NULL), MPI_ERR_INFO);
  EXPECT(comm == MPI_COMM_NULL, "a failed call made a communicator");
  MPI_Group_free(&self);
  MPI_Group_free(&other);
}

void environment(int* argc, char*** argv) {
  int value = 0;
  char text[MPI_MAX_PROCESSOR_NAME];
  EXPECT_CLASS(MPI_Init(argc, argv), MPI_ERR_OTHER);
  EXPECT_CLASS(MPI_Init_thread(argc, argv, 5, &value), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Initialized(nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Get_processor_name(text, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Get_version(nullptr, &value), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Abort(MPI_COMM_NULL, 1), MPI_ERR_COMM);
}

void memory() {
  char* memory = nullptr;
  EXPECT_CLASS(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory), MPI_ERR_SIZE);
  EXPECT_CLASS(MPI_Alloc_mem(MPI_Aint{1} << 60, MPI_INFO_NULL, &memory), MPI_ERR_NO_MEM);
  EXPECT_CLASS(MPI_Alloc_mem(1, reinterpret_cast<MPI_Info>(64), &memory), MPI_ERR_INFO);
  EXPECT_CLASS(MPI_Alloc_mem(1, MPI_INFO_NULL, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Free_mem(&memory), MPI_ERR_BASE);
  EXPECT_CLASS(MPI_Alloc_mem(100000, MPI_INFO_NULL, &memory), MPI_SUCCESS);
  for (int i = 0; i < 100000; ++i) memory[i] = static_cast<char>(i);
  EXPECT(memory[99999] == static_cast<char>(99999), "the memory forgets");
  EXPECT_CLASS(MPI_Free_mem(memory), MPI_SUCCESS);
  EXPECT_CLASS(MPI_Free_mem(memory), MPI_ERR_BASE);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  handles();
  values();
  environment(&argc, &argv);
  memory();
  return expect::finish();
}
