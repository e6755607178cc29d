// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Notices: a word to another process that a handler takes there as it comes, outside of matching.

#include <cstdint>

namespace weft::core {

// Takes the notices of this process. Runs with a lane held: it may send notices, but neither wait nor raise errors. Set
// before anybody has reason to send us one.
using NoticeHandler = void (*)(uint32_t word);
extern NoticeHandler on_notice;

// Sends a notice to another process. It arrives when that one makes progress.
void send_notice(int32_t job_rank, uint32_t word);

}  // namespace weft::core
