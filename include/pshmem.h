/* SPDX-FileCopyrightText: 2026 the Weft authors
 * SPDX-License-Identifier: BSD-3-Clause */
/* The functions of OpenSHMEM under the names of its profiling interface, for programs that know them by this header,
 * which other libraries have: shmem.h declares them. */
#ifndef PSHMEM_H
#define PSHMEM_H

#include <shmem.h>

#endif
