// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if defined(_OPENMP) && __has_include(<omp.h>)
#include <omp.h>
#define MHD_OPENMP 1
#else
#include <thread>
#include <vector>
#endif

namespace mhd {

// Runs body(thread) once on each of `threads` threads: the one parallel region of the program. A compiler without
// OpenMP gets threads of C++.
template <class Body>
void parallel(int threads, Body body) {
#ifdef MHD_OPENMP
#pragma omp parallel num_threads(threads)
  body(omp_get_thread_num());
#else
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(body, t);
  body(0);
  for (std::thread& other : others) other.join();
#endif
}

inline int default_threads() {
#ifdef MHD_OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

}  // namespace mhd
