// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The environment variables of the specification: SHMEM_SYMMETRIC_SIZE, SHMEM_VERSION, SHMEM_INFO, SHMEM_DEBUG, and the
// deprecated ones that begin with SMA_.

#include <cstdint>
#include <string_view>

namespace weft::shmem {

// A size as the specification writes it: "20m", "3.1M", ".5g", and characters behind the suffix are ignored. False: it
// is none.
[[nodiscard]] bool parse_size(std::string_view text, uint64_t& bytes);

// Loads all settings. The bytes of the heap: at least a page, a multiple of pages. Ends the job where the size is none.
[[nodiscard]] uint64_t read_environment();

// What SHMEM_VERSION, SHMEM_INFO and SHMEM_DEBUG ask for, by PE 0.
void tell_of_start();

}  // namespace weft::shmem
