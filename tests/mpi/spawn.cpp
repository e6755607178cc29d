// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Spawned processes: the program starts itself. Arguments, folder and numbers of processes are those that the call
// gives, errors are errors of the call, and parents and children communicate in every way that ranks of one world do.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "expect.hpp"

namespace {

char self[PATH_MAX];  // this program's file

int size_of(MPI_Comm comm) {
  int size = -1;
  MPI_Comm_size(comm, &size);
  return size;
}
int rank_of(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
int remote_size_of(MPI_Comm comm) {
  int size = -1;
  MPI_Comm_remote_size(comm, &size);
  return size;
}

MPI_Comm spawn(const char* mode, int count, MPI_Comm comm = MPI_COMM_WORLD, MPI_Info info = MPI_INFO_NULL) {
  std::string word = mode;
  char* arguments[] = {word.data(), nullptr};
  std::vector<int> codes(static_cast<size_t>(count), -1);
  MPI_Comm children = MPI_COMM_NULL;
  MPI_Comm_spawn(self, arguments, count, info, 0, comm, &children, codes.data());
  for (const int code : codes) EXPECT(code == MPI_SUCCESS, "%d", code);
  EXPECT(remote_size_of(children) == count, "%d", remote_size_of(children));
  return children;
}

// ---- Both sides

// Sums over all, rings of messages of all sizes, and a window of all.
void communicate(MPI_Comm comm) {
  const int size = size_of(comm);
  const int rank = rank_of(comm);
  const int one = rank + 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  EXPECT(sum == size * (size + 1) / 2, "%d of %d ranks", sum, size);
  for (const int count : {1, 1000, 20000, 1 << 20}) {
    std::vector<int> out(static_cast<size_t>(count));
    std::vector<int> in(out.size(), -1);
    std::iota(out.begin(), out.end(), rank);
    const int to = (rank + 1) % size;
    const int from = (rank + size - 1) % size;
    MPI_Sendrecv(out.data(), count, MPI_INT, to, 7, in.data(), count, MPI_INT, from, 7, comm, MPI_STATUS_IGNORE);
    EXPECT(in.front() == from && in.back() == from + count - 1, "%d and %d from %d", in.front(), in.back(), from);
  }
  std::vector<int> everybody(static_cast<size_t>(size));
  MPI_Allgather(&rank, 1, MPI_INT, everybody.data(), 1, MPI_INT, comm);
  for (int r = 0; r < size; ++r)
    EXPECT(everybody[static_cast<size_t>(r)] == r, "%d at %d", everybody[static_cast<size_t>(r)], r);
  int* memory = nullptr;
  MPI_Win win;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  *memory = 0;
  MPI_Win_unlock(rank, win);
  MPI_Barrier(comm);
  for (int r = 0; r < size; ++r) {
    MPI_Win_lock(MPI_LOCK_SHARED, r, 0, win);
    MPI_Accumulate(&one, 1, MPI_INT, r, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(r, win);
  }
  MPI_Barrier(comm);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  EXPECT(*memory == sum, "%d instead of %d", *memory, sum);
  MPI_Win_unlock(rank, win);
  MPI_Win_free(&win);
}

// Through an intercommunicator, and merged.
void meet(MPI_Comm others, bool are_children) {
  const int ours = size_of(others);
  const int theirs = remote_size_of(others);
  int sum = -1;
  const int rank = rank_of(others);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, others);
  EXPECT(sum == theirs * (theirs - 1) / 2, "%d", sum);
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Intercomm_merge(others, are_children ? 0 : 1, &all);
  EXPECT(size_of(all) == ours + theirs, "%d", size_of(all));
  EXPECT(rank_of(all) == (are_children ? rank : theirs + rank), "%d", rank_of(all));
  communicate(all);
  MPI_Comm twin = MPI_COMM_NULL;
  MPI_Comm_dup(all, &twin);
  communicate(twin);
  MPI_Comm_free(&twin);
  MPI_Comm_disconnect(&all);
}

// Without the page on which a wait that lasts writes its record: it is made once, whenever that is.
int open_descriptors() {
  int count = 0;
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  while (const dirent* entry = readdir(folder)) {
    char target[256] = "";
    if (readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1) < 0) continue;
    if (strstr(target, "weft-why") == nullptr) ++count;
  }
  closedir(folder);
  return count;
}

// ---- Parents

void test_meet() {
  MPI_Comm parent = MPI_COMM_WORLD;
  MPI_Comm_get_parent(&parent);
  EXPECT(parent == MPI_COMM_NULL, "a process that nobody spawned has a parent");
  MPI_Comm children = spawn("child_meets", 2);
  meet(children, true);
  MPI_Comm_disconnect(&children);
  EXPECT(children == MPI_COMM_NULL, "not null");
}

// KiB of a process in memory.
long resident(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  long all = 0;
  long pages = 0;
  file >> all >> pages;
  return pages * (sysconf(_SC_PAGESIZE) >> 10);
}

// Places of the job are used again and again, and nothing stays; of very many, no memory either, here and in mpiexec.
void test_again(int times) {
  constexpr int many = 1000;
  constexpr long most_growth = 2048;  // KiB, of caches that are filled once
  int before = 0;
  long ours = 0;
  long launchers = 0;
  for (int i = 0; i < times; ++i) {
    MPI_Comm children = spawn("child_meets", 2);
    meet(children, true);
    MPI_Comm_disconnect(&children);
    if (i == 1) before = open_descriptors();
    if (i != many / 10) continue;
    ours = resident(getpid());
    launchers = resident(getppid());
  }
  EXPECT(open_descriptors() == before, "%d descriptors, then %d", before, open_descriptors());
  if (times < many) return;
  printf("KiB here: %ld, then %ld; in mpiexec: %ld, then %ld\n", ours, resident(getpid()), launchers,
         resident(getppid()));
  EXPECT(resident(getpid()) - ours < most_growth, "%ld KiB, then %ld", ours, resident(getpid()));
  EXPECT(resident(getppid()) - launchers < most_growth, "%ld KiB, then %ld", launchers, resident(getppid()));
}

// Two groups of children at the same time, of some parents each; they do not know each other.
void test_parts() {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, expect::rank % 2, 0, &part);
  MPI_Comm children = spawn("child_meets", 1 + expect::rank % 2, part);
  meet(children, true);
  MPI_Comm_disconnect(&children);
  communicate(part);
  MPI_Comm_free(&part);
  communicate(MPI_COMM_WORLD);
}

// Children start on the host that the info key names, whichever rank is the root; of no rank's host it is an error.
void test_hosts() {
  constexpr int longest = 256;
  char own[longest] = "";
  gethostname(own, sizeof own - 1);
  std::vector<char> names(static_cast<size_t>(longest) * static_cast<size_t>(expect::size));
  MPI_Allgather(own, longest, MPI_CHAR, names.data(), longest, MPI_CHAR, MPI_COMM_WORLD);
  MPI_Info info;
  MPI_Info_create(&info);
  for (int r = expect::size - 1; r >= 0; --r) {
    const char* const host = &names[static_cast<size_t>(longest) * static_cast<size_t>(r)];
    MPI_Info_set(info, "host", host);
    MPI_Comm children = spawn("child_tells_host", 2, MPI_COMM_WORLD, info);
    for (int child = 0; child < 2 && expect::rank == 0; ++child) {
      char theirs[longest] = "";
      MPI_Recv(theirs, longest, MPI_CHAR, child, 5, children, MPI_STATUS_IGNORE);
      EXPECT(strcmp(theirs, host) == 0, "child %d is on %s instead of %s", child, theirs, host);
    }
    meet(children, true);
    MPI_Comm_disconnect(&children);
  }
  MPI_Info_set(info, "host", "nowhere");
  MPI_Comm children = MPI_COMM_SELF;
  int code = -1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, info, 0, MPI_COMM_WORLD, &children, &code), MPI_ERR_SPAWN);
  EXPECT(children == MPI_COMM_NULL && (expect::rank != 0 || code == MPI_ERR_SPAWN), "%d", code);
  MPI_Info_free(&info);
}

// Children that are not disconnected: MPI_Finalize waits for all.
void test_stay() {
  MPI_Comm children = spawn("child_stays", 2);
  if (expect::rank == 0) {
    usleep(200000);
    const int word = 42;
    for (int r = 0; r < 2; ++r) MPI_Send(&word, 1, MPI_INT, r, 3, children);
  }
}

// Children have children; those of the second generation are independent of us once ours have left them.
void test_tree() {
  MPI_Comm children = spawn("child_has_children", 2);
  meet(children, true);
  MPI_Comm_disconnect(&children);
}

void test_multiple() {
  std::string first = "child_multiple";
  std::string second = "and more";
  char* one[] = {first.data(), nullptr};
  char* two[] = {first.data(), second.data(), nullptr};
  char** arguments[] = {one, two};
  char* commands[] = {self, self};
  const int counts[] = {1, 2};
  const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  int codes[3] = {-1, -1, -1};
  MPI_Comm children = MPI_COMM_NULL;
  MPI_Comm_spawn_multiple(2, commands, arguments, counts, infos, 0, MPI_COMM_WORLD, &children, codes);
  for (const int code : codes) EXPECT(code == MPI_SUCCESS, "%d", code);
  EXPECT(remote_size_of(children) == 3, "%d", remote_size_of(children));
  meet(children, true);
  MPI_Comm_disconnect(&children);
}

// Info keys: wdir, path, and soft.
void test_info() {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "wdir", "/");
  MPI_Comm children = spawn("child_in_root", 1, MPI_COMM_WORLD, info);
  MPI_Comm_disconnect(&children);
  MPI_Info_set(info, "wdir", "/nowhere");
  std::string mode = "child_in_root";
  char* arguments[] = {mode.data(), nullptr};
  int codes[2000];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Comm_spawn(self, arguments, 1, info, 0, MPI_COMM_WORLD, &children, codes), MPI_ERR_SPAWN);
  MPI_Info_delete(info, "wdir");
  std::string folder = self;
  std::string name = folder.substr(folder.rfind('/') + 1);
  folder.resize(folder.rfind('/'));
  MPI_Info_set(info, "path", ("/nowhere:" + folder).c_str());
  mode = "child_meets";
  EXPECT_CLASS(MPI_Comm_spawn(name.c_str(), arguments, 1, info, 0, MPI_COMM_WORLD, &children, codes), MPI_SUCCESS);
  meet(children, true);
  MPI_Comm_disconnect(&children);
  // Only as many start as there are places for: 512, as the row gives no --universe.
  MPI_Info_set(info, "soft", "5000,2:1999:1000,3");
  EXPECT_CLASS(MPI_Comm_spawn(self, arguments, 2000, info, 0, MPI_COMM_WORLD, &children, codes), MPI_SUCCESS);
  EXPECT(remote_size_of(children) == 3, "%d", remote_size_of(children));
  for (int i = 0; i < 2000; ++i) EXPECT(codes[i] == (i < 3 ? MPI_SUCCESS : MPI_ERR_SPAWN), "%d at %d", codes[i], i);
  meet(children, true);
  MPI_Comm_disconnect(&children);
  MPI_Info_set(info, "soft", "nonsense");
  EXPECT_CLASS(MPI_Comm_spawn(self, arguments, 2, info, 0, MPI_COMM_WORLD, &children, codes), MPI_ERR_INFO_VALUE);
  MPI_Info_free(&info);
}

// A program that cannot be started is an error of the call on all ranks, and nothing else.
void test_errors() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm children = MPI_COMM_WORLD;
  int codes[1000];
  const int last = expect::size - 1;
  EXPECT_CLASS(
      MPI_Comm_spawn("./no-such-program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, last, MPI_COMM_WORLD, &children, codes),
      MPI_ERR_SPAWN);
  EXPECT(children == MPI_COMM_NULL, "not null");
  EXPECT(codes[0] == MPI_ERR_SPAWN && codes[1] == MPI_ERR_SPAWN, "%d %d", codes[0], codes[1]);
  // All ranks get the codes of all commands, and no more. The arguments of others than the root mean nothing.
  std::string none = "./no-such-program";
  std::fill(std::begin(codes), std::end(codes), -7);
  if (expect::rank == last) {
    char* commands[] = {self, none.data()};
    const int counts[] = {1, 3};
    const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    EXPECT_CLASS(
        MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, counts, infos, last, MPI_COMM_WORLD, &children, codes),
        MPI_ERR_SPAWN);
  } else {
    EXPECT_CLASS(
        MPI_Comm_spawn_multiple(-1, nullptr, nullptr, nullptr, nullptr, last, MPI_COMM_WORLD, &children, codes),
        MPI_ERR_SPAWN);
  }
  for (int i = 0; i < 5; ++i) EXPECT(codes[i] == (i < 4 ? MPI_ERR_SPAWN : -7), "%d at %d", codes[i], i);
  std::fill(std::begin(codes), std::end(codes), -7);
  EXPECT_CLASS(MPI_Comm_spawn("", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, codes), MPI_ERR_ARG);
  for (int i = 0; i < 3; ++i) EXPECT(codes[i] == (i < 2 ? MPI_ERR_SPAWN : -7), "%d at %d", codes[i], i);
  // A file that no system executes.
  EXPECT_CLASS(MPI_Comm_spawn("/proc/self/maps", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                              MPI_ERRCODES_IGNORE),
               MPI_ERR_SPAWN);
  // Programs that end before MPI_Init.
  for (const char* const program : {"true", "false"}) {
    EXPECT_CLASS(
        MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE),
        MPI_ERR_SPAWN);
  }
  EXPECT_CLASS(MPI_Comm_spawn(self, MPI_ARGV_NULL, 1000, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, codes),
               MPI_ERR_SPAWN);
  EXPECT_CLASS(MPI_Comm_spawn(self, MPI_ARGV_NULL, -1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, codes),
               MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, MPI_INFO_NULL, -1, MPI_COMM_WORLD, &children, codes),
               MPI_ERR_ROOT);
  EXPECT_CLASS(MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_NULL, &children, codes), MPI_ERR_COMM);
  // After all that there are free places.
  children = spawn("child_meets", 2);
  meet(children, true);
  MPI_Comm_disconnect(&children);
}

// A child that we have left dies, and we go on; one that we are connected with takes us along.
void test_death(bool connected) {
  MPI_Comm children = spawn(connected ? "child_dies" : "child_dies_alone", 2);
  if (connected) {
    int word = 0;
    MPI_Recv(&word, 1, MPI_INT, 0, 9, children, MPI_STATUS_IGNORE);  // never sent
    return;
  }
  int pids[2];
  for (int child = 0; child < 2; ++child) MPI_Recv(&pids[child], 1, MPI_INT, child, 9, children, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&children);
  for (const int pid : pids) {
    while (kill(pid, 0) == 0) usleep(1000);
  }
  communicate(MPI_COMM_WORLD);
  if (expect::rank == 0) puts("the parents went on");
}

volatile sig_atomic_t ended = 0;

// One of the parents dies; the other, which is ended for that, spawns once more. Nothing stays of it, nor of children
// who wait at its port: those are refused.
void test_death_spawns() {
  char port[MPI_MAX_PORT_NAME] = "";
  if (expect::rank == 0) {
    signal(SIGTERM, [](int) { ended = 1; });
    MPI_Open_port(MPI_INFO_NULL, port);
  }
  MPI_Comm children = spawn("child_waits", 2);
  if (expect::rank == 0) MPI_Send(port, sizeof port, MPI_CHAR, 0, 9, children);
  MPI_Comm_disconnect(&children);
  MPI_Barrier(MPI_COMM_WORLD);
  if (expect::rank == 1) abort();
  while (ended == 0) usleep(1000);
  std::string mode = "child_meets";
  char* arguments[] = {mode.data(), nullptr};
  MPI_Comm_spawn(self, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
}

// The launcher that a process without one has started is no child of it, and ends when it has left MPI.
bool has_own_launcher() {
  const std::string words = std::string("--attach") + '\0' + std::to_string(getpid()) + '\0';
  bool found = false;
  DIR* const folder = opendir("/proc");
  while (const dirent* entry = folder != nullptr ? readdir(folder) : nullptr) {
    char line[256] = "";
    const int fd = open((std::string("/proc/") + entry->d_name + "/cmdline").c_str(), O_RDONLY | O_CLOEXEC);
    const ssize_t bytes = fd >= 0 ? read(fd, line, sizeof line) : -1;  // the process may have ended
    found = found || (bytes > 0 && std::string(line, static_cast<size_t>(bytes)).find(words) != std::string::npos);
    if (fd >= 0) close(fd);
  }
  if (folder != nullptr) closedir(folder);
  return found;
}

void test_launcher() {
  EXPECT(!has_own_launcher(), "a launcher before the first spawn");
  test_meet();
  EXPECT(has_own_launcher(), "no launcher");
  EXPECT(waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD, "a child");
}

// ---- Children

int child(const std::string& mode, MPI_Comm parents, char** argv) {
  EXPECT(size_of(MPI_COMM_WORLD) == size_of(parents), "%d", size_of(parents));
  EXPECT(rank_of(MPI_COMM_WORLD) == rank_of(parents), "%d", rank_of(parents));
  communicate(MPI_COMM_WORLD);
  int* number = nullptr;
  int there = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &there);
  const bool second = argv[2] != nullptr;
  EXPECT(there && *number == (second ? 1 : 0), "MPI_APPNUM is %d", there ? *number : -1);
  if (mode == "child_stays") {
    int word = 0;
    MPI_Recv(&word, 1, MPI_INT, 0, 3, parents, MPI_STATUS_IGNORE);
    EXPECT(word == 42, "%d", word);
    return expect::finish();
  }
  if (mode == "child_waits") {
    char port[MPI_MAX_PORT_NAME] = "";
    if (expect::rank == 0) MPI_Recv(port, sizeof port, MPI_CHAR, 0, 9, parents, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&parents);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int error = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &parents);
    EXPECT_CLASS(error, MPI_ERR_PORT);
    if (expect::rank == 0) puts("the children were refused");
    return expect::finish();
  }
  if (mode == "child_dies" || mode == "child_dies_alone") {
    if (mode == "child_dies_alone") {
      const int pid = getpid();
      for (int parent = 0; parent < remote_size_of(parents); ++parent) MPI_Send(&pid, 1, MPI_INT, parent, 9, parents);
      MPI_Comm_disconnect(&parents);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (expect::rank == 1) abort();
    pause();
  }
  if (mode == "child_tells_host") {
    char own[256] = "";
    gethostname(own, sizeof own - 1);
    MPI_Send(own, sizeof own, MPI_CHAR, 0, 5, parents);
  }
  if (mode == "child_in_root") {
    char folder[PATH_MAX] = "";
    EXPECT(getcwd(folder, sizeof folder) != nullptr && strcmp(folder, "/") == 0, "%s", folder);
  } else {
    if (mode == "child_multiple") {
      EXPECT(second == (expect::rank > 0), "rank %d", expect::rank);
      EXPECT(!second || strcmp(argv[2], "and more") == 0, "%s", argv[2]);
    }
    meet(parents, false);
  }
  if (mode == "child_has_children") {
    MPI_Comm children = spawn("child_meets", 2);
    meet(children, true);
    MPI_Comm_disconnect(&children);
  }
  MPI_Comm_disconnect(&parents);
  MPI_Comm_get_parent(&parents);
  EXPECT(parents == MPI_COMM_NULL, "a parent after MPI_Comm_disconnect");
  return expect::finish();
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return EXIT_FAILURE;
  const std::string mode = argc > 1 ? argv[1] : "meet";
  MPI_Comm parents = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parents);
  if (parents != MPI_COMM_NULL) return child(mode, parents, argv);
  if (mode == "meet") test_meet();
  if (mode == "again") test_again(argc > 2 ? atoi(argv[2]) : 20);
  if (mode == "parts") test_parts();
  if (mode == "hosts") test_hosts();
  if (mode == "stay") test_stay();
  if (mode == "tree") test_tree();
  if (mode == "multiple") test_multiple();
  if (mode == "info") test_info();
  if (mode == "errors") test_errors();
  if (mode == "death") test_death(true);
  if (mode == "death_alone") test_death(false);
  if (mode == "death_spawns") test_death_spawns();
  if (mode != "launcher") return expect::finish();
  test_launcher();
  const int status = expect::finish();
  while (has_own_launcher()) usleep(1000);
  return status;
}
