// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Distributed locks (OpenSHMEM 1.6, 9.12): PEs queue in the order in which they came, and each waits on memory of its
// own (Mellor-Crummey and Scott, "Algorithms for Scalable Synchronization", 1991).

namespace weft::shmem {

void set_lock(const char* function, long* lock);
void clear_lock(const char* function, long* lock);
int test_lock(const char* function, long* lock);

}  // namespace weft::shmem
