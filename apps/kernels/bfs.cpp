// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// Breadth-first search in a random graph with the degrees of a social network, as Graph500: 2^k vertices, 16 edges each
// (D. Chakrabarti, Y. Zhan, C. Faloutsos, "R-MAT", SDM 2004). -n is k. A rank has every ranks-th vertex. The vertices
// that a level finds travel by MPI_Alltoallv, or by compare-and-swap on the owner's word of the vertex, the first one
// wins.

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernel.hpp"

namespace {

struct Edge {
  int64_t a, b;
};

Edge edge_at(int64_t index, int64_t scale) {
  Edge edge = {0, 0};
  for (int64_t bit = 0; bit < scale; ++bit) {
    const double draw = kernels::unit(static_cast<uint64_t>(index * scale + bit));
    edge.a = 2 * edge.a + (draw >= 0.76 ? 1 : 0);
    edge.b = 2 * edge.b + ((draw >= 0.57 && draw < 0.76) || draw >= 0.95 ? 1 : 0);
  }
  // Vertices of high degree have low numbers; this spreads them over the ranks.
  const int64_t mask = (1LL << scale) - 1;
  return {(edge.a * 0x9E3779B1LL) & mask, (edge.b * 0x9E3779B1LL) & mask};
}

struct Found {
  int64_t vertex, parent;
};

// The search on this rank's vertices.
class Search {
 public:
  Search(kernels::Kernel& kernel, int64_t vertices) : kernel_(kernel), ranks_(kernel.ranks), vertices_(vertices) {
    count_ = (vertices - kernel.rank + ranks_ - 1) / ranks_;
    MPI_Win_allocate(static_cast<MPI_Aint>(std::max<int64_t>(count_, 1)) * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &parent_, &window_);
    level_.resize(static_cast<std::size_t>(count_));
    neighbours_.resize(static_cast<std::size_t>(count_));
  }
  ~Search() { MPI_Win_free(&window_); }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  void add(int64_t from, int64_t to) {
    if (from % ranks_ == kernel_.rank) neighbours_[static_cast<std::size_t>(from / ranks_)].push_back(to);
  }

  void run(int64_t root) {
    std::fill_n(parent_, count_, -1);
    std::fill(level_.begin(), level_.end(), -1);
    std::vector<int64_t> frontier;
    if (root % ranks_ == kernel_.rank) {
      parent_[root / ranks_] = root;
      level_[static_cast<std::size_t>(root / ranks_)] = 0;
      frontier.push_back(root / ranks_);
    }
    for (int64_t depth = 1; more(frontier); ++depth) {
      if (kernel_.way == "window") {
        swap(frontier);
      } else {
        send(frontier);
      }
      // The vertices with a parent and without a level are new.
      frontier.clear();
      for (int64_t i = 0; i < count_; ++i) {
        if (parent_[i] < 0 || level_[static_cast<std::size_t>(i)] >= 0) continue;
        level_[static_cast<std::size_t>(i)] = depth;
        frontier.push_back(i);
      }
    }
  }

  // The edges of the vertices that the search has reached, each seen from both its ends: of all ranks.
  [[nodiscard]] double reached_edges() const {
    double edges = 0;
    for (int64_t i = 0; i < count_; ++i) {
      if (level_[static_cast<std::size_t>(i)] >= 0)
        edges += static_cast<double>(neighbours_[static_cast<std::size_t>(i)].size());
    }
    return kernel_.sum(edges) / 2;
  }

  // Levels differ by at most one along each edge, none leads out of the tree, and each vertex hangs by an edge on a
  // parent one level up: the levels are then the distances.
  [[nodiscard]] bool verify(int64_t root) const {
    std::vector<int64_t> mine(static_cast<std::size_t>(vertices_), -1), all(mine.size());
    for (int64_t i = 0; i < count_; ++i)
      mine[static_cast<std::size_t>(i * ranks_ + kernel_.rank)] = level_[static_cast<std::size_t>(i)];
    MPI_Allreduce(mine.data(), all.data(), static_cast<int>(vertices_), MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    bool right = all[static_cast<std::size_t>(root)] == 0;
    for (int64_t i = 0; i < count_; ++i) {
      const int64_t vertex = i * ranks_ + kernel_.rank, level = all[static_cast<std::size_t>(vertex)];
      const std::vector<int64_t>& near = neighbours_[static_cast<std::size_t>(i)];
      for (const int64_t other : near) {
        const int64_t there = all[static_cast<std::size_t>(other)];
        right = right && (level < 0) == (there < 0) && std::abs(level - there) <= 1;
      }
      if (level <= 0) continue;
      const int64_t parent = parent_[i];
      right = right && std::find(near.begin(), near.end(), parent) != near.end() &&
              all[static_cast<std::size_t>(parent)] == level - 1;
    }
    return right;
  }

 private:
  [[nodiscard]] bool more(const std::vector<int64_t>& frontier) {
    int64_t mine = static_cast<int64_t>(frontier.size()), all = 0;
    kernel_.mpi([&] { MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD); });
    return all > 0;
  }

  void send(const std::vector<int64_t>& frontier) {
    std::vector<std::vector<Found>> by_rank(static_cast<std::size_t>(ranks_));
    for (const int64_t i : frontier) {
      for (const int64_t to : neighbours_[static_cast<std::size_t>(i)])
        by_rank[static_cast<std::size_t>(to % ranks_)].push_back({to, i * ranks_ + kernel_.rank});
    }
    std::vector<Found> out;
    std::vector<int> counts, coming(by_rank.size()), to(by_rank.size()), from(by_rank.size());
    for (const std::vector<Found>& one : by_rank) {
      counts.push_back(2 * static_cast<int>(one.size()));
      out.insert(out.end(), one.begin(), one.end());
    }
    kernel_.mpi([&] { MPI_Alltoall(counts.data(), 1, MPI_INT, coming.data(), 1, MPI_INT, MPI_COMM_WORLD); });
    std::exclusive_scan(counts.begin(), counts.end(), to.begin(), 0);
    std::exclusive_scan(coming.begin(), coming.end(), from.begin(), 0);
    std::vector<Found> in(static_cast<std::size_t>((from.back() + coming.back()) / 2));
    kernel_.mpi([&] {
      MPI_Alltoallv(out.data(), counts.data(), to.data(), MPI_INT64_T, in.data(), coming.data(), from.data(),
                    MPI_INT64_T, MPI_COMM_WORLD);
    });
    for (const Found& one : in) {
      if (parent_[one.vertex / ranks_] < 0) parent_[one.vertex / ranks_] = one.parent;
    }
  }

  void swap(const std::vector<int64_t>& frontier) {
    constexpr int64_t nobody = -1;
    kernel_.mpi([&] {
      MPI_Win_fence(0, window_);
      std::vector<int64_t> before, parents;
      std::size_t total = 0;
      for (const int64_t i : frontier) total += neighbours_[static_cast<std::size_t>(i)].size();
      before.resize(total);  // where the old words go; nobody looks at them
      parents.reserve(frontier.size());
      std::size_t at = 0;
      for (const int64_t i : frontier) {
        parents.push_back(i * ranks_ + kernel_.rank);
        for (const int64_t to : neighbours_[static_cast<std::size_t>(i)])
          MPI_Compare_and_swap(&parents.back(), &nobody, &before[at++], MPI_INT64_T, static_cast<int>(to % ranks_),
                               static_cast<MPI_Aint>(to / ranks_), window_);
      }
      MPI_Win_fence(0, window_);
    });
  }

  kernels::Kernel& kernel_;
  int ranks_;
  int64_t vertices_, count_ = 0;
  int64_t* parent_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<int64_t> level_;
  std::vector<std::vector<int64_t>> neighbours_;
};

}  // namespace

int main(int argc, char** argv) {
  kernels::Kernel kernel(argc, argv, "bfs", 14, 4, 26, "alltoallv window");
  const int64_t vertices = 1LL << kernel.n, edges = 16 * vertices;
  double traversed = 0;
  bool right = true;
  {
    Search search(kernel, vertices);
    for (int64_t i = 0; i < edges; ++i) {
      const Edge edge = edge_at(i, kernel.n);
      if (edge.a == edge.b) continue;
      search.add(edge.a, edge.b);
      search.add(edge.b, edge.a);
    }
    int64_t root = 0;
    kernel.start();
    for (int64_t step = 0; step < kernel.repeats; ++step) {
      root = edge_at(step, kernel.n).a;
      search.run(root);
    }
    kernel.stop();
    traversed = search.reached_edges() * static_cast<double>(kernel.repeats);
    right = search.verify(root);
  }
  return kernel.finish(1e-6 * traversed, "million edges/s", right, "levels along all edges, a parent one level up");
}
