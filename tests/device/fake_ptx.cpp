// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The instructions of a kernel, one thread after the other.
#include "fake_ptx.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <ctime>
#include <iterator>

#include "fake_ptx_kernel.hpp"

namespace {

using namespace fake_ptx;

constexpr int illegal_address = 700, misaligned_address = 716;

float float_of(uint64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}
double double_of(uint64_t bits) {
  return std::bit_cast<double>(bits);
}

double half_value(uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<double>(bits & 1023);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

uint64_t half_of(float value) {
  if (std::isnan(value)) return 0x7fff;
  const uint64_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude >= 65520) return sign | 0x7c00;
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), -14);
  const double units = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
  return sign | ((static_cast<uint64_t>(exponent + 14) << 10) + static_cast<uint64_t>(units));
}

uint64_t cut(uint64_t value, int bits) {
  return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
}

int64_t extended(uint64_t value, int bits) {
  return bits >= 64 ? static_cast<int64_t>(value) : static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}

uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

class Thread {
 public:
  Thread(const Kernel& kernel, const uint32_t (&special)[7], const char* arguments,
         void* (*reach)(unsigned long long, size_t))
      : kernel_(kernel), special_(special), arguments_(arguments), reach_(reach), registers_(kernel.registers.size()) {}

  int run() {
    for (size_t at = 0; at < kernel_.code.size(); ++at) {
      const Instruction& i = kernel_.code[at];
      if (i.guard >= 0 && (registers_[static_cast<size_t>(i.guard)] != 0) == i.negated) continue;
      if (i.code == Code::ret) return 0;
      if (i.code == Code::bra) {
        at = static_cast<size_t>(i.offset) - 1;
      } else if (const int error = execute(i)) {
        return error;
      }
    }
    return illegal_address;
  }

 private:
  uint64_t value(const Operand& operand) const {
    switch (operand.kind) {
      case Operand::Kind::reg:
        return registers_[static_cast<size_t>(operand.value)];
      case Operand::Kind::special:
        return static_cast<size_t>(operand.value) < std::size(special_) ? special_[operand.value] : now_ns();
      default:
        return static_cast<uint64_t>(operand.value);
    }
  }
  void set(const Operand& operand, uint64_t value) {
    registers_[static_cast<size_t>(operand.value)] = cut(value, operand.bits);
  }

  int execute(const Instruction& i) {
    switch (i.code) {
      case Code::ld_param:
        return load_parameter(i);
      case Code::ld_global:
      case Code::st_global: {
        const uint64_t address = value(i.sources.back()) + static_cast<uint64_t>(i.offset);
        const size_t bytes = static_cast<size_t>(i.type.bits / 8 * i.vector);
        if (address % bytes != 0) return misaligned_address;
        auto* memory = static_cast<char*>(reach_(address, bytes));
        if (memory == nullptr) return illegal_address;
        return i.code == Code::ld_global ? load(i, memory) : store(i, memory);
      }
      case Code::atom_min:
      case Code::atom_max:
        return exchange(i);
      case Code::mov:
        move(i);
        return 0;
      case Code::setp:
        set(i.results[0], compare(i) ? 1 : 0);
        return 0;
      case Code::cvt:
        set(i.results[0], convert(i));
        return 0;
      default:
        set(i.results[0], i.type.kind == 'f' ? compute_float(i) : compute(i));
        return 0;
    }
  }

  int load_parameter(const Instruction& i) {
    const uint64_t at = value(i.sources.back()) + static_cast<uint64_t>(i.offset);
    const auto bytes = static_cast<size_t>(i.type.bits / 8 * i.vector);
    if (at % bytes != 0) return misaligned_address;
    return at + bytes <= kernel_.bytes_of_arguments ? load(i, arguments_ + at) : illegal_address;
  }

  // One thread runs at a time, so it is atomic.
  int exchange(const Instruction& i) {
    const uint64_t address = value(i.sources[1]), mine = value(i.sources[0]);
    const auto bytes = static_cast<size_t>(i.type.bits / 8);
    if (address % bytes != 0) return misaligned_address;
    void* memory = reach_(address, bytes);
    if (memory == nullptr) return illegal_address;
    uint64_t word = 0;
    std::memcpy(&word, memory, bytes);
    set(i.results[0], word);
    const uint64_t other = cut(mine, i.type.bits);
    word = i.code == Code::atom_min ? std::min(word, other) : std::max(word, other);
    std::memcpy(memory, &word, bytes);
    return 0;
  }

  int load(const Instruction& i, const char* memory) {
    const auto bytes = static_cast<size_t>(i.type.bits / 8);
    for (const Operand& result : i.results) {
      uint64_t word = 0;
      std::memcpy(&word, memory, bytes);
      set(result, i.type.kind == 's' ? static_cast<uint64_t>(extended(word, i.type.bits)) : word);
      memory += bytes;
    }
    return 0;
  }
  int store(const Instruction& i, char* memory) {
    const auto bytes = static_cast<size_t>(i.type.bits / 8);
    for (size_t k = 0; k + 1 < i.sources.size(); ++k, memory += bytes) {
      const uint64_t word = value(i.sources[k]);
      std::memcpy(memory, &word, bytes);
    }
    return 0;
  }

  void move(const Instruction& i) {
    if (i.results.size() == 2) {
      const uint64_t word = value(i.sources[0]);
      set(i.results[0], word);
      set(i.results[1], word >> 32);
    } else if (i.sources.size() == 2) {
      set(i.results[0], value(i.sources[0]) | value(i.sources[1]) << 32);
    } else {
      set(i.results[0], value(i.sources[0]));
    }
  }

  template <class T>
  static bool holds(const std::string& comparison, T a, T b) {
    if (comparison == "lt") return a < b;
    if (comparison == "le") return a <= b;
    if (comparison == "gt") return a > b;
    if (comparison == "ge") return a >= b;
    if (comparison == "eq") return a == b;
    if (comparison == "ne") return a != b;
    if (comparison == "leu") return !(a > b);  // or not comparable
    return a != a || b != b;                   // nan
  }
  bool compare(const Instruction& i) const {
    const uint64_t a = value(i.sources[0]), b = value(i.sources[1]);
    const int bits = i.type.bits;
    if (i.type.kind == 'f')
      return bits == 32 ? holds(i.comparison, float_of(a), float_of(b))
                        : holds(i.comparison, double_of(a), double_of(b));
    if (i.type.kind == 's') return holds(i.comparison, extended(a, bits), extended(b, bits));
    return holds(i.comparison, cut(a, bits), cut(b, bits));
  }

  uint64_t convert(const Instruction& i) const {
    const uint64_t a = value(i.sources[0]);
    if (i.from.kind == 'f' && i.from.bits == 16) {
      const auto wide = static_cast<float>(half_value(a));
      return std::bit_cast<uint32_t>(wide);
    }
    if (i.type.kind == 'f') return half_of(float_of(a));
    return i.from.kind == 's' ? static_cast<uint64_t>(extended(a, i.from.bits)) : cut(a, i.from.bits);
  }

  template <class T>
  static T arithmetic(Code code, T a, T b) {
    switch (code) {
      case Code::add:
        return a + b;
      case Code::sub:
        return a - b;
      case Code::mul_lo:
        return a * b;
      case Code::div:
        return a / b;
      case Code::min:
        return std::fmin(a, b);
      case Code::max:
        return std::fmax(a, b);
      case Code::neg:
        return -a;
      case Code::abs:
        return std::fabs(a);
      case Code::sqrt:
        return std::sqrt(a);
      default:  // rcp
        return 1 / a;
    }
  }
  uint64_t compute_float(const Instruction& i) const {
    const uint64_t a = value(i.sources[0]), b = i.sources.size() > 1 ? value(i.sources[1]) : 0;
    if (i.code == Code::selp) return value(i.sources[2]) != 0 ? a : b;
    if (i.type.bits == 32) return std::bit_cast<uint32_t>(arithmetic(i.code, float_of(a), float_of(b)));
    return std::bit_cast<uint64_t>(arithmetic(i.code, double_of(a), double_of(b)));
  }

  uint64_t compute(const Instruction& i) const {
    const int bits = i.type.bits;
    const bool is_signed = i.type.kind == 's';
    const uint64_t a = value(i.sources[0]);
    const uint64_t b = i.sources.size() > 1 ? value(i.sources[1]) : 0;
    const bool less = is_signed ? extended(a, bits) < extended(b, bits) : cut(a, bits) < cut(b, bits);
    switch (i.code) {
      case Code::add:
        return a + b;
      case Code::sub:
        return a - b;
      case Code::mul_lo:
      case Code::mul_wide:
        return is_signed ? static_cast<uint64_t>(extended(a, bits)) * static_cast<uint64_t>(extended(b, bits)) : a * b;
      case Code::mad_lo:
        return a * b + value(i.sources[2]);
      case Code::div:
        if (is_signed) return static_cast<uint64_t>(extended(a, bits) / extended(b, bits));
        return cut(a, bits) / cut(b, bits);
      case Code::min:
        return less ? a : b;
      case Code::max:
        return less ? b : a;
      case Code::bit_and:
        return a & b;
      case Code::bit_or:
        return a | b;
      case Code::bit_xor:
        return a ^ b;
      case Code::bit_not:
        return ~a;
      case Code::shl:
        return b >= static_cast<uint64_t>(bits) ? 0 : a << b;
      case Code::shr: {
        const auto most = static_cast<uint64_t>(bits);
        if (is_signed) return static_cast<uint64_t>(extended(a, bits) >> std::min(b, most - 1));
        return b >= most ? 0 : a >> b;
      }
      case Code::selp:
        return value(i.sources[2]) != 0 ? a : b;
      case Code::bfe: {
        const auto length = static_cast<int>(value(i.sources[2]));
        const uint64_t field = cut(a >> b, length);
        return is_signed ? static_cast<uint64_t>(extended(field, length)) : field;
      }
      default: {  // bfi
        const uint64_t at = value(i.sources[2]);
        const uint64_t mask = cut(~uint64_t{0}, static_cast<int>(value(i.sources[3]))) << at;
        return (b & ~mask) | (a << at & mask);
      }
    }
  }

  const Kernel& kernel_;
  const uint32_t (&special_)[7];
  const char* arguments_;
  void* (*reach_)(unsigned long long, size_t);
  std::vector<uint64_t> registers_;
};

}  // namespace

namespace fake_ptx {

int run(const Kernel& kernel, Size blocks, Size threads, const void* arguments,
        void* (*reach)(unsigned long long address, size_t bytes)) {
  for (uint32_t block = 0; block < blocks.x * blocks.y; ++block) {
    for (uint32_t thread = 0; thread < threads.x * threads.y; ++thread) {
      const uint32_t special[] = {block % blocks.x, threads.x, thread % threads.x, blocks.x,
                                  block / blocks.x, threads.y, thread / threads.x};
      Thread one(kernel, special, static_cast<const char*>(arguments), reach);
      if (const int error = one.run()) return error;
    }
  }
  return 0;
}

}  // namespace fake_ptx
