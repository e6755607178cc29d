// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0, 6.3 to 6.8: collective communication that moves data.
#include <mpi.h>

#include <cstdlib>

#include "coll/coll.hpp"
#include "mpi/check.hpp"
#include "mpi/functions.hpp"
#include "mpi/handles.hpp"

namespace weft::mpi {

namespace {

using coll::Array;
using coll::Block;
using coll::Blocks;

void* mutable_address(const void* buffer) {
  return const_cast<void*>(buffer);
}

// The blocks of all ranks as a call gives them: one count for all (the displacements are then not looked at), or
// arrays.
struct BlocksArgument {
  const void* buffer;
  Array counts;
  const void* displacements_given;  // to be checked, of the v forms
  Array displacements;
  MPI_Datatype datatype;

  Blocks with(Type& type) const {
    if (counts.is_uniform()) return {mutable_address(buffer), counts[0], type};
    return {mutable_address(buffer), counts, displacements, type};
  }
};

template <class Count, class Displacement>
BlocksArgument arrays(Check& check, const void* buffer, const Count* counts, const Displacement* displacements,
                      MPI_Datatype datatype) {
  check.array(counts, "the array of counts");
  check.array(displacements, "the array of displacements");
  return {buffer, Array(counts), displacements, Array(displacements), datatype};
}

BlocksArgument uniform(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  return {buffer, Array(int64_t{count}), nullptr, Array(), datatype};
}

Blocks take(Check& check, const BlocksArgument& all) {
  if (check.failed()) return {};
  Type* type = check.blocks(all.buffer, all.counts, all.datatype);
  return check.failed() ? Blocks() : all.with(*type);
}

Block take(Check& check, const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  if (check.failed()) return {};
  Type* type = check.data(buffer, count, datatype);
  return {mutable_address(buffer), count, type};
}

// A block of our own that is also part of what all ranks have, at `place`.
void check_apart(Check& check, const Block& mine, const Block& place) {
  if (check.failed() || mine.in_place() || !mine.type->contiguous || !place.type->contiguous) return;
  check.apart(mine.data, place.data, mine.count, mine.type);
}

int gather_blocks(Check& check, const void* buffer, MPI_Count count, MPI_Datatype datatype, const BlocksArgument& all,
                  int root) {
  check.root(root);
  if (check.failed()) return check.error();
  const bool is_root = check.comm().rank == root;
  Block mine;
  Blocks blocks;
  if (!is_root || buffer != MPI_IN_PLACE) mine = take(check, buffer, count, datatype);
  if (is_root) {
    blocks = take(check, all);
    if (!check.failed()) check_apart(check, mine, blocks[root]);
  }
  if (check.failed()) return check.error();
  return check.done(coll::gather(check.comm(), mine, blocks, root));
}

int scatter_blocks(Check& check, const BlocksArgument& all, void* buffer, MPI_Count count, MPI_Datatype datatype,
                   int root) {
  check.root(root);
  if (check.failed()) return check.error();
  const bool is_root = check.comm().rank == root;
  Block mine;
  Blocks blocks;
  if (!is_root || buffer != MPI_IN_PLACE) mine = take(check, buffer, count, datatype);
  if (is_root) {
    blocks = take(check, all);
    if (!check.failed()) check_apart(check, mine, blocks[root]);
  }
  if (check.failed()) return check.error();
  return check.done(coll::scatter(check.comm(), blocks, mine, root));
}

int allgather_blocks(Check& check, const void* buffer, MPI_Count count, MPI_Datatype datatype,
                     const BlocksArgument& all) {
  Block mine;
  if (buffer != MPI_IN_PLACE) mine = take(check, buffer, count, datatype);
  const Blocks blocks = take(check, all);
  if (!check.failed()) check_apart(check, mine, blocks[check.comm().rank]);
  if (check.failed()) return check.error();
  return check.done(coll::allgather(check.comm(), mine, blocks));
}

int alltoall_blocks(Check& check, const BlocksArgument& send, const BlocksArgument& receive) {
  const bool in_place = send.buffer == MPI_IN_PLACE;
  const Blocks from = in_place ? Blocks() : take(check, send);
  const Blocks to = take(check, receive);
  if (!check.failed() && !in_place) check_apart(check, from[check.comm().rank], to[check.comm().rank]);
  if (check.failed()) return check.error();
  return check.done(coll::alltoall(check.comm(), from, to));
}

// The types of all ranks, of MPI_Alltoallw.
class Types {
 public:
  Types() = default;
  Types(const Types&) = delete;
  Types& operator=(const Types&) = delete;
  ~Types() { free(types_); }

  // False when there is no memory.
  [[nodiscard]] bool take(Check& check, const void* buffer, const Array& counts, const MPI_Datatype datatypes[]) {
    const int32_t size = check.comm().size;
    types_ = static_cast<Type**>(calloc(static_cast<size_t>(size), sizeof(Type*)));
    if (types_ == nullptr) return false;
    for (int32_t r = 0; r < size && !check.failed(); ++r) types_[r] = check.data(buffer, counts[r], datatypes[r]);
    return true;
  }
  Type* const* get() const { return types_; }

 private:
  Type** types_ = nullptr;
};

template <class Count, class Displacement>
int alltoall_types(const void* sendbuf, const Count sendcounts[], const Displacement sdispls[],
                   const MPI_Datatype sendtypes[], void* recvbuf, const Count recvcounts[],
                   const Displacement rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  const char* function = "MPI_Alltoallw";
  Check check(function, comm);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  for (const void* array :
       {static_cast<const void*>(recvcounts), static_cast<const void*>(rdispls), static_cast<const void*>(recvtypes)}) {
    check.array(array, "an array of the receive side");
  }
  if (!in_place) {
    for (const void* array : {static_cast<const void*>(sendcounts), static_cast<const void*>(sdispls),
                              static_cast<const void*>(sendtypes)}) {
      check.array(array, "an array of the send side");
    }
  }
  if (check.failed()) return check.error();
  Types send, receive;
  if (!receive.take(check, recvbuf, Array(recvcounts), recvtypes) ||
      (!in_place && !send.take(check, sendbuf, Array(sendcounts), sendtypes))) {
    return no_memory(&check.comm(), function, "the types of all ranks");
  }
  if (check.failed()) return check.error();
  const Blocks to(recvbuf, Array(recvcounts), Array(rdispls), receive.get());
  Blocks from;
  if (!in_place) from = {mutable_address(sendbuf), Array(sendcounts), Array(sdispls), send.get()};
  return check.done(coll::alltoall(check.comm(), from, to));
}

}  // namespace

int barrier(MPI_Comm comm) {
  Check check("MPI_Barrier", comm);
  if (check.failed()) return check.error();
  return check.done(coll::barrier(check.comm()));
}

int bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  Check check("MPI_Bcast", comm);
  check.root(root);
  Type* type = check.data(buffer, count, datatype);
  if (check.failed()) return check.error();
  return check.done(coll::bcast(check.comm(), buffer, count, *type, root));
}

int gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
             MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Check check("MPI_Gather", comm);
  return gather_blocks(check, sendbuf, sendcount, sendtype, uniform(recvbuf, recvcount, recvtype), root);
}

// The arrays matter at the root alone, elsewhere they may be anything.
template <class Count, class Displacement>
static int gather_arrays(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         const Count recvcounts[], const Displacement displs[], MPI_Datatype recvtype, int root,
                         MPI_Comm comm) {
  Check check("MPI_Gatherv", comm);
  const bool is_root = !check.failed() && check.comm().rank == root;
  const BlocksArgument all =
      is_root ? arrays(check, recvbuf, recvcounts, displs, recvtype) : uniform(recvbuf, 0, recvtype);
  return gather_blocks(check, sendbuf, sendcount, sendtype, all, root);
}

int gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
            const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return gather_arrays(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
}

int gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return gather_arrays(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
}

int scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
              MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Check check("MPI_Scatter", comm);
  return scatter_blocks(check, uniform(sendbuf, sendcount, sendtype), recvbuf, recvcount, recvtype, root);
}

template <class Count, class Displacement>
static int scatter_arrays(const void* sendbuf, const Count sendcounts[], const Displacement displs[],
                          MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                          MPI_Comm comm) {
  Check check("MPI_Scatterv", comm);
  const bool is_root = !check.failed() && check.comm().rank == root;
  const BlocksArgument all =
      is_root ? arrays(check, sendbuf, sendcounts, displs, sendtype) : uniform(sendbuf, 0, sendtype);
  return scatter_blocks(check, all, recvbuf, recvcount, recvtype, root);
}

int scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return scatter_arrays(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
               void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return scatter_arrays(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                MPI_Datatype recvtype, MPI_Comm comm) {
  Check check("MPI_Allgather", comm);
  return allgather_blocks(check, sendbuf, sendcount, sendtype, uniform(recvbuf, recvcount, recvtype));
}

int allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
               const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  Check check("MPI_Allgatherv", comm);
  return allgather_blocks(check, sendbuf, sendcount, sendtype, arrays(check, recvbuf, recvcounts, displs, recvtype));
}

int allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  Check check("MPI_Allgatherv", comm);
  return allgather_blocks(check, sendbuf, sendcount, sendtype, arrays(check, recvbuf, recvcounts, displs, recvtype));
}

int alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
               MPI_Datatype recvtype, MPI_Comm comm) {
  Check check("MPI_Alltoall", comm);
  return alltoall_blocks(check, uniform(sendbuf, sendcount, sendtype), uniform(recvbuf, recvcount, recvtype));
}

template <class Count, class Displacement>
static int alltoall_arrays(const void* sendbuf, const Count sendcounts[], const Displacement sdispls[],
                           MPI_Datatype sendtype, void* recvbuf, const Count recvcounts[], const Displacement rdispls[],
                           MPI_Datatype recvtype, MPI_Comm comm) {
  Check check("MPI_Alltoallv", comm);
  const BlocksArgument from =
      sendbuf == MPI_IN_PLACE ? uniform(sendbuf, 0, sendtype) : arrays(check, sendbuf, sendcounts, sdispls, sendtype);
  return alltoall_blocks(check, from, arrays(check, recvbuf, recvcounts, rdispls, recvtype));
}

int alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
              const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoall_arrays(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

int alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
                void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                MPI_Comm comm) {
  return alltoall_arrays(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

int alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
              void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
              MPI_Comm comm) {
  return alltoall_types(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

int alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return alltoall_types(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

}  // namespace weft::mpi
