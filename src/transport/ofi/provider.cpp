// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/provider.hpp"

#include <cstring>
#include <string>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "transport/net/network.hpp"

namespace weft::transport::ofi {
namespace {

constinit base::TextSetting provider_setting{
    {.name = "WEFT_OFI_PROVIDER",
     .help = "the provider of libfabric to use between hosts, as fi_info names it; empty: the best that works",
     .level = base::Level::basic,
     .subject = base::Subject::start}};
WEFT_SETTING(provider_setting);

// In this order. Of tcp, the provider has endpoints of the kind we need itself from libfabric 1.18 on; before, a
// utility provider adds them. Others are left out on purpose: udp lost messages, sockets is no longer kept, shm is for
// one host.
constexpr const char* providers[] = {"cxi", "verbs;ofi_rxm", "psm3", "efa", "tcp", "tcp;ofi_rxm"};

fi_info* ask_provider(const char* provider, in_addr address) {
  const Library& l = library();
  fi_info* hints = l.dupinfo(nullptr);
  if (hints == nullptr) return nullptr;
  hints->caps = FI_MSG;
  hints->mode = FI_CONTEXT;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->threading = FI_THREAD_SAFE;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->av_type = FI_AV_TABLE;
  hints->domain_attr->mr_mode = 0;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->fabric_attr->prov_name = strdup(provider);
  fi_info* found = nullptr;
  const int error =
      l.getinfo(FI_VERSION(1, 17), net::text_of(address).c_str(), nullptr, FI_SOURCE | FI_NUMERICHOST, hints, &found);
  l.freeinfo(hints);
  return error == 0 ? found : nullptr;
}

}  // namespace

fi_info* choose_provider() {
  const std::vector<in_addr> addresses = net::allowed_addresses();
  const char* wanted = provider_setting.value();
  std::string tried;
  for (const char* provider : providers) {
    if (*wanted != '\0') provider = wanted;
    for (in_addr address : addresses) {
      if (fi_info* found = ask_provider(provider, address)) return found;
    }
    tried += std::string(tried.empty() ? "" : ", ") + provider;
    if (*wanted != '\0') break;
  }
  std::string at;
  for (in_addr address : addresses) at += (at.empty() ? "" : ", ") + net::text_of(address);
  base::die({.cause = "no provider of libfabric works between the hosts of this job; tried " + tried + " at " + at,
             .remedy = "look at the output of fi_info, and name a provider with WEFT_OFI_PROVIDER"});
}

}  // namespace weft::transport::ofi
