// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Files by the file system that they lie on, which WEFT_IO_FAULTS pretends (MPI-5.0, 14.2.8 and 14.6):
//   locks         NFS: accesses work; atomic mode too
//   no_locks      NFS whose locks fail: a file of ranks of one host opens, one of several hosts gives an error
//   local_locks   NFS with locks of the host alone: there is no atomic mode between hosts
//   striped       Lustre, with a library that stands for its own: hints are in force, or the info says why not
//   no_library    Lustre without it
//   elsewhere     hints for Lustre on another file system
//   direct        direct I/O: contents, and the hints that come back
#include <fcntl.h>

#include <set>

#include "by_host.hpp"
#include "files.hpp"

using expect::rank;
using expect::size;

namespace {

bool several_hosts() {
  const std::vector<std::string> names = by_host::hosts();
  return std::set<std::string>(names.begin(), names.end()).size() > 1;
}

// A hint as MPI_File_get_info shows it; empty: it is not there.
std::string hint_of(MPI_File file, const char* key) {
  MPI_Info info = MPI_INFO_NULL;
  OK(MPI_File_get_info(file, &info));
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int bytes = sizeof value;
  int there = 0;
  MPI_Info_get_string(info, key, &bytes, value, &there);
  MPI_Info_free(&info);
  return there != 0 ? value : "";
}

void expect_hint(MPI_File file, const char* key, const char* wanted) {
  const std::string found = hint_of(file, key);
  EXPECT(found == wanted, "%s is '%s', not '%s'", key, found.c_str(), wanted);
}

MPI_Info info_of(const std::vector<std::pair<const char*, const char*>>& hints) {
  MPI_Info info;
  MPI_Info_create(&info);
  for (const auto& [key, value] : hints) MPI_Info_set(info, key, value);
  return info;
}

// Every rank's ints in turn, written together and read by another rank alone.
void move_data(MPI_File file) {
  constexpr int count = 5000;
  std::vector<int> mine(count), read(count, -1);
  for (int i = 0; i < count; ++i) mine[static_cast<size_t>(i)] = rank * count + i;
  MPI_Datatype every;
  MPI_Type_create_resized(MPI_INT, 0, MPI_Aint{4} * size, &every);
  MPI_Type_commit(&every);
  OK(MPI_File_set_view(file, MPI_Offset{4} * rank, MPI_INT, every, "native", MPI_INFO_NULL));
  OK(MPI_File_write_at_all(file, 0, mine.data(), count, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_read_at(file, 0, read.data(), count, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT(read == mine, "a rank reads other data than it wrote with the others");
  OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_sync(file));
  const int other = (rank + 1) % size;
  OK(MPI_File_set_view(file, MPI_Offset{4} * other, MPI_INT, every, "native", MPI_INFO_NULL));
  MPI_Request request = MPI_REQUEST_NULL;
  OK(MPI_File_iread_at(file, 0, read.data(), count, MPI_INT, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int i = 0; i < count; ++i)
    EXPECT(read[static_cast<size_t>(i)] == other * count + i, "%d at %d", read[static_cast<size_t>(i)], i);
  MPI_Type_free(&every);
}

void locks(const files::Folder& folder) {
  files::File file(folder.path("locks"));
  move_data(file);
  OK(MPI_File_set_atomicity(file, 1));
  move_data(file);
}

void no_locks(const files::Folder& folder) {
  const std::string path = folder.path("no_locks");
  if (!several_hosts()) {
    files::File file(path);
    move_data(file);
    return;
  }
  MPI_File file = MPI_FILE_NULL;
  const int error = MPI_File_open(MPI_COMM_WORLD, path.c_str(), files::read_write, MPI_INFO_NULL, &file);
  EXPECT_CLASS(error, MPI_ERR_IO);
  if (rank == 0) unlink(path.c_str());
  MPI_Barrier(MPI_COMM_WORLD);
}

void local_locks(const files::Folder& folder) {
  files::File file(folder.path("local_locks"));
  move_data(file);
  const int error = MPI_File_set_atomicity(file, 1);
  EXPECT_CLASS(error, several_hosts() ? MPI_ERR_UNSUPPORTED_OPERATION : MPI_SUCCESS);
  int atomic = -1;
  OK(MPI_File_get_atomicity(file, &atomic));
  EXPECT(atomic == (several_hosts() ? 0 : 1), "%d", atomic);
  OK(MPI_File_set_atomicity(file, 0));
}

void striped(const files::Folder& folder) {
  const std::string path = folder.path("striped");
  MPI_Info info = info_of({{"striping_factor", "4"}, {"striping_unit", "2097152"}, {"start_iodevice", "3"}});
  {
    files::File file(path, MPI_MODE_CREATE | MPI_MODE_RDWR, info);
    expect_hint(file, "striping_factor", "4");
    expect_hint(file, "striping_unit", "2097152");
    expect_hint(file, "start_iodevice", "3");
    expect_hint(file, "weft_striping", "");
    move_data(file);
  }
  MPI_Info_free(&info);
  info = info_of({{"striping_factor", "2"}});
  {
    files::File file(path, MPI_MODE_CREATE | MPI_MODE_RDWR, info);
    expect_hint(file, "striping_factor", "4");
    expect_hint(file, "striping_unit", "2097152");
    expect_hint(file, "weft_striping", "hints not used: the file was there before");
  }
  MPI_Info_free(&info);
  info = info_of({{"striping_factor", "9"}});
  {
    files::File file(folder.path("refused"), files::read_write, info);
    expect_hint(file, "striping_factor", "1");
    expect_hint(file, "weft_striping",
                "hints not used: Lustre refused them (errno 22); the file is striped as its folder says");
    move_data(file);
  }
  MPI_Info_free(&info);
  if (rank == 0) OK(MPI_File_delete(path.c_str(), MPI_INFO_NULL));
}

// The hints are not used, which the info says in these words.
void not_used(const files::Folder& folder, const char* words) {
  MPI_Info info = info_of({{"striping_factor", "4"}, {"striping_unit", "1048576"}});
  {
    files::File file(folder.path("elsewhere"), files::read_write, info);
    expect_hint(file, "striping_factor", "");
    expect_hint(file, "weft_striping", words);
    move_data(file);
  }
  MPI_Info_free(&info);
  files::File file(folder.path("elsewhere"));
  expect_hint(file, "weft_striping", "");
}

// Ends the program where the file system has none.
void direct(const files::Folder& folder) {
  const std::string path = folder.path("direct");
  int there = 0;
  if (rank == 0) {
    const int fd = open(path.c_str(), O_CREAT | O_RDWR | O_DIRECT, 0600);
    there = fd >= 0 ? 1 : 0;
    if (fd >= 0) close(fd);
    unlink(path.c_str());
  }
  MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Info info = info_of({{"direct_read", "true"}, {"direct_write", "true"}});
  {
    files::File file(path, files::read_write, info);
    expect_hint(file, "direct_read", there != 0 ? "true" : "");
    expect_hint(file, "direct_write", there != 0 ? "true" : "");
    move_data(file);
    // Whole blocks and parts of them, from memory that begins at no block.
    constexpr size_t bytes = (3 << 20) + 777;
    std::vector<char> data(bytes + 1), read(bytes + 1, 0);
    for (size_t i = 0; i < bytes; ++i) data[i + 1] = static_cast<char>(i * 7 + static_cast<size_t>(rank));
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    const MPI_Offset place = 1000 + rank * MPI_Offset{bytes};
    MPI_Status status;
    OK(MPI_File_write_at(file, place, data.data() + 1, bytes, MPI_BYTE, &status));
    OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_read_at(file, place, read.data() + 1, bytes, MPI_BYTE, &status));
    data[0] = read[0];
    EXPECT(read == data, "other data come back");
    // A read ends at the end of the file, which is no multiple of a block.
    OK(MPI_File_read_at(file, 1000 + (size - 1) * MPI_Offset{bytes} + 8, read.data(), bytes, MPI_BYTE, &status));
    EXPECT(files::bytes_of(status) == static_cast<int64_t>(bytes) - 8, "%lld bytes",
           static_cast<long long>(files::bytes_of(status)));
  }
  MPI_Info_free(&info);
  if (there == 0) {
    MPI_Finalize();
    exit(77);
  }
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  const std::string word = argc > 1 ? argv[1] : "";
  {
    files::Folder folder;
    if (word == "locks") locks(folder);
    if (word == "no_locks") no_locks(folder);
    if (word == "local_locks") local_locks(folder);
    if (word == "striped") striped(folder);
    if (word == "no_library") {
      not_used(folder, "hints not used: liblustreapi.so.1 is not installed; the file is striped as its folder says");
    }
    if (word == "elsewhere") not_used(folder, "hints not used: the file is not on Lustre");
    if (word == "direct") direct(folder);
  }
  return expect::finish();
}
