// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A second MPI library defines both functions. A tool that takes the place of functions defines MPI_Init alone.
int MPI_Init(int* argc, char*** argv) {
  return argc == 0 && argv == 0;
}
#ifndef TOOL
int PMPI_Init(int* argc, char*** argv) {
  return MPI_Init(argc, argv);
}
#endif
