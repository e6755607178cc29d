// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A transport that plays what goes wrong: it stands in front of another one and, by a plan, says that the way is full,
// refuses direct access to memory, has no staging memory, or holds messages back. For tests, through WEFT_MOCK:
//
//   full=N      every Nth send finds the way full, and so does the next one
//   denied=N    the Nth direct read or write and all later ones fail with EPERM, as when permission is lost
//   nostaging=N every Nth request for staging memory finds none
//   delay=N     messages are looked at only every Nth time
//   late=N      reads and writes that may take their time are done at the Nth look after they began, reads in pieces of
//               64 KiB; no claim slots; memory is registered, and the job ends with a message when some is not
//               deregistered
//   lost=N      every Nth of these fails with EIO halfway
//
// Several are joined by commas. 0 turns one off.

#include <string>

#include "transport/api/transport.hpp"

namespace weft::transport::mock {

struct MockPlan {
  uint64_t full = 0;
  uint64_t denied = 0;
  uint64_t nostaging = 0;
  uint64_t delay = 0;
  uint64_t late = 0;
  uint64_t lost = 0;
};

// Reads a plan; an empty result means understood, otherwise what is wrong with the text.
[[nodiscard]] std::string parse(const char* text, MockPlan& plan);

// `inner` behind a mock that follows the plan. Does not own `inner`.
[[nodiscard]] Transport* wrap(Transport* inner, const MockPlan& plan);

// `inner`, behind a mock when WEFT_MOCK is set.
[[nodiscard]] Transport* wrap_if_asked(Transport* inner);

}  // namespace weft::transport::mock
