// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Errors of windows beyond their classes (win_errors.cpp): whose error handler hears of them, that the short way of 8
// bytes finds what the general one finds, wrong hints, data that do not fit, datatypes of updates, requests.
#include <cstring>
#include <vector>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

MPI_Win heard_window = MPI_WIN_NULL;
MPI_Comm heard_comm = MPI_COMM_NULL;
int heard = 0, heard_code = MPI_SUCCESS;

void hear_window(MPI_Win* window, int* code, ...) {
  heard_window = *window;
  heard_code = *code;
  ++heard;
}

void hear_comm(MPI_Comm* comm, int* code, ...) {
  heard_comm = *comm;
  heard_code = *code;
  ++heard;
}

MPI_Win allocate(MPI_Aint bytes, int unit, void* base, MPI_Info info = MPI_INFO_NULL) {
  MPI_Win window = MPI_WIN_NULL;
  EXPECT_CLASS(MPI_Win_allocate(bytes, unit, info, MPI_COMM_WORLD, base, &window), MPI_SUCCESS);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  memset(*static_cast<void**>(base), 0, static_cast<size_t>(bytes));
  MPI_Barrier(MPI_COMM_WORLD);
  return window;
}

// The error of this call went to this window's handler, once.
void expect_heard(int line, int before, MPI_Win window, int code) {
  if (heard == before + 1 && heard_window == window && heard_code == code) return;
  expect::fail(__FILE__, line, "the window's handler", "%d calls, code %d", heard - before, heard_code);
}

void handlers() {
  long* memory = nullptr;
  int value = 0;
  MPI_Win window = allocate(64, 8, static_cast<void*>(&memory)), made = MPI_WIN_NULL;
  MPI_Errhandler of_windows, of_comms, got;
  MPI_Win_create_errhandler(hear_window, &of_windows);
  MPI_Comm_create_errhandler(hear_comm, &of_comms);
  MPI_Win_set_errhandler(window, of_windows);
  int before = heard;
  EXPECT_CLASS(MPI_Win_set_name(window, nullptr), MPI_ERR_ARG);
  expect_heard(__LINE__, before, window, MPI_ERR_ARG);
  before = heard;
  EXPECT_CLASS(MPI_Put(&value, 1, MPI_INT, size, 0, 1, MPI_INT, window), MPI_ERR_RANK);
  expect_heard(__LINE__, before, window, MPI_ERR_RANK);
  before = heard;
  EXPECT_CLASS(MPI_Win_call_errhandler(window, MPI_ERR_IO), MPI_SUCCESS);
  expect_heard(__LINE__, before, window, MPI_ERR_IO);
  // A handler of other objects is none, and changes nothing.
  before = heard;
  EXPECT_CLASS(MPI_Win_set_errhandler(window, of_comms), MPI_ERR_ERRHANDLER);
  expect_heard(__LINE__, before, window, MPI_ERR_ERRHANDLER);
  MPI_Win_get_errhandler(window, &got);
  EXPECT(got == of_windows, "the window has another handler");
  MPI_Errhandler_free(&got);
  EXPECT_CLASS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_windows), MPI_ERR_ERRHANDLER);
  // Before there is a window the communicator hears; a new window's errors are fatal.
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, of_comms);
  before = heard;
  EXPECT_CLASS(MPI_Win_create_c(&value, -1, 1, MPI_INFO_NULL, comm, &made), MPI_ERR_SIZE);
  EXPECT(heard == before + 1 && heard_comm == comm, "%d calls", heard - before);
  EXPECT(made == MPI_WIN_NULL, "a window was made");
  EXPECT_CLASS(MPI_Win_create(&value, 4, 1, MPI_INFO_NULL, comm, &made), MPI_SUCCESS);
  MPI_Win_get_errhandler(made, &got);
  EXPECT(got == MPI_ERRORS_ARE_FATAL, "a new window has a handler from elsewhere");
  MPI_Comm_free(&comm);
  MPI_Win_free(&made);
  MPI_Errhandler_free(&of_windows);
  MPI_Errhandler_free(&of_comms);
  before = heard;
  EXPECT_CLASS(MPI_Win_get_group(window, nullptr), MPI_ERR_ARG);  // it keeps its handler
  expect_heard(__LINE__, before, window, MPI_ERR_ARG);
  MPI_Win_free(&window);
}

// All that can be wrong with 8 bytes, when nothing else is: in the order of its checks.
void eight_bytes() {
  long *memory = nullptr, value = 7, got = 1;
  MPI_Win window = allocate(64, 8, static_cast<void*>(&memory));
  MPI_Datatype wide;
  MPI_Type_contiguous(2, MPI_INT, &wide);
  auto both = [&](const void* buffer, MPI_Count count, MPI_Datatype type, int target, MPI_Aint at, MPI_Win where,
                  int wanted) {
    EXPECT_CLASS(MPI_Put_c(buffer, count, type, target, at, count, type, where), wanted);
    got = 1;
    EXPECT_CLASS(MPI_Get_c(buffer == nullptr ? nullptr : &got, count, type, target, at, count, type, where), wanted);
    EXPECT(got == 1 || wanted == MPI_SUCCESS, "a failed call got %ld", got);
  };
  both(&value, 1, MPI_LONG, 0, 0, window, MPI_ERR_RMA_SYNC);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  both(&value, 1, MPI_LONG, rank, 0, window, MPI_SUCCESS);
  both(&value, 8, MPI_BYTE, rank, 7, window, MPI_SUCCESS);
  both(&value, 2, MPI_INT, rank, 7, window, MPI_SUCCESS);
  both(&value, 1, MPI_LONG, rank, 8, window, MPI_ERR_RMA_RANGE);
  both(&value, 1, MPI_LONG, rank, -1, window, MPI_ERR_DISP);
  both(&value, 1, MPI_LONG, rank, MPI_Aint{1} << 60, window, MPI_ERR_DISP);
  both(&value, 1, MPI_LONG, rank, (MPI_Aint{1} << 60) - 1, window, MPI_ERR_RMA_RANGE);
  both(&value, 1, MPI_LONG, size, 0, window, MPI_ERR_RANK);
  both(&value, 1, MPI_LONG, -1, 0, window, MPI_ERR_RANK);
  both(nullptr, 1, MPI_LONG, rank, 0, window, MPI_ERR_BUFFER);
  both(&value, -1, MPI_LONG, rank, 0, window, MPI_ERR_COUNT);
  both(&value, (MPI_Count{1} << 61) + 1, MPI_LONG, rank, 0, window, MPI_ERR_COUNT);  // 8 bytes but for the overflow
  both(&value, 1, MPI_DATATYPE_NULL, rank, 0, window, MPI_ERR_TYPE);
  both(&value, 0, MPI_DATATYPE_NULL, rank, 0, window, MPI_ERR_TYPE);
  both(&value, 1, reinterpret_cast<MPI_Datatype>(MPI_COMM_WORLD), rank, 0, window, MPI_ERR_TYPE);
  both(&value, 1, wide, rank, 0, window, MPI_ERR_TYPE);  // not committed
  both(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, window, MPI_SUCCESS);
  if (size > 1) both(&value, 1, MPI_LONG, (rank + 1) % size, 0, window, MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Put(&value, 1, MPI_LONG, rank, 0, 2, MPI_INT, window), MPI_SUCCESS);
  MPI_Win_unlock(rank, window);
  both(&value, 1, MPI_LONG, rank, 0, window, MPI_ERR_RMA_SYNC);
  EXPECT(memory[0] == 7 && memory[7] == 7 && memory[1] == 0, "%ld %ld %ld", memory[0], memory[7], memory[1]);
  MPI_Win freed = window;
  MPI_Win_free(&window);
  both(&value, 1, MPI_LONG, rank, 0, freed, MPI_ERR_WIN);
  both(&value, 1, MPI_LONG, rank, 0, nullptr, MPI_ERR_WIN);
  MPI_Type_free(&wide);
}

void hints() {
  static const struct {
    const char *key, *wrong, *right;
  } rows[] = {{"no_locks", "maybe", "true"},
              {"accumulate_ordering", "rar,waw,wow", "rar,waw"},
              {"accumulate_ops", "any", "same_op"},
              {"mpi_accumulate_granularity", "-8", "64"},
              {"same_size", "1", "true"}};
  long* memory = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Info info, used;
  MPI_Info_create(&info);
  for (const auto& row : rows) {
    char text[64] = "";
    int flag = 0, length = sizeof text;
    MPI_Info_set(info, row.key, row.wrong);
    EXPECT_CLASS(MPI_Win_allocate(8, 8, info, MPI_COMM_WORLD, static_cast<void*>(&memory), &window),
                 MPI_ERR_INFO_VALUE);
    EXPECT(window == MPI_WIN_NULL, "a window was made");
    MPI_Info_set(info, row.key, row.right);
    MPI_Win made = allocate(8, 8, static_cast<void*>(&memory), info);
    MPI_Info_set(info, row.key, row.wrong);
    EXPECT_CLASS(MPI_Win_set_info(made, info), MPI_ERR_INFO_VALUE);
    MPI_Win_get_info(made, &used);
    MPI_Info_get_string(used, row.key, &length, text, &flag);
    EXPECT(flag != 0 && strcmp(text, row.right) == 0, "%s is %s", row.key, text);
    MPI_Info_free(&used);
    MPI_Info_delete(info, row.key);
    MPI_Win_free(&made);
  }
  MPI_Info_set(info, "mpi_minimum_memory_alignment", "48");
  EXPECT_CLASS(MPI_Win_allocate(8, 8, info, MPI_COMM_WORLD, static_cast<void*>(&memory), &window), MPI_ERR_INFO_VALUE);
  MPI_Info_set(info, "mpi_minimum_memory_alignment", "65536");
  MPI_Win made = allocate(8, 8, static_cast<void*>(&memory), info);
  EXPECT(reinterpret_cast<uintptr_t>(memory) % 65536 == 0, "%p", static_cast<void*>(memory));
  EXPECT_CLASS(MPI_Win_set_info(made, MPI_INFO_NULL), MPI_ERR_INFO);
  MPI_Win_free(&made);
  MPI_Info_free(&info);
}

void data_that_do_not_fit() {
  int *memory = nullptr, values[6] = {1, 2, 3, 4, 5, 6}, got[6] = {0};
  MPI_Win window = allocate(24, 4, static_cast<void*>(&memory));
  MPI_Datatype three;
  MPI_Type_contiguous(3, MPI_INT, &three);
  MPI_Type_commit(&three);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  EXPECT_CLASS(MPI_Put(values, 2, MPI_INT, rank, 0, 1, MPI_INT, window), MPI_ERR_TRUNCATE);
  EXPECT_CLASS(MPI_Put(values, 2, MPI_INT, rank, 0, 1, three, window), MPI_ERR_TRUNCATE);  // ends inside an element
  EXPECT_CLASS(MPI_Get(got, 1, MPI_INT, rank, 0, 2, MPI_INT, window), MPI_ERR_TRUNCATE);
  EXPECT_CLASS(MPI_Accumulate(values, 2, MPI_INT, rank, 0, 1, MPI_INT, MPI_SUM, window), MPI_ERR_TRUNCATE);
  EXPECT_CLASS(MPI_Get_accumulate(values, 1, MPI_INT, got, 1, MPI_INT, rank, 0, 2, MPI_INT, MPI_NO_OP, window),
               MPI_ERR_TRUNCATE);
  EXPECT(memory[0] == 0 && got[0] == 0, "data were moved");
  // A buffer for more is no error.
  EXPECT_CLASS(MPI_Put(values, 3, MPI_INT, rank, 0, 2, three, window), MPI_SUCCESS);
  EXPECT_CLASS(MPI_Get(got, 6, MPI_INT, rank, 0, 1, three, window), MPI_SUCCESS);
  EXPECT(got[2] == 3 && got[3] == 0 && memory[2] == 3 && memory[3] == 0, "%d %d", got[2], got[3]);
  MPI_Win_unlock(rank, window);
  MPI_Type_free(&three);
  MPI_Win_free(&window);
}

struct Pair {
  double value;
  long index;
};

// Updates need one predefined datatype at both ends, however the types were made of it.
void elements() {
  Pair* memory = nullptr;
  MPI_Win window = allocate(4 * sizeof(Pair), 1, static_cast<void*>(&memory));
  MPI_Datatype pair, pairs, nested, mixed;
  MPI_Type_get_value_index(MPI_DOUBLE, MPI_LONG, &pair);
  MPI_Type_contiguous(2, pair, &pairs);
  MPI_Type_vector(2, 1, 1, pairs, &nested);
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype parts[] = {MPI_DOUBLE, MPI_LONG};
  MPI_Type_create_struct(2, lengths, places, parts, &mixed);
  for (MPI_Datatype* made : {&pairs, &nested, &mixed}) MPI_Type_commit(made);
  const Pair mine[4] = {{1, 3}, {-1, 4}, {2, 5}, {0, 6}};
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  EXPECT_CLASS(MPI_Accumulate(mine, 1, nested, rank, 0, 4, pair, MPI_MAXLOC, window), MPI_SUCCESS);
  EXPECT_CLASS(MPI_Accumulate(mine, 1, mixed, rank, 0, 1, mixed, MPI_REPLACE, window), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Accumulate(mine, 1, mixed, rank, 0, 1, pair, MPI_MAXLOC, window), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Accumulate(mine, 1, MPI_DOUBLE, rank, 0, 1, MPI_LONG, MPI_SUM, window), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Accumulate(mine, 1, pair, rank, 0, 1, pair, MPI_SUM, window), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Accumulate(mine, 0, mixed, rank, 0, 0, MPI_LONG, MPI_SUM, window), MPI_SUCCESS);  // of no data
  double got = 0;
  EXPECT_CLASS(MPI_Fetch_and_op(mine, &got, pairs, rank, 0, MPI_REPLACE, window), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Fetch_and_op(nullptr, &got, MPI_DOUBLE, rank, 0, MPI_NO_OP, window), MPI_SUCCESS);
  EXPECT(got == 1, "%g", got);
  MPI_Win_unlock(rank, window);
  EXPECT(memory[0].value == 1 && memory[0].index == 3 && memory[1].value == 0 && memory[2].index == 5, "%g %ld %g",
         memory[0].value, memory[0].index, memory[1].value);
  for (MPI_Datatype* made : {&pairs, &nested, &mixed}) MPI_Type_free(made);
  MPI_Win_free(&window);
}

// Requests of one-sided operations under way are only to be completed; their errors are the window's.
void requests() {
  std::vector<int> memory(100000, rank), got(memory.size(), -1);
  const int right = (rank + 1) % size;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Win_create(memory.data(), static_cast<MPI_Aint>(memory.size() * sizeof(int)), sizeof(int), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &window);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, window);
  const int count = static_cast<int>(got.size());
  EXPECT_CLASS(MPI_Rget(got.data(), count, MPI_INT, right, 0, count, MPI_INT, window, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Rget(got.data(), count, MPI_INT, right, 0, count, MPI_INT, window, &request), MPI_SUCCESS);
  int flag = 0;
  MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  if (flag == 0) {  // it goes by messages
    EXPECT_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
  }
  EXPECT_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT(got.front() == right && got.back() == right, "%d %d", got.front(), got.back());
  EXPECT_CLASS(MPI_Rput(got.data(), 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window, &request), MPI_SUCCESS);
  EXPECT_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  handlers();
  eight_bytes();
  hints();
  data_that_do_not_fit();
  elements();
  requests();
  return expect::finish();
}
