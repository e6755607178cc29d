// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Every function that takes a handle gets handles that are none (every_handle.py): random ones, addresses of other
// memory, places within live objects. Each call gives an error, and the program goes on.
//   every_handle [trace]    trace: the name of each call first
#include "every_handle.hpp"

#include <cstdint>
#include <cstring>
#include <random>

#include "expect.hpp"

namespace {

std::mt19937_64 numbers(20261126);
MPI_Comm live_comm = MPI_COMM_NULL;
MPI_Datatype live_type = MPI_DATATYPE_NULL;
char other_memory[4096];

// Each argument of a call has a part of its own.
constexpr size_t part_bytes = 4096;
constexpr size_t parts = 16;
alignas(64) char memory[parts][part_bytes];
size_t next_part = 0;

uintptr_t address_of_live() {
  if constexpr (sizeof(MPI_Comm) == sizeof(void*)) {
    uintptr_t address;
    memcpy(&address, numbers() % 2 == 0 ? static_cast<void*>(&live_comm) : static_cast<void*>(&live_type),
           sizeof address);
    return address;
  }
  return reinterpret_cast<uintptr_t>(other_memory);
}

}  // namespace

void* wrong_pointer() {
  switch (numbers() % 4) {
    case 0:
      return reinterpret_cast<void*>(numbers());
    case 1:
      return reinterpret_cast<void*>(uintptr_t{0x600} + numbers() % 0xa00);  // where the standard has no handle
    case 2:
      return other_memory + numbers() % sizeof other_memory;
    default:
      return reinterpret_cast<void*>(address_of_live() + 1 + numbers() % 63);  // objects begin at multiples of 64
  }
}

int wrong_integer() {
  const auto number = static_cast<uint32_t>(numbers());
  switch (numbers() % 3) {
    case 0:
      return static_cast<int>(0xc8000000U + (number >> 6));  // behind all objects
    case 1:
      return static_cast<int>(number % 4096);
    default:
      return static_cast<int>(number >> 30 == 3 ? number & 0x7fffffffU : number);
  }
}

void* cleared_room() {
  char* part = memory[next_part++ % parts];
  memset(part, 0, part_bytes);
  return part;
}

int main(int argc, char** argv) {
  constexpr int rounds = 60;
  expect::start(&argc, &argv);
  const bool trace = argc > 1 && strcmp(argv[1], "trace") == 0;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Comm_dup(MPI_COMM_SELF, &live_comm);
  MPI_Type_contiguous(3, MPI_INT, &live_type);
  EXPECT(call_count > 400, "%d calls", call_count);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < call_count; ++i) {
      if (trace) fprintf(stderr, "%s\n", calls[i].name);
      next_part = 0;
      const int error = calls[i].function();
      EXPECT(error != MPI_SUCCESS || !calls[i].must_fail, "%s gave no error", calls[i].name);
    }
  }
  int number = 0;
  EXPECT(MPI_Comm_size(live_comm, &number) == MPI_SUCCESS && number == 1, "a live communicator");
  EXPECT(MPI_Type_size(live_type, &number) == MPI_SUCCESS && number == 3 * static_cast<int>(sizeof(int)),
         "a live type");
  MPI_Comm_free(&live_comm);
  MPI_Type_free(&live_type);
  MPI_T_finalize();
  return expect::finish();
}
