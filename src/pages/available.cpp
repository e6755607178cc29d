// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pages/available.hpp"

#include <algorithm>
#include <string_view>

#include "pages/files.hpp"

namespace weft::pages {
namespace {

constexpr uint64_t unlimited = uint64_t{1} << 60;  // version 1 writes "no limit" as nearly 2^63

uint64_t difference(uint64_t whole, uint64_t part) {
  return whole > part ? whole - part : 0;
}

void tighten(Available& found, uint64_t bytes, const std::string& bound, const char* remedy) {
  if (bytes < found.bytes) found = {bytes, bound, remedy};
}

// The files of one version of control groups.
struct Version {
  const char* limit;
  const char* usage;
  const char* inactive;  // lines of memory.stat: pages of files, which the kernel drops when it needs memory
  const char* active;
};
constexpr Version version_1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ",
                               "total_active_file "};
constexpr Version version_2 = {"memory.max", "memory.current", "inactive_file ", "active_file "};

void look_at_group(Available& found, const std::string& folder, const Version& version, uint64_t swap) {
  const auto limit_text = read_file(folder + "/" + version.limit);
  const auto usage_text = read_file(folder + "/" + version.usage);
  if (!limit_text || !usage_text) return;
  const auto limit = number_in(*limit_text);
  const auto usage = number_in(*usage_text);
  if (!limit || !usage || *limit >= unlimited) return;
  const std::string stat = read_file(folder + "/memory.stat").value_or("");
  const uint64_t files = field_in(stat, version.inactive).value_or(0) + field_in(stat, version.active).value_or(0);
  tighten(found, difference(*limit, difference(*usage, files)) + swap,
          "the memory limit of the control group (" + folder + "/" + version.limit + ")",
          "raise the job's memory limit, as sbatch --mem, or ask for less");
}

// From the group up to the mount's root. A container may show a path that does not exist below its own mount; the root
// is looked at in any case.
void look_at_groups(Available& found, const std::string& mount, std::string_view path, const Version& version,
                    uint64_t swap) {
  constexpr int deepest = 8;
  constexpr size_t longest = 1024;
  look_at_group(found, mount, version, swap);
  if (path.size() > longest || path.find("..") != std::string_view::npos) return;
  for (int level = 0; level < deepest && path.size() > 1; ++level) {
    look_at_group(found, mount + std::string(path), version, swap);
    const size_t slash = path.rfind('/');
    path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
}

bool names_memory(std::string_view controllers) {
  while (!controllers.empty()) {
    const size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == "memory") return true;
    if (comma == std::string_view::npos) break;
    controllers.remove_prefix(comma + 1);
  }
  return false;
}

// Lines of /proc/self/cgroup: hierarchy:controllers:path.
void look_at_all_groups(Available& found, const KernelPaths& places, uint64_t swap) {
  const std::string text = read_file(places.proc + "/self/cgroup").value_or("");
  const std::string root = places.sys + "/fs/cgroup";
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    if (controllers.empty()) {
      look_at_groups(found, root, path, version_2, swap);
      look_at_groups(found, root + "/unified", path, version_2, swap);
    } else if (names_memory(controllers)) {
      look_at_groups(found, root + "/memory", path, version_1, swap);
    }
  }
}

}  // namespace

Available available(const KernelPaths& places) {
  Available found;
  const std::string text = read_file(places.proc + "/meminfo").value_or("");
  const uint64_t swap = field_in(text, "SwapFree:").value_or(0) * kib;
  if (const auto free = field_in(text, "MemAvailable:")) {
    tighten(found, *free * kib + swap, "the free memory of this host",
            "end other programs, use more hosts, or ask for less");
  }
  look_at_all_groups(found, places, swap);
  const auto mode = read_file(places.proc + "/sys/vm/overcommit_memory");
  if (mode && number_in(*mode) == 2) {
    const uint64_t limit = field_in(text, "CommitLimit:").value_or(unlimited / kib) * kib;
    tighten(found, difference(limit, field_in(text, "Committed_AS:").value_or(0) * kib),
            "the host's commit limit (vm.overcommit_memory is 2)",
            "raise vm.overcommit_ratio, add swap, or ask for less");
  }
  return found;
}

}  // namespace weft::pages
