// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net/network.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "transport/api/failure.hpp"

namespace weft::transport::net {
namespace {

constinit base::TextSetting networks_setting{
    {.name = "WEFT_NETWORKS",
     .help = "networks whose addresses may be used between hosts, as 10.0.0.0/8,192.168.1.0/24; empty: any",
     .level = base::SettingLevel::basic,
     .subject = base::Subject::start}};
WEFT_SETTING(networks_setting);

bool parse_range(std::string_view text, uint32_t& address, uint32_t& mask) {
  const size_t slash = text.find('/');
  int bits = 32;
  if (slash != std::string_view::npos) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, bits);
    if (error != std::errc() || stop != end || bits < 0 || bits > 32) return false;
  }
  in_addr parsed;
  if (inet_pton(AF_INET, std::string(text.substr(0, slash)).c_str(), &parsed) != 1) return false;
  mask = bits == 0 ? 0 : ~uint32_t{0} << (32 - bits);
  address = ntohl(parsed.s_addr) & mask;
  return true;
}

AddressUse use_of(unsigned flags, bool allowed) {
  if ((flags & IFF_UP) == 0) return AddressUse::down;
  if (!allowed) return AddressUse::not_allowed;
  if ((flags & IFF_LOOPBACK) != 0) return AddressUse::loopback;
  return (flags & IFF_POINTOPOINT) != 0 || (flags & IFF_RUNNING) == 0 ? AddressUse::point_to_point
                                                                      : AddressUse::between_hosts;
}

}  // namespace

std::string Networks::parse(std::string_view text) {
  ranges_.clear();
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    AddressRange range;
    if (!parse_range(part, range.address, range.mask)) {
      return "\"" + std::string(part) + "\" is no network: write an IPv4 address and a length, as 10.0.0.0/8";
    }
    ranges_.push_back(range);
  }
  return {};
}

bool Networks::allow(in_addr address) const {
  const uint32_t a = ntohl(address.s_addr);
  return ranges_.empty() ||
         std::any_of(ranges_.begin(), ranges_.end(), [a](const AddressRange& r) { return (a & r.mask) == r.address; });
}

std::vector<LocalAddress> local_addresses(const Networks& networks) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return {};
  std::vector<LocalAddress> addresses;
  for (const ifaddrs* i = all; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET) continue;
    const in_addr address = reinterpret_cast<const sockaddr_in*>(i->ifa_addr)->sin_addr;
    const auto* mask = reinterpret_cast<const sockaddr_in*>(i->ifa_netmask);
    const int bits = mask != nullptr ? std::popcount(mask->sin_addr.s_addr) : 32;
    addresses.push_back({address, bits, i->ifa_name, use_of(i->ifa_flags, networks.allow(address))});
  }
  freeifaddrs(all);
  std::stable_sort(addresses.begin(), addresses.end(),
                   [](const LocalAddress& a, const LocalAddress& b) { return a.use < b.use; });
  return addresses;
}

std::string text_of(in_addr address) {
  char text[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, &address, text, sizeof text);
  return text;
}

bool parse_address(const std::string& text, in_addr& address) {
  return inet_pton(AF_INET, text.c_str(), &address) == 1;
}

Networks networks_of_setting() {
  Networks networks;
  if (const std::string wrong = networks.parse(networks_setting.value()); !wrong.empty()) {
    fail_for_good({.cause = "WEFT_NETWORKS: " + wrong, .remedy = "see ip addr for the addresses of this host"});
  }
  return networks;
}

std::vector<in_addr> find_addresses(std::string& why) {
  Networks networks;
  why = networks.parse(networks_setting.value());
  if (!why.empty()) {
    why = "WEFT_NETWORKS: " + why;
    return {};
  }
  std::vector<in_addr> addresses;
  for (const LocalAddress& local : local_addresses(networks)) {
    // The loopback leads other hosts to themselves: it is for a host that has nothing else.
    const bool useful = local.use != AddressUse::loopback || addresses.empty();
    if (local.usable() && useful && addresses.size() < addresses_most) addresses.push_back(local.address);
  }
  if (addresses.empty()) {
    why = std::string("this host has no IPv4 address") +
          (networks.named() ? " in WEFT_NETWORKS=" + std::string(networks_setting.value()) : "");
  }
  return addresses;
}

std::vector<in_addr> allowed_addresses() {
  (void)networks_of_setting();
  std::string why;
  std::vector<in_addr> addresses = find_addresses(why);
  if (addresses.empty()) {
    fail_for_good(
        {.cause = why, .remedy = "see weft info net, and name the networks between the hosts with WEFT_NETWORKS"});
  }
  return addresses;
}

}  // namespace weft::transport::net
