// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/partition.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <span>

#ifdef WEFT_WITH_METIS
#include <metis.h>
#endif

namespace weft::tool {
namespace {

// A part of the traffic, with ranks numbered from 0 in the order of a list.
struct Piece {
  std::vector<int32_t> first;
  std::vector<int32_t> to;
  std::vector<int64_t> bytes;

  [[nodiscard]] size_t size() const { return first.size() - 1; }
};

using Side = std::vector<uint8_t>;  // 0 or 1 for each of a piece

#ifdef WEFT_WITH_METIS

// METIS counts in 32 bits: bytes are scaled so that their sum fits, and none becomes 0.
std::vector<idx_t> scaled(const std::vector<int64_t>& bytes) {
  const auto add = [](double sum, int64_t b) { return sum + static_cast<double>(b); };
  const double sum = std::accumulate(bytes.begin(), bytes.end(), 0.0, add);
  const double scale = std::min(1.0, (1 << 30) / sum);
  std::vector<idx_t> weights(bytes.size());
  std::transform(bytes.begin(), bytes.end(), weights.begin(),
                 [scale](int64_t b) { return 1 + static_cast<idx_t>(static_cast<double>(b) * scale); });
  return weights;
}

bool cut(Piece& piece, double wanted, int32_t tries, Side& side) {
  std::vector<idx_t> weights = scaled(piece.bytes);
  auto vertices = static_cast<idx_t>(piece.size());
  idx_t constraints = 1;
  idx_t parts = 2;
  idx_t crossing = 0;
  const auto share = static_cast<float>(wanted);
  float shares[2] = {share, 1 - share};
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_UFACTOR] = 1;
  options[METIS_OPTION_NCUTS] = tries;
  std::vector<idx_t> found(piece.size());
  if (METIS_PartGraphRecursive(&vertices, &constraints, piece.first.data(), piece.to.data(), nullptr, nullptr,
                               weights.data(), &parts, shares, nullptr, options, &crossing, found.data()) != METIS_OK) {
    return false;
  }
  std::transform(found.begin(), found.end(), side.begin(), [](idx_t part) { return part == 0 ? 0 : 1; });
  return true;
}

#else

bool cut(Piece& /*piece*/, double /*wanted*/, int32_t /*tries*/, Side& /*side*/) {
  return false;
}

#endif

// Moves single ranks between the sides of a piece. A rank's gain is the bytes that its move takes off the cut.
class Mover {
 public:
  Mover(const Piece& piece, Side& side) : piece_(piece), side_(side), gain_(side.size()) {
    for (size_t v = 0; v < side.size(); ++v) {
      each_link(v, [&](size_t other, int64_t bytes) { gain_[v] += side_[other] != side_[v] ? bytes : -bytes; });
    }
  }

  // Until side 0 has `count`.
  void balance(size_t count) {
    const auto have = static_cast<size_t>(std::count(side_.begin(), side_.end(), 0));
    const uint8_t from = have > count ? 0 : 1;
    for (size_t v = 0; v < side_.size() && have != count; ++v) push(v, from);
    for (size_t left = have > count ? have - count : count - have; left > 0; --left) move(best(from), from);
  }

 private:
  template <typename Visit>
  void each_link(size_t v, const Visit& visit) const {
    for (auto i = static_cast<size_t>(piece_.first[v]); i < static_cast<size_t>(piece_.first[v + 1]); ++i) {
      visit(static_cast<size_t>(piece_.to[i]), piece_.bytes[i]);
    }
  }

  void push(size_t v, uint8_t from) {
    if (side_[v] == from) queue_.emplace(gain_[v], -static_cast<int64_t>(v));
  }

  // The rank of the side with the largest gain; entries whose gain has changed since are stale.
  size_t best(uint8_t from) {
    for (;;) {
      const auto [gain, number] = queue_.top();
      queue_.pop();
      const auto v = static_cast<size_t>(-number);
      if (side_[v] == from && gain_[v] == gain) return v;
    }
  }

  void move(size_t v, uint8_t from) {
    side_[v] ^= 1;
    gain_[v] = -gain_[v];
    each_link(v, [&](size_t other, int64_t bytes) {
      gain_[other] += side_[other] != side_[v] ? 2 * bytes : -2 * bytes;
      push(other, from);
    });
  }

  const Piece& piece_;
  Side& side_;
  std::vector<int64_t> gain_;
  std::priority_queue<std::pair<int64_t, int64_t>> queue_;  // gain, and minus the number: the first of equals
};

// The vertices of a piece that are linked with each other, the largest set first.
std::vector<std::vector<int32_t>> components_of(const Piece& piece) {
  std::vector<std::vector<int32_t>> all;
  std::vector<bool> seen(piece.size());
  for (size_t v = 0; v < piece.size(); ++v) {
    if (seen[v]) continue;
    seen[v] = true;
    std::vector<int32_t> one = {static_cast<int32_t>(v)};
    for (size_t next = 0; next < one.size(); ++next) {
      const auto from = static_cast<size_t>(one[next]);
      for (auto i = static_cast<size_t>(piece.first[from]); i < static_cast<size_t>(piece.first[from + 1]); ++i) {
        const int32_t other = piece.to[i];
        if (seen[static_cast<size_t>(other)]) continue;
        seen[static_cast<size_t>(other)] = true;
        one.push_back(other);
      }
    }
    std::sort(one.begin(), one.end());
    all.push_back(std::move(one));
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return all;
}

class Divider {
 public:
  Divider(const Traffic& traffic, const std::vector<int32_t>& sizes)
      : traffic_(traffic), sizes_(sizes), number_(static_cast<size_t>(traffic.ranks), -1) {}

  // Divides these ranks among parts `from` to `to` - 1.
  bool divide(std::span<int32_t> ranks, size_t from, size_t to) {
    std::sort(ranks.begin(), ranks.end());
    if (to - from <= 1) return true;
    const size_t middle = from + (to - from) / 2;
    const auto count =
        static_cast<size_t>(std::accumulate(sizes_.begin() + static_cast<std::ptrdiff_t>(from),
                                            sizes_.begin() + static_cast<std::ptrdiff_t>(middle), int64_t{0}));
    if (!halve(ranks, count)) return false;
    return divide(ranks.first(count), from, middle) && divide(ranks.subspan(count), middle, to);
  }

 private:
  // Puts the ranks of the first half first.
  bool halve(std::span<int32_t> ranks, size_t count) {
    Piece piece = piece_of(ranks);
    if (piece.to.empty()) return true;  // one is as good as the other
    Side side(ranks.size());
    if (!place_components(piece, count, side)) return false;
    Mover(piece, side).balance(count);
    std::vector<int32_t> halves[2];
    for (size_t v = 0; v < ranks.size(); ++v) halves[side[v]].push_back(ranks[v]);
    std::copy(halves[1].begin(), halves[1].end(), std::copy(halves[0].begin(), halves[0].end(), ranks.begin()));
    return true;
  }

  // METIS finds good parts of graphs of few components, but its time grows with their number times that of the ranks:
  // 700 000 ranks of which two talk took it 15 s. If there are many components, those that fit are not cut, and
  // METIS gets the others one at a time.
  bool place_components(const Piece& piece, size_t count, Side& side) const {
    size_t room[2] = {count, piece.size() - count};
    std::vector<std::vector<int32_t>> components = components_of(piece);
    constexpr size_t most_work = 1 << 24;
    if (components.size() < most_work / piece.size()) {
      components.resize(1);
      components[0].resize(piece.size());
      std::iota(components[0].begin(), components[0].end(), 0);
    }
    for (const std::vector<int32_t>& component : components) {
      const size_t size = component.size();
      if (size <= room[0] || size <= room[1]) {
        const uint8_t to = size <= room[0] ? 0 : 1;
        for (const int32_t v : component) side[static_cast<size_t>(v)] = to;
        room[to] -= size;
        continue;
      }
      // More tries would not make large jobs much better: 100 000 ranks take some seconds.
      const int32_t tries = std::clamp(200'000 / traffic_.ranks, 1, 8);
      const double share = static_cast<double>(room[0]) / static_cast<double>(room[0] + room[1]);
      Piece part = size == piece.size() ? piece : part_of(piece, component);
      Side sides(size);
      if (!cut(part, share, tries, sides)) return false;
      for (size_t i = 0; i < size; ++i) {
        side[static_cast<size_t>(component[i])] = sides[i];
        room[sides[i]] -= std::min<size_t>(room[sides[i]], 1);
      }
    }
    return true;
  }

  static Piece part_of(const Piece& whole, const std::vector<int32_t>& component) {
    Piece part;
    part.first.push_back(0);
    for (const int32_t v : component) {
      for (auto i = static_cast<size_t>(whole.first[static_cast<size_t>(v)]);
           i < static_cast<size_t>(whole.first[static_cast<size_t>(v) + 1]); ++i) {
        const auto at = std::lower_bound(component.begin(), component.end(), whole.to[i]);
        part.to.push_back(static_cast<int32_t>(at - component.begin()));
        part.bytes.push_back(whole.bytes[i]);
      }
      part.first.push_back(static_cast<int32_t>(part.to.size()));
    }
    return part;
  }

  Piece piece_of(std::span<const int32_t> ranks) {
    for (size_t v = 0; v < ranks.size(); ++v) number_[static_cast<size_t>(ranks[v])] = static_cast<int32_t>(v);
    Piece piece;
    piece.first.push_back(0);
    for (const int32_t rank : ranks) {
      for (const Link& link : traffic_.of(rank)) {
        const int32_t other = number_[static_cast<size_t>(link.to)];
        if (other < 0) continue;
        piece.to.push_back(other);
        piece.bytes.push_back(link.bytes);
      }
      piece.first.push_back(static_cast<int32_t>(piece.to.size()));
    }
    for (const int32_t rank : ranks) number_[static_cast<size_t>(rank)] = -1;
    return piece;
  }

  const Traffic& traffic_;
  const std::vector<int32_t>& sizes_;
  std::vector<int32_t> number_;  // of a rank in the piece; -1: it is not in it
};

}  // namespace

bool can_partition() {
#ifdef WEFT_WITH_METIS
  return true;
#else
  return false;
#endif
}

std::vector<int32_t> partition(const Traffic& traffic, std::vector<int32_t> ranks, const std::vector<int32_t>& sizes) {
  if (sizes.size() > 1 && traffic.links.size() > INT32_MAX / 2) return {};
  if (!Divider(traffic, sizes).divide(ranks, 0, sizes.size())) return {};
  return ranks;
}

}  // namespace weft::tool
