// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/object/failure.hpp"

namespace weft::core {

namespace {

using End = void (*)(const base::Problem& problem);
constinit End test_end = nullptr;

[[noreturn]] void end(const base::Problem& problem) {
  if (test_end != nullptr) test_end(problem);
  base::die(problem);
}

}  // namespace

void set_end(void (*to)(const base::Problem& problem)) {
  test_end = to;
}

void start_failed(const base::Problem& problem) {
  end(problem);
}

void out_of_memory(const base::Problem& problem) {
  end(problem);
}

void protocol_error(int32_t /*peer*/, const base::Problem& problem) {
  end(problem);
}

void transport_failed(const base::Problem& problem) {
  end(problem);
}

void peer_lost(int32_t /*rank*/, const base::Problem& problem) {
  end(problem);
}

}  // namespace weft::core
