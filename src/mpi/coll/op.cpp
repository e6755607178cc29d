// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0, 6.9: reduction operations.
#include <climits>

#include "coll/select/select.hpp"
#include "datatype/on_device_kernel.hpp"
#include "mpi/coll/arguments.hpp"
#include "mpi/coll/device.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/p2p/p2p.hpp"

namespace weft::mpi {

namespace {

void apply_kernel(const coll::Reducer& self, const void* in, void* inout, int64_t count) {
  static_cast<const OpReducer&>(self).kernel(in, inout, count);
}

void apply_wide(const coll::Reducer& self, const void* in, void* inout, int64_t count) {
  const auto& reducer = static_cast<const OpReducer&>(self);
  MPI_Count length = count;
  MPI_Datatype datatype = reducer.datatype;
  if (reducer.foreign != nullptr) {
    return reducer.foreign->reduce_c(reducer.wide, const_cast<void*>(in), inout, count, datatype);
  }
  reducer.wide(const_cast<void*>(in), inout, &length, &datatype);
}

// A function that counts in int gets what int can count.
void apply_narrow(const coll::Reducer& self, const void* in, void* inout, int64_t count) {
  const auto& reducer = static_cast<const OpReducer&>(self);
  auto from = reinterpret_cast<uintptr_t>(in);
  auto to = reinterpret_cast<uintptr_t>(inout);
  while (count > 0) {
    int length = count < INT_MAX ? static_cast<int>(count) : INT_MAX;
    const int64_t step = length * self.type->extent;
    MPI_Datatype datatype = reducer.datatype;
    count -= length;
    auto* left = reinterpret_cast<void*>(from);
    auto* right = reinterpret_cast<void*>(to);
    if (reducer.foreign != nullptr) {
      reducer.foreign->reduce(reducer.narrow, left, right, length, datatype);
    } else {
      reducer.narrow(left, right, &length, &datatype);
    }
    from += static_cast<uintptr_t>(step);
    to += static_cast<uintptr_t>(step);
  }
}

int create(const char* function, MPI_User_function* narrow, MPI_User_function_c* wide, int commute, MPI_Op* result) {
  if (narrow == nullptr && wide == nullptr) return null_argument(nullptr, function, "user_fn");
  if (no_address(result)) return null_argument(nullptr, function, "op");
  Op* op = base::make_object<Op>();
  if (op == nullptr) return no_memory(nullptr, function, "the operation");
  op->kind = base::Kind::op;
  op->commutative = commute != 0;
  op->function = narrow;
  op->function_c = wide;
  op->name = "a user's operation";
  *result = handle_of<MPI_Op>(op);
  return MPI_SUCCESS;
}

// An operation of the standard, on elements that are there.
inline bool is_plain(const void* in, const void* inout, MPI_Count count, const Type* type, const Op* op) {
  if (type == nullptr || op == nullptr || !op->predefined || op->reduction >= datatype::Reduction::replace ||
      count <= 0 || no_address(in) || no_address(inout))
    return false;
  const uint64_t bytes = static_cast<uint64_t>(count) * static_cast<uint64_t>(type->extent);
  return !may_overlap(in, bytes, inout, bytes);
}

// The device does it where the result is on one. False: it does not.
[[gnu::cold, gnu::noinline]] bool reduce_on_device(const void* in, void* inout, MPI_Count count, const Type* type,
                                                   const Op* op) {
  return is_plain(in, inout, count, type, op) && type->predefined && device::owns(inout) &&
         datatype::reduce_by_kernel(op->reduction, *type, in, inout, count);
}

// Most calls, recognised by a few comparisons: an operation of the standard on one of its types. False: look closer.
bool reduce_at_once(const void* in, void* inout, MPI_Count count, const Type* type, const Op* op) {
  if (!is_plain(in, inout, count, type, op)) return false;
  const datatype::Kernel kernel = datatype::kernel(op->reduction, *type);
  if (kernel == nullptr) return false;
  kernel(in, inout, count);
  return true;
}

int bad_op(const Comm* comm, const char* function, MPI_Op op) {
  return bad_handle(comm, function, MPI_ERR_OP, "reduction operation", op);
}

}  // namespace

void CollCheck::reducer(OpReducer& reducer, MPI_Op handle, Type* type, MPI_Datatype datatype) {
  if (failed()) return;
  const Op* op = op_of(handle);
  if (op == nullptr) {
    error_ = bad_op(comm_, function_, handle);
    return;
  }
  reducer.type = type;
  reducer.datatype = datatype;
  reducer.fixed = coll::reproducible();
  reducer.commutative = op->commutative && !reducer.fixed;
  if (!op->predefined) {
    reducer.narrow = op->function;
    reducer.wide = op->function_c;
    reducer.foreign = op->foreign;
    reducer.function = op->function_c != nullptr ? apply_wide : apply_narrow;
    return;
  }
  using datatype::Reduction;
  if (op->reduction == Reduction::replace || op->reduction == Reduction::no_op) {
    fail(MPI_ERR_OP, "%s is for one-sided accumulates only", op->name);
  } else if (!type->predefined) {
    fail(MPI_ERR_OP, "%s is not defined on derived datatypes: make an operation with MPI_Op_create", op->name);
  } else if ((reducer.kernel = datatype::kernel(op->reduction, *type)) == nullptr) {
    fail(MPI_ERR_OP, "%s is not defined on %s (MPI-5.0, 6.9.2)", op->name, type->name);
  } else {
    reducer.function = apply_kernel;
    reducer.reduction = op->reduction;
  }
}

int op_create(MPI_User_function* user_fn, int commute, MPI_Op* op) {
  return create("MPI_Op_create", user_fn, nullptr, commute, op);
}

int op_create_c(MPI_User_function_c* user_fn, int commute, MPI_Op* op) {
  return create("MPI_Op_create_c", nullptr, user_fn, commute, op);
}

int op_free(MPI_Op* handle) {
  if (no_address(handle)) return null_argument(nullptr, "MPI_Op_free", "op");
  Op* op = op_of(*handle);
  if (op == nullptr) return bad_op(nullptr, "MPI_Op_free", *handle);
  if (op->predefined) return fail(nullptr, "MPI_Op_free", MPI_ERR_OP, "%s is predefined and stays", op->name);
  base::destroy_object(op);
  *handle = MPI_OP_NULL;
  return MPI_SUCCESS;
}

int op_commutative(MPI_Op handle, int* commute) {
  const Op* op = op_of(handle);
  if (op == nullptr) return bad_op(nullptr, "MPI_Op_commutative", handle);
  if (no_address(commute)) return null_argument(nullptr, "MPI_Op_commutative", "commute");
  *commute = op->commutative ? 1 : 0;
  return MPI_SUCCESS;
}

int reduce_local_c(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
  if (device::on()) [[unlikely]] {
    if (reduce_on_device(inbuf, inoutbuf, count, type_of(datatype), op_of(op))) {
      if (!device::take_failure()) return MPI_SUCCESS;
      return device_failed(nullptr, "MPI_Reduce_local", device::last_problem());
    }
    OnDevice there(blocking("MPI_Reduce_local"), MPI_COMM_SELF);
    ReductionArgument reached{inbuf, inoutbuf, datatype, op};
    if (there.take(reached, count, count))
      return there.run([&] { return reduce_local_c(reached.send, reached.receive, count, datatype, op); });
  }
  if (reduce_at_once(inbuf, inoutbuf, count, type_of(datatype), op_of(op))) return MPI_SUCCESS;
  CollCheck check("MPI_Reduce_local");
  Type* type = check.data({inbuf, count, datatype});
  check.data({inoutbuf, count, datatype});
  OpReducer reducer;
  check.reducer(reducer, op, type, datatype);
  check.apart(inbuf, count, inoutbuf, count, type);
  if (check.failed() || reducer.function == nullptr) return check.error();
  reducer.apply(inbuf, inoutbuf, count);
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
