// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/kernel/spirv.hpp"

#include <cstddef>

#include "device/kernel/spirv_writer.hpp"

namespace weft::device::spirv {
namespace {

// A loop over what the thread has to do: its number, and every so many behind it.
class Turns {
 public:
  // Opens the body.
  Turns(Writer& to, Id count) : to_(to) {
    const Id first = to.builtin(Builtin::global_invocation);
    step_ = to.builtin(Builtin::global_size);
    const Id before = to.block();
    head_ = to.reserve();
    tail_ = to.reserve();
    done_ = to.reserve();
    next_ = to.reserve(to.integer(64));
    to.branch(head_);
    to.open(head_);
    number_ = to.make(OpCode::phi, to.integer(64), {first, before, next_, tail_});
    const Id body = to.reserve();
    to.branch_if(to.test(OpCode::less, number_, count), body, done_);
    to.open(body);
  }
  Id number() const { return number_; }
  // Ends the body.
  void end() {
    to_.branch(tail_);
    to_.open(tail_);
    to_.define(next_, OpCode::add, {number_, step_});
    to_.branch(head_);
    to_.open(done_);
  }

 private:
  Writer& to_;
  Id step_, head_, tail_, done_, next_, number_;
};

// ---- Layouts

using Arguments = ptx::LayoutArguments;

class LayoutKernel {
 public:
  explicit LayoutKernel(const ptx::LayoutForm& form) : form_(form) {}
  std::vector<uint32_t> write();

 private:
  struct Divided {
    Id quotient, remainder;
  };
  Id number(size_t offset) { return to_.field(offset, 32); }
  Id wide(Id value) { return to_.cast(OpCode::zero_extend, to_.integer(64), value); }
  Id times(Id value, Id factor) { return to_.same(OpCode::multiply, wide(value), factor); }
  Id plus(Id left, Id right) { return to_.same(OpCode::add, left, right); }
  Divided divide(Id value, size_t divisor, size_t by);
  Id find_in_list(Id unit);
  Id find_block(Id at);
  Id entry(Id index) {  // of the list's copy
    return to_.load(to_.integer(64), list_, to_.same(OpCode::multiply, index, to_.constant(64, 8)));
  }

  Writer to_;
  const ptx::LayoutForm form_;
  Id list_ = 0, listed_ = 0;
};

LayoutKernel::Divided LayoutKernel::divide(Id value, size_t divisor, size_t by) {
  const Id factor = wide(number(divisor + offsetof(ptx::Divisor, factor)));
  const Id shift = wide(number(divisor + offsetof(ptx::Divisor, shift)));
  const Id long_quotient = to_.same(OpCode::shift_right, times(value, factor), shift);
  const Id quotient = to_.cast(OpCode::zero_extend, to_.integer(32), long_quotient);
  const Id whole = to_.same(OpCode::multiply, quotient, number(by));
  return {quotient, to_.same(OpCode::subtract, value, whole)};
}

// The last block of the list that begins at byte `at` of the data or before.
Id LayoutKernel::find_block(Id at) {
  const Id one = to_.constant(64, 1);
  const Id before = to_.block(), head = to_.reserve(), body = to_.reserve(), found = to_.reserve();
  const Id next_low = to_.reserve(to_.integer(64)), next_high = to_.reserve(to_.integer(64));
  to_.branch(head);
  to_.open(head);
  const Id low = to_.make(OpCode::phi, to_.integer(64), {to_.constant(64, 0), before, next_low, body});
  const Id high = to_.make(OpCode::phi, to_.integer(64), {listed_, before, next_high, body});
  const Id some = to_.test(OpCode::less, one, to_.same(OpCode::subtract, high, low));
  to_.branch_if(some, body, found);
  to_.open(body);
  const Id middle = to_.same(OpCode::shift_right, plus(low, high), one);
  const Id there = to_.test(OpCode::less_or_equal, entry(plus(listed_, middle)), at);
  to_.define(next_low, OpCode::select, {there, middle, low});
  to_.define(next_high, OpCode::select, {there, high, middle});
  to_.branch(head);
  to_.open(found);
  return low;
}

// Where a unit of the list is.
Id LayoutKernel::find_in_list(Id unit) {
  const Id size = to_.constant(64, static_cast<uint64_t>(form_.unit));
  if (form_.listing == ptx::Listing::even) {
    const auto [block, inside] = divide(unit, offsetof(Arguments, by_each), offsetof(Arguments, each));
    return plus(times(inside, size), entry(wide(block)));
  }
  const Id at = times(unit, size);
  const Id block = find_block(at);
  return plus(to_.same(OpCode::subtract, at, entry(plus(listed_, block))), entry(block));
}

std::vector<uint32_t> LayoutKernel::write() {
  const Id place = to_.add_pointer(), packed = to_.add_pointer();
  const bool has_list = form_.listing != ptx::Listing::none;
  if (has_list) list_ = to_.add_pointer();
  to_.add_structure(sizeof(Arguments));
  to_.begin();
  const Id size = to_.constant(64, static_cast<uint64_t>(form_.unit));
  if (has_list) listed_ = wide(number(offsetof(Arguments, listed)));
  Turns turns(to_, wide(number(offsetof(Arguments, units))));
  const Id low = to_.cast(OpCode::zero_extend, to_.integer(32), turns.number());
  const Id unit = plus(low, number(offsetof(Arguments, skipped)));
  auto [turn, inside] = divide(unit, offsetof(Arguments, by_block), offsetof(Arguments, block));
  Id at = has_list ? find_in_list(inside) : times(inside, size);
  for (int k = 0; k < form_.loops; ++k) {
    const size_t loop = offsetof(Arguments, loop) + static_cast<size_t>(k) * sizeof(Arguments::LoopArguments);
    Divided parts{turn, turn};
    if (k < form_.loops - 1)
      parts = divide(turn, loop + offsetof(Arguments::LoopArguments, by_count),
                     loop + offsetof(Arguments::LoopArguments, count));
    at = plus(at, times(parts.remainder, to_.field(loop + offsetof(Arguments::LoopArguments, stride), 64)));
    turn = parts.quotient;
  }
  const Id packed_at = to_.same(OpCode::multiply, turns.number(), size);
  const Id type = form_.unit == 16 ? to_.words(4) : to_.integer(form_.unit * 8);
  if (form_.direction == KernelDirection::pack)
    to_.store(to_.load(type, place, at), packed, packed_at);
  else
    to_.store(to_.load(type, packed, packed_at), place, at);
  turns.end();
  return to_.finish(ptx::kernel_name);
}

// ---- Reductions: in (x) and inout (y), as bits

bool is_float(Number number) {
  return number >= Number::f16;
}
bool is_signed(Number number) {
  return number == Number::s8 || number == Number::s16 || number == Number::s32 || number == Number::s64;
}

class ReductionKernel {
 public:
  explicit ReductionKernel(const KernelReduction& reduction) : reduction_(reduction) {}
  std::vector<uint32_t> write();

 private:
  struct Parts {
    Id first, second;
  };
  // Halves are computed with as 32-bit floats, and rounded to even.
  Id value(Number number, Id bits);
  Id bits(Number number, Id value);
  Id constant(Number number, uint64_t value) { return to_.constant(size_of(number) * 8, value); }
  Id compute(OpCode op, Number number, Id x, Id y) {
    return bits(number, to_.same(op, value(number, x), value(number, y)));
  }

  Id sum_or_product(Id x, Id y);
  Id minimum_or_maximum(Id x, Id y);
  Id extreme_of_floats(Id x, Id y);
  Id order(Id bits);
  Id bitwise_or_logical(Id x, Id y);
  Id is_less(Number number, Id left, Id right);
  Id is_nan(Id value) { return to_.test(OpCode::unequal_or_nan_float, value, value); }
  Parts complex_product(Parts x, Parts y);
  Parts locate(Parts x, Parts y);
  Parts combine(Parts x, Parts y);

  Writer to_;
  const KernelReduction reduction_;
};

Id ReductionKernel::value(Number number, Id bits) {
  switch (number) {
    case Number::f16:
      return to_.cast(OpCode::convert_float, to_.floating(32), to_.cast(OpCode::bitcast, to_.floating(16), bits));
    case Number::bf16: {
      const Id wide = to_.cast(OpCode::zero_extend, to_.integer(32), bits);
      return to_.cast(OpCode::bitcast, to_.floating(32), to_.same(OpCode::shift_left, wide, to_.constant(32, 16)));
    }
    case Number::f32:
    case Number::f64:
      return to_.cast(OpCode::bitcast, to_.floating(size_of(number) * 8), bits);
    default:
      return bits;
  }
}

Id ReductionKernel::bits(Number number, Id value) {
  switch (number) {
    case Number::f16:
      return to_.cast(OpCode::bitcast, to_.integer(16), to_.cast(OpCode::convert_float, to_.floating(16), value));
    case Number::bf16: {
      const auto word = [this](uint32_t bits32) { return to_.constant(32, bits32); };
      const Id all = to_.cast(OpCode::bitcast, to_.integer(32), value);
      const Id high = to_.same(OpCode::shift_right, all, word(16));
      const Id half = to_.same(OpCode::add, word(32767), to_.same(OpCode::bit_and, high, word(1)));
      const Id rounded = to_.same(OpCode::shift_right, to_.same(OpCode::add, all, half), word(16));
      const Id nan = to_.same(OpCode::bit_or, high, word(64));
      return to_.cast(OpCode::zero_extend, to_.integer(16), to_.select(is_nan(value), nan, rounded));
    }
    case Number::f32:
    case Number::f64:
      return to_.cast(OpCode::bitcast, to_.integer(size_of(number) * 8), value);
    default:
      return value;
  }
}

Id ReductionKernel::sum_or_product(Id x, Id y) {
  const bool sum = reduction_.operation == KernelOperation::sum;
  if (is_float(reduction_.number))
    return compute(sum ? OpCode::add_float : OpCode::multiply_float, reduction_.number, x, y);
  return to_.same(sum ? OpCode::add : OpCode::multiply, x, y);
}

// As the textbook has it, each step rounded.
ReductionKernel::Parts ReductionKernel::complex_product(Parts x, Parts y) {
  const Number number = reduction_.number;
  const Id a = value(number, x.first), b = value(number, x.second);
  const Id c = value(number, y.first), d = value(number, y.second);
  const auto times = [this](Id left, Id right) { return to_.same(OpCode::multiply_float, left, right); };
  const Id real = to_.same(OpCode::subtract_float, times(a, c), times(b, d));
  const Id imaginary = to_.same(OpCode::add_float, times(a, d), times(b, c));
  return {bits(number, real), bits(number, imaginary)};
}

// A half's place among all: NaNs are beyond the rest, and -0 is less than +0.
Id ReductionKernel::order(Id bits) {
  const auto word = [this](int number) { return to_.constant(32, static_cast<uint32_t>(number)); };
  const bool least = reduction_.operation == KernelOperation::minimum;
  const Id all = to_.cast(OpCode::sign_extend, to_.integer(32), bits);
  const Id size = to_.same(OpCode::bit_and, all, word(32767));
  const Id nan = to_.test(OpCode::greater, size, word(reduction_.number == Number::f16 ? 0x7c00 : 0x7f80));
  const Id sign = to_.same(OpCode::bit_and, to_.same(OpCode::shift_right_signed, all, word(31)), word(32767));
  return to_.select(nan, word(least ? -0x8000 : 0x7fff), to_.same(OpCode::bit_xor, sign, all));
}

// The minimum or maximum of a NaN and a number is a NaN, and -0 is less than +0: bits of numbers that are equal are
// or-ed, or and-ed.
Id ReductionKernel::extreme_of_floats(Id x, Id y) {
  const bool least = reduction_.operation == KernelOperation::minimum;
  const OpCode better = least ? OpCode::less_float : OpCode::greater_float;
  const Id a = value(reduction_.number, x), b = value(reduction_.number, y);
  const Id s = to_.select(to_.test(better, a, b), x, y), t = to_.select(to_.test(better, b, a), y, x);
  if (least) return to_.same(OpCode::bit_or, s, t);
  const Id nan = to_.test(OpCode::either, is_nan(a), is_nan(b));
  return to_.select(nan, constant(reduction_.number, ~uint64_t{0}), to_.same(OpCode::bit_and, s, t));
}

Id ReductionKernel::minimum_or_maximum(Id x, Id y) {
  const bool least = reduction_.operation == KernelOperation::minimum;
  const Number number = reduction_.number;
  if (number == Number::f16 || number == Number::bf16)
    return to_.select(to_.test(least ? OpCode::less_signed : OpCode::greater_signed, order(x), order(y)), x, y);
  if (is_float(number)) return extreme_of_floats(x, y);
  return to_.select(least ? is_less(number, x, y) : is_less(number, y, x), x, y);
}

Id ReductionKernel::bitwise_or_logical(Id x, Id y) {
  const Number number = reduction_.number;
  const auto logical = [&](OpCode op) {
    const Id zero = constant(number, 0);
    const Id is = to_.test(op, to_.test(OpCode::unequal, x, zero), to_.test(OpCode::unequal, y, zero));
    return to_.select(is, constant(number, 1), zero);
  };
  switch (reduction_.operation) {
    case KernelOperation::bit_and:
      return to_.same(OpCode::bit_and, x, y);
    case KernelOperation::bit_or:
      return to_.same(OpCode::bit_or, x, y);
    case KernelOperation::bit_xor:
      return to_.same(OpCode::bit_xor, x, y);
    case KernelOperation::logical_and:
      return logical(OpCode::both);
    case KernelOperation::logical_or:
      return logical(OpCode::either);
    default:
      return logical(OpCode::differ);
  }
}

// Compares values of the type that is computed with; false for a NaN.
Id ReductionKernel::is_less(Number number, Id left, Id right) {
  return to_.test(is_float(number)    ? OpCode::less_float
                  : is_signed(number) ? OpCode::less_signed
                                      : OpCode::less,
                  left, right);
}

// The better value wins with its index, the lower index among equals; a NaN is better than any number, and all are
// equal.
ReductionKernel::Parts ReductionKernel::locate(Parts x, Parts y) {
  const Number number = reduction_.number, index = reduction_.index;
  const Id a = value(number, x.first), b = value(number, y.first);
  const bool least = reduction_.operation == KernelOperation::minloc;
  Id better = least ? is_less(number, a, b) : is_less(number, b, a);
  Id same = to_.test(is_float(number) ? OpCode::equal_float : OpCode::equal, a, b);
  if (is_float(number)) {
    const Id first = is_nan(a), second = is_nan(b);
    same = to_.test(OpCode::either, same, to_.test(OpCode::both, first, second));
    // Without OpLogicalNot, at which Intel's compiler (IGC 1.0.12504) ends the process.
    const Id alone = to_.test(OpCode::both, first, to_.test(OpCode::equal_float, b, b));
    better = to_.test(OpCode::either, better, alone);
  }
  const Id lower = is_less(index, value(index, x.second), value(index, y.second));
  const Id wins = to_.test(OpCode::either, better, to_.test(OpCode::both, same, lower));
  return {to_.select(wins, x.first, y.first), to_.select(wins, x.second, y.second)};
}

ReductionKernel::Parts ReductionKernel::combine(Parts x, Parts y) {
  if (reduction_.index != Number::none) return locate(x, y);
  if (reduction_.is_complex && reduction_.operation == KernelOperation::product) return complex_product(x, y);
  if (reduction_.is_complex) return {sum_or_product(x.first, y.first), sum_or_product(x.second, y.second)};
  if (reduction_.operation <= KernelOperation::product) return {sum_or_product(x.first, y.first), 0};
  if (reduction_.operation <= KernelOperation::maximum) return {minimum_or_maximum(x.first, y.first), 0};
  return {bitwise_or_logical(x.first, y.first), 0};
}

bool exists(const KernelReduction& reduction) {
  const KernelOperation operation = reduction.operation;
  const bool locates = operation == KernelOperation::minloc || operation == KernelOperation::maxloc;
  if (reduction.number == Number::none || locates != (reduction.index != Number::none)) return false;
  if (reduction.is_complex) return !locates && is_float(reduction.number) && operation <= KernelOperation::product;
  return locates || operation <= KernelOperation::maximum || !is_float(reduction.number);
}

std::vector<uint32_t> ReductionKernel::write() {
  const Id in = to_.add_pointer(), inout = to_.add_pointer(), count = to_.add_number();
  to_.begin();
  Turns turns(to_, count);
  const auto number = [this](int value) { return to_.constant(64, static_cast<uint64_t>(value)); };
  const Id at = to_.same(OpCode::multiply, turns.number(), number(reduction_.extent()));
  const Id first = to_.integer(size_of(reduction_.number) * 8);
  Parts x{to_.load(first, in, at), 0}, y{to_.load(first, inout, at), 0};
  Id second_at = 0;
  if (reduction_.parts() == 2) {
    const Id second = reduction_.index == Number::none ? first : to_.integer(size_of(reduction_.index) * 8);
    second_at = to_.same(OpCode::add, at, number(reduction_.to_second()));
    x.second = to_.load(second, in, second_at);
    y.second = to_.load(second, inout, second_at);
  }
  const Parts result = combine(x, y);
  to_.store(result.first, inout, at);
  if (reduction_.parts() == 2) to_.store(result.second, inout, second_at);
  turns.end();
  return to_.finish(ptx::kernel_name);
}

}  // namespace

std::vector<uint32_t> module_of(const ptx::LayoutForm& form) {
  return LayoutKernel(form).write();
}

std::vector<uint32_t> module_of(const KernelReduction& reduction) {
  return exists(reduction) ? ReductionKernel(reduction).write() : std::vector<uint32_t>();
}

}  // namespace weft::device::spirv
