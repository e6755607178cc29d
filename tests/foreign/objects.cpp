// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Objects through another ABI: constants that programs contain, attributes, error handlers and codes, operations,
// generalized requests, info objects, comparisons. Callbacks must get the handles and codes of this side.
#include <mpi.h>

#include <cstring>
#include <vector>

#include "same.hpp"

namespace {

using expect::rank;
using expect::size;

// ---- Handles and constants

void handles() {
  SAME(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)), MPI_COMM_WORLD);
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  int result = -1;
  MPI_Comm_compare(MPI_COMM_WORLD, copy, &result);
  SAME(result, MPI_CONGRUENT);
  MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
  SAME(result, MPI_IDENT);
  SAME(MPI_Comm_f2c(MPI_Comm_c2f(copy)), copy);
  MPI_Comm_free(&copy);
  SAME(copy, MPI_COMM_NULL);
  MPI_Comm half = MPI_COMM_WORLD;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 1 : MPI_UNDEFINED, 0, &half);
  HOLDS((half == MPI_COMM_NULL) == (rank != 0));
  if (half != MPI_COMM_NULL) MPI_Comm_free(&half);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int ranks = 0;
  MPI_Comm_size(host, &ranks);
  SAME(ranks, size);
  MPI_Comm_free(&host);
  int provided = -1;
  MPI_Query_thread(&provided);
  SAME(provided, MPI_THREAD_SINGLE);
}

void groups() {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group none = MPI_GROUP_NULL;
  MPI_Group_excl(world, 0, nullptr, &none);
  int result = -1;
  MPI_Group_compare(world, none, &result);
  SAME(result, MPI_IDENT);
  MPI_Group_free(&none);
  MPI_Group_difference(world, world, &none);
  SAME(none, MPI_GROUP_EMPTY);
  const int ranks[2] = {size - 1, MPI_PROC_NULL};
  int translated[2] = {-9, -9};
  MPI_Group_translate_ranks(world, 2, ranks, world, translated);
  SAME(translated[0], size - 1);
  SAME(translated[1], MPI_PROC_NULL);
  MPI_Group_free(&world);
  SAME(world, MPI_GROUP_NULL);
}

void topologies() {
  const int dims[1] = {size};
  const int periods[1] = {0};
  MPI_Comm grid = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
  int kind = -1;
  MPI_Topo_test(grid, &kind);
  SAME(kind, MPI_CART);
  MPI_Topo_test(MPI_COMM_WORLD, &kind);
  SAME(kind, MPI_UNDEFINED);
  int down = -9;
  int up = -9;
  MPI_Cart_shift(grid, 0, 1, &down, &up);
  SAME(down, rank == 0 ? MPI_PROC_NULL : rank - 1);
  SAME(up, rank == size - 1 ? MPI_PROC_NULL : rank + 1);
  MPI_Comm_free(&grid);
  MPI_Comm ring = MPI_COMM_NULL;
  const int left = (rank + size - 1) % size;
  const int right = (rank + 1) % size;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &ring);
  int in = 0;
  int out = 0;
  int weighted = -1;
  MPI_Dist_graph_neighbors_count(ring, &in, &out, &weighted);
  HOLDS(in == 1 && out == 1 && weighted == 0);
  int got = -1;
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, &got, 1, MPI_INT, ring);
  SAME(got, left);
  const int counts[1] = {1};
  const MPI_Aint places[1] = {0};
  const MPI_Datatype types[1] = {MPI_INT};
  got = -1;
  MPI_Request request;
  MPI_Ineighbor_alltoallw(&rank, counts, places, types, &got, counts, places, types, ring, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  SAME(got, left);
  MPI_Comm_free(&ring);
}

// ---- Attributes

int copies = 0;
int deletes = 0;
MPI_Comm expected_comm;
int expected_key;
int state;

int copy_attribute(MPI_Comm comm, int keyval, void* extra_state, void* value, void* copy, int* flag) {
  ++copies;
  SAME(comm, expected_comm);
  SAME(keyval, expected_key);
  HOLDS(extra_state == &state);
  *static_cast<void**>(copy) = static_cast<char*>(value) + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

int delete_attribute(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  ++deletes;
  SAME(comm, expected_comm);
  SAME(keyval, expected_key);
  HOLDS(extra_state == &state && value != nullptr);
  return MPI_SUCCESS;
}

int refuse_to_copy(MPI_Comm, int, void*, void*, void*, int*) {
  return MPI_ERR_TOPOLOGY;
}

int int_of(MPI_Comm comm, int keyval) {
  int* value = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(comm, keyval, &value, &flag);
  return flag != 0 ? *value : -77777;
}

void attributes() {
  HOLDS(int_of(MPI_COMM_WORLD, MPI_TAG_UB) >= 32767);
  SAME(int_of(MPI_COMM_WORLD, MPI_HOST), MPI_PROC_NULL);
  SAME(int_of(MPI_COMM_WORLD, MPI_IO), MPI_ANY_SOURCE);
  HOLDS(int_of(MPI_COMM_WORLD, MPI_LASTUSEDCODE) >= MPI_ERR_LASTCODE);
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keyval, &state);
  HOLDS(keyval != MPI_KEYVAL_INVALID);
  expected_key = keyval;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  expected_comm = comm;
  char values[8] = {};
  MPI_Comm_set_attr(comm, keyval, values);
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &copy);
  SAME(copies, 1);
  void* value = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(copy, keyval, &value, &flag);
  HOLDS(flag != 0 && value == values + 1);
  MPI_Comm_free(&comm);
  SAME(deletes, 1);
  expected_comm = copy;
  MPI_Comm_delete_attr(copy, keyval);
  SAME(deletes, 2);
  MPI_Comm_free_keyval(&keyval);
  SAME(keyval, MPI_KEYVAL_INVALID);

  // An error of the callback comes back as the class of this side.
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  MPI_Comm_create_keyval(refuse_to_copy, MPI_COMM_NULL_DELETE_FN, &keyval, nullptr);
  MPI_Comm_set_attr(copy, keyval, values);
  MPI_Comm never = MPI_COMM_NULL;
  EXPECT_CLASS(MPI_Comm_dup(copy, &never), MPI_ERR_TOPOLOGY);
  MPI_Comm_free_keyval(&keyval);
  MPI_Comm_free(&copy);

  // The predefined functions, on datatypes.
  MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, nullptr);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_dup(MPI_INT, &type);
  MPI_Type_set_attr(type, keyval, values + 3);
  MPI_Datatype second = MPI_DATATYPE_NULL;
  MPI_Type_dup(type, &second);
  MPI_Type_get_attr(second, keyval, &value, &flag);
  HOLDS(flag != 0 && value == values + 3);
  MPI_Type_free(&type);
  MPI_Type_free(&second);
  MPI_Type_free_keyval(&keyval);
}

// ---- Errors

int errors_seen = 0;
MPI_Comm error_comm;
int error_code;

void note_error(MPI_Comm* comm, int* code, ...) {
  ++errors_seen;
  error_comm = *comm;
  error_code = *code;
}

void errors() {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(note_error, &handler);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler got = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(comm, &got);
  SAME(got, handler);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&handler);
  SAME(handler, MPI_ERRHANDLER_NULL);
  int value = 0;
  EXPECT_CLASS(MPI_Send(&value, 1, MPI_INT, size, 0, comm), MPI_ERR_RANK);
  SAME(errors_seen, 1);
  SAME(error_comm, comm);
  EXPECT_CLASS(error_code, MPI_ERR_RANK);
  SAME(error_code & 0x7f, MPI_ERR_RANK);
  MPI_Comm_call_errhandler(comm, MPI_ERR_TRUNCATE);
  SAME(errors_seen, 2);
  SAME(error_code & 0x7f, MPI_ERR_TRUNCATE);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_get_errhandler(comm, &got);
  SAME(got, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Send(&value, 1, MPI_INT, 0, -5, comm), MPI_ERR_TAG);
  EXPECT_CLASS(MPI_Send(&value, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, comm), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Bcast(&value, 1, MPI_INT, size, comm), MPI_ERR_ROOT);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);  // of calls without a communicator
  EXPECT_CLASS(MPI_Reduce_local(&value, &value + 1, 1, MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);

  int error_class = 0;
  MPI_Add_error_class(&error_class);
  HOLDS(error_class > MPI_ERR_LASTCODE);
  int code = 0;
  MPI_Add_error_code(error_class, &code);
  MPI_Add_error_string(code, "the cat is asleep");
  SAME(int_of(MPI_COMM_WORLD, MPI_LASTUSEDCODE), code);
  EXPECT_CLASS(code, error_class);
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  HOLDS(strcmp(text, "the cat is asleep") == 0);
  MPI_Error_string(MPI_ERR_REQUEST, text, &length);
  HOLDS(strstr(text, "MPI_ERR_REQUEST") != nullptr);
  MPI_File file = MPI_FILE_NULL;
  const int not_there = MPI_File_open(MPI_COMM_SELF, "not/there", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  SAME(not_there, MPI_ERR_NO_SUCH_FILE);
  MPI_Error_string(not_there, text, &length);
  HOLDS(strstr(text, "MPI_ERR_NO_SUCH_FILE: ") == text && strstr(text, "\"not/there\": No such file") != nullptr);
  MPI_Comm_free(&comm);
}

void truncated_receives() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int sent[4] = {};
  int got = 0;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Irecv(&got, 1, MPI_INT, 0, 0, comm, &requests[0]);
  MPI_Isend(sent, 4, MPI_INT, 0, 0, comm, &requests[1]);
  EXPECT_CLASS(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
  EXPECT_CLASS(statuses[0].MPI_ERROR, MPI_ERR_TRUNCATE);
  SAME(statuses[1].MPI_ERROR, MPI_SUCCESS);
  MPI_Comm_free(&comm);
}

// ---- Operations, generalized requests

MPI_Datatype reduced_type;

void larger(void* in, void* inout, int* count, MPI_Datatype* datatype) {
  SAME(*datatype, reduced_type);
  for (int i = 0; i < *count; ++i) {
    const int a = static_cast<int*>(in)[i];
    int& b = static_cast<int*>(inout)[i];
    if (a > b) b = a;
  }
}

void larger_c(void* in, void* inout, MPI_Count* count, MPI_Datatype* datatype) {
  int narrow = static_cast<int>(*count);
  larger(in, inout, &narrow, datatype);
}

void operations() {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(larger, 1, &op);
  int commute = 0;
  MPI_Op_commutative(op, &commute);
  SAME(commute, 1);
  const int mine[2] = {rank, -rank};
  int result[2] = {-9, -9};
  reduced_type = MPI_INT;
  MPI_Allreduce(mine, result, 2, MPI_INT, op, MPI_COMM_WORLD);
  HOLDS(result[0] == size - 1 && result[1] == 0);
  MPI_Datatype integers = MPI_DATATYPE_NULL;
  MPI_Type_dup(MPI_INT, &integers);
  reduced_type = integers;
  int in_place[2] = {rank, 5};
  MPI_Allreduce(MPI_IN_PLACE, in_place, 2, integers, op, MPI_COMM_WORLD);
  HOLDS(in_place[0] == size - 1 && in_place[1] == 5);
  MPI_Op_free(&op);
  SAME(op, MPI_OP_NULL);
  MPI_Op_create_c(larger_c, 0, &op);
  MPI_Request request;
  MPI_Iallreduce(mine, result, 2, integers, op, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  HOLDS(result[0] == size - 1 && result[1] == 0);
  MPI_Op_free(&op);
  MPI_Type_free(&integers);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);  // of calls without a communicator
  EXPECT_CLASS(MPI_Reduce_local(MPI_IN_PLACE, result, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Reduce_local(mine, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Reduce_local_c(MPI_IN_PLACE, result, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  struct {
    double value;
    int place;
  } pair = {rank * 0.5, rank}, least{};
  MPI_Allreduce(&pair, &least, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  SAME(least.place, size - 1);
}

struct Asked {
  int queries = 0;
  int frees = 0;
  int cancels = 0;
};

int query(void* state_of, MPI_Status* status) {
  ++static_cast<Asked*>(state_of)->queries;
  MPI_Status_set_elements(status, MPI_INT, 3);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_PROC_NULL;
  status->MPI_TAG = 41;
  return MPI_SUCCESS;
}
int free_state(void* state_of) {
  ++static_cast<Asked*>(state_of)->frees;
  return MPI_SUCCESS;
}
int cancel(void* state_of, int complete) {
  static_cast<Asked*>(state_of)->cancels += 1 + complete;
  return MPI_ERR_KEYVAL;
}

void generalized_requests() {
  Asked asked;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Grequest_start(query, free_state, cancel, &asked, &request);
  HOLDS(request != MPI_REQUEST_NULL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Cancel(&request), MPI_ERR_KEYVAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Grequest_complete(request);
  MPI_Status status;
  MPI_Wait(&request, &status);
  SAME(request, MPI_REQUEST_NULL);
  HOLDS(asked.queries == 1 && asked.frees == 1 && asked.cancels == 1);
  SAME(status.MPI_SOURCE, MPI_PROC_NULL);
  SAME(status.MPI_TAG, 41);
  int count = 0;
  MPI_Get_count(&status, MPI_INT, &count);
  SAME(count, 3);
}

void info_objects() {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "colour", "blue");
  char value[16];
  int flag = 0;
  MPI_Info_get(info, "colour", 15, value, &flag);
  HOLDS(flag != 0 && strcmp(value, "blue") == 0);
  char key[MPI_MAX_INFO_KEY + 1];
  MPI_Info_get_nthkey(info, 0, key);
  HOLDS(strcmp(key, "colour") == 0);
  MPI_Info_free(&info);
  SAME(info, MPI_INFO_NULL);
  MPI_Info_get(MPI_INFO_ENV, "thread_level", 15, value, &flag);
  HOLDS(flag == 0 || strncmp(value, "MPI_THREAD", 10) == 0);
}

// ---- Names that MPI-3.0 removed, and those of MPICH alone

#ifdef OPEN_MPI
// Each number below MPI_ERR_LASTCODE has a class and a text; those without a name are unknown errors.
void numbered_errors() {
  for (int code = 0; code < MPI_ERR_LASTCODE; ++code) {
    int of = -1;
    int length = 0;
    char text[MPI_MAX_ERROR_STRING];
    SAME(MPI_Error_class(code, &of), MPI_SUCCESS);
    HOLDS(of == code || of == MPI_ERR_UNKNOWN);
    SAME(MPI_Error_string(code, text, &length), MPI_SUCCESS);
    HOLDS(length > 0 && length < MPI_MAX_ERROR_STRING && strlen(text) == static_cast<size_t>(length));
  }
}
#else
void numbered_errors() {}
#endif

void removed() {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Errhandler_create(note_error, &handler);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Errhandler_set(comm, handler);
  MPI_Errhandler got = MPI_ERRHANDLER_NULL;
  MPI_Errhandler_get(comm, &got);
  SAME(got, handler);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&handler);
  errors_seen = 0;
  EXPECT_CLASS(MPI_Send(&comm, 1, MPI_INT, 5, 0, comm), MPI_ERR_RANK);
  SAME(errors_seen, 1);
  MPI_Comm_free(&comm);

  int keyval = MPI_KEYVAL_INVALID;
  MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &keyval, nullptr);
  MPI_Attr_put(MPI_COMM_SELF, keyval, &keyval);
  void* value = nullptr;
  int flag = 0;
  MPI_Attr_get(MPI_COMM_SELF, keyval, &value, &flag);
  HOLDS(flag != 0 && value == &keyval);
  MPI_Attr_delete(MPI_COMM_SELF, keyval);
  MPI_Keyval_free(&keyval);
  SAME(keyval, MPI_KEYVAL_INVALID);

  struct {
    char letter;
    double number;
    char rest[16];
  } record;
  MPI_Aint begin = 0;
  MPI_Aint number = 0;
  MPI_Address(&record, &begin);
  MPI_Address(&record.number, &number);
  int lengths[4] = {1, 1, 1, 1};
  MPI_Aint places[4] = {-4, 0, number - begin, static_cast<MPI_Aint>(sizeof record)};
  MPI_Datatype types[4] = {MPI_LB, MPI_CHAR, MPI_DOUBLE, MPI_UB};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_struct(4, lengths, places, types, &type);
  MPI_Aint extent = 0;
  MPI_Aint lower = 0;
  MPI_Aint upper = 0;
  MPI_Type_extent(type, &extent);
  MPI_Type_lb(type, &lower);
  MPI_Type_ub(type, &upper);
  SAME(lower, -4);
  SAME(upper, sizeof record);
  SAME(extent, sizeof record + 4);
  MPI_Type_free(&type);
  MPI_Type_hvector(3, 1, 16, MPI_INT, &type);
  MPI_Type_extent(type, &extent);
  SAME(extent, 36);
  MPI_Type_free(&type);
  MPI_Type_hindexed(2, lengths, places + 1, MPI_INT, &type);
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  SAME(bytes, 8);
  MPI_Type_free(&type);
  SAME(MPIX_Query_cuda_support(), 0);
}

void fortran() {
  MPI_Status status{};
  status.MPI_SOURCE = 3;
  status.MPI_TAG = 4;
  MPI_Fint integers[MPI_F_STATUS_SIZE] = {};
  MPI_Status_c2f(&status, integers);
  SAME(integers[MPI_F_SOURCE], 3);
  SAME(integers[MPI_F_TAG], 4);
  MPI_Status back{};
  MPI_Status_f2c(integers, &back);
  HOLDS(memcmp(&status, &back, sizeof back) == 0);
  HOLDS(MPI_F_STATUS_IGNORE != nullptr && MPI_F_STATUSES_IGNORE != nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  handles();
  groups();
  topologies();
  attributes();
  errors();
  truncated_receives();
  operations();
  generalized_requests();
  info_objects();
  removed();
  numbered_errors();
  fortran();
  return expect::finish();
}
