// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net/reading.hpp"

#include "base/setting.hpp"

namespace weft::transport::net {
namespace {

constexpr const char* rdma_names[] = {"auto", "on", "off"};
enum Rdma : int { automatic, on, off };
constinit base::ChoiceSetting rdma{
    {.name = "WEFT_RDMA",
     .help = "read large messages straight from the memory of another host: on, off, or where adapters do it",
     .subject = base::Subject::messages},
    automatic,
    rdma_names,
    3};
WEFT_SETTING(rdma);

// Both sides register their memory for each message. No machine with adapters has measured this limit: it is where that
// takes less time than two copies, at the rates that others report.
constinit base::IntSetting rdma_from{
    {.name = "WEFT_RDMA_FROM",
     .help = "smallest message that is read from the memory of another host (R0); below: R1",
     .unit = base::Unit::bytes,
     .subject = base::Subject::messages,
     .change = base::Change::always},
    128 << 10,
    {1, int64_t{1} << 40}};
WEFT_SETTING(rdma_from);

}  // namespace

bool read_by(bool hardware) {
  return rdma.value() == on || (rdma.value() == automatic && hardware);
}

bool reading_is_off() {
  return rdma.value() == off;
}

int64_t read_from() {
  return rdma_from.value();
}

}  // namespace weft::transport::net
