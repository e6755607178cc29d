// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Common parts of the programs about files: a folder of the job's own below the working directory, removed at the end.

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "expect.hpp"

#define OK(call)                                                                                                \
  do {                                                                                                          \
    const int ok_code = (call);                                                                                 \
    if (ok_code != MPI_SUCCESS) expect::fail(__FILE__, __LINE__, #call, "error %d", expect::class_of(ok_code)); \
  } while (0)

namespace files {

// Made by rank 0, known to all.
class Folder {
 public:
  Folder() {
    char name[64] = "";
    if (expect::rank == 0) {
      snprintf(name, sizeof name, "files.%d.XXXXXX", static_cast<int>(getpid()));
      if (mkdtemp(name) == nullptr) {
        perror("mkdtemp");
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    name_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  // Files are removed by then: a file that is left is an error.
  ~Folder() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (expect::rank == 0 && rmdir(name_.c_str()) != 0) expect::fail(__FILE__, __LINE__, "rmdir", "files are left");
  }
  [[nodiscard]] std::string path(const char* name) const { return name_ + "/" + name; }

 private:
  std::string name_;
};

inline constexpr int read_write = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;

// Open on a communicator for as long as it lives.
class File {
 public:
  explicit File(const std::string& path, int amode = read_write, MPI_Info info = MPI_INFO_NULL,
                MPI_Comm comm = MPI_COMM_WORLD) {
    OK(MPI_File_open(comm, path.c_str(), amode, info, &file_));
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (file_ != MPI_FILE_NULL) OK(MPI_File_close(&file_));
  }
  operator MPI_File() const { return file_; }

 private:
  MPI_File file_ = MPI_FILE_NULL;
};

inline MPI_Offset size_of(MPI_File file) {
  MPI_Offset size = -1;
  OK(MPI_File_get_size(file, &size));
  return size;
}

// The bytes that a call moved, as the status tells.
inline int64_t bytes_of(const MPI_Status& status) {
  MPI_Count count = -1;
  MPI_Get_elements_c(&status, MPI_BYTE, &count);
  return count;
}

}  // namespace files
