/* SPDX-FileCopyrightText: 2026 the Weft authors
 * SPDX-License-Identifier: BSD-3-Clause */
/* A library that both_faces loads: built for the ABI that the program is not built for. It calls MPI in all ways that
 * depend on the ABI, and says what is wrong; 0: nothing. */
#include <mpi.h>
#include <stdio.h>

int other_face_checks(const char* path, int time);

static int errors_seen;
static MPI_Comm error_comm;
static int error_class;

static void note_error(MPI_Comm* comm, int* code, ...) {
  ++errors_seen;
  error_comm = *comm;
  MPI_Error_class(*code, &error_class);
}

static void sum(void* in, void* inout, int* count, MPI_Datatype* type) {
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += *type == MPI_INT ? ((int*)in)[i] : 1000000;
}

static int copies, deletions, world_of_copy;

static int copy_attribute(MPI_Comm comm, int keyval, void* extra_state, void* value, void* copy, int* flag) {
  (void)keyval;
  ++copies;
  world_of_copy = comm == MPI_COMM_WORLD && extra_state == &copies;
  *(void**)copy = (char*)value + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  (void)comm, (void)keyval, (void)value;
  if (extra_state == &copies) ++deletions;
  return MPI_SUCCESS;
}

static int query(void* state, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_INT, *(int*)state);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = 9;
  return MPI_SUCCESS;
}

static int release(void* state) {
  *(int*)state = -1;
  return MPI_SUCCESS;
}

static int cancel(void* state, int complete) {
  (void)state, (void)complete;
  return MPI_SUCCESS;
}

/* A representation of integers: the other sign. */
static int conversions, types_of_conversion;
static int turn(void* to, void* from, int count, MPI_Datatype type) {
  ++conversions;
  types_of_conversion += type == MPI_INT;
  for (int i = 0; i < count; ++i) ((int*)to)[i] = -((int*)from)[i];
  return MPI_SUCCESS;
}
static int read_turned(void* buffer, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state) {
  (void)state;
  return turn((char*)buffer + 4 * position, file, count, type);
}
static int write_turned(void* buffer, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state) {
  (void)state;
  return turn(file, (char*)buffer + 4 * position, count, type);
}
static int extent_turned(MPI_Datatype type, MPI_Aint* extent, void* state) {
  (void)state;
  *extent = type == MPI_INT ? 4 : -1;
  return MPI_SUCCESS;
}

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      wrong = 1;                                                           \
    }                                                                      \
  } while (0)

/* Attributes, and a duplicate for which the program's own attribute is copied as well. */
static int check_attributes(void) {
  int wrong = 0, keyval = MPI_KEYVAL_INVALID, flag = 0;
  MPI_Comm copy = MPI_COMM_NULL;
  char values[2];
  void* value = NULL;
  copies = deletions = 0;
  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keyval, &copies);
  MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, values);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_get_attr(copy, keyval, &value, &flag);
  CHECK(copies == 1 && world_of_copy && flag && value == values + 1);
  MPI_Comm_free(&copy);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
  CHECK(deletions == 2);
  MPI_Comm_free_keyval(&keyval);
  return wrong;
}

static int check_requests(void) {
  int wrong = 0, state = 3, count = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Grequest_start(query, release, cancel, &state, &request);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, &status);
  MPI_Get_elements(&status, MPI_INT, &count);
  CHECK(state == -1 && count == 3 && status.MPI_TAG == 9 && request == MPI_REQUEST_NULL);
  return wrong;
}

/* Each `time` registers a name of its own. */
static int check_representations(const char* path, int time) {
  int wrong = 0, numbers[4] = {1, -2, 3, 4}, got[4] = {0, 0, 0, 0};
  char name[32];
  MPI_File file = MPI_FILE_NULL;
  snprintf(name, sizeof name, "turned by another %d", time);
  CHECK(MPI_Register_datarep(name, read_turned, write_turned, extent_turned, NULL) == MPI_SUCCESS);
  CHECK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file) == MPI_SUCCESS);
  conversions = types_of_conversion = 0;
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, name, MPI_INFO_NULL);
  MPI_File_write_at(file, 0, numbers, 4, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_read_at(file, 0, got, 4, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(got[0] == 1 && got[1] == -2 && got[2] == 3 && got[3] == 4);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_read_at(file, 0, got, 4, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(got[0] == -1 && got[1] == 2 && got[2] == -3 && got[3] == -4);
  CHECK(conversions >= 2 && types_of_conversion == conversions);
  MPI_File_close(&file);
  return wrong;
}

/* An error on a communicator whose handler the program has set. */
static int check_foreign_handler(void) {
  int wrong = 0, nothing = 0, number = -1;
  const int code = MPI_Bcast(&nothing, 1, MPI_INT, -77, MPI_COMM_WORLD);
  CHECK(code != MPI_SUCCESS && MPI_Error_class(code, &number) == MPI_SUCCESS && number == MPI_ERR_ROOT);
  return wrong;
}

int other_face_checks(const char* path, int time) {
  int wrong = check_attributes() + check_requests() + check_representations(path, time) + check_foreign_handler();
  int rank = -1;
  int size = -1;
  MPI_Comm comm = MPI_COMM_NULL;
  CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(sum, 1, &op);
  int total = -1;
  MPI_Allreduce(&rank, &total, 1, MPI_INT, op, comm);
  CHECK(total == size * (size - 1) / 2);
  MPI_Op_free(&op);
  MPI_Status status;
  int got = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 5, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  CHECK(got == (rank + size - 1) % size && status.MPI_SOURCE == got && status.MPI_TAG == 5);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(note_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  errors_seen = 0;
  MPI_Bcast(&got, 1, MPI_INT, size, comm);
  CHECK(errors_seen == 1 && error_comm == comm && error_class == MPI_ERR_ROOT);
  CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && comm == MPI_COMM_NULL);
  return wrong;
}
