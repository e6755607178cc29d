// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "why/place.hpp"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include "why/output.hpp"

namespace weft::why {
namespace {

// A file that is mapped at an address, and the address as the file has it.
struct Mapped {
  std::string path;
  uint64_t address = 0;
};

// The address of the first loaded byte in the file: 0 of a file that may lie anywhere.
uint64_t base_of(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  Elf64_Ehdr head{};
  uint64_t base = 0;
  if (pread(fd, &head, sizeof head, 0) == static_cast<ssize_t>(sizeof head) &&
      memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64) {
    for (int i = 0; i < head.e_phnum; ++i) {
      Elf64_Phdr part{};
      const auto at = static_cast<off_t>(head.e_phoff + static_cast<uint64_t>(i) * head.e_phentsize);
      if (pread(fd, &part, sizeof part, at) != static_cast<ssize_t>(sizeof part)) break;
      if (part.p_type != PT_LOAD) continue;
      base = part.p_vaddr - part.p_offset;
      break;
    }
  }
  close(fd);
  return base;
}

bool find_mapped(pid_t pid, uint64_t address, Mapped& mapped) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/maps", pid);
  FILE* maps = fopen(name, "re");
  if (maps == nullptr) return false;
  std::string first_path;  // of the file whose mappings are read, and where it begins
  uint64_t first = 0;
  bool found = false;
  char line[4608];
  while (!found && fgets(line, sizeof line, maps) != nullptr) {
    uint64_t begin = 0, end = 0, offset = 0;
    int path_at = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &begin, &end, &offset, &path_at) < 3)
      continue;
    std::string path = path_at > 0 ? line + path_at : "";
    while (!path.empty() && path.back() == '\n') path.pop_back();
    if (path != first_path) {
      first_path = path;
      first = begin - offset;
    }
    if (address < begin || address >= end || path.empty() || path[0] != '/') continue;
    found = true;
    mapped = {path, address - first + base_of(path)};
  }
  (void)fclose(maps);
  return found;
}

// The answer of addr2line, two lines; empty: there is none, or it says nothing.
std::string ask(const Mapped& mapped) {
  constexpr size_t most = 8192;
  char address[32];
  snprintf(address, sizeof address, "0x%" PRIx64, mapped.address);
  return output_of({"addr2line", "-C", "-f", "-s", "-e", mapped.path, address}, most);
}

// Empty: not known.
struct Line {
  std::string function;
  std::string file;  // with the line
};

Line find_line(const Mapped& mapped) {
  static std::map<std::pair<std::string, uint64_t>, std::string> asked;
  const auto [at, is_new] = asked.try_emplace({mapped.path, mapped.address});
  if (is_new) at->second = ask(mapped);
  const std::string& said = at->second;
  const size_t end = said.find('\n');
  Line line{said.substr(0, end),
            end == std::string::npos ? "" : said.substr(end + 1, said.find('\n', end + 1) - end - 1)};
  if (const size_t note = line.file.find(" ("); note != std::string::npos) line.file.resize(note);
  if (line.function.starts_with('?')) line.function.clear();
  if (line.file.starts_with('?') || line.file.ends_with(":?")) line.file.clear();
  return line;
}

}  // namespace

std::string place_of(pid_t pid, uint64_t address) {
  Mapped mapped;
  // The call stands before the address that it returns to.
  if (address == 0 || !find_mapped(pid, address - 1, mapped)) return {};
  const Line line = find_line(mapped);
  if (!line.function.empty() && !line.file.empty()) return line.function + " (" + line.file + ")";
  char offset[32];
  snprintf(offset, sizeof offset, "+0x%" PRIx64, mapped.address);
  const std::string there = mapped.path.substr(mapped.path.rfind('/') + 1) + offset;
  return line.function.empty() ? there : line.function + " (" + there + ")";
}

std::string function_of(pid_t pid, uint64_t address) {
  Mapped mapped;
  if (address == 0 || !find_mapped(pid, address, mapped)) return {};
  std::string function = find_line(mapped).function;
  function.resize(std::min(function.find('@'), function.size()));
  function.erase(0, function.find_first_not_of('_'));
  return function;
}

std::string line_of(const std::string& path, uint64_t offset) {
  if (!path.starts_with('/')) return {};
  const Line line = find_line({path, base_of(path) + offset});
  return line.function.empty() || line.file.empty() ? "" : line.function + " (" + line.file + ")";
}

}  // namespace weft::why
