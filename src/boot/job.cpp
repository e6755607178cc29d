// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/job.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include "base/cpus.hpp"
#include "base/hex.hpp"
#include "base/lock.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/environment.hpp"
#include "boot/pmi1.hpp"
#include "boot/pmi2.hpp"
#include "boot/pmix.hpp"
#include "boot/rank_order.hpp"
#include "boot/segment.hpp"
#include "boot/status.hpp"

namespace weft::boot {
namespace {

// One job per process; what abort() needs is kept apart, since it may be called from anywhere.
constinit Space* space = nullptr;
constinit base::Lock space_lock;
constinit std::atomic<int> marked_fd{-1};  // the segment under mpiexec, where an abort is noted
constinit std::atomic<int> marked_rank{0};

[[noreturn]] void leave_process(int status) {
  // What the program printed belongs to the reader, but a stream that another thread holds must not keep us.
  if (ftrylockfile(stdout) == 0) {
    fflush_unlocked(stdout);
    funlockfile(stdout);
  }
  _exit(status);
}

// Exit statuses have eight bits; what is not zero must not become so.
int exit_status(int status) {
  return status == 0 || (status & 0xff) != 0 ? status & 0xff : 1;
}

void end_whole_job(int status) {
  status = exit_status(status);
  int fd = marked_fd.load(std::memory_order_acquire);
  if (fd >= 0) {
    // The launcher reads this line once we are gone. pwrite: nobody promises that the segment is mapped, or sized.
    uint32_t phase = static_cast<uint32_t>(Phase::aborted);
    off_t line = static_cast<off_t>(sizeof(RankStatus)) * marked_rank.load(std::memory_order_relaxed);
    (void)!pwrite(fd, &phase, sizeof phase, line + static_cast<off_t>(offsetof(RankStatus, phase)));
  }
  if (space) {
    usleep(50000);  // for the launcher to pass on what was said: Hydra drops it once it ends the job
    space->abort(status);
    usleep(200000);  // the launcher ends us; leaving at once would race with its reading of our line
  }
  leave_process(status);
}

[[noreturn]] void die_of_segment(const char* what, int error) {
  base::die(
      {.cause = std::string("the job's shared memory segment: ") + what,
       .error = error,
       .remedy = error == EMFILE || error == ENFILE ? "raise the limit of open files (ulimit -n)"
                 : error == EFBIG
                     ? "raise the limit of file sizes (ulimit -f): the segment counts as a file, though it is in memory"
                     : "start the program with Weft's mpiexec, with /proc mounted and "
                       "memfd_create allowed"});
}

void give_size(int fd, int size, size_t (*segment_bytes)(int)) {
  size_t bytes = std::max(segment_bytes(size), job_header_bytes(size));
  if (size_segment(fd, bytes)) return;
  if (errno == EINVAL) {
    base::die({.cause = "the ranks of this job do not agree on the size of their shared segment",
               .remedy = "give all ranks the same Weft library and the same WEFT_ settings"});
  }
  die_of_segment("it cannot be made large enough", errno);
}

// A rank's line can be taken once: a second process with the same rank would write over the first one's messages.
void take_rank(const Job& job) {
  off_t line = static_cast<off_t>(sizeof(RankStatus)) * job.rank;
  uint32_t head[2] = {};
  if (pread(job.segment_fd, head, sizeof head, line) != sizeof head) die_of_segment("it cannot be read", errno);
  uint32_t pid = static_cast<uint32_t>(getpid());
  if (head[1] != 0 && head[1] != pid) {
    base::die({.cause = "rank " + std::to_string(job.rank) + " of job " + job.id + " is process " +
                        std::to_string(head[1]) + " already, and this process inherited its environment",
               .remedy = "start one MPI program per rank; a program that a rank starts itself runs alone with "
                         "WEFT_LAUNCHER=singleton, or under an mpiexec of its own"});
  }
  if (pwrite(job.segment_fd, &pid, sizeof pid, line + static_cast<off_t>(offsetof(RankStatus, pid))) != sizeof pid) {
    die_of_segment("it cannot be written", errno);
  }
}

void join_mpiexec(Job& job, const Offer& offer, size_t (*segment_bytes)(int)) {
  job.id = offer.id;
  job.segment_fd = offer.fd;
  // Between mpiexec and us there may be a wrapper that closes descriptors.
  if (!is_segment(offer.fd) && !offer.address.empty()) job.segment_fd = open_segment(offer.address);
  if (!is_segment(job.segment_fd)) {
    base::die({.cause = std::string("the environment says that Weft's mpiexec started this process (") +
                        variable::segment_fd + "=" + std::to_string(offer.fd) +
                        "), but that descriptor is not the job's segment",
               .remedy = "a program that outlives its job, or that a rank starts itself, runs alone with "
                         "WEFT_LAUNCHER=singleton, or under an mpiexec of its own"});
  }
  fcntl(job.segment_fd, F_SETFD, FD_CLOEXEC);  // it is ours, not of programs this one starts
  give_size(job.segment_fd, job.size, segment_bytes);
  take_rank(job);
  marked_rank.store(job.rank, std::memory_order_relaxed);
  marked_fd.store(job.segment_fd, std::memory_order_release);
}

void join_alone(Job& job, size_t (*segment_bytes)(int)) {
  job.id = std::to_string(getpid());
  job.local_cpus = base::usable_cpus();
  job.segment_fd = create_segment(false);
  if (job.segment_fd < 0) die_of_segment("it cannot be created", errno);
  give_size(job.segment_fd, job.size, segment_bytes);
}

void must(bool done) {
  if (!done) base::die(space->problem());
}

// The keys of the start. What a rank says of itself: "host/processors"; where a host's segment is: "address/processors
// of all its ranks".
constexpr const char* host_key = "weft-host";
constexpr const char* segment_key = "weft-segment";
constexpr const char* secret_key = "weft-secret";

// Which processors we may use: "*" when the list is too long for the launcher.
std::string record_of(size_t longest) {
  std::string host = host_identity();
  std::string cpus = base::shown_cpu_list(base::affinity());
  if (cpus.empty() || host.size() + 1 + cpus.size() > longest) cpus = "*";
  return host + "/" + cpus;
}

struct Record {
  std::string host;
  std::string cpus;
};

Record record_of_rank(int rank) {
  std::string text;
  must(space->get(rank, host_key, text));
  const size_t slash = text.find('/');
  if (slash == std::string::npos) {
    base::die({.cause = "rank " + std::to_string(rank) + " published " + base::quoted(text) + ", which is no host",
               .remedy = "give all ranks the same Weft library"});
  }
  return {text.substr(0, slash), text.substr(slash + 1)};
}

std::string shown_host(const Record& record) {
  return base::quoted(record.host.substr(record.host.find('@') + 1));
}

// The ranks of this host. Where the launcher says who they are, a rank looks at the first of them alone, and that one
// at all; where it does not, every rank looks at every other.
std::vector<int> find_here(const Job& job) {
  std::vector<int> here;
  if (space->local_ranks(here)) return here;
  here.clear();
  const std::string host = host_identity();
  for (int rank = 0; rank < job.size; ++rank) {
    if (record_of_rank(rank).host == host) here.push_back(rank);
  }
  return here;
}

// How many processors the ranks of this host have together.
int look_at_all(const std::vector<int>& here) {
  base::CpuSet all;
  bool known = true;
  const std::string host = host_identity();
  for (int rank : here) {
    const Record record = record_of_rank(rank);
    if (record.host != host) {
      base::die({.cause = "the launcher says that ranks " + std::to_string(here.front()) + " and " +
                          std::to_string(rank) + " are on one host, but they are on " + shown_host({host, {}}) +
                          " and " + shown_host(record),
                 .remedy = "run the ranks of a host in one container, or give each container a host of its own in the "
                           "launcher's list"});
    }
    base::CpuSet cpus;
    known = known && base::parse_cpu_list(record.cpus, cpus).empty();
    all.add(cpus);
  }
  return base::usable_of(known ? all : base::affinity());
}

// Opens what the first rank of this host published.
void open_published(Job& job, int first) {
  std::string address;
  must(space->get(first, segment_key, address));
  size_t slash = address.find('/');
  int64_t cpus = 0;
  if (slash == std::string::npos || !base::parse_number(address.substr(slash + 1), base::Unit::none, cpus).empty() ||
      cpus < 1 || cpus > base::CpuSet::capacity) {
    base::die(
        {.cause = "rank " + std::to_string(first) + " published " + base::quoted(address) + ", which is no segment",
         .remedy = "give all ranks the same Weft library"});
  }
  job.local_cpus = static_cast<int>(cpus);
  job.segment_fd = open_segment(address.substr(0, slash));
  if (job.segment_fd < 0) {
    base::die({.cause = "rank " + std::to_string(job.rank) + " cannot open the segment of rank " +
                        std::to_string(first) + " (" + base::quoted(address) + ")",
               .error = errno,
               .remedy =
                   "ranks must be of one user and see each other's processes: run them in one container, or start "
                   "them with Weft's mpiexec"});
  }
}

std::string fresh_secret() {
  char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
    base::die({.cause = "the system gives no random numbers for the job's secret", .error = errno, .remedy = ""});
  }
  return base::to_hex({bytes, sizeof bytes});
}

// The launcher's number for each rank where the order of ranks is another than its own; otherwise empty.
std::vector<int> slot_of_rank;

int slot_of(int rank) {
  return slot_of_rank.empty() ? rank : slot_of_rank[static_cast<size_t>(rank)];
}

// The host of each slot, as any number: as the launcher has placed them, or, where it does not say, as all have
// published.
std::vector<int> hosts_of_slots(int size) {
  std::map<std::string, int> named;
  std::map<int64_t, int> numbered;
  const ProcessMapping& mapping = space->mapping();
  std::vector<int> hosts;
  hosts.reserve(static_cast<size_t>(size));
  for (int slot = 0; slot < size; ++slot) {
    hosts.push_back(mapping.known() ? numbered.try_emplace(mapping.node_of(slot), slot).first->second
                                    : named.try_emplace(record_of_rank(slot).host, slot).first->second);
  }
  return hosts;
}

// Gives every process the rank that WEFT_RANK_REORDER_METHOD wants: `slots` are those of this host, and become ranks.
void take_order(Job& job, std::vector<int>& slots) {
  const RankOrder method = wanted_rank_order();
  if (method == RankOrder::smp) return;
  const std::vector<int> host_of_slot = hosts_of_slots(job.size);
  std::vector<int> rank_of_slot;
  base::Problem problem;
  if (!reorder(method, host_of_slot, rank_of_slot, problem)) base::die(problem);
  slot_of_rank.resize(rank_of_slot.size());
  for (size_t slot = 0; slot < rank_of_slot.size(); ++slot) {
    slot_of_rank[static_cast<size_t>(rank_of_slot[slot])] = static_cast<int>(slot);
  }
  job.rank = rank_of_slot[static_cast<size_t>(job.rank)];
  base::set_speaker(job.rank);
  for (int& slot : slots) slot = rank_of_slot[static_cast<size_t>(slot)];
  std::sort(slots.begin(), slots.end());
}

Space* new_space(Launcher launcher) {
  switch (launcher) {
    case Launcher::pmix:
      return new Pmix;
    case Launcher::pmi2:
      return new Pmi2;
    default:
      return new Pmi1;
  }
}

// Every rank publishes its host. The first rank of each sees that all of them are on its own, and publishes where the
// others find the segment; it keeps the segment open until they have it, which the last barrier says.
void join_space(Job& job, Offer& offer, size_t (*segment_bytes)(int)) {
  space = new_space(offer.launcher);  // until leave(): abort() may need it at any time
  if (offer.port.empty()) base::set_speaker(offer.rank);
  bool begun = space->begin(offer);
  if (!begun && offer.launcher != job.launcher) {  // another protocol was found on the way
    delete space;
    space = new_space(offer.launcher);
    begun = space->begin(offer);
  }
  must(begun);
  job.launcher = offer.launcher;
  job.rank = offer.rank;
  job.size = offer.size;
  base::set_speaker(job.rank);
  job.id = offer.id.empty() ? space->id() : offer.id;
  job.app_number = space->app_number();
  job.universe_size = space->universe_size();
  if (job.size == 1) {
    std::string id = job.id;
    join_alone(job, segment_bytes);
    job.id = id;
    return;
  }
  must(space->put(host_key, record_of(space->longest_value())));
  if (job.rank == 0) must(space->put(secret_key, fresh_secret()));
  must(space->barrier());
  std::vector<int> here = find_here(job);
  job.local_ranks = static_cast<int>(here.size());
  const int first = here.front();
  if (job.rank == first) {
    job.local_cpus = look_at_all(here);
    job.segment_fd = create_segment(false);
    if (job.segment_fd < 0) die_of_segment("it cannot be created", errno);
    must(space->put(segment_key, segment_address(job.segment_fd) + "/" + std::to_string(job.local_cpus)));
  }
  must(space->barrier());
  if (job.rank != first) open_published(job, first);
  give_size(job.segment_fd, job.local_ranks, segment_bytes);
  take_order(job, here);
  if (job.local_ranks != job.size) {
    job.here = std::move(here);
    must(space->get(0, secret_key, job.secret));
  }
  must(space->barrier());
}

}  // namespace

Job join(size_t (*segment_bytes)(int size)) {
  base::load_settings();
  base::set_end_of_job(end_whole_job);
  Offer offer = read_environment();
  if (offer.bad) base::die(offer.problem);
  Job job{.rank = offer.rank, .size = offer.size, .launcher = offer.launcher};
  job.app_number = offer.app_number;
  job.universe_size = offer.universe_size;
  job.local_ranks = offer.local_ranks;
  job.local_cpus = offer.local_cpus ? offer.local_cpus : base::usable_cpus();
  switch (offer.launcher) {
    case Launcher::mpiexec:
      base::set_speaker(offer.rank);
      join_mpiexec(job, offer, segment_bytes);
      break;
    case Launcher::pmi1:
    case Launcher::pmi2:
    case Launcher::pmix:
      join_space(job, offer, segment_bytes);
      break;
    case Launcher::singleton:
      join_alone(job, segment_bytes);
      break;
  }
  return job;
}

int Job::place_here(int job_rank) const {
  if (here.empty()) return job_rank;
  const auto at = std::lower_bound(here.begin(), here.end(), job_rank);
  return at != here.end() && *at == job_rank ? static_cast<int>(at - here.begin()) : -1;
}

size_t longest_value() {
  return space->longest_value();
}

void publish(const std::string& key, const std::string& value) {
  std::lock_guard guard(space_lock);
  must(space->put(key, value));
}

std::string published(int rank, const std::string& key) {
  std::lock_guard guard(space_lock);
  std::string value;
  must(space->get(slot_of(rank), key, value));
  return value;
}

void barrier(void (*meanwhile)()) {
  must(space->start_barrier());
  for (bool over = false; !over; meanwhile()) must(space->end_barrier(false, over));
}

void leave(Job& /*job*/) {
  if (space) {
    Space* client = space;
    client->finish();
    space = nullptr;
    delete client;
  }
}

void abort(int status, const char* why) {
  if (why && *why) base::tell({.cause = why});
  base::end_job(status);
}

const char* name(Launcher launcher) {
  switch (launcher) {
    case Launcher::mpiexec:
      return "mpiexec";
    case Launcher::pmi1:
      return "PMI-1";
    case Launcher::pmi2:
      return "PMI-2";
    case Launcher::pmix:
      return "PMIx";
    default:
      return "singleton";
  }
}

}  // namespace weft::boot
