// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Calls that cannot be done: a message with cause, object and remedy, and the end of the job.

#include <string>

#include "shmem/state.hpp"

namespace weft::shmem {

[[noreturn, gnu::cold]] void fail(const char* function, const std::string& cause, const std::string& remedy);

// Ends the job when OpenSHMEM is not initialised.
void need_start(const char* function);

[[noreturn, gnu::cold]] void bad_context(const char* function, shmem_ctx_t ctx);
[[noreturn, gnu::cold]] void bad_pe(const char* function, int pe, uint32_t pes, const char* of);

// "0x7f12...".
[[nodiscard]] std::string address_text(const void* address);

// An error class of core, which only a lack of memory or a lost peer gives here.
void check(const char* function, int32_t error);

}  // namespace weft::shmem
