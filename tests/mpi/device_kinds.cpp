// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The assertion mpi_assert_memory_alloc_kinds of a communicator or window, with a driver of devices in use: if it names
// kinds of the host alone, data of the host pass by all ways; if it names a device's, data on the device do. A wider
// assertion replaces a narrower one. The argument is the driver; with `mock` there are no kinds of devices, and the
// processor that touches its memory faults: so a call that looks at no address is told from one that does.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "on_device.hpp"

namespace {

using namespace on_device;

int next() {
  return (expect::rank + 1) % expect::size;
}
int before() {
  return (expect::rank + expect::size - 1) % expect::size;
}

MPI_Info asserting(const std::string& kinds) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", kinds.c_str());
  return info;
}

// Messages of every path, with gaps and without, and collective operations.
void pass(const std::string& kinds, MPI_Comm comm, Where where) {
  for (const int count : {2, 5000, 300000}) {
    const std::vector<int> ours = numbered(static_cast<size_t>(count), expect::rank);
    const std::vector<int> theirs = numbered(static_cast<size_t>(count), before());
    Data out(where, ours), in(where, std::vector<int>(static_cast<size_t>(count), -1));
    MPI_Sendrecv(out.get(), count, MPI_INT, next(), 1, in.get(), count, MPI_INT, before(), 1, comm, MPI_STATUS_IGNORE);
    expect_same((kinds + ": MPI_Sendrecv").c_str(), in.values(), theirs);
    MPI_Datatype odd;
    MPI_Type_vector(count / 2, 1, 2, MPI_INT, &odd);
    MPI_Type_commit(&odd);
    in.set(std::vector<int>(static_cast<size_t>(count), -1));
    MPI_Request request;
    MPI_Irecv(in.get(), 1, odd, before(), 2, comm, &request);
    MPI_Ssend(out.get(), 1, odd, next(), 2, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    std::vector<int> wanted(static_cast<size_t>(count), -1);
    for (size_t i = 0; i + 1 < wanted.size(); i += 2) wanted[i] = theirs[i];
    expect_same((kinds + ": with gaps").c_str(), in.values(), wanted);
    MPI_Type_free(&odd);
    MPI_Allreduce(out.get(), in.get(), count, MPI_INT, MPI_MIN, comm);
    expect_same((kinds + ": MPI_Allreduce").c_str(), in.values(), numbered(static_cast<size_t>(count), 0));
    MPI_Bcast(out.get(), count, MPI_INT, expect::size - 1, comm);
    expect_same((kinds + ": MPI_Bcast").c_str(), out.values(), numbered(static_cast<size_t>(count), expect::size - 1));
  }
}

void on_window(const std::string& kinds, Where where) {
  constexpr int count = 1000;
  MPI_Info info = asserting(kinds);
  MPI_Win win;
  int* memory = nullptr;
  MPI_Win_allocate(count * sizeof(int), sizeof(int), info, MPI_COMM_WORLD, &memory, &win);
  MPI_Info_free(&info);
  Data data(where, numbered(count, expect::rank)), result(where, std::vector<int>(count, -1));
  MPI_Win_lock_all(0, win);
  MPI_Put(data.get(), count, MPI_INT, next(), 0, count, MPI_INT, win);
  MPI_Win_flush(next(), win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Get(result.get(), count, MPI_INT, expect::rank, 0, count, MPI_INT, win);
  MPI_Win_flush(expect::rank, win);
  expect_same((kinds + ": MPI_Put and MPI_Get").c_str(), result.values(), numbered(count, before()));
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

void asserted(const std::string& kinds, Where where) {
  MPI_Comm comm;
  MPI_Info info = asserting(kinds);
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  MPI_Info_free(&info);
  pass(kinds, comm, where);
  MPI_Comm_free(&comm);
  on_window(kinds, where);
}

// Whether a call that is given memory of the device touches it, in a process of its own.
template <class Call>
bool touches(Call&& call) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    call();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status != 0;
}

// Packing, updates and files, each with an assertion and without.
void looks_at_nothing() {
  constexpr int count = 4;
  Data there(Where::device, numbered(count, 0));
  int packed[count], one = 1;
  MPI_Datatype odd;
  MPI_Type_vector(count / 2, 1, 2, MPI_INT, &odd);
  MPI_Type_commit(&odd);
  for (const bool asserts : {false, true}) {
    MPI_Info info = asserting(asserts ? "system" : "unknown");
    MPI_Comm comm;
    MPI_Comm_dup_with_info(MPI_COMM_SELF, info, &comm);
    MPI_Win win;
    int* memory = nullptr;
    MPI_Win_allocate(count * sizeof(int), sizeof(int), info, MPI_COMM_SELF, &memory, &win);
    char name[] = "/tmp/weft_device_kinds_XXXXXX";
    close(mkstemp(name));
    MPI_File file;
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file);
    MPI_Info_free(&info);
    MPI_Win_lock_all(0, win);
    int at = 0;
    EXPECT(touches([&] { MPI_Pack(there.get(), 1, odd, packed, sizeof packed, &at, comm); }) == asserts, "MPI_Pack");
    EXPECT(touches([&] { MPI_Unpack(packed, sizeof packed, &at, there.get(), 1, odd, comm); }) == asserts,
           "MPI_Unpack");
    EXPECT(touches([&] { MPI_Compare_and_swap(there.get(), &one, packed, MPI_INT, 0, 0, win); }) == asserts,
           "MPI_Compare_and_swap");
    EXPECT(touches([&] { MPI_Accumulate(there.get(), 1, odd, 0, 0, 1, odd, MPI_SUM, win); }) == asserts,
           "MPI_Accumulate");
    EXPECT(touches([&] { MPI_File_write_at(file, 0, there.get(), 1, odd, MPI_STATUS_IGNORE); }) == asserts,
           "MPI_File_write_at");
    char told[64] = "";
    int found = 0;
    MPI_File_get_info(file, &info);
    MPI_Info_get(info, "mpi_assert_memory_alloc_kinds", 63, told, &found);
    EXPECT((found != 0) == asserts && std::strcmp(told, asserts ? "system" : "") == 0, "the file tells %s", told);
    MPI_Info_free(&info);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_File_close(&file);
    MPI_Comm_free(&comm);
  }
  MPI_Type_free(&odd);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  if (argc > 1) driver = argv[1];
  asserted("system", Where::host);
  asserted("mpi,system", Where::host);
  if (std::strcmp(driver, "mock") == 0) {
    looks_at_nothing();
  } else {
    asserted("cuda:device", Where::device);
    asserted("cuda:host,cuda", Where::device);
    asserted("system,cuda:managed", Where::host);
    // From the host alone to all.
    MPI_Comm comm;
    MPI_Info narrow = asserting("system"), wide = asserting("system,cuda:device");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, narrow, &comm);
    pass("narrow", comm, Where::host);
    MPI_Comm_set_info(comm, wide);
    pass("wide", comm, Where::device);
    MPI_Comm_free(&comm);
    MPI_Info_free(&narrow);
    MPI_Info_free(&wide);
  }
  return expect::finish();
}
