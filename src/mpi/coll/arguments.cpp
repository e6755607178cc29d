// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/coll/arguments.hpp"

#include <algorithm>
#include <utility>

#include "mpi/env/info.hpp"
#include "mpi/p2p/p2p.hpp"

namespace weft::mpi {

CollCheck::CollCheck(const Form& form, MPI_Comm comm) : Check(form.function, comm), Teller(tell_all) {
  *past_ = {function_, 0, 0, -1, -1};
  if (!failed()) {
    past_->context = comm_->context;
    past_->order = ++comm_->collectives;
  }
  if (form.is_blocking()) return;
  pointer(form.request, "request");
  if (!failed() && form.info != MPI_INFO_NULL && info_of(form.info) == nullptr)
    error_ = bad_info(comm_, function_, form.info);
}

void CollCheck::tell_all(const Teller& self, WaitRecord& wait_record) {
  const auto& mine = static_cast<const CollCheck&>(self);
  wait_record = {.kind = WaitKind::collective, .call = mine.function_, .comm = mine.comm_};
  if (mine.comm_ != nullptr) wait_record.name = name_comm;
  wait_record.root = mine.past_->root;
  wait_record.bytes = mine.past_->bytes;
  wait_record.order = mine.past_->order;
}

Type* CollCheck::data(const DataArgument& data) {
  int64_t bytes = 0;
  Type* type = elements(data, bytes);
  no_in_place(data.buffer, "here");
  if (type != nullptr) buffer(data.buffer, bytes, *type);
  past_->bytes = bytes;
  return type;
}

Type* CollCheck::blocks(const void* buffer, const coll::Array& counts, int32_t number, MPI_Datatype datatype) {
  MPI_Count most = 0;
  for (int32_t i = 0; i < number && !failed(); ++i) {
    const MPI_Count each = counts[i];
    if (each < 0) [[unlikely]]
      count(each);
    if (each > most) most = each;
    if (counts.is_uniform()) break;
  }
  return data({buffer, most, datatype});
}

void CollCheck::compare_elements(const void* send, MPI_Count sent, const void* receive, MPI_Count received,
                                 const Type& type) {
  // The gap in a predefined pair is too small for another pair.
  const auto elements = [&type](const void* buffer, MPI_Count count) -> Filled {
    if (!type.predefined || count == 0) return filled(buffer, count, type);
    const uint64_t others = static_cast<uint64_t>(count - 1) * static_cast<uint64_t>(type.extent);
    return {reinterpret_cast<uintptr_t>(buffer), others + static_cast<uint64_t>(type.true_extent)};
  };
  const Filled from = elements(send, sent), to = elements(receive, received);
  if (overlap(from, to)) fail_overlap(from, to);
}

void CollCheck::fail_overlap(const Filled& send, const Filled& receive) {
  const bool local = comm_ == nullptr;  // MPI_Reduce_local
  fail(MPI_ERR_BUFFER, "%s: give each its own memory%s",
       overlap_text(local ? "inbuf" : "sendbuf", send, local ? "inoutbuf" : "recvbuf", receive).c_str(),
       local ? "" : ", or MPI_IN_PLACE where it is allowed");
}

void CollCheck::one_group() {
  if (failed() || !comm_->is_inter()) [[likely]]
    return;
  fail(MPI_ERR_COMM, "%s is an intercommunicator: this operation is not defined on it", comm_text(*comm_).c_str());
}

void CollCheck::topology() {
  if (failed() || comm_->neighbours != nullptr) [[likely]]
    return;
  fail(MPI_ERR_TOPOLOGY, "%s has no virtual topology, so it has no neighbours", comm_text(*comm_).c_str());
}

int CollCheck::done(int32_t error) {
  if (error == core::no_error) [[likely]]
    return MPI_SUCCESS;
  return fail_completed(function_, {comm_, error, true, 0, std::exchange(comm_->truncation, {})});
}

using coll::Block;
using coll::Blocks;

namespace {

void* mutable_address(const void* buffer) {
  return const_cast<void*>(buffer);
}

// A type for each block, and displacements in bytes: with MPI_BOTTOM they are addresses.
Blocks take_typed(CollCheck& check, const BlocksArgument& all, int32_t number, std::vector<Type*>& types) {
  check.no_in_place(all.buffer, "here");
  types.resize(static_cast<size_t>(number));
  for (int32_t i = 0; i < number && !check.failed(); ++i) {
    const uintptr_t place = reinterpret_cast<uintptr_t>(all.buffer) + static_cast<uintptr_t>(all.displacements[i]);
    types[static_cast<size_t>(i)] = check.data({reinterpret_cast<void*>(place), all.counts[i], all.datatypes[i]});
  }
  return {mutable_address(all.buffer), all.counts, all.displacements, types.data()};
}

}  // namespace

Block take(CollCheck& check, const DataArgument& mine) {
  if (check.failed()) return {};
  Type* type = check.data(mine);
  return {mutable_address(mine.buffer), mine.count, type};
}

Blocks take(CollCheck& check, const BlocksArgument& all, int32_t number, std::vector<Type*>& types) {
  if (!all.complete && number > 0) check.pointer(nullptr, "an array of counts, displacements or types");
  if (check.failed()) return {};
  if (all.typed) return take_typed(check, all, number, types);
  Type* type = check.blocks(all.buffer, all.counts, number, all.datatype);
  if (check.failed()) return {};
  if (!all.by_rank) return {mutable_address(all.buffer), all.counts[0], *type};
  return {mutable_address(all.buffer), all.counts, all.displacements, *type};
}

namespace {

// From the first to the last byte of a side.
struct SideSpan {
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
};
SideSpan span_of(const DataSide& side) {
  SideSpan span;
  side.visit([&span](const Filled& memory) {
    span.begin = std::min(span.begin, memory.begin);
    span.end = std::max(span.end, memory.end());
  });
  return span;
}

// The blocks of one side lie between those of the other, or overlap them.
[[gnu::cold, gnu::noinline]] void compare_blocks(CollCheck& check, const DataSide& send, const DataSide& receive) {
  std::vector<Filled> to;
  receive.visit([&to](const Filled& memory) { to.push_back(memory); });
  std::sort(to.begin(), to.end(), [](const Filled& a, const Filled& b) { return a.begin < b.begin; });
  send.visit([&](const Filled& from) {
    if (check.failed()) return;
    auto next = std::upper_bound(to.begin(), to.end(), from.begin,
                                 [](uintptr_t begin, const Filled& memory) { return begin < memory.begin; });
    if (next != to.begin() && overlap(from, next[-1])) --next;
    if (next != to.end() && overlap(from, *next)) check.fail_overlap(from, *next);
  });
}

}  // namespace

void check_each_apart(CollCheck& check, const DataSide& send, const DataSide& receive) {
  const SideSpan from = span_of(send), to = span_of(receive);
  if (from.begin < to.end && to.begin < from.end) [[unlikely]]
    compare_blocks(check, send, receive);
}

}  // namespace weft::mpi
