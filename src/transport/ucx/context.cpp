// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/context.hpp"

#include <string>

#include "base/setting.hpp"
#include "device/select/adapter.hpp"
#include "transport/api/failure.hpp"
#include "transport/net/reading.hpp"
#include "transport/ucx/device.hpp"
#include "transport/ucx/status.hpp"

namespace weft::transport::ucx {
namespace {

constinit base::TextSetting transports_setting{
    {.name = "WEFT_UCX_TRANSPORTS",
     .help = "transports of UCX to use between hosts, as in UCX_TLS; empty: ib where there is InfiniBand or RoCE, and "
             "tcp",
     .subject = base::Subject::start}};
WEFT_SETTING(transports_setting);

// Whether UCX takes memory of such devices, as it does where it was built for them.
bool takes(ucp_context_h context, device::Maker maker) {
  if (maker == device::Maker::none) return false;
  ucp_context_attr_t attributes = {};
  attributes.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
  return library().context_query(context, &attributes) == UCS_OK &&
         (attributes.memory_types & UCS_BIT(memory_type_of(maker))) != 0;
}

}  // namespace

// Everything is said by the configuration: the environment is the program's.
UcxContext open_context(int ranks, bool sleeps, bool several_workers) {
  const UcxLibrary& l = library();
  ucp_config_t* config = nullptr;
  must("ucp_config_read", l.config_read(nullptr, nullptr, &config));
  const Devices devices = allowed_devices();
  std::string names = devices.interface;
  for (const std::string& port : devices.ports) names += "," + port;
  std::string transports = devices.ports.empty() ? "tcp" : "ib,tcp";
  if (*transports_setting.value() != '\0') transports = transports_setting.value();
  UcxContext context{.reads = !net::reading_is_off()};
  const device::Maker maker = context.reads ? device::maker() : device::Maker::none;
  if (maker != device::Maker::none) transports += maker == device::Maker::amd ? ",rocm" : ",cuda";
  must("UCX_NET_DEVICES", l.config_modify(config, "NET_DEVICES", names.c_str()));
  must("UCX_TLS", l.config_modify(config, "TLS", transports.c_str()));
  (void)l.config_modify(config, "RCACHE_ENABLE", "n");
  ucp_params_t parameters = {};
  parameters.field_mask =
      UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  parameters.features = sleeps ? UCP_FEATURE_AM | UCP_FEATURE_WAKEUP : UCP_FEATURE_AM;
  parameters.mt_workers_shared = several_workers;
  parameters.estimated_num_eps = static_cast<size_t>(ranks);
  const ucs_status_t status = l.init_version(UCP_API_MAJOR, UCP_API_MINOR, &parameters, config, &context.handle);
  l.config_release(config);
  if (status != UCS_OK) {
    fail_for_good({.cause = std::string("UCX ") + l.get_version_string() + " finds nothing to use: transports " +
                            transports + " on " + names + ": " + l.status_string(status),
                   .remedy =
                       "see what ucx_info -d lists, and choose with WEFT_UCX_TRANSPORTS and WEFT_NETWORKS; or use "
                       "libfabric with WEFT_NETWORK_LIBRARY=ofi"});
  }
  context.takes_devices = takes(context.handle, maker);
  return context;
}

}  // namespace weft::transport::ucx
