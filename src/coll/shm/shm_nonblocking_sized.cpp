// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Blocks whose sizes only two ranks know: those of gatherv, scatterv, alltoallv and alltoallw.
#include <algorithm>

#include "coll/plan/pieces.hpp"
#include "coll/shm/shm_nonblocking_steps.hpp"

namespace weft::coll::shm_nonblocking {

namespace {

// A place begins with a byte for each of its blocks: the length, or that the block follows in a message. Then come the
// blocks that fit, one behind the other.
constexpr unsigned char in_message = 255;
static_assert(ExchangeBuffers::place_bytes < in_message);

bool has_room(const ExchangeOperation& op, int64_t laid, int64_t bytes) {
  return op.blocks + laid + bytes <= ExchangeBuffers::place_bytes;
}

// The step's block for a rank.
bool lay_sized(void* memory, const Step& step) {
  ExchangeOperation& op = of(memory);
  if (op.failed) return true;
  unsigned char* const place = op.buffers.place(op.row, op.number);
  const int64_t bytes = step.to.bytes();
  const bool lies_here = has_room(op, op.laid, bytes);
  place[step.rank] = lies_here ? static_cast<unsigned char>(bytes) : in_message;
  if (!lies_here || bytes == 0) return true;
  pack_piece(step.to, 0, place + op.blocks + op.laid, bytes);
  op.laid += bytes;
  return true;
}

// The block of a rank for us; true if it follows in a message.
bool follows(void* memory, const Step& step) {
  ExchangeOperation& op = of(memory);
  if (op.failed) return false;
  const unsigned char* const place = op.buffers.data(step.rank, op.row, op.number);
  const int32_t ours = op.blocks > 1 ? op.buffers.rank() : 0;
  const unsigned char length = place[ours];
  if (length == in_message) return true;
  int64_t at = op.blocks;
  for (int32_t i = 0; i < ours; ++i) at += place[i] != in_message ? place[i] : 0;
  const int64_t room = std::min(step.to.bytes(), ExchangeBuffers::place_bytes - at);
  if (length > room) {
    op.way.note_error(core::truncated, {step.rank, length, room});
  } else if (length > 0) {
    unpack_piece(place + at, step.to, 0, length);
  }
  return false;
}

void take_or_receive(ExchangeOperation* op, int32_t rank, const Block& to) {
  op->way.when(
      follows, op, [&] { op->way.receive(to, rank); }, rank, to);
}

void lay_all(ExchangeOperation* op, const Blocks& all, int32_t but) {
  for (int32_t r = 0; r < op->blocks; ++r) {
    op->way.call(lay_sized, op, r, r != but ? all[r] : Block{nullptr, 0, &byte_type});
  }
  op->way.call(post, op);
}

// Calls `send` for each block that lay_all() leaves out.
template <class Send>
void each_without_room(const ExchangeOperation& op, const Blocks& all, int32_t but, Send send) {
  int64_t laid = 0;
  for (int32_t r = 0; r < op.blocks; ++r) {
    if (r == but) continue;
    const Block block = all[r];
    if (has_room(op, laid, block.bytes())) {
      laid += block.bytes();
    } else {
      send(r, block);
    }
  }
}

}  // namespace

void gatherv(Schedule& way, const Block& mine, const Blocks& all, int32_t root, const Otherwise& otherwise) {
  const Comm& comm = way.comm();
  const bool is_root = comm.rank == root;
  ExchangeOperation* op = make(way, Collective::gatherv, 0, is_root ? all_of(comm) : nobody, root);
  if (op == nullptr) return;
  op->blocks = 1;
  meet(
      op, !is_root, otherwise,
      [&] {
        way.call(lay_sized, op, 0, mine);
        way.call(post, op);
      },
      [&] {
        for (int32_t r = 0; r < comm.size; ++r) {
          if (r != root) take_or_receive(op, r, all[r]);
        }
        if (!mine.in_place()) way.copy(mine, all[root]);
      },
      [&] {
        if (!has_room(*op, 0, mine.bytes())) way.send(mine, root);
      });
}

void scatterv(Schedule& way, const Blocks& all, const Block& mine, int32_t root, const Otherwise& otherwise) {
  const Comm& comm = way.comm();
  const bool is_root = comm.rank == root;
  ExchangeOperation* op = make(way, Collective::scatterv, 0, is_root ? nobody : Ranks{root, root + 1}, root);
  if (op == nullptr) return;
  op->blocks = comm.size;
  meet(
      op, is_root, otherwise, [&] { lay_all(op, all, root); }, [&] { take_or_receive(op, root, mine); },
      [&] {
        each_without_room(*op, all, root, [&](int32_t r, const Block& block) { way.send(block, r); });
        if (!mine.in_place()) way.copy(all[root], mine);
      });
}

// In place a block that follows in a message is kept aside, since the other rank's comes to its memory.
void alltoallv(Schedule& way, const Blocks& from, const Blocks& to, const Otherwise& otherwise) {
  const Comm& comm = way.comm();
  const bool in_place = from.in_place();
  const Blocks& out = in_place ? to : from;
  ExchangeOperation* op = make(way, Collective::alltoallv, 0, all_of(comm));
  if (op == nullptr) return;
  op->blocks = comm.size;
  const auto send = [&](int32_t r, const Block& block) {
    if (!in_place) return way.send(block, r);
    const Block aside{way.bytes(block.bytes()), block.bytes(), &byte_type};
    if (aside.data == nullptr) return;
    way.copy(block, aside);
    way.send(aside, r);
  };
  meet(
      op, true, otherwise, [&] { lay_all(op, out, comm.rank); },
      [&] {
        way.when(goes_on, op, [&] { each_without_room(*op, out, comm.rank, send); });
        for (int32_t i = 1; i < comm.size; ++i) {
          const int32_t r = (comm.rank + i) % comm.size;
          take_or_receive(op, r, to[r]);
        }
        if (!in_place) way.copy(from[comm.rank], to[comm.rank]);
      });
}

}  // namespace weft::coll::shm_nonblocking
