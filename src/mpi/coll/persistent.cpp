// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0, 6.13: persistent collective operations. Each is its blocking form with a request that MPI_Start starts.
#include <mpi.h>

#include "mpi/coll/collective.hpp"
#include "mpi/functions.hpp"

namespace weft::mpi {

int barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return run_barrier(persistent("MPI_Barrier_init", info, request), comm);
}

int bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
                 MPI_Request* request) {
  return run_bcast(persistent("MPI_Bcast_init", info, request), {buffer, count, datatype}, root, comm);
}

int gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return run_gather(persistent("MPI_Gather_init", info, request), {sendbuf, sendcount, sendtype},
                    uniform(recvbuf, recvcount, recvtype), root, comm);
}

int gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                 const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                 MPI_Request* request) {
  return run_gather(persistent("MPI_Gatherv_init", info, request), {sendbuf, sendcount, sendtype},
                    arrays(recvbuf, recvcounts, displs, recvtype), root, comm);
}

int gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return run_gather(persistent("MPI_Gatherv_init", info, request), {sendbuf, sendcount, sendtype},
                    arrays(recvbuf, recvcounts, displs, recvtype), root, comm);
}

int scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return run_scatter(persistent("MPI_Scatter_init", info, request), uniform(sendbuf, sendcount, sendtype),
                     {recvbuf, recvcount, recvtype}, root, comm);
}

int scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return run_scatter(persistent("MPI_Scatterv_init", info, request), arrays(sendbuf, sendcounts, displs, sendtype),
                     {recvbuf, recvcount, recvtype}, root, comm);
}

int scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
                    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                    MPI_Request* request) {
  return run_scatter(persistent("MPI_Scatterv_init", info, request), arrays(sendbuf, sendcounts, displs, sendtype),
                     {recvbuf, recvcount, recvtype}, root, comm);
}

int allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return run_allgather(persistent("MPI_Allgather_init", info, request), {sendbuf, sendcount, sendtype},
                       uniform(recvbuf, recvcount, recvtype), comm);
}

int allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return run_allgather(persistent("MPI_Allgatherv_init", info, request), {sendbuf, sendcount, sendtype},
                       arrays(recvbuf, recvcounts, displs, recvtype), comm);
}

int allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Info info, MPI_Request* request) {
  return run_allgather(persistent("MPI_Allgatherv_init", info, request), {sendbuf, sendcount, sendtype},
                       arrays(recvbuf, recvcounts, displs, recvtype), comm);
}

int alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return run_alltoall(persistent("MPI_Alltoall_init", info, request), uniform(sendbuf, sendcount, sendtype),
                      uniform(recvbuf, recvcount, recvtype), comm);
}

int alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                   MPI_Info info, MPI_Request* request) {
  return run_alltoall(persistent("MPI_Alltoallv_init", info, request), arrays(sendbuf, sendcounts, sdispls, sendtype),
                      arrays(recvbuf, recvcounts, rdispls, recvtype), comm);
}

int alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
                     void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return run_alltoall(persistent("MPI_Alltoallv_init", info, request), arrays(sendbuf, sendcounts, sdispls, sendtype),
                      arrays(recvbuf, recvcounts, rdispls, recvtype), comm);
}

int alltoallw_init(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                   void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return run_alltoall(persistent("MPI_Alltoallw_init", info, request), arrays(sendbuf, sendcounts, sdispls, sendtypes),
                      arrays(recvbuf, recvcounts, rdispls, recvtypes), comm);
}

int alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                     MPI_Request* request) {
  return run_alltoall(persistent("MPI_Alltoallw_init", info, request), arrays(sendbuf, sendcounts, sdispls, sendtypes),
                      arrays(recvbuf, recvcounts, rdispls, recvtypes), comm);
}

int reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                  MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return run_reduce(persistent("MPI_Reduce_init", info, request), {sendbuf, recvbuf, datatype, op}, count, root, comm);
}

int allreduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return run_allreduce(persistent("MPI_Allreduce_init", info, request), {sendbuf, recvbuf, datatype, op}, count, comm);
}

int reduce_scatter_init(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return run_reduce_scatter(persistent("MPI_Reduce_scatter_init", info, request), {sendbuf, recvbuf, datatype, op},
                            by_rank(recvcounts), comm);
}

int reduce_scatter_init_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                          MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return run_reduce_scatter(persistent("MPI_Reduce_scatter_init", info, request), {sendbuf, recvbuf, datatype, op},
                            by_rank(recvcounts), comm);
}

int reduce_scatter_block_init_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return run_reduce_scatter(persistent("MPI_Reduce_scatter_block_init", info, request),
                            {sendbuf, recvbuf, datatype, op}, same(recvcount), comm);
}

int scan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                MPI_Info info, MPI_Request* request) {
  return run_scan(persistent("MPI_Scan_init", info, request), {sendbuf, recvbuf, datatype, op}, count, comm);
}

int exscan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                  MPI_Info info, MPI_Request* request) {
  return run_exscan(persistent("MPI_Exscan_init", info, request), {sendbuf, recvbuf, datatype, op}, count, comm);
}

}  // namespace weft::mpi
