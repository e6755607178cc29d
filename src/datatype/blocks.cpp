// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/blocks.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "datatype/grow.hpp"

namespace weft::datatype {
namespace {

// A small list inside a list becomes part of it: walking it costs less than a level more. The limit keeps a chain of
// nested structs from doubling its lists at every level.
constexpr int64_t splice_most = 16;

// A list of one block, which is this nest; it takes the nest's hold on its blocks. nullptr: no memory.
BlockTable* wrap(const Nest& nest, int64_t bytes) {
  struct One {
    BlockTable blocks;
    int64_t offset;
    Nest nest;
  };
  void* memory = std::malloc(sizeof(One));
  if (!memory) return nullptr;
  auto* one = new (memory) One{{}, 0, nest};
  one->blocks.count = 1;
  one->blocks.each = bytes;
  one->blocks.offset = &one->offset;
  one->blocks.nests = &one->nest;
  one->blocks.nest_count = 1;
  return &one->blocks;
}

}  // namespace

int64_t BlockTable::find(int64_t position) const {
  if (!packed) return position / each;
  return std::upper_bound(packed, packed + count, position) - packed - 1;
}

void hold(const BlockTable* blocks) {
  if (blocks) ++const_cast<BlockTable*>(blocks)->references;
}

void drop(const BlockTable* blocks) {
  if (!blocks || --const_cast<BlockTable*>(blocks)->references > 0) return;
  for (int32_t i = 0; i < blocks->nest_count; ++i) drop(blocks->nests[i].blocks);
  std::free(const_cast<BlockTable*>(blocks));
}

bool repeat(Nest& nest, int64_t count, int64_t stride) {
  if (count == 1) return true;
  if (nest.loops == 0 && !nest.blocks && stride == nest.block) {
    nest.block *= count;
    return true;
  }
  int64_t continued = 0;
  if (nest.loops > 0 && !__builtin_mul_overflow(nest.loop[0].count, nest.loop[0].stride, &continued) &&
      stride == continued) {
    nest.loop[0].count *= count;
    return true;
  }
  if (nest.loops == max_loops) {
    int64_t bytes = nest.block;
    for (int k = 0; k < max_loops; ++k) bytes *= nest.loop[k].count;
    BlockTable* inner = wrap(nest, bytes);
    if (!inner) return false;
    nest = Nest{};
    nest.block = bytes;
    nest.blocks = inner;
  }
  std::copy_backward(nest.loop, nest.loop + nest.loops, nest.loop + nest.loops + 1);
  nest.loop[0] = {count, stride};
  ++nest.loops;
  return true;
}

BlockList::~BlockList() {
  for (int32_t i = 0; i < nest_count_; ++i) drop(nests_[i].blocks);
  std::free(nests_);
  std::free(entries_);
}

bool BlockList::push(Entry entry) {
  if (!grow(entries_, count_, room_)) return false;
  entries_[count_++] = entry;
  return true;
}

bool BlockList::add_bytes(int64_t offset, int64_t bytes) {
  if (count_ > 0) {
    Entry& last = entries_[count_ - 1];
    if (last.inside == contiguous_block && last.offset + last.bytes == offset) {
      last.bytes += bytes;
      return true;
    }
  }
  return push({offset, bytes, contiguous_block});
}

int32_t BlockList::add_repeated(const Nest& nest, int64_t count, int64_t stride) {
  const auto hash = reinterpret_cast<uintptr_t>(&nest) / 64 + static_cast<uintptr_t>(count);
  Made& made = made_[hash % made_slots];
  if (made.from == &nest && made.count == count && made.stride == stride) return made.index;
  if (nest_count_ == INT32_MAX || !grow(nests_, nest_count_, nest_room_)) return -1;
  Nest& copy = nests_[nest_count_];
  copy = nest;
  hold(copy.blocks);
  if (!repeat(copy, count, stride)) {
    drop(copy.blocks);
    return -1;
  }
  made = {&nest, count, stride, nest_count_};
  return nest_count_++;
}

bool BlockList::add_nest(int64_t offset, const Nest& nest, int64_t count, int64_t stride, int64_t bytes) {
  if (nest.loops == 0 && !nest.blocks && (count == 1 || stride == nest.block)) return add_bytes(offset, bytes);
  if (count == 1 && nest.loops == 0 && nest.blocks->count <= splice_most) {
    const BlockTable& list = *nest.blocks;
    for (int64_t i = 0; i < list.count; ++i) {
      const int64_t at = offset + list.offset[i];
      const Nest* inside = list.nest_of(i);
      const bool done = inside ? add_nest(at, *inside, 1, 0, list.bytes_of(i)) : add_bytes(at, list.bytes_of(i));
      if (!done) return false;
    }
    return true;
  }
  const int32_t index = add_repeated(nest, count, stride);
  return index >= 0 && push({offset, bytes, index});
}

// Whether all blocks are the same.
bool BlockList::is_even() const {
  return std::all_of(entries_, entries_ + count_, [this](const Entry& one) {
    return one.bytes == entries_[0].bytes && one.inside == entries_[0].inside;
  });
}

// Even blocks: finds loops in their offsets, innermost first, until one block is left or no more are found.
bool BlockList::fold(Nest& nest) {
  while (count_ > 1) {
    const int64_t stride = entries_[1].offset - entries_[0].offset;
    int64_t run = 2;
    while (run < count_ && entries_[run].offset - entries_[run - 1].offset == stride) ++run;
    if (count_ % run != 0) return true;
    for (int64_t i = run; i < count_; ++i) {
      if (i % run != 0 && entries_[i].offset - entries_[i - 1].offset != stride) return true;
    }
    if (!repeat(nest, run, stride)) return false;
    count_ /= run;
    for (int64_t i = 0; i < count_; ++i) {
      entries_[i] = entries_[i * run];
      entries_[i].bytes *= run;
    }
  }
  return true;
}

bool BlockList::finish(Nest& nest, int64_t& first) {
  nest = Nest{};
  first = count_ > 0 ? entries_[0].offset : 0;
  if (count_ == 0) return true;
  if (!is_even()) {
    BlockTable* list = build();
    if (!list) return false;
    nest.block = list->packed_before(list->count);
    nest.blocks = list;
    return true;
  }
  Nest even;
  if (entries_[0].inside == contiguous_block) {
    even.block = entries_[0].bytes;
  } else {
    even = nests_[entries_[0].inside];
    hold(even.blocks);
  }
  if (!fold(even)) {
    drop(even.blocks);
    return false;
  }
  if (count_ == 1) {
    nest = even;
    return true;
  }
  // A list of what the loops made of it.
  const bool contiguous = even.loops == 0 && !even.blocks;
  for (int32_t i = 0; i < nest_count_; ++i) drop(nests_[i].blocks);
  nest_count_ = 0;
  if (!contiguous) {
    if (!grow(nests_, 0, nest_room_)) {
      drop(even.blocks);
      return false;
    }
    nests_[nest_count_++] = even;
  }
  for (int64_t i = 0; i < count_; ++i) entries_[i].inside = contiguous ? contiguous_block : 0;
  BlockTable* list = build();
  if (!list) return false;
  nest.block = list->packed_before(list->count);
  nest.blocks = list;
  return true;
}

// One piece of memory: the object, then its arrays. It takes the nests over.
BlockTable* BlockList::build() {
  const bool even =
      std::all_of(entries_, entries_ + count_, [this](const Entry& one) { return one.bytes == entries_[0].bytes; });
  const bool alike = nest_count_ == 0 || is_even();
  const auto count = static_cast<size_t>(count_);
  const size_t numbers = count + (even ? 0 : count + 1);
  const size_t bytes = sizeof(BlockTable) + static_cast<size_t>(nest_count_) * sizeof(Nest) +
                       numbers * sizeof(int64_t) + (alike ? 0 : count * sizeof(int32_t));
  void* memory = std::malloc(bytes);
  if (!memory) return nullptr;
  auto* list = new (memory) BlockTable;
  auto* nests = reinterpret_cast<Nest*>(list + 1);
  auto* offset = reinterpret_cast<int64_t*>(nests + nest_count_);
  int64_t* packed = even ? nullptr : offset + count;
  auto* inside = alike ? nullptr : reinterpret_cast<int32_t*>(offset + numbers);
  int64_t before = 0;
  for (int64_t i = 0; i < count_; ++i) {
    offset[i] = entries_[i].offset - entries_[0].offset;
    if (packed) packed[i] = before;
    if (inside) inside[i] = entries_[i].inside;
    before += entries_[i].bytes;
  }
  if (packed) packed[count] = before;
  if (nest_count_ > 0) std::copy(nests_, nests_ + nest_count_, nests);
  list->count = count_;
  list->each = even ? entries_[0].bytes : 0;
  list->offset = offset;
  list->packed = packed;
  list->inside = inside;
  list->nests = nests;
  list->nest_count = nest_count_;
  nest_count_ = 0;
  return list;
}

}  // namespace weft::datatype
