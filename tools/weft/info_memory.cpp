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

namespace weft::tool {
namespace {

constexpr const char* usage =
    "usage: weft info memory [--xml FILE]\n\n"
    "Prints NUMA nodes with their kinds, page sizes, available memory, and what memory programs get from\n"
    "MPI_Alloc_mem under the settings in force.\n\n"
    "  --xml FILE     the nodes of another machine, as hwloc has written it down (lstopo --of xml)\n";

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

// The plan for a piece of 64 MiB, which nobody allocates.
void print_plan() {
  std::string problem;
  const pages::Wish wish = pages::wish_of_settings(problem);
  pages::System system;
  pages::Plan plan;
  pages::Grant grant;
  printf("\nProgram's memory: affinity %s, policy %s, page size %s\n",
         pages::shown_affinity(wish.affinity, wish.node).c_str(), pages::shown_policy(wish.policy),
         pages::shown_page(wish.page).c_str());
  if (!pages::make_plan(wish, size_t{64} << 20, system, plan, grant)) {
    printf("  cannot be had: %s\n", grant.problem.c_str());
    return;
  }
  printf("  64 MiB would lie on %s, in %s pages of %s\n",
         grant.nodes.empty() ? "the node that touches it first" : ("node " + base::shown_cpu_list(grant.nodes)).c_str(),
         grant.transparent                ? "transparent"
         : grant.page != pages::base_page ? "explicit huge"
                                          : "base",
         pages::shown_page(grant.page).c_str());
  if (!grant.fallback.empty()) printf("  not as wished: %s\n", grant.fallback.c_str());
}

}  // namespace

int info_memory(const Words& words) {
  if (words.size() == 2 && words[0] == "--xml") {
    const std::vector<pages::Node> nodes = topo::memory_nodes_of_file(words[1]);
    if (nodes.empty()) {
      fprintf(stderr, "weft: hwloc finds no NUMA nodes in %s. Remedy: name a file that lstopo --of xml has written\n",
              base::quoted(words[1]).c_str());
      return 1;
    }
    print_nodes(nodes, false);
    return 0;
  }
  if (!words.empty()) {
    const bool asked = words[0] == "--help";
    fputs(usage, asked ? stdout : stderr);
    return asked ? 0 : 2;
  }
  base::load_settings();
  if (const std::string wrong = pages::check_settings(); !wrong.empty()) {
    fprintf(stderr, "weft: %s. Remedy: see docs/memory.md\n", wrong.c_str());
    return 1;
  }
  // hwloc knows more of kinds, the kernel of free memory; a setting goes before both.
  const std::string kinds = topo::kinds_for_ranks();
  std::string problem;
  std::vector<pages::Node> nodes = pages::nodes_here(problem);
  if (!pages::kinds_are_set() && !kinds.empty()) problem = pages::take_kinds(kinds, nodes);
  print_nodes(nodes, true);
  print_pages();
  print_available();
  print_plan();
  return 0;
}

}  // namespace weft::tool
