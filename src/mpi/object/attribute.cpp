// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/object/attribute.hpp"

#include <algorithm>
#include <atomic>
#include <climits>
#include <iterator>
#include <list>
#include <map>
#include <mutex>
#include <vector>

#include "core/object/identity.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {
namespace {

enum class KeyScope : uint8_t { comm, type, window };

// A callback, whose type the scope of its key tells.
using Callback = void (*)();

struct Keyval {
  int id;
  KeyScope scope;
  Callback copy;
  Callback remove;
  void* extra_state;
  bool freed = false;  // by the program: no new values
  int uses = 0;        // by values and by calls under way; a freed key goes with the last
};

struct Value {
  Keyval* key;
  void* value;
  bool leaving = false;  // its delete callback runs: it is still read, and no other thread deletes it
};

// Guards all keys and all values. The program's callbacks run without it, and may use any of the functions here: a key
// that must outlast a callback has a use, and a value is marked as leaving.
constinit base::Lock keys_guard;
using Locked = std::unique_lock<base::Lock>;

// Made on first need, kept until the process ends. Ids are not given twice.
constinit std::map<int, Keyval>* keyvals = nullptr;
constinit int next_keyval = 1000;

template <class Function>
Callback erased(Function* given) {
  return reinterpret_cast<Callback>(given);
}

bool copies_by_value(Callback copy) {
  return copy == erased(MPI_DUP_FN);
}

int call_copy(const Keyval& key, void* from, void* value, void* copied, int* flag) {
  switch (key.scope) {
    case KeyScope::comm:
      return reinterpret_cast<MPI_Comm_copy_attr_function*>(key.copy)(static_cast<MPI_Comm>(from), key.id,
                                                                      key.extra_state, value, copied, flag);
    case KeyScope::type:
      return reinterpret_cast<MPI_Type_copy_attr_function*>(key.copy)(static_cast<MPI_Datatype>(from), key.id,
                                                                      key.extra_state, value, copied, flag);
    case KeyScope::window:
      return reinterpret_cast<MPI_Win_copy_attr_function*>(key.copy)(static_cast<MPI_Win>(from), key.id,
                                                                     key.extra_state, value, copied, flag);
  }
  return MPI_SUCCESS;
}

int call_delete(const Keyval& key, void* from, void* value) {
  switch (key.scope) {
    case KeyScope::comm:
      return reinterpret_cast<MPI_Comm_delete_attr_function*>(key.remove)(static_cast<MPI_Comm>(from), key.id, value,
                                                                          key.extra_state);
    case KeyScope::type:
      return reinterpret_cast<MPI_Type_delete_attr_function*>(key.remove)(static_cast<MPI_Datatype>(from), key.id,
                                                                          value, key.extra_state);
    case KeyScope::window:
      return reinterpret_cast<MPI_Win_delete_attr_function*>(key.remove)(static_cast<MPI_Win>(from), key.id, value,
                                                                         key.extra_state);
  }
  return MPI_SUCCESS;
}

}  // namespace

struct Attributes {
  std::list<Value> values;  // in the order they were set; of a key one at most that is not leaving
};

namespace {

using Place = std::list<Value>::iterator;

// An object that can carry attributes.
struct AttributeOwner {
  KeyScope scope;
  void* handle;
  Attributes** attributes;
  ErrorsOn errors;
  Win* win = nullptr;

  // The caller holds the lock.
  std::list<Value>* values() const { return *attributes == nullptr ? nullptr : &(*attributes)->values; }
};

AttributeOwner carrier_of(Comm& comm) {
  return {KeyScope::comm, comm_handle(&comm), &comm.attributes, &comm};
}
AttributeOwner carrier_of(Type& type) {
  return {KeyScope::type, type_handle(&type), &record_of(type).attributes, nullptr};
}
AttributeOwner carrier_of(Win& win) {
  return {KeyScope::window, win_handle(&win), &win.attributes, &win, &win};
}

// ---- Functions whose caller holds the lock

// A freed key is found while values use it: they are read and deleted through it (MPI-5.0, 7.7.2), and callbacks that
// get it may free it once more.
Keyval* find_key(KeyScope scope, int id) {
  if (keyvals == nullptr) return nullptr;
  auto at = keyvals->find(id);
  return at == keyvals->end() || at->second.scope != scope ? nullptr : &at->second;
}

void release(Keyval* key) {
  --key->uses;
  if (key->freed && key->uses == 0) keyvals->erase(key->id);
}

// The value of a key that is not leaving; false: there is none.
bool find_value(const AttributeOwner& carrier, const Keyval* key, Place& place) {
  std::list<Value>* values = carrier.values();
  if (values == nullptr) return false;
  place = std::find_if(values->begin(), values->end(), [&](const Value& v) { return v.key == key && !v.leaving; });
  return place != values->end();
}

void put(const AttributeOwner& carrier, Keyval* key, void* value) {
  if (*carrier.attributes == nullptr) *carrier.attributes = new Attributes;
  carrier.values()->push_back({key, value});
  ++key->uses;
}

void forget(const AttributeOwner& carrier, Place place) {
  Keyval* key = place->key;
  carrier.values()->erase(place);
  release(key);
}

// Runs the delete callback, without the lock, and forgets the value. When the callback fails the value stays, unless
// another thread has set the key meanwhile.
int remove(Locked& locked, const AttributeOwner& carrier, Place place) {
  const Value value = *place;
  if (value.key->remove != nullptr) {
    place->leaving = true;
    locked.unlock();
    int error = call_delete(*value.key, carrier.handle, value.value);
    locked.lock();
    Place other;
    if (error != MPI_SUCCESS) {
      if (find_value(carrier, value.key, other)) {
        forget(carrier, place);
      } else {
        place->leaving = false;
      }
      return error;
    }
  }
  forget(carrier, place);
  return MPI_SUCCESS;
}

// ----

int remove_all(const AttributeOwner& carrier) {
  Locked locked(keys_guard);
  for (;;) {
    std::list<Value>* values = carrier.values();
    if (values == nullptr) return MPI_SUCCESS;
    auto last = std::find_if(values->rbegin(), values->rend(), [](const Value& v) { return !v.leaving; });
    if (last == values->rend()) break;
    if (int error = remove(locked, carrier, std::prev(last.base()))) return error;
  }
  if (carrier.values()->empty()) {  // else this call comes from a callback, which has its value to forget yet
    delete *carrier.attributes;
    *carrier.attributes = nullptr;
  }
  return MPI_SUCCESS;
}

int copy_one(const AttributeOwner& from, const AttributeOwner& to, const Value& value) {
  if (value.key->copy == nullptr) return MPI_SUCCESS;
  void* copied = value.value;
  int flag = 1;
  if (!copies_by_value(value.key->copy)) {
    flag = 0;
    int error = call_copy(*value.key, from.handle, value.value, &copied, &flag);
    if (error != MPI_SUCCESS) return error;
  }
  Locked locked(keys_guard);
  if (flag != 0) put(to, value.key, copied);
  return MPI_SUCCESS;
}

int copy_all(const AttributeOwner& from, const AttributeOwner& to) {
  std::vector<Value> values;  // callbacks may change the list
  {
    Locked locked(keys_guard);
    if (from.values() == nullptr) return MPI_SUCCESS;
    for (const Value& value : *from.values()) {
      if (value.leaving) continue;
      values.push_back(value);
      ++value.key->uses;
    }
  }
  int error = MPI_SUCCESS;
  for (const Value& value : values) {
    if (error == MPI_SUCCESS) error = copy_one(from, to, value);
  }
  Locked locked(keys_guard);
  for (const Value& value : values) release(value.key);
  return error;
}

// The values of predefined attributes are pointers to these. Constant values are written once, as programs read them
// without a lock.
struct PredefinedValues {
  int tag_ub = INT_MAX;
  int io = MPI_ANY_SOURCE;                                       // every process can
  int host = MPI_PROC_NULL;                                      // no process is special
  int wtime_is_global = core::identity->job.one_host() ? 1 : 0;  // one monotonic clock
  int appnum = core::identity->job.app_number;
  int universe_size = core::identity->job.universe_size;
  int last_used_code = 0;
};

void* last_used_code_of(PredefinedValues& predefined) {
  const int now = last_used_error_code();
  std::atomic_ref known(predefined.last_used_code);
  if (known.load(std::memory_order_relaxed) != now) known.store(now, std::memory_order_relaxed);
  return &predefined.last_used_code;
}

// The value of a predefined attribute of communicators is a pointer to an int. Returns 1 if there is a value, 0 if the
// key has none now, -1 if there is no such key.
int predefined_value(int keyval, void** value) {
  static PredefinedValues predefined;  // made when MPI runs: only then is there a communicator to ask
  switch (keyval) {
    case MPI_TAG_UB:
      *value = &predefined.tag_ub;
      return 1;
    case MPI_IO:
      *value = &predefined.io;
      return 1;
    case MPI_HOST:
      *value = &predefined.host;
      return 1;
    case MPI_WTIME_IS_GLOBAL:
      *value = &predefined.wtime_is_global;
      return 1;
    case MPI_APPNUM:
      *value = &predefined.appnum;
      return predefined.appnum >= 0;
    case MPI_LASTUSEDCODE:
      *value = last_used_code_of(predefined);
      return 1;
    case MPI_UNIVERSE_SIZE:
      *value = &predefined.universe_size;
      return predefined.universe_size >= 0;
    default:
      return -1;
  }
}

// The value of a predefined attribute of windows is the address that the window begins at, or a pointer to a number.
int predefined_value(Win& win, int keyval, void** value) {
  switch (keyval) {
    case MPI_WIN_BASE:
      *value = win.base;
      return 1;
    case MPI_WIN_SIZE:
      *value = &win.size_value;
      return 1;
    case MPI_WIN_DISP_UNIT:
      *value = &win.unit_value;
      return win.unit_value != 0;
    case MPI_WIN_CREATE_FLAVOR:
      *value = &win.flavor_value;
      return 1;
    case MPI_WIN_MODEL:
      *value = &win.model_value;
      return 1;
    default:
      return -1;
  }
}

bool is_predefined(KeyScope scope, int keyval) {
  void* unused;
  if (scope == KeyScope::comm) return predefined_value(keyval, &unused) >= 0;
  return scope == KeyScope::window && keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL;
}

const char* kind_of(KeyScope scope) {
  switch (scope) {
    case KeyScope::comm:
      return "communicators";
    case KeyScope::type:
      return "datatypes";
    case KeyScope::window:
      return "windows";
  }
  return "";
}

int bad_key(const AttributeOwner& carrier, const char* function, int keyval) {
  const char* why = keyval == MPI_KEYVAL_INVALID ? "it is MPI_KEYVAL_INVALID"
                    : is_predefined(carrier.scope, keyval)
                        ? "it is predefined and read-only"
                        : "it was never made, was freed, or is of another kind of object";
  return fail(carrier.errors, function, MPI_ERR_KEYVAL, "%d is no key of attributes of %s: %s", keyval,
              kind_of(carrier.scope), why);
}

int create(const char* function, KeyScope scope, Callback copy, Callback remove, int* keyval, void* extra_state) {
  if (no_address(keyval)) return null_argument(nullptr, function, "keyval");
  Locked locked(keys_guard);
  if (keyvals == nullptr) keyvals = new std::map<int, Keyval>;
  *keyval = next_keyval++;
  keyvals->emplace(*keyval, Keyval{*keyval, scope, copy, remove, extra_state});
  return MPI_SUCCESS;
}

// Errors are raised without the lock: the program's error handler may call anything.

int free_key(const char* function, KeyScope scope, int* keyval) {
  if (no_address(keyval)) return null_argument(nullptr, function, "keyval");
  Locked locked(keys_guard);
  Keyval* key = find_key(scope, *keyval);
  if (key == nullptr) {
    locked.unlock();
    return bad_key({scope, nullptr, nullptr, nullptr}, function, *keyval);
  }
  key->freed = true;
  ++key->uses;
  release(key);
  *keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

int bad_delete(const AttributeOwner& carrier, const char* function, int error) {
  return fail(carrier.errors, function, error, "the delete callback returned an error");
}

int set(const char* function, const AttributeOwner& carrier, int keyval, void* value) {
  Locked locked(keys_guard);
  Keyval* key = find_key(carrier.scope, keyval);
  if (key == nullptr || key->freed) {
    locked.unlock();
    return bad_key(carrier, function, keyval);
  }
  ++key->uses;  // a callback may free the key
  int error = MPI_SUCCESS;
  Place before;
  while (error == MPI_SUCCESS && find_value(carrier, key, before)) error = remove(locked, carrier, before);
  if (error == MPI_SUCCESS) put(carrier, key, value);
  release(key);
  locked.unlock();
  return error == MPI_SUCCESS ? MPI_SUCCESS : bad_delete(carrier, function, error);
}

int get(const char* function, const AttributeOwner& carrier, int keyval, void* value, int* flag) {
  if (no_address(value)) return null_argument(carrier.errors, function, "attribute_val");
  if (no_address(flag)) return null_argument(carrier.errors, function, "flag");
  auto* out = static_cast<void**>(value);
  if (is_predefined(carrier.scope, keyval)) {
    void* found = nullptr;
    *flag = carrier.win == nullptr ? predefined_value(keyval, &found) : predefined_value(*carrier.win, keyval, &found);
    if (*flag != 0) *out = found;
    return MPI_SUCCESS;
  }
  Locked locked(keys_guard);
  Keyval* key = find_key(carrier.scope, keyval);
  if (key == nullptr) {
    locked.unlock();
    return bad_key(carrier, function, keyval);
  }
  *flag = 0;
  if (carrier.values() == nullptr) return MPI_SUCCESS;
  for (const Value& found : *carrier.values()) {
    if (found.key != key) continue;
    *out = found.value;
    *flag = 1;
    if (!found.leaving) break;
  }
  return MPI_SUCCESS;
}

// Deleting a value that is not there is not an error (MPI-5.0, 7.7.2).
int remove_one(const char* function, const AttributeOwner& carrier, int keyval) {
  Locked locked(keys_guard);
  Keyval* key = find_key(carrier.scope, keyval);
  Place place;
  int error = MPI_SUCCESS;
  if (key != nullptr && find_value(carrier, key, place)) error = remove(locked, carrier, place);
  locked.unlock();
  if (key == nullptr) return bad_key(carrier, function, keyval);
  return error == MPI_SUCCESS ? MPI_SUCCESS : bad_delete(carrier, function, error);
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
int delete_attributes(Win& win) {
  return remove_all(carrier_of(win));
}
int copy_attributes(Comm& from, Comm& to) {
  return copy_all(carrier_of(from), carrier_of(to));
}
int copy_attributes(Type& from, Type& to) {
  return copy_all(carrier_of(from), carrier_of(to));
}

int comm_create_keyval(MPI_Comm_copy_attr_function* comm_copy_attr_fn,
                       MPI_Comm_delete_attr_function* comm_delete_attr_fn, int* comm_keyval, void* extra_state) {
  return create("MPI_Comm_create_keyval", KeyScope::comm, erased(comm_copy_attr_fn), erased(comm_delete_attr_fn),
                comm_keyval, extra_state);
}

int comm_free_keyval(int* comm_keyval) {
  return free_key("MPI_Comm_free_keyval", KeyScope::comm, comm_keyval);
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
  return create("MPI_Keyval_create", KeyScope::comm, erased(copy_fn), erased(delete_fn), keyval, extra_state);
}

int keyval_free(int* keyval) {
  return free_key("MPI_Keyval_free", KeyScope::comm, keyval);
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
  return create("MPI_Type_create_keyval", KeyScope::type, erased(type_copy_attr_fn), erased(type_delete_attr_fn),
                type_keyval, extra_state);
}

int type_free_keyval(int* type_keyval) {
  return free_key("MPI_Type_free_keyval", KeyScope::type, type_keyval);
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

int win_create_keyval(MPI_Win_copy_attr_function* win_copy_attr_fn, MPI_Win_delete_attr_function* win_delete_attr_fn,
                      int* win_keyval, void* extra_state) {
  return create("MPI_Win_create_keyval", KeyScope::window, erased(win_copy_attr_fn), erased(win_delete_attr_fn),
                win_keyval, extra_state);
}

int win_free_keyval(int* win_keyval) {
  return free_key("MPI_Win_free_keyval", KeyScope::window, win_keyval);
}

int win_set_attr(MPI_Win win, int win_keyval, void* attribute_val) {
  static const char* function = "MPI_Win_set_attr";
  Win* w = win_of(win);
  return w == nullptr ? bad_win(function, win) : set(function, carrier_of(*w), win_keyval, attribute_val);
}

int win_get_attr(MPI_Win win, int win_keyval, void* attribute_val, int* flag) {
  static const char* function = "MPI_Win_get_attr";
  Win* w = win_of(win);
  return w == nullptr ? bad_win(function, win) : get(function, carrier_of(*w), win_keyval, attribute_val, flag);
}

int win_delete_attr(MPI_Win win, int win_keyval) {
  static const char* function = "MPI_Win_delete_attr";
  Win* w = win_of(win);
  return w == nullptr ? bad_win(function, win) : remove_one(function, carrier_of(*w), win_keyval);
}

}  // namespace weft::mpi
