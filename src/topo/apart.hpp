// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Files and descriptions are parsed in a child process: hwloc crashes on some that are damaged, and takes hours for
// some that are huge.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weft::topo {

// The facts that a child found, as numbers that the parent takes one after the other.
class Facts {
 public:
  void put(int64_t number) { numbers_.push_back(number); }
  void put_list(const std::vector<int>& list);

  // 0, or an empty list, when there are no more.
  int64_t take() { return next_ < numbers_.size() ? numbers_[next_++] : 0; }
  std::vector<int> take_list();
  [[nodiscard]] bool is_at_end() const { return next_ == numbers_.size(); }

 private:
  friend std::string find_apart(const std::function<void(Facts&)>& find, Facts& facts, unsigned seconds);

  std::vector<int64_t> numbers_;
  size_t next_ = 0;
};

// Calls `find` in a child process, which gets so many seconds. Not empty: the child failed, as the text says ("hwloc
// crashed (Segmentation fault)"), and there are no facts.
inline constexpr unsigned seconds_apart = 60;
[[nodiscard]] std::string find_apart(const std::function<void(Facts&)>& find, Facts& facts,
                                     unsigned seconds = seconds_apart);

}  // namespace weft::topo
