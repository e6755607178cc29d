// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which driver is in use in a process (WEFT_DEVICES).

#include <string>

namespace weft::device {

// Chooses the driver by WEFT_DEVICES. Empty: done, whether or not there is one; otherwise the named one cannot be used.
// Where an alias of the setting asks for one, that is told, and there is none.
[[nodiscard]] std::string open();
// Chooses the driver for a tool: what `auto` would choose is loaded, and why it cannot be used is told.
[[nodiscard]] std::string open_for_tool();

// Whether WEFT_DEVICES names the driver in use. Ranks compare that when the job starts (coll::start), so it
// holds for all of a job or for none. With `auto` it depends on what each process has loaded.
[[nodiscard]] bool everywhere();

// Called when a driver comes into use: with `auto`, MPI_Init may find one that shmem_init did not. nullptr: nothing is.
extern void (*at_open)();

}  // namespace weft::device
