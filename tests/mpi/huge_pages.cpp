// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The receive rings lie in a huge page where WEFT_HUGE_PAGES says so, once a rank has started, and the staging buffers
// when they are used; messages by all paths arrive unchanged.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "expect.hpp"

namespace {

constexpr size_t huge = size_t{2} << 20;

// KiB of shared memory in huge pages under this process's mappings of the job's segment.
long huge_kib() {
  std::ifstream file("/proc/self/smaps");
  long sum = 0;
  bool ours = false;
  for (std::string line; std::getline(file, line);) {
    if (line.find('-') < line.find(' ')) ours = line.find("/memfd:weft") != std::string::npos;
    if (ours && line.rfind("ShmemPmdMapped:", 0) == 0) sum += std::stol(line.substr(line.find(':') + 1));
  }
  return sum;
}

// Whether the kernel makes huge pages of shared memory when it is asked to (Linux 6.1, with the option for it).
bool kernel_collapses() {
  constexpr int collapse = 25;
  const int fd = memfd_create("probe", 0);
  if (fd < 0 || ftruncate(fd, huge) != 0) return false;
  void* const room = mmap(nullptr, 2 * huge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* const at = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(room) + huge - 1) & -huge);
  const bool mapped = mmap(at, huge, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
  if (mapped) memset(at, 1, 1);
  const bool made = mapped && madvise(at, huge, collapse) == 0;
  munmap(room, 2 * huge);
  close(fd);
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  const bool wanted = argc > 1 && strcmp(argv[1], "on") == 0;
  expect::start(&argc, &argv);
  const int right = (expect::rank + 1) % expect::size, left = (expect::rank + expect::size - 1) % expect::size;
  for (const int bytes : {8, 3000, 20000, 100000, 1 << 20}) {
    std::vector<unsigned char> out(static_cast<size_t>(bytes)), in(out.size());
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<unsigned char>(i * 7 + static_cast<size_t>(expect::rank));
    MPI_Sendrecv(out.data(), bytes, MPI_BYTE, right, 0, in.data(), bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    bool same = true;
    for (size_t i = 0; i < in.size(); ++i)
      same &= in[i] == static_cast<unsigned char>(i * 7 + static_cast<size_t>(left));
    EXPECT(same, "bytes %d", bytes);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (wanted && kernel_collapses()) {
    EXPECT(huge_kib() >= 2048, "KiB in huge pages: %ld", huge_kib());
  } else if (!wanted) {
    EXPECT(huge_kib() == 0, "KiB in huge pages: %ld", huge_kib());
  }
  return expect::finish();
}
