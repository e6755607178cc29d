// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Info objects with whatever keys and values, and the functions that read hints from them.
#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "fuzz.hpp"

using namespace weft;

namespace {

const std::vector<std::string> keys = {"mpi_assert_no_any_tag",
                                       "mpi_assert_no_any_source",
                                       "mpi_assert_exact_length",
                                       "mpi_assert_allow_overtaking",
                                       "mpi_assert_strict_persistent_collective_ordering",
                                       "thread_level",
                                       "mpi_memory_alloc_kinds",
                                       "mpi_minimum_memory_alignment",
                                       "mpi_hw_resource_type",
                                       "mpi_pset_name",
                                       "mpi_size"};

int class_of(int code) {
  int result = -1;
  MPI_Error_class(code, &result);
  return result;
}

// A value that is set can be read, whole and cut.
void check_entry(MPI_Info info, const std::string& key, const std::string& value, size_t room) {
  char text[MPI_MAX_INFO_VAL + 1];
  int flag = 0;
  int length = static_cast<int>(sizeof text);
  FUZZ_CHECK(MPI_Info_get_string(info, key.c_str(), &length, text, &flag) == MPI_SUCCESS && flag);
  FUZZ_CHECK(value == text && length == static_cast<int>(value.size()) + 1);
  length = static_cast<int>(room);
  text[room] = 'x';
  FUZZ_CHECK(MPI_Info_get_string(info, key.c_str(), &length, text, &flag) == MPI_SUCCESS && text[room] == 'x');
  FUZZ_CHECK(room == 0 || value.compare(0, room - 1, text) == 0);
  FUZZ_CHECK(MPI_Info_get_valuelen(info, key.c_str(), &length, &flag) == MPI_SUCCESS &&
             length == static_cast<int>(value.size()));
}

void use(fuzz::Random& random, MPI_Info info) {
  switch (random.below(5)) {
    case 0: {
      const int error = class_of(MPI_Comm_set_info(MPI_COMM_SELF, info));
      FUZZ_CHECK(error == MPI_SUCCESS || error == MPI_ERR_INFO_VALUE);
      break;
    }
    case 1: {
      MPI_Comm comm = MPI_COMM_NULL;
      if (MPI_Comm_dup_with_info(MPI_COMM_SELF, info, &comm) == MPI_SUCCESS) MPI_Comm_free(&comm);
      break;
    }
    case 2: {
      MPI_Session session = MPI_SESSION_NULL;
      const int error = class_of(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
      FUZZ_CHECK(error == MPI_SUCCESS || error == MPI_ERR_INFO_VALUE);
      if (error == MPI_SUCCESS) MPI_Session_finalize(&session);
      break;
    }
    case 3: {
      void* memory = nullptr;
      const int error = MPI_Alloc_mem(static_cast<MPI_Aint>(random.below(10000)), info, &memory);
      FUZZ_CHECK(error == MPI_SUCCESS || error == MPI_ERR_INFO_VALUE || error == MPI_ERR_NO_MEM);
      if (error == MPI_SUCCESS) MPI_Free_mem(memory);
      break;
    }
    default: {
      MPI_Comm comm = MPI_COMM_NULL;
      const int types[] = {MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_HW_UNGUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED,
                           MPI_COMM_TYPE_SHARED};
      if (MPI_Comm_split_type(MPI_COMM_SELF, types[random.below(4)], 0, info, &comm) == MPI_SUCCESS &&
          comm != MPI_COMM_NULL) {
        MPI_Comm_free(&comm);
      }
    }
  }
}

void one(fuzz::Random& random, const std::string& text) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info copy = MPI_INFO_NULL;
  FUZZ_CHECK(MPI_Info_create(&info) == MPI_SUCCESS);
  int entries = 0;
  for (size_t i = random.below(4) + 1; i > 0; --i) {
    const bool known = random.below(3) != 0;
    const std::string key = known ? keys[random.below(keys.size())] : fuzz::mutate(random, keys).c_str();
    const std::string value = text.c_str();  // up to its first null
    const bool fits = !key.empty() && key.size() < MPI_MAX_INFO_KEY && value.size() < MPI_MAX_INFO_VAL;
    const int error = class_of(MPI_Info_set(info, key.c_str(), value.c_str()));
    FUZZ_CHECK((error == MPI_SUCCESS) == fits);
    FUZZ_CHECK(fits || error == MPI_ERR_INFO_KEY || error == MPI_ERR_INFO_VALUE);
    if (fits) check_entry(info, key, value, random.below(MPI_MAX_INFO_VAL));
  }
  FUZZ_CHECK(MPI_Info_get_nkeys(info, &entries) == MPI_SUCCESS);
  FUZZ_CHECK(MPI_Info_dup(info, &copy) == MPI_SUCCESS);
  for (int i = 0; i < entries; ++i) {
    char key[MPI_MAX_INFO_KEY];
    FUZZ_CHECK(MPI_Info_get_nthkey(info, 0, key) == MPI_SUCCESS && MPI_Info_delete(info, key) == MPI_SUCCESS);
  }
  use(random, copy);
  MPI_Info_free(&info);
  MPI_Info_free(&copy);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int status = fuzz::run(
      argc, argv,
      {"true", "false", "TRUE", "1", "0", "", "MPI_THREAD_MULTIPLE", "MPI_THREAD_SINGLE", "mpi,system,mpi:alloc_mem",
       "cuda:device,rocm", "4096", "-1", "hwloc://NUMANode", "mpi_shared_memory", "mpi://WORLD", "mpi://SELF", "64"},
      one);
  MPI_Finalize();
  return status;
}
