// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0, 6.3 to 6.8: collective communication that moves data; the blocking functions.
#include "mpi/coll/collective.hpp"

#include <mpi.h>

#include "coll/coll.hpp"
#include "coll/plan/plan.hpp"
#include "mpi/functions.hpp"

namespace weft::mpi {

using coll::Block;
using coll::Blocks;
using coll::Schedule;

namespace {

// The root's arguments, as the other ranks know them: how large all ranks' blocks are.
Blocks sized_as(const Block& mine) {
  return {nullptr, mine.count, *mine.type};
}

}  // namespace

int run_barrier(const Form& form, MPI_Comm comm) {
  CollCheck check(form, comm);
  if (check.failed()) return check.error();
  if (check.comm().is_inter()) return barrier_between(check, form);
  if (form.is_blocking()) return check.done(coll::barrier(check.comm()));
  return launch(check, form, [](Schedule& s) { coll::plan::barrier(s); });
}

int run_bcast(const Form& form, const DataArgument& data, int root, MPI_Comm comm) {
  if (may_be_on_device(comm)) [[unlikely]] {
    OnDevice there(form, comm);
    DataArgument all = data;
    if (there.take(all, there.is_root(root) ? BufferUse::sent : BufferUse::received))
      return there.run([&] { return run_bcast(there.form(), all, root, comm); });
  }
  CollCheck check(form, comm);
  if (check.failed()) return check.error();
  if (check.comm().is_inter()) return bcast_between(check, form, data, root);
  check.root(root);
  const Block block = take(check, data);
  if (check.failed()) return check.error();
  if (form.is_blocking()) return check.done(coll::bcast(check.comm(), block.data, block.count, *block.type, root));
  return launch(check, form, [&](Schedule& s) { coll::plan::bcast(s, block, root); });
}

int run_gather(const Form& form, const DataArgument& data, const BlocksArgument& all, int root, MPI_Comm comm) {
  if (may_be_on_device(comm)) [[unlikely]] {
    OnDevice there(form, comm);
    DataArgument mine = data;
    BlocksArgument blocks = all;
    const bool sent = there.take(mine, BufferUse::sent);
    if ((there.is_root(root) && there.take(blocks, there.size(), BufferUse::received)) || sent)
      return there.run([&] { return run_gather(there.form(), mine, blocks, root, comm); });
  }
  CollCheck check(form, comm);
  if (check.failed()) return check.error();
  if (check.comm().is_inter()) return gather_between(check, form, data, all, root);
  check.root(root);
  if (check.failed()) return check.error();
  const bool is_root = check.comm().rank == root;
  Block mine;
  Blocks blocks;
  std::vector<Type*> types;
  if (!is_root || data.buffer != MPI_IN_PLACE) mine = take(check, data);
  if (is_root) {
    blocks = take(check, all, check.comm().size, types);
    check_apart(check, DataSide(mine), DataSide(blocks, check.comm().size));
  } else if (!all.by_rank && !check.failed()) {
    blocks = sized_as(mine);
  }
  if (check.failed()) return check.error();
  if (form.is_blocking()) return check.done(coll::gather(check.comm(), mine, blocks, root));
  return launch(check, form, [&](Schedule& s) { coll::plan::gather(s, mine, blocks, root); });
}

int run_scatter(const Form& form, const BlocksArgument& all, const DataArgument& data, int root, MPI_Comm comm) {
  if (may_be_on_device(comm)) [[unlikely]] {
    OnDevice there(form, comm);
    DataArgument mine = data;
    BlocksArgument blocks = all;
    const bool received = there.take(mine, BufferUse::received);
    if ((there.is_root(root) && there.take(blocks, there.size(), BufferUse::sent)) || received)
      return there.run([&] { return run_scatter(there.form(), blocks, mine, root, comm); });
  }
  CollCheck check(form, comm);
  if (check.failed()) return check.error();
  if (check.comm().is_inter()) return scatter_between(check, form, all, data, root);
  check.root(root);
  if (check.failed()) return check.error();
  const bool is_root = check.comm().rank == root;
  Block mine;
  Blocks blocks;
  std::vector<Type*> types;
  if (!is_root || data.buffer != MPI_IN_PLACE) mine = take(check, data);
  if (is_root) {
    blocks = take(check, all, check.comm().size, types);
    check_apart(check, DataSide(blocks, check.comm().size), DataSide(mine));
  } else if (!all.by_rank && !check.failed()) {
    blocks = sized_as(mine);
  }
  if (check.failed()) return check.error();
  if (form.is_blocking()) return check.done(coll::scatter(check.comm(), blocks, mine, root));
  return launch(check, form, [&](Schedule& s) { coll::plan::scatter(s, blocks, mine, root); });
}

int run_allgather(const Form& form, const DataArgument& data, const BlocksArgument& all, MPI_Comm comm) {
  if (may_be_on_device(comm)) [[unlikely]] {
    OnDevice there(form, comm);
    DataArgument mine = data;
    BlocksArgument blocks = all;
    const bool sent = there.take(mine, BufferUse::sent);
    if (there.take(blocks, there.size(), BufferUse::received) || sent)
      return there.run([&] { return run_allgather(there.form(), mine, blocks, comm); });
  }
  CollCheck check(form, comm);
  if (check.failed()) return check.error();
  if (check.comm().is_inter()) return allgather_between(check, form, data, all);
  Block mine;
  if (data.buffer != MPI_IN_PLACE) mine = take(check, data);
  std::vector<Type*> types;
  const Blocks blocks = take(check, all, check.comm().size, types);
  check_apart(check, DataSide(mine), DataSide(blocks, check.comm().size));
  if (check.failed()) return check.error();
  if (form.is_blocking()) return check.done(coll::allgather(check.comm(), mine, blocks));
  return launch(check, form, [&](Schedule& s) { coll::plan::allgather(s, mine, blocks); });
}

int run_alltoall(const Form& form, const BlocksArgument& send, const BlocksArgument& receive, MPI_Comm comm) {
  if (may_be_on_device(comm)) [[unlikely]] {
    OnDevice there(form, comm);
    BlocksArgument from = send, to = receive;
    const bool sent = there.take(from, there.size(), BufferUse::sent);
    if (there.take(to, there.size(), BufferUse::received) || sent)
      return there.run([&] { return run_alltoall(there.form(), from, to, comm); });
  }
  CollCheck check(form, comm);
  if (check.failed()) return check.error();
  if (check.comm().is_inter()) return alltoall_between(check, form, send, receive);
  const Comm& c = check.comm();
  const bool in_place = send.buffer == MPI_IN_PLACE;
  std::vector<Type*> send_types, receive_types;
  Blocks from;
  if (!in_place) from = take(check, send, c.size, send_types);
  const Blocks to = take(check, receive, c.size, receive_types);
  check_apart(check, DataSide(from, c.size), DataSide(to, c.size));
  if (check.failed()) return check.error();
  if (form.is_blocking()) return check.done(coll::alltoall(check.comm(), from, to));
  return launch(check, form, [&](Schedule& s) { coll::plan::alltoall(s, from, to); });
}

int barrier(MPI_Comm comm) {
  return run_barrier(blocking("MPI_Barrier"), comm);
}

int bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return run_bcast(blocking("MPI_Bcast"), {buffer, count, datatype}, root, comm);
}

int gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
             MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return run_gather(blocking("MPI_Gather"), {sendbuf, sendcount, sendtype}, uniform(recvbuf, recvcount, recvtype), root,
                    comm);
}

int gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
            const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return run_gather(blocking("MPI_Gatherv"), {sendbuf, sendcount, sendtype},
                    arrays(recvbuf, recvcounts, displs, recvtype), root, comm);
}

int gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return run_gather(blocking("MPI_Gatherv"), {sendbuf, sendcount, sendtype},
                    arrays(recvbuf, recvcounts, displs, recvtype), root, comm);
}

int scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
              MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return run_scatter(blocking("MPI_Scatter"), uniform(sendbuf, sendcount, sendtype), {recvbuf, recvcount, recvtype},
                     root, comm);
}

int scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return run_scatter(blocking("MPI_Scatterv"), arrays(sendbuf, sendcounts, displs, sendtype),
                     {recvbuf, recvcount, recvtype}, root, comm);
}

int scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
               void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return run_scatter(blocking("MPI_Scatterv"), arrays(sendbuf, sendcounts, displs, sendtype),
                     {recvbuf, recvcount, recvtype}, root, comm);
}

int allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                MPI_Datatype recvtype, MPI_Comm comm) {
  return run_allgather(blocking("MPI_Allgather"), {sendbuf, sendcount, sendtype}, uniform(recvbuf, recvcount, recvtype),
                       comm);
}

int allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
               const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  return run_allgather(blocking("MPI_Allgatherv"), {sendbuf, sendcount, sendtype},
                       arrays(recvbuf, recvcounts, displs, recvtype), comm);
}

int allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  return run_allgather(blocking("MPI_Allgatherv"), {sendbuf, sendcount, sendtype},
                       arrays(recvbuf, recvcounts, displs, recvtype), comm);
}

int alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
               MPI_Datatype recvtype, MPI_Comm comm) {
  return run_alltoall(blocking("MPI_Alltoall"), uniform(sendbuf, sendcount, sendtype),
                      uniform(recvbuf, recvcount, recvtype), comm);
}

int alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
              const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return run_alltoall(blocking("MPI_Alltoallv"), arrays(sendbuf, sendcounts, sdispls, sendtype),
                      arrays(recvbuf, recvcounts, rdispls, recvtype), comm);
}

int alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
                void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                MPI_Comm comm) {
  return run_alltoall(blocking("MPI_Alltoallv"), arrays(sendbuf, sendcounts, sdispls, sendtype),
                      arrays(recvbuf, recvcounts, rdispls, recvtype), comm);
}

int alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
              void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
              MPI_Comm comm) {
  return run_alltoall(blocking("MPI_Alltoallw"), arrays(sendbuf, sendcounts, sdispls, sendtypes),
                      arrays(recvbuf, recvcounts, rdispls, recvtypes), comm);
}

int alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return run_alltoall(blocking("MPI_Alltoallw"), arrays(sendbuf, sendcounts, sdispls, sendtypes),
                      arrays(recvbuf, recvcounts, rdispls, recvtypes), comm);
}

}  // namespace weft::mpi
