// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/agree.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/p2p.hpp"
#include "core/tree.hpp"

namespace weft::mpi {
namespace {

int32_t send(const Team& team, int32_t to, const void* data, int64_t bytes) {
  const Team::Place place = team.place(to);
  return core::send(place.comm, place.context, data, bytes, byte_type, place.rank, team.tag);
}

int32_t receive(const Team& team, int32_t from, void* data, int64_t bytes) {
  const Team::Place place = team.place(from);
  return core::receive(place.comm, place.context, data, bytes, byte_type, place.rank, team.tag);
}

// The two go on together; the members may be reached over different communicators.
int32_t swap(const Team& team, int64_t distance, const void* out, int64_t out_bytes, void* in, int64_t in_bytes) {
  const Team::Place from = team.place(heard_from(team, distance));
  core::Request* request = core::new_request(from.comm, core::Role::receive);
  if (request == nullptr) return core::no_memory;
  core::set_buffer(*request, in, in_bytes, byte_type);
  core::start_receive(*request, from.context, from.rank, team.tag);
  const int32_t error = send(team, told_to(team, distance), out, out_bytes);
  core::wait(*request);
  const int32_t received = request->error;
  core::free_request(request);
  return error != core::no_error ? error : received;
}

}  // namespace

Team::Place Team::place(int32_t r) const {
  if (!parent.is_inter()) return {parent, context, ranks == nullptr ? r : ranks[r]};
  const int32_t here = r - our_side();
  if (here >= 0 && here < parent.local_size()) return {*parent.local, parent.local->collective_context(), here};
  return {parent, context, r - other_side()};
}

int32_t Team::job_rank(int32_t r) const {
  const Place at = place(r);
  return at.comm.job_rank(at.rank);
}

Team everybody(core::Comm& comm, int32_t tag) {
  Team team{comm, comm.size, comm.rank, nullptr, comm.collective_context(), tag};
  if (comm.is_inter()) {
    team.size += comm.local_size();
    team.rank += team.our_side();
  }
  return team;
}

// Dissemination: after each round a member knows the vote of twice as many members; meeting one twice does no harm, so
// the size need not be a power of two.
int32_t agree(const Team& team, Vote& vote) {
  for (int64_t distance = 1; distance < team.size; distance *= 2) {
    Vote other{};
    const int32_t error = swap(team, distance, &vote, sizeof vote, &other, sizeof other);
    if (error != core::no_error) return error;
    vote.take_in(other);
  }
  return core::no_error;
}

// Bruck's algorithm: blocks are collected in the order of our successors, then turned to the order of ranks.
int32_t gather_all(const Team& team, const void* mine, int64_t bytes, void* all) {
  auto width = static_cast<size_t>(bytes);
  std::vector<char> blocks(width * static_cast<size_t>(team.size));
  memcpy(blocks.data(), mine, width);
  for (int64_t have = 1; have < team.size; have *= 2) {
    const int64_t moved = std::min(have, team.size - have) * bytes;
    const int32_t error = swap(team, have, blocks.data(), moved, blocks.data() + have * bytes, moved);
    if (error != core::no_error) return error;
  }
  const size_t ours = width * static_cast<size_t>(team.rank);
  const size_t behind = blocks.size() - ours;
  memcpy(static_cast<char*>(all) + ours, blocks.data(), behind);
  memcpy(all, blocks.data() + behind, ours);
  return core::no_error;
}

int32_t spread(const Team& team, int32_t root, void* data, int64_t bytes) {
  const core::TreePlace place = core::tree_place(team.rank, team.size, root);
  int32_t error = core::no_error;
  if (place.above >= 0) error = receive(team, place.above, data, bytes);
  for (int32_t i = place.below; i-- > 0;) {  // the one with most below it first
    const int64_t to = (int64_t{team.rank} + (int64_t{1} << i)) % team.size;
    const int32_t sent = send(team, static_cast<int32_t>(to), data, bytes);
    if (error == core::no_error) error = sent;
  }
  return error;
}

}  // namespace weft::mpi
