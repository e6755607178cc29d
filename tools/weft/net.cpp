// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// weft info net: the networks of this host for messages between hosts, the one that a job would take, and why not the
// others.

#include <algorithm>
#include <cstdio>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "transport/api/failure.hpp"
#include "transport/net/network.hpp"
#include "transport/net/open.hpp"
#include "transport/net/reading.hpp"
#include "transport/ofi/provider.hpp"
#include "transport/ucx/device.hpp"
#include "transport/ucx/library.hpp"
#include "weft/commands.hpp"

namespace weft::tool {
namespace {

namespace net = transport::net;
namespace ofi = transport::ofi;
namespace ucx = transport::ucx;

const char* what_becomes_of(net::Use use) {
  switch (use) {
    case net::Use::between_hosts:
      return "tried";
    case net::Use::point_to_point:
      return "tried after those: point-to-point, or nothing is connected";
    case net::Use::loopback:
      return "tried last: reaches this host alone";
    case net::Use::down:
      return "not used: its interface is down";
    default:
      return "not used: outside WEFT_NETWORKS";
  }
}

void show_addresses(const std::vector<net::LocalAddress>& addresses) {
  puts("Addresses of this host, in the order in which they are tried:");
  if (addresses.empty()) puts("  (none)");
  for (const net::LocalAddress& local : addresses) {
    const std::string network = net::text_of(local.address) + "/" + std::to_string(local.bits);
    printf("  %-18s %-12s %s\n", network.c_str(), local.interface.c_str(), what_becomes_of(local.use));
  }
}

void show_setting(const char* name, const char* otherwise) {
  for (const base::SettingRow* row : base::all_settings()) {
    if (std::string(name) != row->text().name) continue;
    const std::string value = row->shown();
    printf("  %-21s %s\n", name, value.empty() ? otherwise : value.c_str());
  }
}

void show_settings() {
  puts("\nSettings that decide:");
  show_setting("WEFT_NETWORKS", "(none): any network may be used");
  show_setting("WEFT_NETWORK_LIBRARY", "");
  show_setting("WEFT_OFI_PROVIDER", "(none): the first provider that works is taken");
  show_setting("WEFT_RDMA", "");
  show_setting("WEFT_LIBFABRIC", "(none): the loader finds libfabric");
}

std::string without_utility(const std::string& provider) {
  return provider.substr(0, provider.find(';'));
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const char* why_never_chosen(const std::string& provider) {
  if (provider == "udp") return "it lost messages";
  if (provider == "sockets") return "it is no longer kept";
  if (provider == "shm" || provider == "sm2") return "it is for one host";
  return "not known to work with Weft";
}

void show_line(const std::string& provider, const std::string& text) {
  printf("  %-18s %s\n", provider.c_str(), text.c_str());
}

std::string where_it_works(const ofi::Answer& answer) {
  return "at " + net::text_of(answer.address) + (answer.full_name == answer.provider ? "" : ", as " + answer.full_name);
}

// Whether large messages are read from the memory of their senders, and why or why not.
std::string how_it_reads(const ofi::Answer& answer) {
  if (answer.reads) return answer.hardware ? "yes, by adapters" : "yes, emulated (WEFT_RDMA=on)";
  if (net::reading_is_off()) return "no (WEFT_RDMA=off)";
  return net::read_by(answer.hardware) ? "no: it does not offer that"
                                       : "no: it would emulate that (WEFT_RDMA=on uses it)";
}

// The same of messages that are written into the memory of their receivers.
const char* how_it_writes(const ofi::Answer& answer) {
  if (answer.writes) return "yes";
  return answer.reads ? "no: it does not say when a write is complete" : "no";
}

// The answers, then what was not asked.
void show_providers(const ofi::Choice& choice) {
  const std::vector<std::string> offered = ofi::offered_providers();
  std::string chosen;
  for (const ofi::Answer& answer : choice.answers) {
    if (answer.works && chosen.empty()) {
      chosen = answer.provider;
      show_line(answer.provider, "chosen, " + where_it_works(answer));
    } else if (answer.works) {
      show_line(answer.provider, "works " + where_it_works(answer) + "; " + chosen + " comes before it");
    } else if (!has(offered, without_utility(answer.provider))) {
      show_line(answer.provider, "not here: this libfabric offers none, or finds no device for it");
    } else {
      show_line(answer.provider, std::string("does not work at these addresses: ") + ofi::error_text(answer.error));
    }
  }
  const bool decided = *ofi::wanted_provider() != '\0';
  std::vector<std::string> told;  // what is not to be listed again
  for (const ofi::Answer& answer : choice.answers) told.push_back(without_utility(answer.provider));
  for (const std::string& provider : offered) {
    if (has(told, provider)) continue;
    show_line(provider, decided ? "not asked: WEFT_OFI_PROVIDER names another"
                                : std::string("never chosen by itself: ") + why_never_chosen(provider));
  }
}

int show_ucx() {
  std::string why_not;
  if (!ucx::try_library(why_not)) {
    printf("UCX cannot be loaded: %s\nA job on several hosts cannot start here.\n", why_not.c_str());
    return 1;
  }
  const ucx::Devices devices = ucx::allowed_devices();
  for (const std::string& port : devices.ports) show_line(port, "used: InfiniBand or RoCE");
  if (!devices.interface.empty()) show_line(devices.interface, "used: TCP");
  puts("\nLarge messages are read straight from the sender's memory (R0): no, that is done through libfabric alone");
  return 0;
}

}  // namespace

int info_net() {
  transport::set_failure_sink([](int, const base::Problem& problem) { base::die(problem); });
  base::load_settings();
  const std::vector<net::LocalAddress> addresses = net::local_addresses(net::networks_of_setting());
  show_addresses(addresses);
  show_settings();
  std::vector<in_addr> usable;
  bool loopback_alone = true;
  for (const net::LocalAddress& local : addresses) {
    if (!local.usable()) continue;
    usable.push_back(local.address);
    loopback_alone = loopback_alone && local.use == net::Use::loopback;
  }

  if (usable.empty()) {
    puts("\nA job on several hosts cannot start here: there is no address that may be used.");
    return 1;
  }

  const net::LibraryChoice carried = net::choose_library();
  constexpr const char* carriers[] = {"TCP", "libfabric", "UCX"};
  printf("\nCarried by %s: %s.\n", carriers[static_cast<int>(carried.by)], carried.why.c_str());
  if (loopback_alone) puts("\nOther hosts cannot be reached: the loopback is the only address that may be used.");
  constexpr const char* reading = "\nLarge messages are read straight from the sender's memory (R0): %s\n";
  if (carried.by == net::Library::tcp) {
    printf(reading, net::reading_is_off() ? "no (WEFT_RDMA=off)" : "yes");
    return 0;
  }
  if (carried.by == net::Library::ucx) return show_ucx();
  std::string why_not;
  const ofi::Library* library = ofi::try_library(why_not);
  if (library == nullptr) {
    printf(
        "\nlibfabric cannot be loaded: %s\nA job on several hosts cannot start here: install libfabric 1.17 or newer\n"
        "(Debian: apt-get install libfabric1), or name it with WEFT_LIBFABRIC.\n",
        why_not.c_str());
    return 1;
  }
  const uint32_t version = library->version();
  printf("\nProviders of libfabric %u.%u (%s), in the order in which they are asked:\n", FI_MAJOR(version),
         FI_MINOR(version), ofi::library_name());
  const ofi::Choice choice = ofi::ask_providers(usable, ofi::Ask::all);
  show_providers(choice);
  if (choice.info == nullptr) {
    puts("\nA job on several hosts cannot start here: no provider works at an address that may be used.");
    return 1;
  }
  for (const ofi::Answer& answer : choice.answers) {
    if (!answer.works) continue;
    printf(reading, how_it_reads(answer).c_str());
    printf("Others (R1) are written straight into the receiver's, where that is in one piece: %s\n",
           how_it_writes(answer));
    break;
  }
  library->freeinfo(choice.info);
  return 0;
}

}  // namespace weft::tool
