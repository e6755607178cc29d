// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The dynamic section of a file in ELF's format, as the dynamic linker uses it. Any content is read with bounds.

#include <cstdint>
#include <string>
#include <vector>

namespace weft::abi {

struct Object {
  uint16_t machine = 0;
  bool dynamic = false;             // it has a dynamic section
  std::string name;                 // DT_SONAME
  std::vector<std::string> needed;  // DT_NEEDED
  std::string rpath, runpath;       // DT_RPATH and DT_RUNPATH as they are written
  bool has_runpath = false;
  bool no_default = false;  // DF_1_NODEFLIB: neither the cache nor the default folders are searched
  // Its data that are zero at first: from one address to another, relative to where the file's begin is loaded.
  uint64_t zeros_begin = 0, zeros_end = 0;
};

// False: it is no file of 64 bits in this machine's byte order, or it cannot be read.
[[nodiscard]] bool read_object(const std::string& path, Object& object);

// The words of a script's first line, "#!interpreter argument"; empty: it has none. `script`: the file can be read and
// is no program in ELF's format.
[[nodiscard]] std::vector<std::string> interpreter_of(const std::string& path, bool& script);

}  // namespace weft::abi
