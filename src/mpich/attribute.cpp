// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Attributes: callbacks get the handles and codes of MPICH's ABI, and predefined attributes have its values.

#include <atomic>
#include <mutex>
#include <set>
#include <tuple>

#include "mpich/by_hand.hpp"
#include "mpich/convert.hpp"

extern "C" __attribute__((visibility("default"))) int MPIR_Dup_fn(int handle, int keyval, void* extra_state,
                                                                  void* value_in, void* value_out, int* flag);

// The copy function of MPICH's header that copies the value; its address is in programs.
extern "C" int MPIR_Dup_fn(int /*handle*/, int /*keyval*/, void* /*extra_state*/, void* value_in, void* value_out,
                           int* flag) {
  *static_cast<void**>(value_out) = value_in;
  *flag = 1;
  return MPI_SUCCESS;
}

namespace weft::mpich {
namespace {

// The program's functions of a key. All kinds of objects have an int as their handle.
using Copy = int(int, int, void*, void*, void*, int*);
using Delete = int(int, int, void*, void*);
struct Functions {
  Copy* copy;
  Delete* remove;
  void* extra_state;

  bool operator<(const Functions& other) const {
    return std::tuple(copy, remove, extra_state) < std::tuple(other.copy, other.remove, other.extra_state);
  }
};

// Kept until the process ends: a key may be freed while objects have values under it. Keys with the same functions
// share one.
constinit std::mutex keyvals_guard;
constinit std::set<Functions>* keyvals = nullptr;

Functions* keep(const Functions& functions) {
  std::lock_guard lock(keyvals_guard);
  if (keyvals == nullptr) keyvals = new std::set<Functions>;
  return const_cast<Functions*>(&*keyvals->insert(functions).first);
}

template <class Handle>
int call_copy(Handle object, int keyval, void* state, void* value_in, void* value_out, int* flag) {
  const auto& functions = *static_cast<Functions*>(state);
  return error_in(functions.copy(out(object), keyval_out(keyval), functions.extra_state, value_in, value_out, flag));
}

template <class Handle>
int call_delete(Handle object, int keyval, void* value, void* state) {
  const auto& functions = *static_cast<Functions*>(state);
  return error_in(functions.remove(out(object), keyval_out(keyval), value, functions.extra_state));
}

template <class Handle, class StandardCopy, class StandardDelete>
int create(int (*create_keyval)(StandardCopy*, StandardDelete*, int*, void*), Copy* copy, Delete* remove, int* keyval,
           void* extra_state) {
  constexpr uintptr_t duplicate = 1;  // MPI_COMM_DUP_FN, MPI_TYPE_DUP_FN, MPI_WIN_DUP_FN
  StandardCopy* standard_copy = copy == nullptr       ? nullptr
                                : copy == MPIR_Dup_fn ? reinterpret_cast<StandardCopy*>(duplicate)
                                                      : call_copy<Handle>;
  const bool called = standard_copy == call_copy<Handle> || remove != nullptr;
  void* state = called ? keep({copy, remove, extra_state}) : extra_state;
  return error_out(create_keyval(standard_copy, remove == nullptr ? nullptr : call_delete<Handle>,
                                 ValueOut<keyval_out>(keyval), state));
}

// ---- Values of predefined attributes that differ in MPICH's ABI: pointers to ints

constinit int proc_null = to_theirs(rank_rows, MPI_PROC_NULL);
constinit int any_source = to_theirs(rank_rows, MPI_ANY_SOURCE);
constinit int flavors[] = {
    to_theirs(flavor_rows, MPI_WIN_FLAVOR_CREATE), to_theirs(flavor_rows, MPI_WIN_FLAVOR_ALLOCATE),
    to_theirs(flavor_rows, MPI_WIN_FLAVOR_DYNAMIC), to_theirs(flavor_rows, MPI_WIN_FLAVOR_SHARED)};
constinit int models[] = {to_theirs(model_rows, MPI_WIN_UNIFIED), to_theirs(model_rows, MPI_WIN_SEPARATE)};
std::atomic<int> last_used_code;  // grows only
static_assert(sizeof last_used_code == sizeof(int));

void* of_comm(int keyval, void* value) {
  const int standard = *static_cast<int*>(value);
  switch (keyval) {
    case MPI_HOST:
    case MPI_IO:
      return standard == MPI_PROC_NULL ? &proc_null : standard == MPI_ANY_SOURCE ? &any_source : value;
    case MPI_LASTUSEDCODE:
      last_used_code.store(error_out(standard), std::memory_order_relaxed);
      return &last_used_code;
    default:
      return value;
  }
}

void* of_win(int keyval, void* value) {
  if (keyval == MPI_WIN_CREATE_FLAVOR) return &flavors[*static_cast<int*>(value) - MPI_WIN_FLAVOR_CREATE];
  if (keyval == MPI_WIN_MODEL) return &models[*static_cast<int*>(value) - MPI_WIN_UNIFIED];
  return value;
}

bool is_predefined(int keyval) {
  return keyval >= MPI_TAG_UB && keyval <= MPI_WIN_MODEL;
}

template <class Handle>
int get(int (*get_attr)(Handle, int, void*, int*), int object, int keyval, void* attribute_val, int* flag,
        void* (*convert)(int, void*)) {
  const int standard = keyval_in(keyval);
  const int error = get_attr(in<Handle>(object), standard, attribute_val, flag);
  if (error != MPI_SUCCESS) return error_out(error);
  auto** value = static_cast<void**>(attribute_val);
  if (*flag != 0 && is_predefined(standard)) *value = convert(standard, *value);
  return MPI_SUCCESS;
}

}  // namespace

int comm_create_keyval(Comm_copy_attr_function* comm_copy_attr_fn, Comm_delete_attr_function* comm_delete_attr_fn,
                       int* comm_keyval, void* extra_state) {
  return create<MPI_Comm>(face.comm_create_keyval, comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state);
}

int keyval_create(Copy_function* copy_fn, Delete_function* delete_fn, int* keyval, void* extra_state) {
  return create<MPI_Comm>(face.keyval_create, copy_fn, delete_fn, keyval, extra_state);
}

int type_create_keyval(Type_copy_attr_function* type_copy_attr_fn, Type_delete_attr_function* type_delete_attr_fn,
                       int* type_keyval, void* extra_state) {
  return create<MPI_Datatype>(face.type_create_keyval, type_copy_attr_fn, type_delete_attr_fn, type_keyval,
                              extra_state);
}

int win_create_keyval(Win_copy_attr_function* win_copy_attr_fn, Win_delete_attr_function* win_delete_attr_fn,
                      int* win_keyval, void* extra_state) {
  return create<MPI_Win>(face.win_create_keyval, win_copy_attr_fn, win_delete_attr_fn, win_keyval, extra_state);
}

int comm_get_attr(int comm, int comm_keyval, void* attribute_val, int* flag) {
  return get(face.comm_get_attr, comm, comm_keyval, attribute_val, flag, of_comm);
}

int attr_get(int comm, int keyval, void* attribute_val, int* flag) {
  return get(face.attr_get, comm, keyval, attribute_val, flag, of_comm);
}

int win_get_attr(int win, int win_keyval, void* attribute_val, int* flag) {
  return get(face.win_get_attr, win, win_keyval, attribute_val, flag, of_win);
}

}  // namespace weft::mpich
