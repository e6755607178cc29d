// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/kernel/hip_text.hpp"

#include <cstddef>
#include <string_view>

namespace weft::device::hip_text {
namespace {

// A line of the text: `#define NAME value`.
void define(std::string& text, std::string_view name, std::string_view value) {
  text.append("#define ").append(name).append(" ").append(value).append("\n");
}
void define(std::string& text, std::string_view name, int value) {
  define(text, name, std::to_string(value));
}

// Everything is in a namespace, as HIP's own words are there too.
constexpr std::string_view begin = R"(
namespace weft_text {
typedef unsigned int Word32;
typedef unsigned long long Word64;
#define FIRST ((Word64)blockIdx.x * blockDim.x + threadIdx.x)
#define STEP ((Word64)gridDim.x * blockDim.x)
)";

// LISTING: 0 none, 1 even, 2 uneven.
constexpr std::string_view layout_kernel = R"(
struct Divisor { Word32 factor, shift; };
struct Loop { Word64 stride; Word32 count; Divisor by_count; Word32 unused; };
struct Arguments {
  Word64 place, packed;
  Word32 skipped, units, block;
  Divisor by_block;
  Word32 listed;
  const Word64 *offset, *before;
  Word32 each;
  Divisor by_each;
  Word32 unused;
  Loop loop[9];
};
struct alignas(UNIT) Unit { unsigned char byte[UNIT]; };

__device__ inline Word32 divide(Word32 number, Divisor by) { return (Word32)((Word64)number * by.factor >> by.shift); }

extern "C" __global__ void weft(Arguments a) {
  for (Word64 i = FIRST; i < a.units; i += STEP) {
    Word32 unit = (Word32)i + a.skipped;
    Word32 turn = divide(unit, a.by_block);
    unit -= turn * a.block;
    Word64 at;
#if LISTING == 0
    at = (Word64)unit * UNIT;
#elif LISTING == 1
    const Word32 block = divide(unit, a.by_each);
    at = (Word64)(unit - block * a.each) * UNIT + a.offset[block];
#else
    Word32 block = 0, end = a.listed;
    at = (Word64)unit * UNIT;
    while (end - block > 1) {
      const Word32 middle = (end + block) / 2;
      if (a.before[middle] <= at) block = middle; else end = middle;
    }
    at = at - a.before[block] + a.offset[block];
#endif
    for (int k = 0; k < LOOPS; ++k) {
      const Word32 next = k == LOOPS - 1 ? 0 : divide(turn, a.loop[k].by_count);
      at += (Word64)(turn - next * a.loop[k].count) * a.loop[k].stride;
      turn = next;
    }
    Unit* gaps = (Unit*)(a.place + at);
    Unit* packed = (Unit*)(a.packed + i * UNIT);
#if PACK
    *packed = *gaps;
#else
    *gaps = *packed;
#endif
  }
}
}
)";

// Elements lie EXTENT bytes apart, their second parts SECOND bytes behind the first. NUMBER and INDEX are the types of
// the parts in memory, VALUE and PLACE those that are computed with.
constexpr std::string_view reduction_kernel = R"(
struct Arguments { Word64 in, inout, count, vectors; };

extern "C" __global__ void weft(Arguments a) {
  for (Word64 i = FIRST; i < a.count; i += STEP) {
    const char* from = (const char*)(a.in + i * EXTENT);
    char* to = (char*)(a.inout + i * EXTENT);
    const NUMBER x = *(const NUMBER*)from;
    NUMBER y = *(NUMBER*)to;
#if PARTS == 2
    const INDEX x1 = *(const INDEX*)(from + SECOND);
    INDEX y1 = *(INDEX*)(to + SECOND);
#endif
    COMBINE
    *(NUMBER*)to = y;
#if PARTS == 2
    *(INDEX*)(to + SECOND) = y1;
#endif
  }
}
}
)";

// Numbers as bits in memory, and their values. 16-bit floats are computed with as 32-bit ones, and rounded to even.
constexpr std::string_view values = R"(
typedef unsigned short f16;
struct bf16 { unsigned short bits; };
template <class To, class From> __device__ inline To cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
__device__ inline float value(f16 bits) { return (float)cast<_Float16>(bits); }
__device__ inline float value(bf16 number) { return cast<float>((Word32)number.bits << 16); }
__device__ inline float value(float number) { return number; }
__device__ inline double value(double number) { return number; }
template <class Number> __device__ inline Number number(float value);
template <> __device__ inline f16 number<f16>(float value) { return cast<f16>((_Float16)value); }
template <> __device__ inline bf16 number<bf16>(float value) {
  const Word32 bits = cast<Word32>(value), high = bits >> 16;
  return {(unsigned short)(value != value ? high | 64 : (bits + 32767 + (high & 1)) >> 16)};
}
template <> __device__ inline float number<float>(float value) { return value; }
template <class Number> __device__ inline Number number(double value) { return value; }
__device__ inline short bits_of(f16 number) { return (short)number; }
__device__ inline short bits_of(bf16 number) { return (short)number.bits; }
__device__ inline int order(int bits, int infinity, int beyond) {
  return (bits & 32767) > infinity ? beyond : (bits >> 31 & 32767) ^ bits;
}
)";

bool is_float(Number number) {
  return number >= Number::f16;
}
bool is_short_float(Number number) {
  return number == Number::f16 || number == Number::bf16;
}

std::string_view type_of(Number number) {
  constexpr std::string_view names[] = {
      "void",      "signed char",        "unsigned char", "short", "unsigned short", "int",   "unsigned int",
      "long long", "unsigned long long", "f16",           "bf16",  "float",          "double"};
  return names[static_cast<int>(number)];
}

std::string sum_or_product(KernelOperation operation, Number number) {
  const char* sign = operation == KernelOperation::sum ? " + " : " * ";
  if (is_float(number)) {
    const auto one = [&](std::string_view in, std::string_view inout) {
      std::string text(inout);
      return text.append(" = number<NUMBER>(value(")
          .append(in)
          .append(")")
          .append(sign)
          .append("value(")
          .append(inout)
          .append("));");
    };
    return "{ " + one("x", "y") + " if (PARTS == 2) { " + one("SECOND_X", "SECOND_Y") + " } }";
  }
  return std::string("y = (NUMBER)((Word64)x") + sign + "(Word64)y);";  // without a sign: nothing overflows
}

// As the textbook has it, each step rounded.
constexpr std::string_view complex_product =
    "{ const auto r = value(x) * value(y) - value(x1) * value(y1); const auto i = value(x) * value(y1) + value(x1) * "
    "value(y); y = number<NUMBER>(r); y1 = number<NUMBER>(i); }";

// The minimum or maximum of a NaN and a number is a NaN, and -0 is less than +0, as the processor's kernels have it.
std::string minimum_or_maximum(KernelOperation operation, Number number) {
  const bool least = operation == KernelOperation::minimum;
  const char* better = least ? " < " : " > ";
  if (!is_float(number)) return std::string("y = x") + better + "y ? x : y;";
  if (is_short_float(number)) {
    const int infinity = number == Number::f16 ? 0x7c00 : 0x7f80, beyond = least ? -0x8000 : 0x7fff;
    const std::string more = ", " + std::to_string(infinity) + ", " + std::to_string(beyond) + ")";
    return "if (order(bits_of(x)" + more + better + "order(bits_of(y)" + more + ") y = x;";
  }
  const std::string bits = number == Number::f32 ? "Word32" : "Word64";
  std::string text = "{ const " + bits + " s = cast<" + bits + ">(x" + better + "y ? x : y), t = cast<" + bits + ">(y" +
                     better + "x ? y : x); y = cast<NUMBER>(";
  if (least) return text + "s | t); }";
  return text + "x != x || y != y ? ~(" + bits + ")0 : s & t); }";
}

std::string bitwise_or_logical(KernelOperation operation, Number number) {
  if (is_float(number)) return {};
  switch (operation) {
    case KernelOperation::bit_and:
      return "y = x & y;";
    case KernelOperation::bit_or:
      return "y = x | y;";
    case KernelOperation::bit_xor:
      return "y = x ^ y;";
    case KernelOperation::logical_and:
      return "y = x && y;";
    case KernelOperation::logical_or:
      return "y = x || y;";
    default:
      return "y = !x != !y;";
  }
}

// The better value wins with its index, the lower index among equals; a NaN is better than any number, and all are
// equal.
std::string locate(const KernelReduction& reduction) {
  std::string text =
      is_float(reduction.number) ? "{ const auto a = value(x), b = value(y);" : "{ const auto a = x, b = y;";
  text.append(is_float(reduction.index) ? " const bool first = value(x1) < value(y1);"
                                        : " const bool first = x1 < y1;");
  text.append(reduction.operation == KernelOperation::minloc ? " bool better = a < b" : " bool better = a > b");
  text.append(", same = a == b;");
  if (is_float(reduction.number))
    text.append(" same = same || (a != a && b != b); better = better || (a != a && b == b);");
  return text.append(" if (better || (same && first)) { y = x; y1 = x1; } }");
}

std::string combine(const KernelReduction& reduction) {
  const Number number = reduction.number;
  const KernelOperation operation = reduction.operation;
  const bool locates = operation == KernelOperation::minloc || operation == KernelOperation::maxloc;
  if (number == Number::none || locates != (reduction.index != Number::none)) return {};
  if (locates) return reduction.is_complex ? std::string() : locate(reduction);
  if (reduction.is_complex && (!is_float(number) || operation > KernelOperation::product)) return {};
  if (reduction.is_complex && operation == KernelOperation::product) return std::string(complex_product);
  if (operation <= KernelOperation::product) return sum_or_product(operation, number);
  if (operation <= KernelOperation::maximum) return minimum_or_maximum(operation, number);
  return bitwise_or_logical(operation, number);
}

}  // namespace

std::string text_of(const ptx::LayoutForm& form) {
  std::string text;
  define(text, "UNIT", form.unit);
  define(text, "LISTING", static_cast<int>(form.listing));
  define(text, "LOOPS", form.loops);
  define(text, "PACK", form.direction == KernelDirection::pack ? 1 : 0);
  return text.append(begin).append(layout_kernel);
}

std::string text_of(const KernelReduction& reduction) {
  const std::string combination = combine(reduction);
  if (combination.empty()) return {};
  std::string text;
  define(text, "NUMBER", type_of(reduction.number));
  define(text, "INDEX", type_of(reduction.index != Number::none ? reduction.index : reduction.number));
  define(text, "PARTS", reduction.parts());
  define(text, "EXTENT", reduction.extent());
  define(text, "SECOND", reduction.to_second());
  define(text, "SECOND_X", reduction.parts() == 2 ? "x1" : "x");
  define(text, "SECOND_Y", reduction.parts() == 2 ? "y1" : "y");
  define(text, "COMBINE", combination);
  return text.append(begin).append(values).append(reduction_kernel);
}

}  // namespace weft::device::hip_text
