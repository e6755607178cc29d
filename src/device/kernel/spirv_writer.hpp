// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A module of SPIR-V 1.0 with one kernel, as it is written: the words of "SPIR-V Specification, Unified1" for the
// environment of OpenCL, in the form that LLVM's translator gives them, which drivers see most.

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace weft::device::spirv {

using Id = uint32_t;  // of a type, a constant, a label or a value

enum class OpCode : uint16_t {
  memory_model = 14,
  entry_point = 15,
  execution_mode = 16,
  capability = 17,
  type_void = 19,
  type_bool = 20,
  type_int = 21,
  type_float = 22,
  type_vector = 23,
  type_array = 28,
  type_struct = 30,
  type_pointer = 32,
  type_function = 33,
  constant = 43,
  function = 54,
  parameter = 55,
  function_end = 56,
  variable = 59,
  load = 61,
  store = 62,
  access_chain = 65,
  pointer_access_chain = 67,
  decorate = 71,
  extract = 81,
  zero_extend = 113,  // or truncate
  sign_extend = 114,
  convert_float = 115,
  bitcast = 124,
  add = 128,
  add_float = 129,
  subtract = 130,
  subtract_float = 131,
  multiply = 132,
  multiply_float = 133,
  differ = 165,  // of truths
  either = 166,
  both = 167,
  select = 169,
  equal = 170,
  unequal = 171,
  greater = 172,
  greater_signed = 173,
  less = 176,
  less_signed = 177,
  less_or_equal = 178,
  equal_float = 180,           // false for a NaN
  unequal_or_nan_float = 183,  // true for a NaN
  less_float = 184,            // false for a NaN
  greater_float = 186,         // false for a NaN
  shift_right = 194,
  shift_right_signed = 195,
  shift_left = 196,
  bit_or = 197,
  bit_xor = 198,
  bit_and = 199,
  phi = 245,
  label = 248,
  branch = 249,
  branch_if = 250,
  end = 253,
};

enum class Builtin : uint32_t { global_invocation = 28, global_size = 31 };

class Writer {
 public:
  Writer();

  // ---- Types. The capabilities that they want come with them.
  Id integer(int bits);
  Id floating(int bits);
  Id truth() { return once(OpCode::type_bool, {}); }
  Id words(uint32_t count) { return once(OpCode::type_vector, {integer(32), count}); }  // a vector of 32-bit ones
  Id type_of(Id value) const { return types_[value]; }

  // ---- Parameters of the kernel, in their order, before begin()
  Id add_pointer();                  // to bytes in the memory of the device
  void add_structure(size_t bytes);  // by value; a multiple of 8 bytes
  Id add_number();                   // of 64 bits
  void begin();                      // the kernel's first block

  // ---- Values
  Id constant(int bits, uint64_t value);
  // The first dimension of one of the numbers of a thread.
  Id builtin(Builtin which);
  // 64 or 32 bits at an offset, a multiple of as many, in the structure.
  Id field(size_t offset, int bits);
  // The value of a type at a byte behind a pointer, aligned to its size.
  Id load(Id type, Id pointer, Id at);
  void store(Id value, Id pointer, Id at);
  Id make(OpCode op, Id type, std::initializer_list<Id> operands);
  Id same(OpCode op, Id left, Id right) { return make(op, type_of(left), {left, right}); }  // of the operands' type
  Id test(OpCode op, Id left, Id right) { return make(op, truth(), {left, right}); }
  Id select(Id which, Id yes, Id no) { return make(OpCode::select, type_of(yes), {which, yes, no}); }
  Id cast(OpCode op, Id type, Id value) { return make(op, type, {value}); }

  // ---- Blocks. Ids of labels, and of what a phi takes from later blocks, are had in advance.
  Id reserve(Id type = 0);
  void define(Id reserved, OpCode op, std::initializer_list<Id> operands);
  void open(Id label);
  Id block() const { return block_; }  // that was opened last
  void branch(Id label) { act(OpCode::branch, {label}); }
  void branch_if(Id condition, Id yes, Id no) { act(OpCode::branch_if, {condition, yes, no}); }

  // Ends the kernel, of this name, and gives the module.
  std::vector<uint32_t> finish(std::string_view name);

 private:
  static void put(std::vector<uint32_t>& section, OpCode op, std::initializer_list<uint32_t> words);
  static void put_text(std::vector<uint32_t>& section, std::string_view text);
  void act(OpCode op, std::initializer_list<Id> operands) { put(body_, op, operands); }
  void want(uint32_t capability);
  void decorate_import(Id variable, Builtin which);
  // A type, declared once.
  Id once(OpCode op, std::initializer_list<uint32_t> operands);
  Id pointer(uint32_t storage, Id to) { return once(OpCode::type_pointer, {storage, to}); }
  Id add_parameter(Id type);
  uint32_t bytes_of(Id type) const { return bytes_[type]; }

  std::vector<uint32_t> capabilities_, decorations_, declarations_, body_;
  std::vector<uint32_t> wanted_;
  struct Declared {
    std::vector<uint32_t> words;  // without the result
    Id id;
  };
  std::vector<Declared> declared_;
  std::vector<Id> types_;        // of values, by their id
  std::vector<uint32_t> bytes_;  // of types of values in memory
  std::vector<Id> parameters_, interface_;
  Id structure_ = 0;
  Id block_ = 0;
  Id next_ = 1;
};

}  // namespace weft::device::spirv
