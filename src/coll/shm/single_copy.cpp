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

// Memory for an operation; without it the room breaks.
class Memory {
 public:
  [[nodiscard]] unsigned char* take(Room& room, int64_t bytes) {
    data_.reset(new (std::nothrow) unsigned char[static_cast<size_t>(bytes)]);
    if (data_ == nullptr) room.give_up(core::no_memory);
    return data_.get();
  }

 private:
  std::unique_ptr<unsigned char[]> data_;
};

MemoryRef name(const void* data, int64_t bytes) {
  return core::memory::register_memory(data, static_cast<uint64_t>(bytes));
}

// Says where our data of this phase are.
bool show(Room& room, int64_t phase, const void* data, int64_t bytes) {
  unsigned char* place = room.open(phase);
  if (place == nullptr) return false;
  const MemoryRef memory = name(data, bytes);
  std::memcpy(place, &memory, sizeof memory);
  room.post(phase);
  return true;
}

bool find(Room& room, int32_t rank, int64_t phase, MemoryRef& memory) {
  const unsigned char* place = room.await(rank, phase);
  if (place == nullptr) return false;
  std::memcpy(&memory, place, sizeof memory);
  return true;
}

// The packed data of a rank into a block of ours.
bool read_block(Room& room, int32_t rank, const MemoryRef& from, const Block& to, int64_t bytes) {
  if (to.type->contiguous) return room.read(rank, from, to.data, bytes);
  const std::span<unsigned char> scratch = room.scratch(0);
  const auto most = static_cast<int64_t>(scratch.size());
  for (int64_t at = 0; at < bytes; at += most) {
    const int64_t n = std::min(most, bytes - at);
    if (!room.read(rank, advanced(from, static_cast<uint64_t>(at)), scratch.data(), n)) return false;
    unpack_piece(scratch.data(), to, at, n);
  }
  return true;
}

// Calls `take` with every other rank, beginning behind ours so that not all read from the same at once.
template <class Take>
bool each_other(const Room& room, Take take) {
  for (int32_t i = 1; i < room.size(); ++i) {
    if (!take((room.rank() + i) % room.size())) return false;
  }
  return true;
}

// The data that all ranks show in a phase.
class Sources {
 public:
  Sources(Room& room, const void* ours) : room_(room), ours_(static_cast<const unsigned char*>(ours)) {}

  bool find_all(int64_t phase) {
    return each_other(room_, [&](int32_t r) { return find(room_, r, phase, memory_[r]); });
  }
  // Elements of all ranks, `at` bytes into their data, in the order of ranks: into `result`, which is memory of its own
  // or, `in_place`, our own data.
  bool combine(int64_t at, int64_t bytes, const Reducer& reducer, void* result, bool in_place) {
    const int64_t size = reducer.type->size;
    const int64_t most = static_cast<int64_t>(room_.scratch(0).size()) / size * size;
    for (int64_t i = 0; i < bytes; i += most) {
      const int64_t n = std::min(most, bytes - i);
      unsigned char* const to = static_cast<unsigned char*>(result) + i;
      unsigned char* const sum = in_place ? room_.scratch(0).data() : to;
      for (int32_t r = room_.size() - 1; r >= 0; --r) {
        const bool first = r == room_.size() - 1;
        const void* data = nullptr;
        if (!take(r, at + i, n, first ? sum : room_.scratch(1).data(), first, data)) return false;
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
    if (rank != room_.rank()) return room_.read(rank, advanced(memory_[rank], static_cast<uint64_t>(at)), to, bytes);
    if (wanted) {
      base::copy(to, ours_ + at, static_cast<size_t>(bytes));
    } else {
      data = ours_ + at;
    }
    return true;
  }

  Room& room_;
  const unsigned char* ours_;
  MemoryRef memory_[most_sharing];
};

unsigned char* offset(void* data, int64_t bytes) {
  return static_cast<unsigned char*>(data) + bytes;
}

// Our share of the sum of all ranks' `send`: into `result`, in bytes [share.first, + share.count).
bool reduce_share(Room& room, int64_t phase, const void* send, int64_t total, const Share& share,
                  const Reducer& reducer, void* result, bool in_place) {
  Sources sources(room, send);
  if (!show(room, phase, send, total) || !sources.find_all(phase) ||
      !sources.combine(share.first, share.count, reducer, result, in_place)) {
    return false;
  }
  room.pass(phase);
  return true;
}

// A rank's share of elements, in bytes.
Share bytes_of(int64_t count, int64_t size, int32_t rank, int32_t ranks) {
  const Share elements = share_of(count, rank, ranks);
  return {elements.first * size, elements.count * size};
}

}  // namespace

int32_t allgather(Room& room, const Block& mine, const Blocks& all) {
  const Block own = mine.in_place() ? all[room.rank()] : mine;
  const int64_t phase = room.next();
  Memory packed;
  const void* data = own.data;
  if (!own.type->contiguous && own.bytes() > 0) {
    unsigned char* const aside = packed.take(room, own.bytes());
    if (aside == nullptr) return room.end();
    pack_piece(own, 0, aside, own.bytes());
    data = aside;
  }
  const bool read = show(room, phase, data, own.bytes()) && each_other(room, [&](int32_t r) {
                      MemoryRef memory{};
                      const Block block = all[r];
                      return block.bytes() == 0 ||
                             (find(room, r, phase, memory) && read_block(room, r, memory, block, block.bytes()));
                    });
  if (!read) return room.end();
  room.pass(phase);
  const int32_t error = mine.in_place() ? core::no_error : copy_block(mine, all[room.rank()]);
  if (!room.await_passed(phase)) return room.end();
  return error;
}

namespace {

// How a block gets to the rank that it is for: in its slot, or from the user's memory, or, where that has gaps or is
// written meanwhile, from a copy aside. The slot says where.
enum class Lies : uint8_t { in_slot, with_user, aside };

// A large block that is reached without the kernel does not go through its slot.
Lies lies_of(const Block& block, const Slots& slots, bool in_place) {
  constexpr int64_t large = 16 << 10;
  const bool may_stay = !in_place && block.type->contiguous;
  if (!slots.has_room(block.bytes())) return may_stay ? Lies::with_user : Lies::aside;
  const bool stays = may_stay && block.bytes() >= large && name(block.data, block.bytes()).key != MemoryRef::no_key;
  return stays ? Lies::with_user : Lies::in_slot;
}

// Of a slot: behind the size, in its head.
void note_place(unsigned char* slot, Lies lies) {
  std::memcpy(slot + sizeof(int64_t), &lies, sizeof lies);
}
bool is_in_slot(const unsigned char* slot) {
  Lies lies{};
  std::memcpy(&lies, slot + sizeof(int64_t), sizeof lies);
  return lies == Lies::in_slot;
}

}  // namespace

int32_t alltoall(Room& room, const Blocks& from, const Blocks& to) {
  room.use_chunks(Room::most_area);
  const Slots slots(room.place_bytes(), room.size());
  static_assert(Room::most_areas / most_sharing / 2 / most_sharing >=
                Slots::head + static_cast<int64_t>(sizeof(MemoryRef)));
  const bool in_place = from.in_place();
  const Blocks& out = in_place ? to : from;
  bool all_here = true;
  int64_t aside_bytes = 0;
  (void)each_other(room, [&](int32_t r) {
    const Block block = out[r];
    const Lies lies = lies_of(block, slots, in_place);
    all_here = all_here && lies == Lies::in_slot;
    if (lies == Lies::aside) aside_bytes += block.bytes();
    return true;
  });
  Memory memory;
  unsigned char* aside = aside_bytes > 0 ? memory.take(room, aside_bytes) : nullptr;
  if (aside_bytes > 0 && aside == nullptr) return room.end();

  const int64_t phase = room.next();
  unsigned char* const place = room.open(phase);
  if (place == nullptr) return room.end();
  (void)each_other(room, [&](int32_t r) {
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
    std::memcpy(Slots::data(slot), &there, sizeof there);
    return true;
  });
  room.post(phase);

  if (in_place && !room.await_all(phase)) return room.end();
  const bool taken = each_other(room, [&](int32_t r) {
    const unsigned char* theirs = room.await(r, phase);
    if (theirs == nullptr) return false;
    const Block block = to[r];
    const unsigned char* const slot = theirs + room.rank() * slots.bytes();
    const int64_t bytes = Slots::size(slot);
    if (bytes < 0 || bytes > block.bytes()) {
      room.truncate(r, bytes, block.bytes());
      return false;
    }
    if (is_in_slot(slot) && slots.has_room(bytes)) {
      Slots::take(slot, block);
      return true;
    }
    MemoryRef there{};
    std::memcpy(&there, Slots::data(slot), sizeof there);
    return read_block(room, r, there, block, bytes);
  });
  if (!taken) return room.end();
  room.pass(phase);
  const int32_t error = in_place ? core::no_error : copy_block(from[room.rank()], to[room.rank()]);
  if (!all_here && !room.await_passed(phase)) return room.end();
  return error;
}

int32_t reduce(Room& room, const void* send, void* receive, int64_t count, const Reducer& reducer, int32_t root) {
  const int64_t size = reducer.type->size;
  const int64_t total = count * size;
  const bool is_root = room.rank() == root;
  const bool in_place = is_root && send == receive;
  const int64_t phase = room.next();
  if (room.size() == 2) {  // the root reads all: nothing that was just written
    if (is_root) {
      (void)reduce_share(room, phase, send, total, {0, total}, reducer, receive, in_place);
    } else if (show(room, phase, send, total)) {
      room.pass(phase);
      (void)room.await_passed(root, phase);
    }
    return room.end();
  }
  const Share mine = bytes_of(count, size, room.rank(), room.size());
  Memory memory;
  unsigned char* const result = is_root ? offset(receive, mine.first) : memory.take(room, mine.count);
  if (result == nullptr || !reduce_share(room, phase, send, total, mine, reducer, result, in_place)) return room.end();
  const int64_t shares = room.next();
  if (!show(room, shares, result, mine.count)) return room.end();
  if (is_root) {
    const bool read = each_other(room, [&](int32_t r) {
      const Share theirs = bytes_of(count, size, r, room.size());
      MemoryRef there{};
      return find(room, r, shares, there) && room.read(r, there, offset(receive, theirs.first), theirs.count);
    });
    if (!read) return room.end();
  }
  room.pass(shares);
  if (room.await_passed(phase)) (void)room.await_passed(root, shares);
  return room.end();
}

int32_t allreduce(Room& room, const void* send, void* receive, int64_t count, const Reducer& reducer) {
  const int64_t size = reducer.type->size;
  const int64_t total = count * size;
  const int64_t phase = room.next();
  if (room.size() == 2 && send != receive) {  // both read all, as above
    if (reduce_share(room, phase, send, total, {0, total}, reducer, receive, false)) (void)room.await_passed(phase);
    return room.end();
  }
  const Share mine = bytes_of(count, size, room.rank(), room.size());
  if (!reduce_share(room, phase, send, total, mine, reducer, offset(receive, mine.first), send == receive)) {
    return room.end();
  }
  const int64_t shares = room.next();
  const bool read =
      show(room, shares, receive, total) && each_other(room, [&](int32_t r) {
        const Share theirs = bytes_of(count, size, r, room.size());
        MemoryRef there{};
        return find(room, r, shares, there) && room.read(r, advanced(there, static_cast<uint64_t>(theirs.first)),
                                                         offset(receive, theirs.first), theirs.count);
      });
  if (!read) return room.end();
  room.pass(shares);
  (void)room.await_passed(shares);
  return room.end();
}

int32_t reduce_scatter(Room& room, const void* send, void* receive, const Array& counts, const Reducer& reducer) {
  const int64_t size = reducer.type->size;
  int64_t total = 0;
  Share mine{0, counts[room.rank()] * size};
  for (int32_t r = 0; r < room.size(); ++r) {
    if (r == room.rank()) mine.first = total;
    total += counts[r] * size;
  }
  // In place the result goes where others still read.
  const bool in_place = send == receive;
  Memory memory;
  void* result = receive;
  if (in_place) result = memory.take(room, mine.count);
  if (in_place && result == nullptr) return room.end();
  const int64_t phase = room.next();
  if (!reduce_share(room, phase, send, total, mine, reducer, result, false)) return room.end();
  if (room.await_passed(phase) && in_place) base::copy(receive, result, static_cast<size_t>(mine.count));
  return room.end();
}

// From rank to rank, piece by piece: each adds its own data to the sum of those below it.
int32_t scan(Room& room, const void* send, void* receive, int64_t count, const Reducer& reducer, bool inclusive) {
  const int64_t size = reducer.type->size;
  const int64_t total = count * size;
  const int64_t most = static_cast<int64_t>(room.scratch(0).size()) / size * size;
  const bool in_place = send == receive;
  const bool first = room.rank() == 0;
  const bool last = room.rank() == room.size() - 1;
  // Where the sum up to our data is, for the next rank; that of the first rank is there.
  const void* shown = send;
  unsigned char* sums = nullptr;
  Memory memory;
  if (inclusive && !(first && in_place)) {
    sums = static_cast<unsigned char*>(receive);
    if (!first) shown = sums;
  } else if (!inclusive && !last && (!first || in_place)) {
    sums = memory.take(room, total);
    if (sums == nullptr) return room.end();
    shown = sums;
  }
  int64_t phase = room.next();
  if (room.open(phase) == nullptr) return room.end();
  room.post(phase);
  if (in_place && !room.await_all(phase)) return room.end();
  room.pass(phase);
  for (int64_t at = 0; at < total; at += most) {
    phase = room.next();
    const int64_t bytes = std::min(most, total - at);
    if (first && shown == send && !show(room, phase, shown, total)) return room.end();
    if (sums != nullptr && sums != send) {
      base::copy(sums + at, static_cast<const unsigned char*>(send) + at, static_cast<size_t>(bytes));
    }
    if (!first) {
      MemoryRef there{};
      unsigned char* const before = inclusive ? room.scratch(0).data() : offset(receive, at);
      if (!find(room, room.rank() - 1, phase, there) ||
          !room.read(room.rank() - 1, advanced(there, static_cast<uint64_t>(at)), before, bytes)) {
        return room.end();
      }
      if (sums != nullptr) reducer.apply(before, sums + at, bytes / size);
    }
    if (!last && !(first && shown == send) && !show(room, phase, shown, total)) return room.end();
    room.pass(phase);
  }
  if (!last) (void)room.await_passed(room.rank() + 1, phase);
  return room.end();
}

}  // namespace weft::coll::single_copy
