// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The objects of predefined handles: datatypes, operations, error handlers and groups, which need no MPI_Init, and the
// communicators of the world model.
#include <atomic>
#include <cstring>
#include <mutex>

#include "base/message.hpp"
#include "core/object/identity.hpp"
#include "datatype/predefined.hpp"
#include "device/api/device.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/type.hpp"
#include "mpi/env/info.hpp"
#include "mpi/names.hpp"
#include "mpi/object/errhandler.hpp"
#include "mpi/object/file.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {
namespace {

// Storage of predefined objects: made when first needed, never destroyed, and outside the arena, so that their handles
// are told from addresses.
template <class T>
struct ObjectStorage {
  alignas(T) unsigned char bytes[sizeof(T)];
  template <class... Args>
  T* make(Args&&... args) {
    return ::new (bytes) T{static_cast<Args&&>(args)...};
  }
  T* get() { return reinterpret_cast<T*>(bytes); }
};

constexpr size_t most_types = 80;
ObjectStorage<Type> types[most_types];
ObjectStorage<TypeRecord> type_records[most_types];
ObjectStorage<Op> ops[16];
ObjectStorage<Errhandler> errhandlers[3];
ObjectStorage<core::Group> empty_group;
ObjectStorage<Comm> world_comm;
ObjectStorage<Comm> self_comm;

template <class Handle>
base::Object*& entry(Handle handle) {
  return predefined[reinterpret_cast<uintptr_t>(handle)];
}

// Both tables are in the order of the handles; the header's has aliases besides.
void build_types() {
  auto rows = datatype::predefined_types();
  size_t next = 0;
  for (const names::Handle& handle : names::datatypes) {
    if (next == rows.size() || strcmp(handle.name, rows[next].name) != 0) continue;
    Type* type = handle.value == reinterpret_cast<uintptr_t>(MPI_BYTE) ? &byte_type : types[next].make();
    datatype::build_predefined(rows[next], *type);
    type->owner = type_records[next].make();
    predefined[handle.value] = type;
    type->commit(!device::on());
    if (type->plain) plain_sizes[handle.value] = static_cast<uint8_t>(type->size);
    ++next;
  }
}

void build_ops() {
  using enum datatype::Reduction;
  static const struct {
    MPI_Op handle;
    datatype::Reduction reduction;
    const char* name;
  } rows[] = {
      {MPI_SUM, sum, "MPI_SUM"},
      {MPI_MIN, min, "MPI_MIN"},
      {MPI_MAX, max, "MPI_MAX"},
      {MPI_PROD, prod, "MPI_PROD"},
      {MPI_BAND, band, "MPI_BAND"},
      {MPI_BOR, bor, "MPI_BOR"},
      {MPI_BXOR, bxor, "MPI_BXOR"},
      {MPI_LAND, land, "MPI_LAND"},
      {MPI_LOR, lor, "MPI_LOR"},
      {MPI_LXOR, lxor, "MPI_LXOR"},
      {MPI_MINLOC, minloc, "MPI_MINLOC"},
      {MPI_MAXLOC, maxloc, "MPI_MAXLOC"},
      {MPI_REPLACE, replace, "MPI_REPLACE"},
      {MPI_NO_OP, no_op, "MPI_NO_OP"},
  };
  size_t next = 0;
  for (const auto& row : rows) {
    Op* op = ops[next++].make();
    op->kind = base::Kind::op;
    op->predefined = true;
    op->commutative = row.reduction != replace;
    op->reduction = row.reduction;
    op->name = row.name;
    entry(row.handle) = op;
  }
}

void build_errhandlers() {
  using Action = Errhandler::ErrorAction;
  static const struct {
    MPI_Errhandler handle;
    Action action;
  } rows[] = {
      {MPI_ERRORS_ARE_FATAL, Action::fatal}, {MPI_ERRORS_ABORT, Action::abort}, {MPI_ERRORS_RETURN, Action::give_back}};
  size_t next = 0;
  for (const auto& row : rows) {
    Errhandler* handler = errhandlers[next++].make();
    handler->kind = base::Kind::errhandler;
    handler->action = row.action;
    handler->predefined = true;
    entry(row.handle) = handler;
  }
}

void build_empty_group() {
  core::Group* group = empty_group.make();
  group->kind = base::Kind::group;
  group->predefined = true;
  entry(MPI_GROUP_EMPTY) = group;
}

constinit std::once_flag built;

// A thread that has a session may raise an error on MPI_COMM_SELF while another thread is in MPI_Init or MPI_Finalize:
// under the lock it finds the whole object or none.
void publish(MPI_Comm handle, base::Object* object) {
  std::lock_guard lock(details);
  std::atomic_ref(entry(handle)).store(object, std::memory_order_release);
}

void build_comm(ObjectStorage<Comm>& storage, MPI_Comm handle, uint32_t context, const char* name, core::Group* group) {
  Comm* comm = storage.make();
  comm->predefined = true;
  comm->name = name;
  comm->errhandler = unset_handler(*initial_handler());
  describe_comm(*comm, context, group);
  publish(handle, comm);
}

void end_comm(ObjectStorage<Comm>& storage, MPI_Comm handle) {
  publish(handle, &nothing);
  Comm* comm = storage.get();
  release_comm_parts(*comm);
  comm->~Comm();
}

}  // namespace

void build_predefined_objects() {
  std::call_once(built, [] {
    build_types();
    build_ops();
    build_errhandlers();
    build_empty_group();
    entry(MPI_INFO_ENV) = build_info_env();
  });
}

File& no_file() {
  static File* const made = [] {
    build_predefined_objects();
    auto* file = new File;  // never a handle of its own, hence not in the arena; kept until the process ends
    file->errhandler = errhandler_of(MPI_ERRORS_RETURN);
    return file;
  }();
  return *made;
}

void build_world_communicators() {
  core::Group* all = base::make_object<core::Group>();
  core::Group* self = base::make_object<core::Group>();
  if (all == nullptr || self == nullptr)
    base::die({.cause = "no memory for MPI_COMM_WORLD", .remedy = "free memory on this host"});
  all->kind = self->kind = base::Kind::group;
  all->size = core::identity->size;
  all->rank = core::identity->rank - core::identity->first;
  all->first = core::identity->first;
  self->size = 1;
  self->rank = 0;
  self->first = core::identity->rank;
  build_comm(world_comm, MPI_COMM_WORLD, 0, "MPI_COMM_WORLD", all);
  build_comm(self_comm, MPI_COMM_SELF, 2, "MPI_COMM_SELF", self);
}

void free_world_communicators() {
  end_comm(self_comm, MPI_COMM_SELF);
  end_comm(world_comm, MPI_COMM_WORLD);
}

}  // namespace weft::mpi
