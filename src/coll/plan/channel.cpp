// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/plan/channel.hpp"

#include <cstring>

#include "base/copy.hpp"
#include "core/message/send_now.hpp"
#include "datatype/pack.hpp"

namespace weft::coll {

core::Request* Channel::place(core::Role role, Comm& comm, const Block& block) {
  if (newest_ - oldest_ == window) retire(requests_[oldest_++ % window]);
  core::Request* request = core::new_request(comm, role);
  if (request == nullptr) {
    note(error_, core::no_memory);
    return nullptr;
  }
  core::set_buffer(*request, block.data, block.count, *block.type);
  return requests_[newest_++ % window] = request;
}

void Channel::retire(core::Request* request) {
  core::wait(*request);
  if (request->error != core::no_error) [[unlikely]]
    note_failed(*request);
  core::free_request(request);
}

void Channel::note_failed(const core::Request& request) {
  note(error_, request.error);
  if (request.error == core::truncated) comm_.truncation = {request.source, request.limit, request.bytes};
}

void Channel::send(const Block& block, const Member& to) {
  const uint32_t context = context_of(to);
  if (block.type->contiguous && core::send_now(*to.comm, context, block.data, block.bytes(), to.rank, tag_)) return;
  core::Request* request = place(core::Role::send, *to.comm, block);
  if (request == nullptr) return;
  request->flags.awaited = true;
  core::start_send(*request, context, to.rank, tag_);
}

void Channel::receive(const Block& block, const Member& from) {
  core::Request* request = place(core::Role::receive, *from.comm, block);
  if (request != nullptr) core::start_receive(*request, context_of(from), from.rank, tag_);
}

void Channel::fence() {
  while (oldest_ != newest_) retire(requests_[oldest_++ % window]);
}

int32_t Channel::finish() {
  fence();
  return error_;
}

void Channel::copy(const Block& from, const Block& to) {
  const int32_t error = copy_block(from, to);
  note(error_, error);
  if (error == core::truncated) [[unlikely]]
    comm_.truncation = {comm_.rank, from.bytes(), to.bytes()};
}

void* Channel::bytes(int64_t size) {
  void* memory = scratch_.bytes(size);
  if (memory == nullptr) note(error_, core::no_memory);
  return memory;
}

void* Channel::elements(const Type& type, int64_t count) {
  const ElementSpan span = span_of(type, count);
  void* memory = bytes(span.bytes);
  return memory == nullptr ? nullptr : span.origin(memory);
}

int32_t copy_block(const Block& from, const Block& to) {
  const int64_t room = to.bytes();
  const int64_t bytes = from.bytes();
  const int64_t moved = bytes < room ? bytes : room;
  if (moved == 0) return bytes > room ? core::truncated : core::no_error;
  if (from.type->contiguous && to.type->contiguous) {
    base::copy(to.data, from.data, static_cast<size_t>(moved));
  } else {
    datatype::copy_on_host(*from.type, from.count, from.data, *to.type, to.count, to.data, moved);
  }
  return bytes > room ? core::truncated : core::no_error;
}

}  // namespace weft::coll
