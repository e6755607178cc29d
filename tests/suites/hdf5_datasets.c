// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// All ranks write data sets of HDF5 together: blocks of rows of a contiguous one, and every P-th column of chunks,
// plain and compressed. Each rank writes every P-th row of further chunks by itself. Each rank reads all data sets,
// collectively and by itself, and rank 0 once more without MPI.
// Prints how many elements were right and how many wrong.
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { rows_of_rank = 24, columns_of_rank = 20 };

static const char* const name_of_file = "datasets.h5";
static int ranks, rank;
static hsize_t shape[2];

// Any error of HDF5 ends the job: the other ranks would wait in the next collective call.
static hid_t valid(hid_t id) {
  if (id < 0) MPI_Abort(MPI_COMM_WORLD, 2);
  return id;
}

static int value(hsize_t row, hsize_t column, int dataset) {
  return (int)(row * 1000 + column) * 3 + dataset;
}

static void write_dataset(hid_t file, const char* name, int dataset, hid_t creation, const hsize_t start[2],
                          const hsize_t stride[2], const hsize_t count[2], H5FD_mpio_xfer_t mode) {
  int* data = malloc(sizeof(int) * count[0] * count[1]);
  for (hsize_t i = 0; i < count[0]; ++i)
    for (hsize_t j = 0; j < count[1]; ++j)
      data[i * count[1] + j] = value(start[0] + i * stride[0], start[1] + j * stride[1], dataset);
  hid_t space = valid(H5Screate_simple(2, shape, NULL));
  hid_t set = valid(H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  hid_t memory = valid(H5Screate_simple(2, count, NULL));
  hid_t transfer = valid(H5Pcreate(H5P_DATASET_XFER));
  valid(H5Pset_dxpl_mpio(transfer, mode));
  valid(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL));
  valid(H5Dwrite(set, H5T_NATIVE_INT, memory, space, transfer, data));
  H5Pclose(transfer);
  H5Sclose(memory);
  H5Dclose(set);
  H5Sclose(space);
  free(data);
}

static const char* const names[] = {"rows", "columns", "compressed", "independent"};
enum { datasets = sizeof names / sizeof names[0] };

// Adds the elements that are right and wrong.
static void read_datasets(hid_t access, hid_t transfer, long counts[2]) {
  size_t size = shape[0] * shape[1];
  int* data = malloc(sizeof(int) * size);
  hid_t file = valid(H5Fopen(name_of_file, H5F_ACC_RDONLY, access));
  for (int dataset = 0; dataset < datasets; ++dataset) {
    for (size_t i = 0; i < size; ++i) data[i] = -1;
    hid_t set = valid(H5Dopen2(file, names[dataset], H5P_DEFAULT));
    valid(H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, transfer, data));
    for (size_t i = 0; i < size; ++i) ++counts[data[i] != value(i / shape[1], i % shape[1], dataset)];
    H5Dclose(set);
  }
  H5Fclose(file);
  free(data);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  shape[0] = (hsize_t)ranks * rows_of_rank;
  shape[1] = (hsize_t)ranks * columns_of_rank;

  hid_t access = valid(H5Pcreate(H5P_FILE_ACCESS));
  valid(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
  hid_t chunked = valid(H5Pcreate(H5P_DATASET_CREATE));
  valid(H5Pset_chunk(chunked, 2, (hsize_t[]){7, 16}));
  hid_t compressed = valid(H5Pcopy(chunked));
  valid(H5Pset_deflate(compressed, 3));

  hid_t file = valid(H5Fcreate(name_of_file, H5F_ACC_TRUNC, H5P_DEFAULT, access));
  const hsize_t each[2] = {1, 1}, stride[2] = {1, (hsize_t)ranks};
  const hsize_t first_row[2] = {(hsize_t)rank * rows_of_rank, 0}, first_column[2] = {0, (hsize_t)rank};
  const hsize_t own_row[2] = {(hsize_t)rank, 0}, row_stride[2] = {(hsize_t)ranks, 1};
  const hsize_t some_rows[2] = {rows_of_rank, shape[1]}, some_columns[2] = {shape[0], columns_of_rank};
  write_dataset(file, names[0], 0, H5P_DEFAULT, first_row, each, some_rows, H5FD_MPIO_COLLECTIVE);
  write_dataset(file, names[1], 1, chunked, first_column, stride, some_columns, H5FD_MPIO_COLLECTIVE);
  write_dataset(file, names[2], 2, compressed, first_column, stride, some_columns, H5FD_MPIO_COLLECTIVE);
  write_dataset(file, names[3], 3, chunked, own_row, row_stride, some_rows, H5FD_MPIO_INDEPENDENT);
  H5Pclose(compressed);
  H5Pclose(chunked);
  H5Fclose(file);

  long counts[2] = {0, 0}, sums[2] = {0, 0};
  hid_t transfer = valid(H5Pcreate(H5P_DATASET_XFER));
  valid(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE));
  read_datasets(access, transfer, counts);
  valid(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_INDEPENDENT));
  read_datasets(access, transfer, counts);
  if (rank == 0) read_datasets(H5P_DEFAULT, H5P_DEFAULT, counts);
  H5Pclose(transfer);
  H5Pclose(access);

  MPI_Reduce(counts, sums, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks: %ld right, %ld wrong\n", ranks, sums[0], sums[1]);
  MPI_Finalize();
  return 0;
}
