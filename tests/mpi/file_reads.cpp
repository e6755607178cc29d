// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking reads, many at the same time, small and large, of which the kernel makes the small ones by itself
// (io_uring): each gets its bytes, and one at the end of the file those that are there. Meanwhile the program forks,
// and its own system calls are not interrupted. Arguments: "kernel" (skipped where there is no io_uring), "setup" or
// "enter" (the call of io_uring that the system refuses, as containers do), "killed" (rank 1, with reads under way),
// "failing" (a read fails, and the file is closed before the program waits for it), or none.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>

#include "files.hpp"

using expect::rank;

namespace {

constexpr int64_t piece = 4096;
constexpr int pieces = 700;  // more than the kernel is given at the same time

uint8_t byte_at(int64_t offset) {
  return static_cast<uint8_t>(offset * 13 + (offset >> 12) * 7 + 1);
}

// In a child: the end of a ring interrupts the thread that opened it.
bool kernel_has_rings() {
  const pid_t child = fork();
  if (child == 0) {
    io_uring_params parameters{};
    _exit(syscall(SYS_io_uring_setup, 1, &parameters) >= 0 ? 0 : 1);
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

void refuse(unsigned call) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{sizeof program / sizeof *program, program};
  const bool refused =
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
  if (!refused) {
    perror("seccomp");
    exit(77);
  }
}

void check(const uint8_t* data, int64_t offset, int64_t bytes) {
  int64_t at = 0;
  while (at < bytes && data[at] == byte_at(offset + at)) ++at;
  EXPECT(at == bytes, "byte %lld at offset %lld is wrong", static_cast<long long>(at), static_cast<long long>(offset));
}

void fill(MPI_File file) {
  std::vector<uint8_t> data(piece * pieces);
  for (size_t i = 0; i < data.size(); ++i) data[i] = byte_at(static_cast<int64_t>(i));
  if (rank == 0)
    OK(MPI_File_write_at(file, 0, data.data(), static_cast<int>(data.size()), MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
}

// Children of the program, one of which runs another program.
void fork_twice() {
  for (const bool other : {false, true}) {
    const pid_t child = fork();
    if (child == 0) {
      if (other) execlp("true", "true", static_cast<char*>(nullptr));
      _exit(0);
    }
    EXPECT(child > 0 && waitpid(child, nullptr, 0) == child, "errno %d", errno);
  }
}

// Until all are over. epoll_wait() is among the calls that an interruption ends even where no signal has a handler.
void wait_elsewhere(std::vector<MPI_Request>& requests, std::vector<MPI_Status>& statuses) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  int done = 0;
  while (done == 0) {
    epoll_event event{};
    EXPECT(epoll_wait(epoll, &event, 1, 1) == 0, "errno %d", errno);
    OK(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, statuses.data()));
  }
  close(epoll);
}

// Reads all pieces at once, last one first; from storage where the system lets go of what it has cached.
void read_pieces(MPI_File file, const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY);
  EXPECT(fd >= 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0, "the cache is kept: errno %d", errno);
  close(fd);
  std::vector<uint8_t> data(piece * pieces, 0xee);
  std::vector<MPI_Request> requests(pieces);
  for (int i = pieces - 1; i >= 0; --i) {
    OK(MPI_File_iread_at(file, i * piece, &data[static_cast<size_t>(i * piece)], piece, MPI_BYTE, &requests[i]));
    if (i == pieces / 2) fork_twice();
  }
  std::vector<MPI_Status> statuses(pieces);
  wait_elsewhere(requests, statuses);
  for (const MPI_Status& status : statuses) {
    EXPECT(files::bytes_of(status) == piece, "%lld bytes", static_cast<long long>(files::bytes_of(status)));
  }
  check(data.data(), 0, piece * pieces);
}

// A read that the end of the file cuts short, one behind it, one of a large piece, one of no data.
void read_others(MPI_File file) {
  constexpr int64_t end = piece * pieces;
  constexpr int64_t large = piece * 100;
  const struct {
    int64_t offset, bytes, there;
  } reads[] = {{end - 100, 1000, 100}, {end, 10, 0}, {end + 5000, 10, 0}, {0, large, large}, {17, 0, 0}};
  for (const auto& read : reads) {
    std::vector<uint8_t> data(static_cast<size_t>(read.bytes) + 1, 0xee);
    MPI_Request request;
    MPI_Status status;
    OK(MPI_File_iread_at(file, read.offset, data.data(), static_cast<int>(read.bytes), MPI_BYTE, &request));
    OK(MPI_Wait(&request, &status));
    EXPECT(files::bytes_of(status) == read.there, "%lld bytes", static_cast<long long>(files::bytes_of(status)));
    check(data.data(), read.offset, read.there);
    EXPECT(data[static_cast<size_t>(read.there)] == 0xee, "a byte behind the data was changed");
  }
}

// A view with gaps, and memory with gaps.
void read_with_gaps(MPI_File file) {
  MPI_Datatype blocks;
  MPI_Type_vector(8, 10, 20, MPI_BYTE, &blocks);
  MPI_Type_commit(&blocks);
  uint8_t data[160] = {};
  MPI_Request request;
  OK(MPI_File_iread_at(file, 50, data, 1, blocks, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int i = 0; i < 8; ++i) check(data + i * 20, 50 + i * 10, 10);
  OK(MPI_File_set_view(file, 3, MPI_BYTE, blocks, "native", MPI_INFO_NULL));
  OK(MPI_File_iread_at(file, 0, data, 80, MPI_BYTE, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int i = 0; i < 8; ++i) check(data + i * 10, 3 + i * 20, 10);
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  MPI_Type_free(&blocks);
}

// A file that is closed before its reads are waited for, as the standard does not allow: they get their data.
void close_early(const std::string& path) {
  MPI_File file = MPI_FILE_NULL;
  OK(MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  std::vector<uint8_t> data(piece * pieces, 0xee);
  std::vector<MPI_Request> requests(pieces);
  for (int i = 0; i < pieces; ++i) {
    OK(MPI_File_iread_at(file, i * piece, &data[static_cast<size_t>(i * piece)], piece, MPI_BYTE, &requests[i]));
  }
  OK(MPI_File_close(&file));
  OK(MPI_Waitall(pieces, requests.data(), MPI_STATUSES_IGNORE));
  check(data.data(), 0, piece * pieces);
}

// A read that fails after its file was closed: its error is one of the communicator now.
void fail_closed(const std::string& path) {
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_File file = MPI_FILE_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  uint8_t byte = 0;
  OK(MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  OK(MPI_File_iread_at(file, 0, &byte, 1, MPI_BYTE, &request));
  OK(MPI_File_close(&file));
  const int error = MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT(expect::class_of(error) == MPI_ERR_IO, "class %d", expect::class_of(error));
}

// Leaves nothing but reads under way, and is killed.
[[noreturn]] void die_reading(MPI_File file, const std::string& path) {
  std::vector<uint8_t> data(piece * pieces);
  std::vector<MPI_Request> requests(pieces);
  for (int i = 0; i < pieces; ++i) {
    OK(MPI_File_iread_at(file, i * piece, &data[static_cast<size_t>(i * piece)], piece, MPI_BYTE, &requests[i]));
  }
  unlink(path.c_str());
  rmdir(path.substr(0, path.rfind('/')).c_str());
  raise(SIGKILL);
  abort();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "any";
  if (mode == "kernel" && !kernel_has_rings()) return 77;
  if (mode == "setup") refuse(SYS_io_uring_setup);
  if (mode == "enter") refuse(SYS_io_uring_enter);
  expect::start(&argc, &argv);
  {
    const files::Folder folder;
    const std::string path = folder.path("reads");
    const files::File file(path);
    if (mode == "failing") {
      fail_closed(path);
    } else {
      fill(file);
      if (mode == "killed" && rank == 1) die_reading(file, path);
      MPI_Barrier(MPI_COMM_WORLD);
      read_pieces(file, path);
      read_pieces(file, path);
      read_others(file);
      read_with_gaps(file);
      close_early(path);
    }
  }
  return expect::finish();
}
