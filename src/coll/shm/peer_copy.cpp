// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/shm/peer_copy.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

#include "base/copy.hpp"
#include "coll/plan/pieces.hpp"
#include "coll/plan/scratch_pool.hpp"
#include "coll/plan/share.hpp"
#include "core/memory/region.hpp"
#include "core/peer/peer.hpp"

namespace weft::coll::peer_copy {

namespace {

using core::MemoryRef;

// The news of a rank about itself.
struct Notice {
  // Whether this rank can reach the memory of all others. Data of a program are not mistaken for these numbers.
  enum NoticeReach : uint64_t { unheard = 0, all = 0x5765667420616c6c, not_all = 0x576566742c206e6f };
  MemoryRef data{0, MemoryRef::no_key};
  MemoryRef result{0, MemoryRef::no_key};
  int64_t bytes = 0;  // of the data; of an alltoall those for each rank
  NoticeReach reach = unheard;
};
static_assert(sizeof(Notice) == 48);

constexpr int32_t all_ranks = -1;
constexpr int32_t ourselves = -2;

// Memory for a piece that a rank combines, and one that it has read: both stay in a core's second cache.
class PieceMemory {
 public:
  static constexpr int64_t piece_bytes = 128 * 1024;

  PieceMemory() : memory_(static_cast<unsigned char*>(take_memory(2 * piece_bytes))) {}
  PieceMemory(const PieceMemory&) = delete;
  PieceMemory& operator=(const PieceMemory&) = delete;
  ~PieceMemory() { give_memory(memory_, 2 * piece_bytes); }

  // nullptr: there is none.
  unsigned char* first() const { return memory_; }
  unsigned char* second() const { return memory_ + piece_bytes; }

 private:
  unsigned char* memory_;
};

// One operation of this rank. It lies in the schedule's memory.
struct PeerCopyOperation {
  Schedule& way;
  Comm& comm;
  Notice* theirs;  // by rank
  const void* data = nullptr;
  int64_t data_bytes = 0;  // all that others may read
  void* result = nullptr;  // ours alone, or where others write, too: then of `data_bytes`
  Notice mine{};
  uint8_t failed = 0;                // not 0: results of others lack a part
  uint8_t* others_failed = nullptr;  // by rank
  bool in_blocks = false;            // the data are a block for each rank
  // Reductions: the part that this rank combines, and whose result it is.
  const Reducer* reducer = nullptr;
  Share share{0, 0};
  int32_t whose = ourselves;

  transport::Endpoint& endpoint(int32_t rank) const { return *core::peers->of(comm.job_rank(rank)).endpoint; }
};

bool reaches_all(const PeerCopyOperation& op) {
  for (int32_t r = 0; r < op.comm.size; ++r) {
    unsigned char nothing;
    if (r != op.comm.rank && op.endpoint(r).get({0, MemoryRef::no_key}, &nothing, 0) != 0) return false;
  }
  return true;
}

// Each time that the schedule is started.
bool open(void* of, const Step& /*step*/) {
  auto& op = *static_cast<PeerCopyOperation*>(of);
  std::fill_n(op.theirs, op.comm.size, Notice{});
  std::fill_n(op.others_failed, op.comm.size, uint8_t{0});
  op.failed = 0;
  const auto bytes = static_cast<uint64_t>(op.data_bytes);
  op.mine.data = core::memory::register_memory(op.data, bytes);
  if (op.result != nullptr && op.whose != ourselves) op.mine.result = core::memory::register_memory(op.result, bytes);
  op.mine.reach = reaches_all(op) ? Notice::all : Notice::not_all;
  return true;
}

// Whether no rank has said that it cannot; the same on all of them.
bool all_reach(void* of, const Step& /*step*/) {
  const auto& op = *static_cast<const PeerCopyOperation*>(of);
  const bool ours = op.mine.reach == Notice::all;
  return ours && std::none_of(op.theirs, op.theirs + op.comm.size,
                              [](const Notice& notice) { return notice.reach == Notice::not_all; });
}

// The block of a rank for us.
bool take(void* of, const Step& step) {
  auto& op = *static_cast<PeerCopyOperation*>(of);
  const Notice& theirs = op.theirs[step.rank];
  const Block& to = step.to;
  const int64_t room = to.bytes();
  const int64_t bytes = std::min(theirs.bytes, room);
  if (theirs.bytes > room) op.way.note_error(core::truncated, {step.rank, theirs.bytes, room});
  if (theirs.reach != Notice::all || bytes <= 0) return true;
  const uint64_t at = op.in_blocks ? static_cast<uint64_t>(op.comm.rank) * static_cast<uint64_t>(theirs.bytes) : 0;
  const MemoryRef from = transport::advanced(theirs.data, at);
  transport::Endpoint& peer = op.endpoint(step.rank);
  if (to.type->contiguous) {
    if (peer.get(from, to.data, static_cast<size_t>(bytes)) != 0) op.way.note_error(core::other_error);
    return true;
  }
  const PieceMemory scratch;
  if (scratch.first() == nullptr) op.way.note_error(core::no_memory);
  for (int64_t i = 0; i < bytes && scratch.first() != nullptr; i += PieceMemory::piece_bytes) {
    const int64_t n = std::min(PieceMemory::piece_bytes, bytes - i);
    const MemoryRef piece = transport::advanced(from, static_cast<uint64_t>(i));
    if (peer.get(piece, scratch.first(), static_cast<size_t>(n)) != 0) {
      op.way.note_error(core::other_error);
      break;
    }
    unpack_piece(scratch.first(), to, i, n);
  }
  return true;
}

// Whether all have told of as many bytes as we have.
bool same_bytes(const PeerCopyOperation& op) {
  for (int32_t r = 0; r < op.comm.size; ++r) {
    if (r == op.comm.rank) continue;
    if (op.theirs[r].reach != Notice::all) return false;
    if (op.theirs[r].bytes == op.mine.bytes) continue;
    op.way.note_error(core::truncated, {r, op.theirs[r].bytes, op.mine.bytes});
    return false;
  }
  return true;
}

// Combines bytes [at, at + bytes) of the data of all ranks into `sum`.
bool combine_piece(const PeerCopyOperation& op, int64_t at, int64_t bytes, unsigned char* sum, unsigned char* other) {
  const int64_t elements = bytes / op.reducer->type->size;
  for (int32_t r = op.comm.size - 1; r >= 0; --r) {
    const bool first = r == op.comm.size - 1;
    const unsigned char* data = static_cast<const unsigned char*>(op.data) + at;
    if (r != op.comm.rank) {
      unsigned char* const place = first ? sum : other;
      const MemoryRef from = transport::advanced(op.theirs[r].data, static_cast<uint64_t>(at));
      if (op.endpoint(r).get(from, place, static_cast<size_t>(bytes)) != 0) return false;
      data = place;
    } else if (first) {
      base::copy(sum, data, static_cast<size_t>(bytes));
    }
    if (!first) op.reducer->apply(data, sum, elements);
  }
  return true;
}

// Copies that piece of the result to the ranks that want it.
bool hand_out(const PeerCopyOperation& op, int64_t at, int64_t bytes, const unsigned char* sum) {
  if (op.whose == ourselves) {
    base::copy(static_cast<unsigned char*>(op.result) + (at - op.share.first), sum, static_cast<size_t>(bytes));
    return true;
  }
  const int32_t size = op.comm.size;
  for (int32_t i = 0; i < size; ++i) {  // not all to the same rank first
    const int32_t r = (op.comm.rank + i) % size;
    if (op.whose != all_ranks && r != op.whose) continue;
    if (r == op.comm.rank) {
      base::copy(static_cast<unsigned char*>(op.result) + at, sum, static_cast<size_t>(bytes));
      continue;
    }
    const MemoryRef to = transport::advanced(op.theirs[r].result, static_cast<uint64_t>(at));
    if (op.endpoint(r).put(to, sum, static_cast<size_t>(bytes)) != 0) return false;
  }
  return true;
}

bool combine(void* of, const Step& /*step*/) {
  auto& op = *static_cast<PeerCopyOperation*>(of);
  op.failed = same_bytes(op) ? 0 : 1;
  if (op.failed != 0 || op.share.count == 0) return true;
  const PieceMemory scratch;
  if (scratch.first() == nullptr) {
    op.failed = 1;
    op.way.note_error(core::no_memory);
    return true;
  }
  const int64_t size = op.reducer->type->size;
  const int64_t most = PieceMemory::piece_bytes / size * size;
  for (int64_t i = 0; i < op.share.count; i += most) {
    const int64_t n = std::min(most, op.share.count - i);
    const int64_t at = op.share.first + i;
    if (combine_piece(op, at, n, scratch.first(), scratch.second()) && hand_out(op, at, n, scratch.first())) continue;
    op.failed = 1;
    op.way.note_error(core::other_error);
    break;
  }
  return true;
}

// When all others have told that they are done.
bool end(void* of, const Step& /*step*/) {
  const auto& op = *static_cast<const PeerCopyOperation*>(of);
  const bool whole = std::all_of(op.others_failed, op.others_failed + op.comm.size, [](uint8_t f) { return f == 0; });
  if (!whole) op.way.note_error(core::other_error);
  return true;
}

PeerCopyOperation* make(Schedule& way) {
  const Comm& comm = way.comm();
  void* memory = way.bytes(sizeof(PeerCopyOperation));
  void* notices = way.bytes(comm.size * static_cast<int64_t>(sizeof(Notice)));
  void* failed = way.bytes(comm.size);
  if (memory == nullptr || notices == nullptr || failed == nullptr) return nullptr;
  static_assert(std::is_trivially_destructible_v<PeerCopyOperation>);
  return new (memory) PeerCopyOperation{.way = way,
                                        .comm = way.comm(),
                                        .theirs = static_cast<Notice*>(notices),
                                        .others_failed = static_cast<uint8_t*>(failed)};
}

template <class Step>
void each_other(const Comm& comm, Step step) {
  for (int32_t i = 1; i < comm.size; ++i) step((comm.rank + i) % comm.size);
}

// All steps: `work` between the news that buffers are there and that they are free again, `after` at the end.
template <class Work, class After>
void meet(PeerCopyOperation& op, const Otherwise& otherwise, Work work, After after) {
  Schedule& way = op.way;
  way.call(open, &op);
  each_other(op.comm, [&](int32_t r) { way.receive({op.theirs + r, sizeof(Notice), &byte_type}, r); });
  each_other(op.comm, [&](int32_t r) { way.send({&op.mine, sizeof(Notice), &byte_type}, r); });
  way.fence();
  const auto copy = [&] {
    work();
    each_other(op.comm, [&](int32_t r) { way.receive({op.others_failed + r, 1, &byte_type}, r); });
    each_other(op.comm, [&](int32_t r) { way.send({&op.failed, 1, &byte_type}, r); });
    way.fence();
    way.call(end, &op);
    after();
  };
  way.either(all_reach, &op, copy, otherwise);
}

struct Nothing {
  void operator()() const {}
};

// A reduction: `mine` is the part in bytes that this rank combines.
template <class After = Nothing>
void reduction(Schedule& way, const void* send, void* result, int64_t total, const Share& mine, int32_t whose,
               const Reducer& reducer, const Otherwise& otherwise, After after = {}) {
  PeerCopyOperation* op = make(way);
  if (op == nullptr) return;
  op->data = send;
  op->data_bytes = op->mine.bytes = total;
  op->result = result;
  op->reducer = &reducer;
  op->share = mine;
  op->whose = whose;
  meet(
      *op, otherwise, [&] { way.call(combine, op); }, after);
}

Share share_in_bytes(const Comm& comm, int64_t count, int64_t size) {
  const Share elements = share_of(count, comm.rank, comm.size);
  return {elements.first * size, elements.count * size};
}

}  // namespace

void reduce(Schedule& way, const void* send, void* receive, int64_t count, const Reducer& reducer, int32_t root,
            const Otherwise& otherwise) {
  const int64_t size = reducer.type->size;
  void* const result = way.comm().rank == root ? receive : nullptr;
  reduction(way, send, result, count * size, share_in_bytes(way.comm(), count, size), root, reducer, otherwise);
}

void allreduce(Schedule& way, const void* send, void* receive, int64_t count, const Reducer& reducer,
               const Otherwise& otherwise) {
  const int64_t size = reducer.type->size;
  reduction(way, send, receive, count * size, share_in_bytes(way.comm(), count, size), all_ranks, reducer, otherwise);
}

void reduce_scatter(Schedule& way, const void* send, void* receive, const Array& counts, const Reducer& reducer,
                    const Otherwise& otherwise) {
  const Comm& comm = way.comm();
  const int64_t size = reducer.type->size;
  int64_t total = 0;
  Share mine{0, counts[comm.rank] * size};
  for (int32_t r = 0; r < comm.size; ++r) {
    if (r == comm.rank) mine.first = total;
    total += counts[r] * size;
  }
  if (send != receive) return reduction(way, send, receive, total, mine, ourselves, reducer, otherwise);
  // In place the result goes where others still read.
  void* const aside = way.bytes(mine.count);
  if (aside == nullptr) return;
  reduction(way, send, aside, total, mine, ourselves, reducer, otherwise, [&] {
    way.copy({aside, mine.count, &byte_type}, {receive, mine.count, &byte_type});
  });
}

namespace {

// The blocks of all others to where they belong.
void take_all(PeerCopyOperation& op, const Blocks& to) {
  each_other(op.comm, [&](int32_t r) { op.way.call(take, &op, r, to[r]); });
}

}  // namespace

void allgather(Schedule& way, const Block& mine, const Blocks& all, const Otherwise& otherwise) {
  const Comm& comm = way.comm();
  const Block own = mine.in_place() ? all[comm.rank] : mine;
  PeerCopyOperation* op = make(way);
  void* const packed = own.type->contiguous ? own.data : way.bytes(own.bytes());
  if (op == nullptr || way.error() != core::no_error) return;
  if (packed != own.data) way.copy(own, {packed, own.bytes(), &byte_type});
  op->data = packed;
  op->data_bytes = op->mine.bytes = own.bytes();
  meet(
      *op, otherwise,
      [&] {
        take_all(*op, all);
        if (!mine.in_place()) way.copy(mine, all[comm.rank]);
      },
      Nothing());
}

void alltoall(Schedule& way, const Blocks& from, const Blocks& to, const Otherwise& otherwise) {
  const Comm& comm = way.comm();
  const Blocks& out = from.in_place() ? to : from;
  const int64_t bytes = out[0].bytes();
  const bool stays = !from.in_place() && out[0].type->contiguous && out[0].type->size == out[0].type->extent;
  PeerCopyOperation* op = make(way);
  auto* const data = static_cast<unsigned char*>(stays ? out[0].data : way.bytes(comm.size * bytes));
  if (op == nullptr || way.error() != core::no_error) return;
  for (int32_t r = 0; !stays && r < comm.size; ++r) {
    if (r != comm.rank) way.copy(out[r], {data + r * bytes, bytes, &byte_type});
  }
  op->data = data;
  op->data_bytes = comm.size * bytes;
  op->mine.bytes = bytes;
  op->in_blocks = true;
  meet(
      *op, otherwise,
      [&] {
        take_all(*op, to);
        if (!from.in_place()) way.copy(from[comm.rank], to[comm.rank]);
      },
      Nothing());
}

}  // namespace weft::coll::peer_copy
