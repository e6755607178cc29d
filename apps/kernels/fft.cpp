// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// The Fourier transform of n^3 complex numbers and back, by FFTW along lines. -w slab: each rank has planes, one
// transpose; -w pencil: each has lines, on a grid of ranks, two transposes; -w window: pencils whose transposes are
// puts.

#include <fftw3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "kernel.hpp"

namespace {

using Complex = std::complex<double>;
using kernels::first_of;

// Memory of MPI, which may be quicker to send from.
class Buffer {
 public:
  explicit Buffer(int64_t count) {
    MPI_Alloc_mem(static_cast<MPI_Aint>(std::max<int64_t>(count, 1)) * 16, MPI_INFO_NULL, &data_);
    std::fill_n(data_, count, Complex());
  }
  ~Buffer() { MPI_Free_mem(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  [[nodiscard]] Complex* get() const { return data_; }

 private:
  Complex* data_ = nullptr;
};

int64_t share(int64_t n, int part, int parts) {
  return first_of(n, part + 1, parts) - first_of(n, part, parts);
}

// Exchanges the directions of a block within a communicator: from a[m][x][n] with x this rank's part of a direction of
// n, to b[m][n's part][x whole]: the last direction is split, the middle one becomes whole and the last.
class Transpose {
 public:
  Transpose(MPI_Comm comm, int64_t outer, int64_t n, bool puts) : comm_(comm), outer_(outer), n_(n) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &ranks_);
    const int64_t mine = share(n, rank_, ranks_);
    for (int r = 0; r < ranks_; ++r) {
      const int64_t theirs = share(n, r, ranks_), at = first_of(n, r, ranks_);
      counts_.push_back(static_cast<int>(2 * outer * mine * theirs));
      places_.push_back(static_cast<int>(2 * outer * mine * at));
    }
    if (!puts) return;
    MPI_Win_allocate(static_cast<MPI_Aint>(std::max<int64_t>(1, outer * mine * n)) * 16, 8, MPI_INFO_NULL, comm,
                     &memory_, &window_);
    MPI_Win_fence(0, window_);
  }
  ~Transpose() {
    if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  }
  Transpose(const Transpose&) = delete;
  Transpose& operator=(const Transpose&) = delete;

  void operator()(kernels::Kernel& kernel, const Complex* a, Complex* out, Complex* buffer) {
    const int64_t mine = share(n_, rank_, ranks_);
    Complex* packed = out;  // free until the end
    for (int r = 0; r < ranks_; ++r) {
      const int64_t low = first_of(n_, r, ranks_), wide = share(n_, r, ranks_);
      for (int64_t m = 0; m < outer_; ++m) {
        for (int64_t x = 0; x < mine; ++x) packed = std::copy_n(a + (m * mine + x) * n_ + low, wide, packed);
      }
    }
    const Complex* got = buffer;
    kernel.mpi([&] {
      if (window_ == MPI_WIN_NULL) {
        MPI_Alltoallv(out, counts_.data(), places_.data(), MPI_DOUBLE, buffer, counts_.data(), places_.data(),
                      MPI_DOUBLE, comm_);
        return;
      }
      got = memory_;
      for (int r = 0; r < ranks_; ++r) {
        // With that rank its blocks have its width; this rank's block lies behind those of lower ranks.
        const MPI_Aint at = static_cast<MPI_Aint>(2 * outer_ * share(n_, r, ranks_) * first_of(n_, rank_, ranks_));
        MPI_Put(reinterpret_cast<const double*>(out) + places_[static_cast<std::size_t>(r)],
                counts_[static_cast<std::size_t>(r)], MPI_DOUBLE, r, at, counts_[static_cast<std::size_t>(r)],
                MPI_DOUBLE, window_);
      }
      MPI_Win_fence(0, window_);
    });
    for (int r = 0; r < ranks_; ++r) {
      const int64_t low = first_of(n_, r, ranks_), wide = share(n_, r, ranks_);
      for (int64_t m = 0; m < outer_; ++m) {
        for (int64_t x = 0; x < wide; ++x) {
          for (int64_t y = 0; y < mine; ++y) out[(m * mine + y) * n_ + low + x] = *got++;
        }
      }
    }
    // No rank may put again before this one has read.
    if (window_ != MPI_WIN_NULL) kernel.mpi([&] { MPI_Win_fence(0, window_); });
  }

 private:
  MPI_Comm comm_;
  int64_t outer_, n_;
  int rank_ = 0, ranks_ = 1;
  std::vector<int> counts_, places_;
  MPI_Win window_ = MPI_WIN_NULL;
  Complex* memory_ = nullptr;
};

// Swaps the first two directions of a block a[p][q][n].
void swap_outer(const Complex* a, Complex* b, int64_t p, int64_t q, int64_t n) {
  for (int64_t i = 0; i < p; ++i) {
    for (int64_t j = 0; j < q; ++j) std::copy_n(a + (i * q + j) * n, n, b + (j * p + i) * n);
  }
}

}  // namespace

int main(int argc, char** argv) {
  kernels::Kernel kernel(argc, argv, "fft", 64, 2, 2048, "slab pencil window");
  const int64_t n = kernel.n;
  // Slabs are pencils on a grid of one column.
  std::array<int, 2> grid = {kernel.way == "slab" ? kernel.ranks : 0, kernel.way == "slab" ? 1 : 0};
  const std::array<int, 2> open = {0, 0}, along = {0, 1}, across = {1, 0};
  MPI_Dims_create(kernel.ranks, 2, grid.data());
  MPI_Comm cart = MPI_COMM_NULL, row = MPI_COMM_NULL, column = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, grid.data(), open.data(), 0, &cart);
  MPI_Cart_sub(cart, along.data(), &row);
  MPI_Cart_sub(cart, across.data(), &column);
  int u = 0, v = 0;
  MPI_Comm_rank(column, &u);
  MPI_Comm_rank(row, &v);
  // a[z of u][y of v][x]; after one transpose [z of u][x of v][y]; after the other [x of v][y of u][z].
  const int64_t z = share(n, u, grid[0]), y = share(n, v, grid[1]), z0 = first_of(n, u, grid[0]),
                y0 = first_of(n, v, grid[1]);
  const int64_t most = n * std::max(z * y, y * z);
  const double cells = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  bool right = false;
  {  // buffers and windows end before MPI does
    const Buffer a(most), b(most), c(most);
    Transpose first(row, z, n, kernel.way == "window"), second(column, y, n, kernel.way == "window");
    const auto lines = [&](Complex* block, int sign) {
      int length = static_cast<int>(n);
      auto* data = reinterpret_cast<fftw_complex*>(block);
      return fftw_plan_many_dft(1, &length, static_cast<int>(z * y), data, nullptr, 1, length, data, nullptr, 1, length,
                                sign, FFTW_ESTIMATE);
    };
    std::array<fftw_plan, 4> plans = {lines(a.get(), FFTW_FORWARD), lines(b.get(), FFTW_FORWARD),
                                      lines(a.get(), FFTW_BACKWARD), lines(b.get(), FFTW_BACKWARD)};
    // One wave and a noise: the wave's place in the spectrum is known, the noise must come back.
    const std::array<int64_t, 3> wave = {1 % n, 2 % n, 3 % n};
    const auto value = [&](int64_t k, int64_t j, int64_t i) {
      const double phase = 2 * std::numbers::pi * static_cast<double>((wave[0] * i + wave[1] * j + wave[2] * k) % n) /
                           static_cast<double>(n);
      const auto index = static_cast<uint64_t>((k * n + j) * n + i);
      return std::polar(1.0, phase) +
             1e-3 * Complex(kernels::unit(2 * index) - 0.5, kernels::unit(2 * index + 1) - 0.5);
    };
    const auto each = [&](auto what) {
      for (int64_t k = 0; k < z; ++k) {
        for (int64_t j = 0; j < y; ++j) {
          for (int64_t i = 0; i < n; ++i) what((k * y + j) * n + i, value(z0 + k, y0 + j, i));
        }
      }
    };
    each([&](int64_t at, Complex is) { a.get()[at] = is; });
    Complex peak = 0;
    double largest_other = 0;
    kernel.start();
    for (int64_t step = 0; step < kernel.repeats; ++step) {
      fftw_execute(plans[0]);                     // x, in [z][y][x]
      first(kernel, a.get(), b.get(), c.get());   // [z][x][y]
      fftw_execute(plans[1]);                     // y
      swap_outer(b.get(), a.get(), z, y, n);      // [x][z][y]
      second(kernel, a.get(), b.get(), c.get());  // [x][y][z]
      fftw_execute(plans[1]);                     // z
      if (step == 0) {
        for (int64_t i = 0; i < y; ++i) {
          for (int64_t j = 0; j < z; ++j) {
            for (int64_t k = 0; k < n; ++k) {
              const Complex is = b.get()[(i * z + j) * n + k];
              if (y0 + i == wave[0] && z0 + j == wave[1] && k == wave[2]) {
                peak = is;
              } else {
                largest_other = std::max(largest_other, std::abs(is));
              }
            }
          }
        }
      }
      fftw_execute(plans[3]);                     // the way back begins with z
      second(kernel, b.get(), a.get(), c.get());  // [x][z][y]
      swap_outer(a.get(), b.get(), y, z, n);      // [z][x][y]
      fftw_execute(plans[3]);                     // y
      first(kernel, b.get(), a.get(), c.get());   // [z][y][x]
      fftw_execute(plans[2]);                     // x
      for (int64_t i = 0; i < z * y * n; ++i) a.get()[i] /= cells;
    }
    kernel.stop();
    double error = 0;
    each([&](int64_t at, Complex is) { error = std::max(error, std::abs(a.get()[at] - is)); });
    const double height = kernel.sum(std::abs(peak)) / cells, other = kernel.most(largest_other) / cells;
    for (fftw_plan plan : plans) fftw_destroy_plan(plan);
    right = error < 1e-12 && std::fabs(height - 1) < 1e-2 && other < 1e-2;
    if (!right && kernel.rank == 0)
      std::fprintf(stderr, "fft: error %.2e, wave %.6f, others up to %.2e\n", error, height, other);
  }
  for (MPI_Comm* comm : {&row, &column, &cart}) MPI_Comm_free(comm);
  const double flops = 2 * 5e-9 * cells * std::log2(cells) * static_cast<double>(kernel.repeats);
  return kernel.finish(flops, "Gflop/s", right, "a wave at its place, and back again");
}
