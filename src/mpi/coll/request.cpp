// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Requests of nonblocking and persistent collective operations (MPI-5.0, 6.12 and 6.13).
#include "mpi/coll/collective.hpp"
#include "mpi/datatype/type.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/p2p/p2p.hpp"

namespace weft::mpi {

namespace {

void end_collective(Request& request) {
  auto* collective = static_cast<Collective*>(request.owner);
  for (Type* type : collective->types) release_type(type);
  delete collective;
}

// Data on devices are fetched again for each start, and the results stored when the operation is complete.
int start_collective(Request& request) {
  auto* collective = static_cast<Collective*>(request.owner);
  if (collective->stands != nullptr) {
    if (int error = collective->stands->fetch()) return error;
  }
  collective->schedule.start(request);
  return MPI_SUCCESS;
}

bool store_results(Request& request) {
  if (int error = static_cast<Collective*>(request.owner)->stands->store()) request.error = error;
  return true;
}

// The derived types that the steps name; those that come again and again, not each time.
void hold_types(Collective& collective) {
  const Type* last[2] = {};
  auto hold = [&](Type* type, const Type*& before) {
    if (type == nullptr || type->predefined || type == before) return;
    before = type;
    collective.types.push_back(hold_type(type));
  };
  for (const coll::Step& step : collective.schedule.steps()) {
    hold(step.from.type, last[0]);
    hold(step.to.type, last[1]);
  }
}

}  // namespace

int launch_planned(CollCheck& check, const Form& form, Collective* collective) {
  Request* request = collective == nullptr || collective->schedule.error() != core::no_error
                         ? nullptr
                         : coll::new_composite(check.comm());
  if (no_address(request)) {
    delete collective;
    return no_memory(&check.comm(), form.function, "a collective operation");
  }
  hold_types(*collective);
  if (form.stands != nullptr && !(*form.stands)->empty()) {
    collective->stands = std::move(*form.stands);
    request->on_done = store_results;
  }
  request->owner = collective;
  request->on_free = end_collective;
  *form.request = handle_of<MPI_Request>(request);
  if (form.kind == Form::Kind::persistent) {
    request->flags = {.active = false, .persistent = true};
    request->on_start = start_collective;
  } else {
    collective->schedule.start(*request);
  }
  return MPI_SUCCESS;
}

bool is_collective(const Request& request) {
  return request.on_free == end_collective;
}

}  // namespace weft::mpi
