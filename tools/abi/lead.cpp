// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/lead.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "abi/python.hpp"

namespace weft::abi {
namespace {

std::string value_of(const Start& start, const char* name) {
  const char* const value = start.variable(name);
  return value != nullptr ? value : "";
}

// A search path with the folders in front, if they do not stand there already.
std::string in_front(const std::vector<std::string>& folders, const std::string& path) {
  std::string front;
  for (const std::string& folder : folders) front.append(front.empty() ? "" : ":").append(folder);
  if (front.empty() || path == front || path.starts_with(front + ":")) return path;
  return path.empty() ? front : front + ":" + path;
}

bool is_same_file(const std::string& one, const std::string& other) {
  struct stat a, b;
  return stat(one.c_str(), &a) == 0 && stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

class Leading {
 public:
  explicit Leading(const Start& start) : start_(start) {}

  std::vector<std::pair<std::string, std::vector<Library>>> run_shell() {
    if (start_.option != "none") add_search_path();
    std::vector<std::pair<std::string, std::vector<Library>>> all;
    const Target target = target_of(start_.words, start_.folder);
    for (std::string& file : programs_of_shell(target.shell, start_.folder)) {
      std::vector<Library> libraries = libraries_of(file, value("LD_LIBRARY_PATH"), value("LD_PRELOAD"));
      if (!libraries.empty()) all.emplace_back(std::move(file), std::move(libraries));
    }
    return all;
  }

  Lead run() {
    lead_.target = target_of(start_.words, start_.folder);
    if (start_.option != "none") {
      add_search_path();
      add_mpi4py();
    }
    find_libraries();
    if (start_.option != "none") {
      add_preload();
      describe_need();
    }
    return std::move(lead_);
  }

 private:
  std::string value(const char* name) const {
    for (const auto& [known, value] : lead_.variables) {
      if (known == name) return value;
    }
    return value_of(start_, name);
  }

  void set(const char* name, const std::string& value) { lead_.variables.emplace_back(name, value); }

  void add_search_path() {
    constexpr const char* variable = "LD_LIBRARY_PATH";
    std::vector<std::string> folders;
    for (const Face& face : faces()) {
      const std::string folder = is_allowed(face, start_.option) ? folder_of(face) : std::string();
      if (!folder.empty() && folder.find_first_of(":;") == std::string::npos) folders.push_back(folder);
    }
    const std::string before = value_of(start_, variable);
    const std::string path = in_front(folders, before);
    if (path != before) set(variable, path);
  }

  void add_mpi4py() {
    if (lead_.target.runs == Runs::program || lead_.target.file.empty() ||
        start_.variable("MPI4PY_LIBMPI") != nullptr || start_.variable("MPI4PY_MPIABI") != nullptr) {
      return;
    }
    const bool is_python = lead_.target.runs == Runs::python;
    const Face* const face =
        face_of_mpi4py(is_python ? lead_.target.file : "", value_of(start_, "PYTHONPATH"), start_.option);
    if (face == nullptr) return;
    const std::string folder = folder_of(*face);
    if (!folder.empty()) set("MPI4PY_LIBMPI", folder + "/" + face->runtime);
  }

  void find_libraries() {
    if (lead_.target.runs == Runs::program)
      lead_.libraries = libraries_of(lead_.target.file, value("LD_LIBRARY_PATH"), value("LD_PRELOAD"));
  }

  // The library that is not Weft's, although Weft has its ABI.
  const Library* strange_library() const {
    for (const Library& library : lead_.libraries) {
      const Face* const face = face_of(library.name);
      if (face == nullptr || !is_allowed(*face, start_.option) || library.file.empty()) continue;
      const std::string folder = folder_of(*face);
      if (!folder.empty() && !is_same_file(library.file, folder + "/" + library.name)) return &library;
    }
    return nullptr;
  }

  // LD_PRELOAD separates by blanks and colons, and is not looked at for programs with the rights of their owner.
  void add_preload() {
    const Library* const strange = strange_library();
    if (strange == nullptr || has_weft(lead_.libraries)) return;
    const Face& face = *face_of(strange->name);
    const std::string file = folder_of(face) + "/" + face.runtime;
    struct stat s;
    const bool trusted = stat(lead_.target.file.c_str(), &s) == 0 && (s.st_mode & (S_ISUID | S_ISGID)) == 0;
    if (!trusted || file.find_first_of(": ;") != std::string::npos) {
      lead_.problems.push_back({.cause = lead_.target.file + " gets " + strange->file + " by " + shown_rule(*strange) +
                                         ", and cannot be led to " + file,
                                .remedy = "patchelf --remove-rpath, or link it without a search path"});
      return;
    }
    const std::string before = value_of(start_, "LD_PRELOAD");
    lead_.note = "gets " + strange->name + " by " + shown_rule(*strange) + ", so that LD_PRELOAD leads to " + file;
    set("LD_PRELOAD", before.empty() ? file : file + ":" + before);
    find_libraries();
  }

  // Programs of another ABI than the standard's, which is told once; and a library that is not installed.
  void describe_need() {
    for (const Library& library : lead_.libraries) {
      const Face* const face = face_of(library.name);
      if (face == nullptr || !is_allowed(*face, start_.option)) continue;
      const std::string folder = folder_of(*face);
      if (folder.empty() && library.file.empty()) {
        lead_.problems.push_back({.cause = start_.words[0] + " was built for " + face->label + ", and " +
                                           face->runtime + " is not installed beside mpiexec",
                                  .remedy = "install Weft whole, or set LD_LIBRARY_PATH to the folder of its " +
                                            std::string(face->runtime)});
        return;
      }
      if (face == faces().data() || folder.empty() || !lead_.note.empty()) return;
      lead_.note = "needs " + library.name + ": " + face->label + ", from " + folder;
      return;
    }
  }

  const Start& start_;
  Lead lead_;
};

}  // namespace

Lead lead(const Start& start) {
  return Leading(start).run();
}

std::vector<std::pair<std::string, std::vector<Library>>> named_in_shell(const Start& start) {
  return Leading(start).run_shell();
}

bool has_weft(const std::vector<Library>& libraries) {
  return std::any_of(libraries.begin(), libraries.end(), [](const Library& l) { return l.name == "libweft.so"; });
}

}  // namespace weft::abi
