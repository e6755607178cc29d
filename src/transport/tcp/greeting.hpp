// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The first messages of two ranks on a connection, by which each sees that the other knows the job's secret. The
// listening side says a number that was never said before, the challenge; the connecting side says hello with a number
// of its own, is answered, and confirms that it has not given up in between: then both hold this connection and no
// other. Each of these words proves all that both know of the conversation, so that it is good for nothing but this
// connection. Messages on connections that the connecting side has given up may arrive later than that, so its attempts
// are numbered. Fixed-width little-endian fields.

#include <cstddef>
#include <cstdint>

#include "transport/net/frame.hpp"

namespace weft::transport::tcp {

enum class GreetingWord : uint16_t {
  challenge = 1,  // of the listening side; proves nothing yet, for it does not know to whom
  hello,          // of the connecting side
  welcome,        // the answer, which asks for a confirmation
  crossed,        // the other answer: we are connecting to you ourselves, and that connection is the one to use
  confirmed,      // of the connecting side: frames may come both ways
};

struct Greeting {
  uint32_t magic;   // what and which version: two that differ do not talk
  uint32_t origin;  // who says it: a rank of the job
  uint32_t to;      // whom it is for
  uint16_t lane;    // of both: a connection joins two lanes, modulo what each has
  uint16_t word;
  uint32_t attempt;  // of the connecting side, from 1 on, in hello; otherwise 0
  uint32_t reserved;
  uint64_t nonce;  // in the challenge and in hello; otherwise 0
  uint64_t proof;  // proof_of(); 0 in the challenge
};
static_assert(sizeof(Greeting) == 40);

inline constexpr uint32_t greeting_magic = 0x04544557;  // "WET" in memory, and the version

// Facts of a connection on which both sides agree.
struct Talk {
  uint32_t caller = 0, listener = 0;  // ranks
  uint32_t lane = 0;
  uint32_t attempt = 0;
  uint64_t caller_nonce = 0, listener_nonce = 0;
  uint64_t place = 0;  // where it is answered, as each side sees it: a process elsewhere cannot pass words on
};
uint64_t proof_of(GreetingWord word, const Talk& talk, const net::Key& secret);

// The keys of a connection: of the side's own items, and of those that come in.
struct Keys {
  net::Key ours, theirs;
};
Keys keys_of(const Talk& talk, uint32_t rank, const net::Key& secret);

// A greeting of one rank to another; with a talk, proved.
Greeting greeting(GreetingWord word, uint32_t origin, uint32_t to, uint32_t lane, uint64_t nonce = 0,
                  uint32_t attempt = 0);
Greeting greeting(GreetingWord word, uint32_t origin, const Talk& talk, const net::Key& secret);

// Whether a greeting is for us and can be understood. Its proof is still to be checked.
bool is_for(const Greeting& said, uint32_t rank, uint32_t ranks);

}  // namespace weft::transport::tcp
