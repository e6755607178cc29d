// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/python.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "abi/program.hpp"

namespace weft::abi {
namespace {

constexpr size_t most_names = 4096;  // of a folder

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const open = opendir(folder.c_str());
  if (open == nullptr) return names;
  while (const dirent* entry = readdir(open)) {
    if (names.size() == most_names) break;
    names.emplace_back(entry->d_name);
  }
  closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

// The folders of modules below a prefix: lib/python3.11/site-packages; Debian calls them dist-packages.
void add_folders(const std::string& prefix, std::vector<std::string>& folders) {
  for (const char* const lib : {"/lib", "/lib64", "/local/lib"}) {
    for (const std::string& name : names_in(prefix + lib)) {
      if (!name.starts_with("python3")) continue;
      for (const char* const packages : {"/site-packages", "/dist-packages"})
        folders.push_back(std::string(prefix).append(lib).append("/").append(name).append(packages));
    }
  }
}

std::string prefix_of(std::string file) {
  for (int up = 0; up < 2; ++up) file.resize(std::min(file.rfind('/'), file.size()));
  return file;
}

std::vector<std::string> folders_of_modules(const std::string& python, const std::string& path) {
  std::vector<std::string> folders;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find(':', at), path.size());
    folders.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  const std::string file = python.empty() ? find_program("python3", "") : python;
  char resolved[4096];
  add_folders(prefix_of(file), folders);
  if (const char* const home = getenv("HOME")) add_folders(std::string(home) + "/.local", folders);
  if (realpath(file.c_str(), resolved) != nullptr) add_folders(prefix_of(resolved), folders);
  return folders;
}

}  // namespace

const Face* face_of_mpi4py(const std::string& python, const std::string& path, const std::string& option) {
  for (const std::string& folder : folders_of_modules(python, path)) {
    const std::vector<std::string> files = names_in(folder + "/mpi4py");
    if (files.empty()) continue;
    for (const Face& face : faces()) {
      const std::string module = std::string("MPI.") + face.mpi4py + ".";
      const auto has = [&](const std::string& name) { return name.starts_with(module); };
      if (is_allowed(face, option) && std::any_of(files.begin(), files.end(), has)) return &face;
    }
    return nullptr;
  }
  const Face* const mpich = face_named("mpich");
  return is_allowed(*mpich, option) ? mpich : nullptr;
}

}  // namespace weft::abi
