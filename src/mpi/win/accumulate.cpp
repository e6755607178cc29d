// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Updates of a target's memory (MPI-5.0, 12.3.4 and 12.3.5).

#include "core/memory/on_device.hpp"
#include "core/memory/words.hpp"
#include "device/api/device.hpp"
#include "mpi/win/window.hpp"

namespace weft::mpi {
namespace {

using core::rma::Local;
using core::rma::Remote;
using datatype::Basic;
using datatype::Reduction;

bool is_no_op(MPI_Op op) {
  return op == MPI_NO_OP;
}

// Types that can be compared and swapped: integers of C and Fortran, logical values, bytes and addresses
// (MPI-5.0, 12.3.4); characters too, as everywhere that takes integers.
bool may_swap(Basic basic) {
  switch (basic) {
    case Basic::int8:
    case Basic::int16:
    case Basic::int32:
    case Basic::int64:
    case Basic::int128:
    case Basic::uint8:
    case Basic::uint16:
    case Basic::uint32:
    case Basic::uint64:
    case Basic::boolean:
    case Basic::logical8:
    case Basic::logical16:
    case Basic::logical32:
    case Basic::logical64:
    case Basic::logical128:
    case Basic::byte:
    case Basic::character:
      return true;
    default:
      return false;
  }
}

const Type* element_of(WinCheck& check, const Remote& data) {
  return check.failed() ? nullptr : check.element(*data.type, data.count * data.type->size, "target_");
}
const Type* element_of(WinCheck& check, const Local& data, const char* name) {
  return check.failed() ? nullptr : check.element(*data.type, data.bytes, name);
}

// For core; no data are as good of one type as of another.
const Type& any_if_none(const Type* element) {
  return element != nullptr ? *element : byte_type;
}

// One element of a plain predefined datatype, the same at both ends, at a target that is open and in our address space.
// False: look closer.
struct OneElement {
  const Win* win;
  const core::rma::Target* target;
  const Type* type;
  Reduction reduction;
  char* there;

  // False: the type does not have this operation.
  bool update(const void* in, void* old) const {
    if (core::memory::update_word_here(target->region, type->basic, type->size, reduction, win->control->busy, in,
                                       there, old)) [[likely]]
      return true;
    if (reduction < Reduction::replace && datatype::kernel(reduction, *type) == nullptr) return false;
    core::rma::update_one(*win, *target, *type, reduction, in, there, old);
    return true;
  }
  // False: not by an instruction.
  bool swap(const void* value, const void* compare, void* old) const {
    return core::memory::swap_word_here(target->region, type->size, win->control->busy, value, compare, there, old);
  }
};

bool find_place(OneElement& one, const TargetData& place, MPI_Win win) {
  one.win = win_of(win);
  if (one.win == nullptr || static_cast<uint32_t>(place.rank) >= static_cast<uint32_t>(one.win->size)) return false;
  one.type = type_of(place.datatype);
  if (one.type == nullptr || !one.type->predefined || !one.type->plain) return false;
  one.target = &one.win->targets[place.rank];
  char* direct = one.target->direct.load(std::memory_order_acquire);  // pairs with the release that opens the target
  const auto room = static_cast<uint64_t>(one.type->size);
  int64_t offset = 0;
  if (direct == nullptr || __builtin_mul_overflow(place.disp, static_cast<int64_t>(one.target->unit), &offset) ||
      room > one.target->region.bytes || static_cast<uint64_t>(offset) > one.target->region.bytes - room)
    return false;  // also below 0
  one.there = direct + offset;
  return true;
}

bool find_one(OneElement& one, const TargetData& place, MPI_Op handle, MPI_Win win) {
  const Op* op = op_of(handle);
  if (op == nullptr || !op->predefined || !find_place(one, place, win)) return false;
  one.reduction = op->reduction;
  return true;
}

int accumulate(const char* function, const DataArgument& origin, const TargetData& place, MPI_Op op, MPI_Win win,
               MPI_Request* request) {
  WinCheck check(function, win);
  check.rank(place.rank, "rank");
  if (check.failed() || place.rank == MPI_PROC_NULL) return check.error();
  const Local from = check.data(origin);
  Remote to = check.place(place);
  check.fit(from, to);
  const Type* element = element_of(check, to);
  check.same(element_of(check, from, "origin_"), element, "origin_");
  const Reduction reduction = check.operation(op, element, false);
  return perform(check, to, request, {from.type, to.type}, [&](Request* r) {
    return core::rma::accumulate(check.win(), from, to, reduction, any_if_none(element), r);
  });
}

// MPI_NO_OP reads only: the description of the origin is not looked at, and any data go along.
int get_accumulate(const char* function, const DataArgument& origin, const DataArgument& result,
                   const TargetData& place, MPI_Op op, MPI_Win win, MPI_Request* request) {
  WinCheck check(function, win);
  check.rank(place.rank, "rank");
  if (check.failed() || place.rank == MPI_PROC_NULL) return check.error();
  Remote at = check.place(place);
  Local from{};
  if (!is_no_op(op)) {
    from = check.data(origin);
    check.fit(from, at);
  }
  Local to = check.data(result);
  check.fit(at, to);
  if (is_no_op(op)) from = to;
  const Type* element = element_of(check, at);
  check.same(element_of(check, to, "result_"), element, "result_");
  check.same(element_of(check, from, "origin_"), element, "origin_");
  const Reduction reduction = check.operation(op, element, true);
  return perform(check, at, request, {from.type, to.type, at.type}, [&](Request* r) {
    return core::rma::get_accumulate(check.win(), from, to, at, reduction, any_if_none(element), r);
  });
}

// One element where the processor reaches it.
class Operand {
 public:
  Operand(const core::rma::Window& window, const void* given, const Type& element) : at_(given) {
    if (window.comm->host_memory || !device::owns(given)) [[likely]]
      return;
    core::memory::move_bytes(copy_, given, static_cast<size_t>(element.size));
    at_ = copy_;
  }
  const void* get() const { return at_; }

 private:
  const void* at_;
  unsigned char copy_[core::memory::element_most];
};

// One element of a predefined type.
const Type* single(WinCheck& check, const Remote& at) {
  if (check.failed() || at.type->predefined) [[likely]]
    return at.type;
  check.fail(MPI_ERR_TYPE, "the datatype is not predefined");
  return nullptr;
}

}  // namespace

int accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                 MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  OneElement one;
  if (origin_count == 1 && target_count == 1 && origin_datatype == target_datatype && !no_address(origin_addr) &&
      find_one(one, {target_rank, target_disp, 1, target_datatype}, op, win) && one.reduction != Reduction::no_op &&
      one.update(origin_addr, nullptr))
    return MPI_SUCCESS;
  return accumulate("MPI_Accumulate", {origin_addr, origin_count, origin_datatype, "origin_"},
                    {target_rank, target_disp, target_count, target_datatype}, op, win, nullptr);
}

int raccumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                  MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                  MPI_Request* request) {
  static const char* function = "MPI_Raccumulate";
  if (int error = begin_request(function, win, target_rank, request)) return error;
  return accumulate(function, {origin_addr, origin_count, origin_datatype, "origin_"},
                    {target_rank, target_disp, target_count, target_datatype}, op, win, request);
}

int get_accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void* result_addr,
                     MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                     MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  return get_accumulate("MPI_Get_accumulate", {origin_addr, origin_count, origin_datatype, "origin_"},
                        {result_addr, result_count, result_datatype, "result_"},
                        {target_rank, target_disp, target_count, target_datatype}, op, win, nullptr);
}

int rget_accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void* result_addr,
                      MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                      MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                      MPI_Request* request) {
  static const char* function = "MPI_Rget_accumulate";
  if (int error = begin_request(function, win, target_rank, request)) return error;
  return get_accumulate(function, {origin_addr, origin_count, origin_datatype, "origin_"},
                        {result_addr, result_count, result_datatype, "result_"},
                        {target_rank, target_disp, target_count, target_datatype}, op, win, request);
}

int fetch_and_op(const void* origin_addr, void* result_addr, MPI_Datatype datatype, int target_rank,
                 MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
  OneElement one;
  if (!no_address(result_addr) && find_one(one, {target_rank, target_disp, 1, datatype}, op, win) &&
      (!no_address(origin_addr) || one.reduction == Reduction::no_op) &&
      one.update(one.reduction == Reduction::no_op ? result_addr : origin_addr, result_addr))
    return MPI_SUCCESS;
  WinCheck check("MPI_Fetch_and_op", win);
  check.rank(target_rank, "rank");
  if (check.failed() || target_rank == MPI_PROC_NULL) return check.error();
  const Remote at = check.place({target_rank, target_disp, 1, datatype});
  const Type* element = single(check, at);
  const Local to = check.data({result_addr, 1, datatype, "result_"});
  const Local from = is_no_op(op) ? to : check.data({origin_addr, 1, datatype, "origin_"});
  const Reduction reduction = check.operation(op, element, true);
  return perform(check, at, nullptr, {}, [&](Request* r) {
    return core::rma::get_accumulate(check.win(), from, to, at, reduction, any_if_none(element), r);
  });
}

int compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr, MPI_Datatype datatype,
                     int target_rank, MPI_Aint target_disp, MPI_Win win) {
  OneElement one;
  if (!no_address(origin_addr) && !no_address(compare_addr) && !no_address(result_addr) &&
      find_place(one, {target_rank, target_disp, 1, datatype}, win) && may_swap(one.type->basic) &&
      one.swap(origin_addr, compare_addr, result_addr))
    return MPI_SUCCESS;
  WinCheck check("MPI_Compare_and_swap", win);
  check.rank(target_rank, "rank");
  if (check.failed() || target_rank == MPI_PROC_NULL) return check.error();
  const Remote at = check.place({target_rank, target_disp, 1, datatype});
  const Type* element = single(check, at);
  if (!check.failed() && !may_swap(element->basic)) {
    check.fail(MPI_ERR_TYPE, "%s is no integer, logical or byte datatype, which can be compared and swapped",
               element->name);
  }
  check.pointer(origin_addr, "origin_addr");
  check.pointer(compare_addr, "compare_addr");
  check.pointer(result_addr, "result_addr");
  if (check.failed()) return check.error();
  const Operand value(check.win(), origin_addr, *element);
  const Operand compare(check.win(), compare_addr, *element);
  if (device::on() && device::take_failure()) return check.done(core::other_error);
  return check.done(core::rma::compare_and_swap(check.win(), value.get(), compare.get(), result_addr, *element, at),
                    &at);
}

}  // namespace weft::mpi
