// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The libraries that a program gets, found as glibc's dynamic linker finds them (ld.so(8)), without starting anything.
// Subfolders for kinds of processors (glibc-hwcaps) are left out: libraries of MPI have no such variants.

#include <cstdint>
#include <string>
#include <vector>

namespace weft::abi {

// The rule by which a library was found.
enum class Rule : uint8_t { none, preload, path, rpath, library_path, runpath, cache, default_folder };

struct Library {
  std::string name;       // as it is needed; DT_SONAME of one that is named by its path
  std::string file;       // empty: it is not found
  std::string needed_by;  // the file that needs it
  Rule rule = Rule::none;
};

// "DT_RUNPATH of /opt/x/libx.so", "LD_LIBRARY_PATH"
[[nodiscard]] std::string shown_rule(const Library& library);

// The libraries of a program and of its libraries in turn, each once; empty for a script, and for a file that cannot be
// read. `library_path` and `preload` are the values of LD_LIBRARY_PATH and LD_PRELOAD.
[[nodiscard]] std::vector<Library> libraries_of(const std::string& program, const std::string& library_path,
                                                const std::string& preload);

}  // namespace weft::abi
