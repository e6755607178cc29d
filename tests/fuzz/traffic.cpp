// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/traffic.hpp"

#include "fuzz.hpp"
#include "weft/grid_find.hpp"
#include "weft/partition.hpp"

using namespace weft;

namespace {

void one(fuzz::Random& random, const std::string& text) {
  tool::Traffic traffic;
  base::Problem problem;
  if (!tool::parse_traffic(text, "stats.json", traffic, problem)) {
    FUZZ_CHECK(problem.cause.size() > 30 && problem.cause.size() < 500 && !problem.remedy.empty());
    return;
  }
  const auto ranks = static_cast<size_t>(traffic.ranks);
  FUZZ_CHECK(ranks > 0 && traffic.first.size() == ranks + 1);
  FUZZ_CHECK(traffic.user_seconds.empty() || traffic.user_seconds.size() == ranks);
  int64_t bytes = 0;
  for (int32_t r = 0; r < traffic.ranks; ++r) {
    for (const tool::Link& link : traffic.of(r)) {
      FUZZ_CHECK(link.to >= 0 && link.to < traffic.ranks && link.to != r && link.bytes > 0);
      FUZZ_CHECK(traffic.between(link.to, r) == link.bytes);
      bytes += link.bytes / 2;
    }
  }
  FUZZ_CHECK(bytes <= traffic.bytes);
  if (ranks > 1000) return;
  const tool::FoundGrid grid = tool::find_grid(traffic);
  int64_t size = 1;
  for (const tool::Dimension& d : grid.dimensions) size *= d.side;
  FUZZ_CHECK(grid.dimensions.empty() || size == traffic.ranks);
  if (!tool::can_partition()) return;
  std::vector<int32_t> all(ranks);
  std::vector<int32_t> sizes;
  for (size_t r = 0; r < ranks; ++r) {
    all[r] = static_cast<int32_t>(r);
    if (r == 0 || random.below(3) == 0) sizes.push_back(0);
    ++sizes.back();
  }
  std::vector<int32_t> divided = tool::partition(traffic, all, sizes);
  FUZZ_CHECK(divided.size() == ranks);
  std::vector<char> seen(ranks);
  for (const int32_t r : divided) {
    FUZZ_CHECK(seen[static_cast<size_t>(r)] == 0);
    seen[static_cast<size_t>(r)] = 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::run(
      argc, argv,
      {R"({"program": "a", "matrix": {"ranks": 4, "ranks_per_host": [2, 2], "bytes": [[0, 1, 100, 1], [1, 2, 5, 1],
  [2, 3, 100, 1]]}, "by_rank": [{"rank": 0, "seconds": 2, "mpi": 0.5}]})",
       R"({"matrix": {"bytes": [[0, 1, 100], [1, 0, 100]]}, "ranks": [{"rank": 1, "user_seconds": 1e-3},
  {"rank": 0, "user_seconds": 0}]})",
       "0 1 100\n1 2 100\n3 4 100\n4 5 100\n0 3 7\n1 4 7\n2 5 7\n", "ranks 8\n0 1 5 1 # a comment\n7,6,5\n",
       "[5, 5, 5, 5]", "{}", "9223372036854775808", "4611686018427387904", "-1", "\n", " ", ",", "#"},
      one);
}
