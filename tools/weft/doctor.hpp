// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The settings of a host that programs of MPI suffer or profit from: read, judged, and explained.

#include <optional>
#include <string>
#include <vector>

namespace weft::tool {

// A host's files below a folder: "" is this host, another folder has copies of its /proc and /sys.
class HostFiles {
 public:
  explicit HostFiles(std::string root) : root_(std::move(root)) {}

  // A file's text without the white space at its end; none: it cannot be read.
  [[nodiscard]] std::optional<std::string> text(const std::string& path) const;
  [[nodiscard]] std::optional<long long> number(const std::string& path) const;
  // The word in brackets, as in "always [madvise] never".
  [[nodiscard]] std::string chosen(const std::string& path) const;
  // Names in a folder, sorted.
  [[nodiscard]] std::vector<std::string> names(const std::string& path) const;

 private:
  std::string root_;
};

enum class Grade { good, note, bad };

struct Finding {
  Grade grade;
  std::string subject;    // "transparent huge pages"
  std::string state;      // as it is on this host; compared between hosts
  std::string why;        // and what to do; empty where it is good
  bool is_asked = false;  // shown even if it is good
};

using Findings = std::vector<Finding>;

// Prints all findings, as an object of JSON if wanted.
void show(const Findings& findings, bool json);
// The status of a command that has these findings: 1 if one is bad.
int worst_of(const Findings& findings);

// These look at the system (doctor_system.cpp).
void look_at_memory(const HostFiles& host, Findings& findings);
void look_at_processors(const HostFiles& host, Findings& findings);
void look_at_limits(const HostFiles& host, Findings& findings);
void look_at_networks(const HostFiles& host, Findings& findings);
// Looks at the environment that a program would inherit (doctor_program.cpp).
void look_at_environment(Findings& findings);
// In doctor_libraries.cpp: the library that carries messages to other hosts.
void look_at_carrier(Findings& findings);
// In doctor_installation.cpp: whether the files of this installation are Weft's, and another MPI stands before it in
// PATH.
void look_at_installation(Findings& findings);
// In doctor_abi.cpp: the libraries of MPI that ranks of a command get under mpiexec.
void look_at_program(const std::vector<std::string>& words, Findings& findings);

}  // namespace weft::tool
