// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <cstring>

#include "weft/commands.hpp"

namespace weft::tool {
namespace {

int version(const Words& words) {
  const bool json = words.size() == 1 && words[0] == "--json";
  if (words.size() == 1 && (words[0] == "--help" || words[0] == "-h"))
    return puts("usage: weft version [--json]\n\nShows the version of Weft.") < 0 ? 1 : 0;
  if (!words.empty() && !json) {
    fprintf(stderr, "weft: version takes no argument but --json\n");
    return 2;
  }
  puts(json ? "{\"weft\": \"" WEFT_VERSION "\"}" : "weft " WEFT_VERSION);
  return 0;
}

struct Subcommand {
  const char* name;
  int (*run)(const Words& words);
  const char* help;
};

constexpr Subcommand subcommands[] = {
    {"advice", advice,
     "what would make a run faster, and which algorithms of its collective operations, by measured times or by\n"
     "             simulation: FILE of statistics, --measured file; --help says more"},
    {"crowd", crowd,
     "a program alone and many copies of it at once, how much they hold each other up, and by what: -n copies,\n"
     "             --repeat k, --json -- program; --help says more"},
    {"doctor", doctor,
     "settings of this host, or of --hosts a,b, that programs suffer from, and what to do about them; --help says "
     "more"},
    {"info", info,
     "settings and their values; --all: those for experts too; --paths: what a message of which\n"
     "             size does, with --between A,B measured between two processors; --topo: the machine; --man: the "
     "settings as a manual page; net: networks to other hosts; devices: accelerators; --json"},
    {"noise", noise,
     "how much the system and other programs hold up each core, and what that does to an allreduce with and without\n"
     "             a reserved core: --seconds s, --json; --help says more"},
    {"order", order,
     "an order of ranks in which few neighbours of a grid are on other hosts: -R or -C, -g grid, -c cell,\n"
     "             -n ranks of a host or -H hosts, -o file, --picture file; --from file: for the messages of a run;\n"
     "             --help says more"},
    {"report", report,
     "a page in HTML of the statistics of a run, or of two in comparison: FILE..., -o file, --json; --help says more"},
    {"selftest", selftest,
     "tries this installation: ranks, messages, windows, files, libraries, other MPIs in front: -n ranks, --json"},
    {"simulate", simulate,
     "the time of a collective operation by each algorithm, for up to a million ranks, under a model: --coll name,\n"
     "             --ranks n, --ppn n, --size bytes, --json; --help says more"},
    {"stats", stats, "calls so far of a job that runs with WEFT_STATS=summary, calls or full: [--json] PID"},
    {"sweep", sweep,
     "a program under layouts of ranks and threads and values of settings, in turn, as a table: -- program; --help "
     "says more"},
    {"tune", tune,
     "measures collective operations by each algorithm and writes a table for WEFT_TUNING: -n ranks, --hosts a,b,\n"
     "             --only collectives, --quick, --out file; --help says more"},
    {"version", version, "the version of Weft"},
    {"why", why, "why a job stands still: JOB or PID, --json; --help says more"},
};

// For one who does not know the commands yet.
constexpr const char* questions =
    "Questions about programs that run on Weft and about the host, and the commands that answer them:\n\n"
    "  Does this installation work?                    weft selftest\n"
    "  Is this host set up as programs need it?        weft doctor\n"
    "  Where does the time of a program go?            WEFT_STATS=summary mpiexec -n 4 program\n"
    "  ... while it runs, and as a page                weft stats PID, weft report FILE\n"
    "  What would make it faster, and by how much?     weft advice FILE\n"
    "  Why does a job stand still?                     weft why\n"
    "  How many ranks and threads, bound how?          weft sweep -- program\n"
    "  Which ranks on which hosts?                     weft order --from FILE\n"
    "  What do copies of it do to each other?          weft crowd -n 4 -- mpiexec -n 2 program\n"
    "  What does the system take from the cores?       weft noise\n"
    "  Which way does a message take, and which algorithm a collective operation?\n"
    "                                                  weft info --paths, weft info coll\n"
    "  Which algorithm is the fastest here?            weft tune\n"
    "  ... and with a million ranks?                   weft simulate --coll bcast --ranks 1000000\n"
    "  Which settings are there?                       weft info\n\n"
    "weft help lists the commands with their options, weft COMMAND --help says more of one, and so does man weft. "
    "With\n"
    "--json each answers as JSON.\n";

int usage(FILE* out, int status) {
  fputs("usage: weft <command> [options]\n\n", out);
  for (const Subcommand& c : subcommands) fprintf(out, "  %-10s %s\n", c.name, c.help);
  return status;
}

}  // namespace
}  // namespace weft::tool

int main(int argc, char** argv) {
  using namespace weft::tool;
  if (argc < 2) return fputs(questions, stdout), 0;
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
    return usage(stdout, 0);
  const char* wanted = strcmp(argv[1], "--version") == 0 ? "version" : argv[1];
  for (const Subcommand& c : subcommands) {
    if (strcmp(wanted, c.name) == 0) return c.run(Words(argv + 2, argv + argc));
  }
  fprintf(stderr, "weft: there is no command \"%.60s\"\n", argv[1]);
  return usage(stderr, 2);
}
