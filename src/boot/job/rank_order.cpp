// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/job/rank_order.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>

#include "base/file.hpp"
#include "base/setting.hpp"

namespace weft::boot {
namespace {

constinit base::IntSetting method_setting{
    {.name = "WEFT_RANK_REORDER_METHOD",
     .help = "which process is which rank: 0: ranks are dealt to the hosts in turn, 1: as the launcher placed them, "
             "2: dealt back and forth, 3: as a file lists them",
     .level = base::SettingLevel::basic,
     .alias = "MPICH_RANK_REORDER_METHOD",
     .subject = base::Subject::start,
     .change = base::Change::before_start,
     .alike = true},
    static_cast<int>(RankOrder::smp),
    {0, rank_order_count - 1}};
WEFT_SETTING(method_setting);

constinit base::TextSetting file_setting{
    {.name = "WEFT_RANK_REORDER_FILE",
     .help = "the file that lists the ranks for WEFT_RANK_REORDER_METHOD=3, when it is not MPICH_RANK_ORDER in the "
             "working directory",
     .alias = "MPICH_RANK_REORDER_FILE",
     .subject = base::Subject::start,
     .alike = true}};
WEFT_SETTING(file_setting);

using Slots = std::vector<size_t>;

std::vector<Slots> slots_by_host(const std::vector<int>& host_of_slot) {
  std::map<int, size_t> number;
  std::vector<Slots> hosts;
  for (size_t slot = 0; slot < host_of_slot.size(); ++slot) {
    const auto [entry, is_new] = number.try_emplace(host_of_slot[slot], hosts.size());
    if (is_new) hosts.emplace_back();
    hosts[entry->second].push_back(slot);
  }
  return hosts;
}

// One rank for each host in a round, until all are full; with `fold` every other round goes backwards.
void deal(const std::vector<Slots>& hosts, bool fold, std::vector<int>& rank_of_slot) {
  int rank = 0;
  for (size_t round = 0; rank < static_cast<int>(rank_of_slot.size()); ++round) {
    for (size_t i = 0; i < hosts.size(); ++i) {
      const Slots& slots = hosts[fold && round % 2 == 1 ? hosts.size() - 1 - i : i];
      if (round < slots.size()) rank_of_slot[slots[round]] = rank++;
    }
  }
}

// Reads the items of a file one by one and remembers in which line each rank was.
class RankLister {
 public:
  explicit RankLister(int size) : size_(size), line_of_(static_cast<size_t>(size)) {}

  // A rank or a range; returns the mistake, or an empty text.
  std::string take(std::string_view item, int line) {
    unsigned first = 0;
    unsigned last = 0;
    const size_t dash = item.find('-');
    const std::string_view second = dash == std::string_view::npos ? item : item.substr(dash + 1);
    if (!read(item.substr(0, dash), first) || !read(second, last)) {
      return base::quoted(item) + " is no rank and no range of ranks such as 0-7";
    }
    const auto size = static_cast<unsigned>(size_);
    if (first >= size || last >= size) {
      return base::quoted(item) + " is out of range: the job has ranks 0 to " + std::to_string(size_ - 1);
    }
    for (unsigned rank = first;; first <= last ? ++rank : --rank) {
      int& before = line_of_[rank];
      if (before != 0) {
        return "rank " + std::to_string(rank) + " is listed twice, first in line " + std::to_string(before);
      }
      before = line;
      ranks_.push_back(static_cast<int>(rank));
      if (rank == last) return {};
    }
  }

  // The ranks that no line had, "3, 5-7"; only the first few ranges of them.
  [[nodiscard]] std::string missing() const {
    constexpr int most_shown = 5;
    std::string text;
    int shown = 0;
    for (int rank = 0; rank < size_; ++rank) {
      if (listed(rank)) continue;
      if (shown++ == most_shown) return text + " and more";
      const int from = rank;
      while (rank + 1 < size_ && !listed(rank + 1)) ++rank;
      text += (text.empty() ? "" : ", ") + std::to_string(from);
      if (rank > from) text += "-" + std::to_string(rank);
    }
    return text;
  }

  [[nodiscard]] std::vector<int>& ranks() { return ranks_; }

 private:
  [[nodiscard]] bool listed(int rank) const { return line_of_[static_cast<size_t>(rank)] != 0; }

  // A number too large for `value` is read as the largest there is.
  static bool read(std::string_view digits, unsigned& value) {
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error == std::errc::result_out_of_range) value = UINT32_MAX;
    return error != std::errc::invalid_argument && stop == end;
  }

  int size_;
  std::vector<int> line_of_;  // by rank; lines count from 1, 0: not listed yet
  std::vector<int> ranks_;
};

bool separates(char c) {
  return c == ',' || c == ' ' || (c >= '\t' && c <= '\r');
}

constexpr size_t most_text = 64 << 20;  // several times the needs of 2^20 ranks

}  // namespace

RankOrder wanted_rank_order() {
  return static_cast<RankOrder>(method_setting.value());
}

std::string rank_order_file() {
  return *file_setting.value() != 0 ? file_setting.value() : "MPICH_RANK_ORDER";
}

void tell_of_unused_order_file() {
  if (*file_setting.value() == '\0' || file_setting.by_alias() || wanted_rank_order() == RankOrder::file) return;
  const std::string method = method_setting.variable();
  base::warn_for_job("WEFT_RANK_REORDER_FILE",
                     {.cause = "WEFT_RANK_REORDER_FILE has no effect: " + method + " is " + method_setting.shown(),
                      .remedy = "set " + method + "=3, or unset WEFT_RANK_REORDER_FILE"});
}

bool reorder(RankOrder method, const std::vector<int>& host_of_slot, std::vector<int>& rank_of_slot,
             base::Problem& problem) {
  const size_t size = host_of_slot.size();
  std::vector<int> listed;
  if (method == RankOrder::file && !read_rank_order(rank_order_file(), static_cast<int>(size), listed, problem)) {
    return false;
  }
  rank_of_slot.assign(size, 0);
  switch (method) {
    case RankOrder::smp:
      for (size_t slot = 0; slot < size; ++slot) rank_of_slot[slot] = static_cast<int>(slot);
      break;
    case RankOrder::file: {
      size_t next = 0;
      for (const Slots& slots : slots_by_host(host_of_slot)) {
        for (const size_t slot : slots) rank_of_slot[slot] = listed[next++];
      }
      break;
    }
    default:
      deal(slots_by_host(host_of_slot), method == RankOrder::folded, rank_of_slot);
  }
  return true;
}

bool parse_rank_order(std::string_view text, const std::string& name, int size, std::vector<int>& ranks,
                      base::Problem& problem) {
  const auto refuse = [&](const std::string& where, const std::string& wrong) {
    problem = {.cause = "the rank order file " + base::quoted(name) + where + " cannot be used: " + wrong,
               .remedy = "list each of the job's " + std::to_string(size) +
                         " ranks once, with commas or white space between them; \"weft order\" writes such files"};
    return false;
  };
  RankLister lister(size);
  int line = 1;
  for (size_t at = 0; at < text.size();) {
    if (separates(text[at])) {
      if (text[at++] == '\n') ++line;
    } else if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else {
      size_t end = at + 1;
      while (end < text.size() && !separates(text[end]) && text[end] != '#') ++end;
      const std::string wrong = lister.take(text.substr(at, end - at), line);
      if (!wrong.empty()) return refuse(", line " + std::to_string(line) + ",", wrong);
      at = end;
    }
  }
  const size_t count = lister.ranks().size();
  if (count != static_cast<size_t>(size)) {
    return refuse("", "it lists " + std::to_string(count) + " of the job's " + std::to_string(size) +
                          " ranks; missing: " + lister.missing());
  }
  ranks = std::move(lister.ranks());
  return true;
}

bool read_rank_order(const std::string& path, int size, std::vector<int>& ranks, base::Problem& problem) {
  std::string text;
  if (const int error = base::read_file(path, text, most_text)) {
    problem = {.cause = "the rank order file " + base::quoted(path) + " cannot be read",
               .error = error,
               .remedy = std::string("write it with \"weft order\", name another with ") + file_setting.variable() +
                         ", or choose an order without a file with " + method_setting.variable()};
    return false;
  }
  return parse_rank_order(text, path, size, ranks, problem);
}

}  // namespace weft::boot
