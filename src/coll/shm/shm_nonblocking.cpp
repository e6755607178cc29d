// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/shm/shm_nonblocking.hpp"

#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "base/copy.hpp"
#include "coll/plan/pieces.hpp"
#include "coll/shm/shm_nonblocking_steps.hpp"

namespace weft::coll::shm_nonblocking {

namespace {

// ---- Steps

// It acts once for each time that the operation is performed: for a persistent one in its first step, whichever that
// is.
void begin_once(ExchangeOperation& op) {
  if (op.number != 0) return;
  op.number = op.buffers.next(op.row);
  op.come = op.wanted.first;
  op.laid = 0;
  op.looks = 0;
  op.told = false;
  op.failed = false;
}

// A block of ours, where the step says.
bool lay(void* memory, const Step& step) {
  ExchangeOperation& op = of(memory);
  const int64_t bytes = step.to.bytes();
  if (!op.failed && bytes > 0) pack_piece(step.to, 0, op.buffers.place(op.row, op.number) + step.rank, bytes);
  return true;
}

// All that this rank has for others.
bool lay_and_post(void* memory, const Step& step) {
  return lay(memory, step) && post(memory, step);
}

// Whether there is nothing to wait for of a rank: it has posted, or is lost.
bool has_come(ExchangeOperation& op, int32_t rank) {
  if (rank == op.buffers.rank() || op.buffers.has_posted(rank, op.row, op.number)) return true;
  const int32_t lost = op.buffers.lost(rank);
  if (lost != core::no_error) op.fail(lost);
  return lost != core::no_error;
}

// Whether a rank is in the same operation.
void compare(ExchangeOperation& op, int32_t rank, uint64_t about) {
  if (about == op.about) [[likely]]
    return;
  op.failed = true;
  op.way.note_error(call::error_of(about, op.about), call::difference(rank, about, op.about));
}

// Looks as has_come() does, and compares the call of a rank that has posted with ours.
bool has_come_alike(ExchangeOperation& op, int32_t rank) {
  if (!has_come(op, rank)) return false;
  if (rank != op.buffers.rank() && !op.failed) compare(op, rank, op.buffers.about(rank, op.row, op.number));
  return true;
}

// A rank that has nothing to post tells its call, for those that wait for it; false: not yet.
[[gnu::cold]] bool tell(ExchangeOperation& op, const Step& step) {
  if (op.posts || op.told) return true;
  if (!is_free(&op, step)) return false;
  if (op.buffers.is_free(op.row, op.number)) op.buffers.post(op.row, op.number, op.about);
  op.told = true;
  return true;
}

// Ranks that each think that another one is the root, which therefore posts nothing, would wait for ever.
bool is_waiting(ExchangeOperation& op, const Step& step) {
  constexpr int32_t patience = 64;  // looks: most find what they look for
  if (++op.looks % patience == 0) (void)tell(op, step);
  return false;
}

// The block of a rank for us, `first_byte` into its data.
bool take(void* memory, const Step& step) {
  ExchangeOperation& op = of(memory);
  const int64_t bytes = step.to.bytes();
  if (op.failed || bytes == 0) return true;
  unpack_piece(op.buffers.data(step.rank, op.row, op.number) + op.first_byte, step.to, 0, bytes);
  return true;
}

// Data of the ranks wanted, in their order.
bool combine(void* memory, const Step& step) {
  ExchangeOperation& op = of(memory);
  if (op.failed || step.to.count == 0) return true;
  const auto data_of = [&](int32_t r) {
    const void* data = r == op.buffers.rank() ? op.data : op.buffers.data(r, op.row, op.number);
    return static_cast<const unsigned char*>(data) + op.first_byte;
  };
  alignas(64) unsigned char sum[ExchangeBuffers::place_bytes];
  const auto bytes = static_cast<size_t>(step.to.bytes());
  const int32_t begin = op.own_first ? op.buffers.rank() : op.wanted.end - 1;
  base::copy(sum, data_of(begin), bytes);
  for (int32_t r = op.wanted.end - 1; r >= op.wanted.first; --r) {
    if (r != begin) op.reducer->apply(data_of(r), sum, step.to.count);
  }
  base::copy(step.to.data, sum, bytes);
  return true;
}

}  // namespace

// ---- Steps of all operations

bool begin(void* memory, const Step& /*step*/) {
  begin_once(of(memory));
  return true;
}

bool found(void* memory, const Step& /*step*/) {
  of(memory).buffers.found();
  return true;
}

bool is_founded(void* memory, const Step& /*step*/) {
  return of(memory).buffers.state() != ExchangeBuffers::BuffersState::unfounded;
}

bool is_there(void* memory, const Step& /*step*/) {
  return of(memory).buffers.state() == ExchangeBuffers::BuffersState::here;
}

// A lost rank frees no place.
bool is_free(void* memory, const Step& /*step*/) {
  ExchangeOperation& op = of(memory);
  begin_once(op);
  if (op.buffers.is_free(op.row, op.number)) return true;
  int32_t lost = core::no_error;
  for (int32_t r = 0; r < op.buffers.size() && lost == core::no_error; ++r) {
    if (r != op.buffers.rank()) lost = op.buffers.lost(r);
  }
  if (lost != core::no_error) op.fail(lost);
  return lost != core::no_error;
}

bool post(void* memory, const Step& /*step*/) {
  ExchangeOperation& op = of(memory);
  if (!op.failed) op.buffers.post(op.row, op.number, op.about);
  return true;
}

// Whether all that are wanted have posted, or one differs. Ranks whose data go another way look at the root first: it
// posts in any case, which others do not where it goes by the exchange buffer.
bool have_come(void* memory, const Step& step) {
  ExchangeOperation& op = of(memory);
  begin_once(op);
  if (op.root != no_root && !op.failed && !has_come_alike(op, op.root)) return is_waiting(op, step);
  for (; op.come < op.wanted.end && !op.failed; ++op.come) {
    if (!has_come_alike(op, op.come)) return is_waiting(op, step);
  }
  return !op.failed || tell(op, step);
}

bool goes_on(void* memory, const Step& /*step*/) {
  return !of(memory).failed;
}

bool finish(void* memory, const Step& /*step*/) {
  ExchangeOperation& op = of(memory);
  for (int32_t r = op.silent.first; r < op.silent.end && !op.failed; ++r) {
    if (r != op.buffers.rank() && op.buffers.has_posted(r, op.row, op.number))
      compare(op, r, op.buffers.about(r, op.row, op.number));
  }
  op.buffers.finish(op.row, op.number);
  op.number = 0;
  return true;
}

// ---- Plans

namespace {

// The ranks that post nothing in this call. A rank that waits for nobody looks at them: one that has posted is in
// another call.
Ranks silent_ranks(const Comm& comm, Collective collective, int32_t root) {
  constexpr int32_t few = 8;
  if (root == no_root) return nobody;
  const bool from_root = collective == Collective::bcast || regular_form(collective) == Collective::scatter;
  if (comm.rank != root) return from_root ? nobody : Ranks{root, root + 1};
  return from_root && comm.size <= few ? all_of(comm) : nobody;
}

}  // namespace

Algorithms able(const Schedule& way, bool peers_can, int64_t laid) {
  if (way.messages_alone()) return Algorithms::all();
  const bool lays =
      !way.has_met() && laid <= ExchangeBuffers::place_bytes && ExchangeBuffers::may_take(way.comm(), way.repeats());
  return Algorithms::nonblocking().without(Algorithm::peer_copy, !peers_can).with(Algorithm::shared, lays);
}

bool meets(const Schedule& way, Collective one) {
  return way.comm().size > 1 && !way.messages_alone() && !way.has_met() &&
         choices_of(way.comm()).nonblocking_shared[static_cast<size_t>(one)] &&
         (way.repeats() || ExchangeBuffers::may_take(way.comm(), false));
}

ExchangeOperation* make(Schedule& way, Collective collective, int64_t bytes, const Ranks& wanted, int32_t root,
                        uint64_t reduction) {
  void* memory = way.bytes(sizeof(ExchangeOperation));
  if (memory == nullptr) return nullptr;
  static_assert(std::is_trivially_destructible_v<ExchangeOperation>);
  ExchangeBuffers& buffers = ExchangeBuffers::of(way.comm());
  const uint64_t about = call::word(collective, bytes, root, reduction);
  auto* const op = new (memory) ExchangeOperation{way, buffers, buffers.take_row(way.repeats()), about, wanted};
  op->silent = silent_ranks(way.comm(), collective, root);
  // The order of starting is not that of the steps behind a fence, where others come between: on Comm::local of an
  // intercommunicator, whose ranks wait for different messages of the other side.
  if (!way.repeats()) begin_once(*op);
  return op;
}

namespace {

// A reduction of `wanted` ranks' data to `result`; the other ranks combine nothing.
void reduction(Schedule& way, Collective collective, const void* send, int64_t total, const Ranks& wanted, bool posts,
               int64_t first, const Block& result, const Reducer& reducer, const Otherwise& otherwise,
               int32_t root = no_root) {
  const int64_t size = reducer.type->size;
  ExchangeOperation* op = make(way, collective, total * size, wanted, root, call::details_of(reducer));
  if (op == nullptr) return;
  op->reducer = &reducer;
  op->data = send;
  op->first_byte = first * size;
  op->own_first = collective == Collective::reduce && reducer.commutative;
  meet(
      op, posts, otherwise,
      [&] {
        way.call(lay_and_post, op, 0, {const_cast<void*>(send), total, reducer.type});
      },
      [&] { way.call(combine, op, 0, result); });
}

// A persistent operation without an exchange buffer starts for the first time: each rank tells each other one.
struct FirstStart {
  ExchangeOperation& op;
  uint64_t* abouts;  // by rank
  bool yet = false;  // not for the first time
};

bool is_first_start(void* memory, const Step& /*step*/) {
  return !std::exchange(static_cast<FirstStart*>(memory)->yet, true);
}

bool heard_the_same(void* memory, const Step& /*step*/) {
  const auto& heard = *static_cast<const FirstStart*>(memory);
  ExchangeOperation& op = heard.op;
  op.failed = false;
  for (int32_t r = 0; r < op.buffers.size() && !op.failed; ++r) {
    if (r != op.buffers.rank()) compare(op, r, heard.abouts[r]);
  }
  return !op.failed;
}

void agree_by_messages(ExchangeOperation* op, const Otherwise& rest) {
  Schedule& way = op->way;
  const int32_t size = op->buffers.size();
  void* const memory = way.bytes(sizeof(FirstStart));
  auto* const abouts = static_cast<uint64_t*>(way.bytes(size * static_cast<int64_t>(sizeof(uint64_t))));
  if (memory == nullptr || abouts == nullptr) return;
  static_assert(std::is_trivially_destructible_v<FirstStart>);
  auto* const heard = new (memory) FirstStart{*op, abouts};
  way.when(is_first_start, heard, [&] {
    for (int32_t i = 1; i < size; ++i) {
      const int32_t from = (op->buffers.rank() + size - i) % size;
      way.receive({abouts + from, sizeof(uint64_t), &byte_type}, from);
    }
    for (int32_t i = 1; i < size; ++i) {
      way.send({&op->about, sizeof(uint64_t), &byte_type}, (op->buffers.rank() + i) % size);
    }
    way.fence();
  });
  way.when(heard_the_same, heard, [&] { way.behind_meeting(rest); });
}

}  // namespace

void agree(Schedule& way, Collective collective, int64_t bytes, int32_t root, uint64_t reduction,
           const Otherwise& rest) {
  ExchangeOperation* op = make(way, collective, bytes, all_of(way.comm()), root, reduction);
  if (op == nullptr) return;
  op->about |= call::by_messages;
  op->root = root;
  if (op->row == ExchangeBuffers::no_row) return agree_by_messages(op, rest);
  if (op->buffers.state() == ExchangeBuffers::BuffersState::none) return way.behind_meeting(rest);
  op->posts = true;
  at(op, nothing, [&] {
    way.wait(is_free, op);
    way.call(post, op);
    way.wait(have_come, op);
    way.call(finish, op);
  });
  way.when(goes_on, op, [&] { way.behind_meeting(rest); });
}

void barrier(Schedule& way, const Otherwise& otherwise) {
  ExchangeOperation* op = make(way, Collective::barrier, 0, all_of(way.comm()));
  meet(
      op, true, otherwise, [&] { way.call(post, op); }, nothing);
}

void bcast(Schedule& way, const Block& data, int32_t root, const Otherwise& otherwise) {
  const bool is_root = way.comm().rank == root;
  ExchangeOperation* op = make(way, Collective::bcast, data.bytes(), is_root ? nobody : Ranks{root, root + 1}, root);
  meet(
      op, is_root, otherwise, [&] { way.call(lay_and_post, op, 0, data); }, [&] { way.call(take, op, root, data); });
}

void gather(Schedule& way, const Block& mine, const Blocks& all, int32_t root, const Otherwise& otherwise) {
  const Comm& comm = way.comm();
  const bool is_root = comm.rank == root;
  ExchangeOperation* op = make(way, Collective::gather, all[0].bytes(), is_root ? all_of(comm) : nobody, root);
  meet(
      op, !is_root, otherwise, [&] { way.call(lay_and_post, op, 0, mine); },
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
  ExchangeOperation* op = make(way, Collective::scatter, bytes, is_root ? nobody : Ranks{root, root + 1}, root);
  if (op == nullptr) return;
  op->first_byte = comm.rank * bytes;
  meet(
      op, is_root, otherwise,
      [&] {
        for (int32_t r = 0; r < comm.size; ++r) {
          if (r != root) way.call(lay, op, static_cast<int32_t>(r * bytes), all[r]);
        }
        way.call(post, op);
        if (!mine.in_place()) way.copy(all[root], mine);
      },
      [&] { way.call(take, op, root, mine); });
}

void allgather(Schedule& way, const Block& mine, const Blocks& all, int64_t total, const Otherwise& otherwise) {
  const Comm& comm = way.comm();
  const Collective collective = all.regular() ? Collective::allgather : Collective::allgatherv;
  ExchangeOperation* op = make(way, collective, total, all_of(comm));
  meet(
      op, true, otherwise, [&] { way.call(lay_and_post, op, 0, mine.in_place() ? all[comm.rank] : mine); },
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
  ExchangeOperation* op = make(way, Collective::alltoall, bytes, all_of(comm));
  if (op == nullptr) return;
  op->first_byte = comm.rank * bytes;
  meet(
      op, true, otherwise,
      [&] {
        for (int32_t r = 0; r < comm.size; ++r) {
          if (r != comm.rank) way.call(lay, op, static_cast<int32_t>(r * bytes), out[r]);
        }
        way.call(post, op);
      },
      [&] {
        for (int32_t r = 0; r < comm.size; ++r) {
          if (r != comm.rank) way.call(take, op, r, to[r]);
        }
        if (!from.in_place()) way.copy(from[comm.rank], to[comm.rank]);
      });
}

// ---- Reductions

void reduce(Schedule& way, const void* send, void* receive, int64_t count, const Reducer& reducer, int32_t root,
            const Otherwise& otherwise) {
  const Comm& comm = way.comm();
  const bool is_root = comm.rank == root;
  reduction(way, Collective::reduce, send, count, is_root ? all_of(comm) : nobody, !is_root, 0,
            {receive, count, reducer.type}, reducer, otherwise, root);
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

}  // namespace weft::coll::shm_nonblocking
