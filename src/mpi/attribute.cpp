// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/attribute.hpp"

#include <algorithm>
#include <climits>
#include <map>
#include <vector>

#include "core/world.hpp"
#include "mpi/error_codes.hpp"
#include "mpi/functions.hpp"
#include "mpi/handles.hpp"
#include "mpi/type_record.hpp"

namespace weft::mpi {
namespace {

enum class Scope : uint8_t { comm, type };

// The callbacks of communicators and of datatypes differ only in the handle, which is a pointer in both.
using Copy = int (*)(void* handle, int keyval, void* extra_state, void* value, void* value_out, int* flag);
using Delete = int (*)(void* handle, int keyval, void* value, void* extra_state);

struct Keyval {
  int id;
  Scope scope;
  Copy copy;
  Delete remove;
  void* extra_state;
  bool freed = false;  // by the program: no new values; it lives while values use it
  int uses = 0;
};

struct Value {
  Keyval* key;
  void* value;
};

// Made on first need, kept until the process ends. Ids are not given twice.
constinit std::map<int, Keyval>* keyvals = nullptr;
constinit int next_keyval = 1000;

template <class Function, class Given>
Function erased(Given given) {
  return reinterpret_cast<Function>(reinterpret_cast<void (*)()>(given));
}

bool copies_by_value(Copy copy) {
  return copy == erased<Copy>(MPI_DUP_FN);
}

}  // namespace

struct Attributes {
  std::vector<Value> values;  // in the order they were set
};

namespace {

// An object that can carry attributes.
struct Carrier {
  Scope scope;
  void* handle;
  Attributes** attributes;
  const Comm* comm;  // whose error handler is asked
};

Carrier carrier_of(Comm& comm) {
  return {Scope::comm, comm_handle(&comm), &comm.attributes, &comm};
}
Carrier carrier_of(Type& type) {
  return {Scope::type, type_handle(&type), &record_of(type).attributes, nullptr};
}

// A freed key is found while values use it: they are read and deleted through it (MPI-5.0, 7.7.2), and callbacks that
// get it may free it once more.
Keyval* find_key(Scope scope, int id) {
  if (keyvals == nullptr) return nullptr;
  auto at = keyvals->find(id);
  return at == keyvals->end() || at->second.scope != scope ? nullptr : &at->second;
}

void release(Keyval* key) {
  --key->uses;
  if (key->freed && key->uses == 0) keyvals->erase(key->id);
}

std::vector<Value>::iterator find_value(Attributes& attributes, const Keyval* key) {
  return std::find_if(attributes.values.begin(), attributes.values.end(), [&](Value& v) { return v.key == key; });
}

// Runs the delete callback and forgets the value. The callback may itself change the attributes, so the value is looked
// up again.
int remove(const Carrier& carrier, Value value) {
  if (value.key->remove != nullptr) {
    int error = value.key->remove(carrier.handle, value.key->id, value.value, value.key->extra_state);
    if (error != MPI_SUCCESS) return error;
  }
  Attributes& attributes = **carrier.attributes;
  auto at = find_value(attributes, value.key);
  if (at == attributes.values.end()) return MPI_SUCCESS;
  attributes.values.erase(at);
  release(value.key);
  return MPI_SUCCESS;
}

int remove_all(const Carrier& carrier) {
  if (*carrier.attributes == nullptr) return MPI_SUCCESS;
  while (!(*carrier.attributes)->values.empty()) {
    int error = remove(carrier, (*carrier.attributes)->values.back());
    if (error != MPI_SUCCESS) return error;
  }
  delete *carrier.attributes;
  *carrier.attributes = nullptr;
  return MPI_SUCCESS;
}

void put(const Carrier& carrier, Keyval* key, void* value) {
  if (*carrier.attributes == nullptr) *carrier.attributes = new Attributes;
  (*carrier.attributes)->values.push_back({key, value});
  ++key->uses;
}

int copy_all(const Carrier& from, const Carrier& to) {
  if (*from.attributes == nullptr) return MPI_SUCCESS;
  const std::vector<Value> values = (*from.attributes)->values;  // a callback may change the list
  for (const Value& value : values) {
    if (value.key->copy == nullptr) continue;
    void* copied = value.value;
    int flag = 1;
    if (!copies_by_value(value.key->copy)) {
      flag = 0;
      int error = value.key->copy(from.handle, value.key->id, value.key->extra_state, value.value, &copied, &flag);
      if (error != MPI_SUCCESS) return error;
    }
    if (flag != 0) put(to, value.key, copied);
  }
  return MPI_SUCCESS;
}

// Predefined attributes of communicators: the value is a pointer to an int. -1: no such key; 0: has no value now.
int predefined_value(int keyval, void** value) {
  static int tag_ub, io, host, wtime_is_global, appnum, lastusedcode, universe_size;
  const boot::Job& job = core::world.job;
  switch (keyval) {
    case MPI_TAG_UB:
      tag_ub = INT_MAX;
      *value = &tag_ub;
      return 1;
    case MPI_IO:
      io = MPI_ANY_SOURCE;  // every process can
      *value = &io;
      return 1;
    case MPI_HOST:
      host = MPI_PROC_NULL;  // no process is special
      *value = &host;
      return 1;
    case MPI_WTIME_IS_GLOBAL:
      wtime_is_global = 1;  // one host, one monotonic clock
      *value = &wtime_is_global;
      return 1;
    case MPI_APPNUM:
      appnum = job.app_number;
      *value = &appnum;
      return appnum >= 0;
    case MPI_LASTUSEDCODE:
      lastusedcode = last_used_error_code();
      *value = &lastusedcode;
      return 1;
    case MPI_UNIVERSE_SIZE:
      universe_size = job.universe_size;
      *value = &universe_size;
      return universe_size >= 0;
    default:
      return -1;
  }
}

bool is_predefined(int keyval) {
  void* unused;
  return predefined_value(keyval, &unused) >= 0;
}

int bad_key(const Carrier& carrier, const char* function, int keyval) {
  const char* kind = carrier.scope == Scope::comm ? "communicators" : "datatypes";
  const char* why = keyval == MPI_KEYVAL_INVALID ? "it is MPI_KEYVAL_INVALID"
                    : is_predefined(keyval)      ? "it is predefined and read-only"
                                                 : "it was never made, was freed, or is of another kind of object";
  return fail(carrier.comm, function, MPI_ERR_KEYVAL, "%d is no key of attributes of %s: %s", keyval, kind, why);
}

int create(const char* function, Scope scope, Copy copy, Delete remove, int* keyval, void* extra_state) {
  if (keyval == nullptr) return null_argument(nullptr, function, "keyval");
  if (keyvals == nullptr) keyvals = new std::map<int, Keyval>;
  *keyval = next_keyval++;
  keyvals->emplace(*keyval, Keyval{*keyval, scope, copy, remove, extra_state});
  return MPI_SUCCESS;
}

int free_key(const char* function, Scope scope, int* keyval) {
  if (keyval == nullptr) return null_argument(nullptr, function, "keyval");
  Keyval* key = find_key(scope, *keyval);
  if (key == nullptr) return bad_key({scope, nullptr, nullptr, nullptr}, function, *keyval);
  key->freed = true;
  ++key->uses;
  release(key);
  *keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

int set(const char* function, const Carrier& carrier, int keyval, void* value) {
  Keyval* key = find_key(carrier.scope, keyval);
  if (key == nullptr || key->freed) return bad_key(carrier, function, keyval);
  if (*carrier.attributes != nullptr) {
    auto at = find_value(**carrier.attributes, key);
    if (at != (*carrier.attributes)->values.end()) {
      ++key->uses;  // the callback may free the key
      int error = remove(carrier, *at);
      if (error == MPI_SUCCESS) put(carrier, key, value);
      release(key);
      if (error != MPI_SUCCESS) return fail(carrier.comm, function, error, "the delete callback returned an error");
      return MPI_SUCCESS;
    }
  }
  put(carrier, key, value);
  return MPI_SUCCESS;
}

int get(const char* function, const Carrier& carrier, int keyval, void* value, int* flag) {
  if (value == nullptr) return null_argument(carrier.comm, function, "attribute_val");
  if (flag == nullptr) return null_argument(carrier.comm, function, "flag");
  auto* out = static_cast<void**>(value);
  if (carrier.scope == Scope::comm && is_predefined(keyval)) {
    void* found = nullptr;
    *flag = predefined_value(keyval, &found);
    if (*flag != 0) *out = found;
    return MPI_SUCCESS;
  }
  Keyval* key = find_key(carrier.scope, keyval);
  if (key == nullptr) return bad_key(carrier, function, keyval);
  *flag = 0;
  if (*carrier.attributes == nullptr) return MPI_SUCCESS;
  auto at = find_value(**carrier.attributes, key);
  if (at == (*carrier.attributes)->values.end()) return MPI_SUCCESS;
  *out = at->value;
  *flag = 1;
  return MPI_SUCCESS;
}

// Deleting a value that is not there is not an error (MPI-5.0, 7.7.2).
int remove_one(const char* function, const Carrier& carrier, int keyval) {
  Keyval* key = find_key(carrier.scope, keyval);
  if (key == nullptr) return bad_key(carrier, function, keyval);
  if (*carrier.attributes == nullptr) return MPI_SUCCESS;
  auto at = find_value(**carrier.attributes, key);
  if (at == (*carrier.attributes)->values.end()) return MPI_SUCCESS;
  int error = remove(carrier, *at);
  if (error != MPI_SUCCESS) return fail(carrier.comm, function, error, "the delete callback returned an error");
  return MPI_SUCCESS;
}

int set_on_comm(const char* function, MPI_Comm comm, int keyval, void* value) {
  Comm* c = comm_of(comm);
  return c == nullptr ? bad_comm(function, comm) : set(function, carrier_of(*c), keyval, value);
}

int get_of_comm(const char* function, MPI_Comm comm, int keyval, void* value, int* flag) {
  Comm* c = comm_of(comm);
  return c == nullptr ? bad_comm(function, comm) : get(function, carrier_of(*c), keyval, value, flag);
}

int delete_of_comm(const char* function, MPI_Comm comm, int keyval) {
  Comm* c = comm_of(comm);
  return c == nullptr ? bad_comm(function, comm) : remove_one(function, carrier_of(*c), keyval);
}

}  // namespace

int delete_attributes(Comm& comm) {
  return remove_all(carrier_of(comm));
}
int delete_attributes(Type& type) {
  return remove_all(carrier_of(type));
}
int copy_attributes(Comm& from, Comm& to) {
  return copy_all(carrier_of(from), carrier_of(to));
}
int copy_attributes(Type& from, Type& to) {
  return copy_all(carrier_of(from), carrier_of(to));
}

int comm_create_keyval(MPI_Comm_copy_attr_function* comm_copy_attr_fn,
                       MPI_Comm_delete_attr_function* comm_delete_attr_fn, int* comm_keyval, void* extra_state) {
  return create("MPI_Comm_create_keyval", Scope::comm, erased<Copy>(comm_copy_attr_fn),
                erased<Delete>(comm_delete_attr_fn), comm_keyval, extra_state);
}

int comm_free_keyval(int* comm_keyval) {
  return free_key("MPI_Comm_free_keyval", Scope::comm, comm_keyval);
}

int comm_set_attr(MPI_Comm comm, int comm_keyval, void* attribute_val) {
  return set_on_comm("MPI_Comm_set_attr", comm, comm_keyval, attribute_val);
}

int comm_get_attr(MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag) {
  return get_of_comm("MPI_Comm_get_attr", comm, comm_keyval, attribute_val, flag);
}

int comm_delete_attr(MPI_Comm comm, int comm_keyval) {
  return delete_of_comm("MPI_Comm_delete_attr", comm, comm_keyval);
}

int keyval_create(MPI_Copy_function* copy_fn, MPI_Delete_function* delete_fn, int* keyval, void* extra_state) {
  return create("MPI_Keyval_create", Scope::comm, erased<Copy>(copy_fn), erased<Delete>(delete_fn), keyval,
                extra_state);
}

int keyval_free(int* keyval) {
  return free_key("MPI_Keyval_free", Scope::comm, keyval);
}

int attr_put(MPI_Comm comm, int keyval, void* attribute_val) {
  return set_on_comm("MPI_Attr_put", comm, keyval, attribute_val);
}

int attr_get(MPI_Comm comm, int keyval, void* attribute_val, int* flag) {
  return get_of_comm("MPI_Attr_get", comm, keyval, attribute_val, flag);
}

int attr_delete(MPI_Comm comm, int keyval) {
  return delete_of_comm("MPI_Attr_delete", comm, keyval);
}

int type_create_keyval(MPI_Type_copy_attr_function* type_copy_attr_fn,
                       MPI_Type_delete_attr_function* type_delete_attr_fn, int* type_keyval, void* extra_state) {
  return create("MPI_Type_create_keyval", Scope::type, erased<Copy>(type_copy_attr_fn),
                erased<Delete>(type_delete_attr_fn), type_keyval, extra_state);
}

int type_free_keyval(int* type_keyval) {
  return free_key("MPI_Type_free_keyval", Scope::type, type_keyval);
}

int type_set_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val) {
  Type* t = type_of(datatype);
  if (t == nullptr) return bad_type(nullptr, "MPI_Type_set_attr", datatype);
  return set("MPI_Type_set_attr", carrier_of(*t), type_keyval, attribute_val);
}

int type_get_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val, int* flag) {
  Type* t = type_of(datatype);
  if (t == nullptr) return bad_type(nullptr, "MPI_Type_get_attr", datatype);
  return get("MPI_Type_get_attr", carrier_of(*t), type_keyval, attribute_val, flag);
}

int type_delete_attr(MPI_Datatype datatype, int type_keyval) {
  Type* t = type_of(datatype);
  if (t == nullptr) return bad_type(nullptr, "MPI_Type_delete_attr", datatype);
  return remove_one("MPI_Type_delete_attr", carrier_of(*t), type_keyval);
}

}  // namespace weft::mpi
