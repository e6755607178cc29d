// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Attributes of Fortran programs: values are integers of the size of an address, or INTEGER in the procedures of MPI-1.

#include <atomic>
#include <cstdint>

#include "fortran/attribute_value.hpp"

namespace weft::fortran {
namespace {

template <class V>
struct FortranKeyval {
  using Copy = void(MPI_Fint*, MPI_Fint*, V*, V*, V*, MPI_Fint*, MPI_Fint*);
  using Delete = void(MPI_Fint*, MPI_Fint*, V*, V*, MPI_Fint*);

  Copy* copy;
  Delete* remove;
  V extra_state;
  FortranKeyval* next = nullptr;
};

// Kept until the process ends: a key may be freed while objects have values under it.
template <class V>
constinit std::atomic<FortranKeyval<V>*> kept = nullptr;

template <class V>
FortranKeyval<V>* keep(const FortranKeyval<V>& functions) {
  auto* key = new (std::nothrow) FortranKeyval<V>(functions);
  if (key == nullptr) return nullptr;
  key->next = kept<V>.load(std::memory_order_relaxed);
  while (!kept<V>.compare_exchange_weak(key->next, key, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return key;
}

template <class V>
using At = V*;

template <class H, class V>
int call_copy(H object, int keyval, void* state, void* value_in, void* value_out, int* flag) {
  const auto& key = *static_cast<FortranKeyval<V>*>(state);
  MPI_Fint handle = Convert<H>::out(object);
  MPI_Fint error = MPI_SUCCESS;
  V extra_state = key.extra_state;
  V from = static_cast<V>(value_of(value_in));
  V made = 0;
  key.copy(&handle, &keyval, &extra_state, &from, &made, flag, &error);
  if (error != MPI_SUCCESS || !*flag) return error;
  // A copy is of the language that has set the first: C reads an address as one.
  const bool address = !set_by_fortran(value_in);
  void* const attribute = address ? reinterpret_cast<void*>(static_cast<MPI_Aint>(made)) : attribute_of(made);
  *static_cast<void**>(value_out) = attribute;
  return attribute == nullptr && !address ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

template <class H, class V>
int call_delete(H object, int keyval, void* value, void* state) {
  const auto& key = *static_cast<FortranKeyval<V>*>(state);
  MPI_Fint handle = Convert<H>::out(object);
  MPI_Fint error = MPI_SUCCESS;
  V extra_state = key.extra_state;
  V removed = static_cast<V>(value_of(value));
  key.remove(&handle, &keyval, &removed, &extra_state, &error);
  if (error == MPI_SUCCESS) drop(value);
  return error;
}

template <class H, class V>
MPI_Fint set(int (*call)(H, int, void*), MPI_Fint object, MPI_Fint keyval, V value) {
  void* const attribute = attribute_of(value);
  if (attribute == nullptr) return MPI_ERR_NO_MEM;
  const int error = call(Convert<H>::in(object), keyval, attribute);
  if (error != MPI_SUCCESS) drop(attribute);
  return error;
}

template <class H, class V, class Copy, class Delete>
MPI_Fint make_keyval(int (*create)(Copy*, Delete*, int*, void*), const FortranKeyval<V>& functions, MPI_Fint* keyval) {
  auto* key = keep(functions);
  return key == nullptr ? MPI_ERR_NO_MEM : create(call_copy<H, V>, call_delete<H, V>, keyval, key);
}

// The predefined functions are procedures like those of programs.
void copy_none(MPI_Fint* flag, MPI_Fint* ierror) {
  *flag = 0;
  *ierror = MPI_SUCCESS;
}

template <class V>
void copy_same(const V* from, V* made, MPI_Fint* flag, MPI_Fint* ierror) {
  *made = *from;
  *flag = 1;
  *ierror = MPI_SUCCESS;
}

}  // namespace

#define WEFT_BOTH(procedure) procedure(mpi, MPI) procedure(pmpi, PMPI)
#define WEFT_PROCEDURE extern "C" __attribute__((visibility("default"))) void

#define WEFT_FUNCTIONS(object, V)                                                                           \
  WEFT_PROCEDURE mpi_##object##null_copy_fn_(MPI_Fint*, MPI_Fint*, At<V>, At<V>, At<V>, MPI_Fint* flag,     \
                                             MPI_Fint* ierror) {                                            \
    copy_none(flag, ierror);                                                                                \
  }                                                                                                         \
  WEFT_PROCEDURE mpi_##object##dup_fn_(MPI_Fint*, MPI_Fint*, At<V>, At<V> from, At<V> made, MPI_Fint* flag, \
                                       MPI_Fint* ierror) {                                                  \
    copy_same<V>(from, made, flag, ierror);                                                                 \
  }                                                                                                         \
  WEFT_PROCEDURE mpi_##object##null_delete_fn_(MPI_Fint*, MPI_Fint*, At<V>, At<V>, MPI_Fint* ierror) {      \
    *ierror = MPI_SUCCESS;                                                                                  \
  }
WEFT_FUNCTIONS(comm_, MPI_Aint)
WEFT_FUNCTIONS(type_, MPI_Aint)
WEFT_FUNCTIONS(win_, MPI_Aint)
WEFT_FUNCTIONS(, MPI_Fint)

#define WEFT_KEYVAL(name, P, Name, H, V)                                                                \
  WEFT_PROCEDURE name(FortranKeyval<V>::Copy* copy, FortranKeyval<V>::Delete* remove, MPI_Fint* keyval, \
                      const V* extra_state, MPI_Fint* ierror) {                                         \
    give(ierror, make_keyval<H, V>(P##_##Name, {copy, remove, *extra_state}, keyval));                  \
  }
#define WEFT_SET(name, P, Name, H, V)                                                                     \
  WEFT_PROCEDURE name(const MPI_Fint* object, const MPI_Fint* keyval, const V* value, MPI_Fint* ierror) { \
    give(ierror, set<H, V>(P##_##Name, *object, *keyval, *value));                                        \
  }
#define WEFT_ATTRIBUTES(p, P)                                                                                          \
  WEFT_KEYVAL(p##_comm_create_keyval_, P, Comm_create_keyval, MPI_Comm, MPI_Aint)                                      \
  WEFT_KEYVAL(p##_type_create_keyval_, P, Type_create_keyval, MPI_Datatype, MPI_Aint)                                  \
  WEFT_KEYVAL(p##_win_create_keyval_, P, Win_create_keyval, MPI_Win, MPI_Aint)                                         \
  WEFT_KEYVAL(p##_keyval_create_, P, Keyval_create, MPI_Comm, MPI_Fint)                                                \
  WEFT_SET(p##_comm_set_attr_, P, Comm_set_attr, MPI_Comm, MPI_Aint)                                                   \
  WEFT_SET(p##_type_set_attr_, P, Type_set_attr, MPI_Datatype, MPI_Aint)                                               \
  WEFT_SET(p##_win_set_attr_, P, Win_set_attr, MPI_Win, MPI_Aint)                                                      \
  WEFT_SET(p##_attr_put_, P, Attr_put, MPI_Comm, MPI_Fint)                                                             \
  WEFT_PROCEDURE p##_type_get_attr_(const MPI_Fint* datatype, const MPI_Fint* keyval, MPI_Aint* value, MPI_Fint* flag, \
                                    MPI_Fint* ierror) {                                                                \
    void* found = nullptr;                                                                                             \
    const int code = P##_Type_get_attr(Convert<MPI_Datatype>::in(*datatype), *keyval, &found, flag);                   \
    if (code == MPI_SUCCESS && *flag) *value = value_of(found);                                                        \
    give(ierror, code);                                                                                                \
  }
WEFT_BOTH(WEFT_ATTRIBUTES)

#define WEFT_F08_TOO(p)            \
  WEFT_F08(p##_comm_create_keyval) \
  WEFT_F08(p##_type_create_keyval) \
  WEFT_F08(p##_win_create_keyval)  \
  WEFT_F08(p##_comm_set_attr)      \
  WEFT_F08(p##_type_set_attr)      \
  WEFT_F08(p##_win_set_attr)       \
  WEFT_F08(p##_type_get_attr)
WEFT_F08_TOO(mpi)
WEFT_F08_TOO(pmpi)

}  // namespace weft::fortran
