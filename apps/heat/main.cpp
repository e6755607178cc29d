// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// The heat of a square plate, in parallel: a 2-D decomposition, nonblocking exchange of edges with derived types under
// the computation of the inside, norms by allreduce. The result is checked against the known solution; exit status 1
// when it is wrong.
//
//   heat [-n points per side] [-s steps] [-o picture.png] [-d cuda] [-q]
//
// -d cuda: the plate lies in the memory of a device, which computes; MPI gets its addresses. The numbers are the same.

#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "device.hpp"
#include "exact.hpp"
#include "field.hpp"
#include "picture.hpp"
#include "traffic.hpp"

namespace {

using heat::Block;
using heat::Exact;
using heat::Field;
using heat::Traffic;

struct Options {
  int n = 1024;
  int steps = 12000;
  int quiet = 0;
  int device = 0;
  std::string picture;
};

// Only rank 0 reads the arguments, the others are told: the parts that shape the computation travel as three ints.
bool read_options(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (word == "-q") {
      options->quiet = 1;
      continue;
    }
    if (value == nullptr) return false;
    if (word == "-n") {
      options->n = std::atoi(value);
    } else if (word == "-s") {
      options->steps = std::atoi(value);
    } else if (word == "-o") {
      options->picture = value;
    } else if (word == "-d" && std::strcmp(value, "cuda") == 0) {
      options->device = 1;
    } else {
      return false;
    }
    ++i;
  }
  return options->n >= 8 && options->n <= 16384 && options->steps >= 1;
}

void show_progress(int step, int steps, double change, double seconds) {
  constexpr int width = 30;
  const int done = static_cast<int>(static_cast<long>(width) * step / steps);
  std::string bar(static_cast<std::size_t>(done), '#');
  bar.append(static_cast<std::size_t>(width - done), '.');
  std::printf("  [%s] step %*d / %d   largest change %9.3e   %6.2f s\n", bar.c_str(),
              static_cast<int>(std::to_string(steps).size()), step, steps, change, seconds);
  std::fflush(stdout);
}

struct Errors {
  double equation = 0;  // largest difference to the solution of the differential equation
  double root = 0;      // root of the mean square of the same
  double scheme = 0;    // largest difference to the solution of the difference scheme
};

Errors measure_errors(const Exact& exact, const Field& field, const Block& block, int n, int steps, Traffic& traffic) {
  const std::vector<double> got = field.values();
  std::vector<double> expected(got.size());
  std::array<double, 2> largest = {0, 0};
  double square = 0;
  for (const bool equation : {true, false}) {
    exact.fill(equation, steps, block.row, block.rows, block.column, block.columns, expected.data());
    for (size_t i = 0; i < got.size(); ++i) {
      const double difference = std::fabs(got[i] - expected[i]);
      // Not a number must not pass: it compares false with everything.
      if (!(difference <= largest[equation ? 0 : 1]))
        largest[equation ? 0 : 1] = std::isnan(difference) ? 1e300 : difference;
      if (equation) square += difference * difference;
    }
  }
  std::array<double, 2> all = {0, 0};
  double sum = 0;
  traffic.timed([&] {
    MPI_Allreduce(largest.data(), all.data(), 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&square, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  });
  return {all[0], std::sqrt(sum / n / n), all[1]};
}

void save_picture(const std::string& path, const std::vector<double>& first, const std::vector<double>& last, int n) {
  constexpr int side = 512, gap = 8;
  heat::Picture picture(2 * side + gap, side);
  // Each half by the same scale, the hottest point of the start; the end would be pale by it, so it is brought up.
  double hot = 0, warm = 0;
  for (const double value : first) hot = std::fmax(hot, std::fabs(value));
  for (const double value : last) warm = std::fmax(warm, std::fabs(value));
  picture.draw(first.data(), n, hot, 0, 0, side);
  picture.draw(last.data(), n, warm, side + gap, 0, side);
  if (!picture.save(path.c_str())) {
    std::fprintf(stderr, "heat: cannot write %s: %s\n", path.c_str(), std::strerror(errno));
  } else {
    std::printf("picture: %s (left the start, right the end; each by its own scale)\n", path.c_str());
  }
}

// One row per rank: its result, its time in MPI, its messages.
void show_summary(const Options& options, int ranks, double seconds, const Traffic& mine) {
  std::array<double, 4> row = {seconds, mine.seconds, mine.messages, mine.bytes};
  std::vector<double> all(row.size() * static_cast<std::size_t>(ranks));
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Gather(row.data(), 4, MPI_DOUBLE, all.data(), 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  double in_mpi = 0, total = 0, messages = 0, bytes = 0;
  std::printf("\n  rank   computing       in MPI          sent messages        bytes\n");
  for (int r = 0; r < ranks; ++r) {
    const double* of = &all[static_cast<std::size_t>(r) * row.size()];
    std::printf("  %4d   %7.3f s   %7.3f s %5.1f %%   %14.0f %12.0f\n", r, of[0] - of[1], of[1], 100 * of[1] / of[0],
                of[2], of[3]);
    total += of[0];
    in_mpi += of[1];
    messages += of[2];
    bytes += of[3];
  }
  std::printf("   all   %7.3f s   %7.3f s %5.1f %%   %14.0f %12.0f\n", total - in_mpi, in_mpi, 100 * in_mpi / total,
              messages, bytes);
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (ranks > cores)
    std::printf("(%d ranks share %ld cores: the wait for a core counts as time in MPI)\n", ranks, cores);
  std::printf("time per step: %.1f us (%.0f million points per second)\n", 1e6 * seconds / options.steps,
              1e-6 * options.n * options.n * options.steps / seconds);
}

int run(const Options& options, int rank, int ranks, heat::Device* device) {
  const Exact exact(options.n);
  const Block block = Block::of(rank, ranks, options.n);
  const double h = 1.0 / (options.n + 1), ratio = exact.step() / (h * h);
  Traffic setup, traffic;

  Field field(block, device);
  std::vector<double> start(static_cast<std::size_t>(block.rows) * block.columns);
  exact.fill(true, 0, block.row, block.rows, block.column, block.columns, start.data());
  field.set(start.data());
  std::vector<double> first;
  const bool picture = !options.picture.empty();
  int wanted = picture ? 1 : 0;
  MPI_Bcast(&wanted, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (wanted != 0) first = field.gather(options.n, setup);

  if (rank == 0) {
    const int high = Block::grid_rows(ranks);
    std::printf("heat: %d x %d points, %d steps, %d x %d ranks%s\n", options.n, options.n, options.steps, high,
                ranks / high, device != nullptr ? ", on a device" : "");
  }
  const int report = options.steps >= 10 ? options.steps / 10 : 1;
  const int check = options.steps >= 100 ? options.steps / 100 : 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int step = 1; step <= options.steps; ++step) {
    const bool measure = step % check == 0 || step % report == 0 || step == options.steps;
    double change = 0, largest = 0;
    field.step(ratio, traffic, measure ? &change : nullptr);
    if (!measure) continue;
    traffic.timed([&] { MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); });
    if (rank == 0 && options.quiet == 0 && (step % report == 0 || step == options.steps)) {
      show_progress(step, options.steps, largest, MPI_Wtime() - begin);
    }
  }
  const double seconds = MPI_Wtime() - begin;

  const Errors errors = measure_errors(exact, field, block, options.n, options.steps, setup);
  show_summary(options, ranks, seconds, traffic);
  if (wanted != 0) {
    const std::vector<double> last = field.gather(options.n, setup);
    if (rank == 0) save_picture(options.picture, first, last, options.n);
  }

  // Second order in h; at most 14.7 h^2 was measured, for 16 to 1024 points per side and 10 to 6000 steps.
  const double allowed = 20 * h * h, rounding = 1e-11;
  const bool right = errors.equation <= allowed && errors.scheme <= rounding;
  if (rank == 0) {
    std::printf("error against the analytic solution: largest %.2e (allowed %.2e), mean square %.2e\n", errors.equation,
                allowed, errors.root);
    std::printf("error against the difference scheme: largest %.2e (allowed %.2e)\n", errors.scheme, rounding);
    std::printf("%s\n", right ? "heat: the result is right" : "heat: THE RESULT IS WRONG");
  }
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Options options;
  int good = rank == 0 ? static_cast<int>(read_options(argc, argv, &options)) : 0;
  const int blocks = Block::grid_rows(ranks);
  if (rank == 0 && options.n < 2 * ranks / blocks) good = 0;
  std::array<int, 5> shape = {good, options.n, options.steps, options.quiet, options.device};
  MPI_Bcast(shape.data(), static_cast<int>(shape.size()), MPI_INT, 0, MPI_COMM_WORLD);
  options.n = shape[1];
  options.steps = shape[2];
  options.quiet = shape[3];
  int status = 2;
  if (shape[0] != 0) {
    std::string reason;
    const std::unique_ptr<heat::Device> device = shape[4] != 0 ? heat::Device::open(rank, &reason) : nullptr;
    if (reason.empty()) {
      status = run(options, rank, ranks, device.get());
    } else {
      std::fprintf(stderr, "heat: rank %d has no device: %s\n", rank, reason.c_str());
      status = 77;
    }
  } else if (rank == 0) {
    std::fprintf(stderr,
                 "usage: heat [-n points per side, 8 to 16384, two per rank at least] [-s steps] [-o picture.png] [-d "
                 "cuda] [-q]\n");
  }
  std::fflush(stdout);  // what the library says at the end comes after what we said
  MPI_Finalize();
  return status;
}
