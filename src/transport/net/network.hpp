// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which network to use: the addresses of this host that a setting allows. Interfaces are never chosen by their names.

#include <netinet/in.h>

#include <string>
#include <string_view>
#include <vector>

namespace weft::transport::net {

// Networks as "10.0.0.0/8,192.168.1.0/24": those whose addresses may be used.
class Networks {
 public:
  // An empty text allows every network. On failure says what is wrong with it.
  [[nodiscard]] std::string parse(std::string_view text);
  bool allow(in_addr address) const;  // also when none were named
  bool named() const { return !ranges_.empty(); }

 private:
  struct AddressRange {
    uint32_t address, mask;  // in host order
  };
  std::vector<AddressRange> ranges_;
};

// The uses of an address of this host, in the order to try. Addresses of the last two kinds are not tried.
enum class AddressUse : uint8_t { between_hosts, point_to_point, loopback, down, not_allowed };

struct LocalAddress {
  in_addr address;
  int bits;               // of its network
  std::string interface;  // for people
  AddressUse use;
  bool usable() const { return use < AddressUse::down; }
};

// The IPv4 addresses of this host in the order to try: those of networks that reach other hosts first, then
// point-to-point ones and bridges' own, then the loopback; behind them those that may not be used.
std::vector<LocalAddress> local_addresses(const Networks& networks);

// The networks of the setting WEFT_NETWORKS. Ends the job with a message when it names none.
Networks networks_of_setting();

// The addresses to listen at, and for others to try, of those that the setting allows: none, and `why`, if there are
// none.
inline constexpr size_t addresses_most = 32;
std::vector<in_addr> find_addresses(std::string& why);
// Finds these addresses, and ends the job with a message when there are none.
std::vector<in_addr> allowed_addresses();

std::string text_of(in_addr address);
// false: the text is no IPv4 address.
[[nodiscard]] bool parse_address(const std::string& text, in_addr& address);

}  // namespace weft::transport::net
