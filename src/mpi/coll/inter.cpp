// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Collective operations on intercommunicators (MPI-5.0, 6.2.3): data flows between the groups, never inside one, so
// nothing is in place. The blocks of all ranks are the other group's.
#include "coll/algorithm/inter.hpp"

#include "mpi/coll/collective.hpp"

namespace weft::mpi {

namespace {

using coll::Block;
using coll::Blocks;
using coll::Reducer;
using coll::Schedule;
using coll::inter::RootPart;

RootPart part_of(CollCheck& check, int root) {
  check.root(root);
  if (root == MPI_ROOT) return {RootPart::RootRole::root, 0};
  if (root == MPI_PROC_NULL) return {RootPart::RootRole::beside_root, 0};
  return {RootPart::RootRole::opposite, root};
}

// The arguments that a part gives a meaning: the others are not looked at.
Block own_block(CollCheck& check, const RootPart& part, const DataArgument& mine) {
  return part.kind == RootPart::RootRole::opposite ? take(check, mine) : Block();
}
Blocks all_blocks(CollCheck& check, const RootPart& part, const BlocksArgument& all, std::vector<Type*>& types) {
  return part.kind == RootPart::RootRole::root ? take(check, all, check.comm().size, types) : Blocks();
}

Type* take_buffers(CollCheck& check, const ReductionArgument& data, MPI_Count count) {
  Type* type = check.data({data.receive, count, data.datatype});
  check.data({data.send, count, data.datatype});
  check.apart(data.send, count, data.receive, count, type);
  return type;
}

}  // namespace

int barrier_between(CollCheck& check, const Form& form) {
  return perform(check, form, [](Schedule& s) { coll::inter::barrier(s); });
}

int bcast_between(CollCheck& check, const Form& form, const DataArgument& data, int root) {
  const RootPart part = part_of(check, root);
  const Block block = part.kind == RootPart::RootRole::beside_root ? Block{nullptr, 0, &byte_type} : take(check, data);
  if (check.failed()) return check.error();
  return perform(check, form, [&](Schedule& s) { coll::inter::bcast(s, block, part); });
}

int gather_between(CollCheck& check, const Form& form, const DataArgument& data, const BlocksArgument& all, int root) {
  const RootPart part = part_of(check, root);
  const Block mine = own_block(check, part, data);
  std::vector<Type*> types;
  const Blocks blocks = all_blocks(check, part, all, types);
  if (check.failed()) return check.error();
  return perform(check, form, [&](Schedule& s) { coll::inter::gather(s, mine, blocks, part); });
}

int scatter_between(CollCheck& check, const Form& form, const BlocksArgument& all, const DataArgument& data, int root) {
  const RootPart part = part_of(check, root);
  const Block mine = own_block(check, part, data);
  std::vector<Type*> types;
  const Blocks blocks = all_blocks(check, part, all, types);
  if (check.failed()) return check.error();
  return perform(check, form, [&](Schedule& s) { coll::inter::scatter(s, blocks, mine, part); });
}

int allgather_between(CollCheck& check, const Form& form, const DataArgument& data, const BlocksArgument& all) {
  const Block mine = take(check, data);
  std::vector<Type*> types;
  const Blocks blocks = take(check, all, check.comm().size, types);
  check_apart(check, DataSide(mine), DataSide(blocks, check.comm().size));
  if (check.failed()) return check.error();
  return perform(check, form, [&](Schedule& s) { coll::inter::allgather(s, mine, blocks); });
}

int alltoall_between(CollCheck& check, const Form& form, const BlocksArgument& send, const BlocksArgument& receive) {
  std::vector<Type*> send_types, receive_types;
  const Blocks from = take(check, send, check.comm().size, send_types);
  const Blocks to = take(check, receive, check.comm().size, receive_types);
  check_apart(check, DataSide(from, check.comm().size), DataSide(to, check.comm().size));
  if (check.failed()) return check.error();
  return perform(check, form, [&](Schedule& s) { coll::inter::alltoall(s, from, to); });
}

int reduce_between(CollCheck& check, const Form& form, const ReductionArgument& data, MPI_Count count, int root) {
  const RootPart part = part_of(check, root);
  if (check.failed()) return check.error();
  if (part.kind == RootPart::RootRole::beside_root) return perform(check, form, [](Schedule&) {});
  OpReducer reducer;
  Type* type = check.data({part.kind == RootPart::RootRole::root ? data.receive : data.send, count, data.datatype});
  check.reducer(reducer, data.op, type, data.datatype);
  if (check.failed()) return check.error();
  return perform(check, form, reducer, [&](Schedule& s, const Reducer& r) {
    coll::inter::reduce(s, data.send, data.receive, count, r, part);
  });
}

int allreduce_between(CollCheck& check, const Form& form, const ReductionArgument& data, MPI_Count count) {
  OpReducer reducer;
  Type* type = take_buffers(check, data, count);
  check.reducer(reducer, data.op, type, data.datatype);
  if (check.failed()) return check.error();
  return perform(check, form, reducer,
                 [&](Schedule& s, const Reducer& r) { coll::inter::allreduce(s, data.send, data.receive, count, r); });
}

int reduce_scatter_between(CollCheck& check, const Form& form, const ReductionArgument& data,
                           const CountsArgument& parts) {
  const coll::Array& counts = parts.counts;
  const int32_t ours = check.comm().local_size();
  Type* type = check.blocks(data.send, counts, ours, data.datatype);
  if (!check.failed()) check.data({data.receive, counts[check.comm().rank], data.datatype});
  if (!check.failed()) check.apart(data.send, parts.total(ours), data.receive, counts[check.comm().rank], type);
  OpReducer reducer;
  check.reducer(reducer, data.op, type, data.datatype);
  if (check.failed()) return check.error();
  return perform(check, form, reducer, [&](Schedule& s, const Reducer& r) {
    coll::inter::reduce_scatter(s, data.send, data.receive, counts, r);
  });
}

}  // namespace weft::mpi
