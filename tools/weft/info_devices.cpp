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
#include "device/describe.hpp"
#include "device/device.hpp"
#include "weft/commands.hpp"

namespace weft::tool {
namespace {

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

void show(const char* way, const std::string& problem) {
  printf("  %-34s %s\n", way, problem.empty() ? "works" : ("does not: " + problem).c_str());
}

void show_ways() {
  printf("\nWays of data on this host, tried with %s:\n", base::shown_bytes(tried).c_str());
  void* const memory = device::active->allocate(tried);
  if (memory == nullptr) return show("memory of the device", "none is left, or no device can be used");
  const std::string problem = try_copies(memory);
  show("copies from and to the host", problem);
  if (problem.empty()) {
    show("copies from and to pinned memory", try_pinning(memory));
    show("mapped by another process", try_mapping(memory));
  }
  (void)device::active->release(memory);
}

void show_ways_between_hosts() {
  puts("\nWays of data between hosts:");
  printf("  %-34s %s\n", "through pinned memory of the host", "used");
  show("by an adapter from the device", "Weft registers no memory of devices with libfabric (FI_HMEM) or UCX");
}

void show_setting(const char* name) {
  for (const base::SettingRow* row : base::all_settings()) {
    if (std::strcmp(row->text().name, name) == 0) printf("  %-34s %s\n", name, row->shown().c_str());
  }
}

}  // namespace

int info_devices(const Words& words) {
  const bool other = words.size() == 2 && words[0] == "--map";
  if (!words.empty() && !other) {
    fprintf(stderr, "weft: info devices takes no arguments\n");
    return 2;
  }
  base::load_settings();
  const std::string problem = device::open_for_tool();
  if (other) return device::on() ? map_here(words[1]) : 2;
  if (!device::on()) {
    printf("Driver: none: %s\n", problem.empty() ? "WEFT_DEVICES=off" : problem.c_str());
    return 0;
  }
  const device::Description found = device::describe();
  printf("Driver: %s: %s\n", device::active->name, found.driver.c_str());
  if (!found.problem.empty()) printf("  %s\n", found.problem.c_str());
  puts("Devices:");
  if (found.devices.empty()) puts("  (none)");
  for (size_t i = 0; i < found.devices.size(); ++i) {
    const device::Description::Item& item = found.devices[i];
    printf("  %zu  %-29s %10s  %s\n", i, item.name.c_str(), base::shown_bytes(item.bytes).c_str(), item.note.c_str());
  }
  show_ways();
  show_ways_between_hosts();
  puts("\nSettings that decide (man weft-settings):");
  show_setting("WEFT_DEVICES");
  show_setting("WEFT_DEVICE_MAP_FROM");
  return 0;
}

}  // namespace weft::tool
