// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Files are opened, written and read at offsets through views, and have a size (MPI-5.0, 14.2 to 14.4.2).
#include "files.hpp"

using expect::rank;
using expect::size;

namespace {

void blocks_of_ranks(const files::Folder& folder) {
  files::File file(folder.path("blocks"));
  std::vector<int> mine(1000), read(1000, -1);
  for (int i = 0; i < 1000; ++i) mine[i] = rank * 1000 + i;
  MPI_Status status;
  OK(MPI_File_write_at(file, rank * 4000, mine.data(), 1000, MPI_INT, &status));
  EXPECT(files::bytes_of(status) == 4000, "%lld bytes", static_cast<long long>(files::bytes_of(status)));
  OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(files::size_of(file) == 4000 * size, "%lld", static_cast<long long>(files::size_of(file)));
  const int other = (rank + 1) % size;
  OK(MPI_File_read_at(file, other * 4000, read.data(), 1000, MPI_INT, &status));
  for (int i = 0; i < 1000; ++i) EXPECT(read[i] == other * 1000 + i, "%d at %d of rank %d", read[i], i, other);
  // A read ends at the end of the file.
  OK(MPI_File_read_at(file, 4000 * size - 40, read.data(), 1000, MPI_INT, &status));
  EXPECT(files::bytes_of(status) == 40, "%lld bytes", static_cast<long long>(files::bytes_of(status)));
  OK(MPI_File_read_at(file, 4000 * size + 4000, read.data(), 1000, MPI_INT, &status));
  EXPECT(files::bytes_of(status) == 0, "%lld bytes", static_cast<long long>(files::bytes_of(status)));
}

// Each rank has every size-th double, behind a header.
void strided_view(const files::Folder& folder) {
  files::File file(folder.path("strided"));
  MPI_Datatype every, memory;
  MPI_Type_create_resized(MPI_DOUBLE, 0, size * 8, &every);
  MPI_Type_commit(&every);
  MPI_Type_vector(50, 1, 2, MPI_DOUBLE, &memory);  // every second of memory
  MPI_Type_commit(&memory);
  OK(MPI_File_set_view(file, 16 + rank * 8, MPI_DOUBLE, every, "native", MPI_INFO_NULL));
  std::vector<double> mine(100, -1), read(100, -2);
  for (int i = 0; i < 100; i += 2) mine[i] = rank + 100.0 * i;
  OK(MPI_File_write_at(file, 3, mine.data(), 1, memory, MPI_STATUS_IGNORE));
  MPI_Offset at = -1;
  OK(MPI_File_get_byte_offset(file, 3, &at));
  EXPECT(at == 16 + rank * 8 + 3 * size * 8, "%lld", static_cast<long long>(at));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(files::size_of(file) == 16 + 53 * size * 8, "%lld", static_cast<long long>(files::size_of(file)));
  MPI_Status status;
  OK(MPI_File_read_at(file, 3, read.data(), 1, memory, &status));
  EXPECT(files::bytes_of(status) == 400, "%lld bytes", static_cast<long long>(files::bytes_of(status)));
  for (int i = 0; i < 100; ++i) {
    const double wanted = i % 2 == 0 ? rank + 100.0 * i : -2;
    EXPECT(read[i] == wanted, "%g at %d, not %g", read[i], i, wanted);
  }
  // The view of all, as plain doubles.
  OK(MPI_File_set_view(file, 16, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
  std::vector<double> all(static_cast<size_t>(53 * size));
  OK(MPI_File_read_at(file, 0, all.data(), 53 * size, MPI_DOUBLE, MPI_STATUS_IGNORE));
  for (int i = 0; i < 50; ++i) {
    for (int r = 0; r < size; ++r) {
      const double found = all[static_cast<size_t>((3 + i) * size + r)];
      EXPECT(found == r + 200.0 * i, "%g of rank %d at %d", found, r, i);
    }
  }
  MPI_Offset disp = -1;
  MPI_Datatype etype, filetype;
  char datarep[MPI_MAX_DATAREP_STRING] = "";
  OK(MPI_File_get_view(file, &disp, &etype, &filetype, datarep));
  EXPECT(disp == 16 && etype == MPI_DOUBLE && filetype == MPI_DOUBLE && strcmp(datarep, "native") == 0, "%lld %s",
         static_cast<long long>(disp), datarep);
  // Derived types come with handles of their own, which are the program's to free.
  OK(MPI_File_set_view(file, 16, MPI_DOUBLE, every, "native", MPI_INFO_NULL));
  OK(MPI_File_get_view(file, &disp, &etype, &filetype, datarep));
  EXPECT(filetype != every, "the same handle");
  OK(MPI_Type_free(&filetype));
  OK(MPI_Type_free(&every));
  MPI_Type_free(&memory);
}

void sizes(const files::Folder& folder) {
  files::File file(folder.path("sizes"));
  OK(MPI_File_set_size(file, 12345));
  EXPECT(files::size_of(file) == 12345, "%lld", static_cast<long long>(files::size_of(file)));
  OK(MPI_File_preallocate(file, 20000));
  EXPECT(files::size_of(file) == 20000, "%lld", static_cast<long long>(files::size_of(file)));
  OK(MPI_File_preallocate(file, 100));
  EXPECT(files::size_of(file) == 20000, "%lld", static_cast<long long>(files::size_of(file)));
  OK(MPI_File_set_size(file, 5));
  EXPECT(files::size_of(file) == 5, "%lld", static_cast<long long>(files::size_of(file)));
  MPI_Group group, world;
  int result = -1, amode = 0;
  OK(MPI_File_get_group(file, &group));
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(group, world, &result);
  EXPECT(result == MPI_IDENT, "%d", result);
  OK(MPI_File_get_amode(file, &amode));
  EXPECT(amode == files::read_write, "%d", amode);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

// Beyond 2^32 bytes, in a file with a hole.
void far_away(const files::Folder& folder) {
  files::File file(folder.path("far"));
  const MPI_Offset far = (MPI_Offset{5} << 32) + rank * 8;
  int64_t value = 77 + rank, read = 0;
  OK(MPI_File_write_at(file, far, &value, 1, MPI_INT64_T, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(files::size_of(file) == (MPI_Offset{5} << 32) + size * 8, "%lld",
         static_cast<long long>(files::size_of(file)));
  OK(MPI_File_read_at_c(file, far, &read, 1, MPI_INT64_T, MPI_STATUS_IGNORE));
  EXPECT(read == value, "%lld", static_cast<long long>(read));
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  {
    files::Folder folder;
    blocks_of_ranks(folder);
    strided_view(folder);
    sizes(folder);
    far_away(folder);
  }
  return expect::finish();
}
