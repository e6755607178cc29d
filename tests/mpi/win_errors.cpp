// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Wrong use of windows (MPI-5.0, 12.6): the class of each error, at the call or when the operation completes; and that
// the window goes on working.
#include <algorithm>
#include <initializer_list>
#include <vector>

#include "by_host.hpp"
#include "windows.hpp"

using expect::rank;
using expect::size;
using windows::Window;

namespace {

// One of some classes: where the standard leaves open which.
void expect_one_of(int line, const char* call, int error, std::initializer_list<int> classes) {
  const int is = expect::class_of(error);
  if (std::find(classes.begin(), classes.end(), is) == classes.end()) {
    expect::fail(__FILE__, line, call, "class %d, not %d", is, *classes.begin());
  }
}
#define EXPECT_ONE_OF(call, ...) expect_one_of(__LINE__, #call, call, {__VA_ARGS__})

// That the window still works.
void still_works(MPI_Win window, int* memory) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size, value = 50 + rank;
  OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, window));
  OK(MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, window));
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
  EXPECT(memory[0] == 50 + left, "%d", memory[0]);
}

void null_handles(MPI_Win window) {
  int value = 1, got = 0, flag = 0, length = 0;
  MPI_Aint bytes = 0;
  void* base = nullptr;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Request request;
  MPI_Group group;
  MPI_Info info;
  MPI_Errhandler handler;
  EXPECT_CLASS(MPI_Win_fence(0, window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_start(MPI_GROUP_EMPTY, 0, window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_post(MPI_GROUP_EMPTY, 0, window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_complete(window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_wait(window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_test(window, &flag), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_unlock(0, window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_lock_all(0, window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_unlock_all(window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_flush(0, window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_flush_all(window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_flush_local(0, window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_flush_local_all(window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_sync(window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Get_accumulate(&value, 1, MPI_INT, &got, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window),
               MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Fetch_and_op(&value, &got, MPI_INT, 0, 0, MPI_SUM, window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Compare_and_swap(&value, &value, &got, MPI_INT, 0, 0, window), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window, &request), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Rget(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, window, &request), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_attach(window, &value, sizeof value), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_detach(window, &value), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_shared_query(window, 0, &bytes, &length, static_cast<void*>(&base)), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_get_group(window, &group), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_set_name(window, "name"), MPI_ERR_WIN);
  if (window != MPI_WIN_NULL) EXPECT_CLASS(MPI_Win_get_name(window, name, &length), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_get_info(window, &info), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_set_info(window, MPI_INFO_NULL), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_get_attr(window, MPI_WIN_SIZE, static_cast<void*>(&base), &flag), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_get_errhandler(window, &handler), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_call_errhandler(window, MPI_ERR_OTHER), MPI_ERR_WIN);
  EXPECT_CLASS(MPI_Win_free(&window), MPI_ERR_WIN);
}

void handles() {
  null_handles(MPI_WIN_NULL);
  null_handles(reinterpret_cast<MPI_Win>(MPI_COMM_WORLD));
  int* memory;
  MPI_Win window, freed;
  OK(MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&memory), &window));
  freed = window;
  OK(MPI_Win_free(&window));
  null_handles(freed);
  EXPECT_CLASS(MPI_Win_free(nullptr), MPI_ERR_ARG);
}

void creation() {
  int memory[4] = {0}, *base = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Comm inter = MPI_COMM_NULL, half;
  EXPECT_CLASS(MPI_Win_create(memory, -1, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window), MPI_ERR_SIZE);
  EXPECT_ONE_OF(MPI_Win_create(memory, 16, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &window), MPI_ERR_DISP, MPI_ERR_ARG);
  EXPECT_ONE_OF(MPI_Win_create(memory, 16, -4, MPI_INFO_NULL, MPI_COMM_WORLD, &window), MPI_ERR_DISP, MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Win_create(memory, 16, 4, MPI_INFO_NULL, MPI_COMM_NULL, &window), MPI_ERR_COMM);
  EXPECT_ONE_OF(MPI_Win_create(nullptr, 16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window), MPI_ERR_BASE, MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Win_create(memory, 16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Win_create(memory, 16, 4, reinterpret_cast<MPI_Info>(MPI_COMM_WORLD), MPI_COMM_WORLD, &window),
               MPI_ERR_INFO);
  EXPECT_CLASS(MPI_Win_allocate(-1, 4, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&base), &window),
               MPI_ERR_SIZE);
  EXPECT_ONE_OF(MPI_Win_allocate(16, 0, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&base), &window),
                MPI_ERR_DISP, MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Win_allocate(16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, nullptr, &window), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Win_allocate_shared(-1, 4, MPI_INFO_NULL, MPI_COMM_SELF, static_cast<void*>(&base), &window),
               MPI_ERR_SIZE);
  EXPECT_CLASS(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_NULL, &window), MPI_ERR_COMM);
  if (size > 1) {
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    EXPECT_CLASS(MPI_Win_create(memory, 16, 4, MPI_INFO_NULL, inter, &window), MPI_ERR_COMM);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
  }
  EXPECT(window == MPI_WIN_NULL, "a call that failed made a window");
  // Not all ranks are on one host: there is no memory that they share.
  if (by_host::here().size() < static_cast<size_t>(size)) {
    EXPECT_CLASS(MPI_Win_allocate_shared(16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&base), &window),
                 MPI_ERR_RMA_SHARED);
  }
}

void arguments() {
  Window<int> window(10);
  int value = 1, got = 0;
  MPI_Datatype never_committed, mixed;
  MPI_Op own;
  MPI_Type_contiguous(1, MPI_INT, &never_committed);
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE};
  MPI_Type_create_struct(2, lengths, places, parts, &mixed);
  MPI_Type_commit(&mixed);
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &own);
  OK(MPI_Win_lock_all(0, window));
  for (const int wrong : {size, -7, int{MPI_ANY_SOURCE}}) {
    EXPECT_CLASS(MPI_Put(&value, 1, MPI_INT, wrong, 0, 1, MPI_INT, window), MPI_ERR_RANK);
    EXPECT_CLASS(MPI_Get(&got, 1, MPI_INT, wrong, 0, 1, MPI_INT, window), MPI_ERR_RANK);
    EXPECT_CLASS(MPI_Accumulate(&value, 1, MPI_INT, wrong, 0, 1, MPI_INT, MPI_SUM, window), MPI_ERR_RANK);
    EXPECT_CLASS(MPI_Fetch_and_op(&value, &got, MPI_INT, wrong, 0, MPI_SUM, window), MPI_ERR_RANK);
    EXPECT_CLASS(MPI_Compare_and_swap(&value, &value, &got, MPI_INT, wrong, 0, window), MPI_ERR_RANK);
    EXPECT_CLASS(MPI_Win_flush(wrong, window), MPI_ERR_RANK);
  }
  EXPECT_CLASS(MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, window), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, -1, MPI_INT, window), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Get(&got, -1, MPI_INT, 0, 0, 1, MPI_INT, window), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Put(&value, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, window), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_DATATYPE_NULL, window), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, never_committed, window), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Get(&got, 1, never_committed, 0, 0, 1, MPI_INT, window), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Put(nullptr, 1, MPI_INT, 0, 0, 1, MPI_INT, window), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, window), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, own, window), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, window), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Accumulate(&value, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, window), MPI_ERR_OP);
  EXPECT_ONE_OF(MPI_Accumulate(&value, 1, mixed, 0, 0, 1, mixed, MPI_SUM, window), MPI_ERR_TYPE, MPI_ERR_OP);
  EXPECT_CLASS(MPI_Fetch_and_op(&value, &got, mixed, 0, 0, MPI_SUM, window), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Fetch_and_op(&value, &got, MPI_INT, 0, 0, own, window), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Compare_and_swap(&value, &value, &got, MPI_DOUBLE, 0, 0, window), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Compare_and_swap(&value, &value, &got, MPI_2INT, 0, 0, window), MPI_ERR_TYPE);
  OK(MPI_Win_unlock_all(window));
  EXPECT_CLASS(MPI_Win_lock(77, 0, 0, window), MPI_ERR_LOCKTYPE);
  EXPECT_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, window), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOPUT, window), MPI_ERR_ASSERT);
  EXPECT_CLASS(MPI_Win_lock_all(1 << 29, window), MPI_ERR_ASSERT);
  EXPECT_CLASS(MPI_Win_fence(MPI_MODE_NOCHECK, window), MPI_ERR_ASSERT);
  EXPECT_CLASS(MPI_Win_start(MPI_GROUP_NULL, 0, window), MPI_ERR_GROUP);
  EXPECT_CLASS(MPI_Win_post(MPI_GROUP_NULL, 0, window), MPI_ERR_GROUP);
  EXPECT_CLASS(MPI_Win_post(MPI_GROUP_EMPTY, MPI_MODE_NOSUCCEED, window), MPI_ERR_ASSERT);
  EXPECT_CLASS(MPI_Win_set_name(window, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Win_get_group(window, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Win_set_errhandler(window, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
  still_works(window, window.data());
  MPI_Op_free(&own);
  MPI_Type_free(&mixed);
  MPI_Type_free(&never_committed);
}

void keyvals() {
  Window<int> window(1);
  int keyval, invalid = MPI_KEYVAL_INVALID, comm_keyval, flag = 0;
  void* value = nullptr;
  EXPECT_CLASS(MPI_Win_set_attr(window, MPI_WIN_SIZE, &flag), MPI_ERR_KEYVAL);
  EXPECT_CLASS(MPI_Win_delete_attr(window, MPI_WIN_BASE), MPI_ERR_KEYVAL);
  EXPECT_CLASS(MPI_Win_get_attr(window, MPI_KEYVAL_INVALID, static_cast<void*>(&value), &flag), MPI_ERR_KEYVAL);
  EXPECT_CLASS(MPI_Win_free_keyval(&invalid), MPI_ERR_KEYVAL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_keyval, nullptr);
  EXPECT_CLASS(MPI_Win_set_attr(window, comm_keyval, &flag), MPI_ERR_KEYVAL);
  MPI_Comm_free_keyval(&comm_keyval);
  OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, nullptr));
  EXPECT_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &flag), MPI_ERR_KEYVAL);
  OK(MPI_Win_free_keyval(&keyval));
}

// The call says it, or what completes it.
void expect_out_of_range(int line, int error, int completed) {
  const int is = expect::class_of(error != MPI_SUCCESS ? error : completed);
  if (is != MPI_ERR_RMA_RANGE && is != MPI_ERR_DISP) {
    expect::fail(__FILE__, line, "beyond the window", "class %d, then %d", expect::class_of(error),
                 expect::class_of(completed));
  }
}

void beyond_the_window() {
  std::vector<int> memory(30, 3);
  MPI_Win window;
  const int right = (rank + 1) % size, value = 9, ten[10] = {0};
  int got = -1;
  OK(MPI_Win_create(memory.data() + 10, 10 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  OK(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
  OK(MPI_Win_lock_all(0, window));
  for (const MPI_Aint at : {MPI_Aint{-1}, MPI_Aint{10}, MPI_Aint{1} << 40, MPI_Aint{1} << 61}) {
    int error = MPI_Put(&value, 1, MPI_INT, right, at, 1, MPI_INT, window);
    expect_out_of_range(__LINE__, error, MPI_Win_flush(right, window));
    error = MPI_Get(&got, 1, MPI_INT, right, at, 1, MPI_INT, window);
    expect_out_of_range(__LINE__, error, MPI_Win_flush(right, window));
    error = MPI_Accumulate(&value, 1, MPI_INT, right, at, 1, MPI_INT, MPI_SUM, window);
    expect_out_of_range(__LINE__, error, MPI_Win_flush(right, window));
    error = MPI_Fetch_and_op(&value, &got, MPI_INT, right, at, MPI_SUM, window);
    expect_out_of_range(__LINE__, error, MPI_Win_flush(right, window));
  }
  int error = MPI_Put(ten, 10, MPI_INT, right, 1, 10, MPI_INT, window);  // the last of ten
  expect_out_of_range(__LINE__, error, MPI_Win_flush(right, window));
  // Within by its first element alone, and before the start by a type that reaches back.
  MPI_Datatype wide, back;
  MPI_Type_vector(2, 1, 20, MPI_INT, &wide);
  MPI_Type_create_hvector(2, 1, -4, MPI_INT, &back);
  MPI_Type_commit(&wide);
  MPI_Type_commit(&back);
  error = MPI_Put(ten, 2, MPI_INT, right, 0, 1, wide, window);
  expect_out_of_range(__LINE__, error, MPI_Win_flush(right, window));
  error = MPI_Put(ten, 2, MPI_INT, right, 0, 1, back, window);
  expect_out_of_range(__LINE__, error, MPI_Win_flush(right, window));
  MPI_Type_free(&wide);
  MPI_Type_free(&back);
  OK(MPI_Win_unlock_all(window));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(std::count(memory.begin(), memory.end(), 3) == 30, "something was written");
  still_works(window, memory.data() + 10);
  OK(MPI_Win_free(&window));
}

void attached_memory() {
  std::vector<int> memory(100, 3);
  MPI_Win window;
  const int right = (rank + 1) % size, left = (rank + size - 1) % size, value = 9;
  int unit, *base;
  MPI_Aint mine, there, bytes;
  OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  OK(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
  OK(MPI_Win_attach(window, memory.data() + 10, 40));
  EXPECT_CLASS(MPI_Win_attach(window, memory.data() + 15, 40), MPI_ERR_RMA_ATTACH);  // half of it is attached
  EXPECT_ONE_OF(MPI_Win_attach(window, memory.data() + 50, -1), MPI_ERR_SIZE, MPI_ERR_ARG);
  EXPECT_ONE_OF(MPI_Win_detach(window, memory.data() + 70), MPI_ERR_RMA_ATTACH, MPI_ERR_BASE, MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Win_shared_query(window, rank, &bytes, &unit, static_cast<void*>(&base)), MPI_ERR_RMA_FLAVOR);
  MPI_Get_address(memory.data(), &mine);
  MPI_Sendrecv(&mine, 1, MPI_AINT, left, 0, &there, 1, MPI_AINT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  OK(MPI_Win_lock_all(0, window));
  for (const MPI_Aint at : {there + 36, there + 78, there + 80, MPI_Aint{64}}) {
    const int error = MPI_Put(&value, 1, MPI_INT, right, at, 1, MPI_INT, window);
    expect_out_of_range(__LINE__, error, MPI_Win_flush(right, window));
  }
  OK(MPI_Put(&value, 1, MPI_INT, right, there + 40, 1, MPI_INT, window));
  OK(MPI_Win_flush(right, window));
  windows::meet(window);
  EXPECT(memory[10] == 9 && std::count(memory.begin(), memory.end(), 3) == 99, "%d", memory[10]);
  OK(MPI_Win_detach(window, memory.data() + 10));
  windows::meet(window);
  const int error = MPI_Put(&value, 1, MPI_INT, right, there + 44, 1, MPI_INT, window);
  expect_out_of_range(__LINE__, error, MPI_Win_flush(right, window));
  OK(MPI_Win_unlock_all(window));
  OK(MPI_Win_free(&window));
  Window<int> other(1);
  EXPECT_CLASS(MPI_Win_attach(other, memory.data(), 40), MPI_ERR_RMA_FLAVOR);
  EXPECT_CLASS(MPI_Win_detach(other, memory.data()), MPI_ERR_RMA_FLAVOR);
}

void no_epoch(MPI_Win window) {
  int value = 1, got = 0;
  MPI_Request request;
  EXPECT_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Get_accumulate(&value, 1, MPI_INT, &got, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window),
               MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Fetch_and_op(&value, &got, MPI_INT, 0, 0, MPI_SUM, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Compare_and_swap(&value, &value, &got, MPI_INT, 0, 0, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window, &request), MPI_ERR_RMA_SYNC);
}

void synchronization() {
  Window<int> window(1);
  int flag = 0, value = 1;
  MPI_Group all, self;
  MPI_Request request;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_group(MPI_COMM_SELF, &self);
  no_epoch(window);
  EXPECT_CLASS(MPI_Win_unlock(0, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_unlock_all(window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_flush(0, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_flush_all(window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_flush_local(0, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_flush_local_all(window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_complete(window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_wait(window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_test(window, &flag), MPI_ERR_RMA_SYNC);
  // Under a lock of one rank.
  OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window));
  EXPECT_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_lock_all(0, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_unlock_all(window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_fence(0, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_start(self, 0, window), MPI_ERR_RMA_SYNC);
  if (size > 1) {
    const int other = (rank + 1) % size;
    EXPECT_CLASS(MPI_Put(&value, 1, MPI_INT, other, 0, 1, MPI_INT, window), MPI_ERR_RMA_SYNC);
    EXPECT_CLASS(MPI_Win_flush(other, window), MPI_ERR_RMA_SYNC);
    EXPECT_CLASS(MPI_Win_unlock(other, window), MPI_ERR_RMA_SYNC);
  }
  MPI_Win same = window;
  EXPECT_CLASS(MPI_Win_free(&same), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_unlock(rank, window));
  no_epoch(window);
  // Under a lock of all.
  OK(MPI_Win_lock_all(0, window));
  EXPECT_CLASS(MPI_Win_lock_all(0, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_unlock(0, window), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_unlock_all(window));
  // Between start and complete, post and wait: to oneself alone.
  OK(MPI_Win_post(self, 0, window));
  EXPECT_CLASS(MPI_Win_post(self, 0, window), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_start(self, 0, window));
  EXPECT_CLASS(MPI_Win_start(self, 0, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_flush(rank, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_fence(0, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Rput(&value, 1, MPI_INT, rank, 0, 1, MPI_INT, window, &request), MPI_ERR_RMA_SYNC);
  if (size > 1) EXPECT_CLASS(MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window), MPI_ERR_RMA_SYNC);
  OK(MPI_Put(&value, 1, MPI_INT, rank, 0, 1, MPI_INT, window));
  OK(MPI_Win_complete(window));
  EXPECT_CLASS(MPI_Win_complete(window), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_wait(window));
  EXPECT_CLASS(MPI_Win_wait(window), MPI_ERR_RMA_SYNC);
  EXPECT(window[0] == 1, "%d", window[0]);
  // Between fences.
  OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, window));
  OK(MPI_Put(&value, 1, MPI_INT, rank, 0, 1, MPI_INT, window));
  EXPECT_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_lock_all(0, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_flush_all(window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Rput(&value, 1, MPI_INT, rank, 0, 1, MPI_INT, window, &request), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
  no_epoch(window);
  still_works(window, window.data());
  // A window that was promised to see no locks.
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "true");
  Window<int> without_locks(1, 0, info);
  MPI_Info_free(&info);
  still_works(without_locks, without_locks.data());
  MPI_Group_free(&all);
  MPI_Group_free(&self);
}

// Ranks that are not in the window's group.
void groups() {
  if (size < 2) return;
  MPI_Comm half;
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  {
    Window<int> window(1, 0, MPI_INFO_NULL, half);
    EXPECT_ONE_OF(MPI_Win_start(all, 0, window), MPI_ERR_GROUP, MPI_ERR_RANK);
    EXPECT_ONE_OF(MPI_Win_post(all, 0, window), MPI_ERR_GROUP, MPI_ERR_RANK);
    OK(MPI_Win_fence(0, window));
  }
  MPI_Comm_free(&half);
  MPI_Group_free(&all);
}

}  // namespace

int main(int argc, char** argv) {
  windows::start(&argc, &argv);
  handles();
  creation();
  arguments();
  keyvals();
  beyond_the_window();
  attached_memory();
  synchronization();
  groups();
  return expect::finish();
}
