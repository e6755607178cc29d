// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/mpi_libraries.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/message.hpp"

namespace weft::base {
namespace {

std::string_view name_in(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

struct LoadedFile {
  std::string file;  // the program is one of them
  std::string soname;
  std::vector<std::string> needed;
};

// Reads the dynamic section of a loaded file, whose addresses the dynamic linker has made absolute. The kernel's own
// object has no file, and keeps relative ones.
void read_dynamic(const ElfW(Dyn) * entry, LoadedFile& loaded) {
  const char* strings = nullptr;
  for (const ElfW(Dyn)* at = entry; at->d_tag != DT_NULL; ++at) {
    if (at->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(at->d_un.d_ptr);
  }
  if (strings == nullptr) return;
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED) loaded.needed.emplace_back(strings + entry->d_un.d_val);
    if (entry->d_tag == DT_SONAME) loaded.soname = strings + entry->d_un.d_val;
  }
}

std::string program_file() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : "the program";
}

int add_file(dl_phdr_info* info, size_t /*size*/, void* into) {
  auto& files = *static_cast<std::vector<LoadedFile>*>(into);
  const bool is_program = files.empty();
  const std::string_view name = info->dlpi_name;
  if (!is_program && name.find('/') == std::string_view::npos) return 0;
  LoadedFile& loaded = files.emplace_back();
  loaded.file = is_program ? program_file() : std::string(name);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type == PT_DYNAMIC)
      read_dynamic(reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + part.p_vaddr), loaded);
  }
  return 0;
}

// Returns the file that defines PMPI_Init as `library` sees it, or an empty name. Looking loads nothing.
std::string definer(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return {};
  Dl_info found{};
  const void* function = dlsym(handle, "PMPI_Init");
  const bool is_known = function != nullptr && dladdr(function, &found) != 0 && found.dli_fname != nullptr;
  std::string file = is_known ? found.dli_fname : "";
  dlclose(handle);
  return file;
}

}  // namespace

std::vector<MpiLibrary> loaded_mpi_libraries() {
  std::vector<LoadedFile> files;
  dl_iterate_phdr(add_file, &files);
  std::vector<MpiLibrary> found;
  for (const LoadedFile& loaded : files) {
    const std::string_view name = name_in(loaded.file);
    if (!name.starts_with("libmpi")) continue;
    const std::string file = definer(loaded.file);
    const bool is_ours = name.starts_with("libmpi_abi.so") && name_in(file).starts_with("libweft.so");
    if (file != loaded.file && !is_ours) continue;  // a name of another library, or a tool
    MpiLibrary& library = found.emplace_back();
    library.file = loaded.file;
    const std::string& soname = loaded.soname.empty() ? std::string(name) : loaded.soname;
    const auto user = std::find_if(files.begin(), files.end(), [&soname](const LoadedFile& other) {
      return std::find(other.needed.begin(), other.needed.end(), soname) != other.needed.end();
    });
    if (user != files.end()) library.needed_by = user->file;
  }
  return found;
}

uint64_t files_loaded() {
  uint64_t count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t /*size*/, void* into) {
        *static_cast<uint64_t*>(into) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

void warn_of_second_mpi_library() {
  const std::vector<MpiLibrary> libraries = loaded_mpi_libraries();
  if (libraries.size() < 2) return;
  std::string cause =
      "this process has " + std::to_string(libraries.size()) + " MPI libraries, whose functions have the same names";
  for (const MpiLibrary& library : libraries) {
    cause += (&library == libraries.data() ? ": " : ", and ") + library.file;
    cause += library.needed_by.empty() ? " (loaded by its name)" : " (needed by " + library.needed_by + ")";
  }
  warn_for_job(
      "second MPI library",
      {.cause = cause + ": a call may reach the wrong one, to which handles mean nothing",
       .remedy = "build the program and its plug-ins with one MPI's compiler wrappers. If they were, start the "
                 "program by mpiexec, which puts Weft's libraries in front, or see with 'weft doctor PROGRAM' "
                 "where each comes from"});
}

}  // namespace weft::base
