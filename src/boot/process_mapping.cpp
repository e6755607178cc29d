// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/process_mapping.hpp"

#include <algorithm>
#include <charconv>

namespace weft::boot {
namespace {

struct Triple {
  int node, nodes, ranks;
};

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

bool parse(std::string_view mapping, std::vector<Triple>& triples) {
  Scanner scanner(mapping);
  if (!scanner.take("(vector")) return false;
  while (scanner.take(",(")) {
    Triple t;
    if (!scanner.number(0, t.node) || !scanner.take(",") || !scanner.number(1, t.nodes) || !scanner.take(",") ||
        !scanner.number(1, t.ranks) || !scanner.take(")")) {
      return false;
    }
    triples.push_back(t);
  }
  return scanner.take(")") && scanner.at_end() && !triples.empty();
}

// Calls visit(rank, node) for all ranks in order.
template <class Visit>
void for_each_rank(const std::vector<Triple>& triples, int size, Visit&& visit) {
  int rank = 0;
  while (rank < size) {
    for (const Triple& t : triples) {
      for (int n = 0; n < t.nodes && rank < size; ++n) {
        for (int i = 0; i < t.ranks && rank < size; ++i) visit(rank++, int64_t{t.node} + n);
      }
    }
  }
}

}  // namespace

bool ranks_on_node_of(int rank, int size, std::string_view mapping, std::vector<int>& ranks) {
  std::vector<Triple> triples;
  if (!parse(mapping, triples)) return false;
  int64_t ours = -1;
  for_each_rank(triples, size, [&](int r, int64_t node) {
    if (r == rank) ours = node;
  });
  ranks.clear();
  for_each_rank(triples, size, [&](int r, int64_t node) {
    if (node == ours) ranks.push_back(r);
  });
  return true;
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
