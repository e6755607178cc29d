// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Integers for handles, and what a Fortran layer tells of itself (MPI-5.0, chapter 20).
#include <cstring>

#include "expect.hpp"

namespace {

void predefined_values() {
  EXPECT(MPI_Comm_toint(MPI_COMM_WORLD) == 0x101 && MPI_Comm_fromint(0x101) == MPI_COMM_WORLD, "MPI_COMM_WORLD");
  EXPECT(MPI_Type_toint(MPI_INT) == 0x209 && MPI_Type_fromint(0x209) == MPI_INT, "MPI_INT");
  EXPECT(MPI_Op_toint(MPI_SUM) == 0x21 && MPI_Op_fromint(0x21) == MPI_SUM, "MPI_SUM");
  EXPECT(MPI_Group_fromint(MPI_Group_toint(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY, "MPI_GROUP_EMPTY");
  EXPECT(MPI_Request_fromint(MPI_Request_toint(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL, "MPI_REQUEST_NULL");
  EXPECT(MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC, "MPI_MESSAGE_NO_PROC");
  EXPECT(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL, "MPI_WIN_NULL");
  EXPECT(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL, "MPI_FILE_NULL");
  EXPECT(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL, "MPI_SESSION_NULL");
  EXPECT(MPI_Errhandler_fromint(MPI_Errhandler_toint(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN, "MPI_ERRORS_RETURN");
}

void objects() {
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Info info;
  MPI_Group group;
  MPI_Request request;
  int data = 0;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Info_create(&info);
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Irecv(&data, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
  EXPECT(MPI_Comm_toint(comm) >= 0x1000 && MPI_Comm_fromint(MPI_Comm_toint(comm)) == comm, "communicator");
  EXPECT(MPI_Type_toint(type) >= 0x1000 && MPI_Type_fromint(MPI_Type_toint(type)) == type, "datatype");
  EXPECT(MPI_Info_fromint(MPI_Info_toint(info)) == info, "info");
  EXPECT(MPI_Group_fromint(MPI_Group_toint(group)) == group, "group");
  EXPECT(MPI_Request_fromint(MPI_Request_toint(request)) == request, "request");
  EXPECT(MPI_Comm_toint(comm) != MPI_Type_toint(type), "two objects with one integer");
  MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
  MPI_Type_free(&type);
  MPI_Info_free(&info);
  MPI_Group_free(&group);
  EXPECT(MPI_Comm_fromint(-1) == MPI_COMM_NULL && MPI_Comm_fromint(0x7fffffff) == MPI_COMM_NULL, "garbage");
}

void fortran() {
  int yes = 1, no = 0, is_set = -1, read_yes = -1, read_no = -1, flag = 0;
  char value[10];
  MPI_Info info;
  MPI_Abi_get_fortran_booleans(4, &read_yes, &read_no, &is_set);
  EXPECT(is_set == 0, "set by nobody");
  EXPECT_CLASS(MPI_Abi_set_fortran_booleans(3, &yes, &no), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Abi_set_fortran_booleans(4, &yes, &no), MPI_SUCCESS);
  EXPECT_CLASS(MPI_Abi_set_fortran_booleans(4, &yes, &no), MPI_ERR_ABI);
  MPI_Abi_get_fortran_booleans(4, &read_yes, &read_no, &is_set);
  EXPECT(is_set == 1 && read_yes == 1 && read_no == 0, "%d, %d", read_yes, read_no);
  MPI_Abi_get_fortran_info(&info);
  EXPECT(info == MPI_INFO_NULL, "information from nobody");
  MPI_Abi_get_info(&info);
  MPI_Info_get(info, "mpi_count_size", 9, value, &flag);
  EXPECT(flag && strcmp(value, "8") == 0, "mpi_count_size is %s", value);
  EXPECT_CLASS(MPI_Abi_set_fortran_info(info), MPI_SUCCESS);
  EXPECT_CLASS(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
  MPI_Info_free(&info);
  MPI_Abi_get_fortran_info(&info);
  MPI_Info_get(info, "mpi_count_size", 9, value, &flag);
  EXPECT(flag == 1, "the information was not kept");
  MPI_Info_free(&info);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  predefined_values();
  objects();
  fortran();
  return expect::finish();
}
