// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pages/wish.hpp"

#include <strings.h>

#include <bit>

#include "base/setting.hpp"

namespace weft::pages {
namespace {

template <std::string (*parse)(std::string_view, Wish&)>
std::string wrong_with(std::string_view text) {
  Wish unused;
  return parse(text, unused);
}

constinit base::TextSetting affinity_setting{
    {.name = "WEFT_ALLOC_MEM_AFFINITY",
     .help = "where memory for the program lies: SYS_DEFAULT, DDR, HBM, or the number of a NUMA node",
     .alias = "MPICH_ALLOC_MEM_AFFINITY",
     .subject = base::Subject::memory,
     .wrong = wrong_with<parse_affinity>}};
WEFT_SETTING(affinity_setting);

constinit base::TextSetting policy_setting{
    {.name = "WEFT_ALLOC_MEM_POLICY",
     .help = "whether memory for the program is Preferred to be of its kind, Mandatory, or Interleave (over all nodes)",
     .alias = "MPICH_ALLOC_MEM_POLICY",
     .subject = base::Subject::memory,
     .wrong = wrong_with<parse_policy>}};
WEFT_SETTING(policy_setting);

constexpr base::AliasWord larger_pages[] = {{"2G", "1G"}};
constinit base::TextSetting page_setting{
    {.name = "WEFT_ALLOC_MEM_PG_SZ",
     .help = "page size of memory for the program: 4K, or a power of two from 2M to 1G",
     .alias = "MPICH_ALLOC_MEM_PG_SZ",
     .subject = base::Subject::memory,
     .alias_words = larger_pages,
     .wrong = wrong_with<parse_page>}};
WEFT_SETTING(page_setting);

bool same(std::string_view text, std::string_view word) {
  return text.size() == word.size() && strncasecmp(text.data(), word.data(), word.size()) == 0;
}

void take(const base::TextSetting& row, std::string (*parse)(std::string_view, Wish&), Wish& wish,
          std::string& problem) {
  if (*row.value() == 0) return;
  const std::string wrong = parse(row.value(), wish);
  if (!wrong.empty() && problem.empty()) problem = std::string(row.variable()) + ": " + wrong;
}

}  // namespace

std::string parse_affinity(std::string_view text, Wish& wish) {
  if (same(text, "SYS_DEFAULT")) {
    wish.affinity = Affinity::system;
  } else if (same(text, "DDR")) {
    wish.affinity = Affinity::ddr;
  } else if (same(text, "HBM") || same(text, "MCDRAM")) {
    wish.affinity = Affinity::hbm;
  } else {
    int64_t node = -1;
    if (!base::parse_number(text, base::Unit::none, node).empty() || node < 0 || node >= base::CpuSet::capacity)
      return base::quoted(text) + " is none of SYS_DEFAULT, DDR, HBM and the number of a NUMA node";
    wish.affinity = Affinity::node;
    wish.node = static_cast<int>(node);
  }
  return {};
}

std::string parse_policy(std::string_view text, Wish& wish) {
  for (const Policy policy : {Policy::preferred, Policy::mandatory, Policy::interleave}) {
    const std::string_view word = shown_policy(policy);
    if (!same(text, word) && !same(text, word.substr(0, 1))) continue;
    wish.policy = policy;
    return {};
  }
  return base::quoted(text) + " is none of Preferred, Mandatory and Interleave";
}

std::string parse_page(std::string_view text, Wish& wish) {
  constexpr int64_t least = int64_t{2} << 20;
  constexpr int64_t most = int64_t{1} << 30;
  int64_t bytes = 0;
  const bool number = base::parse_number(text, base::Unit::bytes, bytes).empty();
  const bool huge = bytes >= least && bytes <= most && std::has_single_bit(static_cast<uint64_t>(bytes));
  if (!number || (!huge && bytes != int64_t{base_page}))
    return base::quoted(text) + " is no page size: 4K, or a power of two from 2M to 1G";
  wish.page = static_cast<size_t>(bytes);
  return {};
}

std::string shown_affinity(Affinity affinity, int node) {
  switch (affinity) {
    case Affinity::system:
      return "SYS_DEFAULT";
    case Affinity::ddr:
      return "DDR";
    case Affinity::hbm:
      return "HBM";
    case Affinity::node:
      return std::to_string(node);
  }
  return {};
}

const char* shown_policy(Policy policy) {
  switch (policy) {
    case Policy::preferred:
      return "Preferred";
    case Policy::mandatory:
      return "Mandatory";
    case Policy::interleave:
      return "Interleave";
  }
  return "";
}

std::string shown_page(size_t bytes) {
  if (bytes >= size_t{1} << 30) return std::to_string(bytes >> 30) + "G";
  if (bytes >= size_t{1} << 20) return std::to_string(bytes >> 20) + "M";
  return std::to_string(bytes >> 10) + "K";
}

const char* shown_kind(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::ddr:
      return "DDR";
    case MemoryKind::hbm:
      return "HBM";
    case MemoryKind::other:
      return "other";
  }
  return "";
}

Wish wish_of_settings(std::string& problem) {
  Wish wish;
  problem.clear();
  take(affinity_setting, parse_affinity, wish, problem);
  take(policy_setting, parse_policy, wish, problem);
  take(page_setting, parse_page, wish, problem);
  return wish;
}

}  // namespace weft::pages
