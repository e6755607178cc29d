// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace weft::device {

// Whether WEFT_DEVICES names the driver in use. Ranks compare that when the job starts (coll::open_choices), so it
// holds for all of a job or for none. With `auto` it depends on what each process has loaded.
[[nodiscard]] bool everywhere();

// Called when a driver comes into use: with `auto`, MPI_Init may find one that shmem_init did not. nullptr: nothing is.
extern void (*at_open)();

}  // namespace weft::device
