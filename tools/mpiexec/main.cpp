// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "boot/connect/own_launcher.hpp"
#include "mpiexec/abi.hpp"
#include "mpiexec/allocation.hpp"
#include "mpiexec/attached.hpp"
#include "mpiexec/front.hpp"
#include "mpiexec/handover.hpp"
#include "mpiexec/jobs.hpp"
#include "mpiexec/launch.hpp"

int main(int argc, char** argv) {
  using namespace weft::mpiexec;
  std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  Command command;
  if (words.empty()) {
    fputs(usage(), stderr);
    return 2;
  }
  if (words.front() == weft::boot::attach_option) return serve_attached(words);
  std::string wrong = parse_command(words, command);
  if (!wrong.empty()) {
    fprintf(stderr, "weft: mpiexec: %s. Remedy: see mpiexec --help\n", wrong.c_str());
    return 2;
  }
  // This process keeps the time: a launcher that it starts would end the ranks before they have told what they wait
  // for.
  unsetenv(timeout_variable);
  if (command.help) {
    fputs(usage(), stdout);
    return 0;
  }
  if (command.version) {
    puts("mpiexec (Weft) " WEFT_VERSION);
    return 0;
  }
  if (command.jobs) return show_jobs();
  tell_ignored(command);
  if (command.programs[0].words.empty()) return Launch(command).show();
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  wrong = take_allocation(command, host);
  if (wrong.empty()) wrong = count_per_host(command);
  if (!wrong.empty()) {
    fprintf(stderr, "weft: mpiexec: %s\n", wrong.c_str());
    return 2;
  }
  choose_abi(command);
  if (!all_are_here(command.hosts, host)) return hand_over(command);
  command.show_layout = command.show_layout || command.report_bindings;
  return run_behind_front([&] { return Launch(command).run(); });
}
