// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The libraries of MPI that ranks of a program get under mpiexec, by the code that mpiexec itself uses.

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "abi/lead.hpp"
#include "base/message.hpp"
#include "weft/doctor.hpp"

namespace weft::tool {
namespace {

bool is_of_openmp(const std::string& library) {
  return library.starts_with("libgomp.so") || library.starts_with("libomp.so") || library.starts_with("libiomp5.so");
}

// "MPICH's ABI: /x/libmpi.so.12 (LD_LIBRARY_PATH)", for each ABI; "none" without a library of MPI.
std::string shown_libraries(const std::map<std::string, std::string>& families) {
  std::string state;
  for (const auto& [family, files] : families)
    state.append(state.empty() ? "" : "; ").append(family).append(": ").append(files);
  return families.empty() ? "none" : state;
}

std::string shown_variables(const abi::Lead& lead) {
  std::string text;
  for (const auto& [name, value] : lead.variables)
    text.append(text.empty() ? "" : ", ").append(name).append("=").append(value);
  return text.empty() ? "mpiexec sets nothing" : "mpiexec sets " + text;
}

// The verdict on libraries of several ABIs, foreign ones, missing ones, and those that cannot be led to Weft's.
Finding verdict(const std::string& subject, const abi::Lead& lead) {
  std::map<std::string, std::string> families;
  std::string missing, foreign;
  for (const abi::Library& library : lead.libraries) {
    const abi::Face* const face = abi::face_of(library.name);
    if (face == nullptr) continue;
    if (library.file.empty()) missing = library.name;
    if (face->option == nullptr) foreign = face->label;
    std::string& files = families[face->label];
    files.append(files.empty() ? "" : ", ");
    files += library.file.empty() ? library.name + " (not found)" : library.file + " (" + shown_rule(library) + ")";
  }
  const std::string state = shown_libraries(families);
  if (families.size() > 1)
    return {Grade::bad, subject, state,
            "parts of the program were built for different libraries of MPI, whose handles and messages have nothing "
            "in common: build all of them, libraries too, with one mpicc"};
  if (!foreign.empty())
    return {Grade::bad, subject, state,
            "Weft has no library of " + foreign +
                "'s ABI, so that each rank runs alone: compile the program with Weft's "
                "mpicc"};
  if (!lead.problems.empty()) return {Grade::bad, subject, state, base::describe(lead.problems.front())};
  if (!missing.empty())
    return {Grade::bad, subject, state,
            missing + " is in no folder that is searched: install Weft whole, or name its folder in LD_LIBRARY_PATH"};
  return {Grade::good, subject, state, families.empty() ? "" : shown_variables(lead)};
}

}  // namespace

void look_at_program(const std::vector<std::string>& words, Findings& findings) {
  const std::string subject = "libraries of MPI in " + words[0];
  const abi::Lead lead = abi::lead(
      {.words = words, .folder = {}, .variable = [](const std::string& name) { return getenv(name.c_str()); }});
  if (lead.target.runs != abi::Runs::program) {
    const bool is_python = lead.target.runs == abi::Runs::python;
    findings.push_back(
        {Grade::note, subject, "not known",
         std::string(is_python ? "modules of Python load them" : "a shell's script starts what it likes") + ": " +
             shown_variables(lead)});
    return;
  }
  Finding finding = verdict(subject, lead);
  if (lead.target.file != words[0]) finding.state += ", of " + lead.target.file;
  finding.is_asked = true;
  findings.push_back(finding);
  const auto openmp = std::find_if(lead.libraries.begin(), lead.libraries.end(),
                                   [](const abi::Library& library) { return is_of_openmp(library.name); });
  const bool has_mpi = std::any_of(lead.libraries.begin(), lead.libraries.end(),
                                   [](const abi::Library& library) { return abi::face_of(library.name) != nullptr; });
  if (!has_mpi || openmp == lead.libraries.end()) return;
  findings.push_back({Grade::note, "threads in " + words[0], openmp->name,
                      "threads that call MPI at the same time below MPI_THREAD_MULTIPLE spoil messages, and no call "
                      "fails: run the program once with WEFT_CHECK=threads, which ends it at such a call"});
}

}  // namespace weft::tool
