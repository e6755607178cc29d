// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace weft::abi {
namespace {

bool executable(const std::string& path) {
  struct stat s;
  if (stat(path.c_str(), &s) != 0) return false;
  if (S_ISDIR(s.st_mode)) {
    errno = EISDIR;
    return false;
  }
  return access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string find_program(const std::string& name, const std::string& folder) {
  if (name.find('/') != std::string::npos) {
    std::string seen = folder.empty() || name[0] == '/' ? name : folder + "/" + name;
    return executable(seen) ? name : std::string();
  }
  const char* path = getenv("PATH");
  std::string rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  int error = ENOENT;
  for (size_t at = 0; at <= rest.size();) {
    size_t colon = std::min(rest.find(':', at), rest.size());
    std::string candidate = colon == at ? "." : rest.substr(at, colon - at);
    candidate += "/" + name;
    if (executable(candidate)) return candidate;
    if (errno != ENOENT && errno != ENOTDIR && errno != EISDIR) error = errno;
    at = colon + 1;
  }
  errno = error;
  return {};
}

std::string file_of_program(const std::string& name, const std::string& folder) {
  const std::string found = find_program(name, folder);
  return found.empty() || found[0] == '/' || folder.empty() ? found : folder + "/" + found;
}

}  // namespace weft::abi
