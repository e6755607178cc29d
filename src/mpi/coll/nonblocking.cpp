// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0, 6.12: nonblocking collective operations. Each is its blocking form with a request.
#include <mpi.h>

#include "mpi/coll/collective.hpp"
#include "mpi/functions.hpp"

namespace weft::mpi {

int ibarrier(MPI_Comm comm, MPI_Request* request) {
  return run_barrier(nonblocking("MPI_Ibarrier", request), comm);
}

int ibcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request* request) {
  return run_bcast(nonblocking("MPI_Ibcast", request), {buffer, count, datatype}, root, comm);
}

int igather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
              MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  return run_gather(nonblocking("MPI_Igather", request), {sendbuf, sendcount, sendtype},
                    uniform(recvbuf, recvcount, recvtype), root, comm);
}

int igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
             const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  return run_gather(nonblocking("MPI_Igatherv", request), {sendbuf, sendcount, sendtype},
                    arrays(recvbuf, recvcounts, displs, recvtype), root, comm);
}

int igatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
               MPI_Request* request) {
  return run_gather(nonblocking("MPI_Igatherv", request), {sendbuf, sendcount, sendtype},
                    arrays(recvbuf, recvcounts, displs, recvtype), root, comm);
}

int iscatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
               MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  return run_scatter(nonblocking("MPI_Iscatter", request), uniform(sendbuf, sendcount, sendtype),
                     {recvbuf, recvcount, recvtype}, root, comm);
}

int iscatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf,
              int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  return run_scatter(nonblocking("MPI_Iscatterv", request), arrays(sendbuf, sendcounts, displs, sendtype),
                     {recvbuf, recvcount, recvtype}, root, comm);
}

int iscatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
                void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                MPI_Request* request) {
  return run_scatter(nonblocking("MPI_Iscatterv", request), arrays(sendbuf, sendcounts, displs, sendtype),
                     {recvbuf, recvcount, recvtype}, root, comm);
}

int iallgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return run_allgather(nonblocking("MPI_Iallgather", request), {sendbuf, sendcount, sendtype},
                       uniform(recvbuf, recvcount, recvtype), comm);
}

int iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return run_allgather(nonblocking("MPI_Iallgatherv", request), {sendbuf, sendcount, sendtype},
                       arrays(recvbuf, recvcounts, displs, recvtype), comm);
}

int iallgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                  MPI_Request* request) {
  return run_allgather(nonblocking("MPI_Iallgatherv", request), {sendbuf, sendcount, sendtype},
                       arrays(recvbuf, recvcounts, displs, recvtype), comm);
}

int ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return run_alltoall(nonblocking("MPI_Ialltoall", request), uniform(sendbuf, sendcount, sendtype),
                      uniform(recvbuf, recvcount, recvtype), comm);
}

int ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
               const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
               MPI_Request* request) {
  return run_alltoall(nonblocking("MPI_Ialltoallv", request), arrays(sendbuf, sendcounts, sdispls, sendtype),
                      arrays(recvbuf, recvcounts, rdispls, recvtype), comm);
}

int ialltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
                 void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                 MPI_Comm comm, MPI_Request* request) {
  return run_alltoall(nonblocking("MPI_Ialltoallv", request), arrays(sendbuf, sendcounts, sdispls, sendtype),
                      arrays(recvbuf, recvcounts, rdispls, recvtype), comm);
}

int ialltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
               void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
               MPI_Comm comm, MPI_Request* request) {
  return run_alltoall(nonblocking("MPI_Ialltoallw", request), arrays(sendbuf, sendcounts, sdispls, sendtypes),
                      arrays(recvbuf, recvcounts, rdispls, recvtypes), comm);
}

int ialltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                 const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                 const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request) {
  return run_alltoall(nonblocking("MPI_Ialltoallw", request), arrays(sendbuf, sendcounts, sdispls, sendtypes),
                      arrays(recvbuf, recvcounts, rdispls, recvtypes), comm);
}

int ireduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
              MPI_Comm comm, MPI_Request* request) {
  return run_reduce(nonblocking("MPI_Ireduce", request), {sendbuf, recvbuf, datatype, op}, count, root, comm);
}

int iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                 MPI_Request* request) {
  return run_allreduce(nonblocking("MPI_Iallreduce", request), {sendbuf, recvbuf, datatype, op}, count, comm);
}

int ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Request* request) {
  return run_reduce_scatter(nonblocking("MPI_Ireduce_scatter", request), {sendbuf, recvbuf, datatype, op},
                            by_rank(recvcounts), comm);
}

int ireduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return run_reduce_scatter(nonblocking("MPI_Ireduce_scatter", request), {sendbuf, recvbuf, datatype, op},
                            by_rank(recvcounts), comm);
}

int ireduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm, MPI_Request* request) {
  return run_reduce_scatter(nonblocking("MPI_Ireduce_scatter_block", request), {sendbuf, recvbuf, datatype, op},
                            same(recvcount), comm);
}

int iscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
            MPI_Request* request) {
  return run_scan(nonblocking("MPI_Iscan", request), {sendbuf, recvbuf, datatype, op}, count, comm);
}

int iexscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
              MPI_Request* request) {
  return run_exscan(nonblocking("MPI_Iexscan", request), {sendbuf, recvbuf, datatype, op}, count, comm);
}

}  // namespace weft::mpi
