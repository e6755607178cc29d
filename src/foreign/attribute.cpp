// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Attributes: callbacks get the handles and codes of the program's ABI, and predefined attributes have its values.

#include <atomic>
#include <mutex>
#include <set>
#include <tuple>

#include "foreign/by_hand.hpp"
#include "foreign/convert.hpp"

namespace weft::foreign {
namespace {

// The program's functions of a key. All kinds of objects have handles of one type.
using Copy = int(Handle, int, void*, void*, void*, int*);
using Delete = int(Handle, int, void*, void*);
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

template <class H>
int call_copy(H object, int keyval, void* state, void* value_in, void* value_out, int* flag) {
  const auto& functions = *static_cast<Functions*>(state);
  return error_in(functions.copy(out(object), keyval_out(keyval), functions.extra_state, value_in, value_out, flag));
}

template <class H>
int call_delete(H object, int keyval, void* value, void* state) {
  const auto& functions = *static_cast<Functions*>(state);
  return error_in(functions.remove(out(object), keyval_out(keyval), value, functions.extra_state));
}

template <class H, class StandardCopy, class StandardDelete>
int create(int (*create_keyval)(StandardCopy*, StandardDelete*, int*, void*), Copy* copy, Delete* remove, int* keyval,
           void* extra_state) {
  const bool called = copy != nullptr || remove != nullptr;
  void* state = called ? keep({copy, remove, extra_state}) : extra_state;
  return error_out(create_keyval(copy == nullptr ? nullptr : call_copy<H>, remove == nullptr ? nullptr : call_delete<H>,
                                 ValueOut<keyval_out>(keyval), state));
}

// ---- Values of predefined attributes that differ between the ABIs: pointers to ints

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

template <class H>
int get(int (*get_attr)(H, int, void*, int*), Handle object, int keyval, void* attribute_val, int* flag,
        void* (*convert)(int, void*)) {
  const int standard = keyval_in(keyval);
  const int error = get_attr(in<H>(object), standard, attribute_val, flag);
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

int comm_get_attr(Handle comm, int comm_keyval, void* attribute_val, int* flag) {
  return get(face.comm_get_attr, comm, comm_keyval, attribute_val, flag, of_comm);
}

int attr_get(Handle comm, int keyval, void* attribute_val, int* flag) {
  return get(face.attr_get, comm, keyval, attribute_val, flag, of_comm);
}

int win_get_attr(Handle win, int win_keyval, void* attribute_val, int* flag) {
  return get(face.win_get_attr, win, win_keyval, attribute_val, flag, of_win);
}

}  // namespace weft::foreign
