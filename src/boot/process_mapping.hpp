// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// "PMI_process_mapping", which PMI-1 and PMI-2 servers publish: where they have put the ranks. "(vector,(0,2,8))": from
// node 0 on, 2 nodes with 8 ranks each; with more triples after it, and from the start again while ranks are left.

#include <string_view>
#include <vector>

namespace weft::boot {

// The ranks of a job of `size` that share the node of `rank`, in order. False: the text is no such mapping.
[[nodiscard]] bool ranks_on_node_of(int rank, int size, std::string_view mapping, std::vector<int>& ranks);

// The ranks of a list such as "0,1,5-7", as PMIx tells those of a node; in order, `rank` among them. False: it is no
// such list of ranks of a job of `size`.
[[nodiscard]] bool ranks_of_list(int rank, int size, std::string_view list, std::vector<int>& ranks);

}  // namespace weft::boot
