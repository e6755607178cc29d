// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/shm/shared.hpp"

#include <algorithm>
#include <cstring>

#include "base/copy.hpp"
#include "coll/plan/channel.hpp"
#include "coll/plan/pieces.hpp"
#include "coll/plan/share.hpp"
#include "coll/shm/call.hpp"
#include "coll/shm/single_copy.hpp"
#include "coll/shm/slots.hpp"

namespace weft::coll::shared {

namespace {

// So many phases are posted before the first of them is read. Where ranks share processors, each reading costs a switch
// to every other rank.
int64_t batch(const Room& room) {
  return room.depth() / 2;
}

// The pieces of data that go in phases: `at` and bytes of each.
struct Pieces {
  int64_t total;
  int64_t each;

  int64_t count() const { return (total + each - 1) / each; }
  int64_t at(int64_t i) const { return i * each; }
  int64_t bytes(int64_t i) const { return std::min(each, total - at(i)); }
};

// The pieces of a root's data, or of data for it. Readers copy a piece while the writer makes the next one, so that
// small pieces let them begin early; each costs as much as copying 4 KiB.
Pieces pieces_of_root(const Room& room, int64_t total) {
  constexpr int64_t least = 8 << 10;
  if (room.in_lines()) return {total, room.place_bytes()};
  return {total, std::min(room.place_bytes(), std::max(least, total / 4 / least * least))};
}

// Unpacks a part of a place that no other rank reads.
void take(const Room& room, const unsigned char* place, const Block& block, int64_t at, int64_t bytes) {
  if (room.in_lines()) return unpack_piece(place, block, at, bytes);
  take_piece(const_cast<unsigned char*>(place), block, at, bytes);
}

// Unpacks a part of a place that all ranks read.
void take_of_all(const Room& room, const unsigned char* place, const Block& block, int64_t at, int64_t bytes) {
  if (room.size() > 2) return unpack_piece(place, block, at, bytes);
  take(room, place, block, at, bytes);
}

// All ranks post in every phase, and read in every phase: `write(piece, place)`, `read(piece, phase)`, which is false
// when the room is broken.
template <class Write, class Read>
void exchange(Room& room, const Pieces& pieces, Write write, Read read) {
  const int64_t count = pieces.count();
  const int64_t together = batch(room);
  for (int64_t begin = 0; begin < count; begin += together) {
    const int64_t end = std::min(count, begin + together);
    int64_t last = 0;
    for (int64_t i = begin; i < end; ++i) {
      last = room.next();
      unsigned char* place = room.open(last);
      if (place == nullptr) return;
      write(i, place);
      room.post(last);
    }
    for (int64_t i = begin; i < end; ++i) {
      const int64_t phase = last - (end - 1 - i) * room.step();
      if (!read(i, phase)) return;
      room.pass(phase);
    }
  }
}

// Calls `take` with the place of every other rank, beginning behind ours so that not all read the same at once.
template <class Take>
bool each_other(Room& room, int64_t phase, Take take) {
  for (int32_t i = 1; i < room.size(); ++i) {
    const int32_t r = (room.rank() + i) % room.size();
    const unsigned char* place = room.await(r, phase);
    if (place == nullptr) return false;
    take(r, place);
  }
  return true;
}

// Elements of ranks below `end`, `offset` bytes into their places, in the order of ranks: into `result`, `in_place`
// when all ranks have posted theirs. `alone`: no other rank reads them. Ours are at `mine`, if it is not null.
bool combine(Room& room, int64_t phase, int32_t end, int64_t offset, int64_t count, const Reducer& reducer,
             void* result, bool in_place, bool alone, const void* mine = nullptr) {
  if (in_place && !room.await_all(phase)) return false;
  for (int32_t r = end - 1; r >= 0; --r) {
    const void* from = mine;
    if (r != room.rank() || mine == nullptr) {
      const unsigned char* const place = r != room.rank() ? room.await(r, phase) : room.posted(phase);
      if (place == nullptr) return false;
      from = place + offset;
    }
    if (r == end - 1) {
      base::copy(result, from, static_cast<size_t>(count * reducer.type->size));
    } else {
      reducer.apply(from, result, count);
    }
    if (alone && r != room.rank())
      base::own_lines(const_cast<void*>(from), static_cast<size_t>(count * reducer.type->size));
  }
  return true;
}

// Each rank posts the data that others reduce, reduces its share of all data, and posts that for `taker`, or for all
// (-1).
void reduce_in_shares(Room& room, const void* send, void* receive, const Pieces& pieces, const Reducer& reducer,
                      int32_t taker) {
  const int64_t size = reducer.type->size;
  const bool takes = taker < 0 || taker == room.rank();
  const int64_t together = batch(room);
  for (int64_t begin = 0; begin < pieces.count(); begin += together) {
    const int64_t end = std::min(pieces.count(), begin + together);
    const int64_t behind = (end - begin) * room.step();  // a result, behind its data
    int64_t phase = 0;
    for (int64_t i = begin; i < end; ++i) {
      phase = room.next();
      unsigned char* place = room.open(phase);
      if (place == nullptr) return;
      const Share mine = share_of(pieces.bytes(i) / size, room.rank(), room.size());
      const char* const piece = static_cast<const char*>(send) + pieces.at(i);
      const int64_t end_of_mine = (mine.first + mine.count) * size;
      base::copy(place, piece, static_cast<size_t>(mine.first * size));
      base::copy(place + end_of_mine, piece + end_of_mine, static_cast<size_t>(pieces.bytes(i) - end_of_mine));
      room.post(phase);
    }
    for (int64_t i = begin; i < end; ++i) {
      phase = room.next();
      const Share mine = share_of(pieces.bytes(i) / size, room.rank(), room.size());
      const int64_t at = mine.first * size;
      unsigned char* place = room.open(phase);
      if (place == nullptr || !combine(room, phase - behind, room.size(), at, mine.count, reducer, place, false, true,
                                       static_cast<const char*>(send) + pieces.at(i) + at))
        return;
      // Before the others read it: their lines of it are overwritten then.
      if (takes)
        base::copy(static_cast<char*>(receive) + pieces.at(i) + at, place, static_cast<size_t>(mine.count * size));
      room.post(phase);
    }
    phase -= behind;
    room.pass(phase);
    for (int64_t i = begin; i < end; ++i) {
      phase += room.step();
      for (int32_t r = 0; takes && r < room.size(); ++r) {
        if (r == room.rank()) continue;
        const Share theirs = share_of(pieces.bytes(i) / size, r, room.size());
        const unsigned char* place = room.await(r, phase);
        if (place == nullptr) return;
        char* const to = static_cast<char*>(receive) + pieces.at(i) + theirs.first * size;
        const auto bytes = static_cast<size_t>(theirs.count * size);
        if (taker >= 0 || room.size() == 2) {
          base::copy_owning(to, const_cast<unsigned char*>(place), bytes);
        } else {
          base::copy(to, place, bytes);
        }
      }
      room.pass(phase);
    }
  }
}

// Whole elements in a place.
int64_t whole(int64_t place, const Reducer& reducer) {
  return place / reducer.type->size * reducer.type->size;
}

[[gnu::always_inline]] inline Entry enter_room(core::Comm& comm, const Choices& choices, const Wanted& wanted) {
  Room* room = Room::of(comm);
  if (room == nullptr) return {};
  const bool together = wanted.root == Room::everybody && wanted.collective != Collective::scan;
  const uint64_t call = call::word(wanted.collective, wanted.bytes, wanted.root, wanted.reduction);
  if (!room->begin(call, together)) [[unlikely]]
    return {nullptr, room->begin_broken()};
  const bool in_lines = wanted.posted <= Room::line_bytes;
  const auto choose = [&] {
    const bool known = room->chunks() != Room::Chunks::untried;
    const bool no_chunks = room->chunks() == Room::Chunks::none && !in_lines;
    const Algorithms able = wanted.able.without(Algorithm::shared, no_chunks || (wanted.mapped && room->can_read()))
                                .without(Algorithm::single_copy, known && !room->can_read());
    return choices.choose(wanted.collective, wanted.bytes, able);
  };
  const auto in_room = [](Algorithm one) { return one == Algorithm::shared || one == Algorithm::single_copy; };
  Algorithm algorithm = choose();
  if (algorithm == Algorithm::shared && in_lines) return {room};
  // Chunks are made together: the ranks must not wait for one that does something else.
  const bool makes_chunks = in_room(algorithm) && room->chunks() == Room::Chunks::untried;
  if (!in_room(algorithm) || makes_chunks) {
    if (!makes_chunks) room->leave_data_to_messages();
    const int32_t error = room->meet(makes_chunks ? Room::everybody : wanted.root);
    if (error != core::no_error) return {nullptr, error};
  }
  if (makes_chunks) {
    room->make_chunks();
    algorithm = choose();
  }
  if (!in_room(algorithm)) return {};
  if (algorithm == Algorithm::single_copy) {
    room->use_single_copy();
  } else if (!in_lines) {
    room->use_chunks(wanted.posted);
  }
  return {room};
}

}  // namespace

Entry enter(core::Comm& comm, const Wanted& wanted) {
  const Choices& choices = choices_of(comm);
  if (comm.size == 1 || !choices.in_rooms) return {nullptr, choices.otherwise};
  return enter_room(comm, choices, wanted);
}

[[gnu::cold]] Entry enter_behind_offload(core::Comm& comm, const Wanted& wanted) {
  const Choices& choices = choices_of(comm);
  if (comm.size == 1 || !choices.rooms_behind) return {};
  return enter_room(comm, choices, wanted);
}

int32_t barrier(Room& room) {
  (void)room.meet(Room::everybody);
  return room.end();
}

int32_t bcast(Room& room, const Block& data, int32_t root) {
  room.use_halves(data.bytes());
  const Pieces pieces = pieces_of_root(room, data.bytes());
  for (int64_t i = 0; i < pieces.count(); ++i) {
    const int64_t phase = room.next();
    if (room.rank() == root) {
      unsigned char* place = room.open(phase);
      if (place == nullptr) break;
      pack_piece(data, pieces.at(i), place, pieces.bytes(i));
      if (!room.post_and_pass(phase, i == 0 ? Room::everybody : Room::nobody)) break;
    } else {
      const unsigned char* place = room.await(root, phase);
      if (place == nullptr) break;
      take_of_all(room, place, data, pieces.at(i), pieces.bytes(i));
      room.pass(phase);
    }
  }
  return room.end();
}

int32_t gather(Room& room, const Block& mine, const Blocks& all, int64_t block_bytes, int32_t root) {
  room.use_halves(block_bytes);
  const Pieces pieces = pieces_of_root(room, block_bytes);
  for (int64_t i = 0; i < pieces.count(); ++i) {
    const int64_t phase = room.next();
    if (room.rank() != root) {
      unsigned char* place = room.open(phase);
      if (place == nullptr) break;
      pack_piece(mine, pieces.at(i), place, pieces.bytes(i));
      if (!room.post_and_pass(phase, i == 0 ? root : Room::nobody)) break;
    } else if (each_other(room, phase, [&](int32_t r, const unsigned char* place) {
                 take(room, place, all[r], pieces.at(i), pieces.bytes(i));
               })) {
      room.pass(phase);
    } else {
      break;
    }
  }
  const int32_t error = room.end();
  if (error != core::no_error || room.rank() != root || mine.in_place()) return error;
  return copy_block(mine, all[root]);
}

namespace {

// In lines for one rank each.
int32_t scatter_lines(Room& room, const Blocks& all, const Block& mine, int64_t block_bytes, int32_t root) {
  const int64_t phase = room.next();
  if (room.rank() != root) {
    const unsigned char* const line = room.await_handed(root, phase);
    if (line == nullptr) return room.end();
    unpack_piece(line, mine, 0, block_bytes);
    room.pass(phase);
    return room.end();
  }
  if (room.open_line(phase) == nullptr) return room.end();
  for (int32_t r = 0; r < room.size(); ++r) {
    if (r == root) continue;
    pack_piece(all[r], 0, room.line_for(r, phase), block_bytes);
    room.hand(r, phase);
  }
  if (!room.post_and_pass(phase, Room::everybody)) return room.end();
  return mine.in_place() ? room.end() : copy_block(all[root], mine);
}

}  // namespace

int32_t scatter(Room& room, const Blocks& all, const Block& mine, int64_t block_bytes, int32_t root) {
  room.use_halves(block_bytes * room.size());
  const int64_t place_bytes = room.place_bytes();
  if (block_bytes <= Room::line_bytes && block_bytes * room.size() > Room::line_bytes)
    return scatter_lines(room, all, mine, block_bytes, root);
  const Pieces pieces{block_bytes, place_bytes / room.size()};
  for (int64_t i = 0; i < pieces.count(); ++i) {
    const int64_t phase = room.next();
    if (room.rank() == root) {
      unsigned char* place = room.open(phase);
      if (place == nullptr) break;
      for (int32_t r = 0; r < room.size(); ++r) {
        if (r != root) pack_piece(all[r], pieces.at(i), place + r * pieces.each, pieces.bytes(i));
      }
      if (!room.post_and_pass(phase, i == 0 ? Room::everybody : Room::nobody)) break;
    } else {
      const unsigned char* place = room.await(root, phase);
      if (place == nullptr) break;
      take(room, place + room.rank() * pieces.each, mine, pieces.at(i), pieces.bytes(i));
      room.pass(phase);
    }
  }
  const int32_t error = room.end();
  if (error != core::no_error || room.rank() != root || mine.in_place()) return error;
  return copy_block(all[root], mine);
}

int32_t allgather(Room& room, const Block& mine, const Blocks& all, int64_t largest_bytes) {
  if (room.is_single_copy()) return single_copy::allgather(room, mine, all);
  const Block own = mine.in_place() ? all[room.rank()] : mine;
  const Pieces pieces{largest_bytes, room.place_bytes()};
  auto bytes = [&](const Block& block, int64_t i) { return std::min(pieces.bytes(i), block.bytes() - pieces.at(i)); };
  exchange(
      room, pieces,
      [&](int64_t i, unsigned char* place) {
        if (bytes(own, i) > 0) pack_piece(own, pieces.at(i), place, bytes(own, i));
      },
      [&](int64_t i, int64_t phase) {
        return each_other(room, phase, [&](int32_t r, const unsigned char* place) {
          const Block block = all[r];
          if (bytes(block, i) > 0) take_of_all(room, place, block, pieces.at(i), bytes(block, i));
        });
      });
  const int32_t error = room.end();
  return error != core::no_error || mine.in_place() ? error : copy_block(mine, all[room.rank()]);
}

int32_t alltoall(Room& room, const Blocks& from, const Blocks& to, int64_t block_bytes) {
  if (room.is_single_copy()) return single_copy::alltoall(room, from, to);
  const int64_t place_bytes = room.place_bytes();
  const Pieces pieces{block_bytes, place_bytes / room.size()};
  exchange(
      room, pieces,
      [&](int64_t i, unsigned char* place) {
        for (int32_t r = 0; r < room.size(); ++r) {
          if (r != room.rank()) pack_piece(from[r], pieces.at(i), place + r * pieces.each, pieces.bytes(i));
        }
      },
      [&](int64_t i, int64_t phase) {
        return each_other(room, phase, [&](int32_t r, const unsigned char* place) {
          take(room, place + room.rank() * pieces.each, to[r], pieces.at(i), pieces.bytes(i));
        });
      });
  const int32_t error = room.end();
  return error != core::no_error ? error : copy_block(from[room.rank()], to[room.rank()]);
}

// First a slot has its block's size and beginning, and the place begins with the size of the rank's largest block. So
// all know how many phases there are for the rest.
int32_t alltoallv(Room& room, const Blocks& from, const Blocks& to) {
  if (room.is_single_copy()) return single_copy::alltoall(room, from, to);
  const bool in_place = from.in_place();
  const Blocks& out = in_place ? to : from;
  const Slots slots(room.place_bytes() - Slots::head, room.size());
  const int64_t phase = room.next();
  unsigned char* const place = room.open(phase);
  if (place == nullptr) return room.end();
  int64_t largest = 0;
  for (int32_t r = 0; r < room.size(); ++r) {
    if (r == room.rank()) continue;
    const Block block = out[r];
    slots.put_beginning(block, place + Slots::head + r * slots.bytes());
    largest = std::max(largest, block.bytes());
  }
  std::memcpy(place, &largest, sizeof largest);
  room.post(phase);

  int64_t sizes[most_sharing];
  if (in_place && !room.await_all(phase)) return room.end();
  const bool begun = each_other(room, phase, [&](int32_t r, const unsigned char* theirs) {
    int64_t their_largest = 0;
    std::memcpy(&their_largest, theirs, sizeof their_largest);
    largest = std::max(largest, their_largest);
    const unsigned char* const slot = theirs + Slots::head + room.rank() * slots.bytes();
    const Block block = to[r];
    sizes[r] = Slots::size(slot);
    if (sizes[r] < 0 || sizes[r] > block.bytes()) return room.truncate(r, sizes[r], block.bytes());
    slots.take_beginning(slot, block);
  });
  if (!begun || room.end() != core::no_error) return room.end();
  room.pass(phase);

  const Pieces pieces{std::max<int64_t>(0, largest - slots.room()), slots.bytes()};
  const auto rest = [&](int64_t total, int64_t i) {
    return std::clamp<int64_t>(total - slots.room() - pieces.at(i), 0, pieces.each);
  };
  exchange(
      room, pieces,
      [&](int64_t i, unsigned char* to_place) {
        for (int32_t r = 0; r < room.size(); ++r) {
          const Block block = out[r];
          const int64_t n = r != room.rank() ? rest(block.bytes(), i) : 0;
          if (n > 0) pack_piece(block, slots.room() + pieces.at(i), to_place + r * pieces.each, n);
        }
      },
      [&](int64_t i, int64_t of_piece) {
        return each_other(room, of_piece, [&](int32_t r, const unsigned char* theirs) {
          const int64_t n = rest(sizes[r], i);
          if (n > 0) take(room, theirs + room.rank() * pieces.each, to[r], slots.room() + pieces.at(i), n);
        });
      });
  const int32_t error = room.end();
  return error != core::no_error || in_place ? error : copy_block(from[room.rank()], to[room.rank()]);
}

int32_t reduce(Room& room, const void* send, void* receive, int64_t count, const Reducer& reducer, int32_t root) {
  if (room.is_single_copy()) return single_copy::reduce(room, send, receive, count, reducer, root);
  constexpr int64_t shares_from = 4096;
  const int64_t total = count * reducer.type->size;
  room.use_halves(total);
  const Pieces pieces{total, whole(room.place_bytes(), reducer)};
  if (total >= shares_from && room.size() > 2) {
    reduce_in_shares(room, send, receive, pieces, reducer, root);
    return room.end();
  }
  const Pieces parts{total, whole(std::min(pieces.each, pieces_of_root(room, total).each), reducer)};
  // The root's own data come first where the order is free, or where it is the last rank: then the result grows in the
  // user's memory.
  const bool at_once = reducer.commutative || root == room.size() - 1;
  for (int64_t i = 0; i < parts.count(); ++i) {
    const int64_t phase = room.next();
    const int64_t elements = parts.bytes(i) / reducer.type->size;
    const char* from = static_cast<const char*>(send) + parts.at(i);
    char* result = room.rank() == root ? static_cast<char*>(receive) + parts.at(i) : nullptr;
    if (result != nullptr && at_once) {
      if (!room.await_all(phase)) break;
      if (send != receive) base::copy(result, from, static_cast<size_t>(parts.bytes(i)));
      for (int32_t r = room.size() - 1; r >= 0; --r) {
        const unsigned char* place = r != root ? room.await(r, phase) : nullptr;
        if (place == nullptr) continue;
        reducer.apply(place, result, elements);
        if (!room.in_lines()) base::own_lines(const_cast<unsigned char*>(place), static_cast<size_t>(parts.bytes(i)));
      }
    } else {
      unsigned char* place = room.open(phase);
      if (place == nullptr) break;
      base::copy(place, from, static_cast<size_t>(parts.bytes(i)));
      if (result == nullptr) {
        if (!room.post_and_pass(phase, i == 0 ? root : Room::nobody)) break;
        continue;
      }
      room.post(phase);
      if (!combine(room, phase, room.size(), 0, elements, reducer, result, send == receive, !room.in_lines())) break;
    }
    room.pass(phase);
  }
  return room.end();
}

int32_t allreduce(Room& room, const void* send, void* receive, int64_t count, const Reducer& reducer) {
  if (room.is_single_copy()) return single_copy::allreduce(room, send, receive, count, reducer);
  constexpr int64_t shares_from = 2048;
  const int64_t total = count * reducer.type->size;
  const Pieces pieces{total, whole(room.place_bytes(), reducer)};
  if (total >= shares_from) {
    reduce_in_shares(room, send, receive, pieces, reducer, -1);
    return room.end();
  }
  exchange(
      room, pieces,
      [&](int64_t i, unsigned char* place) {
        base::copy(place, static_cast<const char*>(send) + pieces.at(i), static_cast<size_t>(pieces.bytes(i)));
      },
      [&](int64_t i, int64_t phase) {
        return combine(room, phase, room.size(), 0, pieces.bytes(i) / reducer.type->size, reducer,
                       static_cast<char*>(receive) + pieces.at(i), send == receive, false);
      });
  return room.end();
}

int32_t scan(Room& room, const void* send, void* receive, int64_t count, const Reducer& reducer, bool inclusive) {
  if (room.is_single_copy()) return single_copy::scan(room, send, receive, count, reducer, inclusive);
  const int64_t total = count * reducer.type->size;
  room.use_halves(total);
  const Pieces pieces{total, whole(room.place_bytes(), reducer)};
  const int32_t end = room.rank() + (inclusive ? 1 : 0);
  exchange(
      room, pieces,
      [&](int64_t i, unsigned char* place) {
        base::copy(place, static_cast<const char*>(send) + pieces.at(i), static_cast<size_t>(pieces.bytes(i)));
      },
      [&](int64_t i, int64_t phase) {
        return end == 0 || combine(room, phase, end, 0, pieces.bytes(i) / reducer.type->size, reducer,
                                   static_cast<char*>(receive) + pieces.at(i), send == receive,
                                   room.size() == 2 && !room.in_lines(), static_cast<const char*>(send) + pieces.at(i));
      });
  return room.end();
}

int32_t reduce_scatter(Room& room, const void* send, void* receive, const Array& counts, int64_t total,
                       const Reducer& reducer) {
  if (room.is_single_copy()) return single_copy::reduce_scatter(room, send, receive, counts, reducer);
  const int64_t size = reducer.type->size;
  int64_t most = size;
  for (int32_t r = 0; r < room.size(); ++r) most = std::max(most, counts[r] * size);
  const int64_t each = total * size <= room.place_bytes() ? most : whole(room.place_bytes() / room.size(), reducer);
  const Pieces pieces{most, each};
  const char* mine = static_cast<const char*>(send);
  for (int32_t r = 0; r < room.rank(); ++r) mine += counts[r] * size;
  // The part of a rank's block that goes in a phase, and its place: one behind the other.
  auto bytes = [&](int32_t r, int64_t i) {
    return std::clamp<int64_t>(counts[r] * size - pieces.at(i), 0, pieces.each);
  };
  exchange(
      room, pieces,
      [&](int64_t i, unsigned char* place) {
        const auto* block = static_cast<const char*>(send);
        for (int32_t r = 0; r < room.size(); ++r) {
          const int64_t n = bytes(r, i);
          if (n > 0 && r != room.rank()) base::copy(place, block + pieces.at(i), static_cast<size_t>(n));
          place += n;
          block += counts[r] * size;
        }
      },
      [&](int64_t i, int64_t phase) {
        const int64_t ours = bytes(room.rank(), i);
        if (ours == 0) return room.await_all(phase);
        int64_t offset = 0;
        for (int32_t r = 0; r < room.rank(); ++r) offset += bytes(r, i);
        return combine(room, phase, room.size(), offset, ours / size, reducer,
                       static_cast<char*>(receive) + pieces.at(i), false, !room.in_lines(), mine + pieces.at(i));
      });
  return room.end();
}

}  // namespace weft::coll::shared
