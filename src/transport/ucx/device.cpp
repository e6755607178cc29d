// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/device.hpp"

#include <dirent.h>
#include <ifaddrs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/message.hpp"
#include "transport/api/failure.hpp"
#include "transport/net/network.hpp"

namespace weft::transport::ucx {
namespace {

// Adapters that show up among those of InfiniBand, and that other libraries than UCX drive.
constexpr const char* not_for_ucx[] = {"efa", "hfi1", "usnic_verbs", "siw"};

std::string path_of(std::initializer_list<std::string_view> parts) {
  std::string path;
  for (const std::string_view part : parts) path += part;
  return path;
}

std::string first_line(const std::string& path) {
  FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return {};
  char line[64] = "";
  if (std::fgets(line, sizeof line, file) == nullptr) line[0] = '\0';
  (void)std::fclose(file);
  std::string text = line;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

bool is_for_ucx(const std::string& adapter) {
  char target[PATH_MAX];
  const ssize_t length = readlink((adapter + "/device/driver").c_str(), target, sizeof target);
  const std::string_view path(target, static_cast<size_t>(std::max<ssize_t>(length, 0)));
  const std::string_view driver = path.substr(path.rfind('/') + 1);
  return std::find(std::begin(not_for_ucx), std::end(not_for_ucx), driver) == std::end(not_for_ucx);
}

// Whether an interface is of this port of its adapter: sysfs counts ports from 0 here.
bool is_of_port(const std::string& interface, int port) {
  int place = 0;
  const std::string text = first_line(interface + "/dev_port");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), place);
  return error != std::errc() || place + 1 == port;
}

}  // namespace

std::vector<RdmaPort> rdma_ports(const std::string& root) {
  std::vector<RdmaPort> found;
  for (const std::string& name : names_in(root)) {
    const std::string adapter = path_of({root, "/", name});
    if (!is_for_ucx(adapter)) continue;
    for (const std::string& port : names_in(path_of({adapter, "/ports"}))) {
      if (!first_line(path_of({adapter, "/ports/", port, "/state"})).ends_with(": ACTIVE")) continue;
      RdmaPort one{path_of({name, ":", port}), {}};
      for (const std::string& interface : names_in(path_of({adapter, "/device/net"}))) {
        if (is_of_port(path_of({adapter, "/device/net/", interface}), std::atoi(port.c_str()))) {
          one.interfaces.push_back(interface);
        }
      }
      found.push_back(std::move(one));
    }
  }
  return found;
}

std::string interface_of(in_addr address) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return {};
  std::string name;
  std::vector<std::string> seen;
  for (const ifaddrs* i = all; i != nullptr && name.empty(); i = i->ifa_next) {
    if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET) continue;
    if (std::find(seen.begin(), seen.end(), i->ifa_name) != seen.end()) continue;
    seen.emplace_back(i->ifa_name);
    if (reinterpret_cast<const sockaddr_in*>(i->ifa_addr)->sin_addr.s_addr == address.s_addr) name = i->ifa_name;
  }
  freeifaddrs(all);
  return name;
}

Devices allowed_devices() {
  Devices devices;
  std::vector<std::string> interfaces;
  std::string addresses;
  for (const in_addr address : net::allowed_addresses()) {
    addresses += (addresses.empty() ? "" : ", ") + net::text_of(address);
    const std::string name = interface_of(address);
    if (!name.empty()) interfaces.push_back(name);
  }
  if (interfaces.empty()) {
    fail_for_good(
        {.cause = "UCX cannot use " + addresses + ": of an interface with several addresses it uses the first",
         .remedy = "name the network of that one with WEFT_NETWORKS, or use libfabric with "
                   "WEFT_NETWORK_LIBRARY=ofi"});
  }
  devices.interface = interfaces.front();
  for (const RdmaPort& port : rdma_ports()) {
    const bool allowed = std::any_of(port.interfaces.begin(), port.interfaces.end(), [&](const std::string& name) {
      return std::find(interfaces.begin(), interfaces.end(), name) != interfaces.end();
    });
    if (allowed || !net::networks_of_setting().named()) devices.ports.push_back(port.name);
  }
  return devices;
}

}  // namespace weft::transport::ucx
