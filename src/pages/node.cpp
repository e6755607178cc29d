// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pages/node.hpp"

#include <strings.h>

#include <algorithm>

#include "base/setting.hpp"
#include "pages/files.hpp"
#include "pages/wish.hpp"

namespace weft::pages {
namespace {

constinit base::TextSetting kinds_setting{
    {.name = "WEFT_MEMORY_NODES",
     .help = "kinds of NUMA nodes where the firmware does not tell them, as 0=DDR,1=HBM",
     .subject = base::Subject::memory}};
WEFT_SETTING(kinds_setting);

std::string_view line_of(const std::string& text) {
  return std::string_view(text).substr(0, text.find('\n'));
}

bool read_set(const std::string& path, base::CpuSet& set) {
  const auto text = read_file(path);
  return text && base::parse_cpu_list(line_of(*text), set).empty();
}

// Lines are "Node 0 MemFree:   123 kB".
uint64_t field_of_node(const std::string& text, int number, const char* field) {
  return field_in(text, "Node " + std::to_string(number) + " " + field).value_or(0) * kib;
}

Node read_node(const std::string& folder, int number) {
  Node node{.number = number};
  const std::string text = read_file(folder + "/meminfo").value_or("");
  node.bytes = field_of_node(text, number, "MemTotal:");
  node.free = field_of_node(text, number, "MemFree:") + field_of_node(text, number, "Active(file):") +
              field_of_node(text, number, "Inactive(file):");
  (void)read_set(folder + "/cpulist", node.cpus);
  const std::string bandwidth = read_file(folder + "/access0/initiators/read_bandwidth").value_or("");
  node.bandwidth = number_in(bandwidth).value_or(0);
  node.huge = huge_pages_in(folder + "/hugepages");
  const std::string distances = read_file(folder + "/distance").value_or("");
  for (std::string_view rest = line_of(distances); const auto distance = number_in(rest);) {
    node.distances.push_back(static_cast<int>(*distance));
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    rest.remove_prefix(std::min(rest.find(' '), rest.size()));
  }
  return node;
}

// The nodes that the cpuset allows; false: it is not told.
bool allowed_nodes(const KernelPaths& places, base::CpuSet& nodes) {
  constexpr std::string_view word = "Mems_allowed_list:";
  const std::string text = read_file(places.proc + "/self/status").value_or("");
  const size_t at = text.find(word);
  if (at == std::string::npos) return false;
  std::string_view list = std::string_view(text).substr(at + word.size());
  list = list.substr(0, list.find('\n'));
  list.remove_prefix(std::min(list.find_first_not_of(" \t"), list.size()));
  return base::parse_cpu_list(list, nodes).empty();
}

}  // namespace

std::vector<Node> nodes_of_kernel(const KernelPaths& places) {
  const std::string folder = places.sys + "/devices/system/node";
  base::CpuSet there;  // a list of nodes looks as one of processors
  std::vector<Node> nodes;
  if (!read_set(folder + "/has_memory", there) && !read_set(folder + "/online", there)) return nodes;
  base::CpuSet allowed;
  const bool limited = allowed_nodes(places, allowed);
  for (int i = 0; i < base::CpuSet::capacity; ++i) {
    if (!there.has(i)) continue;
    nodes.push_back(read_node(folder + "/node" + std::to_string(i), i));
    nodes.back().allowed = !limited || allowed.has(i);
  }
  tell_kinds(nodes);
  return nodes;
}

void tell_kinds(std::vector<Node>& nodes) {
  uint64_t usual = 0;
  for (const Node& node : nodes) {
    if (node.cpus.empty() || node.bandwidth == 0) continue;
    usual = usual == 0 ? node.bandwidth : std::min(usual, node.bandwidth);
  }
  for (Node& node : nodes) {
    if (usual == 0 || node.bandwidth == 0) {
      node.kind = node.cpus.empty() ? MemoryKind::other : MemoryKind::ddr;
    } else if (node.bandwidth >= 2 * usual) {
      node.kind = MemoryKind::hbm;
    } else {
      node.kind = 2 * node.bandwidth < usual ? MemoryKind::other : MemoryKind::ddr;
    }
  }
}

std::string take_kinds(std::string_view text, std::vector<Node>& nodes) {
  std::vector<Node> taken = nodes;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const size_t equals = word.find('=');
    int64_t number = -1;
    if (equals == std::string_view::npos ||
        !base::parse_number(word.substr(0, equals), base::Unit::none, number).empty())
      return base::quoted(word) + " does not name a node and its kind, as in 0=DDR,1=HBM";
    const auto node = std::find_if(taken.begin(), taken.end(), [&](const Node& one) { return one.number == number; });
    if (node == taken.end()) return "this host has no NUMA node " + std::to_string(number) + " with memory";
    const std::string kind(word.substr(equals + 1));
    bool known = false;
    for (const MemoryKind each : {MemoryKind::ddr, MemoryKind::hbm, MemoryKind::other}) {
      if (strcasecmp(kind.c_str(), shown_kind(each)) != 0) continue;
      node->kind = each;
      known = true;
    }
    if (!known) return base::quoted(kind) + " is none of the kinds DDR, HBM and other";
  }
  nodes = std::move(taken);
  return {};
}

std::string shown_kinds(const std::vector<Node>& nodes) {
  std::string text;
  for (const Node& node : nodes) {
    text.append(text.empty() ? "" : ",").append(std::to_string(node.number)).append("=").append(shown_kind(node.kind));
  }
  return text;
}

bool kinds_are_set() {
  return *kinds_setting.value() != 0;
}

std::string check_settings() {
  std::string problem;
  (void)wish_of_settings(problem);
  if (problem.empty() && kinds_are_set()) (void)nodes_here(problem);
  return problem;
}

std::vector<Node> nodes_here(std::string& problem) {
  std::vector<Node> nodes = nodes_of_kernel();
  problem = take_kinds(kinds_setting.value(), nodes);
  if (!problem.empty()) problem = "WEFT_MEMORY_NODES: " + problem;
  return nodes;
}

}  // namespace weft::pages
