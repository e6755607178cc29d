// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/shm/shm_blocking.hpp"

#include <algorithm>
#include <cstring>

#include "base/copy.hpp"
#include "coll/plan/channel.hpp"
#include "coll/plan/pieces.hpp"
#include "coll/plan/share.hpp"
#include "coll/shm/call.hpp"
#include "coll/shm/single_copy.hpp"
#include "coll/shm/slots.hpp"

namespace weft::coll::shm_blocking {

namespace {

// So many phases are posted before the first of them is read. Where ranks share processors, each reading costs a switch
// to every other rank.
int64_t batch(const SharedRegion& region) {
  return region.depth() / 2;
}

// The pieces of data that go in phases: `at` and bytes of each.
struct PhasePieces {
  int64_t total;
  int64_t each;

  int64_t count() const { return (total + each - 1) / each; }
  int64_t at(int64_t i) const { return i * each; }
  int64_t bytes(int64_t i) const { return std::min(each, total - at(i)); }
};

// The pieces of a root's data, or of data for it. Readers copy a piece while the writer makes the next one, so that
// small pieces let them begin early; each costs as much as copying 4 KiB.
PhasePieces pieces_of_root(const SharedRegion& region, int64_t total) {
  constexpr int64_t least = 8 << 10;
  if (region.in_lines()) return {total, region.place_bytes()};
  return {total, std::min(region.place_bytes(), std::max(least, total / 4 / least * least))};
}

// Unpacks a part of a place that no other rank reads.
void take(const SharedRegion& region, const unsigned char* place, const Block& block, int64_t at, int64_t bytes) {
  if (region.in_lines()) return unpack_piece(place, block, at, bytes);
  take_piece(const_cast<unsigned char*>(place), block, at, bytes);
}

// Unpacks a part of a place that all ranks read.
void take_of_all(const SharedRegion& region, const unsigned char* place, const Block& block, int64_t at,
                 int64_t bytes) {
  if (region.size() > 2) return unpack_piece(place, block, at, bytes);
  take(region, place, block, at, bytes);
}

// All ranks post in every phase, and read in every phase: `write(piece, place)`, `read(piece, phase)`, which is false
// when the region is broken.
template <class Write, class Read>
void exchange(SharedRegion& region, const PhasePieces& pieces, Write write, Read read) {
  const int64_t count = pieces.count();
  const int64_t together = batch(region);
  for (int64_t begin = 0; begin < count; begin += together) {
    const int64_t end = std::min(count, begin + together);
    int64_t last = 0;
    for (int64_t i = begin; i < end; ++i) {
      last = region.next();
      unsigned char* place = region.open(last);
      if (place == nullptr) return;
      write(i, place);
      region.post(last);
    }
    for (int64_t i = begin; i < end; ++i) {
      const int64_t phase = last - (end - 1 - i) * region.step();
      if (!read(i, phase)) return;
      region.pass(phase);
    }
  }
}

// Calls `take` with the place of every other rank, beginning behind ours so that not all read the same at once.
template <class Take>
bool each_other(SharedRegion& region, int64_t phase, Take take) {
  for (int32_t i = 1; i < region.size(); ++i) {
    const int32_t r = (region.rank() + i) % region.size();
    const unsigned char* place = region.await(r, phase);
    if (place == nullptr) return false;
    take(r, place);
  }
  return true;
}

// Elements of ranks below `end`, `offset` bytes into their places, in the order of ranks: into `result`, `in_place`
// when all ranks have posted theirs. `alone`: no other rank reads them. Ours are at `mine`, if it is not null.
bool combine(SharedRegion& region, int64_t phase, int32_t end, int64_t offset, int64_t count, const Reducer& reducer,
             void* result, bool in_place, bool alone, const void* mine = nullptr) {
  if (in_place && !region.await_all(phase)) return false;
  for (int32_t r = end - 1; r >= 0; --r) {
    const void* from = mine;
    if (r != region.rank() || mine == nullptr) {
      const unsigned char* const place = r != region.rank() ? region.await(r, phase) : region.posted(phase);
      if (place == nullptr) return false;
      from = place + offset;
    }
    if (r == end - 1) {
      base::copy(result, from, static_cast<size_t>(count * reducer.type->size));
    } else {
      reducer.apply(from, result, count);
    }
    if (alone && r != region.rank())
      base::own_lines(const_cast<void*>(from), static_cast<size_t>(count * reducer.type->size));
  }
  return true;
}

// Each rank posts the data that others reduce, reduces its share of all data, and posts that for `taker`, or for all
// (-1).
void reduce_in_shares(SharedRegion& region, const void* send, void* receive, const PhasePieces& pieces,
                      const Reducer& reducer, int32_t taker) {
  const int64_t size = reducer.type->size;
  const bool takes = taker < 0 || taker == region.rank();
  const int64_t together = batch(region);
  for (int64_t begin = 0; begin < pieces.count(); begin += together) {
    const int64_t end = std::min(pieces.count(), begin + together);
    const int64_t behind = (end - begin) * region.step();  // a result, behind its data
    int64_t phase = 0;
    for (int64_t i = begin; i < end; ++i) {
      phase = region.next();
      unsigned char* place = region.open(phase);
      if (place == nullptr) return;
      const Share mine = share_of(pieces.bytes(i) / size, region.rank(), region.size());
      const char* const piece = static_cast<const char*>(send) + pieces.at(i);
      const int64_t end_of_mine = (mine.first + mine.count) * size;
      base::copy(place, piece, static_cast<size_t>(mine.first * size));
      base::copy(place + end_of_mine, piece + end_of_mine, static_cast<size_t>(pieces.bytes(i) - end_of_mine));
      region.post(phase);
    }
    for (int64_t i = begin; i < end; ++i) {
      phase = region.next();
      const Share mine = share_of(pieces.bytes(i) / size, region.rank(), region.size());
      const int64_t at = mine.first * size;
      unsigned char* place = region.open(phase);
      if (place == nullptr || !combine(region, phase - behind, region.size(), at, mine.count, reducer, place, false,
                                       true, static_cast<const char*>(send) + pieces.at(i) + at))
        return;
      // Before the others read it: their lines of it are overwritten then.
      if (takes)
        base::copy(static_cast<char*>(receive) + pieces.at(i) + at, place, static_cast<size_t>(mine.count * size));
      region.post(phase);
    }
    phase -= behind;
    region.pass(phase);
    for (int64_t i = begin; i < end; ++i) {
      phase += region.step();
      for (int32_t r = 0; takes && r < region.size(); ++r) {
        if (r == region.rank()) continue;
        const Share theirs = share_of(pieces.bytes(i) / size, r, region.size());
        const unsigned char* place = region.await(r, phase);
        if (place == nullptr) return;
        char* const to = static_cast<char*>(receive) + pieces.at(i) + theirs.first * size;
        const auto bytes = static_cast<size_t>(theirs.count * size);
        if (taker >= 0 || region.size() == 2) {
          base::copy_owning(to, const_cast<unsigned char*>(place), bytes);
        } else {
          base::copy(to, place, bytes);
        }
      }
      region.pass(phase);
    }
  }
}

// Whole elements in a place.
int64_t whole(int64_t place, const Reducer& reducer) {
  return place / reducer.type->size * reducer.type->size;
}

[[gnu::always_inline]] inline RegionEntry enter_region(core::Comm& comm, const Choices& choices,
                                                       const WantedOperation& wanted) {
  SharedRegion* region = SharedRegion::of(comm);
  if (region == nullptr) return {};
  const bool together = wanted.root == SharedRegion::everybody && wanted.collective != Collective::scan;
  const uint64_t call = call::word(wanted.collective, wanted.bytes, wanted.root, wanted.reduction);
  if (!region->begin(call, together)) [[unlikely]]
    return {nullptr, region->begin_broken()};
  const bool in_lines = wanted.posted <= SharedRegion::line_bytes;
  const auto choose = [&] {
    const bool known = region->chunks() != SharedRegion::Chunks::untried;
    const bool no_chunks = region->chunks() == SharedRegion::Chunks::none && !in_lines;
    const Algorithms able = wanted.able.without(Algorithm::shared, no_chunks || (wanted.mapped && region->can_read()))
                                .without(Algorithm::single_copy, known && !region->can_read());
    return choices.choose(wanted.collective, wanted.bytes, able);
  };
  const auto in_region = [](Algorithm one) { return one == Algorithm::shared || one == Algorithm::single_copy; };
  Algorithm algorithm = choose();
  if (algorithm == Algorithm::shared && in_lines) return {region};
  // Chunks are made together: the ranks must not wait for one that does something else.
  const bool makes_chunks = in_region(algorithm) && region->chunks() == SharedRegion::Chunks::untried;
  if (!in_region(algorithm) || makes_chunks) {
    if (!makes_chunks) region->leave_data_to_messages();
    const int32_t error = region->meet(makes_chunks ? SharedRegion::everybody : wanted.root);
    if (error != core::no_error) return {nullptr, error};
  }
  if (makes_chunks) {
    region->make_chunks();
    algorithm = choose();
  }
  if (!in_region(algorithm)) return {};
  if (algorithm == Algorithm::single_copy) {
    region->use_single_copy();
  } else if (!in_lines) {
    region->use_chunks(wanted.posted);
  }
  return {region};
}

}  // namespace

RegionEntry enter(core::Comm& comm, const WantedOperation& wanted) {
  const Choices& choices = choices_of(comm);
  if (comm.size == 1 || !choices.in_regions) return {nullptr, choices.otherwise};
  return enter_region(comm, choices, wanted);
}

[[gnu::cold]] RegionEntry enter_behind_offload(core::Comm& comm, const WantedOperation& wanted) {
  const Choices& choices = choices_of(comm);
  if (comm.size == 1 || !choices.regions_behind) return {};
  return enter_region(comm, choices, wanted);
}

int32_t barrier(SharedRegion& region) {
  (void)region.meet(SharedRegion::everybody);
  return region.end();
}

int32_t bcast(SharedRegion& region, const Block& data, int32_t root) {
  region.use_halves(data.bytes());
  const PhasePieces pieces = pieces_of_root(region, data.bytes());
  for (int64_t i = 0; i < pieces.count(); ++i) {
    const int64_t phase = region.next();
    if (region.rank() == root) {
      unsigned char* place = region.open(phase);
      if (place == nullptr) break;
      pack_piece(data, pieces.at(i), place, pieces.bytes(i));
      if (!region.post_and_pass(phase, i == 0 ? SharedRegion::everybody : SharedRegion::nobody)) break;
    } else {
      const unsigned char* place = region.await(root, phase);
      if (place == nullptr) break;
      take_of_all(region, place, data, pieces.at(i), pieces.bytes(i));
      region.pass(phase);
    }
  }
  return region.end();
}

int32_t gather(SharedRegion& region, const Block& mine, const Blocks& all, int64_t block_bytes, int32_t root) {
  region.use_halves(block_bytes);
  const PhasePieces pieces = pieces_of_root(region, block_bytes);
  for (int64_t i = 0; i < pieces.count(); ++i) {
    const int64_t phase = region.next();
    if (region.rank() != root) {
      unsigned char* place = region.open(phase);
      if (place == nullptr) break;
      pack_piece(mine, pieces.at(i), place, pieces.bytes(i));
      if (!region.post_and_pass(phase, i == 0 ? root : SharedRegion::nobody)) break;
    } else if (each_other(region, phase, [&](int32_t r, const unsigned char* place) {
                 take(region, place, all[r], pieces.at(i), pieces.bytes(i));
               })) {
      region.pass(phase);
    } else {
      break;
    }
  }
  const int32_t error = region.end();
  if (error != core::no_error || region.rank() != root || mine.in_place()) return error;
  return copy_block(mine, all[root]);
}

namespace {

// In lines for one rank each.
int32_t scatter_lines(SharedRegion& region, const Blocks& all, const Block& mine, int64_t block_bytes, int32_t root) {
  const int64_t phase = region.next();
  if (region.rank() != root) {
    const unsigned char* const line = region.await_handed(root, phase);
    if (line == nullptr) return region.end();
    unpack_piece(line, mine, 0, block_bytes);
    region.pass(phase);
    return region.end();
  }
  if (region.open_line(phase) == nullptr) return region.end();
  for (int32_t r = 0; r < region.size(); ++r) {
    if (r == root) continue;
    pack_piece(all[r], 0, region.line_for(r, phase), block_bytes);
    region.hand(r, phase);
  }
  if (!region.post_and_pass(phase, SharedRegion::everybody)) return region.end();
  return mine.in_place() ? region.end() : copy_block(all[root], mine);
}

}  // namespace

int32_t scatter(SharedRegion& region, const Blocks& all, const Block& mine, int64_t block_bytes, int32_t root) {
  region.use_halves(block_bytes * region.size());
  const int64_t place_bytes = region.place_bytes();
  if (block_bytes <= SharedRegion::line_bytes && block_bytes * region.size() > SharedRegion::line_bytes)
    return scatter_lines(region, all, mine, block_bytes, root);
  const PhasePieces pieces{block_bytes, place_bytes / region.size()};
  for (int64_t i = 0; i < pieces.count(); ++i) {
    const int64_t phase = region.next();
    if (region.rank() == root) {
      unsigned char* place = region.open(phase);
      if (place == nullptr) break;
      for (int32_t r = 0; r < region.size(); ++r) {
        if (r != root) pack_piece(all[r], pieces.at(i), place + r * pieces.each, pieces.bytes(i));
      }
      if (!region.post_and_pass(phase, i == 0 ? SharedRegion::everybody : SharedRegion::nobody)) break;
    } else {
      const unsigned char* place = region.await(root, phase);
      if (place == nullptr) break;
      take(region, place + region.rank() * pieces.each, mine, pieces.at(i), pieces.bytes(i));
      region.pass(phase);
    }
  }
  const int32_t error = region.end();
  if (error != core::no_error || region.rank() != root || mine.in_place()) return error;
  return copy_block(all[root], mine);
}

int32_t allgather(SharedRegion& region, const Block& mine, const Blocks& all, int64_t largest_bytes) {
  if (region.is_single_copy()) return single_copy::allgather(region, mine, all);
  const Block own = mine.in_place() ? all[region.rank()] : mine;
  const PhasePieces pieces{largest_bytes, region.place_bytes()};
  auto bytes = [&](const Block& block, int64_t i) { return std::min(pieces.bytes(i), block.bytes() - pieces.at(i)); };
  exchange(
      region, pieces,
      [&](int64_t i, unsigned char* place) {
        if (bytes(own, i) > 0) pack_piece(own, pieces.at(i), place, bytes(own, i));
      },
      [&](int64_t i, int64_t phase) {
        return each_other(region, phase, [&](int32_t r, const unsigned char* place) {
          const Block block = all[r];
          if (bytes(block, i) > 0) take_of_all(region, place, block, pieces.at(i), bytes(block, i));
        });
      });
  const int32_t error = region.end();
  return error != core::no_error || mine.in_place() ? error : copy_block(mine, all[region.rank()]);
}

int32_t alltoall(SharedRegion& region, const Blocks& from, const Blocks& to, int64_t block_bytes) {
  if (region.is_single_copy()) return single_copy::alltoall(region, from, to);
  const int64_t place_bytes = region.place_bytes();
  const PhasePieces pieces{block_bytes, place_bytes / region.size()};
  exchange(
      region, pieces,
      [&](int64_t i, unsigned char* place) {
        for (int32_t r = 0; r < region.size(); ++r) {
          if (r != region.rank()) pack_piece(from[r], pieces.at(i), place + r * pieces.each, pieces.bytes(i));
        }
      },
      [&](int64_t i, int64_t phase) {
        return each_other(region, phase, [&](int32_t r, const unsigned char* place) {
          take(region, place + region.rank() * pieces.each, to[r], pieces.at(i), pieces.bytes(i));
        });
      });
  const int32_t error = region.end();
  return error != core::no_error ? error : copy_block(from[region.rank()], to[region.rank()]);
}

// First a slot has its block's size and beginning, and the place begins with the size of the rank's largest block. So
// all know how many phases there are for the rest.
int32_t alltoallv(SharedRegion& region, const Blocks& from, const Blocks& to) {
  if (region.is_single_copy()) return single_copy::alltoall(region, from, to);
  const bool in_place = from.in_place();
  const Blocks& out = in_place ? to : from;
  const CollectiveSlots slots(region.place_bytes() - CollectiveSlots::head, region.size());
  const int64_t phase = region.next();
  unsigned char* const place = region.open(phase);
  if (place == nullptr) return region.end();
  int64_t largest = 0;
  for (int32_t r = 0; r < region.size(); ++r) {
    if (r == region.rank()) continue;
    const Block block = out[r];
    slots.put_beginning(block, place + CollectiveSlots::head + r * slots.bytes());
    largest = std::max(largest, block.bytes());
  }
  std::memcpy(place, &largest, sizeof largest);
  region.post(phase);

  int64_t sizes[most_sharing];
  if (in_place && !region.await_all(phase)) return region.end();
  const bool begun = each_other(region, phase, [&](int32_t r, const unsigned char* theirs) {
    int64_t their_largest = 0;
    std::memcpy(&their_largest, theirs, sizeof their_largest);
    largest = std::max(largest, their_largest);
    const unsigned char* const slot = theirs + CollectiveSlots::head + region.rank() * slots.bytes();
    const Block block = to[r];
    sizes[r] = CollectiveSlots::size(slot);
    if (sizes[r] < 0 || sizes[r] > block.bytes()) return region.truncate(r, sizes[r], block.bytes());
    slots.take_beginning(slot, block);
  });
  if (!begun || region.end() != core::no_error) return region.end();
  region.pass(phase);

  const PhasePieces pieces{std::max<int64_t>(0, largest - slots.room()), slots.bytes()};
  const auto rest = [&](int64_t total, int64_t i) {
    return std::clamp<int64_t>(total - slots.room() - pieces.at(i), 0, pieces.each);
  };
  exchange(
      region, pieces,
      [&](int64_t i, unsigned char* to_place) {
        for (int32_t r = 0; r < region.size(); ++r) {
          const Block block = out[r];
          const int64_t n = r != region.rank() ? rest(block.bytes(), i) : 0;
          if (n > 0) pack_piece(block, slots.room() + pieces.at(i), to_place + r * pieces.each, n);
        }
      },
      [&](int64_t i, int64_t of_piece) {
        return each_other(region, of_piece, [&](int32_t r, const unsigned char* theirs) {
          const int64_t n = rest(sizes[r], i);
          if (n > 0) take(region, theirs + region.rank() * pieces.each, to[r], slots.room() + pieces.at(i), n);
        });
      });
  const int32_t error = region.end();
  return error != core::no_error || in_place ? error : copy_block(from[region.rank()], to[region.rank()]);
}

int32_t reduce(SharedRegion& region, const void* send, void* receive, int64_t count, const Reducer& reducer,
               int32_t root) {
  if (region.is_single_copy()) return single_copy::reduce(region, send, receive, count, reducer, root);
  constexpr int64_t shares_from = 4096;
  const int64_t total = count * reducer.type->size;
  region.use_halves(total);
  const PhasePieces pieces{total, whole(region.place_bytes(), reducer)};
  if (total >= shares_from && region.size() > 2) {
    reduce_in_shares(region, send, receive, pieces, reducer, root);
    return region.end();
  }
  const PhasePieces parts{total, whole(std::min(pieces.each, pieces_of_root(region, total).each), reducer)};
  // The root's own data come first where the order is free, or where it is the last rank: then the result grows in the
  // user's memory.
  const bool at_once = reducer.commutative || root == region.size() - 1;
  for (int64_t i = 0; i < parts.count(); ++i) {
    const int64_t phase = region.next();
    const int64_t elements = parts.bytes(i) / reducer.type->size;
    const char* from = static_cast<const char*>(send) + parts.at(i);
    char* result = region.rank() == root ? static_cast<char*>(receive) + parts.at(i) : nullptr;
    if (result != nullptr && at_once) {
      if (!region.await_all(phase)) break;
      if (send != receive) base::copy(result, from, static_cast<size_t>(parts.bytes(i)));
      for (int32_t r = region.size() - 1; r >= 0; --r) {
        const unsigned char* place = r != root ? region.await(r, phase) : nullptr;
        if (place == nullptr) continue;
        reducer.apply(place, result, elements);
        if (!region.in_lines()) base::own_lines(const_cast<unsigned char*>(place), static_cast<size_t>(parts.bytes(i)));
      }
    } else {
      unsigned char* place = region.open(phase);
      if (place == nullptr) break;
      base::copy(place, from, static_cast<size_t>(parts.bytes(i)));
      if (result == nullptr) {
        if (!region.post_and_pass(phase, i == 0 ? root : SharedRegion::nobody)) break;
        continue;
      }
      region.post(phase);
      if (!combine(region, phase, region.size(), 0, elements, reducer, result, send == receive, !region.in_lines()))
        break;
    }
    region.pass(phase);
  }
  return region.end();
}

int32_t allreduce(SharedRegion& region, const void* send, void* receive, int64_t count, const Reducer& reducer) {
  if (region.is_single_copy()) return single_copy::allreduce(region, send, receive, count, reducer);
  constexpr int64_t shares_from = 2048;
  const int64_t total = count * reducer.type->size;
  const PhasePieces pieces{total, whole(region.place_bytes(), reducer)};
  if (total >= shares_from) {
    reduce_in_shares(region, send, receive, pieces, reducer, -1);
    return region.end();
  }
  exchange(
      region, pieces,
      [&](int64_t i, unsigned char* place) {
        base::copy(place, static_cast<const char*>(send) + pieces.at(i), static_cast<size_t>(pieces.bytes(i)));
      },
      [&](int64_t i, int64_t phase) {
        return combine(region, phase, region.size(), 0, pieces.bytes(i) / reducer.type->size, reducer,
                       static_cast<char*>(receive) + pieces.at(i), send == receive, false);
      });
  return region.end();
}

int32_t scan(SharedRegion& region, const void* send, void* receive, int64_t count, const Reducer& reducer,
             bool inclusive) {
  if (region.is_single_copy()) return single_copy::scan(region, send, receive, count, reducer, inclusive);
  const int64_t total = count * reducer.type->size;
  region.use_halves(total);
  const PhasePieces pieces{total, whole(region.place_bytes(), reducer)};
  const int32_t end = region.rank() + (inclusive ? 1 : 0);
  exchange(
      region, pieces,
      [&](int64_t i, unsigned char* place) {
        base::copy(place, static_cast<const char*>(send) + pieces.at(i), static_cast<size_t>(pieces.bytes(i)));
      },
      [&](int64_t i, int64_t phase) {
        return end == 0 ||
               combine(region, phase, end, 0, pieces.bytes(i) / reducer.type->size, reducer,
                       static_cast<char*>(receive) + pieces.at(i), send == receive,
                       region.size() == 2 && !region.in_lines(), static_cast<const char*>(send) + pieces.at(i));
      });
  return region.end();
}

int32_t reduce_scatter(SharedRegion& region, const void* send, void* receive, const Array& counts, int64_t total,
                       const Reducer& reducer) {
  if (region.is_single_copy()) return single_copy::reduce_scatter(region, send, receive, counts, reducer);
  const int64_t size = reducer.type->size;
  int64_t most = size;
  for (int32_t r = 0; r < region.size(); ++r) most = std::max(most, counts[r] * size);
  const int64_t each =
      total * size <= region.place_bytes() ? most : whole(region.place_bytes() / region.size(), reducer);
  const PhasePieces pieces{most, each};
  const char* mine = static_cast<const char*>(send);
  for (int32_t r = 0; r < region.rank(); ++r) mine += counts[r] * size;
  // The part of a rank's block that goes in a phase, and its place: one behind the other.
  auto bytes = [&](int32_t r, int64_t i) {
    return std::clamp<int64_t>(counts[r] * size - pieces.at(i), 0, pieces.each);
  };
  exchange(
      region, pieces,
      [&](int64_t i, unsigned char* place) {
        const auto* block = static_cast<const char*>(send);
        for (int32_t r = 0; r < region.size(); ++r) {
          const int64_t n = bytes(r, i);
          if (n > 0 && r != region.rank()) base::copy(place, block + pieces.at(i), static_cast<size_t>(n));
          place += n;
          block += counts[r] * size;
        }
      },
      [&](int64_t i, int64_t phase) {
        const int64_t ours = bytes(region.rank(), i);
        if (ours == 0) return region.await_all(phase);
        int64_t offset = 0;
        for (int32_t r = 0; r < region.rank(); ++r) offset += bytes(r, i);
        return combine(region, phase, region.size(), offset, ours / size, reducer,
                       static_cast<char*>(receive) + pieces.at(i), false, !region.in_lines(), mine + pieces.at(i));
      });
  return region.end();
}

}  // namespace weft::coll::shm_blocking
