// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Parts of sentences.

#include <string>
#include <vector>

#include "why/snapshot.hpp"

namespace weft::why {

// "rank 3", "ranks 0, 2-7 and 9"
[[nodiscard]] std::string ranks_text(const std::vector<int32_t>& ranks);
// "rank 3", "any rank"
[[nodiscard]] std::string peer_text(int32_t peer);
// "tag 7", "any tag"
[[nodiscard]] std::string tag_text(int32_t tag);
// "MPI_COMM_WORLD", "the communicator with context 12"
[[nodiscard]] std::string comm_text(const Comm& comm);
[[nodiscard]] std::string context_text(uint32_t context, const Wait& wait);
// "MPI_Recv at main (wrong.c:12)"
[[nodiscard]] std::string call_text(const Wait& wait);
// "for a message with tag 7 from rank 1 in MPI_COMM_WORLD"
[[nodiscard]] std::string purpose_text(const Wait& wait);
// As a rank's line has it, and as a part of a sentence.
[[nodiscard]] std::string state_name(State state);
[[nodiscard]] std::string state_text(const Process& process);

}  // namespace weft::why
