// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/notice.hpp"

#include "core/protocol/protocol.hpp"

namespace weft::core {

namespace {

void ignore(uint32_t /*word*/) {}

}  // namespace

constinit NoticeHandler on_notice = ignore;

void send_notice(int32_t job_rank, uint32_t word) {
  const wire::Notice notice{word, 0};
  send_control(world->peer(job_rank), 0, wire::notice, &notice, sizeof notice);
}

}  // namespace weft::core
