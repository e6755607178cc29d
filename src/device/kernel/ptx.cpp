// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/kernel/ptx.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

namespace weft::device::ptx {
namespace {

// A text under construction. In what is added a `#` stands for the number given.
class Text {
 public:
  Text& add(std::string_view text, int64_t number = 0) {
    for (const char c : text) {
      if (c == '#') {
        text_.append(std::to_string(number));
      } else {
        text_.push_back(c);
      }
    }
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Every thread computes the elements (units) %i, %i + %step, ... The registers serve all kernels: the driver's compiler
// leaves out those that are not used.
void begin(Text& text, size_t bytes_of_arguments) {
  text.add(
          ".version 6.0\n"
          ".target sm_50\n"
          ".address_size 64\n"
          ".visible .entry weft(.param .align 8 .b8 arguments[#])\n"
          "{\n"
          ".reg .pred %p<8>;\n"
          ".reg .b16 %h;\n"
          ".reg .b32 %x<2>, %y<2>, %a<4>, %b<4>, %s, %t, %u, %n;\n"
          ".reg .b64 %X<2>, %Y<2>, %S, %T, %i, %step, %from, %to, %at, %first, %count;\n"
          ".reg .f32 %f<2>, %g<2>, %v, %w;\n"
          ".reg .f64 %d<2>, %e<2>, %V, %W;\n",
          static_cast<int64_t>(bytes_of_arguments))
      .add(
          "mov.u32 %s, %ctaid.x;\n"
          "mov.u32 %t, %ntid.x;\n"
          "mov.u32 %u, %tid.x;\n"
          "mul.wide.u32 %i, %s, %t;\n"
          "cvt.u64.u32 %S, %u;\n"
          "add.u64 %i, %i, %S;\n"
          "mov.u32 %s, %nctaid.x;\n"
          "mul.wide.u32 %step, %s, %t;\n");
}

// ---- Reductions: the parts of an element of `in` are in %x0 and %x1 (%X0, %X1 those of 8 bytes), those of `inout` in
// %y0 and %y1, where the results are put.

enum class Class : uint8_t { integer, half, brain_half, single, twofold };

Class class_of(Number number) {
  switch (number) {
    case Number::f16:
      return Class::half;
    case Number::bf16:
      return Class::brain_half;
    case Number::f32:
      return Class::single;
    case Number::f64:
      return Class::twofold;
    default:
      return Class::integer;
  }
}

bool is_long(Number number) {
  return size_of(number) == 8;
}

bool is_signed(Number number) {
  return number == Number::s8 || number == Number::s16 || number == Number::s32 || number == Number::s64;
}

// The type in instructions on a number in its register, and on its bits.
const char* type_of(Number number) {
  switch (class_of(number)) {
    case Class::integer:
      return is_long(number) ? (is_signed(number) ? "s64" : "u64") : (is_signed(number) ? "s32" : "u32");
    case Class::twofold:
      return "f64";
    default:
      return "f32";
  }
}

// One instruction for each part of an element, in the registers of its size.
void bits(Text& text, Number number, const char* short_one, const char* long_one, int part = 0) {
  text.add(is_long(number) ? long_one : short_one, part);
}

// The numbers of `part` as floating-point registers %f and %g, or %d and %e.
void to_floats(Text& text, Number number, int part) {
  switch (class_of(number)) {
    case Class::half:
      text.add("cvt.u16.u32 %h, %x#;\ncvt.f32.f16 %f#, %h;\ncvt.u16.u32 %h, %y#;\ncvt.f32.f16 %g#, %h;\n", part);
      break;
    case Class::brain_half:
      text.add("shl.b32 %s, %x#, 16;\nmov.b32 %f#, %s;\nshl.b32 %s, %y#, 16;\nmov.b32 %g#, %s;\n", part);
      break;
    case Class::single:
      text.add("mov.b32 %f#, %x#;\nmov.b32 %g#, %y#;\n", part);
      break;
    case Class::twofold:
      text.add("mov.b64 %d#, %X#;\nmov.b64 %e#, %Y#;\n", part);
      break;
    default:
      break;
  }
}

// The result, in %g or %e.
void from_float(Text& text, Number number, int part) {
  switch (class_of(number)) {
    case Class::half:
      text.add("cvt.rn.f16.f32 %h, %g#;\ncvt.u32.u16 %y#, %h;\n", part);
      break;
    case Class::brain_half:  // ties to even; a NaN stays one
      text.add(
          "mov.b32 %s, %g#;\nshr.u32 %t, %s, 16;\nand.b32 %u, %t, 1;\nadd.u32 %u, %u, 32767;\nadd.u32 %u, %u, %s;\n"
          "shr.u32 %u, %u, 16;\nor.b32 %t, %t, 64;\nsetp.nan.f32 %p0, %g#, %g#;\nselp.b32 %y#, %t, %u, %p0;\n",
          part);
      break;
    case Class::single:
      text.add("mov.b32 %y#, %g#;\n", part);
      break;
    case Class::twofold:
      text.add("mov.b64 %Y#, %e#;\n", part);
      break;
    default:
      break;
  }
}

bool sum_or_product(Text& text, const KernelReduction& reduction, int part) {
  const bool sum = reduction.operation == KernelOperation::sum;
  const Number number = reduction.number;
  if (class_of(number) == Class::integer) {
    bits(text, number, sum ? "add.u32 %y#, %x#, %y#;\n" : "mul.lo.u32 %y#, %x#, %y#;\n",
         sum ? "add.u64 %Y#, %X#, %Y#;\n" : "mul.lo.u64 %Y#, %X#, %Y#;\n", part);
    return true;
  }
  to_floats(text, number, part);
  bits(text, number, sum ? "add.rn.f32 %g#, %f#, %g#;\n" : "mul.rn.f32 %g#, %f#, %g#;\n",
       sum ? "add.rn.f64 %e#, %d#, %e#;\n" : "mul.rn.f64 %e#, %d#, %e#;\n", part);
  from_float(text, number, part);
  return true;
}

// As the textbook has it, each step rounded.
bool complex_product(Text& text, Number number) {
  if (class_of(number) == Class::integer) return false;
  to_floats(text, number, 0);
  to_floats(text, number, 1);
  if (is_long(number)) {
    text.add(
        "mul.rn.f64 %V, %d0, %e0;\nmul.rn.f64 %W, %d1, %e1;\nsub.rn.f64 %V, %V, %W;\n"
        "mul.rn.f64 %W, %d0, %e1;\nmul.rn.f64 %e1, %d1, %e0;\nadd.rn.f64 %e1, %W, %e1;\nmov.f64 %e0, %V;\n");
  } else {
    text.add(
        "mul.rn.f32 %v, %f0, %g0;\nmul.rn.f32 %w, %f1, %g1;\nsub.rn.f32 %v, %v, %w;\n"
        "mul.rn.f32 %w, %f0, %g1;\nmul.rn.f32 %g1, %f1, %g0;\nadd.rn.f32 %g1, %w, %g1;\nmov.f32 %g0, %v;\n");
  }
  from_float(text, number, 0);
  from_float(text, number, 1);
  return true;
}

// An integer that is ordered like the 16-bit float in %x0 or %y0, its sign extended; `beyond` for a NaN.
void order_of_half(Text& text, const char* value, const char* order, int infinity, int beyond) {
  text.add("and.b32 %s, ").add(value).add(", 32767;\nshr.s32 %t, ").add(value).add(", 31;\nand.b32 %t, %t, 32767;\n");
  text.add("xor.b32 %t, %t, ").add(value).add(";\nsetp.gt.s32 %p0, %s, #;\n", infinity);
  text.add("selp.b32 ").add(order).add(", #, %t, %p0;\n", beyond);
}

// The minimum or maximum of a NaN and a number is a NaN, and -0 is less than +0, as the processor's kernels have it
// (datatype/operation.hpp).
bool minimum_or_maximum(Text& text, const KernelReduction& reduction) {
  const bool least = reduction.operation == KernelOperation::minimum;
  const Number number = reduction.number;
  const char* comparison = least ? "lt." : "gt.";
  switch (class_of(number)) {
    case Class::integer:
      text.add(least ? "min." : "max.")
          .add(type_of(number))
          .add(is_long(number) ? " %Y0, %X0, %Y0;\n" : " %y0, %x0, %y0;\n");
      return true;
    case Class::half:
    case Class::brain_half: {
      const int infinity = number == Number::f16 ? 0x7c00 : 0x7f80;
      const int beyond = least ? -0x8000 : 0x7fff;
      order_of_half(text, "%x0", "%x1", infinity, beyond);
      order_of_half(text, "%y0", "%y1", infinity, beyond);
      text.add("setp.").add(comparison).add("s32 %p0, %x1, %y1;\nselp.b32 %y0, %x0, %y0, %p0;\n");
      return true;
    }
    default:
      break;
  }
  to_floats(text, number, 0);
  const char* order = is_long(number) ? "f64 %p0, %d0, %e0;\n" : "f32 %p0, %f0, %g0;\n";
  const char* reverse = is_long(number) ? "f64 %p1, %e0, %d0;\n" : "f32 %p1, %g0, %f0;\n";
  text.add("setp.").add(comparison).add(order).add("setp.").add(comparison).add(reverse);
  bits(text, number, "selp.b32 %s, %x0, %y0, %p0;\nselp.b32 %t, %y0, %x0, %p1;\n",
       "selp.b64 %S, %X0, %Y0, %p0;\nselp.b64 %T, %Y0, %X0, %p1;\n");
  if (least) {
    bits(text, number, "or.b32 %y0, %s, %t;\n", "or.b64 %Y0, %S, %T;\n");
  } else {
    bits(text, number, "and.b32 %y0, %s, %t;\nsetp.nan.f32 %p0, %f0, %g0;\nselp.b32 %y0, -1, %y0, %p0;\n",
         "and.b64 %Y0, %S, %T;\nsetp.nan.f64 %p0, %d0, %e0;\nselp.b64 %Y0, -1, %Y0, %p0;\n");
  }
  return true;
}

bool bitwise_or_logical(Text& text, const KernelReduction& reduction) {
  const Number number = reduction.number;
  if (class_of(number) != Class::integer) return false;
  const bool bitwise = reduction.operation <= KernelOperation::bit_xor;
  const KernelOperation operation = reduction.operation;
  const bool is_and = operation == KernelOperation::bit_and || operation == KernelOperation::logical_and;
  const bool is_or = operation == KernelOperation::bit_or || operation == KernelOperation::logical_or;
  const char* name = is_and ? "and." : is_or ? "or." : "xor.";
  if (bitwise) {
    text.add(name).add(is_long(number) ? "b64 %Y0, %X0, %Y0;\n" : "b32 %y0, %x0, %y0;\n");
    return true;
  }
  bits(text, number, "setp.ne.u32 %p0, %x0, 0;\nsetp.ne.u32 %p1, %y0, 0;\n",
       "setp.ne.u64 %p0, %X0, 0;\nsetp.ne.u64 %p1, %Y0, 0;\n");
  text.add(name).add("pred %p0, %p0, %p1;\n");
  bits(text, number, "selp.b32 %y0, 1, 0, %p0;\n", "selp.b64 %Y0, 1, 0, %p0;\n");
  return true;
}

// The better value wins with its index, the lower index among equals; a NaN is better than any number, and all are
// equal.
bool locate(Text& text, const KernelReduction& reduction) {
  const Number number = reduction.number, index = reduction.index;
  const bool least = reduction.operation == KernelOperation::minloc;
  const bool integer = class_of(number) == Class::integer;
  to_floats(text, number, 0);
  const char* pair =
      integer ? (is_long(number) ? "%X0, %Y0;\n" : "%x0, %y0;\n") : (is_long(number) ? "%d0, %e0;\n" : "%f0, %g0;\n");
  const char* type = type_of(number);
  text.add(least ? "setp.lt." : "setp.gt.").add(type).add(" %p0, ").add(pair);  // better
  text.add(least ? "setp.gt." : "setp.lt.").add(type).add(" %p1, ").add(pair);  // worse
  text.add("or.pred %p2, %p0, %p1;\nnot.pred %p2, %p2;\n");                     // equal
  if (!integer) {
    bits(text, number, "setp.nan.f32 %p3, %f0, %f0;\nsetp.nan.f32 %p4, %g0, %g0;\n",
         "setp.nan.f64 %p3, %d0, %d0;\nsetp.nan.f64 %p4, %e0, %e0;\n");
    text.add(
        "or.pred %p5, %p3, %p4;\nnot.pred %p5, %p5;\nand.pred %p2, %p2, %p5;\n"
        "and.pred %p5, %p3, %p4;\nor.pred %p2, %p2, %p5;\n"
        "not.pred %p5, %p4;\nand.pred %p5, %p3, %p5;\nor.pred %p0, %p0, %p5;\n");
  }
  to_floats(text, index, 1);
  const bool whole = class_of(index) == Class::integer;
  text.add("setp.lt.").add(type_of(index)).add(" %p5, ");
  text.add(is_long(index) ? (whole ? "%X1, %Y1;\n" : "%d1, %e1;\n") : (whole ? "%x1, %y1;\n" : "%f1, %g1;\n"));
  text.add("and.pred %p5, %p5, %p2;\nor.pred %p0, %p0, %p5;\n");
  bits(text, number, "selp.b32 %y#, %x#, %y#, %p0;\n", "selp.b64 %Y#, %X#, %Y#, %p0;\n", 0);
  bits(text, index, "selp.b32 %y#, %x#, %y#, %p0;\n", "selp.b64 %Y#, %X#, %Y#, %p0;\n", 1);
  return true;
}

// One element. False: there is no such operation.
bool combine(Text& text, const KernelReduction& reduction) {
  const Number number = reduction.number;
  const bool locates = reduction.operation == KernelOperation::minloc || reduction.operation == KernelOperation::maxloc;
  if (number == Number::none || locates != (reduction.index != Number::none)) return false;
  if (locates) return !reduction.is_complex && locate(text, reduction);
  if (reduction.is_complex) {
    if (reduction.operation == KernelOperation::product) return complex_product(text, number);
    return reduction.operation == KernelOperation::sum && class_of(number) != Class::integer &&
           sum_or_product(text, reduction, 0) && sum_or_product(text, reduction, 1);
  }
  switch (reduction.operation) {
    case KernelOperation::sum:
    case KernelOperation::product:
      return sum_or_product(text, reduction, 0);
    case KernelOperation::minimum:
    case KernelOperation::maximum:
      return minimum_or_maximum(text, reduction);
    default:
      return bitwise_or_logical(text, reduction);
  }
}

// Halves are sign-extended too: they are compared as integers.
bool extends_sign(Number number) {
  return is_signed(number) || number == Number::f16 || number == Number::bf16;
}

// Part `part`, `offset` bytes into an element at %from and %to.
void load(Text& text, Number number, int part, int offset) {
  const char* const types[] = {"", "8", "16", "", "32", "", "", "", "64"};
  for (const bool in : {true, false}) {
    text.add("ld.global.").add(size_of(number) <= 2 ? (extends_sign(number) ? "s" : "u") : "u");
    text.add(types[size_of(number)]).add(" ");
    bits(text, number, in ? "%x#" : "%y#", in ? "%X#" : "%Y#", part);
    text.add(in ? ", [%from+#];\n" : ", [%to+#];\n", offset);
  }
}

void store(Text& text, Number number, int part, int offset) {
  const char* const types[] = {"", "u8", "u16", "", "u32", "", "", "", "u64"};
  text.add("st.global.").add(types[size_of(number)]).add(" [%to+#], ", offset);
  bits(text, number, "%y#;\n", "%Y#;\n", part);
}

// The number at byte `at` of the 16 in %a0 to %a3 and %b0 to %b3, as part `part`.
void extract(Text& text, Number number, int part, int at) {
  const int word = at / 4;
  for (const bool in : {true, false}) {
    const char* const words = in ? "%a#" : "%b#";
    if (is_long(number)) {
      text.add("mov.b64 ").add(in ? "%X#" : "%Y#", part).add(", {").add(words, word).add(", ").add(words, word + 1);
      text.add("};\n");
    } else if (size_of(number) == 4) {
      text.add("mov.b32 ").add(in ? "%x#" : "%y#", part).add(", ").add(words, word).add(";\n");
    } else {
      text.add(extends_sign(number) ? "bfe.s32 " : "bfe.u32 ").add(in ? "%x#" : "%y#", part).add(", ");
      text.add(words, word).add(", #, ", at % 4 * 8).add("#;\n", size_of(number) * 8);
    }
  }
}

void insert(Text& text, Number number, int part, int at) {
  const int word = at / 4;
  if (is_long(number)) {
    text.add("mov.b64 {%b#, ", word).add("%b#}, ", word + 1).add("%Y#;\n", part);
  } else if (size_of(number) == 4) {
    text.add("mov.b32 %b#, ", word).add("%y#;\n", part);
  } else {
    text.add("bfi.b32 %b#, ", word).add("%y#, ", part).add("%b#, ", word);
    text.add("#, ", at % 4 * 8).add("#;\n", size_of(number) * 8);
  }
}

void elements_of_vectors(Text& text, const KernelReduction& reduction, const std::string& combination) {
  text.add(
      "mov.b64 %first, %i;\n"
      "VECTORS:\n"
      "setp.ge.u64 %p0, %i, %count;\n"
      "@%p0 bra VECTORS_DONE;\n"
      "shl.b64 %at, %i, 4;\n"
      "add.u64 %from, %from0, %at;\n"
      "add.u64 %to, %to0, %at;\n"
      "ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%from];\n"
      "ld.global.v4.u32 {%b0, %b1, %b2, %b3}, [%to];\n");
  const Number number = reduction.number;
  for (int at = 0; at < 16; at += reduction.extent()) {
    for (int part = 0; part < reduction.parts(); ++part) extract(text, number, part, at + part * size_of(number));
    text.add(combination);
    for (int part = 0; part < reduction.parts(); ++part) insert(text, number, part, at + part * size_of(number));
  }
  text.add(
          "st.global.v4.u32 [%to], {%b0, %b1, %b2, %b3};\n"
          "add.u64 %i, %i, %step;\n"
          "bra VECTORS;\n"
          "VECTORS_DONE:\n")
      .add("mul.lo.u64 %i, %count, #;\n", elements_of_vector(reduction))
      .add("add.u64 %i, %i, %first;\n");
}

// ---- Layouts

// Subtracts from the quotient in %t what it has of whole turns: %u is the remainder of %s by the count at `loop`, %t
// the quotient.
void divide(Text& text, size_t divisor, size_t by) {
  text.add("ld.param.u32 %n, [arguments+#];\n", static_cast<int64_t>(divisor))
      .add("mul.wide.u32 %S, %s, %n;\n")
      .add("ld.param.u32 %n, [arguments+#];\n", static_cast<int64_t>(divisor + offsetof(Divisor, shift)))
      .add("shr.u64 %S, %S, %n;\ncvt.u32.u64 %t, %S;\n")
      .add("ld.param.u32 %n, [arguments+#];\n", static_cast<int64_t>(by))
      .add("mul.lo.u32 %n, %t, %n;\nsub.u32 %u, %s, %n;\n");
}

// The block of a list that has the unit %u of it, and the offset of the unit: %at.
void find_in_list(Text& text, Listing listing, int unit) {
  text.add("ld.param.u64 %from0, [arguments+#];\n", offsetof(LayoutArguments, offset))
      .add("cvta.to.global.u64 %from0, %from0;\n");
  if (listing == Listing::even) {
    text.add("mov.b32 %s, %u;\n");
    divide(text, offsetof(LayoutArguments, by_each), offsetof(LayoutArguments, each));
    text.add("mul.wide.u32 %at, %u, #;\n", unit).add("mul.wide.u32 %S, %t, 8;\n");
  } else {
    text.add("ld.param.u64 %to0, [arguments+#];\n", offsetof(LayoutArguments, before))
        .add("cvta.to.global.u64 %to0, %to0;\n")
        .add("mul.wide.u32 %at, %u, #;\n", unit)
        .add("ld.param.u32 %n, [arguments+#];\n", offsetof(LayoutArguments, listed))
        .add(
            "mov.b32 %t, 0;\n"
            "SEARCH:\n"
            "sub.u32 %s, %n, %t;\n"
            "setp.le.u32 %p0, %s, 1;\n"
            "@%p0 bra FOUND;\n"
            "add.u32 %s, %n, %t;\n"
            "shr.u32 %s, %s, 1;\n"
            "mul.wide.u32 %S, %s, 8;\n"
            "add.u64 %S, %S, %to0;\n"
            "ld.global.u64 %T, [%S];\n"
            "setp.le.u64 %p0, %T, %at;\n"
            "@%p0 mov.b32 %t, %s;\n"
            "@!%p0 mov.b32 %n, %s;\n"
            "bra SEARCH;\n"
            "FOUND:\n"
            "mul.wide.u32 %S, %t, 8;\n"
            "add.u64 %T, %S, %to0;\n"
            "ld.global.u64 %T, [%T];\n"
            "sub.u64 %at, %at, %T;\n");
  }
  text.add("add.u64 %S, %S, %from0;\nld.global.u64 %S, [%S];\nadd.u64 %at, %at, %S;\n");
}

}  // namespace

int elements_of_vector(const KernelReduction& reduction) {
  const int extent = reduction.extent();
  return extent == 0 || reduction.index != Number::none ? 0 : 16 / extent;
}

std::string text_of(const KernelReduction& reduction) {
  Text combination_text;
  if (!combine(combination_text, reduction)) return {};
  const std::string combination = combination_text.take();
  Text text;
  begin(text, sizeof(ReductionArguments));
  text.add(".reg .b64 %from0, %to0;\n")
      .add("ld.param.u64 %from0, [arguments+#];\n", offsetof(ReductionArguments, in))
      .add("cvta.to.global.u64 %from0, %from0;\n")
      .add("ld.param.u64 %to0, [arguments+#];\n", offsetof(ReductionArguments, inout))
      .add("cvta.to.global.u64 %to0, %to0;\n");
  if (elements_of_vector(reduction) > 0) {
    text.add("ld.param.u64 %count, [arguments+#];\n", offsetof(ReductionArguments, vectors));
    elements_of_vectors(text, reduction, combination);
  }
  text.add("ELEMENTS:\n")
      .add("ld.param.u64 %count, [arguments+#];\n", offsetof(ReductionArguments, count))
      .add("setp.ge.u64 %p0, %i, %count;\n@%p0 bra DONE;\n")
      .add("mul.lo.u64 %at, %i, #;\n", reduction.extent())
      .add("add.u64 %from, %from0, %at;\nadd.u64 %to, %to0, %at;\n");
  const Number second = reduction.index != Number::none ? reduction.index : reduction.number;
  load(text, reduction.number, 0, 0);
  if (reduction.parts() == 2) load(text, second, 1, reduction.to_second());
  text.add(combination);
  store(text, reduction.number, 0, 0);
  if (reduction.parts() == 2) store(text, second, 1, reduction.to_second());
  text.add("add.u64 %i, %i, %step;\nbra ELEMENTS;\nDONE:\nret;\n}\n");
  return text.take();
}

// With 2^l the next power of two from `by` on, a factor 2^(31 + l) / by, rounded up, is a little too large by less than
// 2^l / by, too little to matter for 31 bits (T. Granlund, P. L. Montgomery, Division by Invariant Integers using
// Multiplication, 1994).
Divisor divisor(uint32_t by) {
  uint32_t bits = 0;
  while ((uint64_t{1} << bits) < by) ++bits;
  const uint64_t power = uint64_t{1} << (31 + bits);
  return {static_cast<uint32_t>((power + by - 1) / by), 31 + bits};
}

std::string text_of(const LayoutForm& form) {
  Text text;
  begin(text, sizeof(LayoutArguments));
  text.add(
          ".reg .b64 %from0, %to0;\n"
          "UNITS:\n")
      .add("ld.param.u32 %n, [arguments+#];\n", offsetof(LayoutArguments, units))
      .add("cvt.u64.u32 %T, %n;\nsetp.ge.u64 %p0, %i, %T;\n@%p0 bra DONE;\n")
      .add("ld.param.u32 %n, [arguments+#];\n", offsetof(LayoutArguments, skipped))
      .add("cvt.u32.u64 %s, %i;\nadd.u32 %s, %s, %n;\n");
  divide(text, offsetof(LayoutArguments, by_block), offsetof(LayoutArguments, block));
  text.add("mov.b32 %x0, %t;\n");  // turns of the innermost loop
  if (form.listing == Listing::none) {
    text.add("mul.wide.u32 %at, %u, #;\n", form.unit);
  } else {
    find_in_list(text, form.listing, form.unit);
  }
  for (int k = 0; k < form.loops; ++k) {
    const size_t loop =
        offsetof(LayoutArguments, loop) + static_cast<size_t>(k) * sizeof(LayoutArguments::LoopArguments);
    text.add("ld.param.u64 %T, [arguments+#];\n",
             static_cast<int64_t>(loop + offsetof(LayoutArguments::LoopArguments, stride)));
    if (k == form.loops - 1) {
      text.add("mov.b32 %u, %x0;\n");
    } else {
      text.add("mov.b32 %s, %x0;\n");
      divide(text, loop + offsetof(LayoutArguments::LoopArguments, by_count),
             loop + offsetof(LayoutArguments::LoopArguments, count));
      text.add("mov.b32 %x0, %t;\n");
    }
    text.add("cvt.u64.u32 %S, %u;\nmul.lo.u64 %S, %S, %T;\nadd.u64 %at, %at, %S;\n");
  }
  text.add("ld.param.u64 %from, [arguments+#];\n", offsetof(LayoutArguments, place))
      .add("cvta.to.global.u64 %from, %from;\nadd.u64 %from, %from, %at;\n")
      .add("ld.param.u64 %to, [arguments+#];\n", offsetof(LayoutArguments, packed))
      .add("cvta.to.global.u64 %to, %to;\n")
      .add("mul.lo.u64 %S, %i, #;\nadd.u64 %to, %to, %S;\n", form.unit);
  const bool pack = form.direction == KernelDirection::pack;
  const char* const source = pack ? "[%from];\n" : "[%to];\n";
  const char* const target = pack ? "[%to]" : "[%from]";
  const bool vector = form.unit == 16;
  const char* const type = form.unit == 1   ? "u8 "
                           : form.unit == 2 ? "u16 "
                           : form.unit == 4 ? "u32 "
                           : vector         ? "v4.u32 "
                                            : "u64 ";
  const char* const value = vector ? "{%a0, %a1, %a2, %a3}" : form.unit == 8 ? "%S" : "%s";
  text.add("ld.global.").add(type).add(value).add(", ").add(source);
  text.add("st.global.").add(type).add(target).add(", ").add(value).add(";\n");
  text.add("add.u64 %i, %i, %step;\nbra UNITS;\nDONE:\nret;\n}\n");
  return text.take();
}

namespace {

// The largest unit that all addresses and distances are multiples of.
int unit_of(const KernelLayout& layout, int64_t position, uint64_t packed, int64_t bytes) {
  uint64_t all = 16 | layout.place | packed | static_cast<uint64_t>(layout.block | position | bytes);
  for (int i = 0; i < layout.loops; ++i) all |= static_cast<uint64_t>(layout.loop[i].stride);
  if (layout.list != nullptr) all |= static_cast<uint64_t>(layout.list->alignment);
  return static_cast<int>(all & (~all + 1));
}

int64_t bytes_of_turn(const KernelLayout& layout) {
  int64_t bytes = layout.block;
  for (int i = 1; i < layout.loops; ++i) bytes *= layout.loop[i].count;
  return bytes;
}

}  // namespace

Launch launch_of(KernelLayout layout, KernelDirection direction, int64_t position, uint64_t packed, int64_t bytes) {
  constexpr int64_t most_units = int64_t{1} << 30;
  // Goes into the outer loops as far as the units from their beginning on are too many.
  while (layout.loops > 0) {
    const int64_t turn = bytes_of_turn(layout);
    layout.place += static_cast<uint64_t>(position / turn * layout.loop[0].stride);
    position %= turn;
    if (position < most_units) break;
    bytes = std::min(bytes, turn - position);
    std::copy(layout.loop + 1, layout.loop + layout.loops, layout.loop);
    --layout.loops;
  }
  if (layout.loops == 0 && layout.list == nullptr) {
    layout.place += static_cast<uint64_t>(position);
    layout.block -= position;
    position = 0;
  }
  const int unit = unit_of(layout, position, packed, bytes);
  Launch launch{};
  launch.bytes = std::min(bytes, most_units * unit);
  LayoutArguments& arguments = launch.arguments;
  arguments.place = layout.place;
  arguments.packed = packed;
  arguments.skipped = static_cast<uint32_t>(position / unit);
  arguments.units = static_cast<uint32_t>(launch.bytes / unit);
  // A block of more units than there are in all is never left.
  const auto units_of = [unit](int64_t size) {
    return static_cast<uint32_t>(std::min<int64_t>(size / unit, std::numeric_limits<int32_t>::max()));
  };
  arguments.block = units_of(layout.block);
  arguments.by_block = divisor(arguments.block);
  for (int i = 0; i < layout.loops; ++i) {
    const KernelLayout::KernelLoop& loop = layout.loop[layout.loops - 1 - i];
    const auto count = static_cast<uint32_t>(std::min<int64_t>(loop.count, std::numeric_limits<int32_t>::max()));
    arguments.loop[i] = {loop.stride, count, divisor(count), 0};
  }
  Listing listing = Listing::none;
  if (const List* list = layout.list) {
    listing = list->each != 0 ? Listing::even : Listing::uneven;
    arguments.listed = static_cast<uint32_t>(list->count);
    if (list->each != 0) {
      arguments.each = units_of(list->each);
      arguments.by_each = divisor(arguments.each);
    }
  }
  launch.form = {direction, listing, layout.loops, unit};
  return launch;
}

}  // namespace weft::device::ptx
