// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange.hpp"

#include "core/send_now.hpp"
#include "datatype/pack.hpp"

namespace weft::coll {

namespace {

constexpr Type make_byte_type() {
  Type type;
  type.kind = base::Kind::datatype;
  type.committed = type.contiguous = type.predefined = true;
  type.basic = datatype::Basic::byte;
  type.size = type.extent = type.true_extent = type.nest.block = 1;
  type.basic_count = 1;
  type.name = "MPI_BYTE";
  return type;
}

}  // namespace

constinit Type byte_type = make_byte_type();

core::Request* Channel::place(core::Role role, const Block& block) {
  if (newest_ - oldest_ == window) retire(requests_[oldest_++ % window]);
  core::Request* request = core::new_request(comm_, role);
  if (request == nullptr) {
    note(error_, core::no_memory);
    return nullptr;
  }
  core::set_buffer(*request, block.data, block.count, *block.type);
  return requests_[newest_++ % window] = request;
}

void Channel::retire(core::Request* request) {
  core::wait(*request);
  note(error_, request->error);
  core::free_request(request);
}

void Channel::start_send(const Block& block, int32_t to) {
  const uint32_t context = comm_.collective_context();
  if (block.type->contiguous && core::send_now(comm_, context, block.data, block.bytes(), to, tag_)) return;
  core::Request* request = place(core::Role::send, block);
  if (request != nullptr) core::start_send(*request, context, to, tag_);
}

void Channel::start_receive(const Block& block, int32_t from) {
  core::Request* request = place(core::Role::receive, block);
  if (request != nullptr) core::start_receive(*request, comm_.collective_context(), from, tag_);
}

int32_t Channel::finish() {
  while (oldest_ != newest_) retire(requests_[oldest_++ % window]);
  return error_;
}

int32_t copy_block(const Block& from, const Block& to) {
  const int64_t room = to.bytes();
  const int64_t bytes = from.bytes();
  datatype::copy(*from.type, from.count, from.data, *to.type, to.count, to.data, bytes < room ? bytes : room);
  return bytes > room ? core::truncated : core::no_error;
}

}  // namespace weft::coll
