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
#include "transport/net/reading.hpp"
#include "transport/ofi/provider.hpp"
#include "transport/select/hosts.hpp"
#include "transport/ucx/device.hpp"
#include "transport/ucx/library.hpp"
#include "weft/commands.hpp"
#include "weft/json_object.hpp"

namespace weft::tool {
namespace {

namespace net = transport::net;
namespace ofi = transport::ofi;
namespace ucx = transport::ucx;

const char* what_becomes_of(net::AddressUse use) {
  switch (use) {
    case net::AddressUse::between_hosts:
      return "tried";
    case net::AddressUse::point_to_point:
      return "tried after those: point-to-point, or nothing is connected";
    case net::AddressUse::loopback:
      return "tried last: reaches this host alone";
    case net::AddressUse::down:
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

struct Deciding {
  const char* name;
  const char* otherwise;  // where it is not set
};
constexpr Deciding deciding[] = {{"WEFT_NETWORKS", "(none): any network may be used"},
                                 {"WEFT_NETWORK_LIBRARY", ""},
                                 {"WEFT_OFI_PROVIDER", "(none): the first provider that works is taken"},
                                 {"WEFT_RDMA", ""},
                                 {"WEFT_LIBFABRIC", "(none): the loader finds libfabric"}};

std::string value_of(const char* name) {
  for (const base::SettingRow* row : base::all_settings()) {
    if (std::string(name) == row->text().name) return row->shown();
  }
  return {};
}

void show_settings() {
  puts("\nSettings that decide:");
  for (const Deciding& setting : deciding) {
    const std::string value = value_of(setting.name);
    printf("  %-21s %s\n", setting.name, value.empty() ? setting.otherwise : value.c_str());
  }
}

// The library that carries messages to other hosts, as far as it was asked.
struct Carrier {
  std::string title;                                       // of the lines
  std::vector<std::pair<std::string, std::string>> lines;  // a provider, or a device, and what becomes of it
  std::string problem;                                     // why no job on several hosts can start here; empty: it can
  std::string reads;   // whether large messages are read from the memory of their senders, and why or why not
  std::string writes;  // the same of messages that are written into the memory of their receivers
};

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

std::string where_it_works(const ofi::ProviderAnswer& answer) {
  return "at " + net::text_of(answer.address) +
         (answer.full_name == answer.provider ? "" : ", as " + answer.full_name) +
         (answer.hardware ? " (experimental: no adapter has been tried)" : "");
}

std::string how_it_reads(const ofi::ProviderAnswer& answer) {
  if (answer.reads) return answer.hardware ? "yes, by adapters" : "yes, emulated (WEFT_RDMA=on)";
  if (net::reading_is_off()) return "no (WEFT_RDMA=off)";
  return net::read_by(answer.hardware) ? "no: it does not offer that"
                                       : "no: it would emulate that (WEFT_RDMA=on uses it)";
}

const char* how_it_writes(const ofi::ProviderAnswer& answer) {
  if (answer.writes) return "yes";
  return answer.reads ? "no: it does not say when a write is complete" : "no";
}

// The answers, then what was not asked.
void take_providers(const ofi::ProviderChoice& choice, Carrier& carrier) {
  const auto take = [&](const std::string& provider, const std::string& text) {
    carrier.lines.emplace_back(provider, text);
  };
  const std::vector<std::string> offered = ofi::offered_providers();
  std::string chosen;
  for (const ofi::ProviderAnswer& answer : choice.answers) {
    if (answer.works && chosen.empty()) {
      chosen = answer.provider;
      take(answer.provider, "chosen, " + where_it_works(answer));
    } else if (answer.works) {
      take(answer.provider, "works " + where_it_works(answer) + "; " + chosen + " comes before it");
    } else if (!has(offered, without_utility(answer.provider))) {
      take(answer.provider, "not here: this libfabric offers none, or finds no device for it");
    } else {
      take(answer.provider, std::string("does not work at these addresses: ") + ofi::error_text(answer.error));
    }
  }
  const bool decided = *ofi::wanted_provider() != '\0';
  std::vector<std::string> told;  // what is not to be listed again
  for (const ofi::ProviderAnswer& answer : choice.answers) told.push_back(without_utility(answer.provider));
  for (const std::string& provider : offered) {
    if (has(told, provider)) continue;
    take(provider, decided ? "not asked: WEFT_OFI_PROVIDER names another"
                           : std::string("never chosen by itself: ") + why_never_chosen(provider));
  }
}

void ask_ucx(Carrier& carrier) {
  std::string why_not;
  carrier.title = "Devices that UCX uses";
  if (!ucx::try_library(why_not)) {
    carrier.problem = "UCX cannot be loaded: " + why_not + "\nA job on several hosts cannot start here.";
    return;
  }
  const ucx::Devices devices = ucx::allowed_devices();
  for (const std::string& port : devices.ports)
    carrier.lines.emplace_back(port, "used: InfiniBand or RoCE (experimental: no adapter has been tried)");
  if (!devices.interface.empty()) carrier.lines.emplace_back(devices.interface, "used: TCP");
  carrier.reads = net::reading_is_off() ? "no (WEFT_RDMA=off)" : "yes, by a rendezvous of UCX";
}

void ask_libfabric(const std::vector<in_addr>& usable, Carrier& carrier) {
  std::string why_not;
  const ofi::OfiLibrary* library = ofi::try_library(why_not);
  if (library == nullptr) {
    carrier.problem = "libfabric cannot be loaded: " + why_not +
                      "\nA job on several hosts cannot start here: install libfabric 1.17 or newer\n"
                      "(Debian: apt-get install libfabric1), or name it with WEFT_LIBFABRIC.";
    return;
  }
  const uint32_t version = library->version();
  carrier.title = "Providers of libfabric " + std::to_string(FI_MAJOR(version)) + "." +
                  std::to_string(FI_MINOR(version)) + " (" + ofi::library_name() +
                  "), in the order in which they are asked";
  const ofi::ProviderChoice choice = ofi::ask_providers(usable, ofi::AskMode::all);
  take_providers(choice, carrier);
  if (choice.info == nullptr) {
    carrier.problem = "A job on several hosts cannot start here: no provider works at an address that may be used.";
    return;
  }
  const auto chosen = std::find_if(choice.answers.begin(), choice.answers.end(),
                                   [](const ofi::ProviderAnswer& answer) { return answer.works; });
  if (chosen != choice.answers.end()) {
    carrier.reads = how_it_reads(*chosen);
    carrier.writes = how_it_writes(*chosen);
  }
  library->freeinfo(choice.info);
}

Carrier ask(net::NetworkLibrary library, const std::vector<in_addr>& usable) {
  Carrier carrier;
  if (library == net::NetworkLibrary::tcp) carrier.reads = net::reading_is_off() ? "no (WEFT_RDMA=off)" : "yes";
  if (library == net::NetworkLibrary::ucx) ask_ucx(carrier);
  if (library == net::NetworkLibrary::ofi) ask_libfabric(usable, carrier);
  return carrier;
}

void show(const Carrier& carrier) {
  if (!carrier.title.empty()) printf("\n%s:\n", carrier.title.c_str());
  for (const auto& [name, text] : carrier.lines) printf("  %-18s %s\n", name.c_str(), text.c_str());
  if (!carrier.problem.empty()) printf("\n%s\n", carrier.problem.c_str());
  if (!carrier.reads.empty())
    printf("\nLarge messages are read straight from the sender's memory (R0): %s\n", carrier.reads.c_str());
  if (!carrier.writes.empty()) {
    printf("Others (R1) are written straight into the receiver's, where that is in one piece: %s\n",
           carrier.writes.c_str());
  }
}

JsonObject described(const std::vector<net::LocalAddress>& addresses) {
  std::vector<std::string> list;
  list.reserve(addresses.size());
  for (const net::LocalAddress& local : addresses) {
    list.push_back(JsonObject()
                       .text("network", net::text_of(local.address) + "/" + std::to_string(local.bits))
                       .text("interface", local.interface)
                       .flag("usable", local.usable())
                       .text("use", what_becomes_of(local.use))
                       .json());
  }
  JsonObject settings;
  for (const Deciding& setting : deciding) settings.text(setting.name, value_of(setting.name));
  return JsonObject().list("addresses", list).value("settings", settings.json());
}

void add(const Carrier& carrier, JsonObject& answer) {
  std::vector<std::string> lines;
  lines.reserve(carrier.lines.size());
  for (const auto& [name, text] : carrier.lines)
    lines.push_back(JsonObject().text("name", name).text("state", text).json());
  answer.text("title", carrier.title).list("asked", lines).text("problem", carrier.problem);
  answer.text("reads_from_sender", carrier.reads).text("writes_to_receiver", carrier.writes);
}

}  // namespace

int info_net(bool json) {
  transport::set_failure_sink([](int, const base::Problem& problem) { base::die(problem); });
  base::load_settings();
  const std::vector<net::LocalAddress> addresses = net::local_addresses(net::networks_of_setting());
  std::vector<in_addr> usable;
  bool loopback_alone = true;
  for (const net::LocalAddress& local : addresses) {
    if (!local.usable()) continue;
    usable.push_back(local.address);
    loopback_alone = loopback_alone && local.use == net::AddressUse::loopback;
  }
  constexpr const char* no_address = "A job on several hosts cannot start here: there is no address that may be used.";
  constexpr const char* carriers[] = {"TCP", "libfabric", "UCX"};
  const net::LibraryChoice carried =
      usable.empty() ? net::LibraryChoice{net::NetworkLibrary::tcp, ""} : net::choose_library();
  const Carrier carrier = usable.empty()
                              ? Carrier{.title = "", .lines = {}, .problem = no_address, .reads = "", .writes = ""}
                              : ask(carried.by, usable);
  if (json) {
    JsonObject answer = described(addresses);
    if (!usable.empty()) answer.text("carried_by", carriers[static_cast<int>(carried.by)]).text("why", carried.why);
    add(carrier, answer);
    puts(answer.flag("loopback_alone", loopback_alone).json().c_str());
  } else {
    show_addresses(addresses);
    show_settings();
    if (!usable.empty()) {
      printf("\nCarried by %s: %s.\n", carriers[static_cast<int>(carried.by)], carried.why.c_str());
      if (loopback_alone) puts("\nOther hosts cannot be reached: the loopback is the only address that may be used.");
    }
    show(carrier);
  }
  return carrier.problem.empty() ? 0 : 1;
}

}  // namespace weft::tool
