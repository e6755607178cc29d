// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/object/recent_errors.hpp"

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "mpi/object/error.hpp"

namespace weft::mpi {
namespace {

struct RecentError {
  int error = MPI_SUCCESS;
  uint64_t thread = 0;
  char message[MPI_MAX_ERROR_STRING] = "";
};

constinit std::mutex recent_guard;
constinit RecentError recent[recent_errors];
constinit uint64_t recent_count =
    0;  // of all errors ever kept; the next one goes to recent[recent_count % recent_errors]

// A number of the calling thread that no other thread of the process ever has.
uint64_t number_of_this_thread() {
  static constinit std::atomic<uint64_t> threads{0};
  thread_local const uint64_t number = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

bool has_messages(int error) {
  return error > MPI_SUCCESS && error <= MPI_ERR_ABI && error != MPI_ERR_PENDING && error != MPI_ERR_IN_STATUS;
}

}  // namespace

void keep_message(int error, const char* function, const char* text, const std::string& object) {
  if (!has_messages(error) || *text == '\0' || strcmp(text, error_text(error)) == 0) return;
  const uint64_t thread = number_of_this_thread();
  const std::lock_guard lock(recent_guard);
  RecentError& place = recent[recent_count++ % recent_errors];
  place.error = error;
  place.thread = thread;
  (void)snprintf(place.message, sizeof place.message, "%s: %s%s", function, text, object.c_str());
}

std::string recent_message(int error) {
  if (!has_messages(error)) return {};
  const uint64_t thread = number_of_this_thread();
  const RecentError* found = nullptr;
  const std::lock_guard lock(recent_guard);
  for (uint64_t back = 1; back <= recent_errors && back <= recent_count; ++back) {
    const RecentError& one = recent[(recent_count - back) % recent_errors];
    if (one.error != error) continue;
    if (found == nullptr || one.thread == thread) found = &one;
    if (one.thread == thread) break;
  }
  return found == nullptr ? "" : found->message;
}

}  // namespace weft::mpi
