// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/search.hpp"

#include <unistd.h>

#include <algorithm>

#include "abi/cache.hpp"
#include "abi/elf.hpp"

namespace weft::abi {
namespace {

constexpr size_t most_objects = 1024;  // of one program
constexpr size_t most_folders = 256;   // of one search path
constexpr const char* default_folders[] = {
#if defined(__x86_64__)
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
#endif
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib"};
#if defined(__aarch64__)
constexpr const char* platform_name = "aarch64";
#else
constexpr const char* platform_name = "x86_64";
#endif

// An object that is loaded, and the one that needed it.
struct LoadedObject {
  Object object;
  std::string name, file;
  size_t parent = 0;
};

std::string folder_of_file(const std::string& file) {
  const size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : file.substr(0, slash);
}

// glibc's own folder of libraries, relative to its prefix.
const char* library_folder() {
  const std::string of_platform = std::string("/lib/") + platform_name + "-linux-gnu";
  static const std::string found = access(of_platform.c_str(), X_OK) == 0 ? of_platform.substr(1) : "lib64";
  return found.c_str();
}

void replace_token(std::string& text, const std::string& token, const std::string& value) {
  for (const std::string& written : {"${" + token + "}", "$" + token}) {
    for (size_t at = 0; (at = text.find(written, at)) != std::string::npos && text.size() < 65536; at += value.size())
      text.replace(at, written.size(), value);
  }
}

// The folders of a search path, in which tokens stand for folders; `origin` is that of the object.
std::vector<std::string> folders_of(const std::string& path, const char* separators, const std::string& origin) {
  std::vector<std::string> folders;
  for (size_t at = 0; at <= path.size() && !path.empty() && folders.size() < most_folders;) {
    const size_t end = std::min(path.find_first_of(separators, at), path.size());
    std::string folder = end == at ? "." : path.substr(at, end - at);
    replace_token(folder, "ORIGIN", origin);
    replace_token(folder, "LIB", library_folder());
    replace_token(folder, "PLATFORM", platform_name);
    folders.push_back(folder);
    at = end + 1;
  }
  return folders;
}

class Walk {
 public:
  Walk(const std::string& program, const std::string& library_path) : library_path_(library_path) {
    LoadedObject first;
    if (!read_object(program, first.object)) return;
    char resolved[4096];
    first.file = realpath(program.c_str(), resolved) != nullptr ? resolved : program;
    first.name = program;
    objects_.push_back(std::move(first));
  }

  std::vector<Library> all(const std::string& preload) {
    if (objects_.empty()) return {};
    if (objects_[0].object.dynamic) {
      for (const std::string& name : folders_of(preload, ": ", folder_of_file(objects_[0].file))) {
        if (name != ".") add(name, 0, true);
      }
    }
    for (size_t i = 0; i < objects_.size(); ++i) {
      const std::vector<std::string> needed = objects_[i].object.needed;
      for (const std::string& name : needed) add(name, i, false);
    }
    return std::move(found_);
  }

 private:
  bool is_loaded(const std::string& name) const {
    return std::any_of(objects_.begin(), objects_.end(),
                       [&](const LoadedObject& o) { return o.name == name || o.object.name == name; });
  }

  // Takes a file, unless it is of another machine: the linker looks on then.
  bool takes(const std::string& file, LoadedObject& to) const {
    to.file = file;
    return access(file.c_str(), R_OK) == 0 && read_object(file, to.object) && to.object.dynamic &&
           to.object.machine == objects_[0].object.machine;
  }

  bool in_folders(const std::vector<std::string>& folders, const std::string& name, LoadedObject& to) const {
    return std::any_of(folders.begin(), folders.end(),
                       [&](const std::string& folder) { return takes(folder + "/" + name, to); });
  }

  // The old search paths of the object, of those that needed it, and of the program. DT_RUNPATH makes them void.
  bool by_rpath(const std::string& name, size_t by, LoadedObject& to) const {
    if (objects_[by].object.has_runpath) return false;
    for (size_t at = by;; at = objects_[at].parent) {
      const LoadedObject& owner = objects_[at];
      if (!owner.object.has_runpath && !owner.object.rpath.empty() &&
          in_folders(folders_of(owner.object.rpath, ":", folder_of_file(owner.file)), name, to)) {
        return true;
      }
      if (at == 0) return false;
    }
  }

  Rule search(const std::string& name, size_t by, bool preloaded, LoadedObject& to) const {
    const LoadedObject& owner = objects_[by];
    if (name.find('/') != std::string::npos) return takes(name, to) ? Rule::path : Rule::none;
    if (by_rpath(name, by, to)) return Rule::rpath;
    if (in_folders(folders_of(library_path_, ":;", folder_of_file(objects_[0].file)), name, to))
      return Rule::library_path;
    if (in_folders(folders_of(owner.object.runpath, ":", folder_of_file(owner.file)), name, to)) return Rule::runpath;
    if (owner.object.no_default && !preloaded) return Rule::none;
    const std::vector<std::string> cached = cache_.files_of(name);
    if (std::any_of(cached.begin(), cached.end(), [&](const std::string& file) { return takes(file, to); }))
      return Rule::cache;
    return in_folders({std::begin(default_folders), std::end(default_folders)}, name, to) ? Rule::default_folder
                                                                                          : Rule::none;
  }

  void add(std::string name, size_t by, bool preloaded) {
    if (name.empty() || is_loaded(name) || objects_.size() + found_.size() > 2 * most_objects) return;
    Library library{.name = name, .file = {}, .needed_by = objects_[by].file, .rule = Rule::none};
    replace_token(name, "ORIGIN", folder_of_file(objects_[by].file));
    LoadedObject next;
    const Rule rule = search(name, by, preloaded, next);
    if (rule != Rule::none) {
      // A file that is loaded under another name is not loaded again.
      const auto same =
          std::find_if(objects_.begin(), objects_.end(), [&](const LoadedObject& o) { return o.file == next.file; });
      library.file = next.file;
      if (name.find('/') != std::string::npos && !next.object.name.empty()) library.name = next.object.name;
      library.rule = preloaded ? Rule::preload : rule;
      next.name = name;
      next.parent = by;
      if (same == objects_.end()) objects_.push_back(std::move(next));
    } else if (std::any_of(found_.begin(), found_.end(), [&](const Library& l) { return l.name == library.name; })) {
      return;
    }
    found_.push_back(std::move(library));
  }

  std::string library_path_;
  LibraryCache cache_;
  std::vector<LoadedObject> objects_;
  std::vector<Library> found_;
};

}  // namespace

std::string shown_rule(const Library& library) {
  switch (library.rule) {
    case Rule::preload:
      return "LD_PRELOAD";
    case Rule::path:
      return "its path in " + library.needed_by;
    case Rule::rpath:
      return "DT_RPATH, for " + library.needed_by;
    case Rule::library_path:
      return "LD_LIBRARY_PATH";
    case Rule::runpath:
      return "DT_RUNPATH of " + library.needed_by;
    case Rule::cache:
      return "ld.so.cache";
    case Rule::default_folder:
      return "the default folders";
    case Rule::none:
      break;
  }
  return "none";
}

std::vector<Library> libraries_of(const std::string& program, const std::string& library_path,
                                  const std::string& preload) {
  return Walk(program, library_path).all(preload);
}

}  // namespace weft::abi
