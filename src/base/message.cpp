// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/message.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/process.hpp"

namespace weft::base {
namespace {

constinit std::atomic<int> message_rank{-1};
constinit std::atomic<void (*)(int)> end_of_job{nullptr};
constinit std::atomic<bool (*)()> tells_of_end{nullptr};
constinit std::atomic<pid_t> ending{0};  // the thread that ends the job

// Keys said already, by hash: a fixed table, so that warning needs no memory and nothing is destroyed at exit.
constexpr int said_slots = 256;
constinit std::atomic<uint64_t> said[said_slots];

uint64_t hash_of(const char* key) {
  uint64_t h = 14695981039346656037u;  // FNV-1a
  for (; *key; ++key) h = (h ^ static_cast<unsigned char>(*key)) * 1099511628211u;
  return h ? h : 1;
}

// Whether this is the first time; a full table says no, so that nothing can flood.
bool first_time(const char* key) {
  uint64_t h = hash_of(key);
  for (int i = 0; i < said_slots; ++i) {
    std::atomic<uint64_t>& slot = said[(h + static_cast<uint64_t>(i)) % said_slots];
    uint64_t found = 0;
    if (slot.compare_exchange_strong(found, h, std::memory_order_relaxed)) return true;
    if (found == h) return false;
  }
  return false;
}

// One write for the whole line, so that lines of several ranks do not mix.
void say(const char* what, const Problem& problem) {
  std::string line = "weft: ";
  int rank = message_rank.load(std::memory_order_relaxed);
  if (rank >= 0)
    line += "rank " + std::to_string(rank) + " (pid " + std::to_string(getpid()) + "): ";
  else
    line += "pid " + std::to_string(getpid()) + ": ";
  line += what + describe(problem) + "\n";
  size_t done = 0;
  while (done < line.size()) {
    ssize_t n = write(STDERR_FILENO, line.data() + done, line.size() - done);
    if (n <= 0) {
      if (n < 0 && errno == EINTR) continue;
      return;
    }
    done += static_cast<size_t>(n);
  }
}

}  // namespace

std::string describe(const Problem& problem) {
  std::string text = problem.cause;
  if (problem.error) {
    char buffer[128];
    text += ": ";
    text += strerror_r(problem.error, buffer, sizeof buffer);
    text += " (errno " + std::to_string(problem.error) + ")";
  }
  if (!problem.remedy.empty()) text += ". Remedy: " + problem.remedy;
  return text;
}

void set_message_rank(int rank) {
  message_rank.store(rank, std::memory_order_relaxed);
}

void tell(const Problem& problem) {
  say("", problem);
}

void warn(const Problem& problem) {
  say("warning: ", problem);
}

void warn_once(const char* key, const Problem& problem) {
  if (first_time(key)) warn(problem);
}

bool speaks_for_job() {
  if (const int rank = message_rank.load(std::memory_order_relaxed); rank >= 0) return rank == 0;
  for (const char* name : {"WEFT_RANK", "PMI_RANK", "PMIX_RANK"}) {
    const char* rank = getenv(name);
    if (rank && strcmp(rank, "0") != 0) return false;
  }
  return true;
}

void warn_for_job(const char* key, const Problem& problem) {
  if (speaks_for_job()) warn_once(key, problem);
}

void die(const Problem& problem) {
  bool (*const tells)() = tells_of_end.load(std::memory_order_acquire);
  if (tells == nullptr || tells()) say("error: ", problem);
  end_job(1);
}

void set_end_of_job(EndOfJob to) {
  tells_of_end.store(to.tells, std::memory_order_release);
  end_of_job.store(to.end, std::memory_order_release);
}

void end_job(int status) {
  // The first to come ends the job, and the process with it; other threads wait for that. Should ending the job fail in
  // turn, this process at least is gone.
  pid_t self = kernel_thread();
  pid_t first = 0;
  if (ending.compare_exchange_strong(first, self)) {
    if (void (*end)(int) = end_of_job.load(std::memory_order_acquire)) end(status);
  } else if (first != self) {
    for (;;) pause();
  }
  _exit(status);
}

}  // namespace weft::base
