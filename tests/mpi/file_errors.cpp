// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Errors of files (MPI-5.0, 14.7 and 14.8): classes, handlers, texts; collective calls return them on all ranks.
#include "files.hpp"

using expect::rank;
using expect::size;

namespace {

std::string last_text;
MPI_File last_file = MPI_FILE_NULL;
int last_code = MPI_SUCCESS;
void note(MPI_File* file, int* code, ...) {
  va_list arguments;
  va_start(arguments, code);
  last_text = va_arg(arguments, const char*);
  va_end(arguments);
  last_file = *file;
  last_code = *code;
}

bool has(const char* words) {
  return last_text.find(words) != std::string::npos;
}

int open(const std::string& path, int amode, MPI_Comm comm = MPI_COMM_WORLD) {
  MPI_File file = MPI_FILE_NULL;
  const int error = MPI_File_open(comm, path.c_str(), amode, MPI_INFO_NULL, &file);
  EXPECT((error == MPI_SUCCESS) == (file != MPI_FILE_NULL), "error %d with %s", error, path.c_str());
  if (file != MPI_FILE_NULL) OK(MPI_File_close(&file));
  return error;
}

void opening(const files::Folder& folder) {
  const std::string path = folder.path("none");
  EXPECT_CLASS(open(path, MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
  EXPECT_CLASS(open(folder.path("."), MPI_MODE_RDONLY), MPI_ERR_BAD_FILE);
  EXPECT_CLASS(open(path, MPI_MODE_RDONLY | MPI_MODE_RDWR), MPI_ERR_AMODE);
  EXPECT_CLASS(open(path, MPI_MODE_RDONLY | MPI_MODE_CREATE), MPI_ERR_AMODE);
  EXPECT_CLASS(open(path, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL), MPI_ERR_AMODE);
  EXPECT_CLASS(open(path, 0), MPI_ERR_AMODE);
  EXPECT_CLASS(open(path, 1 << 20), MPI_ERR_AMODE);
  OK(open(path, MPI_MODE_CREATE | MPI_MODE_WRONLY));
  EXPECT_CLASS(open(path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY), MPI_ERR_FILE_EXISTS);
  if (size > 1) {
    EXPECT_CLASS(open(path, rank == 0 ? MPI_MODE_RDWR : MPI_MODE_RDONLY), MPI_ERR_NOT_SAME);
    // One rank alone is wrong, and all return.
    const int wrong = open(path, rank == size - 1 ? 0 : MPI_MODE_RDONLY);
    EXPECT_CLASS(wrong, MPI_ERR_AMODE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    OK(MPI_File_delete(path.c_str(), MPI_INFO_NULL));
    EXPECT_CLASS(MPI_File_delete(path.c_str(), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  }
  MPI_File file = MPI_FILE_NULL;
  EXPECT_CLASS(MPI_File_close(&file), MPI_ERR_FILE);
  MPI_Offset offset;
  EXPECT_CLASS(MPI_File_get_size(MPI_FILE_NULL, &offset), MPI_ERR_FILE);
}

void handlers(const files::Folder& folder) {
  MPI_Errhandler noting, found;
  OK(MPI_File_create_errhandler(note, &noting));
  OK(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
  EXPECT(found == MPI_ERRORS_RETURN, "another default handler");
  OK(MPI_File_set_errhandler(MPI_FILE_NULL, noting));
  EXPECT_CLASS(open(folder.path("not there"), MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
  EXPECT(has("not there") && has("No such file or directory (errno 2)") && has("Remedy") && has("MPI_MODE_CREATE"),
         "'%s'", last_text.c_str());
  EXPECT(last_file == MPI_FILE_NULL, "a file that is not open has a handle");
  {
    files::File file(folder.path("handlers"));  // inherits the handler
    char byte = 0;
    EXPECT_CLASS(MPI_File_read_at(file, -1, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    EXPECT(last_file == file && has("offset"), "'%s'", last_text.c_str());
    OK(MPI_File_call_errhandler(file, MPI_ERR_IO));
    EXPECT(last_code == MPI_ERR_IO, "%d", last_code);
    OK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    last_code = 0;
    EXPECT_CLASS(MPI_File_read_at(file, 0, &byte, -1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    EXPECT(last_code == 0, "the old handler was called");
    EXPECT_CLASS(MPI_File_read_at(file, 0, &byte, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    EXPECT_CLASS(MPI_File_read_at(file, 0, nullptr, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
    EXPECT_CLASS(MPI_File_write_at(file, INT64_MAX - 2, &byte, 100, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
  }
  OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  MPI_Errhandler_free(&noting);
}

void modes(const files::Folder& folder) {
  const std::string path = folder.path("modes");
  OK(open(path, MPI_MODE_CREATE | MPI_MODE_WRONLY));
  int value = 1;
  {
    files::File file(path, MPI_MODE_RDONLY);
    EXPECT_CLASS(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    EXPECT_CLASS(MPI_File_write_all(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    EXPECT_CLASS(MPI_File_set_size(file, 10), MPI_ERR_READ_ONLY);
  }
  {
    files::File file(path, MPI_MODE_WRONLY);
    EXPECT_CLASS(MPI_File_read_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_CLASS(MPI_File_iread_at(file, 0, &value, 1, MPI_INT, &request), MPI_ERR_ACCESS);
    EXPECT_CLASS(MPI_File_iread_all(file, &value, 1, MPI_INT, &request), MPI_ERR_ACCESS);
    EXPECT(request == MPI_REQUEST_NULL, "a request with an error");
  }
  {
    files::File file(path, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE);
    EXPECT_CLASS(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT_CLASS(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    OK(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(files::size_of(file) == 4 * size, "%lld", static_cast<long long>(files::size_of(file)));
  }
}

// A rank alone has wrong arguments: all ranks return an error, and the next access works.
void one_of_all(const files::Folder& folder) {
  files::File file(folder.path("one"));
  const int last = size - 1;
  int value = rank, read = -1;
  const int count = rank == last ? -1 : 1;
  EXPECT_CLASS(MPI_File_write_at_all(file, rank * 4, &value, count, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_File_write_ordered(file, &value, count, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
  MPI_Request request = MPI_REQUEST_NULL;
  const int begun = MPI_File_iwrite_at_all(file, rank * 4, &value, count, MPI_INT, &request);
  if (rank == last) {
    EXPECT_CLASS(begun, MPI_ERR_COUNT);
  } else {
    OK(begun);
    EXPECT_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
  }
  EXPECT_CLASS(MPI_File_set_view(file, rank == last ? -5 : 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  if (size > 1) {
    EXPECT_CLASS(MPI_File_set_size(file, rank), MPI_ERR_NOT_SAME);
    EXPECT_CLASS(MPI_File_seek_shared(file, rank, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
    EXPECT_CLASS(MPI_File_set_atomicity(file, rank == 0), MPI_ERR_NOT_SAME);
  }
  MPI_Offset at = -1;
  OK(MPI_File_get_position_shared(file, &at));
  EXPECT(at == 0, "%lld", static_cast<long long>(at));
  OK(MPI_File_write_at_all(file, rank * 4, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_read_at_all(file, rank * 4, &read, 1, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT(read == rank, "%d", read);
}

void views(const files::Folder& folder) {
  files::File file(folder.path("views"));
  auto set = [&](MPI_Datatype etype, MPI_Datatype filetype) {
    return MPI_File_set_view(file, 0, etype, filetype, "native", MPI_INFO_NULL);
  };
  EXPECT_CLASS(set(MPI_INT, MPI_SHORT), MPI_ERR_TYPE);
  EXPECT_CLASS(set(MPI_DATATYPE_NULL, MPI_INT), MPI_ERR_TYPE);
  MPI_Datatype types[3];
  const int lengths[2] = {1, 1};
  const int back[2] = {0, -3};
  const int twice[2] = {2, 2};
  MPI_Type_indexed(2, lengths, back, MPI_INT, &types[0]);
  MPI_Type_indexed(2, lengths, twice, MPI_INT, &types[1]);
  MPI_Type_contiguous(2, MPI_INT, &types[2]);
  EXPECT_CLASS(set(MPI_INT, types[2]), MPI_ERR_TYPE);  // not committed
  MPI_Type_commit(&types[0]);
  MPI_Type_commit(&types[1]);
  EXPECT_CLASS(set(MPI_INT, types[0]), MPI_ERR_IO);  // negative
  EXPECT_CLASS(set(MPI_INT, types[1]), MPI_ERR_IO);  // overlapping, and written to
  int value = 0;
  OK(set(MPI_INT, MPI_INT));
  EXPECT_CLASS(MPI_File_write_at(file, 0, &value, 3, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
  for (MPI_Datatype& type : types) MPI_Type_free(&type);
}

// The hints in force come back; unknown and wrong ones do not.
void hints(const files::Folder& folder) {
  MPI_Info info, used;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "65536");
  MPI_Info_set(info, "cb_nodes", "many");
  MPI_Info_set(info, "romio_cb_write", "enable");
  MPI_Info_set(info, "no_such_hint", "1");
  files::File file(folder.path("hints"), files::read_write, info);
  OK(MPI_File_get_info(file, &used));
  char value[MPI_MAX_INFO_VAL] = "";
  int flag = 0;
  MPI_Info_get(used, "cb_buffer_size", sizeof value - 1, value, &flag);
  EXPECT(flag && strcmp(value, "65536") == 0, "%d '%s'", flag, value);
  MPI_Info_get(used, "romio_cb_write", sizeof value - 1, value, &flag);
  EXPECT(flag && strcmp(value, "enable") == 0, "%d '%s'", flag, value);
  MPI_Info_get(used, "no_such_hint", sizeof value - 1, value, &flag);
  EXPECT(!flag, "'%s'", value);
  MPI_Info_get(used, "cb_nodes", sizeof value - 1, value, &flag);
  EXPECT(!flag, "'%s'", value);
  MPI_Info_free(&used);
  MPI_Info_set(info, "cb_nodes", "1");
  OK(MPI_File_set_info(file, info));
  OK(MPI_File_get_info(file, &used));
  MPI_Info_get(used, "cb_nodes", sizeof value - 1, value, &flag);
  EXPECT(flag && strcmp(value, "1") == 0, "%d '%s'", flag, value);
  MPI_Info_free(&used);
  MPI_Info_free(&info);
}

// A full device says so, with the path, to all ranks.
void full_device() {
  if (access("/dev/full", W_OK) != 0) return;
  MPI_Errhandler noting;
  OK(MPI_File_create_errhandler(note, &noting));
  {
    files::File file("/dev/full", MPI_MODE_WRONLY);
    OK(MPI_File_set_errhandler(file, noting));
    const int value = 1;
    EXPECT_CLASS(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
    EXPECT(has("/dev/full") && has("errno 28") && has("Remedy"), "'%s'", last_text.c_str());
    const int count = rank == size - 1 ? 1 : 0;  // one rank alone fails
    last_text.clear();
    EXPECT_CLASS(MPI_File_write_at_all(file, 0, &value, count, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
    EXPECT(has("/dev/full") && has("errno 28"), "'%s'", last_text.c_str());
    EXPECT(count != 0 || has(("rank " + std::to_string(size - 1)).c_str()), "'%s'", last_text.c_str());
    MPI_Request request;
    OK(MPI_File_iwrite_at(file, 0, &value, 1, MPI_INT, &request));
    last_text.clear();
    EXPECT_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
    EXPECT(has("/dev/full") && last_file == file, "'%s'", last_text.c_str());
    OK(MPI_File_iwrite_at_all(file, 0, &value, count, MPI_INT, &request));
    EXPECT_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
  }
  MPI_Errhandler_free(&noting);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  {
    files::Folder folder;
    opening(folder);
    handlers(folder);
    modes(folder);
    one_of_all(folder);
    views(folder);
    hints(folder);
    full_device();
  }
  return expect::finish();
}
