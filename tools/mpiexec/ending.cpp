// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The ends of ranks: which of them failed and how, the ranks that end with them, and the end of the job.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/clock.hpp"
#include "base/setting.hpp"
#include "boot/job/status.hpp"
#include "mpiexec/abi.hpp"
#include "mpiexec/launch.hpp"
#include "mpiexec/orphans.hpp"

namespace weft::mpiexec {
namespace {

constexpr uint64_t grace_ns = 250'000'000;  // between SIGTERM and SIGKILL
// A program that starts MPI does so in less time after its library was loaded.
constexpr uint64_t long_enough_ns = 300'000'000;

// "ranks 0..3, 5": another rank behind those that are listed, in order.
void add_rank(std::string& ranks, int number) {
  const std::string before = std::to_string(number - 1);
  if (ranks.empty()) {
    ranks = "rank " + std::to_string(number);
    return;
  }
  if (ranks.starts_with("rank ")) ranks.replace(0, 5, "ranks ");
  const size_t last = ranks.find_last_of(" .") + 1;
  if (ranks.substr(last) != before) {
    ranks += ", " + std::to_string(number);
  } else if (ranks[last - 1] == '.') {
    ranks.replace(last, std::string::npos, std::to_string(number));
  } else {
    ranks += ".." + std::to_string(number);
  }
}

}  // namespace

uint32_t Launch::phase_of(int rank) const {
  uint32_t phase = 0;
  off_t line =
      static_cast<off_t>(sizeof(boot::RankStatus)) * rank + static_cast<off_t>(offsetof(boot::RankStatus, phase));
  return pread(segment_, &phase, sizeof phase, line) == sizeof phase ? phase : 0;
}

// Whether a process has taken the rank, in MPI_Init or its like.
bool Launch::has_joined(int rank) const {
  uint32_t pid = 0;
  const off_t line =
      static_cast<off_t>(sizeof(boot::RankStatus)) * rank + static_cast<off_t>(offsetof(boot::RankStatus, pid));
  return pread(segment_, &pid, sizeof pid, line) == sizeof pid && pid != 0;
}

// Ranks that ended before look_for_other_mpi() could see them: the libraries that their programs need tell of them.
void Launch::tell_other_library() {
  const Program* program = nullptr;  // one for all: others were most likely built alike
  std::string why, ranks;
  if (attached_ != nullptr || abandoned_ || started_other_mpi_) return;
  for (int number = 0; number < command_.ranks(); ++number) {
    const Rank& rank = ranks_[static_cast<size_t>(number)];
    if (rank.pid <= 0 || has_joined(number) || rank.only_loads_mpi) continue;
    if (rank.program != program && why.empty()) {
      program = rank.program;
      why = other_library(command_, *program);
    }
    if (rank.program == program && !why.empty()) add_rank(ranks, number);
  }
  if (program == nullptr || why.empty()) return;
  tell(ranks + ": the program " + base::quoted_path(program->words[0]) + " " + why);
  err_.drain(base::now_ns() + 1'000'000'000);
}

// Ranks that have joined are looked at no more; the first that has started another library is told of.
void Launch::look_for_other_mpi(uint64_t now) {
  if (attached_ != nullptr || now < looks_.due()) return;
  bool all_joined = true;
  for (int number = 0; number < command_.ranks(); ++number) {
    Rank& rank = ranks_[static_cast<size_t>(number)];
    if (!rank.alive || has_joined(number)) continue;
    all_joined = false;
    const OtherMpi other = find_other_mpi(rank.pid);
    if (!other.file.empty() && rank.mpi_loaded_ns == 0) rank.mpi_loaded_ns = now;
    rank.only_loads_mpi = rank.mpi_loaded_ns != 0 && now - rank.mpi_loaded_ns >= long_enough_ns;
    if (other.pid == 0) continue;
    const bool is_open_mpi = other.standard == "Open MPI";
    tell("rank " + std::to_string(number) + ": process " + std::to_string(other.pid) + " (" + other.process +
         ") has started another MPI library, " + base::quoted_path(other.file) + " (" + other.standard +
         "), and is a job of one rank there. Remedy: " +
         (is_open_mpi ? "compile the program with Weft's mpicc"
                      : "take away the path, DT_RPATH or variable that leads to that file: mpiexec leads to Weft's "
                        "library of that name"));
    started_other_mpi_ = true;
    return looks_.end();
  }
  if (all_joined) return looks_.end();
  looks_.looked(now, base::now_ns());
}

// For ranks that wait for it to come.
void Launch::note_gone(int rank) const {
  const auto status = static_cast<uint32_t>(1 + WEXITSTATUS(ranks_[static_cast<size_t>(rank)].wait_status));
  const off_t line =
      static_cast<off_t>(sizeof(boot::RankStatus)) * rank + static_cast<off_t>(offsetof(boot::RankStatus, gone));
  (void)!pwrite(segment_, &status, sizeof status, line);
}

// For processes of other jobs that are connected with it.
void Launch::note_lost(int rank) const {
  const auto phase = static_cast<uint32_t>(boot::Phase::lost);
  const off_t line =
      static_cast<off_t>(sizeof(boot::RankStatus)) * rank + static_cast<off_t>(offsetof(boot::RankStatus, phase));
  (void)!pwrite(segment_, &phase, sizeof phase, line);
}

Launch::Failure Launch::failure_of(const Rank& rank) const {
  if (rank.left) return Failure::none;
  if (WIFSIGNALED(rank.wait_status)) return Failure::killed;
  auto phase = static_cast<boot::Phase>(phase_of(static_cast<int>(&rank - ranks_.data())));
  if (phase == boot::Phase::aborted) return Failure::aborted;
  if (WEXITSTATUS(rank.wait_status) != 0) return Failure::status;
  return phase == boot::Phase::initialised || phase == boot::Phase::leaving ? Failure::unfinished : Failure::none;
}

void Launch::reap() {
  std::vector<int> ended;
  take_start_failures();
  for (;;) {
    int status = 0;
    pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid <= 0) break;
    auto found = std::find_if(ranks_.begin(), ranks_.end(),
                              [&](const Rank& rank) { return rank.alive && !rank.adopted && rank.pid == pid; });
    if (found == ranks_.end()) continue;  // an orphan of a rank
    found->wait_status = status;
    ended.push_back(static_cast<int>(found - ranks_.begin()));
  }
  if (std::any_of(ended.begin(), ended.end(),
                  [this](int number) { return failure_of(ranks_[static_cast<size_t>(number)]) == Failure::aborted; })) {
    await_first_aborted(ended);
  }
  take_ends(ended);
}

// The place of the rank that ended the job before others did; -1: none is known to.
int Launch::first_aborted() const {
  uint32_t word = 0;
  const bool known = pread(segment_, &word, sizeof word, offsetof(boot::RankStatus, first_aborted)) == sizeof word;
  return known && word != 0 && word <= ranks_.size() ? static_cast<int>(word - 1) : -1;
}

// The rank that ended the job first is about to end, if it has not: it is the one to name.
void Launch::await_first_aborted(std::vector<int>& ended) {
  const int first = first_aborted();
  if (first < 0) return;
  Rank& rank = ranks_[static_cast<size_t>(first)];
  if (!rank.alive || rank.adopted || std::find(ended.begin(), ended.end(), first) != ended.end()) return;
  const uint64_t until = base::now_ns() + grace_ns;
  do {
    if (waitpid(rank.pid, &rank.wait_status, WNOHANG) == rank.pid) return ended.push_back(first);
    usleep(1000);
  } while (base::now_ns() < until);
}

void Launch::take_ends(const std::vector<int>& ended) {
  std::vector<std::pair<Failure, int>> failed;
  for (const int number : ended) ranks_[static_cast<size_t>(number)].alive = false;
  alive_ -= static_cast<int>(ended.size());
  for (const int number : ended) {
    if (number == 0) end_input();
    end_port_waits(number);
    Failure its = failure_of(ranks_[static_cast<size_t>(number)]);
    const auto phase = static_cast<boot::Phase>(phase_of(number));
    if (its == Failure::none && phase == boot::Phase::started) note_gone(number);
    if (its != Failure::none && phase != boot::Phase::finalized && phase != boot::Phase::left) note_lost(number);
    if (!takes_as_failed_spawn(number, its) && its != Failure::none) failed.emplace_back(its, number);
  }
  // The worst speaks for those that are connected with it.
  const int first = first_aborted();
  std::sort(failed.begin(), failed.end(), [first](const auto& one, const auto& other) {
    return std::tuple(one.first, one.second != first, one.second) <
           std::tuple(other.first, other.second != first, other.second);
  });
  for (const auto& [failure, number] : failed) {
    if (!ending_ && !ranks_[static_cast<size_t>(number)].ending) report(number, failure);
  }
  for (const int number : ended) {
    cut_ties(number);
    meetings_.remove_if([number](const Meeting& m) { return m.places[0] == number || m.places[1] == number; });
  }
  end_vain_accepts();
  if (alive_ == 0 && !orphans_since_) orphans_since_ = base::now_ns();
}

// A process that ends before it is in MPI_Init belongs to the call that spawned it.
bool Launch::takes_as_failed_spawn(int number, Failure failure) {
  const Rank& rank = ranks_[static_cast<size_t>(number)];
  if (rank.world == nullptr || ending_ || rank.world->ready == rank.world->size) return false;
  if (rank.world->failed || rank.ending) return true;
  fail_spawn(*rank.world,
             "a process of " + base::quoted_path(rank.program->words[0]) + " (pid " + std::to_string(rank.pid) + ") " +
                 (failure == Failure::none ? "ended" : how_it_ended(number, failure)) +
                 " before all were in MPI_Init. Remedy: see its output; spawned programs must call MPI_Init");
  return true;
}

// "3", or "2.1", rank 1 of spawned world 2.
std::string Launch::short_label_of(int number) const {
  const World* const world = ranks_[static_cast<size_t>(number)].world;
  if (world == nullptr) return std::to_string(number);
  return std::to_string(world->number) + "." + std::to_string(number - world->first);
}

// "rank 3", "rank 1 of spawned world 2".
std::string Launch::label_of(int number) const {
  const World* const world = ranks_[static_cast<size_t>(number)].world;
  if (world == nullptr) return "rank " + std::to_string(number);
  return "rank " + std::to_string(number - world->first) + " of spawned world " + std::to_string(world->number);
}

std::string Launch::how_it_ended(int number, Failure failure) const {
  const Rank& rank = ranks_[static_cast<size_t>(number)];
  if (rank.adopted) return failure == Failure::aborted ? "ended the job" : "ended without MPI_Finalize";
  switch (failure) {
    case Failure::killed: {
      int signal = WTERMSIG(rank.wait_status);
      const char* description = strsignal(signal);
      return "was killed by signal " + std::to_string(signal) + " (" + (description ? description : "unknown") +
             (WCOREDUMP(rank.wait_status) ? ", core dumped)" : ")");
    }
    case Failure::aborted:
      return "ended the job with status " + std::to_string(WEXITSTATUS(rank.wait_status));
    case Failure::unfinished:
      return "exited after MPI_Init without calling MPI_Finalize, or with an open session";
    default:
      return "exited with status " + std::to_string(WEXITSTATUS(rank.wait_status));
  }
}

void Launch::report(int number, Failure failure) {
  const Rank& rank = ranks_[static_cast<size_t>(number)];
  int status = WIFSIGNALED(rank.wait_status) ? 128 + WTERMSIG(rank.wait_status) : WEXITSTATUS(rank.wait_status);
  if (failure == Failure::unfinished) status = 1;
  if (rank.adopted && alive_ == 0) return;  // the shell tells of it
  // Its last output comes before our message about it.
  for (Stream& stream : ranks_[static_cast<size_t>(number)].streams) {
    for (int reads = 0; stream.fd >= 0 && reads < 16; ++reads) {
      pollfd p{stream.fd, POLLIN, 0};
      if (poll(&p, 1, 0) <= 0) break;
      read_stream(stream);
    }
  }
  if (failure == Failure::killed && WTERMSIG(rank.wait_status) == passed_on_) {
    if (!command_.quiet) tell(std::string("the job was ended by a signal to mpiexec (") + strsignal(passed_on_) + ")");
    (void)end_connected(number, status);
  } else {
    const char* const consequence = end_connected(number, status)
                                        ? (command_.ranks() > 1 || rank.world != nullptr ? "; the job is ended" : "")
                                        : "; the processes connected with it are ended";
    tell(label_of(number) + " (pid " + std::to_string(rank.pid) + ", host " + host_ + ", program " +
         rank.program->words[0] + ") " + how_it_ended(number, failure) + consequence);
  }
}

void Launch::signal_ranks(int signal) {
  for (const Rank& rank : ranks_) {
    if (rank.alive) signal_rank(rank, signal);
  }
}

void Launch::end_job(int status) {
  if (ending_) return;
  ending_ = true;
  status_ = status;
  signal_ranks(SIGTERM);
  signal_ranks(SIGCONT);  // a stopped process must run to end
  kill_at_ = base::now_ns() + grace_ns;
}

// Ends the processes that one that has failed was connected with; false: others go on.
bool Launch::end_connected(int number, int status) {
  if (status_ == 0) status_ = status;
  int others = alive_;
  for (const int place : connected_with(number)) {
    Rank& rank = ranks_[static_cast<size_t>(place)];
    rank.ending = true;
    if (!rank.alive) continue;
    --others;
    end_port_waits(place);
    signal_rank(rank, SIGTERM);
    signal_rank(rank, SIGCONT);
  }
  kill_at_ = base::now_ns() + grace_ns;
  if (others == 0) ending_ = true;
  return others == 0;
}

void Launch::check_clocks(uint64_t now) {
  if (timeout_at_ && now >= timeout_at_ && !ending_ && alive_ > 0) {
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%g", static_cast<double>(command_.timeout_us) / 1e6);
    const auto known = std::max<int64_t>(command_.ranks(), alive_);
    tell(std::string("the job did not end within ") + seconds + " s (--timeout); " + std::to_string(alive_) + " of " +
         std::to_string(known) + " ranks were running; the job is ended");
    tell_why(Standstill::look());
    end_job(status_timeout);
  }
  if (!ending_ && alive_ > 0 && now >= standstill_.due()) {
    const std::string why = standstill_.look_after_delay(now);
    if (!why.empty()) tell(hang_sentence);
    tell_why(why);
  }
  if (!ending_ && alive_ > 0) look_for_other_mpi(now);
  if (kill_at_ && now >= kill_at_) {
    for (const Rank& rank : ranks_) {
      if (rank.alive && (ending_ || rank.ending)) signal_rank(rank, SIGKILL);
    }
    kill_at_ = 0;
  }
}

// Processes that ranks started and left behind; killing one may make its children ours, so this repeats until none is
// left.
void Launch::end_orphans(uint64_t now) {
  bool patient = now < orphans_since_ + grace_ns && !abandoned_;
  for (pid_t pid : own_children()) kill(pid, patient ? SIGTERM : SIGKILL);
  reap();
}

bool Launch::finished() const {
  if (alive_ > 0) return false;
  if (!own_children().empty()) return false;
  if (abandoned_) return true;
  for (const Rank& rank : ranks_) {
    for (const Stream& stream : rank.streams) {
      if (stream.fd >= 0) return false;
    }
  }
  return !out_.wants_to_write() && !err_.wants_to_write();
}

}  // namespace weft::mpiexec
