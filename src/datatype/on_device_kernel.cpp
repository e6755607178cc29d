// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/on_device_kernel.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

#include "datatype/blocks.hpp"
#include "datatype/predefined.hpp"
#include "datatype/runs.hpp"
#include "datatype/walk.hpp"
#include "device/api/contention.hpp"

namespace weft::datatype {
namespace {

// Fewer runs than these are copied one by one, and so are runs that are this long on average: a copy is as fast then.
constexpr int64_t least_runs = 8;
constexpr int64_t long_run = int64_t{64} << 10;

// A list of blocks as all its contiguous runs. It holds the blocks, so that no other list can be at their address.
struct Flat {
  static constexpr int64_t most_runs = int64_t{1} << 20;
  static constexpr int64_t most_bytes = int64_t{1} << 30;

  explicit Flat(const BlockTable* from) : blocks(from) { hold(blocks); }
  Flat(const Flat&) = delete;
  Flat& operator=(const Flat&) = delete;
  ~Flat() {
    if (list.there != nullptr) (void)device::active->release(list.there);
    drop(blocks);
  }
  void fill();

  const BlockTable* blocks;
  std::vector<int64_t> offset;
  std::vector<int64_t> packed;
  device::List list{};  // count 0: it is too long for a kernel
};

void Flat::fill() {
  Type one;
  one.nest.blocks = blocks;
  one.size = one.extent = one.nest.block = blocks->packed_before(blocks->count);
  if (one.size >= most_bytes || blocks->count > most_runs) return;
  constexpr int room = 256;
  iovec runs[room];
  uint64_t all = 16;
  packed.push_back(0);
  for (int64_t at = 0; at < one.size;) {
    const Runs some = list_runs(one, 1, nullptr, at, one.size - at, runs, room);
    if (static_cast<int64_t>(offset.size()) + some.count > most_runs) return;
    for (int i = 0; i < some.count; ++i) {
      offset.push_back(reinterpret_cast<intptr_t>(runs[i].iov_base));
      packed.push_back(packed.back() + static_cast<int64_t>(runs[i].iov_len));
      all |= static_cast<uint64_t>(offset.back() | packed.back());
    }
    at += some.bytes;
  }
  list.offset = offset.data();
  list.packed = packed.data();
  list.count = static_cast<int64_t>(offset.size());
  list.alignment = static_cast<int64_t>(all & (~all + 1));
  const int64_t each = packed[1];
  const auto uneven = [each](int64_t before, int64_t after) { return after - before != each; };
  const bool even = std::adjacent_find(packed.begin(), packed.end(), uneven) == packed.end();
  list.each = even ? each : 0;
}

// The lists that were used last. One whose datatypes are freed goes when another comes.
class Lists {
 public:
  std::shared_ptr<Flat> find(const BlockTable* blocks) {
    std::lock_guard guard(mutex_);
    const auto found =
        std::find_if(kept_.begin(), kept_.end(), [&](const auto& flat) { return flat->blocks == blocks; });
    if (found != kept_.end()) {
      std::rotate(kept_.begin(), found, found + 1);
      return kept_.front();
    }
    std::erase_if(kept_, [](const auto& flat) { return flat->blocks->references.now() == 1; });
    auto made = std::make_shared<Flat>(blocks);
    made->fill();
    kept_.insert(kept_.begin(), made);
    int64_t runs = 0;
    const auto fits = [&](const auto& flat) { return (runs += flat->list.count) <= most_runs; };
    const auto end =
        std::find_if_not(kept_.begin(), kept_.begin() + static_cast<ptrdiff_t>(std::min(kept_.size(), most)), fits);
    kept_.erase(std::max(end, kept_.begin() + 1), kept_.end());
    return made;
  }

 private:
  static constexpr size_t most = 64;
  static constexpr int64_t most_runs = int64_t{1} << 22;  // of all
  std::mutex mutex_;
  std::vector<std::shared_ptr<Flat>> kept_;  // the one used last first
};

Lists& lists() {
  static auto* all = new Lists;
  return *all;
}

// Where processes take turns on the device, so many copies of rows take less time than the change that a kernel needs.
constexpr int64_t most_groups = 12;

// How many groups of rows at equal distances there are; INT64_MAX: lists.
int64_t groups_of_rows(const Nest& nest) {
  if (nest.blocks != nullptr) return INT64_MAX;
  int64_t groups = 1;
  for (int i = 0; i + 1 < nest.loops; ++i) {
    if (nest.loop[i].stride != nest.loop[i + 1].count * nest.loop[i + 1].stride) groups *= nest.loop[i].count;
  }
  return groups;
}

device::Number number_of(Basic basic) {
  using device::Number;
  switch (basic) {
    case Basic::int8:
      return Number::s8;
    case Basic::character:
      return std::is_signed_v<char> ? Number::s8 : Number::u8;
    case Basic::uint8:
    case Basic::boolean:
    case Basic::logical8:
    case Basic::byte:
      return Number::u8;
    case Basic::int16:
      return Number::s16;
    case Basic::uint16:
    case Basic::logical16:
      return Number::u16;
    case Basic::int32:
      return Number::s32;
    case Basic::uint32:
    case Basic::logical32:
      return Number::u32;
    case Basic::int64:
      return Number::s64;
    case Basic::uint64:
    case Basic::logical64:
      return Number::u64;
    case Basic::float16:
    case Basic::complex32:
      return Number::f16;
    case Basic::bfloat16:
      return Number::bf16;
    case Basic::float32:
    case Basic::complex64:
      return Number::f32;
    case Basic::float64:
    case Basic::complex128:
      return Number::f64;
    default:
      return Number::none;
  }
}

}  // namespace

bool move_by_kernel(const Type& type, int64_t count, const void* buffer, int64_t position, void* packed, int64_t bytes,
                    device::KernelDirection direction) {
  bytes = std::min(bytes, count * type.size - position);
  if (bytes <= 0) return true;
  if (type.contiguous) return false;
  const Nest nest = elements_nest(type, count);
  if (device::takes_turns() && groups_of_rows(nest) <= most_groups) return false;
  std::shared_ptr<Flat> flat;
  int64_t run = nest.block;
  if (nest.blocks != nullptr) {
    run = nest.block / nest.blocks->count;
    if (bytes / std::max<int64_t>(run, 1) < least_runs) return false;
    flat = lists().find(nest.blocks);
    if (flat->list.count == 0) return false;
    run = nest.block / flat->list.count;
  }
  if (run >= long_run || bytes / std::max<int64_t>(run, 1) < least_runs) return false;
  device::KernelLayout layout{};
  layout.place = advance(reinterpret_cast<uintptr_t>(buffer), type.first);
  layout.block = nest.block;
  layout.loops = nest.loops;
  for (int i = 0; i < nest.loops; ++i) layout.loop[i] = {nest.loop[i].count, nest.loop[i].stride};
  layout.list = flat ? &flat->list : nullptr;
  const std::string problem = device::active->move(layout, direction, position, packed, bytes);
  if (!problem.empty()) device::fail(problem);
  return true;
}

device::KernelReduction device_reduction(Reduction reduction, const Type& type) {
  using device::KernelOperation;
  using device::Number;
  static_assert(static_cast<int>(Reduction::maxloc) == 11 && static_cast<int>(Reduction::minloc) == 10);
  constexpr KernelOperation operations[] = {
      KernelOperation::sum,        KernelOperation::minimum,     KernelOperation::maximum, KernelOperation::product,
      KernelOperation::bit_and,    KernelOperation::bit_or,      KernelOperation::bit_xor, KernelOperation::logical_and,
      KernelOperation::logical_or, KernelOperation::logical_xor, KernelOperation::minloc,  KernelOperation::maxloc};
  device::KernelReduction made{KernelOperation::sum, Number::none};
  if (reduction > Reduction::maxloc) return made;
  made.operation = operations[static_cast<int>(reduction)];
  made.on_host = kernel(reduction, type);
  if (made.on_host == nullptr) return made;
  if (reduction == Reduction::minloc || reduction == Reduction::maxloc) {
    const PairParts parts =
        type.pair_value != Basic::none ? PairParts{type.pair_value, type.pair_index} : pair_parts(type.basic);
    made.number = number_of(parts.value);
    made.index = number_of(parts.index);
    if (made.index == Number::none) made.number = Number::none;
    return made;
  }
  made.number = number_of(type.basic);
  made.is_complex = type.basic == Basic::complex32 || type.basic == Basic::complex64 || type.basic == Basic::complex128;
  return made;
}

bool reduce_by_kernel(Reduction reduction, const Type& type, const void* in, void* inout, int64_t count) {
  const device::KernelReduction made = device_reduction(reduction, type);
  if (made.number == device::Number::none) return false;
  const auto part = static_cast<uintptr_t>(made.to_second());
  if ((reinterpret_cast<uintptr_t>(in) | reinterpret_cast<uintptr_t>(inout)) % part != 0) return false;
  const std::string problem = count > 0 ? device::active->reduce(made, in, inout, count) : std::string();
  if (!problem.empty()) device::fail(problem);
  return true;
}

}  // namespace weft::datatype
