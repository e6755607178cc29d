// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Kernels written in vectors of 32 bytes, where the compiler does not find them: 16-bit floats, which the processor
// converts, and complex products. For x86-64 processors with AVX2 and F16C; results are those of operation.hpp.

#include <immintrin.h>

#include <cstring>
#include <type_traits>

#include "base/copy.hpp"
#include "datatype/operation.hpp"
#include "datatype/reduce.hpp"

namespace weft::datatype {

#define WEFT_VECTOR [[gnu::always_inline, gnu::target("avx2,f16c")]] static inline

// Halves in memory, which these processors convert.
struct OfHalves {
  static constexpr int64_t bytes = 16;
  WEFT_VECTOR __m256 load(const char* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  WEFT_VECTOR void store(char* to, __m256 value) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
  }
};

struct OfFloats {
  static constexpr int64_t bytes = 32;
  WEFT_VECTOR __m256 load(const char* from) { return _mm256_loadu_ps(reinterpret_cast<const float*>(from)); }
  WEFT_VECTOR void store(char* to, __m256 value) { _mm256_storeu_ps(reinterpret_cast<float*>(to), value); }
};

struct OfDoubles {
  static constexpr int64_t bytes = 32;
  WEFT_VECTOR __m256d load(const char* from) { return _mm256_loadu_pd(reinterpret_cast<const double*>(from)); }
  WEFT_VECTOR void store(char* to, __m256d value) { _mm256_storeu_pd(reinterpret_cast<double*>(to), value); }
};

struct VectorSum {
  WEFT_VECTOR __m256 apply(__m256 a, __m256 b) { return _mm256_add_ps(a, b); }
};

struct VectorProduct {
  WEFT_VECTOR __m256 apply(__m256 a, __m256 b) { return _mm256_mul_ps(a, b); }
};

// Real parts in even places, imaginary ones in odd places.
struct VectorComplexProduct {
  WEFT_VECTOR __m256 apply(__m256 a, __m256 b) {
    const __m256 by_real = _mm256_mul_ps(a, _mm256_moveldup_ps(b));
    const __m256 by_imaginary = _mm256_mul_ps(_mm256_permute_ps(a, 0b10110001), _mm256_movehdup_ps(b));
    return _mm256_addsub_ps(by_real, by_imaginary);
  }
  WEFT_VECTOR __m256d apply(__m256d a, __m256d b) {
    const __m256d by_real = _mm256_mul_pd(a, _mm256_movedup_pd(b));
    const __m256d by_imaginary = _mm256_mul_pd(_mm256_permute_pd(a, 0b0101), _mm256_permute_pd(b, 0b1111));
    return _mm256_addsub_pd(by_real, by_imaginary);
  }
};

// The remainder behind the last whole vector is computed in a copy.
template <class T, class Memory, class Operation>
[[gnu::target("avx2,f16c")]] void vector_loop(const void* __restrict in, void* __restrict inout, int64_t count) {
  constexpr int64_t step = Memory::bytes;
  const auto* from = static_cast<const char*>(in);
  auto* to = static_cast<char*>(inout);
  int64_t left = count * static_cast<int64_t>(sizeof(T));
  for (; left >= step; left -= step, from += step, to += step) {
    Memory::store(to, Operation::apply(Memory::load(from), Memory::load(to)));
  }
  if (left == 0) return;
  char last[2][step] = {};
  base::copy(last[0], from, static_cast<size_t>(left));
  base::copy(last[1], to, static_cast<size_t>(left));
  Memory::store(last[1], Operation::apply(Memory::load(last[0]), Memory::load(last[1])));
  base::copy(to, last[1], static_cast<size_t>(left));
}
#undef WEFT_VECTOR

// A Kernel; nothing where the compiler does as well.
template <class T, class Operation>
constexpr auto vector_kernel() {
  if constexpr (std::is_same_v<T, Half> && std::is_same_v<Operation, Sum>) {
    return vector_loop<T, OfHalves, VectorSum>;
  } else if constexpr (std::is_same_v<T, Half> && std::is_same_v<Operation, Product>) {
    return vector_loop<T, OfHalves, VectorProduct>;
  } else if constexpr (std::is_same_v<Operation, Product> && std::is_same_v<T, Complex<Half>>) {
    return vector_loop<T, OfHalves, VectorComplexProduct>;
  } else if constexpr (std::is_same_v<Operation, Product> && std::is_same_v<T, Complex<float>>) {
    return vector_loop<T, OfFloats, VectorComplexProduct>;
  } else if constexpr (std::is_same_v<Operation, Product> && std::is_same_v<T, Complex<double>>) {
    return vector_loop<T, OfDoubles, VectorComplexProduct>;
  }
}

}  // namespace weft::datatype
