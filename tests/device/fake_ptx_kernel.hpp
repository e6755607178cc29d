// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A kernel of PTX as fake_ptx_parse.cpp reads it and fake_ptx.cpp runs it (fake_ptx.hpp).

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fake_ptx {

enum class Code {
  mov,
  ld_param,
  ld_global,
  st_global,
  atom_min,
  atom_max,
  add,
  sub,
  mul_lo,
  mul_wide,
  mad_lo,
  div,
  neg,
  abs,
  sqrt,
  rcp,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  shl,
  shr,
  setp,
  selp,
  cvt,
  bfe,
  bfi,
  bra,
  ret,
};

struct Type {
  char kind = 'b';  // b, u, s, f, or p for a predicate
  int bits = 0;
};

struct Operand {
  enum class Kind { reg, immediate, special } kind = Kind::immediate;
  int64_t value = 0;  // number of the register, or of the special one
  int bits = 0;       // of the register
};

struct Instruction {
  Code code;
  Type type, from;         // `from`: of cvt
  std::string comparison;  // of setp
  int vector = 1;          // values of a load or store
  int guard = -1;          // register of the predicate
  bool negated = false;
  std::vector<Operand> results, sources;
  int64_t offset = 0;  // of an address; the instruction that bra goes to
  std::string label;
};

struct Parameter {
  std::string name;
  size_t at, bytes;
};

struct Kernel {
  std::vector<Instruction> code;
  std::map<std::string, Operand> registers;
  std::map<std::string, size_t> labels;
  std::vector<Parameter> parameters;
  size_t bytes_of_arguments = 0;
};

}  // namespace fake_ptx
