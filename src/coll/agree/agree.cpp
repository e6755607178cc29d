// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/agree/agree.hpp"

#include <new>

#include "coll/coll.hpp"
#include "coll/plan/pattern.hpp"
#include "core/message/completion.hpp"
#include "core/object/other_jobs.hpp"

namespace weft::coll {

namespace {

void take_in(const Reducer& /*self*/, const void* in, void* inout, int64_t /*count*/) {
  const auto& other = *static_cast<const Vote*>(in);
  auto& vote = *static_cast<Vote*>(inout);
  if (other.offer < vote.offer) vote.offer = other.offer;
  vote.bits &= other.bits;
}

}  // namespace

constinit const Reducer voting = {.function = take_in, .type = &byte_type};

Founders founders_of(Comm& comm) {
  Founders all{{comm.size, comm.rank, nullptr}, comm, comm.collective_context(), static_cast<int32_t>(Tag::creation)};
  if (comm.is_inter()) {
    all.size += comm.local_size();
    all.place += all.our_side();
  }
  return all;
}

uint64_t Founders::offer() const {
  const int32_t far = parent.several_jobs ? core::far_rank_of(parent) : core::no_far_rank;
  if (far != core::no_far_rank) return core::offer_far_context(far, place);
  return core::offer_context(size, place, parent.several_jobs);
}

namespace plan {

// Taking a vote in twice changes nothing.
template <class Way>
void agree(Way& way, const Founders& founders, Vote& vote, Vote& spare) {
  disseminate(way, founders, bytes_at(&vote, sizeof vote), bytes_at(&spare, sizeof spare),
              [&] { way.reduce(voting, &spare, &vote, sizeof vote); });
}

template void agree(Schedule& way, const Founders& founders, Vote& vote, Vote& spare);

}  // namespace plan

int32_t agree(const Founders& founders, Vote& vote) {
  Channel channel(founders.parent, founders.context, founders.tag);
  Vote spare{};
  plan::agree(channel, founders, vote, spare);
  return channel.finish();
}

int32_t take_context(const Founders& founders, uint64_t offer, uint64_t agreed, uint32_t& context) {
  if (!core::settle_offer(offer, agreed)) return core::other_error;
  const core::TreePlace tree = core::tree_place(founders.place, founders.size, core::owner_in(agreed));
  const int32_t above = tree.above < 0 ? core::ContextNumbers::nobody : founders.job_rank(tree.above);
  context = core::hold_context(agreed, above, tree.below);
  return core::no_error;
}

int32_t agree_on_context(const Founders& founders, uint32_t& context, uint64_t* bits) {
  const uint64_t offer = founders.offer();
  Vote vote{offer, bits != nullptr ? *bits : 0};
  if (const int32_t error = agree(founders, vote)) return error;
  if (bits != nullptr) *bits = vote.bits;
  return take_context(founders, offer, vote.offer, context);
}

namespace {

struct Background {
  Founders founders;
  uint64_t offer;
  Vote vote;
  core::Request& request;
  TakeContext take;
  Schedule schedule{founders.parent};
  Vote spare{};
};

// Runs when the schedule's request completes; that request keeps the parent.
bool agreed_in_background(core::Request& r) {
  auto* agreement = static_cast<Background*>(r.owner);
  core::Request& request = agreement->request;
  uint32_t context = 0;
  request.error = r.error;
  if (request.error == core::no_error)
    request.error = take_context(agreement->founders, agreement->offer, agreement->vote.offer, context);
  if (request.error == core::no_error) agreement->take(request, context, agreement->vote.bits);
  delete agreement;
  core::free_request(&r);
  core::complete(request);
  return false;
}

}  // namespace

int32_t agree_in_background(Comm& comm, uint64_t bits, core::Request& request, TakeContext take) {
  core::Request* ours = new_composite(comm);
  if (ours == nullptr) return core::no_memory;
  const Founders founders = founders_of(comm);
  const uint64_t offer = founders.offer();
  auto* agreement = new (std::nothrow) Background{founders, offer, {offer, bits}, request, take};
  if (agreement == nullptr) {
    (void)core::settle_offer(offer, core::no_offer);
    core::free_request(ours);
    return core::no_memory;
  }
  plan::agree(agreement->schedule, founders, agreement->vote, agreement->spare);
  ours->owner = agreement;
  ours->on_done = agreed_in_background;
  agreement->schedule.start(*ours);
  return core::no_error;
}

int32_t spread(const Founders& founders, int32_t root, void* data, int64_t bytes) {
  Channel channel(founders.parent, founders.context, founders.tag);
  plan::spread(channel, founders, bytes_at(data, bytes), root);
  return channel.finish();
}

int32_t gather_all(const Founders& founders, const void* mine, int64_t bytes, void* all) {
  Channel channel(founders.parent, founders.context, founders.tag);
  const Blocks blocks(all, bytes, byte_type);
  channel.copy(bytes_at(mine, bytes), blocks[founders.place]);
  const Packed packed = Packed::make(channel, founders.size, bytes);
  if (packed.data != nullptr) plan::gather_packed(channel, founders, packed, blocks);
  return channel.finish();
}

int32_t gather_all(Comm& comm, const void* mine, int64_t bytes, void* all) {
  if (comm.is_inter()) return gather_all(founders_of(comm), mine, bytes, all);
  return allgather(comm, bytes_at(mine, bytes), Blocks(all, bytes, byte_type));
}

}  // namespace weft::coll
