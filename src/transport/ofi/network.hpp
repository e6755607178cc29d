// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which network and which provider of libfabric to use: the addresses of this host that a setting allows, and the best
// provider that works on one of them. Interfaces are never chosen by their names.

#include <netinet/in.h>

#include <string>
#include <string_view>
#include <vector>

#include "transport/ofi/library.hpp"

namespace weft::transport::ofi {

// Networks as "10.0.0.0/8,192.168.1.0/24": those whose addresses may be used.
class Networks {
 public:
  // An empty text allows every network. On failure says what is wrong with it.
  [[nodiscard]] std::string parse(std::string_view text);
  bool allow(in_addr address) const;  // also when none were named
  bool named() const { return !ranges_.empty(); }

 private:
  struct Range {
    uint32_t address, mask;  // in host order
  };
  std::vector<Range> ranges_;
};

// The IPv4 addresses of interfaces that are up, in the order to try: those of networks that reach other hosts first,
// then point-to-point ones and bridges' own, at last the loopback.
std::vector<in_addr> candidate_addresses(const Networks& networks);

// The provider's description for one endpoint per lane on the best candidate: to be given to freeinfo(). Ends the job
// with what was tried when nothing works.
fi_info* choose_provider();

}  // namespace weft::transport::ofi
