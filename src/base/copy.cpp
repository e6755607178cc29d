// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/copy.hpp"

#include <unistd.h>

#include <atomic>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// The compiler would make calls of memcpy from loops (src/CMakeLists.txt); the test abi.copies looks at the object
// code.

namespace weft::base {

namespace {

#if defined(__x86_64__)
#define WEFT_FOR(features) [[gnu::target(features)]]
#else
#define WEFT_FOR(features)
#endif

using Vector16 = uint64_t __attribute__((vector_size(16)));
using Vector32 = uint64_t __attribute__((vector_size(32)));
using Vector64 = uint64_t __attribute__((vector_size(64)));

// Some vectors in registers, each loaded and stored by one instruction.
template <class Vector, int count>
struct Registers {
  static constexpr size_t bytes = count * sizeof(Vector);
  Vector vector[count];

  [[gnu::always_inline]] void load(const char* from) {
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) __builtin_memcpy(&vector[i], from + i * sizeof(Vector), sizeof(Vector));
  }
  [[gnu::always_inline]] void store(char* to) const {
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) __builtin_memcpy(to + i * sizeof(Vector), &vector[i], sizeof(Vector));
  }
};

// All bytes are loaded before one is stored, here and below, so that the two may overlap.
template <class Unit, int units>
[[gnu::always_inline]] inline void move_ends(char* to, const char* from, size_t bytes) {
  Registers<Unit, units> first, last;
  first.load(from);
  last.load(from + bytes - last.bytes);
  first.store(to);
  last.store(to + bytes - last.bytes);
}

constexpr int in_a_step = 4;  // vectors

constexpr size_t line = 64;

// Overwrites a byte of each line from `memory` on.
[[gnu::always_inline]] inline void own(char* memory, size_t bytes) {
  for (size_t at = 0; at < bytes; at += line) *static_cast<volatile char*>(memory + at) = 0;
}

// Moves at least a step. Stores are aligned except at both ends, which are loaded before the loop and stored behind it.
template <class Vector, bool owning = false>
[[gnu::always_inline]] inline void move_forward(char* to, const char* from, size_t bytes) {
  Registers<Vector, 1> first;
  Registers<Vector, in_a_step> last;
  const size_t last_at = bytes - last.bytes;
  first.load(from);
  last.load(from + last_at);
  for (size_t at = first.bytes - reinterpret_cast<uintptr_t>(to) % first.bytes; at < last_at; at += last.bytes) {
    Registers<Vector, in_a_step> step;
    step.load(from + at);
    step.store(to + at);
    if constexpr (owning) own(const_cast<char*>(from) + at, step.bytes);
  }
  last.store(to + last_at);
  first.store(to);
  if constexpr (owning) own(const_cast<char*>(from) + last_at, last.bytes);
}

template <class Vector>
[[gnu::always_inline]] inline void move_backward(char* to, const char* from, size_t bytes) {
  Registers<Vector, in_a_step> first;
  Registers<Vector, 1> last;
  const size_t last_at = bytes - last.bytes;
  first.load(from);
  last.load(from + last_at);
  for (size_t end = bytes - reinterpret_cast<uintptr_t>(to + bytes) % last.bytes; end > first.bytes;) {
    Registers<Vector, in_a_step> step;
    end -= step.bytes;
    step.load(from + end);
    step.store(to + end);
  }
  first.store(to);
  last.store(to + last_at);
}

template <class Vector>
[[gnu::always_inline]] inline void move(char* to, const char* from, size_t bytes) {
  if (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from) >= bytes) {
    move_forward<Vector>(to, from, bytes);
  } else {
    move_backward<Vector>(to, from, bytes);
  }
}

// A copy of so many bytes or more is a loop.
constexpr size_t loop_from = 2 * in_a_step * sizeof(Vector16) + 1;

// Functions for each length of vectors.
struct Moves {
  void (*copy)(char* to, const char* from, size_t bytes);
  void (*copy_owning)(char* to, char* from, size_t bytes);
};

void move_baseline(char* to, const char* from, size_t bytes) {
  move<Vector16>(to, from, bytes);
}

void move_owning_baseline(char* to, char* from, size_t bytes) {
  move_forward<Vector16, true>(to, from, bytes);
}

#if defined(__x86_64__)

WEFT_FOR("avx2") void move_avx2(char* to, const char* from, size_t bytes) {
  move<Vector32>(to, from, bytes);
}

WEFT_FOR("avx512f,avx512vl") void move_avx512(char* to, const char* from, size_t bytes) {
  if (bytes < in_a_step * sizeof(Vector64)) return move<Vector32>(to, from, bytes);
  move<Vector64>(to, from, bytes);
}

WEFT_FOR("avx2") void move_owning_avx2(char* to, char* from, size_t bytes) {
  move_forward<Vector32, true>(to, from, bytes);
}

WEFT_FOR("avx512f,avx512vl") void move_owning_avx512(char* to, char* from, size_t bytes) {
  if (bytes < in_a_step * sizeof(Vector64)) return move_forward<Vector32, true>(to, from, bytes);
  move_forward<Vector64, true>(to, from, bytes);
}

CopyRoutine find_routine() {
  // Processors before these lower their clock for vectors of 64 bytes.
  const bool longest = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi2");
  return longest ? CopyRoutine::avx512 : has_routine(CopyRoutine::avx2) ? CopyRoutine::avx2 : CopyRoutine::baseline;
}

#else

CopyRoutine find_routine() {
  return CopyRoutine::baseline;
}

#endif

constexpr Moves baseline_moves{move_baseline, move_owning_baseline};
#if defined(__x86_64__)
constexpr Moves avx2_moves{move_avx2, move_owning_avx2};
constexpr Moves avx512_moves{move_avx512, move_owning_avx512};
#endif

const Moves& moves_of(CopyRoutine routine) {
#if defined(__x86_64__)
  if (routine == CopyRoutine::avx512) return avx512_moves;
  if (routine == CopyRoutine::avx2) return avx2_moves;
#endif
  (void)routine;
  return baseline_moves;
}

// Found by the first large copy.
std::atomic<const Moves*> found = nullptr;
std::atomic<size_t> past_caches_from = SIZE_MAX;

[[gnu::cold, gnu::noinline]] const Moves& find_moves() {
  constexpr size_t usual = 32 << 20;
  const long last_cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  past_caches_from.store((last_cache > 0 ? static_cast<size_t>(last_cache) : usual) / 4 * 3, std::memory_order_relaxed);
  const Moves& moves = moves_of(find_routine());
  found.store(&moves, std::memory_order_relaxed);
  return moves;
}

[[gnu::always_inline]] inline const Moves& moves() {
  const Moves* const known = found.load(std::memory_order_relaxed);
  return known != nullptr ? *known : find_moves();
}

// Stores that go past the caches do not fetch the lines that they overwrite. They write whole lines; the parts at both
// ends go through the caches. `bytes` are at least two lines.
void copy_past_caches(const Moves& moves, char* to, const char* from, size_t bytes) {
#if defined(__x86_64__)
  constexpr int parts = line / sizeof(__m128i);
  size_t at = line - reinterpret_cast<uintptr_t>(to) % line;
  move_ends<Vector16, parts>(to, from, 2 * line);
  for (; at + line <= bytes; at += line) {
    __m128i part[parts];
    for (int i = 0; i < parts; ++i) part[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at) + i);
    for (int i = 0; i < parts; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(to + at) + i, part[i]);
  }
  move_ends<Vector16, parts>(to + bytes - 2 * line, from + bytes - 2 * line, 2 * line);
  _mm_sfence();  // such stores are not ordered with others
  (void)moves;
#else
  moves.copy(to, from, bytes);
#endif
}

void move_large(const Moves& moves, char* to, const char* from, size_t bytes) {
  const uintptr_t apart = reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from);
  const bool overlaps = apart < bytes || -apart < bytes;
  if (bytes < past_caches_from.load(std::memory_order_relaxed) || overlaps) return moves.copy(to, from, bytes);
  copy_past_caches(moves, to, from, bytes);
}

}  // namespace

CopyRoutine copy_routine() {
  static const CopyRoutine routine = find_routine();
  return routine;
}

const char* name_of(CopyRoutine routine) {
  switch (routine) {
    case CopyRoutine::avx512:
      return "AVX-512";
    case CopyRoutine::avx2:
      return "AVX2";
    default:
#if defined(__x86_64__)
      return "SSE2";
#else
      return "vectors of 16 bytes";
#endif
  }
}

bool has_routine(CopyRoutine routine) {
#if defined(__x86_64__)
  if (routine == CopyRoutine::avx512) return __builtin_cpu_supports("avx512vl") != 0;
  if (routine == CopyRoutine::avx2) return __builtin_cpu_supports("avx2") != 0;
#endif
  return routine == CopyRoutine::baseline;
}

void copy_by(CopyRoutine routine, void* to, const void* from, size_t bytes) {
  if (bytes < loop_from) return copy(to, from, bytes);
  moves_of(routine).copy(static_cast<char*>(to), static_cast<const char*>(from), bytes);
}

void copy(void* to, const void* from, size_t bytes) {
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  if (bytes <= 16) {
    if (bytes >= 8) return move_ends<uint64_t, 1>(out, in, bytes);
    if (bytes >= 4) return move_ends<uint32_t, 1>(out, in, bytes);
    if (bytes >= 2) return move_ends<uint16_t, 1>(out, in, bytes);
    if (bytes == 1) *out = *in;
    return;
  }
  if (bytes <= 32) return move_ends<Vector16, 1>(out, in, bytes);
  if (bytes <= 64) return move_ends<Vector16, 2>(out, in, bytes);
  if (bytes < loop_from) return move_ends<Vector16, 4>(out, in, bytes);
  move_large(moves(), out, in, bytes);
}

void copy_owning(void* to, void* from, size_t bytes) {
  if (bytes >= loop_from) return moves().copy_owning(static_cast<char*>(to), static_cast<char*>(from), bytes);
  copy(to, from, bytes);
  own_lines(from, bytes);
}

void own_lines(void* memory, size_t bytes) {
  own(static_cast<char*>(memory), bytes);
}

}  // namespace weft::base
