// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/reduce.hpp"

#include <type_traits>

#include "base/copy.hpp"
#include "datatype/element.hpp"
#include "datatype/operation.hpp"
#include "datatype/predefined.hpp"

#if defined(__x86_64__)
#include <cpuid.h>

#include "datatype/reduce_vector.hpp"
#endif

// Compiled with -O3, which g++ needs to vectorise, and without fused operations, so that every processor computes the
// same (src/CMakeLists.txt).

namespace weft::datatype {
namespace {

template <class T, class Operation>
[[gnu::always_inline]] inline void loop(const void* __restrict in, void* __restrict inout, int64_t count) {
  constexpr int64_t step = sizeof(T);
  for (int64_t i = 0; i < count; ++i) {
    store<T>(inout, i * step, Operation::apply(load<T>(in, i * step), load<T>(inout, i * step)));
  }
}

template <class T, class Operation>
void baseline_loop(const void* __restrict in, void* __restrict inout, int64_t count) {
  loop<T, Operation>(in, inout, count);
}

#if defined(__x86_64__)
// These are compiled for processors with 32-byte and with 64-byte vectors.
template <class T, class Operation>
[[gnu::target("avx2")]] void avx2_loop(const void* __restrict in, void* __restrict inout, int64_t count) {
  loop<T, Operation>(in, inout, count);
}

template <class T, class Operation>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void avx512_loop(const void* __restrict in,
                                                                       void* __restrict inout, int64_t count) {
  loop<T, Operation>(in, inout, count);
}

// Longer vectors pay where the shorter ones need several instructions: with buffers of 8 KiB on a Zen 4 core MPI_MIN of
// 64-bit integers does 71 GB/s instead of 40, MPI_MAX of halves 36 instead of 25; sums do 57 either way, and a few
// elements take longer. Never for floats of which products are added: with AVX-512 g++ 12 fuses these, whatever it is
// told.
template <class T, class Operation>
inline constexpr bool pays_longer = is_half<T> ||
                                    (is_integer<T> && sizeof(T) == 8 &&
                                     (std::is_same_v<Operation, Minimum> || std::is_same_v<Operation, Maximum> ||
                                      std::is_same_v<Operation, Product>));

template <class T, class Operation>
Kernel elementwise(Vectors use) {
  if (use == Vectors::baseline) return baseline_loop<T, Operation>;
  if constexpr (!std::is_void_v<decltype(vector_kernel<T, Operation>())>) {
    return vector_kernel<T, Operation>();
  } else if constexpr (sizeof(T) > 8) {
    return baseline_loop<T, Operation>;  // there are no such vectors
  } else if constexpr (pays_longer<T, Operation>) {
    return use == Vectors::avx2 ? avx2_loop<T, Operation> : avx512_loop<T, Operation>;
  } else {
    return avx2_loop<T, Operation>;
  }
}

Vectors find_vectors() {
  unsigned a, b, c, d;
  const bool halves = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
  if (!halves || !__builtin_cpu_supports("avx2")) return Vectors::baseline;
  const bool all = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return all ? Vectors::avx512 : Vectors::avx2;
}
#else
template <class T, class Operation>
Kernel elementwise(Vectors /*use*/) {
  return baseline_loop<T, Operation>;
}

Vectors find_vectors() {
  return Vectors::baseline;
}
#endif

template <int64_t bytes>
void replace(const void* __restrict in, void* __restrict inout, int64_t count) {
  base::copy(inout, in, static_cast<size_t>(count * bytes));
}

void nothing(const void* /*in*/, void* /*inout*/, int64_t /*count*/) {}

// ---- which operations a class of types has

template <class T>
Kernel bitwise(Reduction reduction, Vectors use) {
  switch (reduction) {
    case Reduction::band:
      return elementwise<T, BitAnd>(use);
    case Reduction::bor:
      return elementwise<T, BitOr>(use);
    case Reduction::bxor:
      return elementwise<T, BitXor>(use);
    default:
      return nullptr;
  }
}

template <class T>
Kernel logical(Reduction reduction, Vectors use) {
  switch (reduction) {
    case Reduction::land:
      return elementwise<T, LogicalAnd>(use);
    case Reduction::lor:
      return elementwise<T, LogicalOr>(use);
    case Reduction::lxor:
      return elementwise<T, LogicalXor>(use);
    default:
      return nullptr;
  }
}

template <class T>
Kernel additive(Reduction reduction, Vectors use) {
  switch (reduction) {
    case Reduction::sum:
      return elementwise<T, Sum>(use);
    case Reduction::prod:
      return elementwise<T, Product>(use);
    default:
      return nullptr;
  }
}

// A sum of complex numbers is that of twice as many parts.
template <class T, Vectors use>
void complex_sum(const void* __restrict in, void* __restrict inout, int64_t count) {
  elementwise<T, Sum>(use)(in, inout, 2 * count);
}

template <class T>
Kernel complex(Reduction reduction, Vectors use) {
  if (reduction == Reduction::prod) return elementwise<Complex<T>, Product>(use);
  if (reduction != Reduction::sum) return nullptr;
  switch (use) {
    case Vectors::baseline:
      return complex_sum<T, Vectors::baseline>;
    case Vectors::avx2:
      return complex_sum<T, Vectors::avx2>;
    default:
      return complex_sum<T, Vectors::avx512>;
  }
}

template <class T>
Kernel floating(Reduction reduction, Vectors use) {
  switch (reduction) {
    case Reduction::min:
      return elementwise<T, Minimum>(use);
    case Reduction::max:
      return elementwise<T, Maximum>(use);
    default:
      return additive<T>(reduction, use);
  }
}

// Where the sign does not matter the kernels of the unsigned type serve.
template <class T, class Unsigned>
Kernel integer(Reduction reduction, Vectors use) {
  if (reduction == Reduction::min) return elementwise<T, Minimum>(use);
  if (reduction == Reduction::max) return elementwise<T, Maximum>(use);
  if (Kernel found = additive<Unsigned>(reduction, use)) return found;
  if (Kernel found = bitwise<Unsigned>(reduction, use)) return found;
  return logical<Unsigned>(reduction, use);
}

Kernel replacement(Basic basic) {
  switch (basic_size(basic).extent) {
    case 1:
      return replace<1>;
    case 2:
      return replace<2>;
    case 4:
      return replace<4>;
    case 8:
      return replace<8>;
    case 16:
      return replace<16>;
    case 32:
      return replace<32>;
    default:
      return nullptr;
  }
}

}  // namespace

PairParts pair_parts(Basic basic) {
  switch (basic) {
    case Basic::float_int:
      return {Basic::float32, Basic::int32};
    case Basic::double_int:
      return {Basic::float64, Basic::int32};
    case Basic::long_int:
      return {Basic::int64, Basic::int32};
    case Basic::two_int:
    case Basic::two_fortran_int:
      return {Basic::int32, Basic::int32};
    case Basic::short_int:
      return {Basic::int16, Basic::int32};
    case Basic::long_double_int:
      return {Basic::float80, Basic::int32};
    case Basic::two_float:
      return {Basic::float32, Basic::float32};
    case Basic::two_double:
      return {Basic::float64, Basic::float64};
    default:
      return {Basic::none, Basic::none};
  }
}

Vectors vectors() {
  static const Vectors found = find_vectors();  // once: asking a processor is slow where there is a hypervisor
  return found;
}

Kernel kernel(Reduction reduction, Basic basic, Vectors use) {
  if (basic == Basic::none) return nullptr;
  if (const auto [value, index] = pair_parts(basic); value != Basic::none) return pair_kernel(reduction, value, index);
  if (reduction == Reduction::no_op) return nothing;
  if (reduction == Reduction::replace) return replacement(basic);
  switch (basic) {
    case Basic::int8:
      return integer<int8_t, uint8_t>(reduction, use);
    case Basic::int16:
      return integer<int16_t, uint16_t>(reduction, use);
    case Basic::int32:
      return integer<int32_t, uint32_t>(reduction, use);
    case Basic::int64:
      return integer<int64_t, uint64_t>(reduction, use);
    case Basic::int128:
      return integer<Int128, Int128>(reduction, use);
    case Basic::uint8:
      return integer<uint8_t, uint8_t>(reduction, use);
    case Basic::uint16:
      return integer<uint16_t, uint16_t>(reduction, use);
    case Basic::uint32:
      return integer<uint32_t, uint32_t>(reduction, use);
    case Basic::uint64:
      return integer<uint64_t, uint64_t>(reduction, use);
    case Basic::float16:
      return floating<Half>(reduction, use);
    case Basic::bfloat16:
      return floating<BrainHalf>(reduction, use);
    case Basic::float32:
      return floating<float>(reduction, use);
    case Basic::float64:
      return floating<double>(reduction, use);
    case Basic::float80:
      return floating<long double>(reduction, use);
    case Basic::float128:
      return floating<Float128>(reduction, use);
    case Basic::complex32:
      return complex<Half>(reduction, use);
    case Basic::complex64:
      return complex<float>(reduction, use);
    case Basic::complex128:
      return complex<double>(reduction, use);
    case Basic::complex160:
      return complex<long double>(reduction, use);
    case Basic::complex256:
      return complex<Float128>(reduction, use);
    case Basic::boolean:
    case Basic::logical8:
      return logical<uint8_t>(reduction, use);
    case Basic::logical16:
      return logical<uint16_t>(reduction, use);
    case Basic::logical32:
      return logical<uint32_t>(reduction, use);
    case Basic::logical64:
      return logical<uint64_t>(reduction, use);
    case Basic::logical128:
      return logical<Int128>(reduction, use);
    case Basic::character:  // as C's char; not of the standard
      return integer<std::conditional_t<std::is_signed_v<char>, int8_t, uint8_t>, uint8_t>(reduction, use);
    case Basic::byte:
      return bitwise<uint8_t>(reduction, use);
    default:
      return nullptr;
  }
}

}  // namespace weft::datatype
