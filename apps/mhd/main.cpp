// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// Ideal magnetohydrodynamics on a fixed grid, with ranks and threads: see docs/measurements/apps.md.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "on_device.hpp"
#include "run.hpp"
#include "team.hpp"

namespace {

using mhd::Options;
using mhd::Way;

struct WayName {
  const char* name;
  Way way;
  int level;
};
constexpr std::array<WayName, 4> ways = {{{"ranks", Way::ranks, MPI_THREAD_SINGLE},
                                          {"funnelled", Way::funnelled, MPI_THREAD_FUNNELED},
                                          {"communicators", Way::communicators, MPI_THREAD_MULTIPLE},
                                          {"window", Way::window, MPI_THREAD_MULTIPLE}}};

const char* const usage =
    "usage: mhd [options]\n"
    "  -p NAME     problem (orszag-tang)\n"
    "  -n CELLS    along x (128); those along y and z follow from the problem\n"
    "  -b CELLS    of a patch along each direction (32); at least 4\n"
    "  -e TIME     end (the problem's)\n"
    "  -s STEPS    at most\n"
    "  -c NUMBER   Courant number, above 0 to 0.5 (0.4)\n"
    "  -w WAY      ranks, funnelled, communicators or window (window; with -d communicators)\n"
    "  -t THREADS  of a rank (OMP_NUM_THREADS; ranks: 1)\n"
    "  -d cuda     patches lie in the memory of a device, which computes; not with -w window\n"
    "  -m STEPS    between moves of patches, so that ranks have equal loads (no moves)\n"
    "  -l LOADS    measured, or wave: made-up ones that wander, to try -m (measured)\n"
    "  -a STEPS    between lines of output (20)\n"
    "  -k FILE     checkpoint, written at the end\n"
    "  -i STEPS    between checkpoints as well\n"
    "  -r FILE     restart from a checkpoint, with its problem and cells\n"
    "  -v FILE     VTK at the end\n"
    "  -o FILE     picture of the density at the end, PNG\n"
    "  -f FILE     film strip: six pictures from start to end, PNG, and a line of output for each\n"
    "  -q          no lines while it runs\n";

bool number(const char* text, double low, double high, double* value) {
  char* end = nullptr;
  errno = 0;
  *value = std::strtod(text, &end);
  return errno == 0 && end != text && *end == 0 && *value >= low && *value <= high;
}

// Empty, or what is wrong.
std::string read_options(int argc, char** argv, Options* options) {
  options->problem = mhd::find_problem("orszag-tang");
  options->threads = 0;
  bool way_given = false;
  const auto count = [](const char* text, double low, double high, auto* to) {
    double value = 0;
    if (!number(text, low, high, &value) || value != static_cast<double>(static_cast<int64_t>(value))) return false;
    *to = static_cast<std::remove_reference_t<decltype(*to)>>(value);
    return true;
  };
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-q") {
      options->quiet = true;
      continue;
    }
    if (word.size() != 2 || word[0] != '-' || std::strchr("pnbescwtdmlakirvof", word[1]) == nullptr)
      return "there is no option " + word;
    if (++i == argc) return word + " needs a value";
    const char* value = argv[i];
    bool good = true;
    switch (word[1]) {
      case 'p':
        good = (options->problem = mhd::find_problem(value)) != nullptr;
        break;
      case 'n':
        good = count(value, 4, 65536, &options->cells);
        break;
      case 'b':
        good = count(value, mhd::Patch::high, 512, &options->patch);
        break;
      case 'e':
        good = number(value, 1e-12, 1e6, &options->end);
        break;
      case 's':
        good = count(value, 1, 1e12, &options->steps);
        break;
      case 'c':
        good = number(value, 1e-3, 0.5, &options->courant);
        break;
      case 't':
        good = count(value, 1, 1024, &options->threads);
        break;
      case 'd':
        good = options->device = std::strcmp(value, "cuda") == 0;
        break;
      case 'm':
        good = count(value, 1, 1e12, &options->move);
        break;
      case 'l':
        options->wave = std::strcmp(value, "wave") == 0;
        good = options->wave || std::strcmp(value, "measured") == 0;
        break;
      case 'a':
        good = count(value, 1, 1e12, &options->report);
        break;
      case 'i':
        good = count(value, 1, 1e12, &options->keep);
        break;
      case 'k':
        options->checkpoint = value;
        break;
      case 'r':
        options->restart = value;
        break;
      case 'v':
        options->vtk = value;
        break;
      case 'o':
        options->picture = value;
        break;
      case 'f':
        options->film = value;
        break;
      default: {
        const auto* way =
            std::find_if(ways.begin(), ways.end(), [&](const WayName& w) { return w.name == std::string(value); });
        good = way != ways.end();
        if (good) options->way = way->way;
        way_given = true;
      }
    }
    if (!good) return word + " " + value + ": not a value of this option";
  }
  if (options->device && !way_given) options->way = Way::communicators;
  if (options->device && options->way == Way::window)
    return "-w window puts into memory of the host: with -d, take -w communicators";
  if (options->threads == 0) options->threads = options->way == Way::ranks ? 1 : mhd::default_threads();
  if (options->way == Way::ranks && options->threads != 1) return "-w ranks has one thread (-t 1)";
  if (options->wave && options->move == 0)
    return "-l wave has a use with -m alone: say after how many steps patches move";
  return {};
}

// The arrangement of patches, from the options or from a checkpoint. Empty, or what is wrong.
std::string arrange(Options* options, const mhd::Head& head, mhd::Three* counts) {
  if (!options->restart.empty()) {
    options->problem = mhd::find_problem(head.problem);
    if (options->problem == nullptr || options->problem->dims != head.dims)
      return options->restart + " is of a problem that is not known here";
    options->patch = head.patch;
    for (int d = 0; d < 3; ++d) (*counts)[d] = head.counts[d];
  } else {
    for (int d = 0; d < 3; ++d) {
      const int by = options->problem->cells_by[d], cells = by == 0 ? options->patch : options->cells / by;
      if (d >= options->problem->dims) {
        (*counts)[d] = 1;
      } else if (cells < options->patch || cells % options->patch != 0) {
        return std::to_string(cells) + " cells along " + "xyz"[d] + " are not whole patches of " +
               std::to_string(options->patch) + ": change -n or -b";
      } else {
        (*counts)[d] = cells / options->patch;
      }
    }
  }
  if (options->end == 0) options->end = options->problem->end;
  return {};
}

int run(Options options, int rank, int ranks) {
  mhd::Head head = {};
  if (!options.restart.empty() && !mhd::read_head(options.restart, &head)) return 1;
  mhd::Three counts{};
  std::string wrong = arrange(&options, head, &counts);
  const double patches = static_cast<double>(counts[0]) * counts[1] * counts[2];
  if (wrong.empty() && patches < ranks)
    wrong = std::to_string(static_cast<int>(patches)) + " patches are too few for " + std::to_string(ranks) +
            " ranks: change -n or -b";
  // Messages name their mailbox by a tag.
  int *bound = nullptr, found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found);
  const double most = (patches / ranks + 1) * (options.move > 0 ? 2 : 1);
  if (wrong.empty() && options.way != Way::window && most * 26 * 2 > (found != 0 ? *bound : 32767))
    wrong = "too many patches per rank for the tags of messages: change -b, or take -w window";
  if (!wrong.empty()) {
    if (rank == 0) std::fprintf(stderr, "mhd: %s\n", wrong.c_str());
    return 2;
  }

  auto length = options.problem->length;
  // One patch thick where the problem does not say: as many cells as a patch has, of the spacing of x.
  for (int d = 1; d < options.problem->dims; ++d) {
    if (options.problem->cells_by[d] == 0) length[d] = length[0] / counts[0];
  }
  std::string reason;
  const auto cuda = options.device ? mhd::open_device(rank, &reason) : nullptr;
  if (!reason.empty()) {
    std::fprintf(stderr, "mhd: rank %d has no device: %s\n", rank, reason.c_str());
    return 77;
  }
  mhd::Domain domain(options.problem->dims, options.patch, counts, length, ranks, options.move > 0);
  mhd::State state;
  state.first = domain.first_of(rank);
  state.count = domain.first_of(rank + 1) - state.first;
  state.cells.resize(static_cast<std::size_t>(state.count) * mhd::fields * domain.patch.volume);
  if (!options.restart.empty()) {
    if (!mhd::read_checkpoint(options.restart, head, domain, &state)) return 1;
  } else {
    for (int i = 0; i < state.count; ++i)
      mhd::set_patch(*options.problem, domain, state.first + i, state.patch(domain, state.first + i));
  }
  if (rank == 0) {
    const auto* way = std::find_if(ways.begin(), ways.end(), [&](const WayName& w) { return w.way == options.way; });
    std::printf("mhd: %s, %d x %d x %d cells in %d patches of %d^%d, %d ranks of %d threads, %s%s\n",
                options.problem->name, domain.cells(0), domain.cells(1), domain.cells(2), domain.patches(),
                options.patch, domain.patch.dims, ranks, options.threads, way->name,
                options.device ? ", on a device" : "");
  }
  mhd::Place place(domain, options.problem->gamma, options.threads, cuda.get());
  return mhd::Run(options, &domain, &state, &place).go();
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of the size of files is then an error of the write
  Options options;
  const std::string wrong = read_options(argc, argv, &options);
  const auto* way = std::find_if(ways.begin(), ways.end(), [&](const WayName& w) { return w.way == options.way; });
  int provided = 0, rank = 0, ranks = 0;
  MPI_Init_thread(&argc, &argv, way->level, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int status = 2;
  if (!wrong.empty()) {
    if (rank == 0) {
      std::fprintf(stderr, "mhd: %s\n%sproblems:\n", wrong.c_str(), usage);
      for (const mhd::Problem& problem : mhd::problems())
        std::fprintf(stderr, "  %-12s %s\n", problem.name, problem.about);
    }
  } else if (provided < way->level) {
    if (rank == 0)
      std::fprintf(stderr, "mhd: this MPI does not offer the thread level that -w %s needs; try -w funnelled\n",
                   way->name);
  } else {
    status = run(options, rank, ranks);
  }
  std::fflush(stdout);
  MPI_Finalize();
  return status;
}
