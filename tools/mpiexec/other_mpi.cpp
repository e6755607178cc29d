// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/other_mpi.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "abi/elf.hpp"
#include "abi/face.hpp"
#include "base/descriptor.hpp"
#include "mpiexec/orphans.hpp"

namespace weft::mpiexec {
namespace {

constexpr uint64_t page = 4096;
// Loading a library writes up to 12 KiB of the data that it does not initialise, MPI_Init of MPICH 5.0, Intel MPI
// 2021.18 and Open MPI 5.0 from 84 KiB on.
constexpr int64_t started_from = 32 << 10;

std::string proc_file(pid_t process, const char* name) {
  return "/proc/" + std::to_string(process) + "/" + name;
}

std::string name_in(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// A line of maps or smaps that begins a mapping.
struct Mapping {
  uint64_t start = 0, end = 0;
  bool writable = false;
  std::string path;  // it is empty if the mapping has no file
};

bool read_mapping(const std::string& line, Mapping& mapping) {
  unsigned long start = 0, end = 0;
  char access[8] = "";
  int path_at = 0;
  if (sscanf(line.c_str(), "%lx-%lx %7s %*s %*s %*s %n", &start, &end, access, &path_at) != 3 || path_at == 0) {
    return false;
  }
  mapping = {start, end, access[1] == 'w', line.substr(static_cast<size_t>(path_at))};
  return true;
}

struct Library {
  std::string file;   // it is empty if there is none
  uint64_t base = 0;  // where the file's begin is mapped
};

// Another MPI library that the process has mapped, unless it has Weft's.
Library mapped_mpi(pid_t process) {
  std::ifstream maps(proc_file(process, "maps"));
  Library found;
  Mapping mapping;
  for (std::string line; std::getline(maps, line);) {
    if (!read_mapping(line, mapping)) continue;
    const std::string name = name_in(mapping.path);
    if (name.starts_with("libweft.so")) return {};
    if (found.file.empty() && abi::face_of_runtime(name) != nullptr) found = {mapping.path, mapping.start};
  }
  return found;
}

// Pages of [start, end) of the process that are not zero throughout, of the first 64 MiB.
int64_t written_bytes(pid_t process, uint64_t start, uint64_t end) {
  constexpr uint64_t most = 64 << 20;
  const base::Descriptor memory(open(proc_file(process, "mem").c_str(), O_RDONLY | O_CLOEXEC));
  int64_t bytes = 0;
  char data[page], zero[page] = {};
  end = std::min(end, start + most);
  for (uint64_t at = start; at < end && bytes < started_from; at += page) {
    if (pread(memory.number(), data, sizeof data, static_cast<off_t>(at)) != sizeof data) break;
    if (memcmp(data, zero, sizeof data) != 0) bytes += sizeof data;
  }
  return bytes;
}

// How much the process has written of the whole pages of a library's data that are zero at first. Behind them may lie
// memory of something else, in the same mapping.
int64_t written_zero_data(pid_t process, const Library& library) {
  abi::Object object;
  if (!abi::read_object(library.file, object)) return 0;
  const auto up = [](uint64_t address) { return (address + page - 1) / page * page; };
  const uint64_t begin = up(library.base + object.zeros_begin);
  const uint64_t end = up(library.base + object.zeros_end);
  std::ifstream maps(proc_file(process, "smaps"));
  Mapping mapping;
  int64_t bytes = 0;
  bool counts = false;
  for (std::string line; std::getline(maps, line);) {
    if (read_mapping(line, mapping)) {
      counts = mapping.path.empty() && mapping.start < end && mapping.end > begin;
      if (!counts || (mapping.start >= begin && mapping.end <= end)) continue;
      counts = false;
      bytes += written_bytes(process, std::max(mapping.start, begin), std::min(mapping.end, end));
      continue;
    }
    long kilobytes = 0;
    if (!counts) continue;
    if (sscanf(line.c_str(), "Anonymous: %ld kB", &kilobytes) == 1) bytes += kilobytes * 1024;
    // A huge page is there as a whole when a byte of it is.
    if (sscanf(line.c_str(), "AnonHugePages: %ld kB", &kilobytes) == 1 && kilobytes > 0) {
      return written_bytes(process, mapping.start, mapping.end);
    }
  }
  return bytes;
}

}  // namespace

OtherMpi find_other_mpi(pid_t process) {
  constexpr size_t most_processes = 64;
  std::vector<pid_t> processes{process};
  OtherMpi other;
  for (size_t i = 0; i < processes.size() && i < most_processes; ++i) {
    const pid_t one = processes[i];
    const Library library = mapped_mpi(one);
    if (!library.file.empty()) {
      other.file = library.file;
      other.standard = abi::face_of_runtime(name_in(library.file))->label;
      if (written_zero_data(one, library) >= started_from) {
        std::ifstream file(proc_file(one, "comm"));
        std::getline(file, other.process);
        other.pid = one;
        return other;
      }
    }
    for (const pid_t child : children_of(one)) processes.push_back(child);
  }
  return other;
}

void LookTimes::looked(uint64_t from_ns, uint64_t to_ns) {
  constexpr uint64_t soon_ns = 500'000'000, longest_ns = 10'000'000'000;
  constexpr uint64_t share = 20;  // of its time, one part at most goes into looking
  const uint64_t age = to_ns - began_ns_;
  const uint64_t pause = age < soon_ns ? shortest_ns : std::min(age / 4, longest_ns);
  due_ns_ = to_ns + std::max(pause, share * (to_ns - from_ns));
}

}  // namespace weft::mpiexec
