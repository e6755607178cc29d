// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which rank each process of a job gets (docs/guide/rank-order.md). The launcher has given the processes places on
// hosts, the slots 0, 1, ...; a method says which rank each slot gets. Every process computes the same from the same
// hosts.
//
//   round_robin  ranks are dealt to the hosts in turn, one each; a host that is full is passed over
//   smp          as the launcher placed them: slot i gets rank i
//   folded       as round_robin, but back and forth: hosts 0 1 2 2 1 0 0 1 2 ...
//   file         ranks as a file lists them, for the slots host by host
//
// Hosts come in the order of their first slots, the slots of a host in rising order.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/message.hpp"

namespace weft::boot {

// The values of WEFT_RANK_REORDER_METHOD.
enum class RankOrder : uint8_t { round_robin, smp, folded, file };
inline constexpr int rank_order_count = 4;

// The settings: the method, and the file it may need.
[[nodiscard]] RankOrder wanted_rank_order();
[[nodiscard]] std::string rank_order_file();

// One rank tells that WEFT_RANK_REORDER_FILE is set and the method needs none.
void tell_of_unused_order_file();

// The rank of each slot by WEFT_RANK_REORDER_METHOD `method`, given each slot's host as any number. False when the file
// cannot be used: then `problem` says why.
[[nodiscard]] bool reorder(RankOrder method, const std::vector<int>& host_of_slot, std::vector<int>& rank_of_slot,
                           base::Problem& problem);

// Reads ranks 0 to size - 1, each once, from the text of a rank order file: ranks and ranges such as 0-7 or 7-0,
// separated by commas and white space; comments from # to the end of the line. `name` is the file's in messages.
[[nodiscard]] bool parse_rank_order(std::string_view text, const std::string& name, int size, std::vector<int>& ranks,
                                    base::Problem& problem);
[[nodiscard]] bool read_rank_order(const std::string& path, int size, std::vector<int>& ranks, base::Problem& problem);

}  // namespace weft::boot
