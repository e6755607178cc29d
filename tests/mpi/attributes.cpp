// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Attributes: callbacks and their order, duplication, keys that are freed while in use, predefined ones, the deprecated
// names.
#include <climits>
#include <string>

#include "by_host.hpp"
#include "expect.hpp"

namespace {

std::string log;  // one letter per callback

int copy_calls(MPI_Comm, int, void* extra, void* value, void* out, int* flag) {
  log += *static_cast<char*>(extra);
  *static_cast<void**>(out) = static_cast<char*>(value) + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

int copy_refuses(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int copy_fails(MPI_Comm, int, void*, void*, void*, int*) {
  return MPI_ERR_BASE;
}
bool deleting_fails = true;
int delete_fails(MPI_Comm, int, void*, void*) {
  return deleting_fails ? MPI_ERR_BASE : MPI_SUCCESS;
}

int delete_calls(MPI_Comm, int, void*, void* extra) {
  log += static_cast<char>(*static_cast<char*>(extra) - 'a' + 'A');
  return MPI_SUCCESS;
}

char a = 'a', b = 'b', c = 'c';

int new_key(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, char* letter) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(copy, remove, &key, letter);
  return key;
}

// The offset of a value from `from`; -1 when there is none.
long value_of(MPI_Comm comm, int key, const char* from) {
  char* value = nullptr;
  int flag = -1;
  MPI_Comm_get_attr(comm, key, &value, &flag);
  return flag ? value - from : -1;
}

void callbacks_and_order() {
  char data[10];
  int first = new_key(copy_calls, delete_calls, &a), second = new_key(MPI_COMM_DUP_FN, delete_calls, &b);
  int third = new_key(MPI_COMM_NULL_COPY_FN, delete_calls, &c), refused = new_key(copy_refuses, delete_calls, &c);
  MPI_Comm comm, dup;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  EXPECT(value_of(comm, first, data) == -1, "a value before it was set");
  for (int key : {first, second, third, refused}) MPI_Comm_set_attr(comm, key, data);
  MPI_Comm_delete_attr(comm, refused);
  MPI_Comm_delete_attr(comm, refused);  // nothing there: no error, no callback
  EXPECT(log == "C", "callbacks %s", log.c_str());
  MPI_Comm_set_attr(comm, refused, data);
  log.clear();
  MPI_Comm_dup(comm, &dup);
  EXPECT(log == "a", "callbacks %s", log.c_str());
  EXPECT(value_of(dup, first, data) == 1 && value_of(dup, second, data) == 0, "wrong copies");
  EXPECT(value_of(dup, third, data) == -1 && value_of(dup, refused, data) == -1, "copied what must not be");
  MPI_Comm_set_attr(comm, first, data + 5);  // deletes the old value
  EXPECT(log == "aA" && value_of(comm, first, data) == 5, "callbacks %s", log.c_str());
  log.clear();
  MPI_Comm_free(&dup);
  EXPECT(log == "BA", "callbacks %s", log.c_str());
  log.clear();
  for (int* key : {&first, &second, &third, &refused}) {
    MPI_Comm_free_keyval(key);
    EXPECT(*key == MPI_KEYVAL_INVALID, "not set to MPI_KEYVAL_INVALID");
  }
  MPI_Comm_free(&comm);  // the callbacks outlive their keys
  EXPECT(log == "ACCB", "callbacks %s", log.c_str());
}

void failing_callbacks() {
  int bad_copy = new_key(copy_fails, MPI_COMM_NULL_DELETE_FN, nullptr);
  int bad_delete = new_key(MPI_COMM_NULL_COPY_FN, delete_fails, nullptr);
  MPI_Comm comm, dup = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, bad_copy, &a);
  EXPECT_CLASS(MPI_Comm_dup(comm, &dup), MPI_ERR_BASE);
  EXPECT(dup == MPI_COMM_NULL, "a communicator was made");
  MPI_Comm_delete_attr(comm, bad_copy);
  MPI_Comm_set_attr(comm, bad_delete, &a);
  EXPECT_CLASS(MPI_Comm_delete_attr(comm, bad_delete), MPI_ERR_BASE);
  MPI_Comm before = comm;
  EXPECT_CLASS(MPI_Comm_free(&comm), MPI_ERR_BASE);
  EXPECT(comm == before, "the communicator is gone");
  deleting_fails = false;
  MPI_Comm_free(&comm);
  EXPECT(comm == MPI_COMM_NULL, "the communicator stays");
  MPI_Comm_free_keyval(&bad_copy);
  MPI_Comm_free_keyval(&bad_delete);
}

int predefined(int key, int* flag) {
  int* value = nullptr;
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, flag);
  return *flag ? *value : 0;
}

void predefined_attributes() {
  int flag = 0;
  EXPECT(predefined(MPI_TAG_UB, &flag) == INT_MAX && flag, "MPI_TAG_UB");
  EXPECT(predefined(MPI_IO, &flag) == MPI_ANY_SOURCE && flag, "MPI_IO");
  EXPECT(predefined(MPI_HOST, &flag) == MPI_PROC_NULL && flag, "MPI_HOST");
  const bool one_host = static_cast<int>(by_host::here().size()) == expect::size;
  EXPECT(predefined(MPI_WTIME_IS_GLOBAL, &flag) == (one_host ? 1 : 0) && flag, "MPI_WTIME_IS_GLOBAL");
  EXPECT(predefined(MPI_LASTUSEDCODE, &flag) == MPI_ERR_LASTCODE && flag, "MPI_LASTUSEDCODE");
  int universe = predefined(MPI_UNIVERSE_SIZE, &flag);
  EXPECT(!flag || universe >= expect::size, "MPI_UNIVERSE_SIZE %d", universe);
  int app = predefined(MPI_APPNUM, &flag);
  EXPECT(!flag || app == 0, "MPI_APPNUM %d", app);
  EXPECT_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &flag), MPI_ERR_KEYVAL);
  EXPECT_CLASS(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_IO), MPI_ERR_KEYVAL);
}

void of_datatypes() {
  int key = MPI_KEYVAL_INVALID, flag = -1;
  MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key, nullptr);
  MPI_Datatype type, dup;
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Type_set_attr(type, key, &a);
  MPI_Type_dup(type, &dup);
  char* value = nullptr;
  MPI_Type_get_attr(dup, key, &value, &flag);
  EXPECT(flag == 1 && value == &a, "not copied");
  MPI_Type_delete_attr(dup, key);
  MPI_Type_get_attr(dup, key, &value, &flag);
  EXPECT(flag == 0, "not deleted");
  MPI_Type_set_attr(MPI_INT, key, &b);
  MPI_Type_get_attr(MPI_INT, key, &value, &flag);
  EXPECT(flag == 1 && value == &b, "a predefined type does not keep it");
  MPI_Type_delete_attr(MPI_INT, key);
  EXPECT_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &a), MPI_ERR_KEYVAL);  // of another kind of object
  MPI_Type_free(&type);
  MPI_Type_free(&dup);
  MPI_Type_free_keyval(&key);
}

void deprecated_names() {
  int key = MPI_KEYVAL_INVALID, flag = -1;
  char* value = nullptr;
  MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, nullptr);
  MPI_Attr_put(MPI_COMM_WORLD, key, &c);
  MPI_Attr_get(MPI_COMM_WORLD, key, &value, &flag);
  EXPECT(flag == 1 && value == &c, "not kept");
  MPI_Attr_delete(MPI_COMM_WORLD, key);
  MPI_Attr_get(MPI_COMM_WORLD, key, &value, &flag);
  EXPECT(flag == 0, "not deleted");
  MPI_Keyval_free(&key);
}

int delete_frees_key(MPI_Comm, int key, void*, void*) {
  log += 'F';
  return MPI_Comm_free_keyval(&key);
}

void freed_keys_in_use() {
  int key = new_key(MPI_COMM_DUP_FN, delete_calls, &a), copy = key;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, key, &b);
  MPI_Comm_free_keyval(&key);
  log.clear();
  EXPECT(value_of(comm, copy, &b) == 0, "the value cannot be read");
  EXPECT_CLASS(MPI_Comm_set_attr(comm, copy, &a), MPI_ERR_KEYVAL);
  key = copy;
  EXPECT(MPI_Comm_free_keyval(&key) == MPI_SUCCESS && key == MPI_KEYVAL_INVALID, "not freed once more");
  EXPECT(MPI_Comm_delete_attr(comm, copy) == MPI_SUCCESS && log == "A", "callbacks %s", log.c_str());
  EXPECT_CLASS(MPI_Comm_delete_attr(comm, copy), MPI_ERR_KEYVAL);  // now nothing uses it
  key = new_key(MPI_COMM_NULL_COPY_FN, delete_frees_key, nullptr);
  MPI_Comm_set_attr(comm, key, &a);
  MPI_Comm_set_attr(comm, key, &b);  // replaces: the callback frees the key
  EXPECT(log == "AF" && value_of(comm, key, &b) == 0, "callbacks %s", log.c_str());
  MPI_Comm_free(&comm);
  EXPECT(log == "AFF", "callbacks %s", log.c_str());
  EXPECT_CLASS(MPI_Comm_free_keyval(&key), MPI_ERR_KEYVAL);
}

void wrong_arguments() {
  int key = new_key(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, nullptr), copy = key, flag = 0;
  void* value = nullptr;
  EXPECT_CLASS(MPI_Comm_set_attr(MPI_COMM_NULL, key, nullptr), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Comm_get_attr(MPI_COMM_WORLD, key, nullptr, &flag), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value, &flag), MPI_ERR_KEYVAL);
  EXPECT_CLASS(MPI_Type_get_attr(MPI_DATATYPE_NULL, key, &value, &flag), MPI_ERR_TYPE);
  MPI_Comm_free_keyval(&key);
  EXPECT_CLASS(MPI_Comm_free_keyval(&copy), MPI_ERR_KEYVAL);
  EXPECT_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, copy, nullptr), MPI_ERR_KEYVAL);
  EXPECT_CLASS(MPI_Comm_create_keyval(nullptr, nullptr, nullptr, nullptr), MPI_ERR_ARG);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  callbacks_and_order();
  failing_callbacks();
  predefined_attributes();
  of_datatypes();
  deprecated_names();
  freed_keys_in_use();
  wrong_arguments();
  return expect::finish();
}
