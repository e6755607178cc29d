/* SPDX-FileCopyrightText: 2026 the Weft authors
 * SPDX-License-Identifier: BSD-3-Clause */
/* Fortran's handles and statuses in C, in a program of C and in one of C++. A handle comes back as it was, predefined
 * or not, and the functions of the profiling interface give the same. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)

#define SAME(kind, handle)                         \
  do {                                             \
    MPI_Fint number = MPI_##kind##_c2f(handle);    \
    EXPECT(number == MPI_##kind##_toint(handle));  \
    EXPECT(number == PMPI_##kind##_c2f(handle));   \
    EXPECT(MPI_##kind##_f2c(number) == (handle));  \
    EXPECT(PMPI_##kind##_f2c(number) == (handle)); \
  } while (0)

static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
}

static void reduce(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)in, (void)inout, (void)length, (void)type;
}

static void handles(void) {
  MPI_Comm comm;
  MPI_Group group;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Request request;
  MPI_Errhandler handler;
  MPI_Info info;
  MPI_Win win;
  MPI_Session session;
  MPI_Message message;
  MPI_File file;
  int value = 5;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_group(comm, &group);
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Op_create(reduce, 1, &op);
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Info_create(&info);
  MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, comm, &win);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Isend(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
  MPI_Mprobe(0, 1, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
  SAME(Comm, comm);
  SAME(Comm, MPI_COMM_WORLD);
  SAME(Comm, MPI_COMM_NULL);
  SAME(Group, group);
  SAME(Group, MPI_GROUP_EMPTY);
  SAME(Type, type);
  SAME(Type, MPI_DOUBLE);
  SAME(Op, op);
  SAME(Op, MPI_SUM);
  SAME(Request, request);
  SAME(Request, MPI_REQUEST_NULL);
  SAME(Errhandler, handler);
  SAME(Errhandler, MPI_ERRORS_RETURN);
  SAME(Info, info);
  SAME(Info, MPI_INFO_ENV);
  SAME(Win, win);
  SAME(Win, MPI_WIN_NULL);
  SAME(Session, session);
  SAME(Session, MPI_SESSION_NULL);
  SAME(Message, message);
  SAME(Message, MPI_MESSAGE_NO_PROC);
  SAME(File, MPI_FILE_NULL);
  if (MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS) {
    SAME(File, file);
    MPI_File_close(&file);
  }
  MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Session_finalize(&session);
  MPI_Win_free(&win);
  MPI_Info_free(&info);
  MPI_Errhandler_free(&handler);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
}

/* The status of a message of 12 bytes keeps all that it says on every way through Fortran's forms. */
static void statuses(void) {
  MPI_Status status;
  MPI_Status back;
  MPI_F08_status f08;
  MPI_Fint fortran[MPI_F_STATUS_SIZE];
  int values[3] = {1, 2, 3};
  int count = -1;
  memset(&status, 0, sizeof status);
  MPI_Sendrecv(values, 3, MPI_INT, 0, 7, values, 0, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Recv(values, 3, MPI_INT, 0, 7, MPI_COMM_SELF, &status);
  status.MPI_ERROR = MPI_ERR_OTHER;
  EXPECT(MPI_Status_c2f(&status, fortran) == MPI_SUCCESS);
  EXPECT(fortran[MPI_F_SOURCE] == 0 && fortran[MPI_F_TAG] == 7 && fortran[MPI_F_ERROR] == MPI_ERR_OTHER);
  EXPECT(MPI_Status_f2f08(fortran, &f08) == MPI_SUCCESS);
  EXPECT(f08.MPI_SOURCE == 0 && f08.MPI_TAG == 7 && f08.MPI_ERROR == MPI_ERR_OTHER);
  EXPECT(MPI_Status_f082c(&f08, &back) == MPI_SUCCESS);
  EXPECT(memcmp(&status, &back, sizeof back) == 0);
  memset(&back, 0, sizeof back);
  memset(fortran, 0, sizeof fortran);
  EXPECT(PMPI_Status_c2f08(&status, &f08) == MPI_SUCCESS);
  EXPECT(PMPI_Status_f082f(&f08, fortran) == MPI_SUCCESS);
  EXPECT(PMPI_Status_f2c(fortran, &back) == MPI_SUCCESS);
  EXPECT(MPI_Get_count(&back, MPI_INT, &count) == MPI_SUCCESS && count == 3);
  EXPECT(MPI_Status_c2f(MPI_STATUS_IGNORE, fortran) == MPI_ERR_ARG);
  EXPECT(MPI_Status_f2c(fortran, MPI_STATUS_IGNORE) == MPI_ERR_ARG);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  EXPECT(sizeof(MPI_Fint) == sizeof(int));
  handles();
  statuses();
  MPI_Finalize();
  return failures != 0;
}
