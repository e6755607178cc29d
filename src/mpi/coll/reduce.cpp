// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0, 6.9 to 6.11: global reductions and scans; the blocking functions.
#include <mpi.h>

#include "coll/coll.hpp"
#include "coll/plan/plan.hpp"
#include "mpi/coll/collective.hpp"
#include "mpi/coll/device_reduce.hpp"
#include "mpi/functions.hpp"

namespace weft::mpi {

namespace {

using coll::Reducer;
using coll::Schedule;

// The buffers of a reduction whose result every rank gets; `send` becomes `receive` when the call is in place.
Type* check_buffers(CollCheck& check, ReductionArgument& data, MPI_Count count) {
  Type* type = check.data({data.receive, count, data.datatype});
  if (data.send == MPI_IN_PLACE) {
    data.send = data.receive;
  } else {
    check.data({data.send, count, data.datatype});
    check.apart(data.send, count, data.receive, count, type);
  }
  return type;
}

using Operation = int32_t (*)(coll::Comm&, const void*, void*, int64_t, const Reducer&);
using Plan = void (*)(Schedule&, const void*, void*, int64_t, const Reducer&);

int to_every_rank(CollCheck& check, const Form& form, Operation operation, Plan plan, ReductionArgument data,
                  MPI_Count count) {
  Type* type = check_buffers(check, data, count);
  OpReducer reducer;
  check.reducer(reducer, data.op, type, data.datatype);
  if (check.failed()) [[unlikely]]
    return check.error();
  if (form.is_blocking()) return check.done(operation(check.comm(), data.send, data.receive, count, reducer));
  return launch(check, form, reducer,
                [&](Schedule& s, const Reducer& r) { plan(s, data.send, data.receive, count, r); });
}

// An operation whose buffers may be on a device. Apart, so that others save no registers for it.
using Run = int (*)(const Form&, const ReductionArgument&, MPI_Count, MPI_Comm);
[[gnu::cold, gnu::noinline]] int run_anywhere(Run run, const Form& form, const ReductionArgument& data, MPI_Count count,
                                              MPI_Comm comm) {
  int error = MPI_SUCCESS;
  if (run == run_allreduce && reduce_among_devices(form, data, count, comm, Gets::all, 0, error)) return error;
  OnDevice there(form, comm);
  ReductionArgument reached = data;
  (void)there.take(reached, count, count);
  return there.run([&] { return run(there.form(), reached, count, comm); });
}

}  // namespace

int run_allreduce(const Form& form, const ReductionArgument& data, MPI_Count count, MPI_Comm comm) {
  if (device::on() && !form.was_seen()) [[unlikely]]
    return run_anywhere(run_allreduce, form, data, count, comm);
  CollCheck check(form, comm);
  if (check.failed()) return check.error();
  if (check.comm().is_inter()) return allreduce_between(check, form, data, count);
  return to_every_rank(check, form, coll::allreduce, coll::plan::allreduce<Schedule>, data, count);
}

int run_scan(const Form& form, const ReductionArgument& data, MPI_Count count, MPI_Comm comm) {
  if (device::on() && !form.was_seen()) [[unlikely]]
    return run_anywhere(run_scan, form, data, count, comm);
  CollCheck check(form, comm);
  check.one_group();
  return to_every_rank(check, form, coll::scan, coll::plan::scan<Schedule>, data, count);
}

int run_exscan(const Form& form, const ReductionArgument& data, MPI_Count count, MPI_Comm comm) {
  if (device::on() && !form.was_seen()) [[unlikely]]
    return run_anywhere(run_exscan, form, data, count, comm);
  CollCheck check(form, comm);
  check.one_group();
  return to_every_rank(check, form, coll::exscan, coll::plan::exscan<Schedule>, data, count);
}

int run_reduce(const Form& form, const ReductionArgument& given, MPI_Count count, int root, MPI_Comm comm) {
  if (device::on() && !form.was_seen()) [[unlikely]] {
    int error = MPI_SUCCESS;
    if (reduce_among_devices(form, given, count, comm, Gets::root, root, error)) return error;
    OnDevice there(form, comm);
    ReductionArgument reached = given;
    if (there.take(reached, count, there.is_root(root) ? count : 0))
      return there.run([&] { return run_reduce(there.form(), reached, count, root, comm); });
  }
  CollCheck check(form, comm);
  if (check.failed()) return check.error();
  if (check.comm().is_inter()) return reduce_between(check, form, given, count, root);
  check.root(root);
  if (check.failed()) return check.error();
  ReductionArgument data = given;
  Type* type =
      check.comm().rank == root ? check_buffers(check, data, count) : check.data({data.send, count, data.datatype});
  OpReducer reducer;
  check.reducer(reducer, data.op, type, data.datatype);
  if (check.failed()) return check.error();
  if (form.is_blocking()) return check.done(coll::reduce(check.comm(), data.send, data.receive, count, reducer, root));
  return launch(check, form, reducer,
                [&](Schedule& s, const Reducer& r) { coll::plan::reduce(s, data.send, data.receive, count, r, root); });
}

int run_reduce_scatter(const Form& form, const ReductionArgument& given, const CountsArgument& parts, MPI_Comm comm) {
  if (device::on() && !form.was_seen()) [[unlikely]] {
    int error = MPI_SUCCESS;
    if (parts.complete && parts.counts.is_uniform() &&
        reduce_among_devices(form, given, parts.counts[0], comm, Gets::part, 0, error))
      return error;
    OnDevice there(form, comm);
    ReductionArgument reached = given;
    const int32_t ours = there.is_inter() ? there.comm()->local_size() : there.size();
    if (parts.complete && there.take(reached, parts.total(ours), parts.counts[there.rank()]))
      return there.run([&] { return run_reduce_scatter(there.form(), reached, parts, comm); });
  }
  CollCheck check(form, comm);
  if (!parts.complete) check.pointer(nullptr, "recvcounts");
  if (check.failed()) return check.error();
  const coll::Array& counts = parts.counts;
  if (check.comm().is_inter()) return reduce_scatter_between(check, form, given, parts);
  ReductionArgument data = given;
  const int32_t ranks = check.comm().size;
  Type* type = check.blocks(data.send == MPI_IN_PLACE ? data.receive : data.send, counts, ranks, data.datatype);
  if (!check.failed()) check.data({data.receive, counts[check.comm().rank], data.datatype});
  if (!check.failed() && data.send != MPI_IN_PLACE)
    check.apart(data.send, parts.total(ranks), data.receive, counts[check.comm().rank], type);
  OpReducer reducer;
  check.reducer(reducer, data.op, type, data.datatype);
  if (check.failed()) return check.error();
  if (data.send == MPI_IN_PLACE) data.send = data.receive;
  if (form.is_blocking())
    return check.done(coll::reduce_scatter(check.comm(), data.send, data.receive, counts, reducer));
  return launch(check, form, reducer, [&](Schedule& s, const Reducer& r) {
    coll::plan::reduce_scatter(s, data.send, data.receive, counts, r);
  });
}

int allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return run_allreduce(blocking("MPI_Allreduce"), {sendbuf, recvbuf, datatype, op}, count, comm);
}

int scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return run_scan(blocking("MPI_Scan"), {sendbuf, recvbuf, datatype, op}, count, comm);
}

int exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return run_exscan(blocking("MPI_Exscan"), {sendbuf, recvbuf, datatype, op}, count, comm);
}

int reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
             MPI_Comm comm) {
  return run_reduce(blocking("MPI_Reduce"), {sendbuf, recvbuf, datatype, op}, count, root, comm);
}

int reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm) {
  return run_reduce_scatter(blocking("MPI_Reduce_scatter"), {sendbuf, recvbuf, datatype, op}, by_rank(recvcounts),
                            comm);
}

int reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm) {
  return run_reduce_scatter(blocking("MPI_Reduce_scatter"), {sendbuf, recvbuf, datatype, op}, by_rank(recvcounts),
                            comm);
}

int reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm) {
  return run_reduce_scatter(blocking("MPI_Reduce_scatter_block"), {sendbuf, recvbuf, datatype, op}, same(recvcount),
                            comm);
}

}  // namespace weft::mpi
