// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/face.hpp"

#include <unistd.h>

#include <algorithm>

namespace weft::abi {
namespace {

// MPICH's and Intel MPI's names, and Debian's. The last row stands for what Weft has no library of: any other version
// of libmpi.so is taken for Open MPI's.
constexpr Face all_faces[] = {
    {"standard", "the standard's ABI", "standard-abi", "libmpi_abi.so.1", "mpiabi", {"libmpi_abi.so.1"}},
    {"mpich",
     "MPICH's ABI",
     "mpich-abi",
     "libmpi.so.12",
     "mpich",
     {"libmpi.so.12", "libmpich.so.12", "libmpifort.so.12", "libmpichfort.so.12", "libmpicxx.so.12",
      "libmpichcxx.so.12"}},
    {"openmpi",
     "Open MPI's ABI",
     "openmpi-abi",
     "libmpi.so.40",
     "openmpi",
     {"libmpi.so.40", "libmpi_cxx.so.40", "libmpi_mpifh.so.40", "libmpi_usempi_ignore_tkr.so.40", "libmpi_usempi.so.40",
      "libmpi_usempif08.so.40"}},
    {nullptr, "Open MPI", "", "", "", {}},
};

}  // namespace

std::span<const Face> faces() {
  return all_faces;
}

const Face* face_of(const std::string& library) {
  for (const Face& face : all_faces) {
    for (const char* const name : face.libraries) {
      if (name != nullptr && library == name) return &face;
    }
  }
  return library.starts_with("libmpi.so") ? &all_faces[std::size(all_faces) - 1] : nullptr;
}

const Face* face_of_runtime(const std::string& library) {
  const auto has = [&](const char* word) { return library.find(word) != std::string::npos; };
  const bool is_binding = has("fort") || has("cxx") || has("mpifh") || has("usempi");
  return is_binding ? nullptr : face_of(library);
}

const Face* face_named(const std::string& option) {
  const auto* const found = std::find_if(std::begin(all_faces), std::end(all_faces), [&](const Face& face) {
    return face.option != nullptr && option == face.option;
  });
  return found == std::end(all_faces) ? nullptr : found;
}

bool is_allowed(const Face& face, const std::string& option) {
  return face.option != nullptr && (option == "auto" || option == face.option);
}

std::string options_of_abi() {
  std::string words = "auto";
  for (const Face& face : all_faces) {
    if (face.option != nullptr) words.append(", ").append(face.option);
  }
  return words + " or none";
}

std::string folder_of(const Face& face) {
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  if (face.option == nullptr || length <= 0 || length == static_cast<ssize_t>(sizeof self)) return {};
  std::string prefix(self, static_cast<size_t>(length));
  for (int up = 0; up < 2; ++up) prefix.resize(std::min(prefix.rfind('/'), prefix.size()));
  for (const char* const place : {"/lib/", "/lib64/", "/src/"}) {
    std::string folder = prefix + place + face.folder;
    if (access((folder + "/" + face.runtime).c_str(), R_OK) == 0) return folder;
  }
  return {};
}

}  // namespace weft::abi
