// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Open MPI's ompi_info needs functions of its own libmpi.so.40. Below a rank LD_LIBRARY_PATH leads it to this library,
// so it is started again without the folder of this library there.

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

std::string without(const std::string& path, const std::string& folder) {
  std::string rest;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (part != folder) rest.append(rest.empty() ? "" : ":").append(part);
    begin = end + 1;
  }
  return rest;
}

std::vector<std::string> own_words() {
  std::vector<std::string> words;
  FILE* const file = fopen("/proc/self/cmdline", "re");
  if (file == nullptr) return words;
  char* word = nullptr;
  size_t size = 0;
  while (getdelim(&word, &size, '\0', file) > 0) words.emplace_back(word);
  free(word);
  (void)fclose(file);
  return words;
}

[[noreturn]] void start_with_own_library() {
  Dl_info library = {};
  const char* const given = getenv("LD_LIBRARY_PATH");
  const std::string path = given == nullptr ? "" : given;
  std::string folder;
  if (dladdr(reinterpret_cast<void*>(&without), &library) != 0 && library.dli_fname != nullptr)
    folder = library.dli_fname;
  folder.resize(std::min(folder.rfind('/'), folder.size()));
  const std::string rest = without(path, folder);
  std::vector<std::string> words = own_words();
  if (rest != path && !words.empty() && setenv("LD_LIBRARY_PATH", rest.c_str(), 1) == 0) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv("/proc/self/exe", arguments.data());
  }
  (void)fprintf(stderr,
                "weft: this program needs Open MPI's own libmpi.so.40, and got %s. Remedy: take away its folder from "
                "LD_LIBRARY_PATH\n",
                library.dli_fname == nullptr ? "Weft's" : library.dli_fname);
  exit(1);
}

}  // namespace

#define WEFT_OF_TOOL(function)                                                    \
  extern "C" [[noreturn]] __attribute__((visibility("default"))) void function(); \
  void function() {                                                               \
    start_with_own_library();                                                     \
  }
WEFT_OF_TOOL(ompi_info_close_components)
WEFT_OF_TOOL(ompi_info_register_framework_params)
WEFT_OF_TOOL(ompi_info_register_types)
WEFT_OF_TOOL(ompi_info_show_ompi_version)
