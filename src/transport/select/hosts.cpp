// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/select/hosts.hpp"

#include <filesystem>
#include <memory>

#include "base/setting.hpp"
#include "transport/api/failure.hpp"
#include "transport/net/cipher.hpp"
#include "transport/net/transport.hpp"
#include "transport/ofi/carrier.hpp"
#include "transport/ofi/library.hpp"
#include "transport/ofi/provider.hpp"
#include "transport/select/shared.hpp"
#include "transport/tcp/carrier.hpp"
#include "transport/ucx/carrier.hpp"
#include "transport/ucx/device.hpp"

namespace weft::transport::net {
namespace {

constexpr const char* libraries[] = {"auto", "tcp", "ofi", "ucx"};
enum NetworkLibraryWord : int { choose, use_tcp, use_ofi, use_ucx };
constinit base::ChoiceSetting library_setting{
    {.name = "WEFT_NETWORK_LIBRARY",
     .help = "the carrier of messages between hosts: TCP (tcp), libfabric (ofi), UCX (ucx), or by the adapters",
     .level = base::SettingLevel::basic,
     .subject = base::Subject::start,
     .alike = true},
    choose,
    libraries,
    4};
WEFT_SETTING(library_setting);

constinit base::BoolSetting encrypt_setting{
    {.name = "WEFT_ENCRYPT",
     .help = "messages between hosts are encrypted (AES-256-GCM by libcrypto), for networks that others can read",
     .level = base::SettingLevel::basic,
     .subject = base::Subject::start,
     .alike = true},
    false};
WEFT_SETTING(encrypt_setting);

bool has_entries(const char* folder) {
  std::error_code none;
  return std::filesystem::directory_iterator(folder, none) != std::filesystem::directory_iterator();
}

std::unique_ptr<Carrier> carrier_of(const Opening& opening, const relay::Host* host) {
  const uint32_t lanes = opening.lanes.lanes();
  switch (choose_library().by) {
    case NetworkLibrary::tcp:
      return std::make_unique<tcp::TcpCarrier>(lanes, opening.rank, opening.ranks, opening.secret, opening.threads);
    case NetworkLibrary::ucx:
      return std::make_unique<ucx::UcxCarrier>(lanes, opening.ranks, opening.sleeps);
    default:
      break;
  }
  if (host == nullptr) return std::make_unique<ofi::OfiCarrier>(lanes, opening.sleeps);
  const auto make = [](Intake intake) { return std::make_unique<ofi::OfiCarrier>(1, true, intake); };
  return std::make_unique<relay::RelayCarrier>(*host, make, opening.threads);
}

}  // namespace

LibraryChoice choose_library() {
  switch (library_setting.value()) {
    case use_tcp:
      return {NetworkLibrary::tcp, "WEFT_NETWORK_LIBRARY names it"};
    case use_ofi:
      return {NetworkLibrary::ofi, "WEFT_NETWORK_LIBRARY names it"};
    case use_ucx:
      return {NetworkLibrary::ucx, "WEFT_NETWORK_LIBRARY names it"};
    default:
      break;
  }
  if (*ofi::wanted_provider() != '\0') return {NetworkLibrary::ofi, "WEFT_OFI_PROVIDER names a provider"};
  std::string why_not;
  if (!ucx::rdma_ports().empty()) {
    if (ucx::try_library(why_not)) return {NetworkLibrary::ucx, "a port of InfiniBand or RoCE is up"};
    return {NetworkLibrary::ofi, "a port of InfiniBand or RoCE is up, and UCX cannot be loaded: " + why_not};
  }
  if (has_entries("/sys/class/infiniband") || has_entries("/sys/class/cxi_user")) {
    if (ofi::try_library(why_not) != nullptr) return {NetworkLibrary::ofi, "there is an adapter that libfabric drives"};
    return {NetworkLibrary::tcp, "there is an adapter that libfabric drives, but it cannot be loaded: " + why_not};
  }
  return {NetworkLibrary::tcp, "there is no adapter for which libfabric or UCX would be taken"};
}

namespace {

Transport* open_by(const Opening& opening, const relay::Host* host) {
  Opening asked = opening;
  asked.encrypt = encrypt_setting.value();
  if (std::string why_not; asked.encrypt && !cipher_is_there(why_not)) {
    fail_for_good({.cause = "WEFT_ENCRYPT is on, and OpenSSL's libcrypto cannot be used: " + why_not,
                   .remedy = "install it (libssl3), or set WEFT_ENCRYPT=off"});
  }
  auto* transport = new NetTransport(carrier_of(asked, host), asked);
  if (opening.late) return transport;
  opening.directory.barrier();
  transport->meet();
  return transport;
}

}  // namespace

Transport* open(const Opening& opening) {
  return open_by(opening, nullptr);
}

Transport* open_to_job(const Opening& opening) {
  Opening asked = opening;
  asked.encrypt = encrypt_setting.value();
  auto carrier = std::make_unique<tcp::TcpCarrier>(opening.lanes.lanes(), opening.rank, opening.ranks, opening.secret,
                                                   opening.threads);
  return new NetTransport(std::move(carrier), asked);
}

Transport* open_shared(const Opening& opening, const relay::Host& host) {
  return open_by(opening, &host);
}

}  // namespace weft::transport::net
