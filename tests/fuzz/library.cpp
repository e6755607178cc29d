// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Files that mpiexec reads to see what a program needs: programs, first lines of scripts, the cache of libraries.
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "abi/cache.hpp"
#include "abi/elf.hpp"
#include "abi/search.hpp"
#include "fuzz.hpp"

using namespace weft;

namespace {

std::string content_of(const char* path, size_t most) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text.resize(std::min(text.size(), most));
  return text;
}

// Bytes of the tables, which mean something, rather than of code.
void spoil(fuzz::Random& random, std::string& bytes, size_t tables) {
  constexpr uint64_t values[] = {0, 1, 5, 15, 29, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, 0xffffffffffffffff};
  for (size_t changes = random.below(8); changes > 0; --changes) {
    const size_t at = random.below(std::min(bytes.size(), tables)) & ~size_t{3};
    const uint64_t value = values[random.below(std::size(values))];
    const size_t width = random.below(2) == 0 ? 4 : 8;
    if (at + width <= bytes.size()) memcpy(&bytes[at], &value, width);
  }
  if (random.below(4) == 0) bytes.resize(random.below(bytes.size() + 1));
}

void write_file(int fd, const std::string& bytes) {
  FUZZ_CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
}

// A program that has nothing but its tables, with this machine's header.
std::string small_program() {
  struct {
    Elf64_Ehdr head;
    Elf64_Phdr segments[2];
    Elf64_Dyn entries[8];
    char texts[64];
  } all{};
  const std::string self = content_of("/proc/self/exe", sizeof all.head);
  memcpy(&all.head, self.data(), sizeof all.head);
  all.head.e_phoff = sizeof all.head;
  all.head.e_phnum = 2;
  all.segments[0] = {.p_type = PT_LOAD, .p_filesz = sizeof all};
  all.segments[1] = {
      .p_type = PT_DYNAMIC, .p_offset = offsetof(decltype(all), entries), .p_filesz = sizeof all.entries};
  memcpy(all.texts, "\0libc.so.6\0$ORIGIN:/lib:${LIB}:\0libx.so", 40);
  constexpr Elf64_Sxword tags[] = {DT_STRTAB, DT_NEEDED, DT_RPATH, DT_RUNPATH, DT_SONAME, DT_NEEDED, DT_FLAGS_1};
  const Elf64_Xword given[] = {offsetof(decltype(all), texts), 1, 11, 11, 32, 32, DF_1_NODEFLIB};
  for (size_t i = 0; i < std::size(tags); ++i) all.entries[i] = {.d_tag = tags[i], .d_un = {.d_val = given[i]}};
  return {reinterpret_cast<const char*>(&all), sizeof all};
}

void one(fuzz::Random& random, const std::string& line) {
  static const std::vector<std::string> programs = {small_program(), content_of("/proc/self/exe", 20000)};
  static const std::string cache = content_of("/etc/ld.so.cache", 4000);
  static const int fd = memfd_create("fuzz-library", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  abi::Object object;
  write_file(fd, programs[0]);
  FUZZ_CHECK(abi::read_object(path, object) && object.needed.size() == 2 && object.name == "libx.so");

  std::string program = programs[random.below(programs.size())];
  spoil(random, program, 2000);
  write_file(fd, program);
  FUZZ_CHECK(abi::libraries_of(path, "/nowhere:$ORIGIN", "").size() <= 8192);

  std::string spoilt = cache;
  if (!spoilt.empty()) spoil(random, spoilt, spoilt.size());
  FUZZ_CHECK(abi::LibraryCache(spoilt).files_of("libc.so.6").size() <= 4000);

  bool script = false;
  write_file(fd, line);
  const std::vector<std::string> words = abi::interpreter_of(path, script);
  FUZZ_CHECK(words.size() <= 2 && (words.empty() || (script && !words[0].empty())));
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::run(argc, argv, {"#!/bin/sh\n", "#! /usr/bin/env  python3 -u\nx", "#!", "#!/a\t\n", "echo\n"}, one);
}
