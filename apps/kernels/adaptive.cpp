// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// Heat on a plate by Jacobi steps on a grid that adapts: blocks of 16 x 16 cells of three sizes, the finest as small as
// on a grid of -n x -n cells, where the temperature is steep. Neighbours differ by one level. All ranks know the
// blocks; each has a share of them. A ghost is a weighted sum of cells, and those of other ranks come by MPI_Alltoallv,
// by lists that are made when the grid adapts. -s is the number of steps.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

#include "../common/picture.hpp"
#include "kernel.hpp"

namespace {

constexpr int side = 16, cells = side * side, finest = 2;

struct Block {
  int level, i, j;  // i along x, in blocks of the level
  bool operator<(const Block& other) const { return std::tie(level, j, i) < std::tie(other.level, other.j, other.i); }
};

// A ghost: the sum of weights times cells. A cell is its block's number in the grid times `cells` and its place.
struct Term {
  int64_t cell;
  double weight;
};

class Grid {
 public:
  Grid(kernels::Kernel& kernel, double heat)
      : kernel_(kernel), heat_(heat), across_(static_cast<int>(kernel.n >> finest) / side) {
    std::vector<Block> coarse;
    for (int j = 0; j < across_; ++j) {
      for (int i = 0; i < across_; ++i) coarse.push_back({0, i, j});
    }
    set_blocks(coarse);
    // The start is known everywhere: refine by it until nothing changes.
    for (int turn = 0; turn <= finest; ++turn) {
      fill(0);
      adapt();
    }
    fill(0);
  }

  [[nodiscard]] double spacing(int level) const { return 1.0 / (across_ * side << level); }
  [[nodiscard]] std::size_t count() const { return blocks_.size(); }

  // The solution: a Gaussian that spreads. Its tail at the walls is below rounding.
  [[nodiscard]] double exact(double x, double y, double time) const {
    const double wide = heat_ + 4 * time, dx = x - 0.4, dy = y - 0.45;
    return heat_ / wide * std::exp(-(dx * dx + dy * dy) / wide);
  }

  void step(double dt) {
    exchange();
    std::vector<double> next(own_.size());
    std::size_t ghost = 0;
    for (int b = first_; b < last_; ++b) {
      const double ratio = dt / (spacing(blocks_[b].level) * spacing(blocks_[b].level));
      const double* u = &own_[static_cast<std::size_t>(b - first_) * cells];
      // Ghosts of a block: left, right, below, above.
      std::array<std::array<double, side>, 4> edge{};
      for (auto& one : edge) {
        for (double& value : one) value = sum(ghosts_[ghost++]);
      }
      for (int y = 0; y < side; ++y) {
        for (int x = 0; x < side; ++x) {
          const int at = y * side + x;
          const double left = x > 0 ? u[at - 1] : edge[0][y], right = x + 1 < side ? u[at + 1] : edge[1][y];
          const double below = y > 0 ? u[at - side] : edge[2][x], above = y + 1 < side ? u[at + side] : edge[3][x];
          next[static_cast<std::size_t>(b - first_) * cells + at] =
              u[at] + ratio * (left + right + below + above - 4 * u[at]);
        }
      }
    }
    own_.swap(next);
  }

  // Refines where the temperature changes by more than a limit within a block, and coarsens elsewhere.
  void adapt() {
    std::vector<int> steep_own;
    for (int b = first_; b < last_; ++b) {
      const auto from = own_.begin() + static_cast<std::ptrdiff_t>(b - first_) * cells;
      const auto [low, high] = std::minmax_element(from, from + cells);
      steep_own.push_back(*high - *low > 0.02 ? 1 : 0);
    }
    std::vector<int> steep(blocks_.size());
    kernel_.mpi([&] {
      MPI_Allgatherv(steep_own.data(), last_ - first_, MPI_INT, steep.data(), counts_.data(), firsts_.data(), MPI_INT,
                     MPI_COMM_WORLD);
    });
    // The blocks that shall be divided: those that are steep, and the parents of blocks that are.
    std::set<Block> divided;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (steep[b] == 0) continue;
      Block at = blocks_[b];
      if (at.level < finest) divided.insert(at);
      for (; at.level > 0;) divided.insert(at = {at.level - 1, at.i / 2, at.j / 2});
    }
    // Beside a block that is divided lies one of its own level at least.
    const std::set<Block> steepest = divided;
    for (const Block& one : steepest) {
      if (one.level == 0) continue;
      for (int dj = -1; dj <= 1; ++dj) {
        for (int di = -1; di <= 1; ++di) {
          const int i = one.i + di, j = one.j + dj, wide = across_ << one.level;
          if (i >= 0 && j >= 0 && i < wide && j < wide) divided.insert({one.level - 1, i / 2, j / 2});
        }
      }
    }
    std::vector<Block> fresh;
    for (int level = 0; level <= finest; ++level) {
      for (int j = 0; j < across_ << level; ++j) {
        for (int i = 0; i < across_ << level; ++i) {
          const bool exists = level == 0 || divided.count({level - 1, i / 2, j / 2}) != 0;
          if (exists && divided.count({level, i, j}) == 0) fresh.push_back({level, i, j});
        }
      }
    }
    const std::vector<double> old = whole();
    const std::map<Block, int> old_number = number_;
    set_blocks(fresh);
    for (int b = first_; b < last_; ++b) {
      for (int c = 0; c < cells; ++c)
        own_[static_cast<std::size_t>(b - first_) * cells + c] = value(old, old_number, blocks_[b], c % side, c / side);
    }
  }

  // Largest distance to the solution on this rank.
  [[nodiscard]] double error(double time) const {
    double largest = 0;
    for (int b = first_; b < last_; ++b) {
      for (int c = 0; c < cells; ++c) {
        const double off =
            std::fabs(own_[static_cast<std::size_t>(b - first_) * cells + c] - solution(blocks_[b], c, time));
        largest = off <= largest ? largest : off;  // keeps what is not a number
      }
    }
    return largest;
  }

  bool draw(const char* path) {
    const std::vector<double> all = whole();
    const int wide = across_ * side << finest;
    std::vector<float> field(static_cast<std::size_t>(wide) * wide);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const Block& at = blocks_[b];
      const int zoom = 1 << (finest - at.level), size = side * zoom;
      for (int y = 0; y < size; ++y) {
        for (int x = 0; x < size; ++x) {
          const bool line = x == 0 || y == 0;  // shows the blocks
          field[static_cast<std::size_t>(at.j * size + y) * wide + at.i * size + x] = static_cast<float>(
              all[b * cells + static_cast<std::size_t>(y / zoom * side + x / zoom)] + (line ? 0.08 : 0));
        }
      }
    }
    return kernel_.rank != 0 || common::save_field(path, field, wide, wide);
  }

 private:
  [[nodiscard]] double solution(const Block& at, int c, double time) const {
    const double h = spacing(at.level);
    const int x = at.i * side + c % side, y = at.j * side + c / side;
    return exact((x + 0.5) * h, (y + 0.5) * h, time);
  }

  void fill(double time) {
    for (int b = first_; b < last_; ++b) {
      for (int c = 0; c < cells; ++c)
        own_[static_cast<std::size_t>(b - first_) * cells + c] = solution(blocks_[b], c, time);
    }
  }

  void set_blocks(const std::vector<Block>& blocks) {
    blocks_ = blocks;
    number_.clear();
    for (std::size_t b = 0; b < blocks_.size(); ++b) number_[blocks_[b]] = static_cast<int>(b);
    counts_.clear();
    firsts_.clear();
    const auto all = static_cast<int64_t>(blocks_.size());
    for (int r = 0; r < kernel_.ranks; ++r) {
      firsts_.push_back(static_cast<int>(kernels::first_of(all, r, kernel_.ranks)));
      counts_.push_back(static_cast<int>(kernels::first_of(all, r + 1, kernel_.ranks)) - firsts_.back());
    }
    first_ = firsts_[static_cast<std::size_t>(kernel_.rank)];
    last_ = first_ + counts_[static_cast<std::size_t>(kernel_.rank)];
    own_.assign(static_cast<std::size_t>(last_ - first_) * cells, 0.0);
    plan();
  }

  [[nodiscard]] std::vector<double> whole() {
    std::vector<int> counts, before;
    for (std::size_t r = 0; r < counts_.size(); ++r)
      counts.push_back(counts_[r] * cells), before.push_back(firsts_[r] * cells);
    std::vector<double> all(blocks_.size() * cells);
    kernel_.mpi([&] {
      MPI_Allgatherv(own_.data(), static_cast<int>(own_.size()), MPI_DOUBLE, all.data(), counts.data(), before.data(),
                     MPI_DOUBLE, MPI_COMM_WORLD);
    });
    return all;
  }

  // A cell of a new block from the old ones: the same, a linear continuation of the coarser one's, or the mean of four.
  static double value(const std::vector<double>& old, const std::map<Block, int>& number, const Block& at, int x,
                      int y) {
    const auto same = number.find(at);
    const auto get = [&](int block, int cx, int cy) {
      return old[static_cast<std::size_t>(block) * cells + static_cast<std::size_t>(cy * side + cx)];
    };
    if (same != number.end()) return get(same->second, x, y);
    const auto parent = number.find({at.level - 1, at.i / 2, at.j / 2});
    if (parent != number.end()) {
      const int cx = (at.i % 2 * side + x) / 2, cy = (at.j % 2 * side + y) / 2;
      const int nx = std::clamp(cx + (x % 2 == 0 ? -1 : 1), 0, side - 1),
                ny = std::clamp(cy + (y % 2 == 0 ? -1 : 1), 0, side - 1);
      const double here = get(parent->second, cx, cy);
      return here + 0.25 * (get(parent->second, nx, cy) - here) + 0.25 * (get(parent->second, cx, ny) - here);
    }
    if (at.level >= finest) return NAN;  // never, as adapt() refines by one level: the check would show it
    double sum = 0;
    for (int part = 0; part < 4; ++part) {
      const int fx = 2 * x + part % 2, fy = 2 * y + part / 2;
      sum += value(old, number, {at.level + 1, 2 * at.i + fx / side, 2 * at.j + fy / side}, fx % side, fy % side);
    }
    return sum / 4;
  }

  // The terms of the ghost at (x, y) of a block, which lies outside of it by one cell; (inner_x, inner_y) is the cell
  // inside.
  [[nodiscard]] std::vector<Term> terms(int b, int x, int y) const {
    const Block& at = blocks_[static_cast<std::size_t>(b)];
    const int inner = std::clamp(y, 0, side - 1) * side + std::clamp(x, 0, side - 1);
    const int64_t inside = static_cast<int64_t>(b) * cells + inner;
    const int gx = at.i * side + x, gy = at.j * side + y, wide = across_ * side << at.level;
    if (gx < 0 || gy < 0 || gx >= wide || gy >= wide) return {{inside, -1}};  // a wall of temperature 0
    const auto cell = [](int block, int cx, int cy) { return static_cast<int64_t>(block) * cells + cy * side + cx; };
    const auto same = number_.find({at.level, gx / side, gy / side});
    if (same != number_.end()) return {{cell(same->second, gx % side, gy % side), 1}};
    const auto coarse = number_.find({at.level - 1, gx / 2 / side, gy / 2 / side});
    if (coarse != number_.end()) {
      // Along the side a quarter of the way to the next coarse cell; across it two thirds of the way from the inner
      // cell.
      const bool vertical = x < 0 || x >= side;
      int cx = gx / 2 % side, cy = gy / 2 % side, nx = cx, ny = cy;
      double part = 0.25;
      int& next = vertical ? ny : nx;
      next += (vertical ? gy : gx) % 2 == 0 ? -1 : 1;
      if (next < 0 || next >= side) part = -0.25, next += next < 0 ? 2 : -2;
      return {{inside, 1 / 3.},
              {cell(coarse->second, cx, cy), 2 / 3. * (1 - part)},
              {cell(coarse->second, nx, ny), 2 / 3. * part}};
    }
    std::vector<Term> four;
    for (int k = 0; k < 4; ++k) {
      const int fx = 2 * gx + k % 2, fy = 2 * gy + k / 2;
      four.push_back({cell(number_.at({at.level + 1, fx / side, fy / side}), fx % side, fy % side), 0.25});
    }
    return four;
  }

  // Ghosts of all own blocks, and the lists of cells that ranks send each other.
  void plan() {
    ghosts_.clear();
    std::vector<std::vector<int64_t>> wanted(counts_.size());
    for (int b = first_; b < last_; ++b) {
      for (int edge = 0; edge < 4; ++edge) {
        for (int k = 0; k < side; ++k) {
          const int beyond = edge % 2 == 0 ? -1 : side;
          ghosts_.push_back(edge < 2 ? terms(b, beyond, k) : terms(b, k, beyond));
          for (const Term& term : ghosts_.back()) {
            const int rank = rank_of(term.cell);
            if (rank != kernel_.rank) wanted[static_cast<std::size_t>(rank)].push_back(term.cell);
          }
        }
      }
    }
    std::vector<int64_t> list;
    coming_.clear();
    remote_.clear();
    for (std::vector<int64_t>& one : wanted) {
      std::sort(one.begin(), one.end());
      one.erase(std::unique(one.begin(), one.end()), one.end());
      coming_.push_back(static_cast<int>(one.size()));
      for (const int64_t cell : one) {
        remote_[cell] = list.size();
        list.push_back(cell);
      }
    }
    going_.resize(counts_.size());
    kernel_.mpi([&] { MPI_Alltoall(coming_.data(), 1, MPI_INT, going_.data(), 1, MPI_INT, MPI_COMM_WORLD); });
    coming_at_.resize(counts_.size());
    going_at_.resize(counts_.size());
    std::exclusive_scan(coming_.begin(), coming_.end(), coming_at_.begin(), 0);
    std::exclusive_scan(going_.begin(), going_.end(), going_at_.begin(), 0);
    asked_.resize(static_cast<std::size_t>(going_at_.back()) + static_cast<std::size_t>(going_.back()));
    kernel_.mpi([&] {
      MPI_Alltoallv(list.data(), coming_.data(), coming_at_.data(), MPI_INT64_T, asked_.data(), going_.data(),
                    going_at_.data(), MPI_INT64_T, MPI_COMM_WORLD);
    });
    theirs_.assign(list.size(), 0.0);
    // Cells of other ranks by their place in what comes, as negative numbers.
    for (std::vector<Term>& ghost : ghosts_) {
      for (Term& term : ghost) {
        term.cell = rank_of(term.cell) == kernel_.rank ? term.cell - static_cast<int64_t>(first_) * cells
                                                       : -1 - static_cast<int64_t>(remote_.at(term.cell));
      }
    }
  }

  void exchange() {
    std::vector<double> out;
    out.reserve(asked_.size());
    for (const int64_t cell : asked_)
      out.push_back(own_[static_cast<std::size_t>(cell - static_cast<int64_t>(first_) * cells)]);
    kernel_.mpi([&] {
      MPI_Alltoallv(out.data(), going_.data(), going_at_.data(), MPI_DOUBLE, theirs_.data(), coming_.data(),
                    coming_at_.data(), MPI_DOUBLE, MPI_COMM_WORLD);
    });
  }

  [[nodiscard]] double sum(const std::vector<Term>& ghost) const {
    double value = 0;
    for (const Term& term : ghost) {
      const int64_t at = term.cell;
      value +=
          term.weight * (at >= 0 ? own_[static_cast<std::size_t>(at)] : theirs_[static_cast<std::size_t>(-1 - at)]);
    }
    return value;
  }

  [[nodiscard]] int rank_of(int64_t cell) const {
    const auto block = static_cast<int>(cell / cells);
    return static_cast<int>(std::upper_bound(firsts_.begin(), firsts_.end(), block) - firsts_.begin()) - 1;
  }

  kernels::Kernel& kernel_;
  double heat_;
  int across_;  // blocks along a side of the coarsest level
  std::vector<Block> blocks_;
  std::map<Block, int> number_;
  std::vector<int> counts_, firsts_;  // blocks of each rank
  int first_ = 0, last_ = 0;          // own blocks
  std::vector<double> own_, theirs_;
  std::vector<std::vector<Term>> ghosts_;
  std::map<int64_t, std::size_t> remote_;
  std::vector<int> coming_, going_, coming_at_, going_at_;
  std::vector<int64_t> asked_;
};

}  // namespace

int main(int argc, char** argv) {
  kernels::Kernel kernel(argc, argv, "adaptive", 512, 128, 8192, "alltoallv");
  if (kernel.n % (side << finest) != 0) {
    if (kernel.rank == 0) std::fprintf(stderr, "adaptive: -n is a multiple of %d\n", side << finest);
    MPI_Finalize();
    return 2;
  }
  Grid grid(kernel, 0.004);
  const double dt = 0.2 * grid.spacing(finest) * grid.spacing(finest);
  double updates = 0;
  kernel.start();
  for (int64_t step = 0; step < kernel.repeats; ++step) {
    if (step % 20 == 19) grid.adapt();
    grid.step(dt);
    updates += static_cast<double>(grid.count()) * cells;
  }
  kernel.stop();
  const double error = kernel.most(grid.error(dt * static_cast<double>(kernel.repeats)));
  const double share =
      static_cast<double>(grid.count()) * cells / (static_cast<double>(kernel.n) * static_cast<double>(kernel.n));
  if (!kernel.picture.empty() && !grid.draw(kernel.picture.c_str())) std::perror(kernel.picture.c_str());
  char check[96];
  std::snprintf(check, sizeof check, "error %.1e of a spreading Gaussian, %.0f %% of the cells of a fine grid", error,
                100 * share);
  return kernel.finish(1e-6 * updates, "million cells/s", error < 5e-4, check);
}
