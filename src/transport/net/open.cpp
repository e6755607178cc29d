// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net/open.hpp"

#include <memory>

#include "base/setting.hpp"
#include "transport/net/transport.hpp"
#include "transport/ofi/carrier.hpp"
#include "transport/ucx/carrier.hpp"
#include "transport/ucx/device.hpp"

namespace weft::transport::net {
namespace {

constexpr const char* libraries[] = {"auto", "ofi", "ucx"};
enum Choice : int { choose, use_ofi, use_ucx };
constinit base::ChoiceSetting library_setting{
    {.name = "WEFT_NETWORK_LIBRARY",
     .help = "what carries messages between hosts: libfabric (ofi), UCX, or UCX where there is InfiniBand or RoCE",
     .level = base::Level::basic,
     .subject = base::Subject::start,
     .alike = true},
    choose,
    libraries,
    3};
WEFT_SETTING(library_setting);

}  // namespace

LibraryChoice choose_library() {
  if (library_setting.value() != choose) return {library_setting.value() == use_ucx, "WEFT_NETWORK_LIBRARY names it"};
  if (ucx::rdma_ports().empty()) return {false, "no port of InfiniBand or RoCE is up, for which UCX would be taken"};
  std::string why_not;
  if (!ucx::try_library(why_not)) return {false, "UCX cannot be loaded: " + why_not};
  return {true, "a port of InfiniBand or RoCE is up"};
}

Transport* open(const Opening& opening) {
  std::unique_ptr<Carrier> carrier;
  if (choose_library().ucx) {
    carrier = std::make_unique<ucx::UcxCarrier>(opening.lanes.lanes(), opening.ranks, opening.sleeps);
  } else {
    carrier = std::make_unique<ofi::OfiCarrier>(opening.lanes.lanes(), opening.sleeps);
  }
  auto* transport = new NetTransport(std::move(carrier), opening);
  opening.directory.barrier();
  transport->meet();
  return transport;
}

}  // namespace weft::transport::net
