// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/channel.hpp"
#include "coll/coll.hpp"
#include "coll/plan.hpp"
#include "coll/schedule.hpp"

namespace weft::coll {

namespace plan {

namespace {

// Below this, all ranks sign in at rank 0 and are let go by it: every other rank is switched to twice at most, which is
// what counts when ranks outnumber cores. Beyond, rank 0 would be the bottleneck.
constexpr int32_t flat_limit = 32;

template <class Way>
void flat(Way& way, const Block& nothing) {
  const Comm& comm = way.comm();
  if (comm.rank != 0) {
    way.send(nothing, 0);
    way.receive(nothing, 0);
    return;
  }
  for (int32_t r = 1; r < comm.size; ++r) way.receive(nothing, r);
  way.fence();
  for (int32_t r = 1; r < comm.size; ++r) way.send(nothing, r);
}

// Round k: a sign to the rank 2^k above, and one from the rank 2^k below.
template <class Way>
void dissemination(Way& way, const Block& nothing) {
  const Comm& comm = way.comm();
  for (int64_t distance = 1; distance < comm.size; distance *= 2) {
    way.receive(nothing, static_cast<int32_t>((comm.rank + comm.size - distance) % comm.size));
    way.send(nothing, static_cast<int32_t>((comm.rank + distance) % comm.size));
    way.fence();
  }
}

}  // namespace

template <class Way>
void barrier(Way& way) {
  const Block nothing{nullptr, 0, &byte_type};
  if (way.comm().size == 1) return;
  if (way.comm().size <= flat_limit) {
    flat(way, nothing);
  } else {
    dissemination(way, nothing);
  }
}

template void barrier(Schedule& way);

}  // namespace plan

int32_t barrier(Comm& comm) {
  if (comm.size == 1) return core::no_error;
  Channel channel(comm, Tag::barrier);
  plan::barrier(channel);
  return channel.finish();
}

}  // namespace weft::coll
