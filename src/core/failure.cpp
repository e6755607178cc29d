// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/failure.hpp"

namespace weft::core {

void start_failed(const base::Problem& problem) {
  base::die(problem);
}

void out_of_memory(const base::Problem& problem) {
  base::die(problem);
}

void protocol_error(int32_t /*peer*/, const base::Problem& problem) {
  base::die(problem);
}

void transport_failed(const base::Problem& problem) {
  base::die(problem);
}

void peer_lost(int32_t /*rank*/, const base::Problem& problem) {
  base::die(problem);
}

}  // namespace weft::core
