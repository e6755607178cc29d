// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The parts that all nonblocking operations in shared memory have (coll/shm/shm_nonblocking.hpp): one operation of a
// rank, its steps, and their order.

#include "coll/shm/exchange_buffers.hpp"
#include "coll/shm/shm_nonblocking.hpp"

namespace weft::coll::shm_nonblocking {

// Ranks [first, end).
struct Ranks {
  int32_t first;
  int32_t end;
};

// One operation of this rank. It lies in the schedule's memory.
struct ExchangeOperation {
  Schedule& way;
  ExchangeBuffers& buffers;
  int32_t row;
  uint64_t about;
  Ranks wanted;            // whose data it needs; its own are not in the exchange buffer
  int32_t root = no_root;  // awaited before the others
  Ranks silent{0, 0};      // they post nothing, and are looked at
  int64_t number = 0;
  int32_t come = 0;  // of those wanted, the ranks below this one have posted
  // Blocks of any size.
  int32_t blocks = 0;  // that a place has
  int64_t laid = 0;    // bytes of ours so far
  int32_t looks = 0;   // at ranks that have not posted
  bool told = false;   // the others see our call
  bool failed = false;
  // Reductions: our data, and the part of them that is combined.
  const Reducer* reducer = nullptr;
  const void* data = nullptr;
  int64_t first_byte = 0;
  bool own_first = false;  // our data come before those of the last rank, as in the reduce of a shared region
  bool posts = false;

  void fail(int32_t error) {
    failed = true;
    way.note_error(error);
  }
};

inline ExchangeOperation& of(void* memory) {
  return *static_cast<ExchangeOperation*>(memory);
}

// nullptr, and the error noted, without memory.
ExchangeOperation* make(Schedule& way, Collective collective, int64_t bytes, const Ranks& wanted,
                        int32_t root = no_root, uint64_t reduction = 0);

inline Ranks all_of(const Comm& comm) {
  return {0, comm.size};
}
inline constexpr Ranks nobody{0, 0};

inline constexpr auto nothing = [] {};

// ---- Steps

bool begin(void* memory, const Step& step);
bool found(void* memory, const Step& step);
bool is_founded(void* memory, const Step& step);
bool is_there(void* memory, const Step& step);
bool is_free(void* memory, const Step& step);    // the place that this rank writes
bool post(void* memory, const Step& step);       // its data
bool have_come(void* memory, const Step& step);  // the ranks wanted, or one differs
bool goes_on(void* memory, const Step& step);    // none has failed
bool finish(void* memory, const Step& step);

// ---- Plans

// The steps, where there are exchange buffers.
template <class Steps>
void at(ExchangeOperation* op, const Otherwise& otherwise, Steps steps) {
  Schedule& way = op->way;
  if (op->buffers.state() == ExchangeBuffers::BuffersState::here) return steps();
  way.call(begin, op);
  way.call(found, op);
  way.wait(is_founded, op);
  way.either(is_there, op, steps, otherwise);
}

// All steps. `lays` names those that lay data and post, if this rank posts any; `sends` those behind that, whose data
// follow in messages; `takes` those that take what has come.
template <class Lays, class Takes, class Sends = decltype(nothing)>
void meet(ExchangeOperation* op, bool posts, const Otherwise& otherwise, Lays lays, Takes takes, Sends sends = {}) {
  if (op == nullptr) return;
  Schedule& way = op->way;
  op->posts = posts;
  at(op, otherwise, [&] {
    if (posts) {
      way.wait(is_free, op);
      lays();
      sends();
    }
    if (op->wanted.end > op->wanted.first) {
      way.wait(have_come, op);
      takes();
    }
    way.call(finish, op);
  });
}

}  // namespace weft::coll::shm_nonblocking
