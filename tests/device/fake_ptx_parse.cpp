// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// From the text of a module to the instructions of a kernel.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sstream>
#include <utility>

#include "fake_ptx.hpp"
#include "fake_ptx_kernel.hpp"

namespace {

using namespace fake_ptx;

// In the order that a thread has their values in.
constexpr const char* specials[] = {"%ctaid.x", "%ntid.x", "%tid.x", "%nctaid.x",
                                    "%ctaid.y", "%ntid.y", "%tid.y", "%globaltimer"};

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
    const std::string name = ".visible .entry " + name_ + "(";
    const size_t entry = text_.find(name), end = text_.find(')', entry);
    if (text_.find(".version ") > 1 || text_.find(".address_size 64") == std::string::npos || end == std::string::npos)
      return false;
    at_ = text_.find("{\n", end);
    if (at_ == std::string::npos) return false;
    at_ += 2;
    return parameters(text_.substr(entry + name.size(), end - entry - name.size()));
  }

  // .param .u64 name, or .param .align 8 .b8 name[bytes]
  bool parameters(const std::string& list) {
    std::istringstream all(list);
    for (std::string one; std::getline(all, one, ',');) {
      std::istringstream words(one);
      std::string type, name;
      for (std::string word; words >> word; name = word) type = name;
      const size_t open = name.find('[');
      const bool is_block = open != std::string::npos;
      if (type.size() < 3 || is_block != (type == ".b8")) return false;
      const auto bytes = is_block ? std::strtoull(name.c_str() + open + 1, nullptr, 10)
                                  : std::strtoull(type.c_str() + 2, nullptr, 10) / 8;
      const size_t unit = is_block ? 8 : bytes;
      if (bytes == 0) return false;
      const size_t at = (kernel_->bytes_of_arguments + unit - 1) / unit * unit;
      kernel_->parameters.push_back({name.substr(0, open), at, bytes});
      kernel_->bytes_of_arguments = at + bytes;
    }
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
        result = {Operand::Kind::special, static_cast<int64_t>(i), i + 1 == std::size(specials) ? 64 : 32};
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
    if (const Parameter* parameter = parameter_named(text)) {  // its address, as loads of parameters count
      result = {Operand::Kind::immediate, static_cast<int64_t>(parameter->at), 0};
      return true;
    }
    result = {Operand::Kind::immediate, std::strtoll(text.c_str(), &end, 10), 0};
    return !text.empty() && *end == '\0';
  }

  const Parameter* parameter_named(const std::string& name) const {
    const auto& all = kernel_->parameters;
    const auto found = std::find_if(all.begin(), all.end(), [&](const Parameter& one) { return one.name == name; });
    return found == all.end() ? nullptr : &*found;
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
        {"abs", Code::abs},      {"sqrt", Code::sqrt},   {"rcp", Code::rcp},    {"atom", Code::atom_min},
        {"mad", Code::mad_lo}};
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
    if (words[0] == "mad") return extra == 1 && second == "lo";
    if (words[0] == "atom") {
      if (extra == 2 && words[2] == "max") made.code = Code::atom_max;
      return extra == 2 && second == "global" && (words[2] == "min" || words[2] == "max") && made.type.kind == 'u';
    }
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
    if (base.kind == Operand::Kind::reg ? base.bits != 64 : parameter_named(address) == nullptr) return false;
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
    static const std::map<Code, size_t> wanted = {{Code::bit_not, 1}, {Code::cvt, 1},   {Code::neg, 1},  {Code::abs, 1},
                                                  {Code::sqrt, 1},    {Code::rcp, 1},   {Code::selp, 3}, {Code::bfe, 3},
                                                  {Code::bfi, 4},     {Code::mad_lo, 3}};
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

}  // namespace

namespace fake_ptx {

Kernel* load(const char* text, const char* name) {
  return Parser(text, name).parse();
}

std::vector<char> arguments_of(const Kernel& kernel, void** parameters) {
  std::vector<char> arguments(kernel.bytes_of_arguments);
  for (const Parameter& one : kernel.parameters) std::memcpy(&arguments[one.at], *parameters++, one.bytes);
  return arguments;
}

}  // namespace fake_ptx
