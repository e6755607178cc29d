// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Data representations (MPI-5.0, 14.5): external32 in the file, and one that the program registers.
#include "files.hpp"

using expect::rank;
using expect::size;

namespace {

void external32(const files::Folder& folder) {
  files::File file(folder.path("external"));
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
  int mine[4] = {rank, 0x01020304, -1, 7}, read[4] = {};
  OK(MPI_File_write_at(file, rank * 4, mine, 4, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Status status;
  OK(MPI_File_read_at_all(file, rank * 4, read, 4, MPI_INT, &status));
  EXPECT(files::bytes_of(status) == 16, "%lld", static_cast<long long>(files::bytes_of(status)));
  EXPECT(memcmp(mine, read, sizeof mine) == 0, "%d %x %d %d", read[0], read[1], read[2], read[3]);
  MPI_Request request;
  memset(read, 0, sizeof read);
  OK(MPI_File_iread_at(file, rank * 4, read, 4, MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  EXPECT(memcmp(mine, read, sizeof mine) == 0, "%d %x %d %d", read[0], read[1], read[2], read[3]);
  EXPECT(files::bytes_of(status) == 16, "%lld", static_cast<long long>(files::bytes_of(status)));
  OK(MPI_File_iread_at_all(file, rank * 4, read, 4, MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  unsigned char bytes[16] = {};
  OK(MPI_File_read_at(file, rank * 16, bytes, 16, MPI_BYTE, MPI_STATUS_IGNORE));
  EXPECT(bytes[4] == 1 && bytes[5] == 2 && bytes[6] == 3 && bytes[7] == 4, "%x %x", bytes[4], bytes[7]);
  // Longs have 4 bytes outside, and so have their places in a view.
  MPI_Datatype every;
  MPI_Type_vector(2, 1, size, MPI_LONG, &every);
  MPI_Type_commit(&every);
  OK(MPI_File_set_view(file, 4 * rank, MPI_LONG, every, "external32", MPI_INFO_NULL));
  MPI_Aint extent = -1;
  OK(MPI_File_get_type_extent(file, MPI_LONG, &extent));
  EXPECT(extent == 4, "%ld", extent);
  long longs[2] = {rank + 1, -rank - 1}, again[2] = {};
  OK(MPI_File_write_at_all(file, 0, longs, 2, MPI_LONG, &status));
  EXPECT(files::bytes_of(status) == 16, "%lld", static_cast<long long>(files::bytes_of(status)));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_read_at(file, 0, again, 2, MPI_LONG, &status));
  EXPECT(again[0] == longs[0] && again[1] == longs[1], "%ld %ld", again[0], again[1]);
  longs[0] = 1L << 40;
  EXPECT_CLASS(MPI_File_write_at(file, 0, longs, 2, MPI_LONG, &status), MPI_ERR_CONVERSION);
  EXPECT_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "unheard of", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
  MPI_Type_free(&every);
}

// An array of longs dealt out by MPI_Type_create_darray, in both of its forms: 4 bytes each in the file.
void external32_of_darray(const files::Folder& folder) {
  files::File file(folder.path("darray"));
  const int each = 6;
  const int whole[2] = {2 * size, each}, cyclic[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
  const int blocks[2] = {1, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {size, 1};
  const MPI_Count large[2] = {whole[0], whole[1]};
  MPI_Datatype rows[2];
  OK(MPI_Type_create_darray(size, rank, 2, whole, cyclic, blocks, grid, MPI_ORDER_C, MPI_LONG, &rows[0]));
  OK(MPI_Type_create_darray_c(size, rank, 2, large, cyclic, blocks, grid, MPI_ORDER_C, MPI_LONG, &rows[1]));
  for (MPI_Datatype mine : rows) {
    MPI_Type_commit(&mine);
    OK(MPI_File_set_view(file, 0, MPI_LONG, mine, "external32", MPI_INFO_NULL));
    std::vector<long> data(2 * each), read(2 * each, -1);
    for (size_t i = 0; i < data.size(); ++i) data[i] = rank * 100 + static_cast<long>(i);
    OK(MPI_File_write_at_all(file, 0, data.data(), 2 * each, MPI_LONG, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, 0, read.data(), 2 * each, MPI_LONG, MPI_STATUS_IGNORE));
    EXPECT(read == data, "other data come back");
    EXPECT(files::size_of(file) == MPI_Offset{4} * 2 * size * each, "%lld",
           static_cast<long long>(files::size_of(file)));
    // Row r is rank r % size's.
    OK(MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
    long first = -1;
    const int row = 2 * size - 1;
    OK(MPI_File_read_at(file, MPI_Offset{row} * each, &first, 1, MPI_LONG, MPI_STATUS_IGNORE));
    EXPECT(first == (size - 1) * 100 + each, "%ld", first);
    MPI_Type_free(&mine);
  }
}

// Each int as two bytes, and a call counted.
int calls = 0;
int extent_of(MPI_Datatype datatype, MPI_Aint* extent, void* extra) {
  ++*static_cast<int*>(extra);
  int bytes = 0;
  MPI_Type_size(datatype, &bytes);
  *extent = datatype == MPI_INT ? 2 : bytes;
  return MPI_SUCCESS;
}
int narrow(void* user, MPI_Datatype, int count, void* file, MPI_Offset position, void*) {
  for (int i = 0; i < count; ++i) {
    const auto value = static_cast<uint16_t>(static_cast<int*>(user)[position + i]);
    memcpy(static_cast<char*>(file) + 2 * i, &value, 2);
  }
  return MPI_SUCCESS;
}
int widen(void* user, MPI_Datatype, int count, void* file, MPI_Offset position, void*) {
  for (int i = 0; i < count; ++i) {
    uint16_t value = 0;
    memcpy(&value, static_cast<char*>(file) + 2 * i, 2);
    static_cast<int*>(user)[position + i] = value;
  }
  return MPI_SUCCESS;
}

void registered(const files::Folder& folder) {
  OK(MPI_Register_datarep("half", widen, narrow, extent_of, &calls));
  EXPECT_CLASS(MPI_Register_datarep("half", widen, narrow, extent_of, &calls), MPI_ERR_DUP_DATAREP);
  EXPECT_CLASS(MPI_Register_datarep("native", widen, narrow, extent_of, &calls), MPI_ERR_DUP_DATAREP);
  files::File file(folder.path("registered"));
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "half", MPI_INFO_NULL));
  EXPECT(calls > 0, "%d", calls);
  const int mine[3] = {rank, 1000, 3};
  int read[5] = {-1, -1, -1, -1, -1};
  OK(MPI_File_write_ordered(file, mine, 3, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(files::size_of(file) == 6 * size, "%lld", static_cast<long long>(files::size_of(file)));
  MPI_Status status;
  OK(MPI_File_read_at(file, 3 * (size - 1), read, 5, MPI_INT, &status));
  EXPECT(files::bytes_of(status) == 12, "%lld", static_cast<long long>(files::bytes_of(status)));
  EXPECT(read[0] == size - 1 && read[1] == 1000 && read[2] == 3 && read[3] == -1, "%d %d %d %d", read[0], read[1],
         read[2], read[3]);
  char name[MPI_MAX_DATAREP_STRING];
  MPI_Offset disp;
  MPI_Datatype etype, filetype;
  OK(MPI_File_get_view(file, &disp, &etype, &filetype, name));
  EXPECT(strcmp(name, "half") == 0, "%s", name);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  {
    files::Folder folder;
    external32(folder);
    external32_of_darray(folder);
    registered(folder);
  }
  return expect::finish();
}
