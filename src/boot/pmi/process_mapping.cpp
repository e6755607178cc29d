// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmi/process_mapping.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace weft::boot {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool take(std::string_view wanted) {
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(wanted.size());
    return true;
  }
  bool number(int low, int& value) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < low) return false;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return true;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace

bool ProcessMapping::parse(std::string_view text, int size) {
  *this = {};
  std::vector<NodeBlock> blocks;
  Scanner scanner(text);
  if (!scanner.take("(vector")) return false;
  while (scanner.take(",(")) {
    int node = 0;
    int nodes = 0;
    int ranks = 0;
    if (!scanner.number(0, node) || !scanner.take(",") || !scanner.number(1, nodes) || !scanner.take(",") ||
        !scanner.number(1, ranks) || !scanner.take(")")) {
      return false;
    }
    blocks.push_back({node, nodes, ranks, turn_});
    turn_ += std::min<int64_t>(int64_t{nodes} * ranks, size);  // places beyond the job's ranks do not matter
  }
  if (!scanner.take(")") || !scanner.at_end() || blocks.empty()) return false;
  blocks_ = std::move(blocks);
  size_ = size;
  return true;
}

int64_t ProcessMapping::node_of(int rank) const {
  const int64_t at = rank % turn_;
  const auto behind = std::upper_bound(blocks_.begin(), blocks_.end(), at,
                                       [](int64_t r, const NodeBlock& block) { return r < block.first; });
  const NodeBlock& block = behind[-1];
  return block.node + (at - block.first) / block.ranks;
}

std::vector<int> ProcessMapping::ranks_on(int64_t node) const {
  std::vector<int> found;
  for (int64_t start = 0; start < size_; start += turn_) {
    for (const NodeBlock& block : blocks_) {
      if (node < block.node || node >= block.node + block.nodes) continue;
      const int64_t first = start + block.first + (node - block.node) * block.ranks;
      for (int64_t r = first; r < std::min(first + block.ranks, size_); ++r) found.push_back(static_cast<int>(r));
    }
  }
  return found;
}

bool ranks_of_list(int rank, int size, std::string_view list, std::vector<int>& ranks) {
  Scanner scanner(list);
  ranks.clear();
  do {
    int first = 0;
    if (!scanner.number(0, first)) return false;
    int last = first;
    if (scanner.take("-") && !scanner.number(first, last)) return false;
    if (last >= size || ranks.size() + static_cast<size_t>(last - first) >= static_cast<size_t>(size)) return false;
    for (int r = first; r <= last; ++r) ranks.push_back(r);
  } while (scanner.take(","));
  std::sort(ranks.begin(), ranks.end());
  const bool twice = std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end();
  return scanner.at_end() && !twice && std::binary_search(ranks.begin(), ranks.end(), rank);
}

}  // namespace weft::boot
