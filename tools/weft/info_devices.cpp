// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// "weft info devices": the driver, its devices, and which ways their data can go on this host, each tried once.
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "base/bytes.hpp"
#include "base/setting.hpp"
#include "device/api/device.hpp"
#include "device/cuda/aperture.hpp"
#include "device/select/adapter.hpp"
#include "device/select/choice.hpp"
#include "device/select/describe.hpp"
#include "transport/net/network.hpp"
#include "transport/ofi/provider.hpp"
#include "transport/select/hosts.hpp"
#include "transport/ucx/context.hpp"
#include "weft/commands.hpp"
#include "weft/json_object.hpp"

namespace weft::tool {
namespace {

namespace net = transport::net;
namespace ofi = transport::ofi;
namespace ucx = transport::ucx;

constexpr size_t tried = size_t{1} << 20;

char byte_at(size_t i) {
  return static_cast<char>(i * 7 + i / 251);
}

bool is_right(const std::vector<char>& data) {
  for (size_t i = 0; i < data.size(); ++i) {
    if (data[i] != byte_at(i)) return false;
  }
  return true;
}

std::vector<char> pattern() {
  std::vector<char> data(tried);
  for (size_t i = 0; i < data.size(); ++i) data[i] = byte_at(i);
  return data;
}

// There and back; empty: it works, otherwise the reason why not.
std::string try_copies(void* memory) {
  const std::vector<char> out = pattern();
  std::vector<char> in(tried);
  if (std::string problem = device::active->copy(memory, out.data(), tried); !problem.empty()) return problem;
  if (std::string problem = device::active->copy(in.data(), memory, tried); !problem.empty()) return problem;
  return is_right(in) ? "" : "other data came back";
}

std::string try_pinning(void* memory) {
  void* host = mmap(nullptr, tried, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (host == MAP_FAILED) return "no memory";
  std::string problem;
  if (!device::active->pin(host, tried)) {
    problem = "the driver refuses: see ulimit -l, or the memory that containers may lock";
  } else {
    problem = device::active->copy(host, memory, tried);
    device::active->unpin(host);
  }
  munmap(host, tried);
  return problem;
}

std::string hex_of(const device::Shared& shared) {
  static constexpr char digits[] = "0123456789abcdef";
  unsigned char bytes[sizeof shared];
  std::memcpy(bytes, &shared, sizeof shared);
  std::string text;
  for (const unsigned char byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

bool read_hex(const std::string& text, device::Shared& shared) {
  unsigned char bytes[sizeof shared];
  if (text.size() != 2 * sizeof bytes) return false;
  for (size_t i = 0; i < sizeof bytes; ++i) {
    const char* const from = text.data() + 2 * i;
    if (std::from_chars(from, from + 2, bytes[i], 16).ptr != from + 2) return false;
  }
  std::memcpy(&shared, bytes, sizeof bytes);
  return true;
}

// Another process, which is this program again, maps the memory and looks at its data.
std::string try_mapping(void* memory) {
  device::Shared shared{};
  if (std::string problem = device::active->share(memory, shared); !problem.empty()) return problem;
  std::string handle = hex_of(shared), program = "weft", command = "info", part = "devices", option = "--map";
  char* arguments[] = {program.data(), command.data(), part.data(), option.data(), handle.data(), nullptr};
  pid_t child = 0;
  if (const int error = posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ); error != 0)
    return std::string("no process can be started: ") + std::strerror(error);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  if (!WIFEXITED(status)) return std::string("the other process ended by signal ") + strsignal(WTERMSIG(status));
  return WEXITSTATUS(status) == 3   ? "the driver refuses to map it in another process: in containers give them the "
                                      "PID and IPC namespaces of the host; some virtual devices cannot do it"
         : WEXITSTATUS(status) == 4 ? "the other process found other data"
                                    : "the other process cannot use the driver";
}

// The other process.
int map_here(const std::string& text) {
  device::Shared shared{};
  if (!read_hex(text, shared) || shared.bytes < tried) return 2;
  void* const own = device::active->allocate(tried);  // makes the device usable
  if (own == nullptr || !try_copies(own).empty()) return 2;
  void* base = nullptr;
  if (!device::active->map(shared, base).empty()) return 3;
  std::vector<char> in(tried);
  const std::string problem = device::active->copy(in.data(), base, tried);
  device::active->unmap(base);
  return problem.empty() && is_right(in) ? 0 : 4;
}

struct Way {
  const char* name;
  std::string problem;  // it is empty if the way works
};

std::string try_aperture(void* memory) {
  if (std::string problem = device::why_no_apertures(); !problem.empty()) return "there is no GDRCopy: " + problem;
  const uint64_t out = 0x0123456789abcdef;
  uint64_t in = 0;
  if (!device::copy_by_aperture(memory, &out, sizeof out) || !device::copy_by_aperture(&in, memory, sizeof in))
    return "GDRCopy maps no memory of this device";
  return in == out ? "" : "other data came back";
}

// Every fourth word is packed to the end of the memory, whose first half is filled by try_copies().
std::string try_layout(void* memory) {
  constexpr size_t word = 4, words = tried / 32, at = tried - words * word;
  const device::KernelLayout layout{.place = reinterpret_cast<uintptr_t>(memory),
                                    .block = word,
                                    .loops = 1,
                                    .loop = {{static_cast<int64_t>(words), 4 * word}},
                                    .list = nullptr};
  std::string problem = device::active->move(layout, device::KernelDirection::pack, 0, static_cast<char*>(memory) + at,
                                             static_cast<int64_t>(words * word));
  std::vector<char> in(words * word);
  if (problem.empty()) problem = device::active->copy(in.data(), static_cast<char*>(memory) + at, in.size());
  for (size_t i = 0; i < in.size() && problem.empty(); ++i) {
    if (in[i] != byte_at(i / word * 4 * word + i % word)) problem = "other data came back";
  }
  return problem.empty() ? device::why_no_kernel() : problem;
}

std::string try_sum(void* memory) {
  std::vector<double> numbers(1024);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i) + 0.25;
  const size_t bytes = numbers.size() * sizeof(double), half = bytes / 2;
  std::string problem = device::active->copy(memory, numbers.data(), bytes);
  const device::KernelReduction sum{device::KernelOperation::sum, device::Number::f64, device::Number::none, false,
                                    [](const void* in, void* inout, int64_t count) {
                                      for (int64_t i = 0; i < count; ++i)
                                        static_cast<double*>(inout)[i] += static_cast<const double*>(in)[i];
                                    }};
  if (problem.empty()) problem = device::active->reduce(sum, memory, static_cast<char*>(memory) + half, 512);
  std::vector<double> in(numbers.size());
  if (problem.empty()) problem = device::active->copy(in.data(), memory, bytes);
  for (size_t i = 0; i < 512 && problem.empty(); ++i) {
    if (in[512 + i] != numbers[512 + i] + numbers[i]) problem = "other numbers came back";
  }
  return problem.empty() ? device::why_no_kernel() : problem;
}

std::vector<Way> ways_on_this_host() {
  void* const memory = device::active->allocate(tried);
  if (memory == nullptr) return {{"memory of the device", "none is left, or no device can be used"}};
  std::vector<Way> ways = {{"copies from and to the host", try_copies(memory)}};
  if (ways[0].problem.empty()) {
    ways.push_back({"copies from and to pinned memory", try_pinning(memory)});
    ways.push_back({"mapped by another process", try_mapping(memory)});
    ways.push_back({"layouts with gaps by kernels", try_layout(memory)});
    ways.push_back({"sums of doubles by kernels", try_sum(memory)});
    if (device::active == &device::cuda) ways.push_back({"GDRCopy, experimental", try_aperture(memory)});
  }
  (void)device::active->release(memory);
  return ways;
}

// Why messages between hosts go through memory of the host alone. Empty: adapters read and fill memory of devices.
std::string why_not_by_adapters() {
  if (device::maker() == device::Maker::none) return "adapters do not know memory of this driver";
  const net::LibraryChoice carried = net::choose_library();
  if (carried.by == net::NetworkLibrary::tcp) return "jobs are carried by TCP: " + carried.why;
  std::vector<in_addr> usable;
  for (const net::LocalAddress& local : net::local_addresses(net::networks_of_setting())) {
    if (local.usable()) usable.push_back(local.address);
  }
  if (usable.empty()) return "there is no address that may be used";
  std::string why_not;
  if (carried.by == net::NetworkLibrary::ucx) {
    if (!ucx::try_library(why_not)) return "UCX cannot be loaded: " + why_not;
    const ucx::UcxContext context = ucx::open_context(2, false, false);
    ucx::library().cleanup(context.handle);
    if (!context.reads) return "large messages are not read from their sender's memory (WEFT_RDMA=off)";
    return context.takes_devices ? "" : "UCX takes no memory of these devices: it was built without them";
  }
  const ofi::OfiLibrary* library = ofi::try_library(why_not);
  if (library == nullptr) return "libfabric cannot be loaded: " + why_not;
  const ofi::ProviderChoice choice = ofi::ask_providers(usable, ofi::AskMode::until_one_works);
  if (choice.info == nullptr) return "no provider of libfabric works (weft info net)";
  library->freeinfo(choice.info);
  const ofi::ProviderAnswer& chosen = choice.answers.back();
  if (!chosen.reads) return "large messages are not read from their sender's memory (weft info net says why)";
  return chosen.devices ? "" : "the provider " + chosen.full_name + " of libfabric does not offer that (FI_HMEM)";
}

std::vector<Way> ways_between_hosts() {
  return {{"by staging buffers of the host", ""}, {"by adapters, experimental", why_not_by_adapters()}};
}

void show(const Way& way) {
  printf("  %-34s %s\n", way.name, way.problem.empty() ? "works" : ("does not: " + way.problem).c_str());
}

std::string shown_setting(const char* name) {
  for (const base::SettingRow* row : base::all_settings()) {
    if (std::strcmp(row->text().name, name) == 0) return row->shown();
  }
  return {};
}

// CUDA has run on devices, and the others over stand-ins for their drivers.
bool is_experimental() {
  return device::active == &device::hip || device::active == &device::ze;
}

std::string as_json(const device::Description& found) {
  std::vector<std::string> devices;
  for (const device::Description::DescribedDevice& item : found.devices) {
    devices.push_back(JsonObject()
                          .text("name", item.name)
                          .whole("bytes", static_cast<int64_t>(item.bytes))
                          .text("note", item.note)
                          .json());
  }
  const auto list_of = [](const std::vector<Way>& ways) {
    std::vector<std::string> list;
    list.reserve(ways.size());
    for (const Way& way : ways) {
      list.push_back(
          JsonObject().text("way", way.name).flag("works", way.problem.empty()).text("problem", way.problem).json());
    }
    return list;
  };
  return JsonObject()
      .text("driver", device::active->name)
      .flag("experimental", is_experimental())
      .text("version", found.driver)
      .text("problem", found.problem)
      .list("devices", devices)
      .list("ways", list_of(ways_on_this_host()))
      .list("ways_between_hosts", list_of(ways_between_hosts()))
      .json();
}

}  // namespace

int info_devices(const Words& words, bool json) {
  const bool other = words.size() == 2 && words[0] == "--map";
  if (!words.empty() && !other) {
    fprintf(stderr, "weft: info devices takes no arguments\n");
    return 2;
  }
  base::load_settings();
  const std::string problem = device::open_for_tool();
  if (other) return device::on() ? map_here(words[1]) : 2;
  if (!device::on()) {
    const std::string why_not = problem.empty() ? "WEFT_DEVICES=off" : problem;
    if (json) return puts(JsonObject().text("driver", "").text("problem", why_not).json().c_str()) < 0 ? 1 : 0;
    printf("Driver: none: %s\n", why_not.c_str());
    return 0;
  }
  const device::Description found = device::describe();
  if (json) return puts(as_json(found).c_str()) < 0 ? 1 : 0;
  printf("Driver: %s%s: %s\n", device::active->name,
         is_experimental() ? " (experimental: it has run over a stand-in for the driver alone)" : "",
         found.driver.c_str());
  if (!found.problem.empty()) printf("  %s\n", found.problem.c_str());
  puts("Devices:");
  if (found.devices.empty()) puts("  (none)");
  for (size_t i = 0; i < found.devices.size(); ++i) {
    const device::Description::DescribedDevice& item = found.devices[i];
    printf("  %zu  %-29s %10s  %s\n", i, item.name.c_str(), base::shown_bytes(item.bytes).c_str(), item.note.c_str());
  }
  printf("\nWays of data on this host, tried with %s:\n", base::shown_bytes(tried).c_str());
  for (const Way& way : ways_on_this_host()) show(way);
  puts("\nWays of data between hosts:");
  for (const Way& way : ways_between_hosts()) show(way);
  puts("\nSettings that decide (man weft-settings):");
  for (const char* name : {"WEFT_DEVICES", "WEFT_DEVICE_MAP_FROM"})
    printf("  %-34s %s\n", name, shown_setting(name).c_str());
  return 0;
}

}  // namespace weft::tool
