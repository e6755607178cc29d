// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/at_desk.hpp"

#include <cstring>
#include <new>
#include <type_traits>

#include "coll/desks.hpp"
#include "coll/pieces.hpp"

namespace weft::coll::at_desk {

namespace {

// Ranks [first, end).
struct Ranks {
  int32_t first;
  int32_t end;
};

// One operation of this rank. It lies in the schedule's memory.
struct Operation {
  Schedule& way;
  Desks& desks;
  int32_t row;
  uint64_t about;
  Ranks wanted;  // whose data it needs; its own are not at the desk
  int64_t number = 0;
  int32_t come = 0;  // of those wanted, the ranks below this one have posted
  bool failed = false;
  // Reductions: our data, and the part of them that is combined.
  const Reducer* reducer = nullptr;
  const void* data = nullptr;
  int64_t first_byte = 0;
  bool own_first = false;  // our data come before those of the last rank, as in a room's reduce

  void fail(int32_t error) {
    failed = true;
    way.note_error(error);
  }
};

constexpr int collective_shift = 56;
constexpr uint64_t about_bytes = (uint64_t{1} << collective_shift) - 1;

Operation& of(void* memory) {
  return *static_cast<Operation*>(memory);
}

// ---- Steps

// Each time that the schedule is started.
bool begin(void* memory, const Step& /*step*/) {
  Operation& op = of(memory);
  if (op.way.repeats() || op.number == 0) op.number = op.desks.next(op.row);
  op.come = op.wanted.first;
  op.failed = false;
  return true;
}

bool found(void* memory, const Step& /*step*/) {
  of(memory).desks.found();
  return true;
}

bool is_founded(void* memory, const Step& /*step*/) {
  return of(memory).desks.state() != Desks::State::unfounded;
}

bool is_there(void* memory, const Step& /*step*/) {
  return of(memory).desks.state() == Desks::State::here;
}

// A lost rank frees no place.
bool is_free(void* memory, const Step& /*step*/) {
  Operation& op = of(memory);
  if (op.desks.is_free(op.row, op.number)) return true;
  for (int32_t r = 0; r < op.desks.size(); ++r) {
    const int32_t lost = r != op.desks.rank() ? op.desks.lost(r) : int32_t{core::no_error};
    if (lost != core::no_error) op.fail(lost);
  }
  return op.failed;
}

// A block of ours, where the step says.
bool lay(void* memory, const Step& step) {
  Operation& op = of(memory);
  const int64_t bytes = step.to.bytes();
  if (!op.failed && bytes > 0) pack_piece(step.to, 0, op.desks.place(op.row, op.number) + step.rank, bytes);
  return true;
}

bool post(void* memory, const Step& /*step*/) {
  Operation& op = of(memory);
  if (!op.failed) op.desks.post(op.row, op.number, op.about);
  return true;
}

bool have_come(void* memory, const Step& /*step*/) {
  Operation& op = of(memory);
  for (; op.come < op.wanted.end && !op.failed; ++op.come) {
    if (op.come == op.desks.rank() || op.desks.has_posted(op.come, op.row, op.number)) continue;
    const int32_t lost = op.desks.lost(op.come);
    if (lost == core::no_error) return false;
    op.fail(lost);
  }
  return true;
}

// Whether all are in the same operation. The bytes stand for the lengths of a message and of the memory for it.
bool check(void* memory, const Step& /*step*/) {
  Operation& op = of(memory);
  for (int32_t r = op.wanted.first; r < op.wanted.end && !op.failed; ++r) {
    const uint64_t about = r != op.desks.rank() ? op.desks.about(r, op.row, op.number) : op.about;
    if (about == op.about) continue;
    op.failed = true;
    op.way.note_truncated({r, static_cast<int64_t>(about & about_bytes), static_cast<int64_t>(op.about & about_bytes)});
  }
  return true;
}

// The block of a rank for us, `first_byte` into its data.
bool take(void* memory, const Step& step) {
  Operation& op = of(memory);
  const int64_t bytes = step.to.bytes();
  if (op.failed || bytes == 0) return true;
  unpack_piece(op.desks.data(step.rank, op.row, op.number) + op.first_byte, step.to, 0, bytes);
  return true;
}

// Data of the ranks wanted, in their order.
bool combine(void* memory, const Step& step) {
  Operation& op = of(memory);
  if (op.failed || step.to.count == 0) return true;
  const auto data_of = [&](int32_t r) {
    const void* data = r == op.desks.rank() ? op.data : op.desks.data(r, op.row, op.number);
    return static_cast<const unsigned char*>(data) + op.first_byte;
  };
  alignas(64) unsigned char sum[Desks::place_bytes];
  const auto bytes = static_cast<size_t>(step.to.bytes());
  const int32_t begin = op.own_first ? op.desks.rank() : op.wanted.end - 1;
  std::memcpy(sum, data_of(begin), bytes);
  for (int32_t r = op.wanted.end - 1; r >= op.wanted.first; --r) {
    if (r != begin) op.reducer->apply(data_of(r), sum, step.to.count);
  }
  std::memcpy(step.to.data, sum, bytes);
  return true;
}

bool finish(void* memory, const Step& /*step*/) {
  Operation& op = of(memory);
  op.desks.finish(op.row, op.number);
  return true;
}

// ---- Plans

Operation* make(Schedule& way, Collective collective, int64_t bytes, const Ranks& wanted) {
  void* memory = way.bytes(sizeof(Operation));
  if (memory == nullptr) return nullptr;
  static_assert(std::is_trivially_destructible_v<Operation>);
  Desks& desks = Desks::of(way.comm());
  const uint64_t about = uint64_t{static_cast<uint8_t>(collective)} << collective_shift | static_cast<uint64_t>(bytes);
  return new (memory) Operation{way, desks, desks.take_row(way.repeats()), about, wanted};
}

Ranks all_of(const Comm& comm) {
  return {0, comm.size};
}
constexpr Ranks nobody{0, 0};

// All steps. `lays` names those that lay data, if this rank posts any; `takes` those that take what has come.
template <class Lays, class Takes>
void meet(Operation* op, bool posts, const Otherwise& otherwise, Lays lays, Takes takes) {
  if (op == nullptr) return;
  Schedule& way = op->way;
  way.call(begin, op);
  const auto steps = [&] {
    if (posts) {
      way.wait(is_free, op);
      lays();
      way.call(post, op);
    }
    if (op->wanted.end > op->wanted.first) {
      way.wait(have_come, op);
      way.call(check, op);
      takes();
    }
    way.call(finish, op);
  };
  if (op->desks.state() == Desks::State::here) return steps();
  way.call(found, op);
  way.wait(is_founded, op);
  way.either(is_there, op, steps, otherwise);
}

constexpr auto nothing = [] {};

// A reduction of `wanted` ranks' data to `result`; the other ranks combine nothing.
void reduction(Schedule& way, Collective collective, const void* send, int64_t total, const Ranks& wanted, bool posts,
               int64_t first, const Block& result, const Reducer& reducer, const Otherwise& otherwise) {
  const int64_t size = reducer.type->size;
  Operation* op = make(way, collective, total * size, wanted);
  if (op == nullptr) return;
  op->reducer = &reducer;
  op->data = send;
  op->first_byte = first * size;
  op->own_first = collective == Collective::reduce && reducer.commutative;
  meet(
      op, posts, otherwise,
      [&] {
        way.call(lay, op, 0, {const_cast<void*>(send), total, reducer.type});
      },
      [&] { way.call(combine, op, 0, result); });
}

}  // namespace

void barrier(Schedule& way, const Otherwise& otherwise) {
  meet(make(way, Collective::barrier, 0, all_of(way.comm())), true, otherwise, nothing, nothing);
}

void bcast(Schedule& way, const Block& data, int32_t root, const Otherwise& otherwise) {
  const bool is_root = way.comm().rank == root;
  Operation* op = make(way, Collective::bcast, data.bytes(), is_root ? nobody : Ranks{root, root + 1});
  meet(
      op, is_root, otherwise, [&] { way.call(lay, op, 0, data); }, [&] { way.call(take, op, root, data); });
}

void gather(Schedule& way, const Block& mine, const Blocks& all, int32_t root, const Otherwise& otherwise) {
  const Comm& comm = way.comm();
  const bool is_root = comm.rank == root;
  Operation* op = make(way, Collective::gather, all[0].bytes(), is_root ? all_of(comm) : nobody);
  meet(
      op, !is_root, otherwise, [&] { way.call(lay, op, 0, mine); },
      [&] {
        for (int32_t r = 0; r < comm.size; ++r) {
          if (r != root) way.call(take, op, r, all[r]);
        }
        if (!mine.in_place()) way.copy(mine, all[root]);
      });
}

void scatter(Schedule& way, const Blocks& all, const Block& mine, int32_t root, const Otherwise& otherwise) {
  const Comm& comm = way.comm();
  const bool is_root = comm.rank == root;
  const int64_t bytes = all[0].bytes();
  Operation* op = make(way, Collective::scatter, bytes, is_root ? nobody : Ranks{root, root + 1});
  if (op == nullptr) return;
  op->first_byte = comm.rank * bytes;
  meet(
      op, is_root, otherwise,
      [&] {
        for (int32_t r = 0; r < comm.size; ++r) {
          if (r != root) way.call(lay, op, static_cast<int32_t>(r * bytes), all[r]);
        }
        if (!mine.in_place()) way.copy(all[root], mine);
      },
      [&] { way.call(take, op, root, mine); });
}

void allgather(Schedule& way, const Block& mine, const Blocks& all, int64_t total, const Otherwise& otherwise) {
  const Comm& comm = way.comm();
  const Collective collective = all.regular() ? Collective::allgather : Collective::allgatherv;
  Operation* op = make(way, collective, total, all_of(comm));
  meet(
      op, true, otherwise, [&] { way.call(lay, op, 0, mine.in_place() ? all[comm.rank] : mine); },
      [&] {
        for (int32_t r = 0; r < comm.size; ++r) {
          if (r != comm.rank) way.call(take, op, r, all[r]);
        }
        if (!mine.in_place()) way.copy(mine, all[comm.rank]);
      });
}

void alltoall(Schedule& way, const Blocks& from, const Blocks& to, const Otherwise& otherwise) {
  const Comm& comm = way.comm();
  const Blocks& out = from.in_place() ? to : from;
  const int64_t bytes = to[0].bytes();
  Operation* op = make(way, Collective::alltoall, bytes, all_of(comm));
  if (op == nullptr) return;
  op->first_byte = comm.rank * bytes;
  meet(
      op, true, otherwise,
      [&] {
        for (int32_t r = 0; r < comm.size; ++r) {
          if (r != comm.rank) way.call(lay, op, static_cast<int32_t>(r * bytes), out[r]);
        }
      },
      [&] {
        for (int32_t r = 0; r < comm.size; ++r) {
          if (r != comm.rank) way.call(take, op, r, to[r]);
        }
        if (!from.in_place()) way.copy(from[comm.rank], to[comm.rank]);
      });
}

void reduce(Schedule& way, const void* send, void* receive, int64_t count, const Reducer& reducer, int32_t root,
            const Otherwise& otherwise) {
  const Comm& comm = way.comm();
  const bool is_root = comm.rank == root;
  reduction(way, Collective::reduce, send, count, is_root ? all_of(comm) : nobody, !is_root, 0,
            {receive, count, reducer.type}, reducer, otherwise);
}

void allreduce(Schedule& way, const void* send, void* receive, int64_t count, const Reducer& reducer,
               const Otherwise& otherwise) {
  reduction(way, Collective::allreduce, send, count, all_of(way.comm()), true, 0, {receive, count, reducer.type},
            reducer, otherwise);
}

void reduce_scatter(Schedule& way, const void* send, void* receive, int64_t first, int64_t count, int64_t total,
                    const Reducer& reducer, const Otherwise& otherwise) {
  reduction(way, Collective::reduce_scatter, send, total, all_of(way.comm()), true, first,
            {receive, count, reducer.type}, reducer, otherwise);
}

void scan(Schedule& way, const void* send, void* receive, int64_t count, const Reducer& reducer, bool inclusive,
          const Otherwise& otherwise) {
  const int32_t end = way.comm().rank + (inclusive ? 1 : 0);
  reduction(way, Collective::scan, send, count, {0, end}, true, 0, {receive, count, reducer.type}, reducer, otherwise);
}

}  // namespace weft::coll::at_desk
