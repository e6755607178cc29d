// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "why/place.hpp"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

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

// The answers of addr2line so far, two lines each; empty: there is none, or it says nothing.
std::map<std::pair<std::string, uint64_t>, std::string>& answers() {
  static std::map<std::pair<std::string, uint64_t>, std::string> all;
  return all;
}

// Asks once for all of one file that were not asked for yet.
void ask_for_all(const std::vector<Mapped>& wanted) {
  constexpr size_t most_each = 8192;
  std::vector<std::string> words = {"addr2line", "-C", "-f", "-s", "-e"};
  std::vector<std::string*> asked;
  for (const Mapped& one : wanted) {
    const auto [at, is_new] = answers().try_emplace({one.path, one.address});
    if (!is_new) continue;
    if (asked.empty()) words.push_back(one.path);
    char address[32];
    snprintf(address, sizeof address, "0x%" PRIx64, one.address);
    words.emplace_back(address);
    asked.push_back(&at->second);
  }
  if (asked.empty()) return;
  const std::string said = output_of(words, most_each * asked.size());
  size_t begin = 0;
  for (std::string* answer : asked) {
    const size_t function_ends = said.find('\n', begin);
    const size_t end = function_ends == std::string::npos ? function_ends : said.find('\n', function_ends + 1);
    if (end == std::string::npos) break;
    *answer = said.substr(begin, end + 1 - begin);
    begin = end + 1;
  }
}

// Empty: not known.
struct Line {
  std::string function;
  std::string file;  // with the line
};

Line find_line(const Mapped& mapped) {
  ask_for_all({mapped});
  const std::string& said = answers()[{mapped.path, mapped.address}];
  const size_t end = said.find('\n');
  Line line{said.substr(0, end),
            end == std::string::npos ? "" : said.substr(end + 1, said.find('\n', end + 1) - end - 1)};
  if (const size_t note = line.file.find(" ("); note != std::string::npos) line.file.resize(note);
  if (line.function.starts_with('?')) line.function.clear();
  if (line.file.starts_with('?') || line.file.ends_with(":?")) line.file.clear();
  return line;
}

// A call site in a text: from where, with the function before it; where its file's name begins, and its end.
struct Site {
  size_t begin = 0;
  size_t at = 0;
  size_t end = 0;
  uint64_t offset = 0;
};

// Where the function's name and offset begin that stand before the site, if they do: "function+0x12 ". Advice is broken
// between words.
size_t begin_of(const std::string& text, size_t site) {
  const size_t before = site == 0 ? std::string::npos : text.find_last_not_of(" \n", site - 1);
  if (before == std::string::npos || before + 1 == site) return site;
  const size_t space = text.find_last_of(" \n", before);
  const size_t begin = space == std::string::npos ? 0 : space + 1;
  return text.find("+0x", begin) < before ? begin : site;
}

// `name`: the program's, with "+0x".
std::vector<Site> sites_in(const std::string& text, const std::string& name) {
  std::vector<Site> sites;
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    if (at > 0 && text[at - 1] != ' ') continue;
    Site site{.begin = begin_of(text, at), .at = at};
    constexpr int hexadecimal = 16;
    const char* const first = text.data() + at + name.size();
    const auto [end, error] = std::from_chars(first, text.data() + text.size(), site.offset, hexadecimal);
    site.end = static_cast<size_t>(end - text.data());
    if (error == std::errc()) sites.push_back(site);
  }
  return sites;
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

std::string with_lines(const std::string& text, const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1) + "+0x";
  const std::vector<Site> sites = path.starts_with('/') && name.size() > 3 ? sites_in(text, name) : std::vector<Site>();
  std::vector<Mapped> wanted;
  const uint64_t base = sites.empty() ? 0 : base_of(path);
  wanted.reserve(sites.size());
  for (const Site& site : sites) wanted.push_back({path, base + site.offset});
  ask_for_all(wanted);
  std::string out;
  size_t done = 0;
  for (size_t i = 0; i < sites.size(); ++i) {
    const Line line = find_line(wanted[i]);
    if (line.function.empty()) continue;
    const size_t begin = std::max(done, sites[i].begin);
    out.append(text, done, begin - done).append(line.function).append(" (");
    out.append(line.file.empty() ? text.substr(sites[i].at, sites[i].end - sites[i].at) : line.file).append(")");
    done = sites[i].end;
  }
  return out.append(text, done);
}

}  // namespace weft::why
