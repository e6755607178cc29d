// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Start, end and questions about the process (OpenSHMEM 1.6, 9.1 and 9.2).

#include "shmem/state.hpp"

namespace weft::shmem {

void init();
int init_thread(int requested, int* provided);
void start_pes();
void finalize();
void query_initialized(int* initialized);
void query_thread(int* provided);
[[noreturn]] void global_exit(int status);

int my_pe();
int n_pes();
int pe_accessible(int pe);
int addr_accessible(const void* address, int pe);
void* pointer(const char* function, const void* dest, int pe);
void* team_pointer(const char* function, shmem_team_t team, const void* dest, int pe);
void info_get_version(int* major, int* minor);
void info_get_name(char* name);

}  // namespace weft::shmem
