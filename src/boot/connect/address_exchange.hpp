// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The addresses of processes of a job on several hosts: the values that they have published (boot/start/join.hpp), as
// one tells them to others that cannot learn them from the launcher, since either was spawned. Two groups of processes
// exchange them before they make a communicator together, if a spawned process is among them (mpi/comm/inter.cpp).
// Thread-safe.

#include <string>
#include <string_view>

namespace weft::boot {

// The most bytes that the addresses of one process may have.
inline constexpr int64_t longest_introduction = 1 << 16;

// This process has its own addresses as entries (boot/job/notes.hpp).
void add_own_address(std::string_view key, std::string_view value);
[[nodiscard]] std::string own_addresses();

// The addresses that another process has told.
void set_addresses(int rank, std::string text);
[[nodiscard]] bool has_addresses(int rank);
// Nothing of ranks from `first` to before `end` is known any more.
void forget_addresses(int first, int end);
// Empty: nothing is known under this key.
[[nodiscard]] std::string known_address(int rank, std::string_view key);

}  // namespace weft::boot
