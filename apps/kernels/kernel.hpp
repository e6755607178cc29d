// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace kernels {

// splitmix64: a number for each index, the same on every rank, so that no data need be sent to check a result.
inline uint64_t mix(uint64_t index) {
  uint64_t h = (index + 1) * 0x9E3779B97F4A7C15U;
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9U;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EBU;
  return h ^ (h >> 31);
}
inline double unit(uint64_t index) {
  return static_cast<double>(mix(index) >> 11) * 0x1p-53;
}  // 0 to 1

// Part `part` of `parts` equal ones of n things: its first.
inline int64_t first_of(int64_t n, int part, int parts) {
  return n * part / parts;
}

// The frame of a kernel: the command line (-n size, -s repetitions, -w way, -o picture), MPI, the time in MPI, and one
// line of result. A wrong option prints the usage and ends the program.
class Kernel {
 public:
  // ways: what -w may be, in words; the first is the default.
  Kernel(int argc, char** argv, const char* name, int64_t size, int64_t least, int64_t most, const char* ways)
      : n(size), name_(name) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::string all = std::string(" ") + ways + " ";
    way = all.substr(1, all.find(' ', 1) - 1);
    bool good = true;
    for (int i = 1; i < argc && good; i += 2) {
      const std::string option = argv[i];
      good = i + 1 < argc;
      if (!good) break;
      const char* value = argv[i + 1];
      if (option == "-n") {
        good = number(value, least, most, &n);
      } else if (option == "-s") {
        good = number(value, 1, 1000000, &repeats);
      } else if (option == "-w") {
        way = value;
        good = all.find(" " + way + " ") != std::string::npos;
      } else if (option == "-o") {
        picture = value;
      } else {
        good = false;
      }
    }
    if (good) return;
    if (rank == 0) {
      std::fprintf(stderr, "usage: %s [-n size, %lld to %lld] [-s repetitions] [-w way, of: %s] [-o picture.png]\n",
                   name, static_cast<long long>(least), static_cast<long long>(most), ways);
    }
    MPI_Finalize();
    std::exit(2);
  }

  // Runs a call of MPI and counts its time.
  template <class Call>
  void mpi(Call call) {
    const double begin = MPI_Wtime();
    call();
    in_mpi_ += MPI_Wtime() - begin;
  }
  // Around what is measured.
  void start() {
    MPI_Barrier(MPI_COMM_WORLD);
    in_mpi_ = 0;
    begin_ = MPI_Wtime();
  }
  void stop() {
    seconds_ = MPI_Wtime() - begin_;
    measured_ = in_mpi_;
  }
  [[nodiscard]] double sum(double mine) const { return reduce(mine, MPI_SUM); }
  [[nodiscard]] double most(double mine) const { return reduce(mine, MPI_MAX); }

  // Collective, at the end: work per second in `unit`, whether every rank found the result right, and how that was
  // found.
  int finish(double work, const char* unit, bool right, const char* check) {
    const double seconds = most(seconds_), share = sum(measured_) / ranks;
    const bool all = most(right ? 0 : 1) == 0;
    if (rank == 0) {
      std::printf("%s: size %lld, %d ranks, %s: %.4g %s, %.4f s, %.1f %% in MPI, %s (%s)\n", name_,
                  static_cast<long long>(n), ranks, way.c_str(), work / seconds, unit, seconds, 100 * share / seconds,
                  all ? "right" : "WRONG", check);
      std::fflush(stdout);
    }
    MPI_Finalize();
    return all ? 0 : 1;
  }

  [[nodiscard]] const char* name() const { return name_; }

  int64_t n;
  int64_t repeats = 1;
  int rank = 0, ranks = 1;
  std::string way, picture;

 private:
  static bool number(const char* text, int64_t low, int64_t high, int64_t* value) {
    char* end = nullptr;
    *value = std::strtoll(text, &end, 10);
    return end != text && *end == 0 && *value >= low && *value <= high;
  }
  static double reduce(double mine, MPI_Op op) {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    return all;
  }

  const char* name_;
  double in_mpi_ = 0, measured_ = 0, begin_ = 0, seconds_ = 0;
};

}  // namespace kernels
