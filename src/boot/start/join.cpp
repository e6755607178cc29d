// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/start/join.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "base/cpus.hpp"
#include "base/descriptor.hpp"
#include "base/hex.hpp"
#include "base/lock.hpp"
#include "base/message.hpp"
#include "base/own_cpus.hpp"
#include "base/setting.hpp"
#include "boot/connect/address_exchange.hpp"
#include "boot/connect/fd_passing.hpp"
#include "boot/connect/job_number.hpp"
#include "boot/connect/own_launcher.hpp"
#include "boot/connect/packet.hpp"
#include "boot/connect/service.hpp"
#include "boot/job/environment.hpp"
#include "boot/job/notes.hpp"
#include "boot/job/rank_order.hpp"
#include "boot/job/reserve.hpp"
#include "boot/job/segment.hpp"
#include "boot/job/status.hpp"
#include "boot/pmi/hydra_listener.hpp"
#include "boot/pmi/pmi1.hpp"
#include "boot/pmi/pmi2.hpp"
#include "boot/pmi/pmix.hpp"
#include "boot/pmi/pmix_library.hpp"
#include "boot/start/host_notes.hpp"
#include "boot/start/spare_places.hpp"

namespace weft::boot {
namespace {

// One job per process; the data of abort() are kept apart, since it may be called from anywhere.
constinit Kvs* kvs = nullptr;
constinit Spares spares;
constinit base::Lock kvs_lock;
constinit std::atomic<const base::Descriptor*> marked{nullptr};  // the segment, where an abort is noted
constinit std::atomic<int> marked_rank{0};
constinit std::atomic<int> places_to_end{0};  // of the segment: no launcher ends their processes after say_done()
constinit std::atomic<void (*)()> act_before_end{nullptr};

[[noreturn]] void leave_process(int status) {
  // The reader should see the program's output, but a stream that another thread holds must not keep us.
  if (ftrylockfile(stdout) == 0) {
    fflush_unlocked(stdout);
    funlockfile(stdout);
  }
  _exit(status);
}

// Exit statuses have eight bits; a status other than zero must not become zero.
int exit_status(int status) {
  return status == 0 || (status & 0xff) != 0 ? status & 0xff : 1;
}

// Another launcher does not end a job for a process that it believes to be done.
void end_ranks_here(int segment) {
  const auto space_here = static_cast<uint32_t>(namespace_of_processes());
  for (int place = 0; place < places_to_end.load(std::memory_order_relaxed); ++place) {
    uint32_t line[sizeof(RankStatus) / sizeof(uint32_t)] = {};
    if (pread(segment, line, sizeof line, static_cast<off_t>(sizeof line) * place) != sizeof line) return;
    const auto pid = static_cast<pid_t>(line[offsetof(RankStatus, pid) / sizeof *line]);
    const bool takes_part = line[0] == static_cast<uint32_t>(Phase::initialised) &&
                            line[offsetof(RankStatus, pid_space) / sizeof *line] == space_here;
    if (takes_part && pid > 0 && pid != getpid()) (void)kill(pid, SIGTERM);
  }
}

// A word of the line of a place; 0 where there is none. Nobody promises that the segment is mapped here, or sized.
uint32_t word_of(int segment, int place, size_t offset) {
  uint32_t word = 0;
  const off_t at = static_cast<off_t>(sizeof(RankStatus)) * place + static_cast<off_t>(offset);
  return pread(segment, &word, sizeof word, at) == sizeof word ? word : 0;
}

// The place of the rank that ends the job before others do: this one's, unless another rank of its world has come
// first.
int first_to_end(int segment, int place) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  struct stat facts {};
  if (fstat(segment, &facts) != 0 || facts.st_size < static_cast<off_t>(page)) return place;
  void* const head = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, segment, 0);
  if (head == MAP_FAILED) return place;
  std::atomic<uint32_t>& word = status_of(head, 0).first_aborted;
  const uint32_t world = word_of(segment, place, offsetof(RankStatus, world));
  uint32_t first = word.load();
  while (first == 0 || word_of(segment, static_cast<int>(first - 1), offsetof(RankStatus, world)) != world) {
    if (word.compare_exchange_strong(first, static_cast<uint32_t>(place) + 1)) first = static_cast<uint32_t>(place) + 1;
  }
  munmap(head, page);
  return static_cast<int>(first - 1);
}

// Whether this process says why the job ends. Another rank that came first says so for all; it gets the time to.
bool tells_of_end() {
  const base::Descriptor* const segment = marked.load(std::memory_order_acquire);
  if (segment == nullptr) return true;
  const int place = marked_rank.load(std::memory_order_relaxed), first = first_to_end(segment->number(), place);
  if (first == place) return true;
  for (int milliseconds = 0; milliseconds < 1000; ++milliseconds) {
    const uint32_t phase = word_of(segment->number(), first, offsetof(RankStatus, phase));
    if (phase == static_cast<uint32_t>(Phase::aborted)) return false;
    usleep(1000);
  }
  return true;
}

void end_whole_job(int status) {
  status = exit_status(status);
  if (void (*act)() = act_before_end.load(std::memory_order_acquire)) act();
  const base::Descriptor* const segment = marked.load(std::memory_order_acquire);
  if (segment != nullptr) {
    // The launcher reads this line once we are gone. pwrite: nobody promises that the segment is mapped, or sized.
    uint32_t phase = static_cast<uint32_t>(Phase::aborted);
    const int place = marked_rank.load(std::memory_order_relaxed);
    off_t line = static_cast<off_t>(sizeof(RankStatus)) * place;
    (void)first_to_end(segment->number(), place);
    (void)!pwrite(segment->number(), &phase, sizeof phase, line + static_cast<off_t>(offsetof(RankStatus, phase)));
    end_ranks_here(segment->number());
  }
  if (kvs) {
    usleep(50000);  // for the launcher to pass the message on: Hydra drops it once it ends the job
    kvs->abort(status);
    usleep(200000);  // the launcher ends us; leaving at once would race with its reading of our line
    // It has not: this host may be cut off from it. Hydra's proxy ends the ranks here when it sees the end of a
    // connection, but not when it has seen the end of the process before, so the process ends later.
    kvs->hang_up();
    usleep(200000);
  }
  leave_process(status);
}

void give_size(const base::Descriptor& segment, int size, size_t (*segment_bytes)(int)) {
  size_t bytes = std::max(segment_bytes(size), head_bytes(size));
  if (size_segment(segment.needed(), bytes)) return;
  if (errno == EINVAL) {
    base::die({.cause = "the ranks of this job do not agree on the size of their shared segment",
               .remedy = "give all ranks the same Weft library and the same WEFT_ settings"});
  }
  die_of_segment("it cannot be made large enough", errno);
}

// A rank's line can be taken once: a second process with the same rank would write over the first one's messages.
void take_rank(const Job& job) {
  off_t line = static_cast<off_t>(sizeof(RankStatus)) * job.place_here(job.rank);
  uint32_t head[2] = {};
  const int segment = job.segment.needed();
  if (pread(segment, head, sizeof head, line) != sizeof head) die_of_segment("it cannot be read", errno);
  uint32_t pid = static_cast<uint32_t>(getpid());
  if (head[1] != 0 && head[1] != pid) {
    base::die({.cause = "rank " + std::to_string(job.rank) + " of job " + job.id + " is process " +
                        std::to_string(head[1]) + " already, and this process inherited its environment",
               .remedy = "start one MPI program per rank; a program that a rank starts itself runs alone with "
                         "WEFT_LAUNCHER=singleton, or under an mpiexec of its own"});
  }
  const auto put = [&](uint32_t value, size_t field) {
    if (pwrite(segment, &value, sizeof value, line + static_cast<off_t>(field)) != sizeof value)
      die_of_segment("it cannot be written", errno);
  };
  put(static_cast<uint32_t>(namespace_of_processes()), offsetof(RankStatus, pid_space));
  put(pid, offsetof(RankStatus, pid));
}

// An abort of this process is noted in its line of the segment, which its launcher reads.
void mark(const Job& job) {
  marked_rank.store(job.place_here(job.rank), std::memory_order_relaxed);
  static base::Descriptor segment;
  segment = job.segment;
  marked.store(&segment, std::memory_order_release);
}

// The host of each slot, as any number, of a job on several hosts whose launcher does not say.
std::vector<int> published_hosts;

// A spawned process, which no launcher but ours knows. Places become ranks.
void learn_of_hosts(Job& job, const Offer& offer) {
  Packet answer;
  const Packet question = Packet().put(request::describe).put(offer.rank).put(offer.generation);
  const bool told = ask_launcher(job.service, question, answer, [] {}) && answer.take_number(0, 0) == 0;
  (void)answer.take_text();
  if (!told || !take_description(job, answer.take_text(), offer.rank, published_hosts)) {
    base::die({.cause = "mpiexec does not tell this spawned process of its job's hosts",
               .error = told ? 0 : errno,
               .remedy = "see whether it still runs, and is of the library's version"});
  }
  job.number = 0;
  job.first = job.rank_at(job.first);
  job.origin.root = job.rank_at(job.origin.root);
}

void make_segment(Job& job) {
  const int made = create_segment(false);
  if (made < 0) die_of_segment("it cannot be created", errno);
  job.segment = keep_segment(made, {});
}

void join_mpiexec(Job& job, const Offer& offer, size_t (*segment_bytes)(int)) {
  job.id = offer.id;
  job.places = offer.places;
  job.service = offer.service;
  job.number = number_of_socket(job.service);
  if (offer.spawned) {
    job.size = offer.world_size;
    job.first = offer.world_first;
    job.generation = offer.generation;
    job.origin = offer.origin;
  }
  if (offer.several_hosts) learn_of_hosts(job, offer);
  int segment = offer.fd;
  // Between mpiexec and us there may be a wrapper that closes descriptors.
  if (!is_segment(offer.fd) && !offer.address.empty()) segment = open_segment(offer.address);
  if (!is_segment(segment)) {
    base::die({.cause = std::string("the environment says that Weft's mpiexec started this process (") +
                        variable::segment_fd + "=" + std::to_string(offer.fd) +
                        "), but that descriptor is not the job's segment",
               .remedy = "a program that outlives its job, or that a rank starts itself, runs alone with "
                         "WEFT_LAUNCHER=singleton, or under an mpiexec of its own"});
  }
  base::set_own_cpus(offer.rank_cpus, offer.service_cpus);
  job.segment = keep_segment(segment, offer.address);
  fcntl(segment, F_SETFD, FD_CLOEXEC);  // it is ours, not of programs this one starts
  give_size(job.segment, job.places_here(), segment_bytes);
  take_rank(job);
  mark(job);
}

// The segment has spare places, which cost nothing, for a launcher of ours that the process may start later.
void join_alone(Job& job, size_t (*segment_bytes)(int)) {
  job.places = job.size + usual_spare_places(job.size);
  const base::CpuSet mask = base::affinity();
  leave_reserve(reserve_of({&mask, 1}), true);
  job.local_cpus = base::usable_cpus();
  make_segment(job);
  give_size(job.segment, job.places, segment_bytes);
  take_rank(job);
  mark(job);
}

void must(bool done) {
  if (!done) base::die(kvs->problem());
}

// The notes of the ranks of this host, until leave(); nullptr: a launcher without a key-value space, or a job of one
// rank.
constinit HostNotes* ours = nullptr;

// The keys of the start, beside secret_key: where a host's segment is ("host/address"), and, if the launcher does not
// say which ranks share a host, each rank's host.
constexpr const char* host_key = "weft-host";
constexpr const char* segment_key = "weft-segment";

std::string host_of_rank(int rank) {
  std::string host;
  must(kvs->get(rank, host_key, host));
  if (host.find('@') == std::string::npos) {
    base::die({.cause = "rank " + std::to_string(rank) + " published " + base::quoted(host) + ", which is no host",
               .remedy = "give all ranks the same Weft library"});
  }
  return host;
}

std::string shown_host(const std::string& host) {
  return base::quoted(host.substr(host.find('@') + 1));
}

// Every rank looks at every other.
std::vector<int> find_here(const Job& job) {
  std::vector<int> here;
  const std::string host = host_identity();
  for (int rank = 0; rank < job.size; ++rank) {
    if (host_of_rank(rank) == host) here.push_back(rank);
  }
  return here;
}

// Opens the segment that the first rank of this host published.
void open_published(Job& job, int first) {
  std::string record;
  must(kvs->get(first, segment_key, record));
  const size_t slash = record.find('/');
  if (slash == std::string::npos) {
    base::die(
        {.cause = "rank " + std::to_string(first) + " published " + base::quoted(record) + ", which is no segment",
         .remedy = "give all ranks the same Weft library"});
  }
  const std::string host = record.substr(0, slash);
  if (host != host_identity()) {
    base::die({.cause = "the launcher says that ranks " + std::to_string(first) + " and " + std::to_string(job.rank) +
                        " are on one host, but they are on " + shown_host(host) + " and " + shown_host(host_identity()),
               .remedy = "run the ranks of a host in one container, or give each container a host of its own in the "
                         "launcher's list"});
  }
  const std::string place = record.substr(slash + 1);
  const size_t colon = std::min(place.rfind(':'), place.size());
  const std::string address = place.substr(0, colon);
  int segment = open_segment(address);
  if (segment < 0) {  // we do not see its process
    const int error = errno;
    segment = receive_fd(place.substr(std::min(colon + 1, place.size())));
    if (segment >= 0 && !is_segment_at(segment, address)) {
      close(segment);
      segment = -1;
    }
    errno = error;
  }
  if (segment < 0) {
    base::die({.cause = "rank " + std::to_string(job.rank) + " cannot open the segment of rank " +
                        std::to_string(first) + " (" + base::quoted(address) + ")",
               .error = errno,
               .remedy =
                   "ranks must be of one user, and see each other's processes or share the host's network: run them in "
                   "one container, or start them with Weft's mpiexec"});
  }
  job.segment = keep_segment(segment, address);
}

std::string fresh_secret() {
  char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
    base::die({.cause = "the system gives no random numbers for the job's secret", .error = errno, .remedy = ""});
  }
  return base::to_hex({bytes, sizeof bytes});
}

// The places of the segment, before `job.here` is set.
int places_here(const Job& job) {
  return job.local_ranks == job.size ? job.places : job.local_ranks + job.spare;
}

bool speaks_for_all() {
  return ours != nullptr && ours->speak_for_all();
}

// The launcher's number for each rank where the order of ranks is another than its own; otherwise empty.
std::vector<int> slot_of_rank;

int slot_of(int rank) {
  return slot_of_rank.empty() ? rank : slot_of_rank[static_cast<size_t>(rank)];
}

int host_of_slot(int slot) {
  if (published_hosts.empty()) return static_cast<int>(kvs->mapping().node_of(slot));
  return published_hosts[static_cast<size_t>(slot)];
}

void look_at_hosts(const Job& job) {
  if (job.local_ranks == job.size || kvs->mapping().known()) return;
  std::map<std::string, int> numbers;
  for (int slot = 0; slot < job.size; ++slot) {
    published_hosts.push_back(numbers.try_emplace(host_of_rank(slot), slot).first->second);
  }
}

// For what all processes of a job find alike: the first slot says it and ends the job, and with it the others, which
// wait for that. The first of a host speaks, and then its others, when the job has not ended: a file may differ there.
[[noreturn]] void die_as_others(const Job& job, const std::vector<int>& slots, const base::Problem& problem) {
  constexpr unsigned host_seconds = 3;
  constexpr unsigned rank_seconds = 10;
  if (job.rank != 0) sleep(job.rank == slots.front() ? host_seconds : rank_seconds);
  base::die(problem);
}

// Gives every process the rank that WEFT_RANK_REORDER_METHOD wants: `slots` are those of this host, and become ranks.
void take_order(Job& job, std::vector<int>& slots) {
  const RankOrder method = wanted_rank_order();
  if (method == RankOrder::smp) return;
  std::vector<int> hosts(static_cast<size_t>(job.size), 0);
  if (job.local_ranks != job.size) {
    for (int slot = 0; slot < job.size; ++slot) hosts[static_cast<size_t>(slot)] = host_of_slot(slot);
  }
  std::vector<int> rank_of_slot;
  base::Problem problem;
  if (!reorder(method, hosts, rank_of_slot, problem)) die_as_others(job, slots, problem);
  slot_of_rank.resize(rank_of_slot.size());
  for (size_t slot = 0; slot < rank_of_slot.size(); ++slot) {
    slot_of_rank[static_cast<size_t>(rank_of_slot[slot])] = static_cast<int>(slot);
  }
  job.rank = rank_of_slot[static_cast<size_t>(job.rank)];
  base::set_message_rank(job.rank);
  for (int& slot : slots) slot = rank_of_slot[static_cast<size_t>(slot)];
  std::sort(slots.begin(), slots.end());
}

Kvs* new_kvs(Launcher launcher) {
  switch (launcher) {
    case Launcher::pmix:
      return new Pmix;
    case Launcher::pmi2:
      return new Pmi2;
    default:
      return new Pmi1;
  }
}

// The first rank of each host publishes where the others find the segment; it keeps the segment open until they have
// it. If the launcher does not say which ranks share a host, every rank publishes its own before.
void join_by_kvs(Job& job, Offer& offer, size_t (*segment_bytes)(int), bool (*may_grow)()) {
  if (offer.launcher != Launcher::pmix) close_hydras_listener();
  kvs = new_kvs(offer.launcher);  // until leave(): abort() may need it at any time
  if (offer.port.empty()) base::set_message_rank(offer.rank);
  bool begun = kvs->begin(offer);
  if (!begun && offer.launcher != job.launcher) {  // another protocol was found on the way
    delete kvs;
    kvs = new_kvs(offer.launcher);
    begun = kvs->begin(offer);
  }
  must(begun);
  job.launcher = offer.launcher;
  job.rank = offer.rank;
  job.size = offer.size;
  base::set_message_rank(job.rank);
  job.id = offer.id.empty() ? kvs->id() : offer.id;
  job.app_number = kvs->app_number();
  job.universe_size = offer.universe_size > 0 ? std::max(offer.universe_size, job.size) : kvs->universe_size();
  if (job.size == 1) return join_alone(job, segment_bytes);
  std::vector<int> here;
  const bool placed = kvs->local_ranks(here);
  const bool all_here = placed && here.size() == static_cast<size_t>(job.size);
  if (!all_here && !kvs->mapping().known()) {
    must(kvs->put(host_key, host_identity()));
    must(kvs->barrier());
    if (!placed) here = find_here(job);
  }
  job.local_ranks = static_cast<int>(here.size());
  const int first = here.front();
  ListeningSocket socket;
  if (job.rank == first) {
    make_segment(job);
    if (job.local_ranks > 1) socket.open();
    must(kvs->put(segment_key, host_identity() + "/" + segment_address(job.segment.needed()) + ":" + socket.name()));
  }
  if (job.rank == 0) must(kvs->put(secret_key, fresh_secret()));
  must(kvs->barrier());
  if (job.rank != first) open_published(job, first);
  const bool one_host = job.local_ranks == job.size;
  job.places = job.size + (one_host ? usual_spare_places(job.size) : 0);
  job.spare = one_host || job.size > most_ranks_that_grow || !may_grow() ? 0 : spare_on_each_host;
  give_size(job.segment, places_here(job), segment_bytes);
  ours = new HostNotes(*kvs, job, here, places_here(job));
  ours->meet(job, socket);
  look_at_hosts(job);
  take_order(job, here);
  if (!one_host) job.here = std::move(here);
  job.started = job.size;
  if (job.spare != 0) number_spare_places(job, [](int rank) { return host_of_slot(slot_of(rank)); });
  take_rank(job);
  mark(job);
}

}  // namespace

Job join(size_t (*segment_bytes)(int size), bool (*may_grow)()) {
  base::load_settings();
  tell_of_unused_order_file();
  base::set_end_of_job({tells_of_end, end_whole_job});
  Offer offer = read_environment([] { return pmix::load(nullptr) != nullptr; });
  if (offer.bad) base::die(offer.problem);
  Job job{.rank = offer.rank, .size = offer.size, .launcher = offer.launcher};
  job.app_number = offer.app_number;
  job.universe_size = offer.universe_size;
  job.local_ranks = offer.local_ranks;
  job.local_cpus = offer.local_cpus ? offer.local_cpus : base::usable_cpus();
  job.started = offer.size;
  switch (offer.launcher) {
    case Launcher::mpiexec:
      base::set_message_rank(offer.rank);
      join_mpiexec(job, offer, segment_bytes);
      break;
    case Launcher::pmi1:
    case Launcher::pmi2:
    case Launcher::pmix:
      join_by_kvs(job, offer, segment_bytes, may_grow);
      break;
    case Launcher::singleton:
      job.id = std::to_string(getpid());
      join_alone(job, segment_bytes);
      break;
  }
  if (!has_own_launcher(job.launcher)) job.started = job.size;
  spares = {.started = job.one_host() ? INT32_MAX : job.started, .spare = job.spare};
  return job;
}

size_t longest_value() {
  constexpr size_t of_spawned = 1024;
  return kvs != nullptr ? kvs->longest_value() : of_spawned;
}

void publish(const std::string& key, const std::string& value) {
  add_own_address(key, value);
  std::lock_guard guard(kvs_lock);
  if (kvs == nullptr) return;
  if (speaks_for_all()) return ours->write(key, value);
  must(kvs->put(key, value));
}

std::string published(int rank, const std::string& key) {
  if (kvs == nullptr || rank >= spares.started) return known_address(rank, key);
  std::lock_guard guard(kvs_lock);
  const int slot = slot_of(rank);
  if (speaks_for_all()) return ours->value_of(slot, key);
  std::string value;
  must(kvs->get(slot, key, value));
  return value;
}

int host_of(int rank) {
  return rank < spares.started ? host_of_slot(slot_of(rank)) : host_of_spare(spares, rank);
}

void barrier(void (*meanwhile)()) {
  if (speaks_for_all()) ours->publish(meanwhile);
  must(kvs->start_barrier());
  for (bool over = false; !over; meanwhile()) must(kvs->end_barrier(false, over));
}

namespace {

void finish_kvs() {
  Kvs* client = kvs;
  client->finish();
  kvs = nullptr;
  delete client;
}

}  // namespace

HostPage& host_page() {
  HostPage* page = ours->host_page();
  if (page == nullptr) die_of_segment("a page of it cannot be had", errno);
  return *page;
}

void before_end(void (*act)()) {
  act_before_end.store(act, std::memory_order_release);
}

void say_done(Job& job) {
  if (job.launcher == Launcher::singleton) leave_own_launcher(job);
  if (kvs == nullptr || !job.one_host()) return;
  places_to_end.store(job.places, std::memory_order_relaxed);
  finish_kvs();
}

void leave(Job& job) {
  leave_own_launcher(job);
  if (kvs) finish_kvs();
  delete ours;
  ours = nullptr;
}

void abort(int status, const char* why) {
  if (why && *why && tells_of_end()) base::tell({.cause = why});
  base::end_job(exit_status(status));  // nothing else shortens it in a process that is in no job
}

}  // namespace weft::boot
