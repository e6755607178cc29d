// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// What Open MPI's ABI has and others do not: functions, kinds of splits, numbers of Fortran, and short texts. With an
// argument, also that there are so many ranks, since a launcher of another library may start as many jobs of one.
#include <mpi.h>

#include <cstring>
#include <string>

#include "same.hpp"

namespace {

// Ranks of the communicator that a split gives; it always has the caller.
int ranks_of_split(int type) {
  MPI_Comm part = MPI_COMM_NULL;
  SAME(MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, MPI_INFO_NULL, &part), MPI_SUCCESS);
  HOLDS(part != MPI_COMM_NULL);
  int ranks = 0;
  MPI_Comm_size(part, &ranks);
  HOLDS(ranks >= 1 && ranks <= expect::size);
  MPI_Comm_free(&part);
  return ranks;
}

void splits() {
  for (const int type : {OMPI_COMM_TYPE_BOARD, OMPI_COMM_TYPE_HOST, OMPI_COMM_TYPE_CU, OMPI_COMM_TYPE_CLUSTER}) {
    SAME(ranks_of_split(type), expect::size);
  }
  int before = 0;
  for (const int type : {OMPI_COMM_TYPE_HWTHREAD, OMPI_COMM_TYPE_CORE, OMPI_COMM_TYPE_L2CACHE, OMPI_COMM_TYPE_L3CACHE,
                         OMPI_COMM_TYPE_SOCKET}) {
    const int ranks = ranks_of_split(type);
    HOLDS(ranks >= before);  // each has the one before inside
    before = ranks;
  }
  (void)ranks_of_split(OMPI_COMM_TYPE_L1CACHE);
  (void)ranks_of_split(OMPI_COMM_TYPE_NUMA);
  MPI_Comm part = MPI_COMM_NULL;
  HOLDS(MPI_Comm_split_type(MPI_COMM_WORLD, 99, 0, MPI_INFO_NULL, &part) != MPI_SUCCESS);
}

void persistent() {
  MPI_Request request = MPI_REQUEST_NULL;
  int sum = 0;
  SAME(MPIX_Allreduce_init(&expect::rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
       MPI_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    SAME(sum, expect::size * (expect::size - 1) / 2);
  }
  MPI_Request_free(&request);
}

// Nobody has failed.
void failures() {
  int number = -1;
  SAME(MPIX_Comm_ack_failed(MPI_COMM_WORLD, 5, &number), MPI_SUCCESS);
  SAME(number, 0);
  SAME(MPIX_Comm_is_revoked(MPI_COMM_WORLD, &number), MPI_SUCCESS);
  SAME(number, 0);
  int flag = 0xff & ~(1 << expect::rank);
  MPI_Request request = MPI_REQUEST_NULL;
  SAME(MPIX_Comm_iagree(MPI_COMM_WORLD, &flag, &request), MPI_SUCCESS);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  SAME(flag, 0xff & ~((1 << expect::size) - 1));
  HOLDS(MPIX_Comm_revoke() != MPI_SUCCESS);
  for (const int code : {MPIX_ERR_PROC_FAILED, MPIX_ERR_PROC_FAILED_PENDING, MPIX_ERR_REVOKED}) {
    SAME(MPI_Error_class(code, &number), MPI_SUCCESS);
    SAME(number, code);
  }
  SAME(MPIX_Query_rocm_support(), 0);
}

void attributes() {
  int value = 0;
  void* copy = nullptr;
  int flag = -1;
  SAME(MPI_COMM_DUP_FN(MPI_COMM_WORLD, 1, nullptr, &value, &copy, &flag), MPI_SUCCESS);
  HOLDS(copy == &value && flag == 1);
  SAME(MPI_TYPE_NULL_COPY_FN(MPI_INT, 1, nullptr, &value, &copy, &flag), MPI_SUCCESS);
  SAME(flag, 0);
  SAME(MPI_WIN_NULL_DELETE_FN(MPI_WIN_NULL, 1, nullptr, nullptr), MPI_SUCCESS);
}

void sessions() {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  SAME(MPI_Session_set_info(session, MPI_INFO_NULL), MPI_SUCCESS);
  MPI_Session_finalize(&session);
  HOLDS(session == MPI_SESSION_NULL);
}

// These are the numbers of mpif.h.
void numbers() {
  SAME(MPI_Comm_c2f(MPI_COMM_WORLD), 0);
  SAME(MPI_Comm_c2f(MPI_COMM_NULL), 2);
  SAME(MPI_Type_c2f(MPI_DOUBLE_PRECISION), 17);
  SAME(MPI_Op_c2f(MPI_SUM), 3);
  SAME(MPI_Request_c2f(MPI_REQUEST_NULL), 0);
  SAME(MPI_Comm_f2c(1), MPI_COMM_SELF);
  SAME(MPI_Type_f2c(7), MPI_INTEGER);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &type);
  const MPI_Fint number = MPI_Type_c2f(type);
  HOLDS(number >= 100);
  SAME(MPI_Type_f2c(number), type);
  MPI_Type_free(&type);
  for (const MPI_Fint wrong : {-1, 99, 0x206, 3000, INT32_MAX, INT32_MIN}) {
    int bytes = 0;
    HOLDS(MPI_Type_size(MPI_Type_f2c(wrong), &bytes) != MPI_SUCCESS);
  }
}

// Numbers of two bytes, which Open MPI 5.0 has under names of its own.
void short_floats() {
  int bytes = 0;
  SAME(MPI_Type_size(MPIX_SHORT_FLOAT, &bytes), MPI_SUCCESS);
  SAME(bytes, 2);
  SAME(MPI_Type_size(MPIX_C_SHORT_FLOAT_COMPLEX, &bytes), MPI_SUCCESS);
  SAME(bytes, 4);
  SAME(MPI_Type_c2f(MPI_REAL2), 28);
  const uint16_t one = 0x3c00;  // 1.0
  uint16_t sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPIX_SHORT_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  const uint16_t sums[] = {0x3c00, 0x4000, 0x4200, 0x4400};
  SAME(sum, sums[expect::size - 1]);
}

// Nothing is written behind a buffer of Open MPI's lengths.
void texts() {
  struct {
    char text[MPI_MAX_OBJECT_NAME];
    char behind[16];
  } name;
  memset(&name, 'x', sizeof name);
  int length = -1;
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &copy);
  MPI_Comm_set_name(copy, std::string(100, 'n').c_str());
  SAME(MPI_Comm_get_name(copy, name.text, &length), MPI_SUCCESS);
  SAME(length, MPI_MAX_OBJECT_NAME - 1);
  SAME(strnlen(name.text, sizeof name.text), length);
  SAME(std::string(name.behind, sizeof name.behind).find_first_not_of('x'), std::string::npos);
  MPI_Comm_free(&copy);
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Get_library_version(version, &length);
  HOLDS(strstr(version, "Weft") != nullptr && strstr(version, "Open MPI ABI 40") != nullptr &&
        length == static_cast<int>(strlen(version)));
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  if (argc > 1) SAME(expect::size, std::stoi(argv[1]));
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  splits();
  persistent();
  failures();
  attributes();
  sessions();
  numbers();
  short_floats();
  texts();
  return expect::finish();
}
