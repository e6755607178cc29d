// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/api/failure.hpp"

#include <atomic>

namespace weft::transport {
namespace {

void end_with_message(int /*rank*/, const base::Problem& problem) {
  base::tell(problem);
  base::end_job(1);
}

constinit std::atomic<FailureSink> current{end_with_message};

}  // namespace

void set_failure_sink(FailureSink sink) {
  current.store(sink != nullptr ? sink : end_with_message, std::memory_order_release);
}

void fail(int rank, const base::Problem& problem) {
  current.load(std::memory_order_acquire)(rank, problem);
}

void fail_for_good(const base::Problem& problem) {
  fail(no_peer, problem);
  base::end_job(1);
}

}  // namespace weft::transport
