// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/shared.hpp"

#include <algorithm>
#include <cstring>

#include "coll/channel.hpp"
#include "datatype/pack.hpp"

namespace weft::coll::shared {

namespace {

// So many phases are posted before the first of them is read. Where ranks share processors, each reading costs a switch
// to every other rank.
int64_t batch(const Room& room) {
  return room.depth() / 2;
}

void fill(const Block& block, int64_t at, void* place, int64_t bytes) {
  if (block.type->contiguous) {
    std::memcpy(place, static_cast<const char*>(block.data) + at, static_cast<size_t>(bytes));
  } else {
    datatype::pack(*block.type, block.count, block.data, at, place, bytes);
  }
}

void empty(const void* place, const Block& block, int64_t at, int64_t bytes) {
  if (block.type->contiguous) {
    std::memcpy(static_cast<char*>(block.data) + at, place, static_cast<size_t>(bytes));
  } else {
    datatype::unpack(*block.type, block.count, block.data, at, place, bytes);
  }
}

// The pieces of data that go in phases: `at` and bytes of each.
struct Pieces {
  int64_t total;
  int64_t each;

  int64_t count() const { return (total + each - 1) / each; }
  int64_t at(int64_t i) const { return i * each; }
  int64_t bytes(int64_t i) const { return std::min(each, total - at(i)); }
};

// All ranks post in every phase, and read in every phase: `write(piece, place)`, `read(piece, phase)`, which is false
// when the room is broken.
template <class Write, class Read>
void exchange(Room& room, const Pieces& pieces, Write write, Read read) {
  const int64_t count = pieces.count();
  const int64_t together = batch(room);
  for (int64_t begin = 0; begin < count; begin += together) {
    const int64_t end = std::min(count, begin + together);
    int64_t phase = 0;
    for (int64_t i = begin; i < end; ++i) {
      phase = room.next();
      unsigned char* place = room.open(phase);
      if (place == nullptr) return;
      write(i, place);
      room.post(phase);
    }
    phase -= end - begin - 1;
    for (int64_t i = begin; i < end; ++i, ++phase) {
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

// Elements of all ranks, `offset` bytes into their places, in the order of ranks: into `result`, memory of its own.
bool combine(Room& room, int64_t phase, int64_t offset, int64_t count, const Reducer& reducer, void* result) {
  for (int32_t r = room.size() - 1; r >= 0; --r) {
    const unsigned char* place = room.await(r, phase);
    if (place == nullptr) return false;
    if (r == room.size() - 1) {
      std::memcpy(result, place + offset, static_cast<size_t>(count * reducer.type->size));
    } else {
      reducer.apply(place + offset, result, count);
    }
  }
  return true;
}

// The elements of a piece that a rank reduces.
struct Share {
  int64_t first;
  int64_t count;
};
Share share_of(int64_t count, int32_t rank, int32_t size) {
  const int64_t first = count * rank / size;
  return {first, count * (rank + 1) / size - first};
}

// Each rank reduces its share of all data, and posts it for `taker`, or for all (-1).
void reduce_in_shares(Room& room, const void* send, void* receive, const Pieces& pieces, const Reducer& reducer,
                      int32_t taker) {
  const int64_t size = reducer.type->size;
  const bool takes = taker < 0 || taker == room.rank();
  const int64_t together = batch(room);
  for (int64_t begin = 0; begin < pieces.count(); begin += together) {
    const int64_t end = std::min(pieces.count(), begin + together);
    const int64_t n = end - begin;
    int64_t phase = 0;
    for (int64_t i = begin; i < end; ++i) {
      phase = room.next();
      unsigned char* place = room.open(phase);
      if (place == nullptr) return;
      std::memcpy(place, static_cast<const char*>(send) + pieces.at(i), static_cast<size_t>(pieces.bytes(i)));
      room.post(phase);
    }
    for (int64_t i = begin; i < end; ++i) {
      phase = room.next();
      const Share mine = share_of(pieces.bytes(i) / size, room.rank(), room.size());
      unsigned char* place = room.open(phase);
      if (place == nullptr || !combine(room, phase - n, mine.first * size, mine.count, reducer, place)) return;
      room.post(phase);
    }
    phase -= n;
    room.pass(phase);
    for (int64_t i = begin; i < end; ++i) {
      ++phase;
      for (int32_t r = 0; takes && r < room.size(); ++r) {
        const Share theirs = share_of(pieces.bytes(i) / size, r, room.size());
        const unsigned char* place = room.await(r, phase);
        if (place == nullptr) return;
        std::memcpy(static_cast<char*>(receive) + pieces.at(i) + theirs.first * size, place,
                    static_cast<size_t>(theirs.count * size));
      }
      room.pass(phase);
    }
  }
}

// Whole elements in a place.
int64_t whole(int64_t place, const Reducer& reducer) {
  return place / reducer.type->size * reducer.type->size;
}

}  // namespace

Entry enter(core::Comm& comm, const Wanted& wanted) {
  if (comm.size == 1 || !choices_of(comm).in_rooms) return {};
  Room* room = Room::of(comm);
  if (room == nullptr) return {};
  room->begin(wanted.collective, wanted.bytes);
  const bool in_lines = wanted.posted <= Room::line_bytes;
  const bool shared =
      wanted.able && (in_lines || room->chunks() != Room::Chunks::none) &&
      choices_of(comm).choose(wanted.collective, wanted.bytes, Algorithms::blocking()) == Algorithm::shared;
  if (shared && in_lines) return {room};
  // Chunks are made together: the ranks must not wait for one that does something else.
  const bool makes_chunks = shared && room->chunks() == Room::Chunks::untried;
  if (!shared || makes_chunks) {
    const int32_t error =
        makes_chunks ? room->meet(Room::everybody, Room::everybody) : room->meet(wanted.from, wanted.to);
    if (error != core::no_error) return {nullptr, error};
  }
  if (makes_chunks) room->make_chunks();
  if (!shared || room->chunks() == Room::Chunks::none) return {};
  room->use_chunks();
  return {room};
}

int32_t barrier(Room& room) {
  (void)room.meet(Room::everybody, Room::everybody);
  return room.end();
}

int32_t bcast(Room& room, const Block& data, int32_t root) {
  const Pieces pieces{data.bytes(), room.place_bytes()};
  for (int64_t i = 0; i < pieces.count(); ++i) {
    const int64_t phase = room.next();
    if (room.rank() == root) {
      unsigned char* place = room.open(phase);
      if (place == nullptr) break;
      fill(data, pieces.at(i), place, pieces.bytes(i));
      room.post(phase);
    } else {
      const unsigned char* place = room.await(root, phase);
      if (place == nullptr) break;
      empty(place, data, pieces.at(i), pieces.bytes(i));
    }
    room.pass(phase);
  }
  return room.end();
}

int32_t gather(Room& room, const Block& mine, const Blocks& all, int64_t block_bytes, int32_t root) {
  const Pieces pieces{block_bytes, room.place_bytes()};
  for (int64_t i = 0; i < pieces.count(); ++i) {
    const int64_t phase = room.next();
    if (room.rank() != root) {
      unsigned char* place = room.open(phase);
      if (place == nullptr) break;
      fill(mine, pieces.at(i), place, pieces.bytes(i));
      room.post(phase);
    } else if (!each_other(room, phase, [&](int32_t r, const unsigned char* place) {
                 empty(place, all[r], pieces.at(i), pieces.bytes(i));
               })) {
      break;
    }
    room.pass(phase);
  }
  const int32_t error = room.end();
  if (error != core::no_error || room.rank() != root || mine.in_place()) return error;
  return copy_block(mine, all[root]);
}

int32_t scatter(Room& room, const Blocks& all, const Block& mine, int64_t block_bytes, int32_t root) {
  const int64_t place_bytes = room.place_bytes();
  const Pieces pieces{block_bytes, place_bytes / room.size()};
  for (int64_t i = 0; i < pieces.count(); ++i) {
    const int64_t phase = room.next();
    if (room.rank() == root) {
      unsigned char* place = room.open(phase);
      if (place == nullptr) break;
      for (int32_t r = 0; r < room.size(); ++r) {
        if (r != root) fill(all[r], pieces.at(i), place + r * pieces.each, pieces.bytes(i));
      }
      room.post(phase);
    } else {
      const unsigned char* place = room.await(root, phase);
      if (place == nullptr) break;
      empty(place + room.rank() * pieces.each, mine, pieces.at(i), pieces.bytes(i));
    }
    room.pass(phase);
  }
  const int32_t error = room.end();
  if (error != core::no_error || room.rank() != root || mine.in_place()) return error;
  return copy_block(all[root], mine);
}

int32_t allgather(Room& room, const Block& mine, const Blocks& all, int64_t block_bytes) {
  const Block own = mine.in_place() ? all[room.rank()] : mine;
  const Pieces pieces{block_bytes, room.place_bytes()};
  exchange(
      room, pieces, [&](int64_t i, unsigned char* place) { fill(own, pieces.at(i), place, pieces.bytes(i)); },
      [&](int64_t i, int64_t phase) {
        return each_other(room, phase, [&](int32_t r, const unsigned char* place) {
          empty(place, all[r], pieces.at(i), pieces.bytes(i));
        });
      });
  const int32_t error = room.end();
  return error != core::no_error || mine.in_place() ? error : copy_block(mine, all[room.rank()]);
}

int32_t alltoall(Room& room, const Blocks& from, const Blocks& to, int64_t block_bytes) {
  const int64_t place_bytes = room.place_bytes();
  const Pieces pieces{block_bytes, place_bytes / room.size()};
  exchange(
      room, pieces,
      [&](int64_t i, unsigned char* place) {
        for (int32_t r = 0; r < room.size(); ++r) {
          if (r != room.rank()) fill(from[r], pieces.at(i), place + r * pieces.each, pieces.bytes(i));
        }
      },
      [&](int64_t i, int64_t phase) {
        return each_other(room, phase, [&](int32_t r, const unsigned char* place) {
          empty(place + room.rank() * pieces.each, to[r], pieces.at(i), pieces.bytes(i));
        });
      });
  const int32_t error = room.end();
  return error != core::no_error ? error : copy_block(from[room.rank()], to[room.rank()]);
}

int32_t reduce(Room& room, const void* send, void* receive, int64_t count, const Reducer& reducer, int32_t root) {
  constexpr int64_t shares_from = 4096;
  const int64_t total = count * reducer.type->size;
  const Pieces pieces{total, whole(room.place_bytes(), reducer)};
  if (total >= shares_from && room.size() > 2) {
    reduce_in_shares(room, send, receive, pieces, reducer, root);
    return room.end();
  }
  // The root's own data come first where the order is free, or where it is the last rank: then the result grows in the
  // user's memory.
  const bool at_once = reducer.commutative || root == room.size() - 1;
  for (int64_t i = 0; i < pieces.count(); ++i) {
    const int64_t phase = room.next();
    const int64_t elements = pieces.bytes(i) / reducer.type->size;
    const char* from = static_cast<const char*>(send) + pieces.at(i);
    char* result = room.rank() == root ? static_cast<char*>(receive) + pieces.at(i) : nullptr;
    if (result != nullptr && at_once) {
      if (send != receive) std::memcpy(result, from, static_cast<size_t>(pieces.bytes(i)));
      bool whole_room = true;
      for (int32_t r = room.size() - 1; r >= 0 && whole_room; --r) {
        if (r == root) continue;
        const unsigned char* place = room.await(r, phase);
        whole_room = place != nullptr;
        if (whole_room) reducer.apply(place, result, elements);
      }
      if (!whole_room) break;
    } else {
      unsigned char* place = room.open(phase);
      if (place == nullptr) break;
      std::memcpy(place, from, static_cast<size_t>(pieces.bytes(i)));
      room.post(phase);
      if (result != nullptr && !combine(room, phase, 0, elements, reducer, result)) break;
    }
    room.pass(phase);
  }
  return room.end();
}

int32_t allreduce(Room& room, const void* send, void* receive, int64_t count, const Reducer& reducer) {
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
        std::memcpy(place, static_cast<const char*>(send) + pieces.at(i), static_cast<size_t>(pieces.bytes(i)));
      },
      [&](int64_t i, int64_t phase) {
        return combine(room, phase, 0, pieces.bytes(i) / reducer.type->size, reducer,
                       static_cast<char*>(receive) + pieces.at(i));
      });
  return room.end();
}

int32_t reduce_scatter(Room& room, const void* send, void* receive, const Array& counts, int64_t total,
                       const Reducer& reducer) {
  const int64_t size = reducer.type->size;
  int64_t most = size;
  for (int32_t r = 0; r < room.size(); ++r) most = std::max(most, counts[r] * size);
  const int64_t each = total * size <= room.place_bytes() ? most : whole(room.place_bytes() / room.size(), reducer);
  const Pieces pieces{most, each};
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
          if (n > 0) std::memcpy(place, block + pieces.at(i), static_cast<size_t>(n));
          place += n;
          block += counts[r] * size;
        }
      },
      [&](int64_t i, int64_t phase) {
        const int64_t ours = bytes(room.rank(), i);
        if (ours == 0) return true;
        int64_t offset = 0;
        for (int32_t r = 0; r < room.rank(); ++r) offset += bytes(r, i);
        return combine(room, phase, offset, ours / size, reducer, static_cast<char*>(receive) + pieces.at(i));
      });
  return room.end();
}

}  // namespace weft::coll::shared
