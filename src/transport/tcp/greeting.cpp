// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/greeting.hpp"

namespace weft::transport::tcp {

Greeting greeting(Word word, uint32_t origin, uint32_t to, uint32_t lane, const net::Proofs& proofs, uint32_t attempt) {
  return {.magic = greeting_magic,
          .origin = origin,
          .to = to,
          .lane = static_cast<uint16_t>(lane),
          .word = static_cast<uint16_t>(word),
          .proof = proofs.of(origin, to),
          .attempt = attempt,
          .reserved = 0};
}

const Greeting* check_greeting(const Greeting& said, const net::Proofs& proofs, uint32_t rank, uint32_t ranks) {
  const bool ours = said.magic == greeting_magic && said.to == rank && said.origin < ranks && said.origin != rank;
  const bool sane = said.lane < max_lanes && said.word >= static_cast<uint16_t>(Word::hello) &&
                    said.word <= static_cast<uint16_t>(Word::confirmed);
  return ours && sane && said.proof == proofs.of(said.origin, rank) ? &said : nullptr;
}

}  // namespace weft::transport::tcp
