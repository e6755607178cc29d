// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Memory of MPI_Alloc_mem and of windows takes pages when it is touched and gives them back when it is freed; a piece
// may be larger than the heap's range; more than the machine has is refused, in one piece and in many.
#include <dirent.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "expect.hpp"

namespace {

constexpr MPI_Aint page = 4096;
constexpr MPI_Aint gib = MPI_Aint{1} << 30;

// Pages of [at, at + bytes) that are in memory, whoever touched them.
size_t touched(const void* at, MPI_Aint bytes) {
  std::vector<unsigned char> in_memory(static_cast<size_t>((bytes + page - 1) / page));
  if (mincore(const_cast<void*>(at), static_cast<size_t>(bytes), in_memory.data()) != 0) return SIZE_MAX;
  size_t count = 0;
  for (unsigned char one : in_memory) count += one & 1;
  return count;
}

// 512-byte blocks of the job's segment that the system has given it.
int64_t blocks_of_segment() {
  DIR* folder = opendir("/proc/self/fd");
  int64_t blocks = -1;
  while (const dirent* entry = folder != nullptr ? readdir(folder) : nullptr) {
    char link[256] = "";
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    struct stat file;
    if (readlink(path.c_str(), link, sizeof link - 1) > 0 && std::strncmp(link, "/memfd:weft", 11) == 0 &&
        stat(path.c_str(), &file) == 0) {
      blocks = file.st_blocks;
    }
  }
  if (folder != nullptr) closedir(folder);
  return blocks;
}

MPI_Aint available() {
  FILE* file = std::fopen("/proc/meminfo", "r");
  char line[256];
  long kib = 0;
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr) {
    if (std::sscanf(line, "MemAvailable: %ld kB", &kib) == 1) break;
  }
  if (file != nullptr) std::fclose(file);
  return MPI_Aint{kib} * 1024;
}

// All ranks would need their share.
MPI_Aint some_gib() {
  return available() > 4 * gib * expect::size ? gib : gib / 16;
}

void untouched_until_touched() {
  const MPI_Aint bytes = some_gib();
  char* memory = nullptr;
  MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory);
  EXPECT(touched(memory, bytes) == 0, "%zu pages are touched", touched(memory, bytes));
  MPI_Barrier(MPI_COMM_WORLD);
  const int64_t before = blocks_of_segment();
  MPI_Barrier(MPI_COMM_WORLD);
  constexpr MPI_Aint some = 300;
  for (MPI_Aint i = 0; i < some; ++i) memory[i * (bytes / some)] = 1;
  const size_t now = touched(memory, bytes);
  EXPECT(now >= some, "%zu pages", now);
  MPI_Barrier(MPI_COMM_WORLD);
  const int64_t between = blocks_of_segment();
  EXPECT(between - before >= some * (page / 512), "%lld blocks", static_cast<long long>(between - before));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Free_mem(memory);
  MPI_Barrier(MPI_COMM_WORLD);
  const int64_t after = blocks_of_segment();
  EXPECT(after <= before, "%lld blocks before and %lld behind", static_cast<long long>(before),
         static_cast<long long>(after));
  MPI_Barrier(MPI_COMM_WORLD);
}

void windows_too() {
  const MPI_Aint bytes = some_gib();
  for (const bool shared : {false, true}) {
    MPI_Win win;
    char* base = nullptr;
    if (shared) {
      MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    } else {
      MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    }
    EXPECT(touched(base, bytes) == 0, "%zu pages are touched", touched(base, bytes));
    MPI_Win_fence(0, win);
    const int next = (expect::rank + 1) % expect::size;
    MPI_Put(&expect::rank, 1, MPI_INT, next, bytes - 4, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    int got = -1;
    std::memcpy(&got, base + bytes - 4, sizeof got);
    EXPECT(got == (expect::rank + expect::size - 1) % expect::size, "%d was put", got);
    MPI_Win_free(&win);
  }
}

// A quarter of the heap's range and more lies apart.
void larger_than_the_heap() {
  const MPI_Aint bytes = 17 * gib + 3 * page;
  if (available() < bytes + 2 * gib) {
    std::printf("not tested, for less than 19 GiB are free: a piece of 17 GiB\n");
    return;
  }
  MPI_Win win;
  char* base = nullptr;
  MPI_Win_allocate_shared(expect::rank == 0 ? bytes : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_fence(0, win);
  for (int turn = 0; turn < expect::size; ++turn) {
    if (turn == expect::rank) {
      const char mine = static_cast<char>(turn + 1);
      MPI_Put(&mine, 1, MPI_CHAR, 0, bytes - 1 - turn, 1, MPI_CHAR, win);
    }
    MPI_Win_fence(0, win);
  }
  if (expect::rank == 0) {
    for (int r = 0; r < expect::size; ++r) EXPECT(base[bytes - 1 - r] == r + 1, "rank %d did not put", r);
    EXPECT(touched(base, bytes) >= 1, "nothing is touched");
  }
  MPI_Win_free(&win);

  // A message out of such memory, and one into it.
  char* memory = nullptr;
  constexpr int count = 1 << 20;
  const MPI_Aint at = bytes - count;
  if (expect::rank == 0) {
    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory);
    std::memset(memory + at, 42, count);
  }
  std::vector<char> data(count);
  for (int r = 1; r < expect::size; ++r) {
    if (expect::rank == 0) {
      MPI_Send(memory + at, count, MPI_CHAR, r, 0, MPI_COMM_WORLD);
      MPI_Recv(memory + 5, count, MPI_CHAR, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT(memory[5] == 43 && memory[5 + count - 1] == 43, "rank %d sent something else", r);
    } else if (expect::rank == r) {
      MPI_Recv(data.data(), count, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT(data[0] == 42 && data[count - 1] == 42, "rank 0 sent something else");
      std::fill(data.begin(), data.end(), 43);
      MPI_Send(data.data(), count, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
  }
  if (memory != nullptr) MPI_Free_mem(memory);
  MPI_Barrier(MPI_COMM_WORLD);
}

// One rank at a time.
void refused_when_there_is_none() {
  for (int turn = 0; turn < expect::size; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (turn != expect::rank) continue;
    char* none = nullptr;
    EXPECT_CLASS(MPI_Alloc_mem(MPI_Aint{1} << 44, MPI_INFO_NULL, &none), MPI_ERR_NO_MEM);
    EXPECT_CLASS(MPI_Alloc_mem(INT64_MAX, MPI_INFO_NULL, &none), MPI_ERR_NO_MEM);
    EXPECT(none == nullptr, "memory was given");
    const MPI_Aint bytes = available() / 3;
    for (int again = 0; again < 2; ++again) {
      std::vector<char*> pieces;
      char* memory = nullptr;
      while (pieces.size() < 32 && MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory) == MPI_SUCCESS) {
        memory[bytes - 1] = 1;
        pieces.push_back(memory);
      }
      EXPECT(!pieces.empty() && pieces.size() < 10, "%zu thirds of the memory were given", pieces.size());
      for (char* piece : pieces) MPI_Free_mem(piece);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  untouched_until_touched();
  windows_too();
  larger_than_the_heap();
  refused_when_there_is_none();
  return expect::finish();
}
