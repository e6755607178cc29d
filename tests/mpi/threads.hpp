// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Common parts of the programs with many threads: start at MPI_THREAD_MULTIPLE, chance from a seed, data that can be
// checked, and a watch over threads that hang.
//
// TEST_SCALE in the environment, a number such as 0.2, scales how much these programs do: sanitizers are slow.

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "expect.hpp"

// A call that must succeed.
#define OK(call) EXPECT_CLASS(call, MPI_SUCCESS)

namespace threads {

constexpr int skipped = 77;  // exit status: this library cannot run the program

inline void start(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &expect::rank);
  MPI_Comm_size(MPI_COMM_WORLD, &expect::size);
  if (provided < MPI_THREAD_MULTIPLE) {
    if (expect::rank == 0) fprintf(stderr, "skipped: MPI_THREAD_MULTIPLE is not provided, only level %d\n", provided);
    MPI_Finalize();
    exit(skipped);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  counters_start();
}

inline double scale() {
  const char* text = getenv("TEST_SCALE");
  const double factor = text == nullptr ? 1 : strtod(text, nullptr);
  return factor > 0 ? factor : 1;
}
inline int scaled(int count) {
  const int result = static_cast<int>(count * scale());
  return result < 1 ? 1 : result;
}

inline bool is_weft() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  return strstr(version, "Weft") != nullptr;
}

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
inline void sleep_us(int microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x1234567) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int below(int n) { return static_cast<int>(next() % static_cast<uint64_t>(n)); }
  bool one_in(int n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

// Mostly nothing, sometimes a moment, seldom long enough to lose the processor.
inline void random_delay(Random& random) {
  const int way = random.below(64);
  if (way < 40) return;
  if (way < 56) {
    for (int i = random.below(500); i > 0; --i) std::atomic_signal_fence(std::memory_order_seq_cst);
  } else if (way < 63) {
    sched_yield();
  } else {
    sleep_us(random.below(60));
  }
}

// Data that differs at every place and for every message.
inline unsigned char byte_at(uint64_t salt, size_t i) {
  return static_cast<unsigned char>(i * 131 + (i >> 8) * 7 + (i >> 16) + salt * 57 + (salt >> 8));
}
inline void fill(unsigned char* data, size_t bytes, uint64_t salt) {
  for (size_t i = 0; i < bytes; ++i) data[i] = byte_at(salt, i);
}
// Index of the first wrong byte; -1 when all are right.
inline long wrong_at(const unsigned char* data, size_t bytes, uint64_t salt) {
  for (size_t i = 0; i < bytes; ++i) {
    if (data[i] != byte_at(salt, i)) return static_cast<long>(i);
  }
  return -1;
}

// Where all threads of this process are, where gdb can tell.
inline void show_threads() {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  const std::string command = "gdb -p " + std::to_string(getpid()) +
                              " -batch -ex 'thread apply all backtrace 24' </dev/null 2>&1 | head -c 200000 >&2";
  if (std::system(command.c_str()) != 0)
    fprintf(stderr, "rank %d: gdb does not say where its threads are\n", expect::rank);
}

// Ends the job when nothing has moved for a while, and says where things stand. The while is counted in looks, so that
// it does not pass while the whole process is stopped.
class Watch {
 public:
  Watch(double patience, std::function<std::string()> state)
      : patience_(patience), state_(std::move(state)), thread_([this] { run(); }) {}
  ~Watch() {
    over_ = true;
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  void moved() { moves_.fetch_add(1, std::memory_order_relaxed); }

 private:
  void run() {
    constexpr int look_us = 20000;
    const auto enough = static_cast<int64_t>(patience_ * 1e6 / look_us);
    uint64_t seen = 0;
    int64_t in_vain = 0;
    while (!over_) {
      sleep_us(look_us);
      const uint64_t moves = moves_.load(std::memory_order_relaxed);
      in_vain = moves == seen ? in_vain + 1 : 0;
      seen = moves;
      if (in_vain > enough) {
        fprintf(stderr, "rank %d: nothing has moved for %.0f s: %s\n", expect::rank, patience_, state_().c_str());
        fflush(stderr);
        show_threads();
        MPI_Abort(MPI_COMM_WORLD, 3);
        _exit(3);
      }
    }
  }

  double patience_;
  std::function<std::string()> state_;
  std::atomic<bool> over_ = false;
  std::atomic<uint64_t> moves_ = 0;
  std::thread thread_;  // last: it uses the others
};

}  // namespace threads
