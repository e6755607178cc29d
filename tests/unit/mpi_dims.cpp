// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Dims_create's factors against all factorisations there are, and how long large numbers take.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <tuple>

#include "mpi/topo/topology.hpp"

namespace weft::mpi {
namespace {

using Factors = std::vector<int32_t>;

int64_t product(const Factors& factors) {
  return std::accumulate(factors.begin(), factors.end(), int64_t{1}, std::multiplies<>());
}

// The best by trying all: least difference, then the larger ones, then least surface.
int64_t surface(const Factors& factors) {
  int64_t sum = 0;
  for (int32_t factor : factors) sum += product(factors) / factor;
  return sum;
}

void try_all(int32_t rest, int32_t count, int32_t largest, Factors& now, Factors& best) {
  if (count == 0) {
    if (rest != 1) return;
    auto across = [](const Factors& f) { return f.front() - f.back(); };
    auto key = [&](const Factors& f) { return std::tuple(across(f), -f.front(), surface(f)); };
    if (best.empty() || key(now) < key(best)) best = now;
    return;
  }
  for (int32_t d = 1; d <= std::min(rest, largest); ++d) {
    if (rest % d != 0) continue;
    now.push_back(d);
    try_all(rest / d, count - 1, d, now, best);
    now.pop_back();
  }
}

TEST(BalancedFactors, AreTheBestThereAre) {
  for (int32_t number = 1; number <= 400; ++number) {
    for (int32_t count = 1; count <= 5; ++count) {
      Factors now;
      Factors best;
      try_all(number, count, number, now, best);
      const Factors got = balanced_factors(number, count);
      EXPECT_EQ(product(got), number);
      EXPECT_EQ(got.front(), best.front()) << number << " in " << count;
      EXPECT_EQ(got.back(), best.back()) << number << " in " << count;
      EXPECT_EQ(surface(got), surface(best)) << number << " in " << count;
    }
  }
}

// Where taking the largest prime factors first, or the factor nearest the root first, goes wrong.
TEST(BalancedFactors, AreNotGreedy) {
  EXPECT_EQ(balanced_factors(36, 2), (Factors{6, 6}));
  EXPECT_EQ(balanced_factors(144, 2), (Factors{12, 12}));
  EXPECT_EQ(balanced_factors(16, 3), (Factors{4, 2, 2}));
  EXPECT_EQ(balanced_factors(108, 3), (Factors{6, 6, 3}));
  EXPECT_EQ(balanced_factors(1800, 3), (Factors{15, 12, 10}));
  EXPECT_EQ(balanced_factors(5040, 3), (Factors{21, 16, 15}));  // and not 20, 18, 14
  EXPECT_EQ(balanced_factors(590520, 4), (Factors{38, 37, 21, 20}));
  EXPECT_EQ(balanced_factors(1000000000, 3), (Factors{1000, 1000, 1000}));
  EXPECT_EQ(balanced_factors(7, 3), (Factors{7, 1, 1}));
  EXPECT_EQ(balanced_factors(1, 4), (Factors{1, 1, 1, 1}));
}

TEST(BalancedFactors, OfAnyNumberAreThereAtOnce) {
  // Primes, powers, products of many primes, the numbers below 2^31 with the most divisors.
  const int32_t numbers[] = {2147483647, 1 << 30,    1162261467, 223092870,  2095133040, 1396755360, 2144142000,
                             2147483646, 2147395600, 1073741789, 2147117569, 1536,       2147483640, 2109289329};
  for (int32_t number : numbers) {
    for (int32_t count = 1; count <= 40; ++count) {
      const clock_t start = clock();  // of the processor: others may use the machine
      const Factors factors = balanced_factors(number, count);
      const double took = static_cast<double>(clock() - start) / CLOCKS_PER_SEC;
      EXPECT_EQ(product(factors), number);
      EXPECT_EQ(factors.size(), static_cast<size_t>(count));
      EXPECT_TRUE(std::is_sorted(factors.rbegin(), factors.rend()));
      EXPECT_LT(took, 2.0) << number << " in " << count;
    }
  }
}

TEST(BalancedFactors, OfThousandsAreMostlyOnes) {
  const Factors factors = balanced_factors(6, 5000);
  EXPECT_EQ(factors.size(), 5000u);
  EXPECT_EQ(factors[0], 3);
  EXPECT_EQ(factors[1], 2);
  EXPECT_EQ(product(factors), 6);
}

}  // namespace
}  // namespace weft::mpi
