// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/greeting.hpp"

namespace weft::transport::tcp {

uint64_t proof_of(GreetingWord word, const Talk& talk, const net::Key& secret) {
  return secret.derived(net::Purpose::greeting, {})
      .proof({net::pair_of(talk.caller, talk.listener), net::pair_of(talk.lane, talk.attempt), talk.caller_nonce,
              talk.listener_nonce, talk.place, static_cast<uint64_t>(word)});
}

Keys keys_of(const Talk& talk, uint32_t rank, const net::Key& secret) {
  const auto of = [&](uint32_t from) {
    return secret.derived(net::Purpose::connection,
                          {net::pair_of(talk.caller, talk.listener), net::pair_of(talk.lane, talk.attempt),
                           talk.caller_nonce, talk.listener_nonce, from});
  };
  return {of(rank), of(rank == talk.caller ? talk.listener : talk.caller)};
}

Greeting greeting(GreetingWord word, uint32_t origin, uint32_t to, uint32_t lane, uint64_t nonce, uint32_t attempt) {
  return {.magic = greeting_magic,
          .origin = origin,
          .to = to,
          .lane = static_cast<uint16_t>(lane),
          .word = static_cast<uint16_t>(word),
          .attempt = attempt,
          .reserved = 0,
          .nonce = nonce,
          .proof = 0};
}

Greeting greeting(GreetingWord word, uint32_t origin, const Talk& talk, const net::Key& secret) {
  const bool hello = word == GreetingWord::hello;
  Greeting said = greeting(word, origin, origin == talk.caller ? talk.listener : talk.caller, talk.lane,
                           hello ? talk.caller_nonce : 0, hello ? talk.attempt : 0);
  said.proof = proof_of(word, talk, secret);
  return said;
}

bool is_for(const Greeting& said, uint32_t rank, uint32_t ranks) {
  return said.magic == greeting_magic && said.to == rank && said.origin < ranks && said.origin != rank &&
         said.lane < max_lanes && said.word > static_cast<uint16_t>(GreetingWord::challenge) &&
         said.word <= static_cast<uint16_t>(GreetingWord::confirmed);
}

}  // namespace weft::transport::tcp
