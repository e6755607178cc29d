// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A plug-in that is linked with the second library.
int MPI_Init(int* argc, char*** argv);
int plugin_start(void) {
  return MPI_Init(0, 0);
}
