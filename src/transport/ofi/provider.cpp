// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/provider.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <string_view>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "device/select/adapter.hpp"
#include "transport/api/failure.hpp"
#include "transport/net/network.hpp"
#include "transport/net/reading.hpp"

namespace weft::transport::ofi {
namespace {

constinit base::TextSetting provider_setting{
    {.name = "WEFT_OFI_PROVIDER",
     .help = "the provider of libfabric to use between hosts, as fi_info names it; empty: the best that works",
     .level = base::SettingLevel::basic,
     .subject = base::Subject::start}};
WEFT_SETTING(provider_setting);

// The providers are tried in this order. From libfabric 1.18 on, tcp has endpoints of the kind that we need itself;
// before, a utility provider adds them. Others are left out on purpose: udp lost messages, sockets is no longer kept,
// shm is for one host.
constexpr const char* providers[] = {"cxi", "verbs;ofi_rxm", "psm3", "efa", "tcp", "tcp;ofi_rxm"};

// The adapters of these providers read and write memory of another host by themselves. tcp emulates it.
constexpr std::string_view hardware_providers[] = {"cxi", "verbs", "psm3", "efa"};

bool is_hardware(std::string_view provider) {
  const std::string_view name = provider.substr(0, provider.find(';'));
  return std::find(std::begin(hardware_providers), std::end(hardware_providers), name) != std::end(hardware_providers);
}

// The demands on an endpoint, and the modes of registration that we support.
struct EndpointDemands {
  uint64_t abilities;
  int memory_modes;
  uint64_t completion = 0;  // of what is sent or written, if asked for
};
constexpr uint64_t reading = FI_MSG | FI_SEND | FI_RECV | FI_RMA | FI_READ | FI_REMOTE_READ;
constexpr uint64_t writing = reading | FI_WRITE | FI_REMOTE_WRITE;
constexpr int reading_modes = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
// In this order: if possible, the provider registers the memory of sends and receives. A provider that does not say
// when a write is complete at its target is of no use for writes.
constexpr EndpointDemands wishes[] = {{writing, reading_modes | FI_MR_ENDPOINT, FI_DELIVERY_COMPLETE},
                                      {writing, reading_modes | FI_MR_LOCAL, FI_DELIVERY_COMPLETE},
                                      {reading, reading_modes | FI_MR_ENDPOINT},
                                      {reading, reading_modes | FI_MR_LOCAL},
                                      {FI_MSG, 0}};

fi_info* ask_provider(const std::string& provider, in_addr address, const EndpointDemands& wish, bool devices,
                      int& error) {
  const OfiLibrary& l = library();
  fi_info* hints = l.dupinfo(nullptr);
  error = -FI_ENOMEM;
  if (hints == nullptr) return nullptr;
  hints->caps = wish.abilities | (devices ? FI_HMEM : 0);
  hints->mode = FI_CONTEXT;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->threading = FI_THREAD_SAFE;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->av_type = FI_AV_TABLE;
  hints->domain_attr->mr_mode = wish.memory_modes | (devices ? FI_MR_HMEM : 0);
  hints->tx_attr->op_flags = wish.completion;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->fabric_attr->prov_name = strdup(provider.c_str());
  fi_info* found = nullptr;
  error = l.getinfo(provider_api, net::text_of(address).c_str(), nullptr, FI_SOURCE | FI_NUMERICHOST, hints, &found);
  l.freeinfo(hints);
  return error == 0 ? found : nullptr;
}

fi_info* ask_provider(const std::string& provider, in_addr address, int& error) {
  for (const EndpointDemands& wish : wishes) {
    const bool direct = wish.abilities != FI_MSG;
    if (direct && !net::read_by(is_hardware(provider))) continue;
    for (const bool devices : {true, false}) {
      if (devices && (!direct || device::maker() == device::Maker::none)) continue;
      fi_info* found = ask_provider(provider, address, wish, devices, error);
      if (found == nullptr) continue;
      if (!direct || reads_memory(*found)) return found;
      library().freeinfo(found);
    }
  }
  return nullptr;
}

}  // namespace

bool reads_memory(const fi_info& info) {
  constexpr uint64_t needed = FI_RMA | FI_READ | FI_REMOTE_READ;
  return (info.caps & needed) == needed && info.domain_attr->mr_key_size <= sizeof(uint64_t);
}

bool writes_memory(const fi_info& info) {
  constexpr uint64_t needed = FI_WRITE | FI_REMOTE_WRITE;
  return reads_memory(info) && (info.caps & needed) == needed && (info.tx_attr->op_flags & FI_DELIVERY_COMPLETE) != 0;
}

bool reaches_devices(const fi_info& info) {
  return reads_memory(info) && (info.caps & FI_HMEM) != 0;
}

const char* wanted_provider() {
  return provider_setting.value();
}

std::vector<std::string> known_providers() {
  return {std::begin(providers), std::end(providers)};
}

std::vector<std::string> offered_providers() {
  fi_info* all = nullptr;
  if (library().getinfo(provider_api, nullptr, nullptr, 0, nullptr, &all) != 0) return {};
  std::set<std::string> names;
  for (const fi_info* info = all; info != nullptr; info = info->next) {
    const std::string_view name = info->fabric_attr->prov_name;
    names.emplace(name.substr(0, name.find(';')));
  }
  library().freeinfo(all);
  return {names.begin(), names.end()};
}

ProviderChoice ask_providers(const std::vector<in_addr>& addresses, AskMode extent) {
  ProviderChoice choice;
  std::vector<std::string> asked = known_providers();
  if (*wanted_provider() != '\0') asked = {wanted_provider()};
  for (const std::string& provider : asked) {
    ProviderAnswer answer{.provider = provider, .hardware = is_hardware(provider)};
    for (in_addr address : addresses) {
      fi_info* found = ask_provider(provider, address, answer.error);
      if (found == nullptr) continue;
      answer.works = true;
      answer.full_name = found->fabric_attr->prov_name;
      answer.address = address;
      answer.reads = reads_memory(*found);
      answer.writes = writes_memory(*found);
      answer.devices = reaches_devices(*found);
      if (choice.info == nullptr) {
        choice.info = found;
      } else {
        library().freeinfo(found);
      }
      break;
    }
    choice.answers.push_back(std::move(answer));
    if (choice.info != nullptr && extent == AskMode::until_one_works) break;
  }
  return choice;
}

fi_info* choose_provider() {
  const std::vector<in_addr> addresses = net::allowed_addresses();
  const ProviderChoice choice = ask_providers(addresses, AskMode::until_one_works);
  if (choice.info != nullptr) return choice.info;
  std::string tried;
  for (const ProviderAnswer& answer : choice.answers) tried += (tried.empty() ? "" : ", ") + answer.provider;
  std::string at;
  for (in_addr address : addresses) at += (at.empty() ? "" : ", ") + net::text_of(address);
  fail_for_good({.cause = "no provider of libfabric works between the hosts of this job; tried " + tried + " at " + at,
                 .remedy = "look at the output of weft info net, and name a provider with WEFT_OFI_PROVIDER"});
}

}  // namespace weft::transport::ofi
