// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/object/failure.hpp"

namespace weft::core {

namespace {

using End = void (*)(const base::Problem& problem);
constinit End test_end = nullptr;

}  // namespace

void set_end(void (*to)(const base::Problem& problem)) {
  test_end = to;
}

void failed(FailureCause /*cause*/, int32_t /*peer*/, const base::Problem& problem) {
  if (test_end != nullptr) test_end(problem);
  base::die(problem);
}

void failed(FailureCause cause, const base::Problem& problem) {
  failed(cause, unknown_rank, problem);
}

}  // namespace weft::core
