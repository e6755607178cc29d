// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/connect/own_launcher.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <string>

#include "base/descriptor.hpp"
#include "base/lock.hpp"
#include "boot/connect/job_number.hpp"
#include "boot/connect/service.hpp"
#include "boot/job/status.hpp"

namespace weft::boot {
namespace {

constinit base::Descriptor line;
constinit base::Lock learning;

// In RankStatus::own_launcher.
constexpr uint32_t none = 0;
constexpr uint32_t starting = 1;

std::string host_name() {
  char name[65] = "";
  (void)gethostname(name, sizeof name - 1);
  return name;
}

bool is_program(const std::string& path) {
  return access(path.c_str(), X_OK) == 0;
}

// In the folder "bin" beside that of this library, as installed or as built; otherwise in PATH. The libraries of an ABI
// lie in folders of their own and load this one as "mpich-abi/../libweft.so".
std::string find_launcher() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&find_launcher), &info) != 0 && info.dli_fname != nullptr) {
    char resolved[PATH_MAX];
    std::string prefix = realpath(info.dli_fname, resolved) != nullptr ? resolved : info.dli_fname;
    for (int up = 0; up < 2 && !prefix.empty(); ++up) prefix.resize(std::min(prefix.rfind('/'), prefix.size()));
    std::string beside = prefix + "/bin/mpiexec";
    if (is_program(beside)) return beside;
  }
  const char* const path = getenv("PATH");
  const std::string folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  for (size_t at = 0; at <= folders.size();) {
    const size_t end = std::min(folders.find(':', at), folders.size());
    std::string candidate = folders.substr(at, end - at).append("/mpiexec");
    if (end > at && is_program(candidate)) return candidate;
    at = end + 1;
  }
  return {};
}

// A copy of a descriptor that none of the launcher's takes the number of.
int set_aside(int fd) {
  constexpr int lowest = 10;
  return fcntl(fd, F_DUPFD_CLOEXEC, lowest);
}

// The process that is made here ends at once and leaves the launcher to the system: the program's own wait() finds no
// child that it does not know. 0 or an errno.
int run(const std::string& launcher, const Job& job, int its_line) {
  const int segment = set_aside(job.segment.needed());
  const int moved_line = set_aside(its_line);
  const std::string pid = std::to_string(getpid());
  const std::string places = std::to_string(job.places_here());
  const std::string started = std::to_string(job.started_here());
  std::string id = job.id;
  if (!job.one_host()) id.append("@").append(host_name());
  const char* const words[] = {"mpiexec",      attach_option,   pid.c_str(),
                               places.c_str(), started.c_str(), job.one_host() ? "1" : "2",
                               id.c_str(),     nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, segment, attach_segment);
  posix_spawn_file_actions_adddup2(&actions, moved_line, attach_line);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  for (const int signal : {SIGCHLD, SIGPIPE}) sigaddset(&signals, signal);  // programs may ignore them
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  int error = segment < 0 || moved_line < 0 ? errno : 0;
  if (error == 0) {
    error = posix_spawn(&child, launcher.c_str(), &actions, &attributes, const_cast<char* const*>(words), environ);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (segment >= 0) close(segment);
  if (moved_line >= 0) close(moved_line);
  if (error == 0) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  return error;
}

// The socket's name; empty: the line has ended before.
std::string read_socket_name(int fd, void (*meanwhile)()) {
  constexpr size_t longest = 256;
  std::string name;
  while (name.size() < longest) {
    constexpr int interval_ms = 1;
    meanwhile();
    pollfd p{fd, POLLIN, 0};
    if (poll(&p, 1, interval_ms) <= 0) continue;
    char byte = 0;
    const ssize_t n = read(fd, &byte, 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return {};
    if (byte == '\n') return name;
    name += byte;
  }
  return {};
}

bool start(Job& job, void (*meanwhile)(), base::Problem& problem) {
  const std::string launcher = find_launcher();
  const std::string how = job.launcher == Launcher::singleton
                              ? std::string("this process was started without a launcher")
                              : std::string("this job was started through ") + name(job.launcher);
  problem = {.cause = how + ", and Weft's mpiexec, which would serve it, is neither beside the library nor in PATH",
             .remedy = "install Weft whole, or start the program with Weft's mpiexec"};
  if (launcher.empty()) return false;
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    problem = {.cause = "no socket to a launcher of this process",
               .error = errno,
               .remedy = "raise the limit of open files (ulimit -n)"};
    return false;
  }
  const int error = run(launcher, job, ends[1]);
  close(ends[1]);
  if (error == 0) job.service = read_socket_name(ends[0], meanwhile);
  if (!job.service.empty()) {
    if (job.one_host()) job.number = number_of_socket(job.service);
    line = {ends[0], "a launcher of this process"};
    return true;
  }
  close(ends[0]);
  problem = {.cause = how + ", and " + launcher + " cannot serve it",
             .error = error,
             .remedy = "see whether it is Weft's mpiexec, of the library's version, or start the program with it"};
  return false;
}

// The lines of the ranks that the job began with.
class Lines {
 public:
  explicit Lines(const Job& job) : bytes_(job_header_bytes(job.started_here())), started_(job.started_here()) {
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, job.segment.needed(), 0);
    if (memory != MAP_FAILED) memory_ = memory;
  }
  ~Lines() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  bool are_there() const { return memory_ != nullptr; }
  std::atomic<uint32_t>& own_launcher() const { return status_of(memory_, 0).own_launcher; }
  // Whether each rank has said which process it is.
  bool all_have_come() const {
    for (int rank = 0; rank < started_; ++rank) {
      if (status_of(memory_, rank).pid.load(std::memory_order_acquire) == 0) return false;
    }
    return true;
  }

 private:
  void* memory_ = nullptr;
  size_t bytes_;
  int started_;
};

void take(Job& job, uint32_t word) {
  const std::lock_guard guard(learning);
  const auto number = static_cast<int>(word - starting);
  job.service = socket_of_job(number);
  if (job.one_host()) job.number = number;
}

// As the first that needs it, for all ranks.
bool start_for_all(Job& job, const Lines& lines, void (*meanwhile)(), base::Problem& problem) {
  while (!lines.all_have_come()) {
    meanwhile();
    (void)poll(nullptr, 0, 1);
  }
  if (!start(job, meanwhile, problem)) return false;
  if (number_of_socket(job.service) != 0 || job.started == 1) return true;
  problem = {.cause = "more than " + std::to_string(job_numbers - 1) + " jobs of this user run on this host",
             .remedy = "end some of them, or start this one with Weft's mpiexec"};
  return false;
}

}  // namespace

bool start_own_launcher(Job& job, void (*meanwhile)(), base::Problem& problem) {
  const Lines lines(job);
  if (!lines.are_there()) {
    problem = {.cause = "the head of the job's shared memory cannot be mapped",
               .error = errno,
               .remedy = "raise the limit on address space (ulimit -v)"};
    return false;
  }
  std::atomic<uint32_t>& word = lines.own_launcher();
  for (;;) {
    uint32_t seen = none;
    if (word.compare_exchange_strong(seen, starting, std::memory_order_acquire)) {
      const bool started = start_for_all(job, lines, meanwhile, problem);
      word.store(started ? starting + static_cast<uint32_t>(number_of_socket(job.service)) : none,
                 std::memory_order_release);
      return started;
    }
    if (seen > starting && seen < starting + job_numbers) {
      take(job, seen);
      return true;
    }
    meanwhile();
    (void)poll(nullptr, 0, 1);
  }
}

void learn_own_launcher(Job& job) {
  if (has_own_launcher(job.launcher) || !job.can_grow() || !job.service.empty()) return;
  uint32_t word = none;
  if (pread(job.segment.number(), &word, sizeof word, offsetof(RankStatus, own_launcher)) != sizeof word) return;
  if (word > starting && word < starting + job_numbers) take(job, word);
}

void leave_own_launcher(Job& job) {
  learn_own_launcher(job);
  if (line.is_open()) {
    (void)!send(line.number(), &attach_left, sizeof attach_left, MSG_DONTWAIT | MSG_NOSIGNAL);
    line.close();
    // A process alone may start another launcher, if it takes part in the job again.
    if (job.launcher != Launcher::singleton) return;
    (void)!pwrite(job.segment.number(), &none, sizeof none, offsetof(RankStatus, own_launcher));
    job.service.clear();
    job.number = 0;
  } else if (!has_own_launcher(job.launcher) && !job.service.empty()) {
    constexpr int patience_s = 5;
    Packet answer;
    const Packet question = Packet().put(request::leave).put(job.place_here(job.rank)).put(job.generation);
    (void)ask_launcher(
        job.service, question, answer, [] {}, patience_s);
  }
}

}  // namespace weft::boot
