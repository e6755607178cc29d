// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/other_jobs.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/message.hpp"
#include "base/process.hpp"
#include "base/ticker.hpp"
#include "boot/segment.hpp"
#include "boot/service.hpp"
#include "boot/status.hpp"
#include "core/failure.hpp"
#include "core/progress.hpp"
#include "core/settings.hpp"
#include "core/world.hpp"

namespace weft::core {
namespace {

struct OtherJob {
  std::string id;
  int32_t first = 0;  // its block
  int32_t places = 0;
  int launcher = -1;  // its mpiexec's process, readable when that has ended
  void* header = nullptr;
  size_t header_bytes = 0;
};

// A process that we share communicators with.
struct Shared {
  int32_t communicators = 0;
  uint32_t generation = 0;
  bool suspected = false;  // it was lost at the last look
};

constinit std::mutex mutex;  // of what changes; jobs are read without it
constinit std::atomic<OtherJob*> jobs[boot::job_numbers] = {};
constinit std::map<int32_t, Shared>* shared = nullptr;
constinit base::Ticker* ticker = nullptr;
constinit std::atomic<bool> met = false;

OtherJob* job_of(int32_t rank) {
  const auto block = static_cast<uint32_t>(rank) >> boot::job_shift;
  return block < boot::job_numbers ? jobs[block].load(std::memory_order_acquire) : nullptr;
}

int32_t place_in(int32_t rank) {
  return rank - block_of(rank);
}

bool has_ended(const OtherJob& job) {
  pollfd p{job.launcher, POLLIN, 0};
  return poll(&p, 1, 0) > 0;
}

boot::RankStatus& line_of(const OtherJob& job, int32_t rank) {
  return boot::status_of(job.header, place_in(rank));
}

// In MPI_Finalize a process may leave before us, once it sees that we are on our way.
bool is_leaving() {
  const auto phase = world->line_at(world->place_here()).phase.load(std::memory_order_relaxed);
  return phase == static_cast<uint32_t>(boot::Phase::leaving);
}

enum class Being { there, left, lost };

Being being_of(const OtherJob& job, int32_t rank, uint32_t generation) {
  const bool ended = has_ended(job);  // before its last word is read
  const boot::RankStatus& line = line_of(job, rank);
  if (line.generation.load(std::memory_order_acquire) != generation) return is_leaving() ? Being::left : Being::lost;
  switch (static_cast<boot::Phase>(line.phase.load(std::memory_order_acquire))) {
    case boot::Phase::finalized:
      return Being::left;
    case boot::Phase::lost:
    case boot::Phase::aborted:
      return Being::lost;
    case boot::Phase::leaving:
      return ended ? Being::lost : Being::left;
    default:
      return ended ? Being::lost : Being::there;
  }
}

// With need for another look. A process that has left the last communicator that it shared with ours may end in any
// way, and we may be on our way out of it: so one that is lost is looked at twice.
bool tick() {
  const std::lock_guard guard(mutex);
  if (shared == nullptr) return false;
  for (auto& [rank, with] : *shared) {
    const OtherJob* const job = job_of(rank);
    if (job == nullptr || being_of(*job, rank, with.generation) != Being::lost) continue;
    if (!std::exchange(with.suspected, true)) continue;
    const uint32_t pid = line_of(*job, rank).pid.load(std::memory_order_relaxed);
    peer_lost(rank, {.cause = "a process of job " + job->id + " (pid " + std::to_string(pid) +
                              "), which this process is connected with, has ended without MPI_Finalize",
                     .remedy = "see the messages of that job; MPI_Comm_disconnect makes two jobs independent"});
  }
  return !shared->empty();
}

// With the lock: none of its ranks is used any more.
void forget(OtherJob* job) {
  jobs[job->first >> boot::job_shift].store(nullptr, std::memory_order_release);
  for (int32_t place = 0; place < job->places; ++place) world->forget(job->first + place);
  world->transports.drop_job(job->first);
  munmap(job->header, job->header_bytes);
  close(job->launcher);
  delete job;
}

bool is_shared_with(const OtherJob& job) {
  if (shared == nullptr) return false;
  const auto at = shared->lower_bound(job.first);
  return at != shared->end() && at->first < job.first + job.places;
}

// Those that have ended and that nothing connects us with; with the lock.
void forget_ended() {
  for (auto& each : jobs) {
    OtherJob* const job = each.load(std::memory_order_relaxed);
    if (job != nullptr && has_ended(*job) && !is_shared_with(*job)) forget(job);
  }
}

// "cause (errno). Remedy: ..."
std::string why_not(const std::string& id, int error, const char* what, const char* remedy) {
  return base::describe({.cause = "the job " + (id.empty() ? std::string("of the other process") : id) + " " + what,
                         .error = error,
                         .remedy = remedy});
}

constexpr const char* same_host =
    "processes of two jobs connect on one host, as one user; between hosts, start both programs with one mpiexec";

// Asks its mpiexec, and maps the head of its memory. `made` is filled in; the descriptor of its segment is the result,
// -1: why not.
int visit(int number, OtherJob& made, std::string& why) {
  constexpr int patience_s = 10;
  boot::Packet answer;
  if (!boot::ask_launcher(
          boot::door_of_job(number), boot::Packet().put(boot::request::visit), answer, [] { (void)progress(); },
          patience_s)) {
    why = why_not(made.id, errno, "is not on this host, or has ended", same_host);
    return -1;
  }
  const bool refused = answer.take_number(0, 1) != 0;
  why = answer.take_text();
  const std::string id = answer.take_text();
  made.places = static_cast<int32_t>(answer.take_number(1, boot::most_places_of_a_job));
  const int64_t started = answer.take_number(1, made.places);
  const std::string address = answer.take_text();
  if (refused) return -1;
  if (answer.is_bad() || (!made.id.empty() && made.id != id)) {
    why = why_not(made.id, 0, answer.is_bad() ? "answers in another way than this version of Weft" : "has ended",
                  answer.is_bad() ? "give both jobs the same Weft" : "start it again, and give its new port");
    return -1;
  }
  made.id = id;
  const int segment = boot::open_segment(address);
  made.launcher = base::open_process(boot::process_in(address));
  made.header_bytes = boot::job_header_bytes(made.places);
  if (segment >= 0 && made.launcher >= 0)
    made.header = mmap(nullptr, made.header_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment, 0);
  if (made.header == nullptr || made.header == MAP_FAILED) {
    why = why_not(made.id, errno, "cannot be reached through /proc and pidfd_open",
                  "it takes Linux 5.3, and both jobs in one namespace of processes");
    made.header = nullptr;
    if (segment >= 0) close(segment);
    return -1;
  }
  const uint64_t alike = boot::status_of(made.header, 0).alike.load(std::memory_order_relaxed);
  if (alike == world->line_at(0).alike.load(std::memory_order_relaxed) &&
      mailbox_bytes(started) == static_cast<int64_t>(world->mailbox_limit) &&
      world->transports.add_job(made.first, made.places, segment))
    return segment;
  why = why_not(made.id, 0, "runs with other settings, or is much larger than this one",
                "give both jobs the same WEFT_ settings of memory, messages and collective operations");
  close(segment);
  return -1;
}

}  // namespace

int32_t renumbered(int32_t rank, int32_t teller) {
  return teller < world->places ? rank : rank ^ block_of(teller);
}

int32_t rank_in_job(int number, int32_t place) {
  return ((number ^ world->job.number) << boot::job_shift) + place;
}

int32_t number_for_all(int32_t rank) {
  return rank ^ (world->job.number << boot::job_shift);
}

int32_t ranks_of_all_jobs() {
  const bool has_room = world->job.one_host() && world->job.can_grow() && world->places <= boot::most_places_of_a_job;
  return has_room ? boot::job_numbers << boot::job_shift : world->places;
}

std::string meet_job(int number, const std::string& id, int32_t place) {
  const int ours = world->job.number;
  if (ours == 0 || !world->transports.takes_jobs())
    return "this job cannot be connected with others: it has no number, as more than " +
           std::to_string(boot::job_numbers - 1) +
           " jobs of this user run on this host, or no room (mpiexec --universe)";
  if (number < 1 || number >= boot::job_numbers || place < 0 || place >= boot::most_places_of_a_job)
    return "that names no job";
  const int32_t first = rank_in_job(number, 0);
  if (first == 0 && !id.empty() && id != world->job.id)
    return why_not(id, 0, "is not on this host, or has ended", same_host);
  if (first == 0) return place < world->places ? "" : "that names no process";
  const std::lock_guard guard(mutex);
  if (OtherJob* const known = job_of(first); known != nullptr) {
    if (!has_ended(*known) && (id.empty() || known->id == id))
      return place < known->places ? "" : "that names no process";
    if (is_shared_with(*known)) return why_not(known->id, 0, "has ended", "free what is shared with it first");
    forget(known);
  }
  forget_ended();
  auto made = std::make_unique<OtherJob>();
  made->id = id;
  made->first = first;
  std::string why;
  if (visit(number, *made, why) < 0) {
    if (made->header != nullptr) munmap(made->header, made->header_bytes);
    if (made->launcher >= 0) close(made->launcher);
    return why;
  }
  if (place >= made->places) why = "that names no process";
  jobs[first >> boot::job_shift].store(made.release(), std::memory_order_release);
  met.store(true, std::memory_order_relaxed);
  return why;
}

std::string meet_jobs_of(const std::vector<int32_t>& ranks) {
  for (const int32_t rank : ranks) {
    if (rank >= 0 && rank < world->places) continue;
    const int number = (rank >> boot::job_shift) ^ world->job.number;
    if (std::string why = meet_job(number, "", place_in(rank)); !why.empty()) return why;
  }
  return {};
}

bool has_met_jobs() {
  return met.load(std::memory_order_relaxed);
}

bool is_of_known_job(int32_t rank) {
  const OtherJob* const job = job_of(rank);
  return job != nullptr && place_in(rank) < job->places;
}

boot::RankStatus* line_of_other(int32_t rank) {
  return is_of_known_job(rank) ? &line_of(*job_of(rank), rank) : nullptr;
}

bool share_with_other(int32_t rank, int32_t by) {
  const std::lock_guard guard(mutex);
  if (shared == nullptr) shared = new std::map<int32_t, Shared>;
  Shared& with = (*shared)[rank];
  const bool before = with.communicators != 0;
  with.communicators += by;
  const bool after = with.communicators != 0;
  if (!after) shared->erase(rank);
  if (!after || before) return before != after;
  const boot::RankStatus* const line = line_of_other(rank);
  with.generation = line != nullptr ? line->generation.load(std::memory_order_acquire) : 0;
  if (ticker == nullptr) ticker = new base::Ticker(std::chrono::milliseconds(100), 1, tick);
  if (!ticker->start()) {
    out_of_memory({.cause = "no thread to look after the processes of another job", .remedy = "raise ulimit -u"});
  }
  ticker->need();
  return true;
}

bool others_leave() {
  const std::lock_guard guard(mutex);
  if (shared == nullptr) return true;
  return std::all_of(shared->begin(), shared->end(), [](const auto& each) {
    const OtherJob* const job = job_of(each.first);
    return job == nullptr || being_of(*job, each.first, each.second.generation) == Being::left;
  });
}

void leave_other_jobs() {
  base::Ticker* gone = nullptr;
  {
    const std::lock_guard guard(mutex);
    std::swap(gone, ticker);
  }
  delete gone;
  const std::lock_guard guard(mutex);
  delete std::exchange(shared, nullptr);
  for (auto& each : jobs) {
    if (OtherJob* const job = each.load(std::memory_order_relaxed); job != nullptr) forget(job);
  }
}

}  // namespace weft::core
