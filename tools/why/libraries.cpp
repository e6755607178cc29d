// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "why/libraries.hpp"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <sstream>
#include <vector>

#include "why/output.hpp"

namespace weft::why {
namespace {

// The dynamic linker that a program names; empty: none, or no program of 64 bits.
std::string linker_of(const std::string& program) {
  const int fd = open(program.c_str(), O_RDONLY | O_CLOEXEC);
  Elf64_Ehdr head{};
  std::string linker;
  if (fd >= 0 && pread(fd, &head, sizeof head, 0) == sizeof head && std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
      head.e_ident[EI_CLASS] == ELFCLASS64) {
    for (int i = 0; i < head.e_phnum && linker.empty(); ++i) {
      Elf64_Phdr part{};
      char name[256] = "";
      const off_t at = static_cast<off_t>(head.e_phoff) + static_cast<off_t>(i) * head.e_phentsize;
      if (at < 0 || pread(fd, &part, sizeof part, at) != sizeof part) break;
      if (part.p_type != PT_INTERP || pread(fd, name, sizeof name - 1, static_cast<off_t>(part.p_offset)) <= 0)
        continue;
      linker = name;
    }
  }
  if (fd >= 0) close(fd);
  return linker;
}

// The command that lists the libraries which a program would get, and does not start it. With its variable glibc's
// linker lists those too that it does not find.
std::vector<std::string> listing(const std::string& linker, const std::string& program,
                                 const std::string& search_path) {
  std::vector<std::string> words = {"/usr/bin/env"};
  if (!search_path.empty()) words.push_back("LD_LIBRARY_PATH=" + search_path);
  const std::string name = linker.substr(linker.rfind('/') + 1);
  const bool glibc = name.starts_with("ld-linux") || name.starts_with("ld64.so");
  if (glibc) words.emplace_back("LD_TRACE_LOADED_OBJECTS=1");
  words.push_back(linker);
  if (!glibc) words.emplace_back("--list");
  words.push_back(program);
  return words;
}

}  // namespace

std::string mpi_family(const std::string& library) {
  if (library.starts_with("libmpi_abi.so")) return "the standard's ABI";
  if (library == "libmpi.so.12" || library == "libmpich.so.12") return "MPICH's ABI";
  if (library.starts_with("libmpi.so")) return "Open MPI";
  return {};
}

// "	libmpi.so.12 => /usr/lib/libmpi.so.12 (0x...)" as the dynamic linker lists them: name and file.
bool list_libraries(const std::string& program, const std::string& search_path,
                    std::map<std::string, std::string>& found) {
  constexpr size_t longest_list = 1 << 20;
  const std::string linker = linker_of(program);
  const std::string listed = linker.empty() ? "" : output_of(listing(linker, program, search_path), longest_list);
  std::istringstream lines(listed);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, arrow, file;
    if (words >> name >> arrow >> file && arrow == "=>") found[name] = file == "not" ? "not found" : file;
  }
  return !listed.empty();
}

}  // namespace weft::why
