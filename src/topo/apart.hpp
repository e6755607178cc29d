// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Files are parsed in a child process: hwloc crashes on some that are damaged.

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
  friend std::string find_apart(const std::function<void(Facts&)>& find, Facts& facts);

  std::vector<int64_t> numbers_;
  size_t next_ = 0;
};

// Calls `find` in a child process. Not empty: how the child ended before it was done ("Segmentation fault"), and there
// are no facts.
[[nodiscard]] std::string find_apart(const std::function<void(Facts&)>& find, Facts& facts);

}  // namespace weft::topo
