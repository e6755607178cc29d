// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/env/memory_kinds.hpp"

#include <algorithm>
#include <vector>

#include "base/setting.hpp"

namespace weft::mpi {
namespace {

constinit base::TextSetting requested{
    {.name = "WEFT_MEMORY_ALLOC_KINDS",
     .help = "memory allocation kinds the program asks support for, as mpiexec -memory-alloc-kinds"}};
WEFT_SETTING(requested);

std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    out.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

// A kind with its restrictors that this library knows.
bool is_known(std::string_view kind) {
  const std::vector<std::string_view> words = parts(kind, ':');
  if (words.empty()) return false;
  if (words[0] == "system") return words.size() == 1;
  return words[0] == "mpi" && std::all_of(words.begin() + 1, words.end(), [](std::string_view restrictor) {
           return restrictor == "alloc_mem" || restrictor == "win_allocate" || restrictor == "win_allocate_shared";
         });
}

}  // namespace

std::string supported_kinds(std::string_view asked) {
  std::string kinds = "mpi,system";
  for (std::string_view kind : parts(asked, ',')) {
    const auto known = parts(kinds, ',');
    if (!is_known(kind) || std::find(known.begin(), known.end(), kind) != known.end()) continue;
    kinds.append(",").append(kind);
  }
  return kinds;
}

// "mpi" is always supported and has all memory that its restrictors narrow down.
bool kinds_are_among(std::string_view asserted, std::string_view supported) {
  const auto known = parts(supported, ',');
  const auto kinds = parts(asserted, ',');
  return std::all_of(kinds.begin(), kinds.end(), [&](std::string_view kind) {
    return is_known(kind) && std::find(known.begin(), known.end(), kind.substr(0, kind.find(':'))) != known.end();
  });
}

const char* requested_kinds() {
  return requested.value();
}

std::string kinds_of(const Comm& comm) {
  const bool in_session = comm.session != nullptr && comm.session->kind == base::Kind::session;
  if (in_session) return static_cast<const Session*>(comm.session)->memory_kinds;
  return supported_kinds(requested_kinds());
}

}  // namespace weft::mpi
