// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0, 6.9 to 6.11: global reductions and scans.
#include <mpi.h>

#include "coll/coll.hpp"
#include "mpi/check.hpp"
#include "mpi/functions.hpp"

namespace weft::mpi {

namespace {

// The buffers of a reduction whose result every rank gets; `send` becomes `receive` when the call is in place.
Type* check_buffers(Check& check, const void*& send, void* receive, MPI_Count count, MPI_Datatype datatype) {
  Type* type = check.data(receive, count, datatype);
  if (send == MPI_IN_PLACE) {
    send = receive;
  } else {
    check.data(send, count, datatype);
    check.apart(send, receive, count, type);
  }
  return type;
}

using Operation = int32_t (*)(coll::Comm&, const void*, void*, int64_t, const coll::Reducer&);

int to_every_rank(const char* function, Operation operation, const void* send, void* receive, MPI_Count count,
                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  Check check(function, comm);
  Type* type = check_buffers(check, send, receive, count, datatype);
  OpReducer reducer;
  check.reducer(reducer, op, type, datatype);
  if (check.failed()) [[unlikely]]
    return check.error();
  return check.done(operation(check.comm(), send, receive, count, reducer));
}

int scattered(const char* function, const void* send, void* receive, const coll::Array& counts, MPI_Datatype datatype,
              MPI_Op op, MPI_Comm comm) {
  Check check(function, comm);
  Type* type = check.blocks(send == MPI_IN_PLACE ? receive : send, counts, datatype);
  if (!check.failed()) check.data(receive, counts[check.comm().rank], datatype);
  if (!check.failed()) check.apart(send, receive, counts[check.comm().rank], type);
  OpReducer reducer;
  check.reducer(reducer, op, type, datatype);
  if (check.failed()) return check.error();
  if (send == MPI_IN_PLACE) send = receive;
  return check.done(coll::reduce_scatter(check.comm(), send, receive, counts, reducer));
}

}  // namespace

int allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return to_every_rank("MPI_Allreduce", coll::allreduce, sendbuf, recvbuf, count, datatype, op, comm);
}

int scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return to_every_rank("MPI_Scan", coll::scan, sendbuf, recvbuf, count, datatype, op, comm);
}

int exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return to_every_rank("MPI_Exscan", coll::exscan, sendbuf, recvbuf, count, datatype, op, comm);
}

int reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
             MPI_Comm comm) {
  Check check("MPI_Reduce", comm);
  check.root(root);
  if (check.failed()) return check.error();
  Type* type = check.comm().rank == root ? check_buffers(check, sendbuf, recvbuf, count, datatype)
                                         : check.data(sendbuf, count, datatype);
  OpReducer reducer;
  check.reducer(reducer, op, type, datatype);
  if (check.failed()) return check.error();
  return check.done(coll::reduce(check.comm(), sendbuf, recvbuf, count, reducer, root));
}

int reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm) {
  Check check("MPI_Reduce_scatter", comm);
  check.array(recvcounts, "recvcounts");
  if (check.failed()) return check.error();
  return scattered("MPI_Reduce_scatter", sendbuf, recvbuf, coll::Array(recvcounts), datatype, op, comm);
}

int reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm) {
  Check check("MPI_Reduce_scatter", comm);
  check.array(recvcounts, "recvcounts");
  if (check.failed()) return check.error();
  return scattered("MPI_Reduce_scatter", sendbuf, recvbuf, coll::Array(recvcounts), datatype, op, comm);
}

int reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm) {
  return scattered("MPI_Reduce_scatter_block", sendbuf, recvbuf, coll::Array(int64_t{recvcount}), datatype, op, comm);
}

}  // namespace weft::mpi
