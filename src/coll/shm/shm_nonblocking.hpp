// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Nonblocking and persistent collective operations on small data between ranks of one host, in an exchange buffer
// (coll/shm/exchange_buffers.hpp):
//
//   1. A rank waits until it may write its place, lays its data there, and posts it.
//   2. It waits until those ranks have posted whose data it needs, and takes or combines them in the order of ranks.
//   3. It tells that it has finished.
//
// These are steps of a schedule. No message is sent, and a rank waits for none that does not owe it data. The first
// operations of a communicator are planned before it is known whether there are exchange buffers: they hold the steps
// of `otherwise`, by messages, too. The results are those of blocking operations in shared memory, bit for bit.
//
// Ranks that disagree about the bytes may disagree about the way. So ranks whose data go another way use the exchange
// buffer too: each posts its call, and goes on when all have posted the same. A rank that finds posted calls of others
// posts its own in any case, for the ranks that wait for all. Then none waits for ever, and each that has seen the
// disagreement ends with an error.

#include <type_traits>

#include "coll/plan/reducer.hpp"
#include "coll/plan/schedule.hpp"
#include "coll/shm/call.hpp"

namespace weft::coll::shm_nonblocking {

// The algorithms by which a way performs an operation. `peers_can`: ranks may copy such data from and to each other.
// `laid`: bytes that a rank has for others in all, or `too_many`.
[[nodiscard]] constexpr Algorithms able(const Channel& /*way*/, bool /*peers_can*/, int64_t /*laid*/) {
  return Algorithms::all();
}
[[nodiscard]] Algorithms able(const Schedule& way, bool peers_can, int64_t laid);
// Not all ranks know how many, or these cannot be reduced in shared memory.
inline constexpr int64_t too_many = any_bytes;

// Steps that a caller names, as long as it calls: nothing is allocated.
class Otherwise {
 public:
  template <class Steps>
  Otherwise(const Steps& steps) : steps_(&steps), name_([](const void* of) { (*static_cast<const Steps*>(of))(); }) {}
  void operator()() const { name_(steps_); }

 private:
  const void* steps_;
  void (*name_)(const void* steps);
};

// `rest` once all ranks have told of the same call; where there are no exchange buffers, at once. `root` of the
// operation, or no_root. `reduction`: call::details_of().
void agree(Schedule& way, Collective collective, int64_t bytes, int32_t root, uint64_t reduction,
           const Otherwise& rest);
inline constexpr int32_t no_root = -1;

// Whether the ranks compare their calls before this operation, which does not go by an exchange buffer: ranks that
// disagree about its bytes may think that it does.
[[nodiscard]] bool meets(const Schedule& way, Collective one);

// Calls agree() if the ranks have to compare their calls; false: they need not, or have done so.
template <class Way>
[[nodiscard]] bool agreed(Way& way, Collective collective, int64_t bytes, int32_t root, const auto& rest,
                          uint64_t reduction = 0) {
  if constexpr (std::is_same_v<Way, Schedule>) {
    if (meets(way, collective)) {
      agree(way, collective, bytes, root, reduction, rest);
      return true;
    }
  }
  return false;
}

// Whether blocks of sizes that only two ranks know go in messages even if they are empty: the two may disagree about
// that, and have compared their calls only so that none waits for ever.
template <class Way>
[[nodiscard]] bool sends_empty(const Way& way) {
  if constexpr (std::is_same_v<Way, Schedule>) return way.has_met();
  return false;
}

void barrier(Schedule& way, const Otherwise& otherwise);
void bcast(Schedule& way, const Block& data, int32_t root, const Otherwise& otherwise);

// Blocks of one size.
void gather(Schedule& way, const Block& mine, const Blocks& all, int32_t root, const Otherwise& otherwise);
void scatter(Schedule& way, const Blocks& all, const Block& mine, int32_t root, const Otherwise& otherwise);
void alltoall(Schedule& way, const Blocks& from, const Blocks& to, const Otherwise& otherwise);
// Blocks of any size; all ranks know the `total`.
void allgather(Schedule& way, const Block& mine, const Blocks& all, int64_t total, const Otherwise& otherwise);
// Blocks of any size, which only two ranks know. Blocks that do not fit into a place follow in messages.
void gatherv(Schedule& way, const Block& mine, const Blocks& all, int32_t root, const Otherwise& otherwise);
void scatterv(Schedule& way, const Blocks& all, const Block& mine, int32_t root, const Otherwise& otherwise);
void alltoallv(Schedule& way, const Blocks& from, const Blocks& to, const Otherwise& otherwise);

// Types that suit (shm_blocking::suits). In place: `send` is `receive`.
void reduce(Schedule& way, const void* send, void* receive, int64_t count, const Reducer& reducer, int32_t root,
            const Otherwise& otherwise);
void allreduce(Schedule& way, const void* send, void* receive, int64_t count, const Reducer& reducer,
               const Otherwise& otherwise);
// Elements [first, first + count) of `total` are the result.
void reduce_scatter(Schedule& way, const void* send, void* receive, int64_t first, int64_t count, int64_t total,
                    const Reducer& reducer, const Otherwise& otherwise);
void scan(Schedule& way, const void* send, void* receive, int64_t count, const Reducer& reducer, bool inclusive,
          const Otherwise& otherwise);

}  // namespace weft::coll::shm_nonblocking
