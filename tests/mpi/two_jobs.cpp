// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// One of two jobs that connect; tests/mpi/two_jobs.py starts both, and follows them by their standard output.
//
//   serve ROUNDS          opens a port, says it, and accepts so often
//   connect ROUNDS PORT   connects to it
//   serve_name ROUNDS NAME, connect_name ROUNDS NAME    the same by a published name
//   serve_threads ROUNDS, connect_threads ROUNDS PORT   the same; two threads of each rank exchange at the same time
//   join SIDE PATH        one of two that join over a local socket
//   errors                ports and names of no job
//   wait_at PORT CLASS    connects where nobody will accept; the error is of this class
//   accept_in_vain        opens a port, says it, and waits for a line on standard input; accepts, to get an error;
//   waits again open                  opens a port, says it, and waits for a line on standard input hold_server,
//   hold_client PORT    connect, say "connected", and wait in a receive for ever loop_server, loop_client PORT    say
//   their pids, connect and disconnect for ever, until one of them is gone
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "expect.hpp"
#include "threads.hpp"

namespace {

int size_of(MPI_Comm comm) {
  int size = -1;
  MPI_Comm_size(comm, &size);
  return size;
}
int rank_in(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
int remote_size_of(MPI_Comm comm) {
  int size = -1;
  MPI_Comm_remote_size(comm, &size);
  return size;
}

void say(const std::string& text) {
  if (expect::rank != 0) return;
  puts(text.c_str());
  fflush(stdout);
}

unsigned char byte_of(size_t i, int from, int to) {
  return static_cast<unsigned char>(i * 7 + i / 251 + static_cast<size_t>(from) * 31 + static_cast<size_t>(to) * 17);
}

// Each rank of one side with each of the other, by every path: in the mailbox, buffered, by rendezvous, in one piece
// and with gaps.
void messages(MPI_Comm inter) {
  const int rank = rank_in(inter);
  const int others = remote_size_of(inter);
  for (const size_t bytes : {0, 1, 8, 100, 8000, 20000, 50000, 200000, 3000000}) {
    std::vector<MPI_Request> requests;
    std::vector<std::vector<unsigned char>> in(static_cast<size_t>(others)), out(static_cast<size_t>(others));
    for (int other = 0; other < others; ++other) {
      std::vector<unsigned char>& data = out[static_cast<size_t>(other)];
      data.resize(bytes);
      for (size_t i = 0; i < bytes; ++i) data[i] = byte_of(i, rank, other);
      in[static_cast<size_t>(other)].resize(bytes);
      MPI_Irecv(in[static_cast<size_t>(other)].data(), static_cast<int>(bytes), MPI_BYTE, other, 3, inter,
                &requests.emplace_back());
    }
    for (int other = 0; other < others; ++other) {
      const auto send = other % 2 == 0 ? MPI_Isend : MPI_Issend;
      send(out[static_cast<size_t>(other)].data(), static_cast<int>(bytes), MPI_BYTE, other, 3, inter,
           &requests.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (int other = 0; other < others; ++other) {
      size_t wrong = 0;
      for (size_t i = 0; i < bytes; ++i) wrong += in[static_cast<size_t>(other)][i] != byte_of(i, other, rank);
      EXPECT(wrong == 0, "%zu of %zu bytes from %d", wrong, bytes, other);
    }
  }
  MPI_Datatype column;
  constexpr int rows = 20000;
  MPI_Type_vector(rows, 1, 2, MPI_INT, &column);
  MPI_Type_commit(&column);
  std::vector<int> in(2 * rows, -1), out(2 * rows);
  for (int i = 0; i < 2 * rows; ++i) out[static_cast<size_t>(i)] = i + rank;
  if (rank == 0) {
    MPI_Sendrecv(out.data(), 1, column, 0, 4, in.data(), 1, column, 0, 4, inter, MPI_STATUS_IGNORE);
    for (int i = 0; i < rows; ++i) {
      EXPECT(in[static_cast<size_t>(2 * i)] == 2 * i && in[static_cast<size_t>(2 * i + 1)] == -1, "at %d", i);
    }
  }
  MPI_Type_free(&column);
}

void collectives(MPI_Comm comm, int members) {
  const int rank = rank_in(comm);
  int sum = -1;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  EXPECT(sum == members * (members - 1) / 2, "%d", sum);
  for (const int count : {1, 5000, 300000}) {
    std::vector<int> all(static_cast<size_t>(members) * static_cast<size_t>(count), -1);
    const std::vector<int> ours(static_cast<size_t>(count), rank + count);
    MPI_Allgather(ours.data(), count, MPI_INT, all.data(), count, MPI_INT, comm);
    for (int r = 0; r < members; ++r) {
      const int last = all[static_cast<size_t>(r + 1) * static_cast<size_t>(count) - 1];
      EXPECT(last == r + count, "%d of rank %d", last, r);
    }
  }
  std::vector<int> out(static_cast<size_t>(members)), in(static_cast<size_t>(members), -1);
  for (int r = 0; r < members; ++r) out[static_cast<size_t>(r)] = 100 * rank + r;
  MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm);
  for (int r = 0; r < members; ++r) EXPECT(in[static_cast<size_t>(r)] == 100 * r + rank, "of rank %d", r);
  MPI_Barrier(comm);
}

// A window over ranks of both jobs.
void windows(MPI_Comm all) {
  const int size = size_of(all);
  const int rank = rank_in(all);
  long* memory = nullptr;
  MPI_Win window;
  MPI_Win_allocate(static_cast<MPI_Aint>(sizeof(long)) * (size + 1), sizeof(long), MPI_INFO_NULL, all, &memory,
                   &window);
  for (int r = 0; r <= size; ++r) memory[r] = -1;
  memory[size] = 0;
  MPI_Win_fence(0, window);
  const long ours = 1000 + rank;
  for (int r = 0; r < size; ++r) MPI_Put(&ours, 1, MPI_LONG, r, rank, 1, MPI_LONG, window);
  MPI_Win_fence(0, window);
  for (int r = 0; r < size; ++r) EXPECT(memory[r] == 1000 + r, "%ld from %d", memory[r], r);
  const long one = 1;
  for (int r = 0; r < size; ++r) {
    long before = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, r, 0, window);
    MPI_Fetch_and_op(&one, &before, MPI_LONG, r, size, MPI_SUM, window);
    MPI_Win_unlock(r, window);
    EXPECT(before >= 0 && before < size, "%ld", before);
  }
  MPI_Barrier(all);
  long sum = -1;
  MPI_Win_lock(MPI_LOCK_SHARED, size - 1 - rank, 0, window);
  MPI_Get(&sum, 1, MPI_LONG, size - 1 - rank, size, 1, MPI_LONG, window);
  MPI_Win_unlock(size - 1 - rank, window);
  EXPECT(sum == size, "%ld", sum);
  MPI_Win_free(&window);
}

// A file of ranks of both jobs: collective accesses, and the pointer that they share.
void files(MPI_Comm all) {
  const int size = size_of(all);
  const int rank = rank_in(all);
  char path[64] = "";
  // Hosts of several rows have the same numbers of processes, and one folder.
  if (rank == 0) snprintf(path, sizeof path, "two_jobs.%d.%.9f.data", static_cast<int>(getpid()), MPI_Wtime());
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, all);
  MPI_File file = MPI_FILE_NULL;
  const int opened =
      MPI_File_open(all, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  EXPECT(opened == MPI_SUCCESS, "%s", path);
  constexpr int count = 5000;
  constexpr MPI_Offset bytes = count * sizeof(int);
  const std::vector<int> ours(count, 70 + rank);
  std::vector<int> theirs(count, -1);
  MPI_File_write_at_all(file, bytes * rank, ours.data(), count, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(all);
  MPI_File_sync(file);
  const int other = size - 1 - rank;
  MPI_File_read_at_all(file, bytes * other, theirs.data(), count, MPI_INT, MPI_STATUS_IGNORE);
  EXPECT(theirs.front() == 70 + other && theirs.back() == 70 + other, "%d of rank %d", theirs.front(), other);
  MPI_File_write_ordered(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(all);
  MPI_File_sync(file);
  int word = -1;
  MPI_File_read_at(file, static_cast<MPI_Offset>(sizeof word) * other, &word, 1, MPI_INT, MPI_STATUS_IGNORE);
  EXPECT(word == other, "%d of rank %d", word, other);
  MPI_File_close(&file);
}

// One communicator of both, and others made from it.
void merged(MPI_Comm inter, bool high) {
  const int size = size_of(inter) + remote_size_of(inter);
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Intercomm_merge(inter, high ? 1 : 0, &all);
  EXPECT(size_of(all) == size, "%d", size_of(all));
  EXPECT(rank_in(all) == rank_in(inter) + (high ? remote_size_of(inter) : 0), "%d", rank_in(all));
  collectives(all, size);
  windows(all);
  files(all);
  MPI_Comm twin, part, here;
  MPI_Comm_dup(all, &twin);
  collectives(twin, size);
  MPI_Comm_split(all, rank_in(all) % 2, 0, &part);
  collectives(part, size_of(part));
  // Jobs share no memory: each has a communicator of its own.
  MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  EXPECT(size_of(here) == size_of(inter), "%d", size_of(here));
  collectives(here, size_of(here));
  MPI_Comm_free(&here);
  MPI_Comm_free(&part);
  MPI_Comm_free(&twin);
  MPI_Comm_free(&all);
}

void communicate(MPI_Comm inter, bool high) {
  messages(inter);
  const int theirs = remote_size_of(inter);
  const int rank = rank_in(inter);
  int sum = -1;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
  EXPECT(sum == theirs * (theirs - 1) / 2, "%d", sum);
  MPI_Barrier(inter);
  merged(inter, high);
}

// One of the threads: with each rank of the other side, by every path; and, where it has a communicator of its own,
// collective operations.
void exchange(MPI_Comm inter, int tag, bool own) {
  const int rank = rank_in(inter);
  const int others = remote_size_of(inter);
  for (int round = threads::scaled(60); round > 0; --round) {
    for (const size_t bytes : {0, 1, 100, 8000, 50000, 200000}) {
      std::vector<MPI_Request> requests;
      std::vector<std::vector<unsigned char>> in(static_cast<size_t>(others)), out(static_cast<size_t>(others));
      for (int other = 0; other < others; ++other) {
        std::vector<unsigned char>& data = in[static_cast<size_t>(other)];
        data.resize(bytes);
        OK(MPI_Irecv(data.data(), static_cast<int>(bytes), MPI_BYTE, other, tag, inter, &requests.emplace_back()));
      }
      for (int other = 0; other < others; ++other) {
        std::vector<unsigned char>& data = out[static_cast<size_t>(other)];
        data.resize(bytes);
        for (size_t i = 0; i < bytes; ++i) data[i] = byte_of(i + static_cast<size_t>(round), rank + tag, other);
        OK(MPI_Isend(data.data(), static_cast<int>(bytes), MPI_BYTE, other, tag, inter, &requests.emplace_back()));
      }
      OK(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
      for (int other = 0; other < others; ++other) {
        size_t wrong = 0;
        for (size_t i = 0; i < bytes; ++i)
          wrong += in[static_cast<size_t>(other)][i] != byte_of(i + static_cast<size_t>(round), other + tag, rank);
        EXPECT(wrong == 0, "%zu of %zu bytes from %d with tag %d", wrong, bytes, other, tag);
      }
    }
    if (!own) continue;
    int sum = -1;
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
    EXPECT(sum == others * (others - 1) / 2, "%d", sum);
  }
}

// On one communicator by tags, and on one for each thread.
void exchange_by_threads(MPI_Comm inter) {
  constexpr int count = 2;
  std::array<MPI_Comm, count> own{};
  for (MPI_Comm& comm : own) OK(MPI_Comm_dup(inter, &comm));
  for (const bool apart : {false, true}) {
    std::vector<std::thread> all;
    for (int i = 0; i < count; ++i)
      all.emplace_back(exchange, apart ? own[static_cast<size_t>(i)] : inter, 20 + i, apart);
    for (std::thread& one : all) one.join();
  }
  for (MPI_Comm& comm : own) OK(MPI_Comm_free(&comm));
}

bool with_threads = false;

void meet(MPI_Comm inter, bool high) {
  if (with_threads) exchange_by_threads(inter);
  communicate(inter, high);
}

void serve(const char* port, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    meet(inter, false);
    MPI_Comm_disconnect(&inter);
  }
}

void visit(const char* port, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    meet(inter, true);
    MPI_Comm_disconnect(&inter);
  }
  // The job goes on by itself.
  collectives(MPI_COMM_WORLD, expect::size);
}

void serve_by_port(int rounds) {
  char port[MPI_MAX_PORT_NAME] = "";
  if (expect::rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  say(std::string("port ") + port);
  serve(port, rounds);
  if (expect::rank == 0) MPI_Close_port(port);
  collectives(MPI_COMM_WORLD, expect::size);
}

void serve_by_name(int rounds, const char* name) {
  char port[MPI_MAX_PORT_NAME] = "";
  if (expect::rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name(name, MPI_INFO_NULL, port);
  }
  say("published");
  serve(port, rounds);
  if (expect::rank != 0) return;
  MPI_Unpublish_name(name, MPI_INFO_NULL, port);
  MPI_Close_port(port);
}

void visit_by_name(int rounds, const char* name) {
  char port[MPI_MAX_PORT_NAME] = "";
  if (expect::rank == 0) MPI_Lookup_name(name, MPI_INFO_NULL, port);
  visit(port, rounds);
}

void join(bool listens, const char* path) {
  const int made = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  int line = made;
  if (listens) {
    EXPECT(bind(made, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && listen(made, 1) == 0, "no door");
    say("listens");
    line = accept(made, nullptr, nullptr);
    close(made);
  } else {
    EXPECT(connect(made, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "no connection");
  }
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_join(line, &inter);
  EXPECT(inter != MPI_COMM_NULL && remote_size_of(inter) == 1, "not one other");
  if (inter != MPI_COMM_NULL) {
    communicate(inter, listens);
    MPI_Comm_disconnect(&inter);
  }
  // The socket is as it was.
  char word = listens ? 'a' : 'b';
  EXPECT(write(line, &word, 1) == 1 && read(line, &word, 1) == 1 && word == (listens ? 'b' : 'a'), "%c", word);
  close(line);
}

void errors() {
  MPI_Comm inter = MPI_COMM_SELF;
  for (const char* port : {"weft:255:nowhere-1:1", "weft:0:x:1", "weft:999:x:1", "weft:7", "weft:7:", "weft:7:x",
                           "weft::::", "weft:-1:x:1", "other"}) {
    EXPECT_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
    EXPECT(inter == MPI_COMM_NULL, "not null");
    EXPECT_CLASS(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
  }
  char port[MPI_MAX_PORT_NAME] = "";
  EXPECT_CLASS(MPI_Lookup_name("a name of no job", MPI_INFO_NULL, port), MPI_ERR_NAME);
}

void wait_at(const char* port, const char* kind) {
  MPI_Comm inter = MPI_COMM_SELF;
  MPI_Info info;
  MPI_Info_create(&info);
  const bool in_vain = strcmp(kind, "timeout") == 0;
  if (in_vain) MPI_Info_set(info, "timeout", "1");
  say("connects " + std::to_string(getpid()));
  EXPECT_CLASS(MPI_Comm_connect(port, info, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
  EXPECT(inter == MPI_COMM_NULL, "not null");
  MPI_Info_free(&info);
  collectives(MPI_COMM_WORLD, expect::size);
}

void open_and_wait() {
  char port[MPI_MAX_PORT_NAME] = "";
  char line[8] = "";
  MPI_Open_port(MPI_INFO_NULL, port);
  say(std::string("port ") + port);
  (void)!fgets(line, sizeof line, stdin);
  MPI_Close_port(port);
}

void accept_in_vain() {
  char port[MPI_MAX_PORT_NAME] = "";
  char line[8] = "";
  MPI_Comm inter = MPI_COMM_SELF;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "timeout", "5");
  MPI_Open_port(MPI_INFO_NULL, port);
  say(std::string("port ") + port);
  (void)!fgets(line, sizeof line, stdin);
  EXPECT_CLASS(MPI_Comm_accept(port, info, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
  EXPECT(inter == MPI_COMM_NULL, "not null");
  say("refused");
  (void)!fgets(line, sizeof line, stdin);
  MPI_Close_port(port);
  MPI_Info_free(&info);
}

void hold(const char* port) {
  char own[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter = MPI_COMM_NULL;
  if (port == nullptr) {
    if (expect::rank == 0) MPI_Open_port(MPI_INFO_NULL, own);
    say(std::string("port ") + own);
    MPI_Comm_accept(own, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  } else {
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  }
  MPI_Barrier(inter);
  say("connected " + std::to_string(getpid()));
  int word = 0;
  MPI_Recv(&word, 1, MPI_INT, 0, 9, inter, MPI_STATUS_IGNORE);
}

void loop(const char* port) {
  char own[MPI_MAX_PORT_NAME] = "";
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "timeout", "5");
  if (port == nullptr && expect::rank == 0) MPI_Open_port(MPI_INFO_NULL, own);
  printf("pid %d\n", static_cast<int>(getpid()));
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  say(std::string("port ") + own);
  for (;;) {
    MPI_Comm inter = MPI_COMM_NULL;
    if (port == nullptr) {
      MPI_Comm_accept(own, info, 0, MPI_COMM_WORLD, &inter);
    } else {
      MPI_Comm_connect(port, info, 0, MPI_COMM_WORLD, &inter);
    }
    MPI_Comm all = MPI_COMM_NULL;
    MPI_Intercomm_merge(inter, port == nullptr ? 0 : 1, &all);
    collectives(all, size_of(all));
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&inter);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  with_threads = mode.ends_with("_threads");
  if (with_threads) {
    threads::start(&argc, &argv);
  } else {
    expect::start(&argc, &argv);
  }
  if (mode == "errors" || mode == "wait_at" || mode == "accept_in_vain") {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  }
  const int rounds = argc > 2 ? atoi(argv[2]) : 0;
  if (mode == "serve" || mode == "serve_threads") serve_by_port(rounds);
  if (mode == "connect" || mode == "connect_threads") visit(argv[3], rounds);
  if (mode == "serve_name") serve_by_name(rounds, argv[3]);
  if (mode == "connect_name") visit_by_name(rounds, argv[3]);
  if (mode == "join") join(strcmp(argv[2], "listen") == 0, argv[3]);
  if (mode == "errors") errors();
  if (mode == "wait_at") wait_at(argv[2], argv[3]);
  if (mode == "accept_in_vain") accept_in_vain();
  if (mode == "open") open_and_wait();
  if (mode == "hold_server") hold(nullptr);
  if (mode == "hold_client") hold(argv[2]);
  if (mode == "loop_server") loop(nullptr);
  if (mode == "loop_client") loop(argv[2]);
  say("done");
  return expect::finish();
}
