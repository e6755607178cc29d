// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The data access calls beside those with explicit offsets (MPI-5.0, 14.4): pointers, collective, split collective and
// nonblocking forms move the same bytes.
#include "files.hpp"

using expect::rank;
using expect::size;

namespace {

// Rank r's element i of a round, told from all others.
int value_of(int r, int i, int round) {
  return static_cast<int>(static_cast<unsigned>(round * 64 + r) * 100000U + static_cast<unsigned>(i));
}

// A view in which each rank has blocks of `block` ints in turn.
class Interleaved {
 public:
  Interleaved(MPI_File file, int block, MPI_Offset disp = 0) {
    MPI_Datatype ints;
    MPI_Type_contiguous(block, MPI_INT, &ints);
    MPI_Type_create_resized(ints, 0, MPI_Aint{4} * block * size, &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&ints);
    OK(MPI_File_set_view(file, disp + MPI_Offset{4} * block * rank, MPI_INT, type_, "native", MPI_INFO_NULL));
  }
  Interleaved(const Interleaved&) = delete;
  Interleaved& operator=(const Interleaved&) = delete;
  ~Interleaved() { MPI_Type_free(&type_); }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

std::vector<int> values(int count, int round, int r = rank) {
  std::vector<int> all(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) all[static_cast<size_t>(i)] = value_of(r, i, round);
  return all;
}

void expect_values(const std::vector<int>& found, int round, int r, const char* what) {
  for (size_t i = 0; i < found.size(); ++i) {
    const int wanted = value_of(r, static_cast<int>(i), round);
    EXPECT(found[i] == wanted, "%s: %d at %zu, not %d", what, found[i], i, wanted);
    if (found[i] != wanted) return;
  }
}

// Weft's writes are visible to all ranks of a host at once; MPI_File_sync, which waits for the disk, is file_basic's.
void sync_all(MPI_File /*file*/) {
  MPI_Barrier(MPI_COMM_WORLD);
}

void individual_pointer(const files::Folder& folder) {
  files::File file(folder.path("individual"));
  Interleaved view(file, 7);
  const std::vector<int> mine = values(700, 1);
  std::vector<int> read(700, -1);
  OK(MPI_File_write(file, mine.data(), 300, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Offset at = -1;
  OK(MPI_File_get_position(file, &at));
  EXPECT(at == 300, "%lld", static_cast<long long>(at));
  OK(MPI_File_write_all(file, mine.data() + 300, 400, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_get_position(file, &at));
  EXPECT(at == 700, "%lld", static_cast<long long>(at));
  sync_all(file);
  OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
  MPI_Status status;
  OK(MPI_File_read_all(file, read.data(), 500, MPI_INT, &status));
  EXPECT(files::bytes_of(status) == 2000, "%lld", static_cast<long long>(files::bytes_of(status)));
  OK(MPI_File_seek(file, -200, MPI_SEEK_END));
  OK(MPI_File_get_position(file, &at));
  EXPECT(at == 500, "%lld", static_cast<long long>(at));
  OK(MPI_File_seek(file, 0, MPI_SEEK_CUR));
  OK(MPI_File_read(file, read.data() + 500, 200, MPI_INT, &status));
  EXPECT(files::bytes_of(status) == 800, "%lld", static_cast<long long>(files::bytes_of(status)));
  expect_values(read, 1, rank, "individual");
  EXPECT_CLASS(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
}

// Collective access with and without two phases, of blocks of all sizes, also across windows and the end of the file.
void collective(const files::Folder& folder, const char* phases, const char* window, const char* aggregators) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", phases);
  MPI_Info_set(info, "romio_cb_read", phases);
  MPI_Info_set(info, "cb_buffer_size", window);
  MPI_Info_set(info, "cb_nodes", aggregators);
  for (const int block : {1, 3, 1000, 50000}) {
    files::File file(folder.path("collective"), files::read_write, info);
    Interleaved view(file, block, 12);
    const int count = block * 5 + rank;  // the last block of some is not full
    const std::vector<int> mine = values(count, block);
    MPI_Status status;
    OK(MPI_File_write_at_all(file, 0, mine.data(), count, MPI_INT, &status));
    EXPECT(files::bytes_of(status) == MPI_Offset{4} * count, "%lld", static_cast<long long>(files::bytes_of(status)));
    sync_all(file);
    std::vector<int> read(static_cast<size_t>(count + block * 3), -7);
    OK(MPI_File_read_at(file, 0, read.data(), count, MPI_INT, MPI_STATUS_IGNORE));
    std::vector<int> same(read.begin(), read.begin() + count);
    expect_values(same, block, rank, "alone");
    // More than there is: the rest stays as it was.
    std::fill(read.begin(), read.end(), -7);
    OK(MPI_File_read_at_all(file, 0, read.data(), static_cast<int>(read.size()), MPI_INT, &status));
    const MPI_Offset end = files::size_of(file);
    MPI_Offset there = 0;
    for (size_t i = 0; i < read.size(); ++i) {
      const MPI_Offset at = 12 + MPI_Offset{4} * block * rank + static_cast<MPI_Offset>(i / block) * 4 * block * size +
                            static_cast<MPI_Offset>(i % block) * 4;
      if (at + 4 <= end) there += 4;
    }
    EXPECT(files::bytes_of(status) == there, "%lld bytes of %lld, block %d",
           static_cast<long long>(files::bytes_of(status)), static_cast<long long>(there), block);
    same.assign(read.begin(), read.begin() + count);
    expect_values(same, block, rank, "together");
    for (size_t i = static_cast<size_t>(there / 4); i < read.size(); ++i)
      EXPECT(read[i] == -7, "%d behind the end, at %zu", read[i], i);
  }
  MPI_Info_free(&info);
}

// Memory with gaps, some ranks without data, holes in the file that must stay.
void memory_with_gaps(const files::Folder& folder) {
  files::File file(folder.path("gaps"));
  const int total = 6000 * size;
  if (rank == 0) {
    const std::vector<int> old(static_cast<size_t>(total), -5);
    OK(MPI_File_write_at(file, 0, old.data(), total, MPI_INT, MPI_STATUS_IGNORE));
  }
  sync_all(file);
  MPI_Datatype memory, every;
  MPI_Type_vector(500, 2, 5, MPI_INT, &memory);
  MPI_Type_commit(&memory);
  MPI_Datatype two;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_create_resized(two, 0, MPI_Aint{12} * size, &every);  // each third int of all is nobody's
  MPI_Type_commit(&every);
  OK(MPI_File_set_view(file, MPI_Offset{12} * rank, MPI_INT, every, "native", MPI_INFO_NULL));
  std::vector<int> mine(2500, -1), read(2500, -2);
  for (int i = 0; i < 1000; ++i) mine[i / 2 * 5 + i % 2] = value_of(rank, i, 9);
  const int count = rank == 1 ? 0 : 1;
  OK(MPI_File_write_at_all(file, 0, mine.data(), count, memory, MPI_STATUS_IGNORE));
  sync_all(file);
  OK(MPI_File_read_at_all(file, 0, read.data(), 1, memory, MPI_STATUS_IGNORE));
  for (int i = 0; i < 2500; ++i) {
    const bool data = i % 5 < 2;
    const int wanted = !data ? -2 : rank == 1 ? -5 : value_of(rank, i / 5 * 2 + i % 5, 9);
    EXPECT(read[i] == wanted, "%d at %d, not %d", read[i], i, wanted);
    if (read[i] != wanted) break;
  }
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  std::vector<int> all(static_cast<size_t>(total));
  OK(MPI_File_read_at_all(file, 0, all.data(), total, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 2; i < total; i += 3) EXPECT(all[i] == -5, "%d in the gap at %d", all[i], i);
  MPI_Type_free(&memory);
  MPI_Type_free(&two);
  MPI_Type_free(&every);
}

void nonblocking(const files::Folder& folder) {
  files::File file(folder.path("nonblocking"));
  Interleaved view(file, 100);
  constexpr int count = 1000;
  std::vector<std::vector<int>> data;
  MPI_Request requests[12];
  for (int k = 0; k < 12; ++k) data.push_back(values(count, k));
  for (int k = 0; k < 4; ++k) {
    OK(MPI_File_iwrite_at(file, MPI_Offset{count} * k, data[k].data(), count, MPI_INT, &requests[k]));
    OK(MPI_File_iwrite_at_all(file, MPI_Offset{count} * (k + 4), data[k + 4].data(), count, MPI_INT, &requests[k + 4]));
  }
  OK(MPI_File_seek(file, count * 8, MPI_SEEK_SET));
  for (int k = 8; k < 12; k += 2) {
    OK(MPI_File_iwrite(file, data[k].data(), count, MPI_INT, &requests[k]));
    OK(MPI_File_iwrite_all(file, data[k + 1].data(), count, MPI_INT, &requests[k + 1]));
  }
  MPI_Status statuses[12];
  OK(MPI_Waitall(12, requests, statuses));
  for (const MPI_Status& status : statuses)
    EXPECT(files::bytes_of(status) == 4 * count, "%lld", static_cast<long long>(files::bytes_of(status)));
  sync_all(file);
  std::vector<std::vector<int>> read(12, std::vector<int>(count, -1));
  for (int k = 0; k < 12; ++k) {
    if (k % 2 == 0) {
      OK(MPI_File_iread_at(file, MPI_Offset{count} * k, read[k].data(), count, MPI_INT, &requests[k]));
    } else {
      OK(MPI_File_iread_at_all(file, MPI_Offset{count} * k, read[k].data(), count, MPI_INT, &requests[k]));
    }
  }
  for (int k = 11; k >= 0; --k) {
    int flag = 0;
    while (flag == 0) OK(MPI_Test(&requests[k], &flag, MPI_STATUS_IGNORE));
    expect_values(read[k], k, rank, "nonblocking");
  }
  // A request that is freed: the data are there.
  std::fill(read[0].begin(), read[0].end(), -1);
  OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
  OK(MPI_File_iread(file, read[0].data(), count, MPI_INT, &requests[0]));
  OK(MPI_Cancel(&requests[0]));
  OK(MPI_Request_free(&requests[0]));
  expect_values(read[0], 0, rank, "freed");
}

void shared_pointer(const files::Folder& folder) {
  files::File file(folder.path("shared"));
  OK(MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  constexpr int times = 20;
  for (int k = 0; k < times; ++k) {
    const int record[2] = {rank, k};
    if (k % 2 == 0) {
      OK(MPI_File_write_shared(file, record, 2, MPI_INT, MPI_STATUS_IGNORE));
    } else {
      MPI_Request request;
      OK(MPI_File_iwrite_shared(file, record, 2, MPI_INT, &request));
      OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
  }
  sync_all(file);
  MPI_Offset at = -1;
  OK(MPI_File_get_position_shared(file, &at));
  EXPECT(at == MPI_Offset{2} * times * size, "%lld", static_cast<long long>(at));
  EXPECT(files::size_of(file) == 8 + at * 4, "%lld", static_cast<long long>(files::size_of(file)));
  std::vector<int> all(static_cast<size_t>(at));
  OK(MPI_File_read_at(file, 0, all.data(), static_cast<int>(at), MPI_INT, MPI_STATUS_IGNORE));
  std::vector<int> next(static_cast<size_t>(size), 0);
  for (size_t i = 0; i < all.size(); i += 2) {
    const int r = all[i];
    EXPECT(r >= 0 && r < size && all[i + 1] == next[static_cast<size_t>(r)]++, "record %zu: %d %d", i / 2, r,
           all[i + 1]);
  }
  // In the order of ranks, of different sizes.
  OK(MPI_File_seek_shared(file, 100, MPI_SEEK_SET));
  const std::vector<int> mine = values(rank + 1, 3);
  OK(MPI_File_write_ordered(file, mine.data(), rank + 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_write_ordered_begin(file, mine.data(), rank + 1, MPI_INT));
  OK(MPI_File_write_ordered_end(file, mine.data(), MPI_STATUS_IGNORE));
  OK(MPI_File_get_position_shared(file, &at));
  EXPECT(at == 100 + size * (size + 1), "%lld", static_cast<long long>(at));
  sync_all(file);
  OK(MPI_File_seek_shared(file, 100, MPI_SEEK_SET));
  for (int k = 0; k < 2; ++k) {
    std::vector<int> read(static_cast<size_t>(rank + 1), -1);
    if (k == 0) {
      OK(MPI_File_read_ordered(file, read.data(), rank + 1, MPI_INT, MPI_STATUS_IGNORE));
    } else {
      OK(MPI_File_read_ordered_begin(file, read.data(), rank + 1, MPI_INT));
      OK(MPI_File_read_ordered_end(file, read.data(), MPI_STATUS_IGNORE));
    }
    expect_values(read, 3, rank, "ordered");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  int one = -1;
  MPI_Request request;
  OK(MPI_File_iread_shared(file, &one, 1, MPI_INT, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_File_read_shared(file, &one, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_get_position_shared(file, &at));
  EXPECT(at == 2 * size, "%lld", static_cast<long long>(at));
  MPI_Barrier(MPI_COMM_WORLD);
}

void split(const files::Folder& folder) {
  files::File file(folder.path("split"));
  Interleaved view(file, 10);
  const std::vector<int> mine = values(400, 5);
  std::vector<int> read(400, -1);
  MPI_Status status;
  OK(MPI_File_write_at_all_begin(file, 0, mine.data(), 200, MPI_INT));
  EXPECT_CLASS(MPI_File_write_all_begin(file, mine.data(), 200, MPI_INT), MPI_ERR_OTHER);
  EXPECT_CLASS(MPI_File_read_at_all_end(file, read.data(), &status), MPI_ERR_OTHER);
  OK(MPI_File_write_at_all_end(file, mine.data(), &status));
  EXPECT(files::bytes_of(status) == 800, "%lld", static_cast<long long>(files::bytes_of(status)));
  EXPECT_CLASS(MPI_File_write_at_all_end(file, mine.data(), &status), MPI_ERR_OTHER);
  OK(MPI_File_seek(file, 200, MPI_SEEK_SET));
  OK(MPI_File_write_all_begin(file, mine.data() + 200, 200, MPI_INT));
  OK(MPI_File_write_all_end(file, mine.data() + 200, &status));
  sync_all(file);
  OK(MPI_File_read_at_all_begin(file, 200, read.data() + 200, 200, MPI_INT));
  OK(MPI_File_read_at_all_end(file, read.data() + 200, &status));
  OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
  OK(MPI_File_read_all_begin(file, read.data(), 200, MPI_INT));
  OK(MPI_File_read_all_end(file, read.data(), &status));
  expect_values(read, 5, rank, "split");
}

// All ranks write the same bytes, which are those of one rank as a whole in the end.
void atomic_mode(const files::Folder& folder) {
  files::File file(folder.path("atomic"));
  int flag = -1;
  OK(MPI_File_get_atomicity(file, &flag));
  EXPECT(flag == 0, "%d", flag);
  OK(MPI_File_set_atomicity(file, 1));
  OK(MPI_File_get_atomicity(file, &flag));
  EXPECT(flag == 1, "%d", flag);
  MPI_Datatype every;
  MPI_Type_create_resized(MPI_INT, 0, 8, &every);
  MPI_Type_commit(&every);
  OK(MPI_File_set_view(file, 0, MPI_INT, every, "native", MPI_INFO_NULL));
  const std::vector<int> mine(200, rank);
  std::vector<int> read(200, -1);
  for (int k = 0; k < 5; ++k) {
    MPI_Request request;
    OK(MPI_File_iwrite_at(file, 0, mine.data(), 200, MPI_INT, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at_all(file, 0, mine.data(), 200, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(file, 0, read.data(), 200, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 1; i < 200; ++i) EXPECT(read[i] == read[0], "%d of rank %d and %d", i, read[i], read[0]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Type_free(&every);
}

void appending(const files::Folder& folder) {
  const std::string path = folder.path("append");
  {
    files::File file(path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    OK(MPI_File_set_size(file, 100));
  }
  files::File file(path, MPI_MODE_APPEND | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Offset at = -1;
  OK(MPI_File_get_position(file, &at));
  EXPECT(at == 100, "%lld", static_cast<long long>(at));
  OK(MPI_File_get_position_shared(file, &at));
  EXPECT(at == 100, "%lld", static_cast<long long>(at));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_write_ordered(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT(files::size_of(file) == 100 + 4 * size, "%lld", static_cast<long long>(files::size_of(file)));
}

// Each set_view goes on where the shared pointer is.
void sequential(const files::Folder& folder) {
  files::File file(folder.path("sequential"),
                   MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE);
  const char bytes[3] = {1, 2, 3};
  for (int k = 0; k < 3; ++k) {
    OK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI_Offset disp = -1;
    MPI_Datatype etype, filetype;
    char datarep[MPI_MAX_DATAREP_STRING];
    OK(MPI_File_get_view(file, &disp, &etype, &filetype, datarep));
    EXPECT(disp == MPI_Offset{3} * k * size, "%lld", static_cast<long long>(disp));
    OK(MPI_File_write_ordered(file, bytes, 3, MPI_BYTE, MPI_STATUS_IGNORE));
  }
  EXPECT(files::size_of(file) == 9 * size, "%lld", static_cast<long long>(files::size_of(file)));
  EXPECT_CLASS(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_ERR_ARG);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  {
    files::Folder folder;
    individual_pointer(folder);
    collective(folder, "automatic", "16777216", "2");
    collective(folder, "enable", "4096", "3");
    collective(folder, "enable", "65536", "1");
    collective(folder, "disable", "65536", "1");
    memory_with_gaps(folder);
    nonblocking(folder);
    shared_pointer(folder);
    split(folder);
    atomic_mode(folder);
    appending(folder);
    sequential(folder);
  }
  return expect::finish();
}
