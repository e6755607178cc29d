// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// "weft info memory": the kinds of memory of this host, its page sizes, what is available, and what programs get.
#include <cstdio>

#include "base/bytes.hpp"
#include "base/setting.hpp"
#include "pages/available.hpp"
#include "pages/plan.hpp"
#include "pages/wish.hpp"
#include "topo/memory.hpp"
#include "weft/commands.hpp"
#include "weft/json_object.hpp"

namespace weft::tool {
namespace {

constexpr const char* info_memory_usage =
    "usage: weft info memory [--xml FILE] [--json]\n\n"
    "Prints NUMA nodes with their kinds, page sizes, available memory, and what memory programs get from\n"
    "MPI_Alloc_mem under the settings in force.\n\n"
    "  --xml FILE     the nodes of another machine, as hwloc has written it down (lstopo --of xml)\n"
    "  --json         prints it as JSON\n";

std::string or_unknown(const std::string& text) {
  return text.empty() ? "(unknown)" : text;
}

void print_nodes(const std::vector<pages::Node>& nodes, bool here) {
  printf("%-6s %-6s %12s %12s %16s  %s\n", "node", "kind", "memory", "free", "bandwidth MB/s", "processors");
  for (const pages::Node& node : nodes) {
    const std::string bandwidth = node.bandwidth == 0 ? "" : std::to_string(node.bandwidth);
    printf("%-6d %-6s %12s %12s %16s  %s%s\n", node.number, pages::shown_kind(node.kind),
           base::shown_bytes(node.bytes).c_str(), here ? base::shown_bytes(node.free).c_str() : "",
           or_unknown(bandwidth).c_str(), node.cpus.empty() ? "none" : base::shown_cpu_list(node.cpus).c_str(),
           node.allowed ? "" : " (not for this process: cpuset)");
  }
  if (nodes.empty()) puts("none: the kernel tells of no NUMA nodes, and all memory is alike");
}

void print_pages() {
  const pages::Sizes sizes = pages::sizes_here();
  puts("\nPage sizes: 4K");
  for (const pages::HugePages& huge : sizes.huge) {
    printf("  %-4s explicit huge pages: %llu, free %llu", pages::shown_page(huge.bytes).c_str(),
           static_cast<unsigned long long>(huge.total), static_cast<unsigned long long>(huge.free));
    if (huge.more != 0) printf(", and %llu on demand", static_cast<unsigned long long>(huge.more));
    putchar('\n');
  }
  if (sizes.transparent != 0) {
    printf("  %-4s transparent: private memory %s, shared memory %s\n", pages::shown_page(sizes.transparent).c_str(),
           or_unknown(sizes.mode).c_str(), or_unknown(sizes.shared_mode).c_str());
  }
}

void print_available() {
  const pages::Available there = pages::available();
  if (there.bound.empty()) return;
  printf("\nAvailable: %s, bounded by %s\n", base::shown_bytes(there.bytes).c_str(), there.bound.c_str());
}

struct Planned {
  pages::Wish wish;
  pages::Grant grant;
  bool good = false;
};

// The plan for a piece of 64 MiB, which nobody allocates.
Planned plan_here() {
  std::string problem;
  Planned planned{.wish = pages::wish_of_settings(problem), .grant = {}};
  pages::System system;
  pages::Plan plan;
  planned.good = pages::make_plan(planned.wish, size_t{64} << 20, system, plan, planned.grant);
  return planned;
}

const char* sort_of_pages(const pages::Grant& grant) {
  return grant.transparent ? "transparent" : grant.page != pages::base_page ? "explicit huge" : "base";
}

void print_plan() {
  const auto& [wish, grant, good] = plan_here();
  printf("\nProgram's memory: affinity %s, policy %s, page size %s\n",
         pages::shown_affinity(wish.affinity, wish.node).c_str(), pages::shown_policy(wish.policy),
         pages::shown_page(wish.page).c_str());
  if (!good) {
    printf("  cannot be had: %s\n", grant.problem.c_str());
    return;
  }
  printf("  64 MiB would lie on %s, in %s pages of %s\n",
         grant.nodes.empty() ? "the node that touches it first" : ("node " + base::shown_cpu_list(grant.nodes)).c_str(),
         sort_of_pages(grant), pages::shown_page(grant.page).c_str());
  if (!grant.fallback.empty()) printf("  not as wished: %s\n", grant.fallback.c_str());
}

std::string nodes_json(const std::vector<pages::Node>& nodes, bool here) {
  std::vector<std::string> list;
  for (const pages::Node& node : nodes) {
    JsonObject one;
    one.whole("node", node.number)
        .text("kind", pages::shown_kind(node.kind))
        .whole("bytes", static_cast<int64_t>(node.bytes))
        .text("processors", node.cpus.empty() ? "" : base::shown_cpu_list(node.cpus))
        .flag("allowed", node.allowed);
    if (here) one.whole("free", static_cast<int64_t>(node.free));
    if (node.bandwidth != 0) one.whole("bandwidth_mb_per_s", static_cast<int64_t>(node.bandwidth));
    list.push_back(one.json());
  }
  return json_list(list);
}

std::string host_json(const std::vector<pages::Node>& nodes) {
  const pages::Sizes sizes = pages::sizes_here();
  std::vector<std::string> huge;
  for (const pages::HugePages& one : sizes.huge) {
    huge.push_back(JsonObject()
                       .whole("bytes", static_cast<int64_t>(one.bytes))
                       .whole("pages", static_cast<int64_t>(one.total))
                       .whole("free", static_cast<int64_t>(one.free))
                       .whole("on_demand", static_cast<int64_t>(one.more))
                       .json());
  }
  JsonObject answer;
  answer.value("nodes", nodes_json(nodes, true)).list("huge_pages", huge);
  if (sizes.transparent != 0) {
    answer.value("transparent_pages", JsonObject()
                                          .whole("bytes", static_cast<int64_t>(sizes.transparent))
                                          .text("private", sizes.mode)
                                          .text("shared", sizes.shared_mode)
                                          .json());
  }
  if (const pages::Available there = pages::available(); !there.bound.empty()) {
    answer.value("available",
                 JsonObject().whole("bytes", static_cast<int64_t>(there.bytes)).text("bounded_by", there.bound).json());
  }
  const auto& [wish, grant, good] = plan_here();
  JsonObject programs;
  programs.text("affinity", pages::shown_affinity(wish.affinity, wish.node))
      .text("policy", pages::shown_policy(wish.policy))
      .text("page_size", pages::shown_page(wish.page));
  if (good) {
    programs.text("nodes", grant.nodes.empty() ? "" : base::shown_cpu_list(grant.nodes))
        .text("pages", sort_of_pages(grant))
        .whole("page_bytes", static_cast<int64_t>(grant.page))
        .text("not_as_wished", grant.fallback);
  } else {
    programs.text("problem", grant.problem);
  }
  return answer.value("program", programs.json()).json();
}

}  // namespace

int info_memory(const Words& words, bool json) {
  if (words.size() == 2 && words[0] == "--xml") {
    std::string crash;
    const std::vector<pages::Node> nodes = topo::memory_nodes_of_file(words[1], crash);
    if (nodes.empty()) {
      const std::string name = base::quoted(words[1]);
      const std::string why =
          crash.empty() ? "hwloc finds no NUMA nodes in " + name : name + " cannot be read: " + crash;
      fprintf(stderr, "weft: %s. Remedy: name a file that lstopo --of xml has written\n", why.c_str());
      return 1;
    }
    if (json) return puts(nodes_json(nodes, false).c_str()) < 0 ? 1 : 0;
    print_nodes(nodes, false);
    return 0;
  }
  if (!words.empty()) {
    const bool asked = words[0] == "--help";
    fputs(info_memory_usage, asked ? stdout : stderr);
    return asked ? 0 : 2;
  }
  base::load_settings();
  if (const std::string wrong = pages::check_settings(); !wrong.empty()) {
    fprintf(stderr, "weft: %s. Remedy: see docs/guide/memory.md\n", wrong.c_str());
    return 1;
  }
  // hwloc knows more of kinds, the kernel of free memory; a setting goes before both.
  const std::string kinds = topo::kinds_for_ranks();
  std::string problem;
  std::vector<pages::Node> nodes = pages::nodes_here(problem);
  if (!pages::kinds_are_set() && !kinds.empty()) problem = pages::take_kinds(kinds, nodes);
  if (json) return puts(host_json(nodes).c_str()) < 0 ? 1 : 0;
  print_nodes(nodes, true);
  print_pages();
  print_available();
  print_plan();
  return 0;
}

}  // namespace weft::tool
