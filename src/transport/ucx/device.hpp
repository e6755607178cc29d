// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What UCX may use of this host, in its own words: ports of InfiniBand and RoCE adapters, and the interface that has an
// address.

#include <netinet/in.h>

#include <string>
#include <vector>

namespace weft::transport::ucx {

// A port of an adapter that UCX drives.
struct RdmaPort {
  std::string name;                     // as UCX calls it: "mlx5_0:1"
  std::vector<std::string> interfaces;  // that have their addresses through it
};

// The ports that are up.
std::vector<RdmaPort> rdma_ports(const std::string& root = "/sys/class/infiniband");

// The interface whose first address this is: of several, UCX uses the first. Empty: there is none.
std::string interface_of(in_addr address);

// The devices that WEFT_NETWORKS allows: the ports first, and the interface of the first address that UCX can use. Ends
// the job with a message when there is nothing.
struct Devices {
  std::vector<std::string> ports;
  std::string interface;
};
Devices allowed_devices();

}  // namespace weft::transport::ucx
