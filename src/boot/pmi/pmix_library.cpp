// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmi/pmix_library.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/library.hpp"

namespace weft::boot::pmix {
namespace {

constexpr const char* file_name = "libpmix.so.2";

// The file that a process has loaded.
std::string file_of(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  FILE* maps = fopen(path, "re");
  if (!maps) return {};
  std::string found;
  char line[4352];
  while (found.empty() && fgets(line, sizeof line, maps)) {
    line[strcspn(line, "\n")] = 0;
    const char* file = strchr(line, '/');
    const char* name = file ? strrchr(file, '/') + 1 : "";
    if (strncmp(name, file_name, strlen(file_name)) == 0) found = file;
  }
  fclose(maps);
  return found;
}

pid_t parent_of(pid_t pid) {
  char path[64];
  char line[512] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE* stat = fopen(path, "re");
  if (!stat) return 0;
  const bool there = fgets(line, sizeof line, stat) != nullptr;
  fclose(stat);
  const char* behind_name = there ? strrchr(line, ')') : nullptr;
  int parent = 0;
  return behind_name && sscanf(behind_name, ") %*c %9d", &parent) == 1 ? parent : 0;
}

// A launcher in a folder of its own brings its own library. Between it and us there may be shells.
std::string file_of_launcher() {
  pid_t pid = getppid();
  for (int generation = 0; generation < 5 && pid > 1; ++generation) {
    std::string file = file_of(pid);
    if (!file.empty()) return file;
    pid = parent_of(pid);
  }
  return {};
}

void* open_file(const std::string& path) {
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

// The launcher's own comes before the system's: a server of version 5 complains, though it works, about each client of
// version 4.2.
void* open_library(std::string& problem) {
  if (void* handle = dlopen(file_name, RTLD_NOW | RTLD_NOLOAD)) return handle;  // the program has it
  const std::string file = file_of_launcher();
  if (!file.empty()) {
    if (void* handle = open_file(file)) return handle;
  }
  for (const char* variable : {"PMIX_PREFIX", "PRTE_PREFIX", "OPAL_PREFIX"}) {
    const char* prefix = getenv(variable);
    if (!prefix || prefix[0] != '/') continue;
    for (const char* folder : {"/lib/", "/lib/openmpi/"}) {
      if (void* handle = open_file(std::string(prefix) + folder + file_name)) return handle;
    }
  }
  if (void* handle = open_file(file_name)) return handle;
  const char* said = dlerror();
  problem = said ? said : file_name;
  return nullptr;
}

struct LoadedPmix {
  PmixFunctions functions = {};
  bool whole = false;
  std::string problem;

  LoadedPmix() {
    void* handle = open_library(problem);
    if (!handle) return;
    // It stays loaded: it has a thread of its own.
    base::FunctionFinder finder(handle);
    finder.find("PMIx_Init", functions.init);
    finder.find("PMIx_Finalize", functions.finalize);
    finder.find("PMIx_Abort", functions.abort);
    finder.find("PMIx_Put", functions.put);
    finder.find("PMIx_Commit", functions.commit);
    finder.find("PMIx_Fence_nb", functions.fence);
    finder.find("PMIx_Get", functions.get);
    finder.find("PMIx_Error_string", functions.error_text);
    problem = finder.problem();
    whole = problem.empty();
  }
};

}  // namespace

const PmixFunctions* load(std::string* problem) {
  static const LoadedPmix& loaded = *new LoadedPmix;  // it may be needed until the very end
  if (problem) *problem = loaded.problem;
  return loaded.whole ? &loaded.functions : nullptr;
}

}  // namespace weft::boot::pmix
