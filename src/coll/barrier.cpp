// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/coll.hpp"
#include "coll/exchange.hpp"

namespace weft::coll {

namespace {

// Below this, all ranks sign in at rank 0 and are let go by it: every other rank is switched to twice at most, which is
// what counts when ranks outnumber cores. Beyond, rank 0 would be the bottleneck.
constexpr int32_t flat_limit = 32;

int32_t flat(Comm& comm) {
  Channel channel(comm, Tag::barrier);
  if (comm.rank != 0) {
    channel.send(nullptr, 0, byte_type, 0);
    channel.receive(nullptr, 0, byte_type, 0);
    return channel.error();
  }
  const Block nothing{nullptr, 0, &byte_type};
  for (int32_t r = 1; r < comm.size; ++r) channel.start_receive(nothing, r);
  if (int32_t error = channel.finish(); error == core::no_memory) return error;
  for (int32_t r = 1; r < comm.size; ++r) channel.start_send(nothing, r);
  return channel.finish();
}

// Round k: a sign to the rank 2^k above, and one from the rank 2^k below.
int32_t dissemination(Comm& comm) {
  Channel channel(comm, Tag::barrier);
  for (int64_t distance = 1; distance < comm.size; distance *= 2) {
    const auto to = static_cast<int32_t>((comm.rank + distance) % comm.size);
    const auto from = static_cast<int32_t>((comm.rank + comm.size - distance) % comm.size);
    channel.swap(nullptr, 0, byte_type, to, nullptr, 0, byte_type, from);
  }
  return channel.error();
}

}  // namespace

int32_t barrier(Comm& comm) {
  if (comm.size == 1) return core::no_error;
  return comm.size <= flat_limit ? flat(comm) : dissemination(comm);
}

}  // namespace weft::coll
