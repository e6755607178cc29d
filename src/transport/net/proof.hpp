// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Proofs that the other side knows the job's secret. A key makes a number of any words that nobody without the key can
// make (SipHash-2-4); from the secret comes a key for each use, so that no proof can be used in place of another.
// docs/design/hosts.md, "Trust".

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace weft::transport::net {

// The uses of the secret; their values are part of the protocol.
enum class Purpose : uint64_t {
  frames = 1,  // of one rank to another
  greeting,    // of a connection
  connection,  // one direction of it
  lifeline,
  cipher,
  port,       // of the two mpiexec of jobs that connect (tools/mpiexec/far_line.hpp)
  port_line,  // one direction of their connection
  two_jobs,   // the secret of the ranks of both
  origins,    // of frames to one rank
};

struct Key {
  uint64_t words[2] = {};

  // 32 hexadecimal digits.
  static Key of_secret(std::string_view secret);
  // The key of a purpose and of the words that tell whose.
  Key derived(Purpose purpose, std::initializer_list<uint64_t> whose) const;

  uint64_t proof(const uint64_t* said, size_t count) const;
  uint64_t proof(std::initializer_list<uint64_t> said) const { return proof(said.begin(), said.size()); }
};

inline constexpr uint64_t pair_of(uint32_t upper, uint32_t lower) {
  return uint64_t{upper} << 32 | lower;
}

// A number that was never said before and cannot be foreseen. Ends the job with a message when the system has none.
uint64_t fresh_nonce();

}  // namespace weft::transport::net
