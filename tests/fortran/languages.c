/* SPDX-FileCopyrightText: 2026 the Weft authors
 * SPDX-License-Identifier: BSD-3-Clause */
/* The half in C of languages.f90. */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

static char places[8];

intptr_t c_address(int number) {
  return (intptr_t)&places[number];
}

static int number_of(MPI_Comm comm, int keyval, void* extra_state, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra_state;
  *(void**)out = &places[*(MPI_Aint*)in];
  *flag = 1;
  return MPI_SUCCESS;
}

void c_keys(int* same, int* other) {
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, same, NULL);
  MPI_Comm_create_keyval(number_of, MPI_COMM_NULL_DELETE_FN, other, NULL);
}

static void* attribute(int comm, int keyval) {
  void* found = NULL;
  int flag = 0;
  MPI_Comm_get_attr(MPI_Comm_fromint(comm), keyval, &found, &flag);
  return flag ? found : NULL;
}

/* An address that is no attribute of Fortran is not read through. */
void c_read(int comm, int keyval, intptr_t* integer, int* narrow, intptr_t* pointer) {
  char* found = attribute(comm, keyval);
  *pointer = (intptr_t)found;
  *integer = 0;
  *narrow = 0;
  if (found == NULL || (found >= places && found < places + sizeof places)) return;
  *integer = *(MPI_Aint*)found;
  *narrow = *(int*)found;
}

void c_set(int comm, int keyval, intptr_t pointer) {
  MPI_Comm_set_attr(MPI_Comm_fromint(comm), keyval, (void*)pointer);
}

void c_change(int comm, int keyval, int by) {
  MPI_Aint* integer = attribute(comm, keyval);
  if (integer != NULL) *integer += by;
}

intptr_t c_read_type(int datatype, int keyval) {
  MPI_Aint* found = NULL;
  int flag = 0;
  MPI_Type_get_attr(MPI_Type_fromint(datatype), keyval, &found, &flag);
  return flag ? *found : 0;
}

intptr_t c_read_win(int win, int keyval) {
  MPI_Aint* found = NULL;
  int flag = 0;
  MPI_Win_get_attr(MPI_Win_fromint(win), keyval, &found, &flag);
  return flag ? *found : 0;
}
