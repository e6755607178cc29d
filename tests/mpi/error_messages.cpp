// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Messages of errors name the object and the cause: files, memory, info objects, spawned processes, ports and names.
#include <unistd.h>

#include "error_texts.hpp"
#include "files.hpp"

namespace {

void opening(const files::Folder& folder) {
  MPI_File file;
  const MPI_Comm all = MPI_COMM_WORLD;
  const std::string none = folder.path("caf\xc3\xa9");
  EXPECT_TEXT(MPI_File_open(all, none.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE,
              "MPI_ERR_NO_SUCH_FILE: ", "MPI_File_open: ", "cannot open \"" + none + "\"", "No such file or directory",
              "Remedy: ");
  // The end of a long path says which file it is.
  const std::string far = folder.path((std::string(100, 'x') + "/" + std::string(120, 'y') + "/last").c_str());
  EXPECT_TEXT(MPI_File_open(all, far.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE,
              "\"" + far + "\"", "No such file or directory");
  const std::string longer = folder.path((std::string(300, 'x') + "/last").c_str());
  EXPECT_TEXT(MPI_File_open(all, longer.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE, "x/last\"",
              "File name too long");
  EXPECT_TEXT(MPI_File_open(all, folder.path(".").c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE,
              folder.path("."), "Is a directory");
  EXPECT_TEXT(MPI_File_open(all, "/proc/version/x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE,
              "/proc/version/x", "Not a directory");
  EXPECT_TEXT(MPI_File_delete(none.c_str(), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE, "cannot delete \"" + none + "\"",
              "No such file");
  EXPECT(!error_texts::has(error_texts::text_of(MPI_ERR_NO_SUCH_FILE), "MPI_MODE_CREATE"), "a remedy for opening");
}

void accesses(const files::Folder& folder) {
  const std::string path = folder.path("data");
  char byte = 0;
  {
    files::File full("/dev/full", MPI_MODE_RDWR);
    EXPECT_TEXT(MPI_File_write_at(full, 0, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE, "\"/dev/full\"",
                "No space left on device");
    MPI_Request request;
    OK(MPI_File_iwrite_at(full, 0, &byte, 1, MPI_BYTE, &request));
    EXPECT_TEXT(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE, "MPI_Wait: ", "\"/dev/full\"",
                "No space left");
    EXPECT_TEXT(MPI_File_set_size(full, 10), MPI_ERR_IO, "\"/dev/full\"", "Invalid argument");
  }
  files::File file(path);
  EXPECT_TEXT(MPI_File_read_at(file, -1, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG, "offset is -1",
              "(on the file \"" + path + "\")");
  EXPECT_TEXT(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "odd", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP,
              "\"odd\"", path);
}

MPI_Info info_with(const char* key, const char* value) {
  MPI_Info info;
  MPI_Info_create(&info);
  OK(MPI_Info_set(info, key, value));
  return info;
}

void memory() {
  void* base = nullptr;
  MPI_Win win;
  EXPECT_TEXT(MPI_Alloc_mem(MPI_Aint{1} << 60, MPI_INFO_NULL, &base), MPI_ERR_NO_MEM, "1152921504606846976 bytes");
  MPI_Info info = info_with("weft_mem_affinity", "ODD");
  EXPECT_TEXT(MPI_Alloc_mem(8, info, &base), MPI_ERR_INFO_VALUE, "weft_mem_affinity", "\"ODD\"", "SYS_DEFAULT");
  EXPECT(!error_texts::has(error_texts::text_of(MPI_ERR_INFO_VALUE), "empty"), "it is not empty");
  if (getenv("WEFT_MEMORY_NODES") != nullptr) {  // the row has no node of HBM
    MPI_Info_set(info, "weft_mem_affinity", "HBM");
    MPI_Info_set(info, "weft_mem_policy", "Mandatory");
    EXPECT_TEXT(MPI_Alloc_mem(8, info, &base), MPI_ERR_NO_MEM, "no HBM memory", "Mandatory");
    EXPECT_TEXT(MPI_Win_allocate(8, 1, info, MPI_COMM_SELF, &base, &win), MPI_ERR_NO_MEM,
                "bytes: this host has no HBM memory", "MPI_Win_allocate: ", "(on MPI_COMM_SELF)");
  }
  MPI_Info_free(&info);
  info = info_with("same_size", "perhaps");
  EXPECT_TEXT(MPI_Win_allocate(8, 1, info, MPI_COMM_SELF, &base, &win), MPI_ERR_INFO_VALUE, "same_size", "\"perhaps\"",
              "true or false");
  MPI_Info_free(&info);
}

void handles() {
  EXPECT_TEXT(MPI_Info_set(MPI_INFO_NULL, "key", "value"), MPI_ERR_INFO, ": an info object is needed", "MPI_INFO_NULL");
  EXPECT_TEXT(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER,
              ": an error handler is needed");
  EXPECT_TEXT(MPI_Comm_set_name(MPI_COMM_NULL, ""), MPI_ERR_COMM, ": a communicator is needed");
  const std::string key = "begin" + std::string(300, 'k');
  MPI_Info info = info_with("key", "value");
  EXPECT_TEXT(MPI_Info_set(info, key.c_str(), "value"), MPI_ERR_INFO_KEY, "longer than MPI_MAX_INFO_KEY", "\"begin");
  MPI_Info_free(&info);
}

int spawn(const char* command, int count, MPI_Info info) {
  MPI_Comm children;
  return MPI_Comm_spawn(command, MPI_ARGV_NULL, count, info, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
}

void spawning() {
  EXPECT_TEXT(spawn("./no-such-program", 1, MPI_INFO_NULL), MPI_ERR_SPAWN, "\"./no-such-program\"",
              "No such file or directory");
  EXPECT_TEXT(spawn("/proc/version", 1, MPI_INFO_NULL), MPI_ERR_SPAWN, "\"/proc/version\"", "Permission denied");
  EXPECT_TEXT(spawn("", 1, MPI_INFO_NULL), MPI_ERR_ARG, "a command is empty");
  EXPECT_TEXT(spawn("prog", -2, MPI_INFO_NULL), MPI_ERR_ARG, "maxprocs of the command \"prog\" is -2");
  MPI_Info info = info_with("soft", "odd");
  EXPECT_TEXT(spawn("prog", 2, info), MPI_ERR_INFO_VALUE, "soft", "\"prog\"", "\"odd\"");
  MPI_Info_free(&info);
}

void ports() {
  const MPI_Comm self = MPI_COMM_SELF;
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm met;
  EXPECT_TEXT(MPI_Lookup_name("the pump", MPI_INFO_NULL, port), MPI_ERR_NAME, "\"the pump\" is not published");
  EXPECT_TEXT(MPI_Lookup_name("", MPI_INFO_NULL, port), MPI_ERR_NAME, "service_name is empty");
  EXPECT_TEXT(MPI_Comm_connect("no port", MPI_INFO_NULL, 0, self, &met), MPI_ERR_PORT, "no open port \"no port\"");
  EXPECT_TEXT(MPI_Comm_connect(nullptr, MPI_INFO_NULL, 0, self, &met), MPI_ERR_PORT, "port_name is a null pointer");
  MPI_Info info = info_with("timeout", "soon");
  EXPECT_TEXT(MPI_Comm_connect("no port", info, 0, self, &met), MPI_ERR_INFO_VALUE, "timeout", "\"soon\"");
  OK(MPI_Open_port(MPI_INFO_NULL, port));
  MPI_Info_set(info, "timeout", "1");
  EXPECT_TEXT(MPI_Comm_accept(port, info, 0, self, &met), MPI_ERR_PORT, port, "nobody came", "timeout");
  OK(MPI_Close_port(port));
  MPI_Info_free(&info);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  {
    const files::Folder folder;
    opening(folder);
    accesses(folder);
  }
  memory();
  handles();
  spawning();
  ports();
  return expect::finish();
}
