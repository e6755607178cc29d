/* SPDX-FileCopyrightText: 2026 the Weft authors
 * SPDX-License-Identifier: BSD-3-Clause */
/* Choice buffers of Fortran as C's buffers. */
#pragma once

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  ptrdiff_t lower;
  ptrdiff_t extent; /* -1: the last dimension of an assumed-size array */
  ptrdiff_t stride; /* bytes */
} Dimension;

/* The part of ISO C's CFI_cdesc_t that gfortran, flang and ifx lay out alike; types and attributes differ. */
typedef struct {
  void* address;
  size_t element; /* bytes */
  int version;
  int8_t rank;
  int8_t differs[3];
  Dimension dimensions[];
} Section;

typedef struct {
  void* address;
  int count;
  MPI_Datatype type;
  int made; /* the datatype is freed after the call */
} Buffer;

/* Variables of mpif.h and the modules that stand for an address (convert.hpp has all). */
extern int weft_fortran_bottom_, weft_fortran_in_place_, weft_fortran_status_ignore_[8];

static inline void* weft_fortran_address(void* of) {
  if (of == &weft_fortran_bottom_) return MPI_BOTTOM;
  return of == &weft_fortran_in_place_ ? MPI_IN_PLACE : of;
}

static inline MPI_Status* weft_fortran_status(MPI_Status* of) {
  return (void*)of == (void*)weft_fortran_status_ignore_ ? MPI_STATUS_IGNORE : of;
}

static inline int weft_fortran_contiguous(const Section* section) {
  ptrdiff_t stride = (ptrdiff_t)section->element;
  for (int i = 0; i < section->rank; i++) {
    const Dimension* at = &section->dimensions[i];
    if (at->extent == -1) return at->stride == stride;
    if (at->extent != 1 && at->stride != stride) return 0;
    stride *= at->extent;
  }
  return 1;
}

/* Elements with gaps between them, as a datatype. Where it cannot be made, the type is MPI_DATATYPE_NULL: the function
 * that takes it reports MPI_ERR_TYPE. */
Buffer weft_fortran_scattered(const Section* section, int count, MPI_Datatype type);

static inline Buffer weft_fortran_buffer(const Section* section, int count, MPI_Datatype type) {
  if (__builtin_expect(!weft_fortran_contiguous(section), 0)) return weft_fortran_scattered(section, count, type);
  return (Buffer){weft_fortran_address(section->address), count, type, 0};
}

static inline void weft_fortran_release(Buffer* buffer) {
  if (__builtin_expect(buffer->made, 0)) MPI_Type_free(&buffer->type);
}
