// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The first messages of two ranks on a connection: their ranks, and the proof that they know the job's secret. The
// connecting side says hello, is answered, and confirms that it has not given up in between: then both hold this
// connection and no other. Its messages on connections that it has given up may arrive later than that, so its attempts
// are numbered. Fixed-width little-endian fields.

#include <cstddef>
#include <cstdint>

#include "transport/net/frame.hpp"

namespace weft::transport::tcp {

enum class Word : uint16_t {
  hello = 1,  // of the connecting side
  welcome,    // the answer: please confirm
  crossed,    // the other answer: we are connecting to you ourselves, and that connection is the one to use
  confirmed,  // of the connecting side: frames may come both ways
};

struct Greeting {
  uint32_t magic;   // what and which version: two that differ do not talk
  uint32_t origin;  // who says it: a rank of the job
  uint32_t to;      // whom it is for
  uint16_t lane;    // of both: a connection joins two lanes, modulo what each has
  uint16_t word;
  uint64_t proof;    // net::Proofs, from origin to the other
  uint32_t attempt;  // of the connecting side, from 1 on, in hello; otherwise 0
  uint32_t reserved;
};
static_assert(sizeof(Greeting) == 32);

inline constexpr uint32_t greeting_magic = 0x02544557;  // "WET" in memory, and the version

Greeting greeting(Word word, uint32_t origin, uint32_t to, uint32_t lane, const net::Proofs& proofs,
                  uint32_t attempt = 0);

// Checks what came in against us; nullptr: it is not from a rank of this job, or not for us.
const Greeting* check_greeting(const Greeting& said, const net::Proofs& proofs, uint32_t rank, uint32_t ranks);

}  // namespace weft::transport::tcp
