// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/launch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/clock.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/connect/job_number.hpp"
#include "boot/job/environment.hpp"
#include "boot/job/segment.hpp"
#include "mpiexec/front.hpp"
#include "stats/area.hpp"
#include "topo/layout.hpp"

namespace weft::mpiexec {
namespace {

using base::millisecond;
constexpr uint64_t again_ns = 100 * millisecond;  // between two interrupts that are meant as two

std::string error_text(const std::string& cause, int error, const std::string& remedy) {
  return base::describe({.cause = cause, .error = error, .remedy = remedy});
}

bool ends_programs(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

// Descriptors 0 to 2 must be there, or a pipe would take their place.
void fill_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", O_RDWR);
  }
}

// Two pipes per rank.
void allow_files(int ranks, rlimit& old) {
  getrlimit(RLIMIT_NOFILE, &old);
  rlimit wanted = old;
  rlim_t needed = static_cast<rlim_t>(ranks) * 2 + 64;
  if (wanted.rlim_cur >= needed) return;
  wanted.rlim_cur = std::min(needed, wanted.rlim_max);
  setrlimit(RLIMIT_NOFILE, &wanted);
}

// Scripts use descriptors 3 to 9 as they like; one that ranks inherit must not be among them.
int above_shell_descriptors(int fd) {
  constexpr int lowest = 50;
  int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD, lowest);
  if (moved < 0) return fd;
  close(fd);
  return moved;
}

std::string why_not_started(const Program& program, const std::string& path, const StartFailure& failure,
                            bool spawned) {
  switch (failure.step) {
    case StartFailure::folder:
      return error_text("cannot enter the folder " + base::quoted_path(program.folder), failure.error,
                        spawned ? "check the info key wdir" : "check -wdir");
    case StartFailure::bind:
      return error_text("cannot bind it to its processors", failure.error, "use --bind none");
    default:
      return error_text("cannot execute " + base::quoted_path(path), failure.error,
                        "check that it is a program for this machine, and that its interpreter or loader exists");
  }
}

}  // namespace

Launch::Launch(const Command& command, const Attached* attached)
    : command_(command), attached_(attached), statistics_(command) {
  char host[65] = "";
  gethostname(host, sizeof host - 1);
  host_ = host;
}

std::string Launch::job_id() const {
  return attached_ != nullptr ? attached_->id : host_ + "-" + std::to_string(getpid());
}

void Launch::tell(const std::string& text) {
  err_.append(-1, "weft: mpiexec: " + text + "\n");
}

void Launch::tell_why(const std::string& lines) {
  for (size_t at = 0; at < lines.size();) {
    const size_t end = std::min(lines.find('\n', at), lines.size());
    tell(lines.substr(at, end - at));
    at = end + 1;
  }
}

int Launch::stop_early(int status) {
  err_.drain(base::now_ns() + 1000 * millisecond);
  return status;
}

bool Launch::find_programs() {
  for (const Program& program : command_.programs) {
    std::string path = find_program(program.words[0], program.folder);
    if (!path.empty()) {
      paths_.push_back(path);
      continue;
    }
    int error = errno;
    bool here = program.words[0].find('/') == std::string::npos && access(("./" + program.words[0]).c_str(), X_OK) == 0;
    std::string where = program.words[0].find('/') == std::string::npos ? " in PATH" : "";
    tell(error_text("cannot find the program " + base::quoted_path(program.words[0]) + where, error,
                    here              ? "it lies in this folder: write ./" + program.words[0]
                    : error == EACCES ? "make it executable (chmod +x)"
                                      : "check its name, and -wdir if given"));
    status_ = error == ENOENT || error == ENOTDIR ? status_not_found : status_not_started;
    return false;
  }
  return true;
}

bool Launch::prepare() {
  fill_standard_descriptors();
  allow_files(command_.ranks(), old_files_);
  null_ = open("/dev/null", O_RDWR | O_CLOEXEC);
  sigset_t set;
  sigemptyset(&set);
  for (int signal : watched_signals) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, &old_mask_);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  segment_ = above_shell_descriptors(attached_ != nullptr ? attached_->segment : boot::create_segment(true));
  if (attached_ == nullptr) statistics_.prepare();
  ranks_.resize(static_cast<size_t>(command_.ranks()) + static_cast<size_t>(spare_places()));
  if (spare_places() > 0) service_.open(ranks_.size() <= static_cast<size_t>(boot::most_places_of_a_job));
  number_ = boot::number_of_socket(service_.name());
  ports_.begin(std::to_string(number_) + ":" + job_id());
  begin_far_jobs();
  if (null_ >= 0 && signals_ >= 0 && segment_ >= 0 && pipe2(failures_, O_CLOEXEC | O_NONBLOCK) == 0) return true;
  tell(error_text(
      "cannot prepare the job (shared segment, pipes)", errno,
      "check the limits of processes and open files (ulimit -u, ulimit -n) and that memfd_create is allowed"));
  status_ = status_not_started;
  return false;
}

bool Launch::start_one(int number) {
  Rank& rank = ranks_[static_cast<size_t>(number)];
  int ends[2][2] = {{-1, -1}, {-1, -1}};
  if (pipe2(ends[0], O_CLOEXEC) != 0 || pipe2(ends[1], O_CLOEXEC) != 0) return false;
  std::string tag = command_.tag_output ? "[" + short_label_of(number) + "] " : "";
  Sink* sinks[2] = {&out_, &err_};
  for (int i = 0; i < 2; ++i) {
    fcntl(ends[i][0], F_SETFL, O_NONBLOCK);
    rank.streams[i] = {ends[i][0], LineStream(number, tag, sinks[i])};
  }

  // Rank 0 reads what we would read. A terminal is read by us: rank 0 is not in its foreground.
  int in = number == 0 ? STDIN_FILENO : null_;
  int input_pipe[2] = {-1, -1};
  if (number == 0 && isatty(STDIN_FILENO) && pipe2(input_pipe, O_CLOEXEC) == 0) {
    in = input_pipe[0];
    input_ = input_pipe[1];
    fcntl(input_, F_SETFL, O_NONBLOCK);
  }

  const int universe = command_.universe != 0 ? std::max(command_.universe, command_.ranks())
                                              : std::max(command_.ranks(), placement_.cpus);
  Environment environment;
  if (rank.world == nullptr) {
    environment.set_known({number, command_.ranks(), universe});
  } else {
    environment.set_known({number - rank.world->first, rank.world->size, universe});
  }
  if (!kinds_.empty()) environment.set("WEFT_MEMORY_NODES", kinds_);
  for (const Variable& v : command_.variables) environment.set(v.first, v.second);
  for (const Variable& v : rank.program->variables) environment.set(v.first, v.second);
  for (const Variable& v : openmp_variables(command_, *rank.program, placement_.places))
    environment.set(v.first, v.second);
  environment.set(boot::variable::rank, std::to_string(number));
  environment.set(boot::variable::size, std::to_string(command_.ranks()));
  environment.set(boot::variable::places, std::to_string(ranks_.size()));
  if (!service_.name().empty()) environment.set(boot::variable::service, service_.name());
  if (rank.world != nullptr) {
    const World& world = *rank.world;
    std::string spawned;
    for (const int64_t value : {int64_t{world.first}, int64_t{world.size}, int64_t{rank.generation},
                                int64_t{world.root}, int64_t{world.number}, int64_t{on_several_hosts() ? 1 : 0}}) {
      spawned.append(spawned.empty() ? "" : ",").append(std::to_string(value));
    }
    environment.set(boot::variable::spawned, spawned);
  }
  environment.set(boot::variable::segment_fd, std::to_string(segment_));
  environment.set(boot::variable::segment_address, boot::segment_address(segment_));
  if (statistics_.descriptor() >= 0 && rank.world == nullptr)
    environment.set(stats::descriptor_variable, std::to_string(statistics_.descriptor()));
  environment.set(boot::variable::job_id, job_id());
  environment.set(boot::variable::app_number, std::to_string(rank.app));
  environment.set(boot::variable::universe_size, std::to_string(universe));
  environment.set(boot::variable::local_ranks, std::to_string(command_.ranks()));
  environment.set(boot::variable::local_cpus, std::to_string(placement_.cpus));
  // Spawned processes may run wherever mpiexec may.
  const base::CpuSet own = rank.world == nullptr ? placement_.sets[static_cast<size_t>(number)] : base::CpuSet();
  environment.set(boot::variable::rank_cpus, base::shown_cpu_list(own.empty() ? base::affinity() : own));
  if (!placement_.reserved.empty() && rank.world == nullptr) {
    const base::CpuSet service = topo::service_set(machine_, placement_, static_cast<size_t>(number));
    environment.set(boot::variable::service_cpus, base::shown_cpu_list(service));
  }
  std::vector<char*> variables = environment.pointers();
  std::vector<char*> words;
  for (const std::string& word : rank.program->words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);

  Start start{.rank = number,
              .path = rank.path->c_str(),
              .arguments = words.data(),
              .environment = variables.data(),
              .folder = rank.program->folder.empty() ? nullptr : rank.program->folder.c_str(),
              .processors = own,
              .in = in,
              .out = ends[0][1],
              .err = command_.merge_output ? ends[0][1] : ends[1][1],
              .failure_fd = failures_[1],
              .signals = old_mask_,
              .files = old_files_};
  rank.pid = start_rank(start);
  int error = errno;
  close(ends[0][1]);
  close(ends[1][1]);
  if (input_pipe[0] >= 0) close(input_pipe[0]);
  errno = error;
  if (rank.pid < 0) return false;
  rank.alive = true;
  ++alive_;
  return true;
}

bool Launch::start_all() {
  int app = 0;
  size_t next = 0;
  for (const Program& program : command_.programs) {
    for (int i = 0; i < program.ranks; ++i) {
      Rank& rank = ranks_[next++];
      rank.program = &program;
      rank.path = &paths_[static_cast<size_t>(app)];
      rank.app = app;
    }
    ++app;
  }
  for (int number = 0; number < command_.ranks(); ++number) {
    if (start_one(number)) continue;
    tell(error_text("cannot start rank " + std::to_string(number) + " of " + std::to_string(command_.ranks()), errno,
                    "check the limits of processes and open files (ulimit -u, ulimit -n), or start fewer ranks"));
    end_job(status_not_started);
    break;
  }
  if (command_.timeout_us) timeout_at_ = base::now_ns() + static_cast<uint64_t>(command_.timeout_us) * 1000;
  return true;
}

int Launch::run() {
  const bool found = attached_ != nullptr || find_programs();
  if (!found || !prepare() || !place()) return stop_early(status_);
  if (command_.show_layout) err_.append(-1, topo::shown_layout(machine_, placement_));
  if (attached_ != nullptr) {
    if (!adopt()) return stop_early(status_not_started);
  } else {
    standstill_.begin(base::now_ns());
    looks_.begin(base::now_ns());
    start_all();
  }
  while (!finished()) wait_for_events();
  if (status_ == 0 && (out_.broken() || err_.broken())) {
    tell_lost_output(out_.broken() ? out_ : err_);
    err_.drain(base::now_ns() + 1000 * millisecond);
    status_ = 128 + SIGPIPE;
  }
  forget_port_files(true);
  far_.leave();
  tell_other_library();
  if (status_ == 0 && started_other_mpi_) status_ = status_other_mpi;
  if (const std::string wrong = statistics_.report(status_); !wrong.empty()) {
    tell(wrong);
    return stop_early(status_);
  }
  return status_;
}

void Launch::wait_for_events() {
  std::vector<pollfd> polled;
  std::vector<Stream*> streams;
  polled.push_back({signals_, POLLIN, 0});
  polled.push_back({out_.wants_to_write() ? out_.fd() : -1, POLLOUT, 0});
  polled.push_back({err_.wants_to_write() ? err_.fd() : -1, POLLOUT, 0});
  bool reads_input = input_ >= 0 && !input_paused_ && input_pending_.empty();
  polled.push_back({reads_input ? STDIN_FILENO : -1, POLLIN, 0});
  polled.push_back({input_ >= 0 ? input_ : -1, static_cast<short>(input_pending_.empty() ? 0 : POLLOUT), 0});
  const size_t adopted = polled.size();
  watch_adopted(polled);
  service_.add_to(polled);
  far_.add_to(polled);
  size_t first_stream = polled.size();
  for (Rank& rank : ranks_) {
    for (Stream& stream : rank.streams) {
      if (stream.fd < 0 || stream.lines.sink().full()) continue;  // full: the rank waits for our reader
      polled.push_back({stream.fd, POLLIN, 0});
      streams.push_back(&stream);
    }
  }
  uint64_t now = base::now_ns();
  if (poll(polled.data(), polled.size(), poll_timeout(now)) < 0 && errno != EINTR) return;

  for (size_t i = 0; i < streams.size(); ++i) {
    if (polled[first_stream + i].revents) read_stream(*streams[i]);
  }
  now = base::now_ns();
  flush_due(now);
  if (polled[4].revents & (POLLERR | POLLHUP)) end_input();  // rank 0 reads no more
  if (polled[3].revents) read_input();
  write_input();
  service_.take(polled, {[this](Service::Caller caller, boot::Packet& packet) { asked(caller, packet); },
                         [this](Service::Caller caller) { caller_gone(caller); }});
  far_.take(polled);
  if (polled[0].revents) take_signals();
  take_adopted(polled, adopted);
  out_.write_some();
  err_.write_some();
  note_lost_output();
  if (!worlds_.empty()) forget_worlds();
  take_due_waits(now);
  far_.look_at_time(now);
  check_clocks(now);
  if (alive_ == 0) end_orphans(now);
}

int Launch::poll_timeout(uint64_t now) const {
  uint64_t due = UINT64_MAX;
  if (kill_at_) due = std::min(due, kill_at_);
  if (timeout_at_ && !ending_) due = std::min(due, timeout_at_);
  if (!ending_ && alive_ > 0) due = std::min({due, standstill_.due(), looks_.due()});
  due = std::min({due, ports_.next_due(), far_.next_due()});
  if (alive_ == 0) due = std::min(due, now + 10 * millisecond);  // orphans tell us nothing when they become ours
  for (const Rank& rank : ranks_) {
    for (const Stream& stream : rank.streams) {
      if (stream.fd >= 0 && stream.lines.holds_partial()) due = std::min(due, stream.lines.flush_due());
    }
  }
  if (due == UINT64_MAX) return -1;
  if (due <= now) return 0;
  return static_cast<int>(std::min<uint64_t>((due - now) / millisecond + 1, 3'600'000));
}

void Launch::read_stream(Stream& stream) {
  static char buffer[64 << 10];
  ssize_t n = read(stream.fd, buffer, sizeof buffer);
  if (n > 0) standstill_.heard(base::now_ns());
  if (n > 0)
    stream.lines.take({buffer, static_cast<size_t>(n)}, base::now_ns());
  else if (n == 0 || (errno != EAGAIN && errno != EINTR))
    close_stream(stream);
}

void Launch::close_stream(Stream& stream) {
  stream.lines.flush();
  close(stream.fd);
  stream.fd = -1;
}

void Launch::tell_lost_output(const Sink& sink) {
  output_loss_told_ = true;
  const std::string stream = sink.fd() == STDOUT_FILENO ? "standard output" : "standard error";
  tell(error_text("output of the ranks is lost, since " + stream + " cannot be written", sink.error(),
                  "direct it to a file on a disk with free space, or to a reader that stays until the job has ended"));
}

// A program whose reader has gone gets SIGPIPE, as in a shell, or ends without it. Other failures end the job: a rank
// could not tell them from that one.
void Launch::note_lost_output() {
  for (const Sink* sink : {&out_, &err_}) {
    if (!sink->broken() || sink->error() == EPIPE || output_loss_told_) continue;
    tell_lost_output(*sink);
    if (status_ == 0) status_ = status_output_lost;
    end_job(status_);
  }
  for (Rank& rank : ranks_) {
    for (Stream& stream : rank.streams) {
      if (stream.fd >= 0 && stream.lines.sink().broken()) close_stream(stream);
    }
  }
}

void Launch::flush_due(uint64_t now) {
  for (Rank& rank : ranks_) {
    for (Stream& stream : rank.streams) {
      if (stream.fd >= 0 && stream.lines.holds_partial() && stream.lines.flush_due() <= now) stream.lines.flush();
    }
  }
}

void Launch::end_input() {
  if (input_ >= 0) close(input_);
  input_ = -1;
  input_pending_.clear();
}

void Launch::read_input() {
  char buffer[4096];
  ssize_t n = input_ >= 0 ? read(STDIN_FILENO, buffer, sizeof buffer) : -1;
  if (n > 0)
    input_pending_.assign(buffer, static_cast<size_t>(n));
  else if (n < 0 && errno == EIO)
    input_paused_ = true;  // the terminal is another's until we are continued
  else if (n == 0 || (errno != EINTR && errno != EAGAIN))
    end_input();
}

void Launch::write_input() {
  if (input_pending_.empty()) return;
  ssize_t n = write(input_, input_pending_.data(), input_pending_.size());
  if (n > 0)
    input_pending_.erase(0, static_cast<size_t>(n));
  else if (n < 0 && errno != EAGAIN && errno != EINTR)
    end_input();
}

void Launch::take_signals() {
  signalfd_siginfo info;
  bool ended = false;
  while (read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD)
      ended = true;
    else if (signal != SIGPIPE && signal != SIGTTIN && signal != SIGTTOU)
      pass_on(signal);
  }
  if (ended) reap();
}

void Launch::pass_on(int signal) {
  if (signal == front_is_gone) return abandon(128 + SIGKILL);
  if (signal == SIGINT) {
    // A person presses again after a while; timeout(1) sends the same signal to the front and to the process group.
    const uint64_t now = base::now_ns();
    const bool again = interrupted_at_ != 0 && now - interrupted_at_ > again_ns;
    if (interrupted_at_ != 0 && !again) return;
    interrupted_at_ = now;
    if (again) {
      if (!command_.quiet) tell("interrupted twice: killing all ranks");
      return abandon(128 + signal);
    }
  }
  if (ends_programs(signal)) passed_on_ = signal;
  signal_ranks(signal);
  if (signal == SIGTSTP || signal == SIGCONT) {
    standstill_.stopped(signal == SIGTSTP, base::now_ns());
    signal_front(signal == SIGTSTP ? SIGSTOP : SIGCONT);
  }
  if (signal == SIGCONT) input_paused_ = false;
}

void Launch::abandon(int status) {
  status_ = status_ ? status_ : status;
  ending_ = true;
  abandoned_ = true;
  signal_ranks(SIGKILL);
}

void Launch::take_start_failures() {
  StartFailure failure;
  while (read(failures_[0], &failure, sizeof failure) == static_cast<ssize_t>(sizeof failure)) {
    if (ending_ || failure.rank < 0 || static_cast<size_t>(failure.rank) >= ranks_.size()) continue;
    const Rank& rank = ranks_[static_cast<size_t>(failure.rank)];
    const bool spawned = rank.world != nullptr;
    const std::string why = why_not_started(*rank.program, *rank.path, failure, spawned);
    if (spawned) {
      fail_spawn(*rank.world, why);
      continue;
    }
    tell("cannot start rank " + std::to_string(failure.rank) + ": " + why);
    end_job(failure.step == StartFailure::exec && failure.error == ENOENT ? status_not_found : status_not_started);
  }
}

}  // namespace weft::mpiexec
