// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0, 8.6 to 8.9: neighbourhood collective operations on virtual topologies, in their three forms.
#include <mpi.h>

#include <algorithm>

#include "coll/algorithm/neighbour.hpp"
#include "mpi/coll/collective.hpp"
#include "mpi/functions.hpp"

namespace weft::mpi {

namespace {

using coll::Block;
using coll::Blocks;
using coll::Schedule;
using core::Neighbours;

// The neighbours in the communicator of a call; nullptr, with the error raised, when the call is wrong.
const Neighbours* neighbours_of(CollCheck& check) {
  check.topology();
  return check.failed() ? nullptr : check.comm().neighbours;
}

int32_t number_of(const std::vector<int32_t>& ranks) {
  return static_cast<int32_t>(ranks.size());
}

int run_neighbour_allgather(const Form& form, const DataArgument& data, const BlocksArgument& receive, MPI_Comm comm) {
  if (may_be_on_device(comm)) [[unlikely]] {
    OnDevice there(form, comm);
    DataArgument mine = data;
    BlocksArgument to = receive;
    const Neighbours* around = there.comm() == nullptr ? nullptr : there.comm()->neighbours;
    const bool sent = there.take(mine, BufferUse::sent);
    if ((around != nullptr && there.take(to, number_of(around->sources), BufferUse::received)) || sent)
      return there.run([&] { return run_neighbour_allgather(there.form(), mine, to, comm); });
  }
  CollCheck check(form, comm);
  const Neighbours* neighbours = neighbours_of(check);
  if (neighbours == nullptr) return check.error();
  std::vector<Type*> types;
  const Block mine = take(check, data);
  const Blocks to = take(check, receive, number_of(neighbours->sources), types);
  const auto& others = neighbours->destinations;
  if (std::any_of(others.begin(), others.end(), [](int32_t rank) { return rank != MPI_PROC_NULL; }))
    check_apart(check, DataSide(mine), DataSide(to, neighbours->sources));
  if (check.failed()) return check.error();
  return perform(check, form, [&](Schedule& s) { coll::neighbour_allgather(s, *neighbours, mine, to); });
}

int run_neighbour_alltoall(const Form& form, const BlocksArgument& send, const BlocksArgument& receive, MPI_Comm comm) {
  if (may_be_on_device(comm)) [[unlikely]] {
    OnDevice there(form, comm);
    BlocksArgument from = send, to = receive;
    const Neighbours* around = there.comm() == nullptr ? nullptr : there.comm()->neighbours;
    const bool sent = around != nullptr && there.take(from, number_of(around->destinations), BufferUse::sent);
    if ((around != nullptr && there.take(to, number_of(around->sources), BufferUse::received)) || sent)
      return there.run([&] { return run_neighbour_alltoall(there.form(), from, to, comm); });
  }
  CollCheck check(form, comm);
  const Neighbours* neighbours = neighbours_of(check);
  if (neighbours == nullptr) return check.error();
  std::vector<Type*> send_types, receive_types;
  const Blocks from = take(check, send, number_of(neighbours->destinations), send_types);
  const Blocks to = take(check, receive, number_of(neighbours->sources), receive_types);
  check_apart(check, DataSide(from, neighbours->destinations), DataSide(to, neighbours->sources));
  if (check.failed()) return check.error();
  return perform(check, form, [&](Schedule& s) { coll::neighbour_alltoall(s, *neighbours, from, to); });
}

}  // namespace

int neighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return run_neighbour_allgather(blocking("MPI_Neighbor_allgather"), {sendbuf, sendcount, sendtype},
                                 uniform(recvbuf, recvcount, recvtype), comm);
}

int neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  return run_neighbour_allgather(blocking("MPI_Neighbor_allgatherv"), {sendbuf, sendcount, sendtype},
                                 arrays(recvbuf, recvcounts, displs, recvtype), comm);
}

int neighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  return run_neighbour_allgather(blocking("MPI_Neighbor_allgatherv"), {sendbuf, sendcount, sendtype},
                                 arrays(recvbuf, recvcounts, displs, recvtype), comm);
}

int neighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return run_neighbour_alltoall(blocking("MPI_Neighbor_alltoall"), uniform(sendbuf, sendcount, sendtype),
                                uniform(recvbuf, recvcount, recvtype), comm);
}

int neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                       void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                       MPI_Comm comm) {
  return run_neighbour_alltoall(blocking("MPI_Neighbor_alltoallv"), arrays(sendbuf, sendcounts, sdispls, sendtype),
                                arrays(recvbuf, recvcounts, rdispls, recvtype), comm);
}

int neighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                         MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                         MPI_Datatype recvtype, MPI_Comm comm) {
  return run_neighbour_alltoall(blocking("MPI_Neighbor_alltoallv"), arrays(sendbuf, sendcounts, sdispls, sendtype),
                                arrays(recvbuf, recvcounts, rdispls, recvtype), comm);
}

int neighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                       const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                       const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return run_neighbour_alltoall(blocking("MPI_Neighbor_alltoallw"), arrays(sendbuf, sendcounts, sdispls, sendtypes),
                                arrays(recvbuf, recvcounts, rdispls, recvtypes), comm);
}

int neighbor_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                         const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                         const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return run_neighbour_alltoall(blocking("MPI_Neighbor_alltoallw"), arrays(sendbuf, sendcounts, sdispls, sendtypes),
                                arrays(recvbuf, recvcounts, rdispls, recvtypes), comm);
}

int ineighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return run_neighbour_allgather(nonblocking("MPI_Ineighbor_allgather", request), {sendbuf, sendcount, sendtype},
                                 uniform(recvbuf, recvcount, recvtype), comm);
}

int ineighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Request* request) {
  return run_neighbour_allgather(nonblocking("MPI_Ineighbor_allgatherv", request), {sendbuf, sendcount, sendtype},
                                 arrays(recvbuf, recvcounts, displs, recvtype), comm);
}

int ineighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                           MPI_Request* request) {
  return run_neighbour_allgather(nonblocking("MPI_Ineighbor_allgatherv", request), {sendbuf, sendcount, sendtype},
                                 arrays(recvbuf, recvcounts, displs, recvtype), comm);
}

int ineighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return run_neighbour_alltoall(nonblocking("MPI_Ineighbor_alltoall", request), uniform(sendbuf, sendcount, sendtype),
                                uniform(recvbuf, recvcount, recvtype), comm);
}

int ineighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                        void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                        MPI_Comm comm, MPI_Request* request) {
  return run_neighbour_alltoall(nonblocking("MPI_Ineighbor_alltoallv", request),
                                arrays(sendbuf, sendcounts, sdispls, sendtype),
                                arrays(recvbuf, recvcounts, rdispls, recvtype), comm);
}

int ineighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                          MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return run_neighbour_alltoall(nonblocking("MPI_Ineighbor_alltoallv", request),
                                arrays(sendbuf, sendcounts, sdispls, sendtype),
                                arrays(recvbuf, recvcounts, rdispls, recvtype), comm);
}

int ineighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                        const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                        const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request) {
  return run_neighbour_alltoall(nonblocking("MPI_Ineighbor_alltoallw", request),
                                arrays(sendbuf, sendcounts, sdispls, sendtypes),
                                arrays(recvbuf, recvcounts, rdispls, recvtypes), comm);
}

int ineighbor_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                          const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                          const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                          MPI_Request* request) {
  return run_neighbour_alltoall(nonblocking("MPI_Ineighbor_alltoallw", request),
                                arrays(sendbuf, sendcounts, sdispls, sendtypes),
                                arrays(recvbuf, recvcounts, rdispls, recvtypes), comm);
}

int neighbor_allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                              MPI_Request* request) {
  return run_neighbour_allgather(persistent("MPI_Neighbor_allgather_init", info, request),
                                 {sendbuf, sendcount, sendtype}, uniform(recvbuf, recvcount, recvtype), comm);
}

int neighbor_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Info info, MPI_Request* request) {
  return run_neighbour_allgather(persistent("MPI_Neighbor_allgatherv_init", info, request),
                                 {sendbuf, sendcount, sendtype}, arrays(recvbuf, recvcounts, displs, recvtype), comm);
}

int neighbor_allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return run_neighbour_allgather(persistent("MPI_Neighbor_allgatherv_init", info, request),
                                 {sendbuf, sendcount, sendtype}, arrays(recvbuf, recvcounts, displs, recvtype), comm);
}

int neighbor_alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                             MPI_Request* request) {
  return run_neighbour_alltoall(persistent("MPI_Neighbor_alltoall_init", info, request),
                                uniform(sendbuf, sendcount, sendtype), uniform(recvbuf, recvcount, recvtype), comm);
}

int neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                            void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return run_neighbour_alltoall(persistent("MPI_Neighbor_alltoallv_init", info, request),
                                arrays(sendbuf, sendcounts, sdispls, sendtype),
                                arrays(recvbuf, recvcounts, rdispls, recvtype), comm);
}

int neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                              MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                              const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                              MPI_Request* request) {
  return run_neighbour_alltoall(persistent("MPI_Neighbor_alltoallv_init", info, request),
                                arrays(sendbuf, sendcounts, sdispls, sendtype),
                                arrays(recvbuf, recvcounts, rdispls, recvtype), comm);
}

int neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                            MPI_Request* request) {
  return run_neighbour_alltoall(persistent("MPI_Neighbor_alltoallw_init", info, request),
                                arrays(sendbuf, sendcounts, sdispls, sendtypes),
                                arrays(recvbuf, recvcounts, rdispls, recvtypes), comm);
}

int neighbor_alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                              const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                              const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                              MPI_Request* request) {
  return run_neighbour_alltoall(persistent("MPI_Neighbor_alltoallw_init", info, request),
                                arrays(sendbuf, sendcounts, sdispls, sendtypes),
                                arrays(recvbuf, recvcounts, rdispls, recvtypes), comm);
}

}  // namespace weft::mpi
