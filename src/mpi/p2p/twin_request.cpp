// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Requests whose data lie on a device: they move the data of a twin in the host's memory.
#include <new>

#include "mpi/object/twin.hpp"
#include "mpi/p2p/p2p.hpp"

namespace weft::mpi {

namespace {

struct Held {
  Held(const void* buffer, MPI_Count count, const Type& type) : twin({{buffer, count, &type}}) {}
  Twin twin;
  std::string problem;  // of the device
};

Held& held_of(const Request& r) {
  return *static_cast<Held*>(r.owner);
}

void free_held(Request& r) {
  delete static_cast<Held*>(r.owner);
}

bool store_received(Request& r) {
  end_twin(r);
  return true;
}

}  // namespace

bool give_twin(Request& r, const void* buffer, MPI_Count count, Type& type) {
  auto* held = new (std::nothrow) Held(buffer, count, type);
  if (held == nullptr || !held->twin.has_memory()) {
    delete held;
    return false;
  }
  core::set_buffer(r, held->twin.host(buffer), count, type);
  r.owner = held;
  r.on_free = free_held;
  if (r.role == core::Role::receive) r.on_done = store_received;
  return true;
}

bool has_twin(const Request& r) {
  return r.on_free == free_held;
}

void end_twin(Request& r) {
  Held& held = held_of(r);
  if (r.role != core::Role::receive || r.flags.cancelled) return;
  held.problem = held.twin.store(r.received);
  if (!held.problem.empty()) r.error = MPI_ERR_OTHER;
}

int fill_twin(Request& r) {
  if (!has_twin(r) || r.role != core::Role::send) return MPI_SUCCESS;
  Held& held = held_of(r);
  held.problem = held.twin.fetch();
  return held.problem.empty() ? MPI_SUCCESS : MPI_ERR_OTHER;
}

const char* text_of_twin(const Request& r) {
  static thread_local std::string text;
  text = "data could not be copied from or to a device: " + held_of(r).problem;
  return text.c_str();
}

int device_failed(ErrorsOn on, const char* function, const std::string& problem) {
  return fail(on, function, MPI_ERR_OTHER, "data could not be copied from or to a device: %s", problem.c_str());
}

}  // namespace weft::mpi
