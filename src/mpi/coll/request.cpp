// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Requests of nonblocking and persistent collective operations (MPI-5.0, 6.12 and 6.13).
#include <utility>

#include "mpi/coll/collective.hpp"
#include "mpi/datatype/type.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/p2p/p2p.hpp"

namespace weft::mpi {

namespace {

thread_local Around* next_around = nullptr;

// The results leave the memory that stands for another: first for data on a device, then for those of a face.
bool give_results(Request& request) {
  auto* collective = static_cast<CollectiveCall*>(request.owner);
  if (collective->stands != nullptr) {
    if (int error = collective->stands->store()) request.error = error;
  }
  if (collective->around != nullptr) collective->around->end(collective->around);
  return true;
}

void end_collective(Request& request) {
  auto* collective = static_cast<CollectiveCall*>(request.owner);
  if (collective->around != nullptr) [[unlikely]]
    collective->around->gone(collective->around);
  for (Type* type : collective->types) release_type(type);
  delete collective;
}

int start_collective(Request& request) {
  auto* collective = static_cast<CollectiveCall*>(request.owner);
  if (collective->around != nullptr) [[unlikely]]
    collective->around->begin(collective->around);
  if (collective->stands != nullptr) [[unlikely]] {
    if (int error = collective->stands->fetch()) return error;
  }
  collective->schedule.start(request);
  return MPI_SUCCESS;
}

// Takes a reference to the derived types that the steps name. A type that several steps in a row name is taken once.
void hold_types(CollectiveCall& collective) {
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

int launch_planned(CollCheck& check, const Form& form, CollectiveCall* collective) {
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
  }
  collective->past = check.past();
  request->owner = collective;
  request->on_free = end_collective;
  if (next_around != nullptr) [[unlikely]] {
    collective->around = surround(nullptr);
  }
  if (collective->stands != nullptr || collective->around != nullptr) request->on_done = give_results;
  *form.request = handle_of<MPI_Request>(request);
  if (form.kind == Form::CallForm::persistent) {
    request->flags = {.active = false, .persistent = true};
    request->on_start = start_collective;
  } else {
    collective->schedule.start(*request);
  }
  return MPI_SUCCESS;
}

Around* surround(Around* around) {
  return std::exchange(next_around, around);
}

bool is_collective(const Request& request) {
  return request.on_free == end_collective;
}

const core::Past& past_of_collective(const Request& request) {
  return static_cast<const CollectiveCall*>(request.owner)->past;
}

}  // namespace weft::mpi
