// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Ports, published names and MPI_Comm_join between processes of one job: halves of MPI_COMM_WORLD are server and
// client, and later the program's own children.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <string>

#include "expect.hpp"

namespace {

int size_of(MPI_Comm comm) {
  int size = -1;
  MPI_Comm_size(comm, &size);
  return size;
}
int remote_size_of(MPI_Comm comm) {
  int size = -1;
  MPI_Comm_remote_size(comm, &size);
  return size;
}

// Sums of the other side's ranks, and the two merged.
void communicate(MPI_Comm inter, bool high) {
  int rank = 0;
  MPI_Comm_rank(inter, &rank);
  int sum = -1;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
  const int theirs = remote_size_of(inter);
  EXPECT(sum == theirs * (theirs - 1) / 2, "%d", sum);
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Intercomm_merge(inter, high ? 1 : 0, &all);
  const int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
  EXPECT(sum == size_of(inter) + theirs, "%d", sum);
  MPI_Comm_free(&all);
}

// The lower half serves, by an open port whose name goes along by message or is published.
void test_halves() {
  const int half = (expect::size + 1) / 2;
  const bool serves = expect::rank < half;
  MPI_Comm ours = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, serves ? 0 : 1, 0, &ours);
  char port[MPI_MAX_PORT_NAME] = "";
  if (expect::rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  for (int round = 0; round < 5; ++round) {
    MPI_Comm inter = MPI_COMM_NULL;
    if (serves) {
      if (expect::rank == 0) MPI_Publish_name("halves", MPI_INFO_NULL, port);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Comm_accept(port, MPI_INFO_NULL, 0, ours, &inter);
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
      char found[MPI_MAX_PORT_NAME] = "";
      MPI_Lookup_name("halves", MPI_INFO_NULL, found);
      MPI_Comm_connect(found, MPI_INFO_NULL, 0, ours, &inter);
    }
    EXPECT(remote_size_of(inter) == expect::size - size_of(ours), "%d", remote_size_of(inter));
    communicate(inter, serves);
    MPI_Comm_disconnect(&inter);
    MPI_Barrier(MPI_COMM_WORLD);
    if (expect::rank == 0) MPI_Unpublish_name("halves", MPI_INFO_NULL, port);
  }
  if (expect::rank == 0) MPI_Close_port(port);
  MPI_Comm_free(&ours);
}

// Two worlds that do not know each other: children of rank 0 connect to a port of rank 1, and rank 0 has left them.
void test_worlds(const char* self) {
  char port[MPI_MAX_PORT_NAME] = "";
  if (expect::rank == 1) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 1, MPI_COMM_WORLD);
  MPI_Comm inter = MPI_COMM_NULL;
  if (expect::rank == 0) {
    char* arguments[] = {port, nullptr};
    MPI_Comm_spawn(self, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
  } else if (expect::rank == 1) {
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    EXPECT(remote_size_of(inter) == 2, "%d", remote_size_of(inter));
    communicate(inter, false);
    MPI_Close_port(port);
  }
  if (inter != MPI_COMM_NULL) MPI_Comm_disconnect(&inter);
}

// Children that rank 0 has left come back to a port of its own.
void test_return(const char* self) {
  if (expect::rank != 0) return;
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Open_port(MPI_INFO_NULL, port);
  char* arguments[] = {port, nullptr};
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_spawn(self, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
  MPI_Comm_disconnect(&inter);
  MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
  EXPECT(remote_size_of(inter) == 2, "%d", remote_size_of(inter));
  communicate(inter, false);
  MPI_Comm_disconnect(&inter);
  MPI_Close_port(port);
}

int child(MPI_Comm parents, const char* port) {
  MPI_Comm_disconnect(&parents);
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  communicate(inter, true);
  MPI_Comm_disconnect(&inter);
  return expect::finish();
}

// A socket between rank 0 and rank 1, with a name that the kernel chooses.
void test_join() {
  if (expect::rank > 1) return;
  int lines[2] = {-1, -1};
  sockaddr_un address = {};
  socklen_t length = sizeof address;
  if (expect::rank == 0) {
    const int door = socket(AF_UNIX, SOCK_STREAM, 0);
    address.sun_family = AF_UNIX;
    (void)bind(door, reinterpret_cast<sockaddr*>(&address), sizeof address.sun_family);
    listen(door, 1);
    getsockname(door, reinterpret_cast<sockaddr*>(&address), &length);
    MPI_Send(&address, sizeof address, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
    MPI_Send(&length, sizeof length, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
    lines[0] = accept(door, nullptr, nullptr);
    close(door);
  } else {
    MPI_Recv(&address, sizeof address, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&length, sizeof length, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    lines[0] = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT(connect(lines[0], reinterpret_cast<sockaddr*>(&address), length) == 0, "no connection");
  }
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_join(lines[0], &inter);
  EXPECT(remote_size_of(inter) == 1, "%d", remote_size_of(inter));
  communicate(inter, expect::rank == 1);
  // The socket is as it was.
  char word = static_cast<char>('a' + expect::rank);
  EXPECT(write(lines[0], &word, 1) == 1 && read(lines[0], &word, 1) == 1 && word == 'b' - expect::rank, "%c", word);
  MPI_Comm_disconnect(&inter);
  close(lines[0]);
  // Something else at the other end.
  if (expect::rank == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, lines) == 0) {
    char noise[200];
    memset(noise, 'x', sizeof noise);
    EXPECT(write(lines[1], noise, sizeof noise) == sizeof noise, "not written");
    EXPECT_CLASS(MPI_Comm_join(lines[0], &inter), MPI_ERR_ARG);
    close(lines[1]);
    EXPECT_CLASS(MPI_Comm_join(lines[0], &inter), MPI_ERR_ARG);
    close(lines[0]);
  }
}

void test_errors() {
  char port[MPI_MAX_PORT_NAME] = "";
  EXPECT_CLASS(MPI_Lookup_name("nobody", MPI_INFO_NULL, port), MPI_ERR_NAME);
  EXPECT_CLASS(MPI_Unpublish_name("nobody", MPI_INFO_NULL, "weft:x"), MPI_ERR_SERVICE);
  EXPECT_CLASS(MPI_Close_port("weft:elsewhere-1:1"), MPI_ERR_PORT);
  EXPECT_CLASS(MPI_Close_port(""), MPI_ERR_PORT);
  MPI_Comm inter = MPI_COMM_SELF;
  EXPECT_CLASS(MPI_Comm_connect("weft:elsewhere-1:1", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
  EXPECT(inter == MPI_COMM_NULL, "not null");
  EXPECT_CLASS(MPI_Comm_accept("no port", MPI_INFO_NULL, expect::size - 1, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
  EXPECT_CLASS(MPI_Comm_accept("no port", MPI_INFO_NULL, expect::size, MPI_COMM_WORLD, &inter), MPI_ERR_ROOT);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "timeout", "1");
  EXPECT_CLASS(MPI_Open_port(info, port), MPI_SUCCESS);
  const std::string name = "twice " + std::to_string(expect::rank);
  EXPECT_CLASS(MPI_Publish_name(name.c_str(), MPI_INFO_NULL, port), MPI_SUCCESS);
  EXPECT_CLASS(MPI_Publish_name(name.c_str(), MPI_INFO_NULL, port), MPI_ERR_SERVICE);
  EXPECT_CLASS(MPI_Unpublish_name(name.c_str(), MPI_INFO_NULL, "other"), MPI_ERR_SERVICE);
  EXPECT_CLASS(MPI_Unpublish_name(name.c_str(), MPI_INFO_NULL, port), MPI_SUCCESS);
  EXPECT_CLASS(MPI_Lookup_name(name.c_str(), MPI_INFO_NULL, port), MPI_ERR_NAME);
  EXPECT_CLASS(MPI_Comm_accept(port, info, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
  EXPECT_CLASS(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
  EXPECT_CLASS(MPI_Close_port(port), MPI_SUCCESS);
  EXPECT_CLASS(MPI_Close_port(port), MPI_ERR_PORT);
  MPI_Info_free(&info);
}

// WEFT_CONNECT_TIMEOUT=1: nobody accepts at the port. The info key, here for ever, goes before the setting.
void test_no_accept() {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter = MPI_COMM_SELF;
  const bool accepts = expect::rank == 0;
  if (accepts) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (!accepts) {
    EXPECT_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
    EXPECT(inter == MPI_COMM_NULL, "not null");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "timeout", "0");
  for (int other = 1; other < expect::size; ++other) {
    if (expect::rank != 0 && expect::rank != other) continue;
    if (accepts) {
      EXPECT_CLASS(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_SUCCESS);
    } else {
      EXPECT_CLASS(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &inter), MPI_SUCCESS);
    }
    communicate(inter, accepts);
    MPI_Comm_disconnect(&inter);
  }
  MPI_Info_free(&info);
  if (accepts) MPI_Close_port(port);
}

// WEFT_CONNECT_TIMEOUT=1: descriptors that are no socket, and sockets over which nobody says anything.
void test_no_join() {
  MPI_Comm inter = MPI_COMM_SELF;
  int ends[2] = {-1, -1};
  for (const int fd : {-1, 1000000}) {
    EXPECT_CLASS(MPI_Comm_join(fd, &inter), MPI_ERR_ARG);
    EXPECT(inter == MPI_COMM_NULL, "not null");
  }
  if (pipe(ends) == 0) {
    EXPECT_CLASS(MPI_Comm_join(ends[0], &inter), MPI_ERR_ARG);
    EXPECT_CLASS(MPI_Comm_join(ends[1], &inter), MPI_ERR_ARG);
    close(ends[0]);
    close(ends[1]);
    EXPECT_CLASS(MPI_Comm_join(ends[0], &inter), MPI_ERR_ARG);
  }
  ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_CLASS(MPI_Comm_join(ends[0], &inter), MPI_ERR_ARG);
  close(ends[0]);
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0) {
    EXPECT_CLASS(MPI_Comm_join(ends[0], &inter), MPI_ERR_ARG);
    EXPECT(inter == MPI_COMM_NULL, "not null");
    close(ends[0]);
    close(ends[1]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm parents = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parents);
  if (parents != MPI_COMM_NULL) return child(parents, argv[1]);
  char self[PATH_MAX] = "";
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return EXIT_FAILURE;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (argc > 1) {
    if (strcmp(argv[1], "no_join") == 0) {
      test_no_join();
      if (expect::size > 1) test_join();
    } else {
      test_no_accept();
    }
    return expect::finish();
  }
  if (expect::size > 1) {
    test_halves();
    test_worlds(self);
    test_join();
  }
  test_return(self);
  test_errors();
  return expect::finish();
}
