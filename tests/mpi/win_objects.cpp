// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The objects of windows beside their memory (MPI-5.0, 12.2): attributes, names, info, groups, error handlers and
// handles.
#include <string>

#include "windows.hpp"

using expect::rank;
using expect::size;

namespace {

int deleted = 0;
int forget(MPI_Win, int, void* value, void* extra) {
  deleted += *static_cast<int*>(value) * *static_cast<int*>(extra);
  return MPI_SUCCESS;
}

void own_attributes() {
  int keyval = MPI_KEYVAL_INVALID, extra = 10, flag = 0, values[] = {1, 2, 3};
  windows::Window<int> window(1);  // ends before them, with a value that its end deletes
  void* value = nullptr;
  deleted = 0;
  OK(MPI_Win_create_keyval(MPI_WIN_DUP_FN, forget, &keyval, &extra));
  EXPECT(keyval != MPI_KEYVAL_INVALID, "no key");
  OK(MPI_Win_get_attr(window, keyval, static_cast<void*>(&value), &flag));
  EXPECT(flag == 0, "a value before any was set");
  OK(MPI_Win_set_attr(window, keyval, &values[0]));
  OK(MPI_Win_get_attr(window, keyval, static_cast<void*>(&value), &flag));
  EXPECT(flag != 0 && value == &values[0], "%p", value);
  OK(MPI_Win_set_attr(window, keyval, &values[1]));
  EXPECT(deleted == 10, "%d after the value was replaced", deleted);
  OK(MPI_Win_delete_attr(window, keyval));
  EXPECT(deleted == 30, "%d after the value was deleted", deleted);
  {
    windows::Window<int> other(1);
    OK(MPI_Win_set_attr(other, keyval, &values[2]));
    OK(MPI_Win_set_attr(window, keyval, &values[0]));
    int key = keyval;
    OK(MPI_Win_free_keyval(&key));  // values stay until their windows end
    EXPECT(key == MPI_KEYVAL_INVALID, "the key stays");
  }
  EXPECT(deleted == 60, "%d after a window's end", deleted);
  OK(MPI_Win_get_attr(window, keyval, static_cast<void*>(&value), &flag));
  EXPECT(flag != 0 && value == &values[0], "%p", value);
  OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, nullptr));
  OK(MPI_Win_set_attr(window, keyval, nullptr));
  OK(MPI_Win_get_attr(window, keyval, static_cast<void*>(&value), &flag));
  EXPECT(flag != 0 && value == nullptr, "%p", value);
  OK(MPI_Win_free_keyval(&keyval));
}

void names() {
  windows::Window<int> window(1);
  char name[MPI_MAX_OBJECT_NAME] = "?";
  int length = -1;
  OK(MPI_Win_get_name(window, name, &length));
  EXPECT(length == 0 && name[0] == '\0', "'%s'", name);
  OK(MPI_Win_set_name(window, "a window"));
  OK(MPI_Win_get_name(window, name, &length));
  EXPECT(length == 8 && strcmp(name, "a window") == 0, "'%s'", name);
  const std::string longest(MPI_MAX_OBJECT_NAME - 1, 'w');
  OK(MPI_Win_set_name(window, longest.c_str()));
  OK(MPI_Win_get_name(window, name, &length));
  EXPECT(length == MPI_MAX_OBJECT_NAME - 1 && longest == name, "'%s'", name);
}

void group() {
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
  {
    windows::Window<int> window(1, 0, MPI_INFO_NULL, reversed);
    MPI_Group mine, wanted;
    int result = -1;
    OK(MPI_Win_get_group(window, &mine));
    MPI_Comm_group(reversed, &wanted);
    MPI_Group_compare(mine, wanted, &result);
    EXPECT(result == MPI_IDENT, "%d", result);
    MPI_Group_free(&mine);
    MPI_Group_free(&wanted);
    MPI_Comm_free(&reversed);  // the window lives on
    OK(MPI_Win_fence(0, window));
    const int value = 1 + rank, there = (size - 1 - rank + 1) % size;
    OK(MPI_Put(&value, 1, MPI_INT, there, 0, 1, MPI_INT, window));
    OK(MPI_Win_fence(0, window));
    EXPECT(window[0] == 1 + windows::right(), "%d", window[0]);
  }
}

// Hints a program may give, each kept by what it does then.
void info() {
  static const char* const hints[][2] = {{"no_locks", "true"},
                                         {"accumulate_ordering", "none"},
                                         {"accumulate_ordering", "rar,waw"},
                                         {"accumulate_ops", "same_op"},
                                         {"same_size", "true"},
                                         {"same_disp_unit", "true"},
                                         {"mpi_accumulate_granularity", "8"},
                                         {"mpi_minimum_memory_alignment", "4096"},
                                         {"a_hint_nobody_knows", "17"}};
  for (const auto& hint : hints) {
    MPI_Info given, used;
    MPI_Info_create(&given);
    MPI_Info_set(given, hint[0], hint[1]);
    windows::Window<int64_t> window(1, 0, given);
    MPI_Info_free(&given);
    OK(MPI_Win_fence(0, window));
    const int64_t value = 1 + rank;
    for (int r = 0; r < size; ++r) OK(MPI_Accumulate(&value, 1, MPI_INT64_T, r, 0, 1, MPI_INT64_T, MPI_SUM, window));
    OK(MPI_Win_fence(0, window));
    EXPECT(window[0] == int64_t{size} * (size + 1) / 2, "%s: %ld", hint[0], static_cast<long>(window[0]));
    OK(MPI_Win_get_info(window, &used));
    int flag = 0, length = 100;
    char text[100] = "";
    MPI_Info_get_string(used, hint[0], &length, text, &flag);
    if (strcmp(hint[0], "a_hint_nobody_knows") == 0) EXPECT(flag == 0, "an unknown hint is kept: %s", text);
    if (flag != 0 && strcmp(hint[0], "mpi_minimum_memory_alignment") == 0) {
      const auto at = reinterpret_cast<uintptr_t>(window.data());
      EXPECT(at % strtoul(text, nullptr, 10) == 0, "at %p", static_cast<void*>(window.data()));
    }
    MPI_Info_free(&used);
    // And afterwards, which may have no effect.
    MPI_Info_create(&given);
    MPI_Info_set(given, "accumulate_ops", "same_op_no_op");
    OK(MPI_Win_set_info(window, given));
    MPI_Info_free(&given);
    OK(MPI_Win_get_info(window, &used));
    EXPECT(used != MPI_INFO_NULL, "no info");
    MPI_Info_free(&used);
  }
}

MPI_Win told_window;
int told = MPI_SUCCESS;
int calls = 0;
void hear(MPI_Win* window, int* error, ...) {
  told_window = *window;
  told = *error;
  ++calls;
}

void error_handlers() {
  int* memory;
  MPI_Win window;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL, mine;
  OK(MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&memory), &window));
  OK(MPI_Win_get_errhandler(window, &handler));
  EXPECT(handler == MPI_ERRORS_ARE_FATAL, "not the initial one");
  OK(MPI_Win_create_errhandler(hear, &mine));
  OK(MPI_Win_set_errhandler(window, mine));
  OK(MPI_Win_get_errhandler(window, &handler));
  EXPECT(handler == mine, "another one");
  MPI_Errhandler_free(&handler);
  MPI_Errhandler_free(&mine);  // the window keeps it
  told_window = MPI_WIN_NULL;
  OK(MPI_Win_call_errhandler(window, MPI_ERR_OTHER));
  EXPECT(calls == 1 && told_window == window && told == MPI_ERR_OTHER, "%d calls, %d", calls, told);
  if (!windows::is_weft()) {
    OK(MPI_Win_free(&window));
    return;  // the wheel of MPICH checks no arguments
  }
  OK(MPI_Win_fence(0, window));
  EXPECT_CLASS(MPI_Put(&calls, 1, MPI_INT, size, 0, 1, MPI_INT, window), MPI_ERR_RANK);
  EXPECT(calls == 2 && told_window == window && expect::class_of(told) == MPI_ERR_RANK, "%d calls, %d", calls, told);
  OK(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
  EXPECT_CLASS(MPI_Put(&calls, 1, MPI_INT, -7, 0, 1, MPI_INT, window), MPI_ERR_RANK);
  EXPECT(calls == 2, "%d calls", calls);
  OK(MPI_Win_fence(0, window));
  OK(MPI_Win_free(&window));
}

void handles() {
  windows::Window<int> one(1), other(1);
  const int number = MPI_Win_toint(one);
  EXPECT(MPI_Win_fromint(number) == one, "%d", number);
  EXPECT(number != MPI_Win_toint(other), "two windows have the number %d", number);
  EXPECT(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL, "%d", MPI_Win_toint(MPI_WIN_NULL));
}

}  // namespace

int main(int argc, char** argv) {
  windows::start(&argc, &argv);
  own_attributes();
  names();
  group();
  info();
  error_handlers();
  handles();
  return expect::finish();
}
