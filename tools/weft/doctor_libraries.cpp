// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The libraries of MPI that a program gets, and the one that carries its messages to other hosts.

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>

#include "base/setting.hpp"
#include "transport/net/open.hpp"
#include "weft/doctor.hpp"
#include "weft/job.hpp"

namespace weft::tool {
namespace {

namespace net = transport::net;

// The ABI that a library of MPI has, by its name; empty: it is none. Fortran's and C++'s come with one of these.
std::string family_of(const std::string& library) {
  if (library.starts_with("libmpi_abi.so")) return "the standard's ABI";
  if (library == "libmpi.so.12" || library == "libmpich.so.12") return "MPICH's ABI";
  if (library.starts_with("libmpi.so")) return "Open MPI";
  return {};
}

bool is_of_openmp(const std::string& library) {
  return library.starts_with("libgomp.so") || library.starts_with("libomp.so") || library.starts_with("libiomp5.so");
}

// The dynamic linker that a program names; empty: none, or no program of 64 bits.
std::string linker_of(const std::string& program) {
  const int fd = open(program.c_str(), O_RDONLY | O_CLOEXEC);
  Elf64_Ehdr head{};
  std::string linker;
  if (fd >= 0 && pread(fd, &head, sizeof head, 0) == sizeof head && std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
      head.e_ident[EI_CLASS] == ELFCLASS64) {
    for (int i = 0; i < head.e_phnum && linker.empty(); ++i) {
      Elf64_Phdr part{};
      char name[256] = "";
      const off_t at = static_cast<off_t>(head.e_phoff) + static_cast<off_t>(i) * head.e_phentsize;
      if (at < 0 || pread(fd, &part, sizeof part, at) != sizeof part) break;
      if (part.p_type != PT_INTERP || pread(fd, name, sizeof name - 1, static_cast<off_t>(part.p_offset)) <= 0)
        continue;
      linker = name;
    }
  }
  if (fd >= 0) close(fd);
  return linker;
}

// The command that lists the libraries which a program would get, and does not start it. With its variable glibc's
// linker lists those too that it does not find.
Words listing(const std::string& linker, const std::string& program) {
  const std::string name = linker.substr(linker.rfind('/') + 1);
  if (name.starts_with("ld-linux") || name.starts_with("ld64.so"))
    return {"/usr/bin/env", "LD_TRACE_LOADED_OBJECTS=1", linker, program};
  return {linker, "--list", program};
}

// "	libmpi.so.12 => /usr/lib/libmpi.so.12 (0x...)" as the dynamic linker lists them: name and file.
std::map<std::string, std::string> libraries_of(const std::string& listed) {
  std::map<std::string, std::string> found;
  std::istringstream lines(listed);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, arrow, file;
    if (words >> name >> arrow >> file && arrow == "=>") found[name] = file == "not" ? "not found" : file;
  }
  return found;
}

}  // namespace

void look_at_program(const std::string& program, Findings& findings) {
  const std::string subject = "libraries of MPI in " + program;
  const std::string linker = linker_of(program);
  std::string listed;
  base::Problem problem;
  if (linker.empty() || !run(listing(linker, program), listed, problem)) {
    findings.push_back({Grade::note, subject, "not known",
                        "it is no program that a dynamic linker loads, or none of this machine: name the program "
                        "itself, not a script that starts it"});
    return;
  }
  std::map<std::string, std::string> families;
  std::string missing, openmp;
  for (const auto& [name, file] : libraries_of(listed)) {
    if (is_of_openmp(name)) openmp = name;
    const std::string family = family_of(name);
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
