// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/coll/arguments.hpp"

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

void CollCheck::tell_all(const Teller& self, Account& account) {
  const auto& mine = static_cast<const CollCheck&>(self);
  account = {.kind = WaitKind::collective, .call = mine.function_, .comm = mine.comm_};
  if (mine.comm_ != nullptr) account.name = name_comm;
  account.root = mine.past_->root;
  account.bytes = mine.past_->bytes;
  account.order = mine.past_->order;
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
    count(counts[i]);
    if (counts[i] > most) most = counts[i];
    if (counts.is_uniform()) break;
  }
  return data({buffer, most, datatype});
}

void CollCheck::apart(const void* send, const void* receive, MPI_Count count, const Type* type) {
  if (failed() || send != receive || send == MPI_BOTTOM || count * type->size == 0) [[likely]]
    return;
  fail(MPI_ERR_BUFFER, "the send and the receive buffer are the same memory: give MPI_IN_PLACE where it is allowed");
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

void check_apart(CollCheck& check, const Block& mine, const Block& place) {
  if (check.failed() || mine.in_place() || !mine.type->contiguous || !place.type->contiguous) return;
  check.apart(mine.data, place.data, mine.count, mine.type);
}

}  // namespace weft::mpi
