// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/topo/grid_order.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

namespace weft::mpi {
namespace {

using Domains = std::vector<int32_t>;  // by rank of the grid

// The grid with what is asked of it many times.
class Mesh {
 public:
  explicit Mesh(const Grid& grid) : grid_(grid), strides_(grid.dims.size()) {
    int32_t stride = 1;
    for (size_t d = grid.dims.size(); d-- > 0;) {
      strides_[d] = stride;
      stride *= grid.dims[d];
    }
    size_ = stride;
  }

  [[nodiscard]] size_t ndims() const { return strides_.size(); }
  [[nodiscard]] int32_t size() const { return size_; }
  [[nodiscard]] int32_t coordinate(int32_t cell, size_t d) const { return cell / strides_[d] % grid_.dims[d]; }

  // The neighbour in positive direction; -1: none but the cell itself.
  [[nodiscard]] int32_t next(int32_t cell, size_t d) const {
    const int32_t dim = grid_.dims[d];
    if (coordinate(cell, d) + 1 < dim) return cell + strides_[d];
    return grid_.periods[d] != 0 && dim > 1 ? cell - (dim - 1) * strides_[d] : -1;
  }

  // The place of a cell when dimension d is the one that changes slowest.
  [[nodiscard]] int64_t key(int32_t cell, size_t d) const { return int64_t{coordinate(cell, d)} * size_ + cell; }

 private:
  const Grid& grid_;
  std::vector<int32_t> strides_;
  int32_t size_;
};

int64_t count_links(const Mesh& mesh, const Domains& domains) {
  int64_t links = 0;
  for (int32_t cell = 0; cell < mesh.size(); ++cell) {
    for (size_t d = 0; d < mesh.ndims(); ++d) {
      const int32_t other = mesh.next(cell, d);
      if (other >= 0 && domains[static_cast<size_t>(cell)] != domains[static_cast<size_t>(other)]) ++links;
    }
  }
  return links;
}

// Halves the domains and the grid until each domain has its part.
class Bisection {
 public:
  Bisection(const Mesh& mesh, const std::vector<int32_t>& sizes)
      : mesh_(mesh), sizes_(sizes), domains_(static_cast<size_t>(mesh.size())), side_(domains_.size()) {}

  Domains run() {
    std::vector<int32_t> cells(domains_.size());
    std::iota(cells.begin(), cells.end(), 0);
    divide(cells, 0, static_cast<int32_t>(sizes_.size()));
    return std::move(domains_);
  }

 private:
  // Divides these cells among the domains `from` to `to` - 1.
  void divide(std::span<int32_t> cells, int32_t from, int32_t to) {
    if (to - from == 1) {
      for (int32_t cell : cells) domains_[static_cast<size_t>(cell)] = from;
      return;
    }
    const int32_t middle = from + (to - from) / 2;
    const auto first = std::accumulate(sizes_.begin() + from, sizes_.begin() + middle, size_t{0});
    size_t best = 0;
    int64_t fewest = -1;
    for (size_t d = 0; d < mesh_.ndims(); ++d) {
      cut(cells, first, d);
      const int64_t links = crossing(cells, first);
      if (fewest >= 0 && links >= fewest) continue;
      fewest = links;
      best = d;
    }
    cut(cells, first, best);
    divide(cells.first(first), from, middle);
    divide(cells.subspan(first), middle, to);
  }

  // The first cells in the direction of a dimension come first.
  void cut(std::span<int32_t> cells, size_t first, size_t d) {
    auto before = [&](int32_t a, int32_t b) { return mesh_.key(a, d) < mesh_.key(b, d); };
    std::nth_element(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(first), cells.end(), before);
  }

  // Links between the first cells and the others.
  int64_t crossing(std::span<const int32_t> cells, size_t first) {
    for (size_t i = 0; i < cells.size(); ++i) side_[static_cast<size_t>(cells[i])] = i < first ? 1 : 2;
    int64_t links = 0;
    for (int32_t cell : cells) {
      for (size_t d = 0; d < mesh_.ndims(); ++d) {
        const int32_t other = mesh_.next(cell, d);
        if (other < 0) continue;
        const int sides = side_[static_cast<size_t>(cell)] + side_[static_cast<size_t>(other)];
        if (sides == 3) ++links;
      }
    }
    for (int32_t cell : cells) side_[static_cast<size_t>(cell)] = 0;
    return links;
  }

  const Mesh& mesh_;
  const std::vector<int32_t>& sizes_;
  Domains domains_;
  std::vector<int8_t> side_;  // 1 and 2 in the part that is cut, 0 elsewhere
};

using TileSides = std::vector<int32_t>;

// Chooses the sides of a tile from dimension d on, of which `left` is the product.
void choose_sides(const Grid& grid, size_t d, int32_t left, TileSides& sides,
                  const std::function<void(const TileSides&)>& visit) {
  if (d == sides.size()) {
    if (left == 1) visit(sides);
    return;
  }
  const int32_t dim = grid.dims[d];
  for (int32_t side = 1; side <= std::min(dim, left); ++side) {
    if (dim % side != 0 || left % side != 0) continue;
    sides[d] = side;
    choose_sides(grid, d + 1, left / side, sides, visit);
  }
}

int64_t links_between_tiles(const Grid& grid, const Mesh& mesh, const TileSides& sides) {
  int64_t links = 0;
  for (size_t d = 0; d < sides.size(); ++d) {
    const int32_t tiles = grid.dims[d] / sides[d];
    const int32_t planes = tiles - 1 + (tiles > 1 && grid.periods[d] != 0 ? 1 : 0);
    links += int64_t{planes} * (mesh.size() / grid.dims[d]);
  }
  return links;
}

// In tiles of `size` cells, of the shape that leaves the fewest links between them. Empty when no such tile fits.
Domains tile(const Grid& grid, const Mesh& mesh, int32_t size) {
  TileSides best;
  int64_t fewest = 0;
  each_tile(grid, size, [&](const TileSides& sides) {
    const int64_t links = links_between_tiles(grid, mesh, sides);
    if (!best.empty() && links >= fewest) return;
    fewest = links;
    best = sides;
  });
  if (best.empty()) return {};
  Domains domains(static_cast<size_t>(mesh.size()));
  for (int32_t cell = 0; cell < mesh.size(); ++cell) {
    int32_t number = 0;
    for (size_t d = 0; d < best.size(); ++d) {
      number = number * (grid.dims[d] / best[d]) + mesh.coordinate(cell, d) / best[d];
    }
    domains[static_cast<size_t>(cell)] = number;
  }
  return domains;
}

// Process r of the domains' processes in rising order, and cell c of the domains' cells in rising order, go together.
std::vector<int32_t> match(const Domains& of_process, const Domains& of_cell) {
  std::map<int32_t, std::vector<int32_t>> waiting;
  for (size_t r = of_process.size(); r-- > 0;) waiting[of_process[r]].push_back(static_cast<int32_t>(r));
  std::vector<int32_t> members;
  members.reserve(of_cell.size());
  for (int32_t domain : of_cell) {
    std::vector<int32_t>& processes = waiting[domain];
    members.push_back(processes.back());
    processes.pop_back();
  }
  return members;
}

}  // namespace

int64_t links_between_domains(const Grid& grid, const std::vector<int32_t>& domains) {
  return count_links(Mesh(grid), domains);
}

void each_tile(const Grid& grid, int32_t size, const std::function<void(const std::vector<int32_t>& sides)>& visit) {
  TileSides sides(grid.dims.size());
  choose_sides(grid, 0, size, sides, visit);
}

std::vector<int32_t> order_for_domains(const Grid& grid, const std::vector<int32_t>& domains) {
  const Mesh mesh(grid);
  // Domains are numbered anew, in their order: near ones stay together when they are halved.
  std::map<int32_t, int32_t> count;
  for (int32_t domain : domains) ++count[domain];
  if (count.size() < 2) return {};
  std::vector<int32_t> sizes;
  std::map<int32_t, int32_t> number;
  for (const auto& [domain, processes] : count) {
    number[domain] = static_cast<int32_t>(sizes.size());
    sizes.push_back(processes);
  }
  Domains of_process;
  of_process.reserve(domains.size());
  for (int32_t domain : domains) of_process.push_back(number[domain]);

  int64_t fewest = count_links(mesh, of_process);
  Domains best;
  auto consider = [&](Domains candidate) {
    if (candidate.empty()) return;
    const int64_t links = count_links(mesh, candidate);
    if (links >= fewest) return;
    fewest = links;
    best = std::move(candidate);
  };
  if (std::all_of(sizes.begin(), sizes.end(), [&](int32_t size) { return size == sizes[0]; })) {
    consider(tile(grid, mesh, sizes[0]));
  }
  consider(Bisection(mesh, sizes).run());
  return best.empty() ? std::vector<int32_t>{} : match(of_process, best);
}

}  // namespace weft::mpi
