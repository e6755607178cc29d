// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The values that processes of a job on several hosts have published (boot/start/join.hpp), as one tells them to others
// that cannot learn them from the launcher, since either was spawned. Two groups of processes introduce themselves
// before they make a communicator together, if a spawned process is among them (mpi/comm/inter.cpp). Thread-safe.

#include <string>
#include <string_view>

namespace weft::boot {

// The most bytes that one process may say of itself.
inline constexpr int64_t longest_introduction = 1 << 16;

// The values that this process has published, as entries (boot/job/notes.hpp).
void add_to_own_introduction(std::string_view key, std::string_view value);
[[nodiscard]] std::string own_introduction();

void introduce(int rank, std::string text);
[[nodiscard]] bool is_introduced(int rank);
// Nothing of ranks from `first` to before `end` is known any more.
void forget_introductions(int first, int end);
// Empty: nothing is known under this key.
[[nodiscard]] std::string introduced(int rank, std::string_view key);

}  // namespace weft::boot
