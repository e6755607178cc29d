// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/elf.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace weft::abi {
namespace {

constexpr size_t most_entries = 4096;  // of a table in the file
constexpr size_t longest_text = 8192;
constexpr auto byte_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

class File {
 public:
  // A pipe of that name is not waited for.
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat s;
    if (fd_ < 0 || (fstat(fd_, &s) == 0 && S_ISREG(s.st_mode))) return;
    close(fd_);
    fd_ = -1;
  }
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return fd_ >= 0; }
  bool read(uint64_t at, void* to, size_t bytes) const { return read_most(at, to, bytes) == bytes; }
  template <class T>
  bool read(uint64_t at, std::vector<T>& to, size_t count) const {
    if (count > most_entries) return false;
    to.resize(count);
    return read(at, to.data(), count * sizeof(T));
  }
  size_t read_most(uint64_t at, void* to, size_t bytes) const {
    const ssize_t got = fd_ < 0 || at > INT64_MAX ? -1 : pread(fd_, to, bytes, static_cast<off_t>(at));
    return got < 0 ? 0 : static_cast<size_t>(got);
  }
  // The text at a place; empty when it does not end within longest_text.
  std::string text(uint64_t at) const {
    char text[longest_text];
    const size_t got = read_most(at, text, sizeof text);
    const size_t length = strnlen(text, got);
    return length == got ? std::string() : std::string(text, length);
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

void take_zeros(const std::vector<Elf64_Phdr>& segments, Object& object) {
  const auto is_loaded = [](const Elf64_Phdr& segment) { return segment.p_type == PT_LOAD; };
  const auto first = std::find_if(segments.begin(), segments.end(), is_loaded);
  for (const Elf64_Phdr& segment : segments) {
    if (!is_loaded(segment) || (segment.p_flags & PF_W) == 0 || segment.p_memsz <= segment.p_filesz) continue;
    object.zeros_begin = segment.p_vaddr + segment.p_filesz - (first->p_vaddr - first->p_offset);
    object.zeros_end = object.zeros_begin + (segment.p_memsz - segment.p_filesz);
  }
}

void take_entries(const File& file, const std::vector<Elf64_Dyn>& entries, uint64_t texts, Object& object) {
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    const auto text = [&] { return file.text(texts + entry.d_un.d_val); };
    if (entry.d_tag == DT_NEEDED) {
      object.needed.push_back(text());
    } else if (entry.d_tag == DT_SONAME) {
      object.name = text();
    } else if (entry.d_tag == DT_RPATH) {
      object.rpath = text();
    } else if (entry.d_tag == DT_RUNPATH) {
      object.runpath = text();
      object.has_runpath = true;
    } else if (entry.d_tag == DT_FLAGS_1) {
      object.no_default = (entry.d_un.d_val & DF_1_NODEFLIB) != 0;
    }
  }
}

}  // namespace

bool read_object(const std::string& path, Object& object) {
  object = {};
  const File file(path);
  Elf64_Ehdr head;
  std::vector<Elf64_Phdr> segments;
  if (!file.read(0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != byte_order ||
      head.e_phentsize != sizeof(Elf64_Phdr) || !file.read(head.e_phoff, segments, head.e_phnum)) {
    return false;
  }
  object.machine = head.e_machine;
  take_zeros(segments, object);
  const auto dynamic =
      std::find_if(segments.begin(), segments.end(), [](const auto& s) { return s.p_type == PT_DYNAMIC; });
  std::vector<Elf64_Dyn> entries;
  if (dynamic == segments.end()) return true;
  if (!file.read(dynamic->p_offset, entries, dynamic->p_filesz / sizeof(Elf64_Dyn))) return false;
  const auto table = std::find_if(entries.begin(), entries.end(), [](const auto& e) { return e.d_tag == DT_STRTAB; });
  uint64_t texts = 0;
  if (table == entries.end() || !place_of(segments, table->d_un.d_ptr, texts)) return false;
  object.dynamic = true;
  take_entries(file, entries, texts, object);
  return true;
}

std::vector<std::string> interpreter_of(const std::string& path, bool& script) {
  constexpr size_t longest_line = 256;  // as the kernel reads it
  char line[longest_line];
  const File file(path);
  const size_t got = file.read_most(0, line, sizeof line);
  script = file.is_open() && (got < SELFMAG || memcmp(line, ELFMAG, SELFMAG) != 0);
  std::string text(line, got);
  if (!script || !text.starts_with("#!")) return {};
  text.resize(std::min(text.find_first_of(std::string("\n\0", 2)), text.size()));
  // The interpreter, and the rest of the line as one argument.
  constexpr const char* blanks = " \t";
  const size_t begin = text.find_first_not_of(blanks, 2);
  if (begin == std::string::npos) return {};
  const size_t end = std::min(text.find_first_of(blanks, begin), text.size());
  std::vector<std::string> words{text.substr(begin, end - begin)};
  const size_t more = text.find_first_not_of(blanks, end);
  if (more != std::string::npos) {
    text.resize(text.find_last_not_of(" \t\r") + 1);
    if (more < text.size()) words.push_back(text.substr(more));
  }
  return words;
}

}  // namespace weft::abi
