// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The members of a new communicator agree by messages over a parent before they have it. The functions return an
// error class; core::other_error says that the members have no context numbers left.

#include "coll/plan/schedule.hpp"
#include "core/dynamic/context.hpp"

namespace weft::coll {

// The processes that make a communicator: all ranks of a parent, or a team of some. For an intercommunicator they are
// the ranks of both sides, the leading side first; its hidden communicator reaches our own side. Context and tag keep
// the messages apart from those of creations under way at the same time.
struct Founders : Team {
  Comm& parent;
  uint32_t context;  // of the parent
  int32_t tag;

  Member operator[](int32_t p) const {
    if (!parent.is_inter()) return {&parent, Team::operator[](p)};
    const int32_t here = p - our_side();
    if (here >= 0 && here < parent.local_size()) return {parent.local, here};
    return {&parent, p - other_side()};
  }
  [[nodiscard]] int32_t job_rank(int32_t p) const {
    const Member member = (*this)[p];
    return member.comm->job_rank(member.rank);
  }

  // The place where our side of an intercommunicator begins, and where the other side does.
  [[nodiscard]] int32_t our_side() const { return parent.leads ? 0 : parent.size; }
  [[nodiscard]] int32_t other_side() const { return parent.leads ? parent.local_size() : 0; }

  // core::offer_context() of this member.
  [[nodiscard]] uint64_t offer() const;
};

// All ranks of a communicator, of both sides. Creations are collective operations for them.
[[nodiscard]] Founders founders_of(Comm& comm);

// The members' common result.
struct Vote {
  uint64_t offer;  // the smallest of all: core::offer_context(), or another number
  uint64_t bits;   // that all members have set
};
extern const Reducer voting;  // of votes, given as bytes

namespace plan {
// The vote of all, in ceil(log2(size)) rounds.
template <class Way>
void agree(Way& way, const Founders& founders, Vote& vote, Vote& spare);
}  // namespace plan

[[nodiscard]] int32_t agree(const Founders& founders, Vote& vote);

// A context for the communicator of these members, held. `bits`, when given: see Vote.
[[nodiscard]] int32_t agree_on_context(const Founders& founders, uint32_t& context, uint64_t* bits = nullptr);

// The last step of agree_on_context() ends our offer by the result, and holds the context.
[[nodiscard]] int32_t take_context(const Founders& founders, uint64_t offer, uint64_t agreed, uint32_t& context);

// All ranks of a communicator agree on a context in the background, as a schedule. This completes `request`, a
// composite one of the caller's; before that `take` gets the result, unless there is an error.
using TakeContext = void (*)(core::Request& request, uint32_t context, uint64_t bits);
[[nodiscard]] int32_t agree_in_background(Comm& comm, uint64_t bits, core::Request& request, TakeContext take);

// `bytes` of the member at place `root` for all others.
[[nodiscard]] int32_t spread(const Founders& founders, int32_t root, void* data, int64_t bytes);

// `bytes` of each member at `all`, by place.
[[nodiscard]] int32_t gather_all(const Founders& founders, const void* mine, int64_t bytes, void* all);
// `bytes` of each rank of a communicator at `all`, by rank; of an intercommunicator by the founders' places.
[[nodiscard]] int32_t gather_all(Comm& comm, const void* mine, int64_t bytes, void* all);

}  // namespace weft::coll
