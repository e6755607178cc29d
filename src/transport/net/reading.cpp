// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net/reading.hpp"

#include "base/setting.hpp"

namespace weft::transport::net {
namespace {

constexpr const char* rdma_names[] = {"auto", "on", "off"};
enum Rdma : int { automatic, on, off };
constinit base::ChoiceSetting rdma{{.name = "WEFT_RDMA",
                                    .help = "read or write large messages straight in the memory of another host: on, "
                                            "off, or where adapters do it; over TCP and UCX only read",
                                    .subject = base::Subject::messages},
                                   automatic,
                                   rdma_names,
                                   3};
WEFT_SETTING(rdma);

constinit base::IntSetting rdma_from{
    {.name = "WEFT_RDMA_FROM",
     .help = "smallest message that is read (R0) or written (R1) in the memory of another host, "
             "below: through buffers; 0: over TCP messages not sent at once, from 32 KiB; 128 KiB by adapters and UCX",
     .unit = base::Unit::bytes,
     .subject = base::Subject::messages,
     .change = base::Change::always},
    0,
    {0, int64_t{1} << 40}};
WEFT_SETTING(rdma_from);

}  // namespace

bool read_by(bool hardware) {
  return rdma.value() == on || (rdma.value() == automatic && hardware);
}

bool reading_is_off() {
  return rdma.value() == off;
}

int64_t read_from(int64_t of_carrier) {
  return rdma_from.value() != 0 ? rdma_from.value() : of_carrier;
}

}  // namespace weft::transport::net
