// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/shm/single_copy.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "base/copy.hpp"
#include "coll/plan/channel.hpp"
#include "coll/plan/pieces.hpp"
#include "coll/plan/share.hpp"
#include "coll/shm/slots.hpp"
#include "core/memory/region.hpp"

namespace weft::coll::single_copy {

namespace {

using core::MemoryRef;

// Memory for an operation; without it the region breaks.
class OperationMemory {
 public:
  [[nodiscard]] unsigned char* take(SharedRegion& region, int64_t bytes) {
    data_.reset(new (std::nothrow) unsigned char[static_cast<size_t>(bytes)]);
    if (data_ == nullptr) region.give_up(core::no_memory);
    return data_.get();
  }

 private:
  std::unique_ptr<unsigned char[]> data_;
};

MemoryRef name(const void* data, int64_t bytes) {
  return core::memory::register_memory(data, static_cast<uint64_t>(bytes));
}

// Says where our data of this phase are.
bool show(SharedRegion& region, int64_t phase, const void* data, int64_t bytes) {
  unsigned char* place = region.open(phase);
  if (place == nullptr) return false;
  const MemoryRef memory = name(data, bytes);
  std::memcpy(place, &memory, sizeof memory);
  region.post(phase);
  return true;
}

bool find(SharedRegion& region, int32_t rank, int64_t phase, MemoryRef& memory) {
  const unsigned char* place = region.await(rank, phase);
  if (place == nullptr) return false;
  std::memcpy(&memory, place, sizeof memory);
  return true;
}

// The packed data of a rank into a block of ours.
bool read_block(SharedRegion& region, int32_t rank, const MemoryRef& from, const Block& to, int64_t bytes) {
  if (to.type->contiguous) return region.read(rank, from, to.data, bytes);
  const std::span<unsigned char> scratch = region.scratch(0);
  const auto most = static_cast<int64_t>(scratch.size());
  for (int64_t at = 0; at < bytes; at += most) {
    const int64_t n = std::min(most, bytes - at);
    if (!region.read(rank, advanced(from, static_cast<uint64_t>(at)), scratch.data(), n)) return false;
    unpack_piece(scratch.data(), to, at, n);
  }
  return true;
}

// Calls `take` with every other rank, beginning behind ours so that not all read from the same at once.
template <class Take>
bool each_other(const SharedRegion& region, Take take) {
  for (int32_t i = 1; i < region.size(); ++i) {
    if (!take((region.rank() + i) % region.size())) return false;
  }
  return true;
}

// The data that all ranks show in a phase.
class Sources {
 public:
  Sources(SharedRegion& region, const void* ours) : region_(region), ours_(static_cast<const unsigned char*>(ours)) {}

  bool find_all(int64_t phase) {
    return each_other(region_, [&](int32_t r) { return find(region_, r, phase, memory_[r]); });
  }
  // Elements of all ranks, `at` bytes into their data, in the order of ranks: into `result`, which is memory of its own
  // or, `in_place`, our own data.
  bool combine(int64_t at, int64_t bytes, const Reducer& reducer, void* result, bool in_place) {
    const int64_t size = reducer.type->size;
    const int64_t most = static_cast<int64_t>(region_.scratch(0).size()) / size * size;
    for (int64_t i = 0; i < bytes; i += most) {
      const int64_t n = std::min(most, bytes - i);
      unsigned char* const to = static_cast<unsigned char*>(result) + i;
      unsigned char* const sum = in_place ? region_.scratch(0).data() : to;
      for (int32_t r = region_.size() - 1; r >= 0; --r) {
        const bool first = r == region_.size() - 1;
        const void* data = nullptr;
        if (!take(r, at + i, n, first ? sum : region_.scratch(1).data(), first, data)) return false;
        if (!first) reducer.apply(data, sum, n / size);
      }
      if (in_place) base::copy(to, sum, static_cast<size_t>(n));
    }
    return true;
  }

 private:
  // A rank's data: copied to `to`, or, ours and not `wanted` there, where they are.
  bool take(int32_t rank, int64_t at, int64_t bytes, unsigned char* to, bool wanted, const void*& data) {
    data = to;
    if (rank != region_.rank())
      return region_.read(rank, advanced(memory_[rank], static_cast<uint64_t>(at)), to, bytes);
    if (wanted) {
      base::copy(to, ours_ + at, static_cast<size_t>(bytes));
    } else {
      data = ours_ + at;
    }
    return true;
  }

  SharedRegion& region_;
  const unsigned char* ours_;
  MemoryRef memory_[most_sharing];
};

unsigned char* offset(void* data, int64_t bytes) {
  return static_cast<unsigned char*>(data) + bytes;
}

// Our share of the sum of all ranks' `send`: into `result`, in bytes [share.first, + share.count).
bool reduce_share(SharedRegion& region, int64_t phase, const void* send, int64_t total, const Share& share,
                  const Reducer& reducer, void* result, bool in_place) {
  Sources sources(region, send);
  if (!show(region, phase, send, total) || !sources.find_all(phase) ||
      !sources.combine(share.first, share.count, reducer, result, in_place)) {
    return false;
  }
  region.pass(phase);
  return true;
}

// A rank's share of elements, in bytes.
Share bytes_of(int64_t count, int64_t size, int32_t rank, int32_t ranks) {
  const Share elements = share_of(count, rank, ranks);
  return {elements.first * size, elements.count * size};
}

}  // namespace

int32_t allgather(SharedRegion& region, const Block& mine, const Blocks& all) {
  const Block own = mine.in_place() ? all[region.rank()] : mine;
  const int64_t phase = region.next();
  OperationMemory packed;
  const void* data = own.data;
  if (!own.type->contiguous && own.bytes() > 0) {
    unsigned char* const aside = packed.take(region, own.bytes());
    if (aside == nullptr) return region.end();
    pack_piece(own, 0, aside, own.bytes());
    data = aside;
  }
  const bool read = show(region, phase, data, own.bytes()) && each_other(region, [&](int32_t r) {
                      MemoryRef memory{};
                      const Block block = all[r];
                      return block.bytes() == 0 ||
                             (find(region, r, phase, memory) && read_block(region, r, memory, block, block.bytes()));
                    });
  if (!read) return region.end();
  region.pass(phase);
  const int32_t error = mine.in_place() ? core::no_error : copy_block(mine, all[region.rank()]);
  if (!region.await_passed(phase)) return region.end();
  return error;
}

namespace {

// How a block gets to the rank that it is for: in its slot, or from the user's memory, or, where that has gaps or is
// written meanwhile, from a copy aside. The slot says where.
enum class Lies : uint8_t { in_slot, with_user, aside };

// A large block that is reached without the kernel does not go through its slot.
Lies lies_of(const Block& block, const CollectiveSlots& slots, bool in_place) {
  constexpr int64_t large = 16 << 10;
  const bool may_stay = !in_place && block.type->contiguous;
  if (!slots.has_room(block.bytes())) return may_stay ? Lies::with_user : Lies::aside;
  const bool stays = may_stay && block.bytes() >= large && name(block.data, block.bytes()).key != MemoryRef::no_key;
  return stays ? Lies::with_user : Lies::in_slot;
}

// The place of a block's data stands in the head of its slot, behind the size.
void note_place(unsigned char* slot, Lies lies) {
  std::memcpy(slot + sizeof(int64_t), &lies, sizeof lies);
}
bool is_in_slot(const unsigned char* slot) {
  Lies lies{};
  std::memcpy(&lies, slot + sizeof(int64_t), sizeof lies);
  return lies == Lies::in_slot;
}

}  // namespace

int32_t alltoall(SharedRegion& region, const Blocks& from, const Blocks& to) {
  region.use_chunks(SharedRegion::most_area);
  const CollectiveSlots slots(region.place_bytes(), region.size());
  static_assert(SharedRegion::most_areas / most_sharing / 2 / most_sharing >=
                CollectiveSlots::head + static_cast<int64_t>(sizeof(MemoryRef)));
  const bool in_place = from.in_place();
  const Blocks& out = in_place ? to : from;
  bool all_here = true;
  int64_t aside_bytes = 0;
  (void)each_other(region, [&](int32_t r) {
    const Block block = out[r];
    const Lies lies = lies_of(block, slots, in_place);
    all_here = all_here && lies == Lies::in_slot;
    if (lies == Lies::aside) aside_bytes += block.bytes();
    return true;
  });
  OperationMemory memory;
  unsigned char* aside = aside_bytes > 0 ? memory.take(region, aside_bytes) : nullptr;
  if (aside_bytes > 0 && aside == nullptr) return region.end();

  const int64_t phase = region.next();
  unsigned char* const place = region.open(phase);
  if (place == nullptr) return region.end();
  (void)each_other(region, [&](int32_t r) {
    const Block block = out[r];
    unsigned char* const slot = place + r * slots.bytes();
    const Lies lies = lies_of(block, slots, in_place);
    note_place(slot, lies);
    if (lies == Lies::in_slot) {
      slots.put(block, slot);
      return true;
    }
    const int64_t size = block.bytes();
    std::memcpy(slot, &size, sizeof size);
    const void* data = block.data;
    if (lies == Lies::aside && aside != nullptr) {
      pack_piece(block, 0, aside, block.bytes());
      data = aside;
      aside += block.bytes();
    }
    const MemoryRef there = name(data, block.bytes());
    std::memcpy(CollectiveSlots::data(slot), &there, sizeof there);
    return true;
  });
  region.post(phase);

  if (in_place && !region.await_all(phase)) return region.end();
  const bool taken = each_other(region, [&](int32_t r) {
    const unsigned char* theirs = region.await(r, phase);
    if (theirs == nullptr) return false;
    const Block block = to[r];
    const unsigned char* const slot = theirs + region.rank() * slots.bytes();
    const int64_t bytes = CollectiveSlots::size(slot);
    if (bytes < 0 || bytes > block.bytes()) {
      region.truncate(r, bytes, block.bytes());
      return false;
    }
    if (is_in_slot(slot) && slots.has_room(bytes)) {
      CollectiveSlots::take(slot, block);
      return true;
    }
    MemoryRef there{};
    std::memcpy(&there, CollectiveSlots::data(slot), sizeof there);
    return read_block(region, r, there, block, bytes);
  });
  if (!taken) return region.end();
  region.pass(phase);
  const int32_t error = in_place ? core::no_error : copy_block(from[region.rank()], to[region.rank()]);
  if (!all_here && !region.await_passed(phase)) return region.end();
  return error;
}

int32_t reduce(SharedRegion& region, const void* send, void* receive, int64_t count, const Reducer& reducer,
               int32_t root) {
  const int64_t size = reducer.type->size;
  const int64_t total = count * size;
  const bool is_root = region.rank() == root;
  const bool in_place = is_root && send == receive;
  const int64_t phase = region.next();
  if (region.size() == 2) {  // the root reads all: nothing that was just written
    if (is_root) {
      (void)reduce_share(region, phase, send, total, {0, total}, reducer, receive, in_place);
    } else if (show(region, phase, send, total)) {
      region.pass(phase);
      (void)region.await_passed(root, phase);
    }
    return region.end();
  }
  const Share mine = bytes_of(count, size, region.rank(), region.size());
  OperationMemory memory;
  unsigned char* const result = is_root ? offset(receive, mine.first) : memory.take(region, mine.count);
  if (result == nullptr || !reduce_share(region, phase, send, total, mine, reducer, result, in_place))
    return region.end();
  const int64_t shares = region.next();
  if (!show(region, shares, result, mine.count)) return region.end();
  if (is_root) {
    const bool read = each_other(region, [&](int32_t r) {
      const Share theirs = bytes_of(count, size, r, region.size());
      MemoryRef there{};
      return find(region, r, shares, there) && region.read(r, there, offset(receive, theirs.first), theirs.count);
    });
    if (!read) return region.end();
  }
  region.pass(shares);
  if (region.await_passed(phase)) (void)region.await_passed(root, shares);
  return region.end();
}

int32_t allreduce(SharedRegion& region, const void* send, void* receive, int64_t count, const Reducer& reducer) {
  const int64_t size = reducer.type->size;
  const int64_t total = count * size;
  const int64_t phase = region.next();
  if (region.size() == 2 && send != receive) {  // both read all, as above
    if (reduce_share(region, phase, send, total, {0, total}, reducer, receive, false)) (void)region.await_passed(phase);
    return region.end();
  }
  const Share mine = bytes_of(count, size, region.rank(), region.size());
  if (!reduce_share(region, phase, send, total, mine, reducer, offset(receive, mine.first), send == receive)) {
    return region.end();
  }
  const int64_t shares = region.next();
  const bool read =
      show(region, shares, receive, total) && each_other(region, [&](int32_t r) {
        const Share theirs = bytes_of(count, size, r, region.size());
        MemoryRef there{};
        return find(region, r, shares, there) && region.read(r, advanced(there, static_cast<uint64_t>(theirs.first)),
                                                             offset(receive, theirs.first), theirs.count);
      });
  if (!read) return region.end();
  region.pass(shares);
  (void)region.await_passed(shares);
  return region.end();
}

int32_t reduce_scatter(SharedRegion& region, const void* send, void* receive, const Array& counts,
                       const Reducer& reducer) {
  const int64_t size = reducer.type->size;
  int64_t total = 0;
  Share mine{0, counts[region.rank()] * size};
  for (int32_t r = 0; r < region.size(); ++r) {
    if (r == region.rank()) mine.first = total;
    total += counts[r] * size;
  }
  // In place the result goes where others still read.
  const bool in_place = send == receive;
  OperationMemory memory;
  void* result = receive;
  if (in_place) result = memory.take(region, mine.count);
  if (in_place && result == nullptr) return region.end();
  const int64_t phase = region.next();
  if (!reduce_share(region, phase, send, total, mine, reducer, result, false)) return region.end();
  if (region.await_passed(phase) && in_place) base::copy(receive, result, static_cast<size_t>(mine.count));
  return region.end();
}

// From rank to rank, piece by piece: each adds its own data to the sum of those below it.
int32_t scan(SharedRegion& region, const void* send, void* receive, int64_t count, const Reducer& reducer,
             bool inclusive) {
  const int64_t size = reducer.type->size;
  const int64_t total = count * size;
  const int64_t most = static_cast<int64_t>(region.scratch(0).size()) / size * size;
  const bool in_place = send == receive;
  const bool first = region.rank() == 0;
  const bool last = region.rank() == region.size() - 1;
  // Where the sum up to our data is, for the next rank; that of the first rank is there.
  const void* shown = send;
  unsigned char* sums = nullptr;
  OperationMemory memory;
  if (inclusive && !(first && in_place)) {
    sums = static_cast<unsigned char*>(receive);
    if (!first) shown = sums;
  } else if (!inclusive && !last && (!first || in_place)) {
    sums = memory.take(region, total);
    if (sums == nullptr) return region.end();
    shown = sums;
  }
  int64_t phase = region.next();
  if (region.open(phase) == nullptr) return region.end();
  region.post(phase);
  if (in_place && !region.await_all(phase)) return region.end();
  region.pass(phase);
  for (int64_t at = 0; at < total; at += most) {
    phase = region.next();
    const int64_t bytes = std::min(most, total - at);
    if (first && shown == send && !show(region, phase, shown, total)) return region.end();
    if (sums != nullptr && sums != send) {
      base::copy(sums + at, static_cast<const unsigned char*>(send) + at, static_cast<size_t>(bytes));
    }
    if (!first) {
      MemoryRef there{};
      unsigned char* const before = inclusive ? region.scratch(0).data() : offset(receive, at);
      if (!find(region, region.rank() - 1, phase, there) ||
          !region.read(region.rank() - 1, advanced(there, static_cast<uint64_t>(at)), before, bytes)) {
        return region.end();
      }
      if (sums != nullptr) reducer.apply(before, sums + at, bytes / size);
    }
    if (!last && !(first && shown == send) && !show(region, phase, shown, total)) return region.end();
    region.pass(phase);
  }
  if (!last) (void)region.await_passed(region.rank() + 1, phase);
  return region.end();
}

}  // namespace weft::coll::single_copy
