// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/job/rank_order.hpp"

#include <algorithm>

#include "fuzz.hpp"

using namespace weft;

namespace {

// Each of the ranks once?
bool complete(std::vector<int> ranks, size_t size) {
  std::sort(ranks.begin(), ranks.end());
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] != static_cast<int>(i)) return false;
  }
  return ranks.size() == size;
}

void one(fuzz::Random& random, const std::string& text) {
  const size_t size = 1 + random.below(12);
  std::vector<int> ranks;
  base::Problem problem;
  if (boot::parse_rank_order(text, "order", static_cast<int>(size), ranks, problem)) {
    FUZZ_CHECK(complete(ranks, size));
  } else {
    FUZZ_CHECK(ranks.empty());
    FUZZ_CHECK(problem.cause.size() > 40 && problem.cause.size() < 300 && !problem.remedy.empty());
  }
  std::vector<int> hosts(size);
  for (int& host : hosts) host = static_cast<int>(random.below(5)) - 2;
  for (const auto method : {boot::RankOrder::round_robin, boot::RankOrder::smp, boot::RankOrder::folded}) {
    FUZZ_CHECK(boot::reorder(method, hosts, ranks, problem) && complete(ranks, size));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::run(argc, argv,
                   {"0,1,2,3\n", "0-7", "7-0", "3 2\n1,0", "# weft order\n0,2\n1,3\n", "0", "0-3,4-6\n7\n",
                    "4294967295", "#", "-", ",", "\n", "0-", "-0", ""},
                   one);
}
