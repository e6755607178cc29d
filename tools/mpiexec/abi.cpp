// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/abi.hpp"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/message.hpp"
#include "mpiexec/process.hpp"
#include "why/libraries.hpp"

namespace weft::mpiexec {
namespace {

// The libraries of MPICH's ABI: MPICH's and Intel MPI's names, and Debian's.
constexpr const char* mpich_libraries[] = {"libmpi.so.12",   "libmpifort.so.12",   "libmpicxx.so.12",
                                           "libmpich.so.12", "libmpichfort.so.12", "libmpichcxx.so.12"};
constexpr size_t most_entries = 4096;  // of a table in the file
constexpr size_t longest_name = 256;

class File {
 public:
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool read(uint64_t at, void* to, size_t bytes) const {
    return fd_ >= 0 && at <= INT64_MAX && pread(fd_, to, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
  }
  template <class T>
  bool read(uint64_t at, std::vector<T>& to, size_t count) const {
    if (count > most_entries) return false;
    to.resize(count);
    return read(at, to.data(), count * sizeof(T));
  }
  // The text at a place, which ends within longest_name.
  std::string text(uint64_t at) const {
    char name[longest_name];
    const ssize_t got = fd_ < 0 || at > INT64_MAX ? -1 : pread(fd_, name, sizeof name, static_cast<off_t>(at));
    const size_t length = got <= 0 ? 0 : strnlen(name, static_cast<size_t>(got));
    return length == static_cast<size_t>(std::max<ssize_t>(got, 0)) ? std::string() : std::string(name, length);
  }

 private:
  int fd_;
};

// Where the file holds what is loaded at an address; false: nowhere.
bool place_of(const std::vector<Elf64_Phdr>& segments, uint64_t address, uint64_t& place) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz)
      continue;
    place = segment.p_offset + (address - segment.p_vaddr);
    return true;
  }
  return false;
}

bool is_mpich(const std::string& library) {
  return std::any_of(std::begin(mpich_libraries), std::end(mpich_libraries),
                     [&](const char* name) { return library == name; });
}

// Beside this launcher, as installed or as built; empty: there is none.
std::string folder_of_library() {
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  if (length <= 0 || length == static_cast<ssize_t>(sizeof self)) return {};
  std::string prefix(self, static_cast<size_t>(length));
  for (int up = 0; up < 2; ++up) prefix.resize(std::min(prefix.rfind('/'), prefix.size()));
  for (const char* place : {"/lib/mpich-abi", "/src/mpich-abi"}) {
    if (access((prefix + place + "/libmpi.so.12").c_str(), R_OK) == 0) return prefix + place;
  }
  return {};
}

// The value of a variable that a program gets: its own, one for all ranks, or ours.
std::string variable_of(const Command& command, const Program& program, const std::string& name) {
  std::string value;
  if (const char* ours = getenv(name.c_str())) value = ours;
  for (const auto* list : {&command.variables, &program.variables}) {
    for (const Variable& variable : *list) {
      if (variable.first == name) value = variable.second;
    }
  }
  return value;
}

void lead(const Command& command, Program& program, const std::string& folder) {
  const std::string before = variable_of(command, program, "LD_LIBRARY_PATH");
  if (before == folder || before.starts_with(folder + ":")) return;
  program.variables.emplace_back("LD_LIBRARY_PATH", before.empty() ? folder : folder + ":" + before);
}

}  // namespace

std::string file_of(const Program& program) {
  const std::string found = find_program(program.words[0], program.folder);
  return found.empty() || found[0] == '/' || program.folder.empty() ? found : program.folder + "/" + found;
}

Needs needs_of(const std::string& path) {
  Needs needs;
  const File file(path);
  Elf64_Ehdr head;
  if (!file.read(0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr)) {
    return needs;
  }
  std::vector<Elf64_Phdr> segments;
  if (!file.read(head.e_phoff, segments, head.e_phnum)) return needs;
  const auto dynamic =
      std::find_if(segments.begin(), segments.end(), [](const auto& s) { return s.p_type == PT_DYNAMIC; });
  std::vector<Elf64_Dyn> entries;
  if (dynamic == segments.end() || !file.read(dynamic->p_offset, entries, dynamic->p_filesz / sizeof(Elf64_Dyn))) {
    return needs;
  }
  uint64_t names = 0;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_STRTAB && !place_of(segments, entry.d_un.d_ptr, names)) return needs;
    if (entry.d_tag == DT_RPATH) needs.old_search_path = true;
  }
  if (names == 0) return needs;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) needs.libraries.push_back(file.text(names + entry.d_un.d_val));
  }
  return needs;
}

std::string other_library(const Command& command, const Program& program) {
  const std::string file = file_of(program);
  const Needs needs = needs_of(file);
  std::map<std::string, std::string> loaded;
  if (std::none_of(
          needs.libraries.begin(), needs.libraries.end(),
          [](const std::string& name) { return name.starts_with("libmpi") || name.starts_with("liboshmem"); }) ||
      !why::list_libraries(file, variable_of(command, program, "LD_LIBRARY_PATH"), loaded) ||
      loaded.contains("libweft.so")) {
    return {};
  }
  for (const auto& [name, path] : loaded) {
    const std::string family = why::mpi_family(name);
    const bool is_open_mpi = family == "Open MPI";
    const bool is_found = path != "not found";
    if (family.empty() || (!is_found && !is_open_mpi)) continue;
    std::string said = is_open_mpi ? "was built with Open MPI (" : "loads another MPI's library (";
    said.append(name).append(is_found ? " at " + path + "), so each rank runs alone" : "), whose library is not found");
    said += ". Remedy: compile it with Weft's mpicc";
    return said + (is_open_mpi ? "" : ", or take away the LD_LIBRARY_PATH or DT_RPATH that leads there");
  }
  return {};
}

void choose_abi(Command& command) {
  if (command.abi == Abi::standard) return;
  std::string told;  // about one program, once
  for (Program& program : command.programs) {
    const Needs needs = needs_of(file_of(program));
    const auto library = std::find_if(needs.libraries.begin(), needs.libraries.end(), is_mpich);
    const bool needed = library != needs.libraries.end();
    if (!needed && command.abi != Abi::mpich) continue;
    const std::string folder = folder_of_library();
    if (folder.empty()) {
      base::tell({program.words[0] + " was built for MPICH's ABI, and libmpi.so.12 is not installed beside mpiexec", 0,
                  "install Weft whole, or set LD_LIBRARY_PATH to the folder of its libmpi.so.12"});
      continue;
    }
    lead(command, program, folder);
    if (command.quiet || told == program.words[0]) continue;
    told = program.words[0];
    const std::string why = needed ? " needs " + *library + ": MPICH's ABI" : ": MPICH's ABI was asked for";
    fprintf(stderr, "weft: mpiexec: %s%s, from %s%s\n", told.c_str(), why.c_str(), folder.c_str(),
            needs.old_search_path ? ", unless its own DT_RPATH leads elsewhere" : "");
  }
}

}  // namespace weft::mpiexec
