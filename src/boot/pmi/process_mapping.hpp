// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// "PMI_process_mapping", which PMI-1 and PMI-2 servers publish: where they have put the ranks. "(vector,(0,2,8))": from
// node 0 on, 2 nodes with 8 ranks each; with more triples after it, and from the start again while ranks are left.

#include <cstdint>
#include <string_view>
#include <vector>

namespace weft::boot {

// The mapping of a job. Its size is that of the text, for any number of ranks.
class ProcessMapping {
 public:
  // For a job of `size` ranks. False: the text is no such mapping, and nothing is known.
  [[nodiscard]] bool parse(std::string_view text, int size);
  [[nodiscard]] bool known() const { return !blocks_.empty(); }

  [[nodiscard]] int64_t node_of(int rank) const;
  // In order.
  [[nodiscard]] std::vector<int> ranks_on(int64_t node) const;

 private:
  struct NodeBlock {
    int64_t node, nodes, ranks;
    int64_t first;  // rank, counted from the start of a turn
  };
  std::vector<NodeBlock> blocks_;
  int64_t turn_ = 0;  // ranks until it begins again
  int64_t size_ = 0;
};

// The ranks of a list such as "0,1,5-7", as PMIx tells those of a node; in order, `rank` among them. False: it is no
// such list of ranks of a job of `size`.
[[nodiscard]] bool ranks_of_list(int rank, int size, std::string_view list, std::vector<int>& ranks);

}  // namespace weft::boot
