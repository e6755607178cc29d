// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A program may close all descriptors above 2 after MPI_Init, as daemons do, and open files of its own: messages,
// windows, communicators, files of MPI and spawned processes go on, and the program's files stay as they are.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "expect.hpp"

namespace {

constexpr char text[] = "nine byte";
constexpr ssize_t text_bytes = sizeof text - 1;

void close_from(unsigned first, unsigned last) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, last, 0u) == 0) return;
#endif
  rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  for (unsigned fd = first; fd <= last && fd < limit.rlim_cur; ++fd) close(static_cast<int>(fd));
}

void close_all() {
  close_from(3, ~0u);
}

// Hydra ends a job whose ranks close their connection to it.
void close_all_but_launchers() {
  const char* text = getenv("PMI_FD");
  const unsigned launchers = text != nullptr ? static_cast<unsigned>(atoi(text)) : 3;
  if (launchers > 3) close_from(3, launchers - 1);
  close_from(launchers + 1, ~0u);
}

// The program's own files, as many as Weft may have had descriptors.
std::vector<int> open_files() {
  std::vector<int> files;
  for (int i = 0; i < 40; ++i) {
    char name[] = "close_all.XXXXXX";
    files.push_back(mkostemp(name, O_CLOEXEC));
    unlink(name);
    EXPECT(write(files.back(), text, text_bytes) == text_bytes, "no file of the program");
  }
  return files;
}

void expect_untouched(const std::vector<int>& files) {
  for (const int file : files) {
    char there[64] = {};
    const ssize_t bytes = pread(file, there, sizeof there, 0);
    EXPECT(bytes == text_bytes && memcmp(there, text, text_bytes) == 0,
           "descriptor %d of the program has another file or contents: %zd bytes", file, bytes);
  }
}

void send_around() {
  const int next = (expect::rank + 1) % expect::size;
  const int before = (expect::rank + expect::size - 1) % expect::size;
  for (const size_t bytes : {size_t{0}, size_t{8}, size_t{4096}, size_t{1} << 16, size_t{1} << 20, size_t{8} << 20}) {
    const std::vector<char> out(bytes, static_cast<char>(expect::rank + 1));
    std::vector<char> in(bytes);
    MPI_Sendrecv(out.data(), static_cast<int>(bytes), MPI_CHAR, next, 0, in.data(), static_cast<int>(bytes), MPI_CHAR,
                 before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(in == std::vector<char>(bytes, static_cast<char>(before + 1)), "%zu bytes have arrived otherwise", bytes);
  }
}

void communicate() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int sum = 0;
  const int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  EXPECT(sum == expect::size, "the sum is %d", sum);
  std::vector<char> data(1 << 20, static_cast<char>(expect::rank));
  MPI_Bcast(data.data(), 1 << 20, MPI_CHAR, 0, comm);
  EXPECT(data.back() == 0, "the broadcast has not arrived");
  MPI_Comm_free(&comm);
}

// A file of MPI whose descriptor the program has closed.
MPI_File open_alone() {
  MPI_File file;
  const std::string name = "close_all.alone." + std::to_string(expect::size) + "." + std::to_string(expect::rank);
  MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &file);
  return file;
}

void expect_no_access(MPI_File file) {
  char data[8192] = {};
  EXPECT_CLASS(MPI_File_write_at(file, 0, data, 8192, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_IO);
  EXPECT_CLASS(MPI_File_read_at(file, 0, data, 8, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_IO);
  EXPECT_CLASS(MPI_File_set_size(file, 0), MPI_ERR_IO);
  EXPECT_CLASS(MPI_File_close(&file), MPI_ERR_IO);
}

// In the heap of the host's shared memory, and in a slot of its own.
void open_windows() {
  for (const MPI_Aint bytes : {MPI_Aint{4096}, MPI_Aint{512} << 20}) {
    char* memory = nullptr;
    MPI_Win window;
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_fence(0, window);
    const char value = 7;
    MPI_Put(&value, 1, MPI_CHAR, (expect::rank + 1) % expect::size, bytes - 1, 1, MPI_CHAR, window);
    MPI_Win_fence(0, window);
    EXPECT(memory[bytes - 1] == 7, "nothing has been put into a window of %lld bytes", static_cast<long long>(bytes));
    MPI_Win_free(&window);
  }
}

void use_files() {
  MPI_File file;
  const MPI_Offset at = expect::rank * MPI_Offset{8192};
  std::vector<char> data(8192, static_cast<char>(expect::rank + 1));
  std::string name = "close_all.data." + std::to_string(expect::size);
  MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &file);
  MPI_File_write_at_all(file, at, data.data(), 8192, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_Request request;
  MPI_File_iread_at(file, at, data.data(), 8192, MPI_CHAR, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT(data.back() == expect::rank + 1, "a file has other contents");
  MPI_File_close(&file);
}

void spawn(char* program) {
  char* arguments[] = {const_cast<char*>("child"), nullptr};
  MPI_Comm children;
  MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  int answer = 0;
  if (expect::rank == 0) MPI_Recv(&answer, 1, MPI_INT, 0, 0, children, MPI_STATUS_IGNORE);
  EXPECT(expect::rank != 0 || answer == 42, "the child says %d", answer);
  MPI_Comm_disconnect(&children);
}

int live_as_child() {
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  close_all();
  const std::vector<int> files = open_files();
  const int answer = 42;
  MPI_Send(&answer, 1, MPI_INT, 0, 0, parent);
  MPI_Comm_disconnect(&parent);
  expect_untouched(files);
  return expect::finish();
}

}  // namespace

// "again": the program closes all a second time; "spawn": it spawns a process; "hosts": the launcher's
// descriptor is left open, and the job ends when a message is to go to another host.
int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  expect::start(&argc, &argv);
  if (what == "child") return live_as_child();
  if (what == "hosts") {
    close_all_but_launchers();
    const std::vector<int> files = open_files();
    send_around();
    expect_untouched(files);
    return expect::finish();
  }
  MPI_File alone = open_alone();
  use_files();
  close_all();
  std::vector<int> files = open_files();
  expect_no_access(alone);
  send_around();
  communicate();
  if (what == "again") {
    close_all();
    files = open_files();
  }
  open_windows();
  use_files();
  if (what == "spawn") spawn(argv[0]);
  send_around();
  expect_untouched(files);
  const int status = expect::finish();
  expect_untouched(files);
  return expect::failures == 0 ? status : EXIT_FAILURE;
}
