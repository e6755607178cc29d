// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The libraries of MPI that a program gets, and the one that carries its messages to other hosts.

#include <map>
#include <string>

#include "base/setting.hpp"
#include "transport/select/hosts.hpp"
#include "weft/doctor.hpp"
#include "why/libraries.hpp"

namespace weft::tool {
namespace {

namespace net = transport::net;

bool is_of_openmp(const std::string& library) {
  return library.starts_with("libgomp.so") || library.starts_with("libomp.so") || library.starts_with("libiomp5.so");
}

}  // namespace

void look_at_program(const std::string& program, Findings& findings) {
  const std::string subject = "libraries of MPI in " + program;
  std::map<std::string, std::string> libraries;
  if (!why::list_libraries(program, "", libraries)) {
    findings.push_back({Grade::note, subject, "not known",
                        "it is no program that a dynamic linker loads, or none of this machine: name the program "
                        "itself, not a script that starts it"});
    return;
  }
  std::map<std::string, std::string> families;
  std::string missing, openmp;
  for (const auto& [name, file] : libraries) {
    if (is_of_openmp(name)) openmp = name;
    const std::string family = why::mpi_family(name);
    if (family.empty()) continue;
    if (file == "not found") missing = name;
    std::string& files = families[family];
    files.append(files.empty() ? "" : ", ").append(file == "not found" ? name + " (not found)" : file);
  }
  std::string state;
  for (const auto& [family, files] : families)
    state.append(state.empty() ? "" : "; ").append(family).append(": ").append(files);
  if (families.size() > 1) {
    findings.push_back({Grade::bad, subject, state,
                        "parts of the program were built for different libraries of MPI, whose handles and messages "
                        "have nothing in common: build all of them, libraries too, with one mpicc"});
  } else if (!missing.empty()) {
    findings.push_back({Grade::bad, subject, state,
                        missing + " is in no folder that is searched: start the program with mpiexec, which leads to "
                                  "Weft's, or name its folder in LD_LIBRARY_PATH"});
  } else {
    findings.push_back({Grade::good, subject, families.empty() ? "none" : state, ""});
  }
  if (families.empty() || openmp.empty()) return;
  findings.push_back({Grade::note, "threads in " + program, openmp,
                      "threads that call MPI at the same time below MPI_THREAD_MULTIPLE spoil messages, and no call "
                      "fails: run the program once with WEFT_CHECK=threads, which ends it at such a call"});
}

void look_at_carrier(Findings& findings) {
  constexpr const char* names[] = {"TCP", "libfabric", "UCX"};
  base::load_known_settings();
  const net::LibraryChoice choice = net::choose_library();
  const bool failed = choice.why.find("cannot be loaded") != std::string::npos;
  const std::string state = std::string(names[static_cast<int>(choice.by)]) + ": " + choice.why;
  findings.push_back({failed ? Grade::bad : Grade::good, "messages between hosts", state,
                      failed ? "the adapter is not used, or not well: install the library (Debian: apt-get install "
                               "libucx0 libfabric1); weft info net lists the providers"
                             : ""});
}

}  // namespace weft::tool
