// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Checks of the arguments of calls on windows, and the requests of communication calls (MPI-5.0, 12.3.5).

#include <new>

#include "core/peer/peer.hpp"
#include "core/progress/waiting.hpp"
#include "core/protocol/p2p.hpp"
#include "datatype/on_device.hpp"
#include "mpi/datatype/type.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/win/window.hpp"

namespace weft::mpi {

static_assert(core::rma_attach == MPI_ERR_RMA_ATTACH && core::rma_range == MPI_ERR_RMA_RANGE &&
              core::rma_sync == MPI_ERR_RMA_SYNC);

namespace {

using core::rma::Epoch;
using core::rma::Local;
using core::rma::Remote;
using datatype::Reduction;

bool same_element(const Type& a, const Type& b) {
  return a.basic == b.basic && a.pair_value == b.pair_value && a.pair_index == b.pair_index;
}

// The one predefined type that all parts of a type are, as it was made; nullptr: there are several, or none.
const Type* common_part(const Type& type) {
  if (type.predefined) return &type;
  const Type* common = nullptr;
  const Type* before = nullptr;
  for (const Type* part : record_of(type).types) {
    if (part == before || part->size == 0) continue;
    before = part;
    const Type* found = common_part(*part);
    if (found == nullptr || (common != nullptr && !same_element(*common, *found))) return nullptr;
    common = found;
  }
  return common;
}

const char* epoch_text(const Win& win) {
  switch (win.epoch) {
    case Epoch::fence:
      return "in an epoch of MPI_Win_fence";
    case Epoch::start:
      return "in an epoch of MPI_Win_start";
    case Epoch::lock:
      return "in an epoch of MPI_Win_lock";
    case Epoch::lock_all:
      return "in an epoch of MPI_Win_lock_all";
    case Epoch::none:
      break;
  }
  return win.exposed ? "in an epoch of MPI_Win_post" : "in no epoch";
}

long long wide(int64_t value) {
  return static_cast<long long>(value);
}

}  // namespace

void WinCheck::assertions(int given, int allowed) {
  if (failed() || (given & ~allowed) == 0) [[likely]]
    return;
  fail(MPI_ERR_ASSERT, "assert is %d, which has bits that are no assertions of this call", given);
}

Local WinCheck::data(const DataArgument& origin) {
  int64_t bytes = 0;
  Type* type = Check::data(origin, bytes);
  const bool there =
      type != nullptr && !win_->comm->host_memory && datatype::are_on_device(*type, origin.count, origin.buffer);
  return {const_cast<void*>(origin.buffer), origin.count, type, bytes, there};
}

// In a dynamic window a displacement is an address.
Remote WinCheck::place(const TargetData& place) {
  int64_t bytes = 0;
  int64_t offset = 0;
  Type* type = elements({nullptr, place.count, place.datatype, "target_"}, bytes);
  if (failed()) [[unlikely]]
    return {};
  const auto unit = static_cast<int64_t>(core::rma::meet(*win_, place.rank).unit);
  if (place.disp < 0 && win_->flavor != core::rma::Flavor::dynamic) {
    error_ = negative(win_, function_, MPI_ERR_DISP, "target_disp", place.disp);
  } else if (__builtin_mul_overflow(place.disp, unit, &offset)) {
    fail(MPI_ERR_DISP, "target_disp is %lld: in units of %lld bytes that is more than an address can hold",
         wide(place.disp), wide(unit));
  }
  return {{offset, place.count, type}, place.rank};
}

namespace {

// How many elements of `room` hold as many bytes; -1: these bytes end inside an element.
int64_t elements_for(int64_t bytes, const Type& room) {
  if (bytes == 0) return 0;
  return room.size != 0 && bytes % room.size == 0 ? bytes / room.size : -1;
}

}  // namespace

void WinCheck::fit(const Local& from, Remote& room) {
  if (failed() || from.bytes == room.count * room.type->size) [[likely]]
    return;
  const int64_t count = elements_for(from.bytes, *room.type);
  if (count < 0 || count > room.count) {
    return fail(MPI_ERR_TRUNCATE, "%lld bytes of data do not fit into %lld elements of %lld bytes at the target",
                wide(from.bytes), wide(room.count), wide(room.type->size));
  }
  room.count = count;
}

void WinCheck::fit(const Remote& from, Local& room) {
  if (failed()) return;
  const int64_t bytes = from.count * from.type->size;
  if (bytes == room.bytes) [[likely]]
    return;
  const int64_t count = elements_for(bytes, *room.type);
  if (count < 0 || count > room.count) {
    return fail(MPI_ERR_TRUNCATE, "%lld bytes of the target do not fit into %lld elements of %lld bytes here",
                wide(bytes), wide(room.count), wide(room.type->size));
  }
  room.count = count;
  room.bytes = bytes;
}

const Type* WinCheck::element(const Type& type, int64_t bytes, const char* name) {
  if (failed() || bytes == 0) return nullptr;
  const Type* found = common_part(type);
  if (found == nullptr)
    fail(MPI_ERR_TYPE, "%sdatatype is not made of one predefined datatype, as updates need it", name);
  return found;
}

void WinCheck::same(const Type* element, const Type* target, const char* name) {
  if (failed() || element == nullptr || target == nullptr || same_element(*element, *target)) return;
  fail(MPI_ERR_TYPE, "%sdatatype and target_datatype are made of different predefined datatypes", name);
}

Reduction WinCheck::operation(MPI_Op handle, const Type* element, bool fetching) {
  if (failed()) return Reduction::no_op;
  const Op* op = op_of(handle);
  if (op == nullptr) {
    error_ = bad_handle(win_, function_, MPI_ERR_OP, "reduction operation", handle);
  } else if (!op->predefined) {
    fail(MPI_ERR_OP, "the operation was made by MPI_Op_create: windows take predefined ones only");
  } else if (op->reduction == Reduction::no_op && !fetching) {
    fail(MPI_ERR_OP, "MPI_NO_OP is for MPI_Get_accumulate, MPI_Rget_accumulate and MPI_Fetch_and_op only");
  } else if (element != nullptr && op->reduction < Reduction::replace &&
             datatype::kernel(op->reduction, *element) == nullptr) {
    fail(MPI_ERR_OP, "%s is not defined on %s (MPI-5.0, 6.9.2)", op->name,
         element->name[0] != '\0' ? element->name : "a pair of value and index");
  }
  return failed() ? Reduction::no_op : op->reduction;
}

int WinCheck::done(int32_t error, const Remote* target) {
  if (error == core::no_error) [[likely]]
    return MPI_SUCCESS;
  if (error == MPI_ERR_RMA_SYNC && target != nullptr) {
    fail(error,
         "rank %d cannot be accessed now, the window is %s: open an epoch for it with MPI_Win_fence, MPI_Win_start, "
         "MPI_Win_lock or MPI_Win_lock_all",
         target->rank, epoch_text(*win_));
  } else if (error == MPI_ERR_RMA_SYNC) {
    fail(error, "the window is %s, where this call has no place", epoch_text(*win_));
  } else if (error == MPI_ERR_RMA_RANGE && target != nullptr && win_->flavor == core::rma::Flavor::dynamic) {
    fail(error, "%lld bytes at address 0x%llx of rank %d are not in memory that it attached to the window",
         wide(target->count * target->type->size), static_cast<unsigned long long>(target->offset), target->rank);
  } else if (error == MPI_ERR_RMA_RANGE && target != nullptr) {
    fail(error, "%lld elements of %lld bytes at byte %lld are not inside the window of rank %d, which has %llu bytes",
         wide(target->count), wide(target->type->true_extent), wide(target->offset), target->rank,
         static_cast<unsigned long long>(win_->targets[target->rank].region.bytes));
  } else if (error == MPI_ERR_RMA_RANGE) {
    fail(error, "an operation before found no memory of the window at its target: it was outside, or not attached");
  } else if (error == MPI_ERR_OTHER) {
    const std::string problem = device::last_problem();
    fail(error, "data could not be copied from or to a device%s%s",
         problem.empty() ? " at a target, which says why" : ": ", problem.c_str());
  } else {
    fail(error, "%s", error_text(error));
  }
  return error_;
}

// ---- Requests

namespace {

struct HeldTypes {
  Type* types[3] = {};
};

void end_access(Request& request) {
  auto* held = static_cast<HeldTypes*>(request.owner);
  if (held == nullptr) return;
  for (Type* type : held->types) {
    if (type != nullptr) release_type(type);
  }
  delete held;
}

}  // namespace

bool is_one_sided(const Request& request) {
  return request.on_free == end_access;
}

int begin_request(const char* function, MPI_Win win, int rank, MPI_Request* request) {
  WinCheck check(function, win);
  check.pointer(request, "request");
  check.rank(rank, "rank");
  if (check.failed()) return check.error();
  const Epoch epoch = check.win().epoch;
  if (rank != MPI_PROC_NULL && epoch != Epoch::lock && epoch != Epoch::lock_all) {
    check.fail(MPI_ERR_RMA_SYNC, "the window is %s: operations with a request need MPI_Win_lock or MPI_Win_lock_all",
               epoch_text(check.win()));
    return check.error();
  }
  core::progress_at_times();
  *request = done_request();
  return MPI_SUCCESS;
}

Request* begin_access(WinCheck& check, std::initializer_list<Type*> types) {
  HeldTypes* held = nullptr;
  bool derived = false;
  for (const Type* type : types) derived |= !type->predefined;
  if (derived) held = new (std::nothrow) HeldTypes;
  Request* r = derived && held == nullptr ? nullptr : core::new_request(*check.win().comm, core::Role::composite);
  if (r == nullptr) {
    delete held;
    check.fail(MPI_ERR_NO_MEM, "no memory for a request; complete requests, or free memory");
    return nullptr;
  }
  size_t next = 0;
  for (Type* type : types) {
    if (held != nullptr && !type->predefined) held->types[next++] = hold_type(type);
  }
  r->owner = held;
  r->on_free = end_access;
  r->lane = core::any_lane;  // a thread that waits for it sees to all lanes
  r->source = MPI_ANY_SOURCE;
  r->tag = MPI_ANY_TAG;
  r->received = 0;
  r->flags.cancelled = false;
  return r;
}

int give_access(WinCheck& check, const Remote& target, Request* r, int32_t error, MPI_Request* request) {
  const bool over = error != core::no_error || (core::is_done(*r) && r->error == core::no_error);
  if (over) {
    release(*r);
    r = core::peers->done_send;
  }
  if (error == core::no_error) *request = handle_of<MPI_Request>(r);
  return check.done(error, &target);
}

}  // namespace weft::mpi
