// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"
#include "mpi/topo/topology.hpp"

namespace weft::mpi {
namespace {

std::vector<int32_t> divisors_of(int32_t number) {
  std::vector<int32_t> low;
  std::vector<int32_t> high;
  for (int64_t d = 1; d * d <= number; ++d) {
    if (number % d != 0) continue;
    low.push_back(static_cast<int32_t>(d));
    if (d * d != number) high.push_back(static_cast<int32_t>(number / d));
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

// Whether base^exponent is more than `bound`.
bool power_exceeds(int64_t base, int32_t exponent, int64_t bound) {
  if (base == 1) return bound < 1;
  int64_t power = 1;
  for (int32_t i = 0; i < exponent; ++i) {
    power *= base;
    if (power > bound) return true;
  }
  return false;
}

struct Ends {
  int32_t smallest;
  int32_t largest;
};

// Finds the factors with the least surface among those in a window of sizes. All numbers up to 2^31 have at most 1536
// divisors, of which few lie in a window worth looking at, so that trying all is fast.
class Search {
 public:
  Search(const std::vector<int32_t>& divisors, int32_t number, const Ends& ends)
      : divisors_(divisors), number_(number), smallest_(ends.smallest), now_{ends.largest} {}

  // `count` factors, the largest first; the ends are among them. Empty when there are none.
  std::vector<int32_t> run(int32_t count) {
    const int32_t largest = now_.front();
    split(number_ / largest / smallest_, count - 2, largest, int64_t{number_ / largest} + number_ / smallest_);
    return best_;
  }

 private:
  // `count` factors of `rest`, none larger than `largest`, behind those chosen, which have this surface.
  void split(int32_t rest, int32_t count, int32_t largest, int64_t surface) {
    if (rest == 1) {
      if (count == 0 || smallest_ == 1) keep(count, surface + int64_t{count} * number_);
      return;
    }
    if (count == 0 || power_exceeds(smallest_, count, rest)) return;
    for (auto at = std::upper_bound(divisors_.begin(), divisors_.end(), largest); at != divisors_.begin();) {
      const int32_t factor = *--at;
      if (factor < smallest_ || !power_exceeds(factor, count, int64_t{rest} - 1)) break;  // smaller ones neither
      if (rest % factor != 0) continue;
      now_.push_back(factor);
      split(rest / factor, count - 1, factor, surface + number_ / factor);
      now_.pop_back();
    }
  }

  void keep(int32_t ones, int64_t surface) {
    if (!best_.empty() && surface >= least_) return;
    least_ = surface;
    best_ = now_;
    best_.insert(best_.end(), static_cast<size_t>(ones), 1);
    best_.push_back(smallest_);
  }

  const std::vector<int32_t>& divisors_;
  int32_t number_;
  int32_t smallest_;
  std::vector<int32_t> now_;
  std::vector<int32_t> best_;
  int64_t least_ = 0;
};

// All smallest and largest factors there could be, the closest first.
std::vector<Ends> candidates(const std::vector<int32_t>& divisors, int32_t number, int32_t count) {
  std::vector<Ends> all;
  for (int32_t smallest : divisors) {
    if (power_exceeds(smallest, count, number)) break;
    for (auto at = std::lower_bound(divisors.begin(), divisors.end(), smallest); at != divisors.end(); ++at) {
      if (number / smallest % *at != 0 || !power_exceeds(*at, count, int64_t{number} - 1)) continue;
      all.push_back({smallest, *at});
    }
  }
  std::sort(all.begin(), all.end(), [](const Ends& a, const Ends& b) {
    const int32_t across_a = a.largest - a.smallest;
    const int32_t across_b = b.largest - b.smallest;
    return across_a != across_b ? across_a < across_b : a.largest > b.largest;
  });
  return all;
}

}  // namespace

std::vector<int32_t> balanced_factors(int32_t number, int32_t count) {
  if (count == 1) return {number};
  constexpr int32_t most_primes = 30;  // of a number below 2^31: dimensions beyond that are 1
  const int32_t several = std::min(count, most_primes + 1);
  const std::vector<int32_t> divisors = divisors_of(number);
  std::vector<int32_t> factors;
  for (const Ends& ends : candidates(divisors, number, several)) {
    factors = Search(divisors, number, ends).run(several);
    if (!factors.empty()) break;
  }
  factors.resize(static_cast<size_t>(count), 1);
  return factors;
}

int dims_create(int nnodes, int ndims, int dims[]) {
  static const char* function = "MPI_Dims_create";
  if (nnodes < 1) return fail(nullptr, function, MPI_ERR_ARG, "nnodes is %d: it must be positive", nnodes);
  if (ndims < 0) return negative(nullptr, function, MPI_ERR_DIMS, "ndims", ndims);
  if (ndims == 0) return MPI_SUCCESS;
  if (no_address(dims)) return null_argument(nullptr, function, "dims");
  int64_t given = 1;
  int32_t open = 0;
  for (int d = 0; d < ndims; ++d) {
    if (dims[d] < 0) {
      return fail(nullptr, function, MPI_ERR_DIMS, "dims[%d] is %d: give 0 for a dimension to be found", d, dims[d]);
    }
    if (dims[d] == 0) {
      ++open;
    } else if (given <= nnodes) {
      given *= dims[d];
    }
  }
  if (nnodes % given != 0) {
    return fail(nullptr, function, MPI_ERR_DIMS, "%d nodes are no multiple of the product of the given dimensions",
                nnodes);
  }
  if (open == 0) return MPI_SUCCESS;
  const std::vector<int32_t> factors = balanced_factors(static_cast<int32_t>(nnodes / given), open);
  size_t next = 0;
  for (int d = 0; d < ndims; ++d) {
    if (dims[d] == 0) dims[d] = factors[next++];
  }
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
