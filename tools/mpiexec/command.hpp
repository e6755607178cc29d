// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// mpiexec's command line: options prog args : options prog args ...

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpiexec/hosts.hpp"
#include "topo/placement.hpp"

namespace weft::mpiexec {

using Variable = std::pair<std::string, std::string>;  // name, value

struct Program {
  int ranks = 1;
  std::vector<std::string> words;   // the program and its arguments
  std::vector<Variable> variables;  // -x, -env: for these ranks only
  std::string folder;               // -wdir; empty: ours
};

// Options of other launchers that have no meaning here, all for one reason.
struct Ignored {
  std::vector<std::string> options;  // as they were written
  std::string reason;
};

struct Command {
  std::vector<Program> programs;
  std::vector<Variable> variables;  // -genv: for all ranks
  std::vector<Host> hosts;          // of all programs; empty: this one
  bool ranks_given = false;         // -n
  topo::BindingRequest binding;
  bool binding_asked = false;
  bool threads_asked = false;  // --threads; otherwise `binding.threads` is what OMP_NUM_THREADS tells, 0 when nothing
  bool show_layout = false;    // without programs that is all
  std::string machine;         // of --show-layout without programs: hwloc's XML or a description; empty: this one
  bool tag_output = false;
  std::string abi = "auto";    // of the programs, one of abi::options_of_abi()
  bool quiet = false;          // nothing but errors
  bool oversubscribe = false;  // more ranks than cores are meant
  int64_t timeout_us = 0;      // 0 means no timeout
  int universe = 0;            // the most processes at a time, with spawned ones; 0: not said
  bool jobs = false;           // show those that run
  bool help = false;
  bool version = false;

  int per_host = 0;                   // at most so many ranks on each host; 0: not said
  bool maps_by_node = false;          // hosts get ranks in turn, and are not filled one after the other
  std::optional<bool> ranks_by_node;  // ranks are numbered so, too; not said: as they are mapped
  bool report_bindings = false;       // the layout, where all ranks start on this host
  bool merge_output = false;          // the ranks' standard error goes to standard output
  bool no_oversubscribe = false;      // more ranks than processors are an error
  bool allow_root = false;            // for prterun, which asks for it
  std::vector<Ignored> ignored;
  void ignore(const std::string& option, const std::string& reason);

  int ranks() const;
  // The value that all ranks of a program get for a variable, or nullptr.
  const char* variable(const Program& program, const std::string& name) const;
};

inline constexpr int most_ranks = 16384;
inline constexpr int most_threads = 4096;

// Takes the words after the program's own name; an empty result means taken, otherwise what is wrong.
[[nodiscard]] std::string parse_command(const std::vector<std::string>& words, Command& command);

// Further variables of a program's ranks, for OpenMP: the number of threads, and its binding within the ranks' cores,
// where the user has given neither.
std::vector<Variable> openmp_variables(const Command& command, const Program& program, topo::Places places);

// The variable by which other launchers take the time of a job.
inline constexpr const char* timeout_variable = "MPIEXEC_TIMEOUT";

// Names the options that are ignored on standard error, unless the command is quiet.
void tell_ignored(const Command& command);

const char* usage();

}  // namespace weft::mpiexec
