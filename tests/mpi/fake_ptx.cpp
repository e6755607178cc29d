// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "fake_ptx.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int illegal_address = 700, misaligned_address = 716;

enum class Code {
  mov,
  ld_param,
  ld_global,
  st_global,
  atom_min,
  add,
  sub,
  mul_lo,
  mul_wide,
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

struct Kernel {
  std::vector<Instruction> code;
  std::map<std::string, Operand> registers;
  std::map<std::string, size_t> labels;
  std::string arguments;
  size_t bytes_of_arguments = 0;
};

constexpr const char* specials[] = {"%ctaid.x", "%ntid.x", "%tid.x", "%nctaid.x"};

class Parser {
 public:
  Parser(const char* text, std::string name) : text_(text), name_(std::move(name)) {}

  Kernel* parse() {
    auto* kernel = new Kernel;
    kernel_ = kernel;
    if (header() && body()) return kernel;
    std::fprintf(stderr, "fake CUDA: no PTX that it knows: %s\n", statement_.c_str());
    delete kernel;
    return nullptr;
  }

 private:
  bool header() {
    statement_ = "the head";
    const size_t entry = text_.find(".visible .entry " + name_ + "(");
    if (text_.find(".version ") != 0 || text_.find(".address_size 64") == std::string::npos ||
        entry == std::string::npos)
      return false;
    const size_t name = text_.find(".b8 ", entry);
    const size_t end = text_.find('[', name);
    at_ = text_.find("{\n", entry);
    if (name == std::string::npos || end == std::string::npos || at_ == std::string::npos) return false;
    kernel_->arguments = text_.substr(name + 4, end - name - 4);
    kernel_->bytes_of_arguments = std::strtoull(text_.c_str() + end + 1, nullptr, 10);
    at_ += 2;
    return true;
  }

  bool body() {
    for (;;) {
      const size_t start = text_.find_first_not_of(" \n\t", at_);
      if (start == std::string::npos) return false;
      if (text_[start] == '}') break;
      const size_t end = text_.find_first_of(";:", start);
      if (end == std::string::npos) return false;
      statement_ = text_.substr(start, end - start);
      at_ = end + 1;
      if (text_[end] == ':') {
        kernel_->labels[statement_] = kernel_->code.size();
      } else if (!(statement_.starts_with(".reg ") ? declare() : instruction())) {
        return false;
      }
    }
    for (Instruction& i : kernel_->code) {
      if (i.code != Code::bra) continue;
      statement_ = i.label;
      const auto found = kernel_->labels.find(i.label);
      if (found == kernel_->labels.end()) return false;
      i.offset = static_cast<int64_t>(found->second);
    }
    return true;
  }

  bool declare() {
    const size_t name = statement_.find(' ', 5);
    if (name == std::string::npos) return false;
    const std::string type = statement_.substr(5, name - 5);
    const int bits = type == ".pred" ? 1 : std::atoi(type.c_str() + 2);
    for (const std::string& one : split(statement_.substr(name))) {
      const size_t many = one.find('<');
      if (many == std::string::npos) {
        add_register(one, bits);
        continue;
      }
      const int count = std::atoi(one.c_str() + many + 1);
      for (int i = 0; i < count; ++i) add_register(one.substr(0, many) + std::to_string(i), bits);
    }
    return true;
  }

  void add_register(const std::string& name, int bits) {
    const auto number = static_cast<int64_t>(kernel_->registers.size());
    kernel_->registers[name] = {Operand::Kind::reg, number, bits};
  }

  // At commas and braces.
  static std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
      if (c == ',') {
        parts.emplace_back();
      } else if (c != ' ' && c != '{' && c != '}') {
        parts.back().push_back(c);
      }
    }
    return parts;
  }

  bool operand(const std::string& text, Operand& result) {
    for (size_t i = 0; i < std::size(specials); ++i) {
      if (text == specials[i]) {
        result = {Operand::Kind::special, static_cast<int64_t>(i), 32};
        return true;
      }
    }
    if (const auto found = kernel_->registers.find(text); found != kernel_->registers.end()) {
      result = found->second;
      return true;
    }
    char* end;
    if (text.starts_with("0d")) {  // the bits of a double
      result = {Operand::Kind::immediate, static_cast<int64_t>(std::strtoull(text.c_str() + 2, &end, 16)), 0};
      return text.size() == 18 && *end == '\0';
    }
    if (text == kernel_->arguments) {  // their address, from which loads of parameters count
      result = {Operand::Kind::immediate, 0, 0};
      return true;
    }
    result = {Operand::Kind::immediate, std::strtoll(text.c_str(), &end, 10), 0};
    return !text.empty() && *end == '\0';
  }

  static Type type_named(const std::string& name) {
    if (name == "pred") return {'p', 1};
    return {name[0], std::atoi(name.c_str() + 1)};
  }

  bool instruction() {
    Instruction made{};
    std::string rest = statement_;
    if (rest[0] == '@') {
      made.negated = rest[1] == '!';
      const size_t space = rest.find(' ');
      Operand guard;
      if (!operand(rest.substr(made.negated ? 2 : 1, space - (made.negated ? 2 : 1)), guard) || guard.bits != 1)
        return false;
      made.guard = static_cast<int>(guard.value);
      rest = rest.substr(space + 1);
    }
    const size_t space = rest.find(' ');
    std::vector<std::string> words(1);
    for (const char c : rest.substr(0, space)) {
      if (c == '.') {
        words.emplace_back();
      } else {
        words.back().push_back(c);
      }
    }
    rest = space == std::string::npos ? "" : rest.substr(space + 1);
    if (!code_of(words, made)) return false;
    if (words[0] == "bra") {
      made.label = rest;
    } else if (words[0] == "atom") {
      if (!atom(rest, made)) return false;
    } else if (words[0] == "ld" || words[0] == "st") {
      if (!memory(words[0] == "ld", rest, made)) return false;
    } else if (words[0] != "ret" && !registers(rest, made)) {
      return false;
    }
    kernel_->code.push_back(made);
    return true;
  }

  static bool code_of(const std::vector<std::string>& words, Instruction& made) {
    static const std::map<std::string, Code> plain = {
        {"mov", Code::mov},      {"add", Code::add},     {"sub", Code::sub},    {"min", Code::min},
        {"max", Code::max},      {"and", Code::bit_and}, {"or", Code::bit_or},  {"xor", Code::bit_xor},
        {"not", Code::bit_not},  {"shl", Code::shl},     {"shr", Code::shr},    {"selp", Code::selp},
        {"bfe", Code::bfe},      {"bfi", Code::bfi},     {"bra", Code::bra},    {"ret", Code::ret},
        {"setp", Code::setp},    {"cvt", Code::cvt},     {"mul", Code::mul_lo}, {"ld", Code::ld_global},
        {"st", Code::st_global}, {"cvta", Code::mov},    {"div", Code::div},    {"neg", Code::neg},
        {"abs", Code::abs},      {"sqrt", Code::sqrt},   {"rcp", Code::rcp},    {"atom", Code::atom_min}};
    const auto found = plain.find(words[0]);
    if (found == plain.end()) return false;
    made.code = found->second;
    if (made.code == Code::bra && words.size() == 2) return words[1] == "uni";
    if (made.code == Code::bra || made.code == Code::ret) return words.size() == 1;
    if (words.size() < 2) return false;
    made.type = type_named(words.back());
    const bool is_float = made.type.kind == 'f';
    const std::string& second = words[1];
    const size_t extra = words.size() - 2;
    if (words[0] == "mul") {
      if (second == "wide") made.code = Code::mul_wide;
      return extra == 1 && (is_float ? second == "rn" : second == "lo" || second == "wide");
    }
    if ((words[0] == "add" || words[0] == "sub" || words[0] == "div") && is_float) return extra == 1 && second == "rn";
    if (words[0] == "sqrt" || words[0] == "rcp") return extra == 1 && second == "rn" && made.type.bits == 64;
    if (words[0] == "abs" || words[0] == "neg") return extra == 0 && is_float && made.type.bits == 64;
    if (words[0] == "atom") return extra == 2 && second == "global" && words[2] == "min" && made.type.kind == 'u';
    if (words[0] == "cvta") return extra == 2 && second == "to" && words[2] == "global";
    if (words[0] == "setp") {
      made.comparison = second;
      return extra == 1;
    }
    if (words[0] == "cvt") {
      made.from = made.type;
      made.type = type_named(words[words.size() - 2]);
      return extra == 1 || (extra == 2 && second == "rn");
    }
    if (words[0] == "ld" && second == "param") made.code = Code::ld_param;
    if (words[0] == "ld" || words[0] == "st") {
      if (extra == 2) made.vector = words[2][1] - '0';
      return extra == 1 || extra == 2;
    }
    return extra == 0;
  }

  bool memory(bool load, const std::string& rest, Instruction& made) {
    const size_t open = rest.find('['), close = rest.find(']');
    if (open == std::string::npos || close == std::string::npos) return false;
    std::string address = rest.substr(open + 1, close - open - 1);
    if (const size_t plus = address.find('+'); plus != std::string::npos) {
      made.offset = std::atoll(address.c_str() + plus + 1);
      address = address.substr(0, plus);
    }
    std::string values = load ? rest.substr(0, open) : rest.substr(close + 1);
    for (const std::string& one : split(values)) {
      if (one.empty()) continue;
      Operand value;
      if (!operand(one, value) || (value.kind == Operand::Kind::reg && value.bits < made.type.bits)) return false;
      (load ? made.results : made.sources).push_back(value);
    }
    if (static_cast<int>((load ? made.results : made.sources).size()) != made.vector) return false;
    Operand base;
    if (!operand(address, base)) return false;
    if (base.kind == Operand::Kind::reg ? base.bits != 64 : address != kernel_->arguments) return false;
    if (base.kind != Operand::Kind::reg && made.code != Code::ld_param) return false;
    made.sources.push_back(base);
    return true;
  }

  // result, [address], value
  bool atom(const std::string& rest, Instruction& made) {
    const std::vector<std::string> all = split(rest);
    if (all.size() != 3 || all[1].size() < 3) return false;
    made.results.resize(1);
    made.sources.resize(2);
    return operand(all[0], made.results[0]) && operand(all[2], made.sources[0]) &&
           operand(all[1].substr(1, all[1].size() - 2), made.sources[1]) && made.sources[1].bits == 64 &&
           made.results[0].bits == made.type.bits;
  }

  bool registers(const std::string& rest, Instruction& made) {
    const std::vector<std::string> all = split(rest);
    const bool unpacks = rest[0] == '{';
    const size_t results = unpacks ? 2 : 1;
    for (size_t i = 0; i < all.size(); ++i) {
      Operand one;
      if (!operand(all[i], one)) return false;
      (i < results ? made.results : made.sources).push_back(one);
    }
    static const std::map<Code, size_t> wanted = {{Code::bit_not, 1}, {Code::cvt, 1},  {Code::neg, 1},
                                                  {Code::abs, 1},     {Code::sqrt, 1}, {Code::rcp, 1},
                                                  {Code::selp, 3},    {Code::bfe, 3},  {Code::bfi, 4}};
    const auto found = wanted.find(made.code);
    const size_t count = made.code == Code::mov ? made.sources.size() : found == wanted.end() ? 2 : found->second;
    if (made.sources.size() != count) return false;
    return sizes_fit(made, unpacks);
  }

  // The size of each register is that of the type.
  static bool sizes_fit(const Instruction& made, bool unpacks) {
    const auto fits = [](const Operand& operand, int bits) { return operand.bits == 0 || operand.bits == bits; };
    int result = made.type.bits;
    if (made.code == Code::mul_wide) result *= 2;
    if (made.code == Code::setp) result = 1;
    if (made.code == Code::mov && (unpacks || made.sources.size() == 2)) {
      const auto& halves = unpacks ? made.results : made.sources;
      const auto& whole = unpacks ? made.sources : made.results;
      return made.type.bits == 64 && fits(whole[0], 64) && fits(halves[0], 32) && fits(halves[1], 32);
    }
    if (made.results[0].kind != Operand::Kind::reg || !fits(made.results[0], result)) return false;
    for (size_t i = 0; i < made.sources.size(); ++i) {
      int bits = made.code == Code::cvt ? made.from.bits : made.type.bits;
      if ((made.code == Code::shl || made.code == Code::shr) && i == 1) bits = 32;
      if (made.code == Code::selp && i == 2) bits = 1;
      if (made.code == Code::bfe && i > 0) bits = 32;
      if (made.code == Code::bfi && i > 1) bits = 32;
      if (!fits(made.sources[i], bits)) return false;
    }
    return true;
  }

  std::string text_;
  std::string name_;
  std::string statement_;
  size_t at_ = 0;
  Kernel* kernel_ = nullptr;
};

// ---- Running

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

class Thread {
 public:
  Thread(const Kernel& kernel, const uint32_t* special, const char* arguments,
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
        return special_[operand.value];
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
        return least(i);
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
  int least(const Instruction& i) {
    const uint64_t address = value(i.sources[1]), mine = value(i.sources[0]);
    const auto bytes = static_cast<size_t>(i.type.bits / 8);
    if (address % bytes != 0) return misaligned_address;
    void* memory = reach_(address, bytes);
    if (memory == nullptr) return illegal_address;
    uint64_t word = 0;
    std::memcpy(&word, memory, bytes);
    set(i.results[0], word);
    word = std::min(word, cut(mine, i.type.bits));
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
  const uint32_t* special_;
  const char* arguments_;
  void* (*reach_)(unsigned long long, size_t);
  std::vector<uint64_t> registers_;
};

}  // namespace

void* fake_ptx_load(const char* text, const char* kernel) {
  return Parser(text, kernel).parse();
}

size_t fake_ptx_bytes_of_arguments(const void* kernel) {
  return static_cast<const Kernel*>(kernel)->bytes_of_arguments;
}

int fake_ptx_run(const void* kernel, unsigned blocks, unsigned threads, const void* arguments,
                 void* (*reach)(unsigned long long address, size_t bytes)) {
  for (uint32_t block = 0; block < blocks; ++block) {
    for (uint32_t thread = 0; thread < threads; ++thread) {
      const uint32_t special[] = {block, threads, thread, blocks};
      Thread one(*static_cast<const Kernel*>(kernel), special, static_cast<const char*>(arguments), reach);
      if (const int error = one.run()) return error;
    }
  }
  return 0;
}
