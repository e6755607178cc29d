// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/job.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/cpus.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/environment.hpp"
#include "boot/pmi1.hpp"
#include "boot/segment.hpp"
#include "boot/status.hpp"

namespace weft::boot {
namespace {

// One job per process; what abort() needs is kept apart, since it may be called from anywhere.
constinit Pmi1* pmi = nullptr;
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
  if (pmi) {
    usleep(50000);  // for the launcher to pass on what was said: Hydra drops it once it ends the job
    pmi->abort(status);
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
  if (!done) base::die(pmi->problem());
}

std::string key_of(int rank) {
  return "weft-" + std::to_string(rank);
}

// "host/cpus": who publishes it and which processors it may use, "*" when the list is too long for the launcher.
std::string record_of(size_t longest) {
  std::string host = host_identity();
  std::string cpus = base::shown_cpu_list(base::affinity());
  if (cpus.empty() || host.size() + 1 + cpus.size() > longest) cpus = "*";
  return host + "/" + cpus;
}

// The leader looks at everybody's record: one host, and how many processors all ranks have together.
int look_at_all(int size, const std::string& mine) {
  std::string host = mine.substr(0, mine.find('/'));
  base::CpuSet all;
  bool known = true;
  for (int rank = 0; rank < size; ++rank) {
    std::string record = mine;
    if (rank > 0) must(pmi->get(key_of(rank), record));
    size_t slash = record.find('/');
    if (slash == std::string::npos) {
      base::die({.cause = "rank " + std::to_string(rank) + " published " + base::quoted(record) + ", which is no host",
                 .remedy = "give all ranks the same Weft library"});
    }
    if (record.substr(0, slash) != host) {
      base::die({.cause = "rank 0 is on host " + host.substr(host.find('@') + 1) + " and rank " + std::to_string(rank) +
                          " on host " + base::quoted(record.substr(0, slash).substr(record.find('@') + 1)) +
                          "; messages between hosts are not there yet",
                 .remedy = "start all ranks on one host, as with mpiexec -host localhost"});
    }
    base::CpuSet cpus;
    known = known && base::parse_cpu_list(record.substr(slash + 1), cpus).empty();
    all.add(cpus);
  }
  return base::usable_of(known ? all : base::affinity());
}

// Every rank publishes its host. Rank 0 sees that all are on its own, and publishes where the others find the segment;
// it keeps the segment open until they have it, which the last barrier says.
void join_pmi1(Job& job, Offer& offer, size_t (*segment_bytes)(int)) {
  pmi = new Pmi1;  // until leave(): abort() may need it at any time
  Pmi1& client = *pmi;
  if (offer.port.empty()) base::set_speaker(offer.rank);
  must(client.begin(offer));
  job.rank = offer.rank;
  job.size = offer.size;
  job.local_ranks = offer.size;
  base::set_speaker(job.rank);
  job.id = offer.id.empty() ? client.space() : offer.id;
  job.app_number = client.app_number();
  job.universe_size = client.universe_size();
  if (job.size == 1) {
    std::string id = job.id;
    join_alone(job, segment_bytes);
    job.id = id;
    return;
  }
  std::string mine = record_of(client.longest_value());
  if (job.rank != 0) must(client.put(key_of(job.rank), mine));
  must(client.barrier());
  if (job.rank == 0) {
    job.local_cpus = look_at_all(job.size, mine);
    job.segment_fd = create_segment(false);
    if (job.segment_fd < 0) die_of_segment("it cannot be created", errno);
    must(client.put(key_of(0), segment_address(job.segment_fd) + "/" + std::to_string(job.local_cpus)));
    must(client.barrier());
  } else {
    must(client.barrier());
    std::string address;
    must(client.get(key_of(0), address));
    size_t slash = address.find('/');
    int64_t cpus = 0;
    if (slash == std::string::npos || !base::parse_number(address.substr(slash + 1), base::Unit::none, cpus).empty() ||
        cpus < 1 || cpus > base::CpuSet::capacity) {
      base::die({.cause = "rank 0 published " + base::quoted(address) + ", which is no segment",
                 .remedy = "give all ranks the same Weft library"});
    }
    job.local_cpus = static_cast<int>(cpus);
    job.segment_fd = open_segment(address.substr(0, slash));
    if (job.segment_fd < 0) {
      base::die({.cause = "rank " + std::to_string(job.rank) + " cannot open the segment of rank 0 (" +
                          base::quoted(address) + ")",
                 .error = errno,
                 .remedy =
                     "ranks must be of one user and see each other's processes: run them in one container, or start "
                     "them with Weft's mpiexec"});
    }
  }
  give_size(job.segment_fd, job.size, segment_bytes);
  must(client.barrier());
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
      join_pmi1(job, offer, segment_bytes);
      break;
    case Launcher::singleton:
      join_alone(job, segment_bytes);
      break;
  }
  return job;
}

void leave(Job& job) {
  if (job.launcher == Launcher::pmi1 && pmi) {
    Pmi1* client = pmi;
    client->finish();
    pmi = nullptr;
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
    default:
      return "singleton";
  }
}

}  // namespace weft::boot
