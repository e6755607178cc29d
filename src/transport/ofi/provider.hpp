// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which provider of libfabric carries messages between hosts. The choice for a job is also the one that `weft info net`
// prints.

#include <netinet/in.h>

#include <string>
#include <vector>

#include "transport/ofi/library.hpp"

namespace weft::transport::ofi {

inline constexpr uint32_t provider_api = FI_VERSION(1, 17);  // of libfabric, as we use it

// A provider's answer to the question for endpoints of the kind we need, at one address after the other.
struct ProviderAnswer {
  std::string provider;
  bool works = false;
  std::string full_name = {};  // of one that works, with its utility provider: "tcp;ofi_rxm" may stand behind "tcp"
  in_addr address = {};        // where it works
  bool hardware = false;       // adapters do what it offers
  bool reads = false;          // a peer's memory will be read
  bool writes = false;         // and written
  bool devices = false;        // and memory of devices as well
  int error = 0;               // of libfabric, at the last address
};

struct ProviderChoice {
  std::vector<ProviderAnswer> answers;  // in the order of asking; the first that works is chosen
  fi_info* info = nullptr;  // its description of an endpoint of ours, to be given to freeinfo(); nullptr: none works
};

enum class AskMode : uint8_t { until_one_works, all };

// Asks the provider that WEFT_OFI_PROVIDER names, or those that are known to work, best first.
ProviderChoice ask_providers(const std::vector<in_addr>& addresses, AskMode extent);

// Whether memory of peers is to be read, or written, by endpoints of this description.
bool reads_memory(const fi_info& info);
bool writes_memory(const fi_info& info);
// Whether memory of devices may be read and filled as well; asked for where a driver of devices is in use.
bool reaches_devices(const fi_info& info);

// The value of WEFT_OFI_PROVIDER; "" when it decides nothing.
const char* wanted_provider();

// The names of those that ask_providers() asks when no setting decides.
std::vector<std::string> known_providers();

// The names of all that the library offers, each once, without their utility providers: "tcp" for "tcp;ofi_rxm".
std::vector<std::string> offered_providers();

// The best provider that works on an address of this host that may be used: its description of an endpoint of ours, to
// be given to freeinfo(). Ends the job with what was tried when nothing works.
fi_info* choose_provider();

}  // namespace weft::transport::ofi
