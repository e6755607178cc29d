// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Collective operations in the three forms of the standard: blocking, nonblocking (MPI_Ix) and persistent (MPI_X_init).
// One function for each operation checks the arguments and runs it in the form of the call.

#include <new>
#include <vector>

#include "coll/plan/schedule.hpp"
#include "mpi/coll/arguments.hpp"
#include "mpi/coll/device.hpp"
#include "mpi/object/foreign.hpp"

namespace weft::mpi {

// ---- Running

// The data that an operation keeps as long as its request lives. The arrays of the call are not needed any more when it
// returns; types may be freed, so they are held.
struct CollectiveCall {
  explicit CollectiveCall(Comm& comm) : schedule(comm) {}

  coll::Schedule schedule;
  OpReducer reducer;
  std::vector<Type*> types;
  std::unique_ptr<Stands> stands;
  Around* around = nullptr;
  core::Past past{};
};

// Makes the request of a planned operation, and starts it unless it is persistent. Takes the collective.
[[nodiscard]] int launch_planned(CollCheck& check, const Form& form, CollectiveCall* collective);

// Plans an operation for a request: `plan` names the steps to the schedule. A reduction's steps use the reducer they
// are given, which is a copy.
template <class Plan>
[[nodiscard]] int launch(CollCheck& check, const Form& form, const OpReducer& reducer, Plan&& plan) {
  auto* collective = new (std::nothrow) CollectiveCall(check.comm());
  if (collective != nullptr) {
    collective->reducer = reducer;
    if (form.kind == Form::CallForm::persistent) collective->schedule.repeat();
    plan(collective->schedule, static_cast<const coll::Reducer&>(collective->reducer));
  }
  return launch_planned(check, form, collective);
}
template <class Plan>
[[nodiscard]] int launch(CollCheck& check, const Form& form, Plan&& plan) {
  return launch(check, form, OpReducer(), [&](coll::Schedule& s, const coll::Reducer&) { plan(s); });
}

// Runs an operation that is always a schedule, in any form.
template <class Plan>
[[nodiscard]] int perform(CollCheck& check, const Form& form, const OpReducer& reducer, Plan&& plan) {
  if (!form.is_blocking()) return launch(check, form, reducer, plan);
  return check.done(coll::execute(check.comm(), [&](coll::Schedule& s) { plan(s, reducer); }));
}
template <class Plan>
[[nodiscard]] int perform(CollCheck& check, const Form& form, Plan&& plan) {
  return form.is_blocking() ? check.done(coll::execute(check.comm(), plan)) : launch(check, form, plan);
}

// ---- The operations

int run_barrier(const Form& form, MPI_Comm comm);
int run_bcast(const Form& form, const DataArgument& data, int root, MPI_Comm comm);
int run_gather(const Form& form, const DataArgument& mine, const BlocksArgument& all, int root, MPI_Comm comm);
int run_scatter(const Form& form, const BlocksArgument& all, const DataArgument& mine, int root, MPI_Comm comm);
int run_allgather(const Form& form, const DataArgument& mine, const BlocksArgument& all, MPI_Comm comm);
int run_alltoall(const Form& form, const BlocksArgument& send, const BlocksArgument& receive, MPI_Comm comm);

int run_reduce(const Form& form, const ReductionArgument& data, MPI_Count count, int root, MPI_Comm comm);
int run_allreduce(const Form& form, const ReductionArgument& data, MPI_Count count, MPI_Comm comm);
int run_scan(const Form& form, const ReductionArgument& data, MPI_Count count, MPI_Comm comm);
int run_exscan(const Form& form, const ReductionArgument& data, MPI_Count count, MPI_Comm comm);
int run_reduce_scatter(const Form& form, const ReductionArgument& data, const CountsArgument& counts, MPI_Comm comm);

// ---- Between the groups of an intercommunicator: the functions above for one. The check has passed it.

int barrier_between(CollCheck& check, const Form& form);
int bcast_between(CollCheck& check, const Form& form, const DataArgument& data, int root);
int gather_between(CollCheck& check, const Form& form, const DataArgument& data, const BlocksArgument& all, int root);
int scatter_between(CollCheck& check, const Form& form, const BlocksArgument& all, const DataArgument& data, int root);
int allgather_between(CollCheck& check, const Form& form, const DataArgument& data, const BlocksArgument& all);
int alltoall_between(CollCheck& check, const Form& form, const BlocksArgument& send, const BlocksArgument& receive);
int reduce_between(CollCheck& check, const Form& form, const ReductionArgument& data, MPI_Count count, int root);
int allreduce_between(CollCheck& check, const Form& form, const ReductionArgument& data, MPI_Count count);
// The counts are those of our own group.
int reduce_scatter_between(CollCheck& check, const Form& form, const ReductionArgument& data,
                           const CountsArgument& parts);

}  // namespace weft::mpi
