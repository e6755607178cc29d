// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/abi.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include "abi/lead.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"

namespace weft::mpiexec {
namespace {

abi::Start start_of(const Command& command, const Program& program) {
  return {.words = program.words,
          .folder = program.folder,
          .variable = [&](const std::string& name) { return command.variable(program, name); },
          .option = command.abi};
}

// That another MPI's library is among those of a program, and what to do about it; empty: none is.
std::string other_among(const std::vector<abi::Library>& libraries) {
  if (abi::has_weft(libraries)) return {};
  for (const abi::Library& library : libraries) {
    const abi::Face* const face = abi::face_of(library.name);
    const bool is_foreign = face != nullptr && face->option == nullptr;
    const bool is_found = !library.file.empty();
    if (face == nullptr || (!is_found && !is_foreign)) continue;
    std::string said =
        is_foreign ? std::string("was built with ") + face->label + " (" : "loads another MPI's library (";
    said.append(library.name);
    said += is_found ? " at " + library.file + "), so each rank runs alone" : "), whose library is not found";
    said += ". Remedy: compile it with Weft's mpicc";
    return said + (is_foreign ? "" : ", or take away the DT_RPATH or the --abi that leads there");
  }
  return {};
}

bool has(const std::vector<Variable>& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(), [&](const Variable& v) { return v.first == name; });
}

// Launchers of other hosts take one value for each name.
void replace(std::vector<Variable>& list, const std::vector<Variable>& by) {
  std::erase_if(list, [&](const Variable& v) { return has(by, v.first); });
  list.insert(list.end(), by.begin(), by.end());
}

// Variables that all programs get alike are the command's, unless a program has a value of its own.
void add_variables(Command& command, const std::vector<std::vector<Variable>>& lists) {
  const std::vector<Variable>& first = lists[0];
  const bool alike = std::all_of(lists.begin(), lists.end(), [&](const auto& list) { return list == first; });
  const bool is_own = std::any_of(command.programs.begin(), command.programs.end(), [&](const Program& program) {
    return std::any_of(first.begin(), first.end(), [&](const Variable& v) { return has(program.variables, v.first); });
  });
  if (alike && !is_own) return replace(command.variables, first);
  for (size_t i = 0; i < lists.size(); ++i) replace(command.programs[i].variables, lists[i]);
}

}  // namespace

std::string other_library(const Command& command, const Program& program) {
  const abi::Start start = start_of(command, program);
  std::string said = other_among(abi::lead(start).libraries);
  if (!said.empty()) return said;
  for (const auto& [file, libraries] : abi::named_in_shell(start)) {
    const std::string of_named = other_among(libraries);
    if (!of_named.empty()) return "names " + base::quoted_path(file) + ", which " + of_named;
  }
  return {};
}

void choose_abi(Command& command) {
  std::set<std::string> told;
  std::vector<std::vector<Variable>> added;
  for (const Program& program : command.programs) {
    abi::Lead lead = abi::lead(start_of(command, program));
    added.push_back(std::move(lead.variables));
    for (const base::Problem& problem : lead.problems) {
      if (told.insert(problem.cause).second) base::tell(problem);
    }
    if (command.quiet || lead.note.empty() || !told.insert(lead.note).second) continue;
    fprintf(stderr, "weft: mpiexec: %s %s\n", program.words[0].c_str(), lead.note.c_str());
  }
  add_variables(command, added);
}

}  // namespace weft::mpiexec
