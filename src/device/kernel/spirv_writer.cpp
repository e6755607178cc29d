// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/kernel/spirv_writer.hpp"

#include <algorithm>
#include <cstring>

namespace weft::device::spirv {
namespace {

constexpr uint32_t in_input = 1, in_device = 5, in_function = 7;  // classes of storage
constexpr uint32_t decoration_builtin = 11, decoration_constant = 22, decoration_parameter = 38,
                   decoration_linkage = 41, decoration_alignment = 44;
constexpr uint32_t aligned = 2;  // an access to memory whose alignment follows

constexpr uint32_t of_builtin(Builtin which) {
  return static_cast<uint32_t>(which);
}

}  // namespace

Writer::Writer() {
  constexpr uint32_t addresses = 4, linkage = 5, kernel = 6;
  for (const uint32_t capability : {addresses, linkage, kernel}) want(capability);
}

void Writer::put(std::vector<uint32_t>& section, OpCode op, std::initializer_list<uint32_t> words) {
  section.push_back(static_cast<uint32_t>(words.size() + 1) << 16 | static_cast<uint32_t>(op));
  section.insert(section.end(), words);
}

// Puts a text behind an instruction that has been put without it: zeros end it.
void Writer::put_text(std::vector<uint32_t>& section, std::string_view text) {
  const size_t begin = section.size();
  section.resize(begin + text.size() / 4 + 1);
  std::memcpy(&section[begin], text.data(), text.size());
}

void Writer::want(uint32_t capability) {
  if (std::find(wanted_.begin(), wanted_.end(), capability) != wanted_.end()) return;
  wanted_.push_back(capability);
  put(capabilities_, OpCode::capability, {capability});
}

Id Writer::reserve(Id type) {
  types_.resize(next_ + 1);
  bytes_.resize(next_ + 1);
  types_[next_] = type;
  return next_++;
}

Id Writer::once(OpCode op, std::initializer_list<uint32_t> operands) {
  std::vector<uint32_t> words = {static_cast<uint32_t>(op)};
  words.insert(words.end(), operands);
  const auto found =
      std::find_if(declared_.begin(), declared_.end(), [&words](const Declared& one) { return one.words == words; });
  if (found != declared_.end()) return found->id;
  const Id id = reserve();
  declarations_.push_back(static_cast<uint32_t>(operands.size() + 2) << 16 | static_cast<uint32_t>(op));
  declarations_.push_back(id);
  declarations_.insert(declarations_.end(), operands);
  declared_.push_back({std::move(words), id});
  if (op == OpCode::type_int || op == OpCode::type_float) bytes_[id] = *operands.begin() / 8;
  if (op == OpCode::type_vector) bytes_[id] = bytes_of(*operands.begin()) * *(operands.begin() + 1);
  return id;
}

Id Writer::integer(int bits) {
  constexpr uint32_t int64 = 11, int16 = 22, int8 = 39;
  if (bits != 32) want(bits == 64 ? int64 : bits == 16 ? int16 : int8);
  return once(OpCode::type_int, {static_cast<uint32_t>(bits), 0});
}

Id Writer::floating(int bits) {
  constexpr uint32_t float16 = 9, float64 = 10;
  if (bits != 32) want(bits == 64 ? float64 : float16);
  return once(OpCode::type_float, {static_cast<uint32_t>(bits)});
}

Id Writer::constant(int bits, uint64_t value) {
  const Id type = integer(bits);
  if (bits < 64) value &= (uint64_t{1} << bits) - 1;
  const auto low = static_cast<uint32_t>(value), high = static_cast<uint32_t>(value >> 32);
  const std::vector<uint32_t> words = {static_cast<uint32_t>(OpCode::constant), type, low, high};
  const auto found =
      std::find_if(declared_.begin(), declared_.end(), [&words](const Declared& one) { return one.words == words; });
  if (found != declared_.end()) return found->id;
  const Id id = reserve(type);
  if (bits == 64)
    put(declarations_, OpCode::constant, {type, id, low, high});
  else
    put(declarations_, OpCode::constant, {type, id, low});
  declared_.push_back({words, id});
  return id;
}

// ---- Parameters and the numbers of a thread

Id Writer::add_parameter(Id type) {
  parameters_.push_back(reserve(type));
  return parameters_.back();
}

Id Writer::add_pointer() {
  return add_parameter(pointer(in_device, integer(8)));
}

Id Writer::add_number() {
  return add_parameter(integer(64));
}

void Writer::add_structure(size_t bytes) {
  constexpr uint32_t by_value = 2;
  const Id array = once(OpCode::type_array, {integer(64), constant(64, bytes / 8)});
  structure_ = add_parameter(pointer(in_function, once(OpCode::type_struct, {array})));
  put(decorations_, OpCode::decorate, {structure_, decoration_parameter, by_value});
  put(decorations_, OpCode::decorate, {structure_, decoration_alignment, 8});
}

void Writer::begin() {
  const Id nothing = once(OpCode::type_void, {});
  const Id function_type = reserve();
  put(declarations_, OpCode::type_function, {function_type, nothing});
  declarations_[declarations_.size() - 3] += static_cast<uint32_t>(parameters_.size()) << 16;
  for (const Id parameter : parameters_) declarations_.push_back(type_of(parameter));
  const Id function = reserve();
  interface_.insert(interface_.begin(), function);
  put(body_, OpCode::function, {nothing, function, 0, function_type});
  for (const Id parameter : parameters_) put(body_, OpCode::parameter, {type_of(parameter), parameter});
  open(reserve());
}

void Writer::decorate_import(Id variable, Builtin which) {
  const std::string_view name =
      which == Builtin::global_size ? "__spirv_BuiltInGlobalSize" : "__spirv_BuiltInGlobalInvocationId";
  const size_t begin = decorations_.size();
  put(decorations_, OpCode::decorate, {variable, decoration_linkage});
  put_text(decorations_, name);
  constexpr uint32_t import = 1;
  decorations_.push_back(import);
  const auto length = static_cast<uint32_t>(decorations_.size() - begin);
  decorations_[begin] = length << 16 | static_cast<uint32_t>(OpCode::decorate);
  put(decorations_, OpCode::decorate, {variable, decoration_constant});
  put(decorations_, OpCode::decorate, {variable, decoration_builtin, of_builtin(which)});
}

Id Writer::builtin(Builtin which) {
  const Id vector = once(OpCode::type_vector, {integer(64), 3});
  const Id type = pointer(in_input, vector);
  const Id variable = reserve(type);
  put(declarations_, OpCode::variable, {type, variable, in_input});
  decorate_import(variable, which);
  interface_.push_back(variable);
  const Id all = make(OpCode::load, vector, {variable, aligned, 32});
  return make(OpCode::extract, integer(64), {all, 0});
}

// ---- Values

Id Writer::make(OpCode op, Id type, std::initializer_list<Id> operands) {
  const Id id = reserve(type);
  define(id, op, operands);
  return id;
}

void Writer::define(Id reserved, OpCode op, std::initializer_list<Id> operands) {
  body_.push_back(static_cast<uint32_t>(operands.size() + 3) << 16 | static_cast<uint32_t>(op));
  body_.push_back(type_of(reserved));
  body_.push_back(reserved);
  body_.insert(body_.end(), operands);
}

Id Writer::field(size_t offset, int bits) {
  const Id at = make(OpCode::access_chain, pointer(in_function, integer(64)),
                     {structure_, constant(32, 0), constant(64, offset / 8)});
  const Id word = make(OpCode::load, integer(64), {at, aligned, 8});
  if (bits == 64) return word;
  const Id half = offset % 8 == 0 ? word : same(OpCode::shift_right, word, constant(64, 32));
  return cast(OpCode::zero_extend, integer(32), half);
}

Id Writer::load(Id type, Id from, Id at) {
  const Id byte = make(OpCode::pointer_access_chain, type_of(from), {from, at});
  const Id place = cast(OpCode::bitcast, pointer(in_device, type), byte);
  return make(OpCode::load, type, {place, aligned, bytes_of(type)});
}

void Writer::store(Id value, Id to, Id at) {
  const Id byte = make(OpCode::pointer_access_chain, type_of(to), {to, at});
  const Id place = cast(OpCode::bitcast, pointer(in_device, type_of(value)), byte);
  act(OpCode::store, {place, value, aligned, bytes_of(type_of(value))});
}

void Writer::open(Id label) {
  act(OpCode::label, {label});
  block_ = label;
}

// ---- The end

std::vector<uint32_t> Writer::finish(std::string_view name) {
  constexpr uint32_t magic = 0x07230203, version = 0x00010000, of_nobody = 0, schema = 0;
  constexpr uint32_t physical64 = 2, opencl = 2, kernel = 6, no_contraction = 31;
  act(OpCode::end, {});
  act(OpCode::function_end, {});
  std::vector<uint32_t> module = {magic, version, of_nobody, next_, schema};
  const auto append = [&module](const std::vector<uint32_t>& part) {
    module.insert(module.end(), part.begin(), part.end());
  };
  append(capabilities_);
  put(module, OpCode::memory_model, {physical64, opencl});
  const size_t entry = module.size();
  put(module, OpCode::entry_point, {kernel, interface_.front()});
  put_text(module, name);
  module.insert(module.end(), interface_.begin() + 1, interface_.end());
  module[entry] = static_cast<uint32_t>(module.size() - entry) << 16 | static_cast<uint32_t>(OpCode::entry_point);
  put(module, OpCode::execution_mode, {interface_.front(), no_contraction});
  append(decorations_);
  append(declarations_);
  append(body_);
  return module;
}

}  // namespace weft::device::spirv
