// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/route.hpp"

namespace weft::mpi {
namespace {

// A send or receive of this step; nullptr when there is no memory.
core::Request* post(const Team& team, core::Role role, void* data, size_t bytes, int32_t partner) {
  const Team::Place place = team.place(partner);
  core::Request* r = core::new_request(place.comm, role);
  if (r == nullptr) return nullptr;
  core::set_buffer(*r, data, static_cast<int64_t>(bytes), byte_type);
  if (role == core::Role::send) {
    core::start_send(*r, place.context, place.rank, team.tag);
  } else {
    core::start_receive(*r, place.context, place.rank, team.tag);
  }
  return r;
}

int32_t finish(core::Request* r) {
  if (r == nullptr) return core::no_memory;
  core::wait(*r);
  const int32_t error = r->error;
  core::free_request(r);
  return error;
}

void note(int32_t& error, int32_t step) {
  if (error == core::no_error) error = step;
}

int32_t receive_now(const Team& team, void* data, size_t bytes, int32_t from) {
  return finish(post(team, core::Role::receive, data, bytes, from));
}

}  // namespace

// The size first, then the bytes: both keep their order, as messages of one source and tag do.
int32_t route_step(const Team& team, const std::vector<char>& out, int32_t to, const int32_t (&from)[2],
                   std::vector<char>& in) {
  uint64_t size = out.size();
  core::Request* sizes = post(team, core::Role::send, &size, sizeof size, to);
  core::Request* data =
      size == 0 ? nullptr : post(team, core::Role::send, const_cast<char*>(out.data()), out.size(), to);
  int32_t error = core::no_error;
  for (int32_t source : from) {
    if (source < 0) continue;
    uint64_t coming = 0;
    note(error, receive_now(team, &coming, sizeof coming, source));
    if (coming == 0) continue;
    const size_t before = in.size();
    in.resize(before + coming);
    note(error, receive_now(team, in.data() + before, coming, source));
  }
  note(error, finish(sizes));
  if (size > 0) note(error, finish(data));
  return error;
}

}  // namespace weft::mpi
