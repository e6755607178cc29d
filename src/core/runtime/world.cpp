// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/world.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/clock.hpp"
#include "base/copy_threads.hpp"
#include "base/own_cpus.hpp"
#include "base/setting.hpp"
#include "boot/connect/own_launcher.hpp"
#include "boot/job/segment.hpp"
#include "boot/job/status.hpp"
#include "boot/start/join.hpp"
#include "core/dynamic/meeting.hpp"
#include "core/dynamic/processes.hpp"
#include "core/lane/lane.hpp"
#include "core/lane/progress_hooks.hpp"
#include "core/message/handler.hpp"
#include "core/message/send_now.hpp"
#include "core/message/send_queue.hpp"
#include "core/message/unexpected.hpp"
#include "core/object/failure.hpp"
#include "core/object/hosts.hpp"
#include "core/object/identity.hpp"
#include "core/object/other_jobs.hpp"
#include "core/object/settings.hpp"
#include "core/peer/peer.hpp"
#include "core/progress/progress_thread.hpp"
#include "core/protocol/p2p.hpp"
#include "core/thread/stamp.hpp"
#include "core/thread/thread.hpp"
#include "core/thread/waits.hpp"
#include "pages/wish.hpp"
#include "transport/api/failure.hpp"
#include "transport/api/memory.hpp"

namespace weft::core {

namespace {
World process_world;
}
constinit World* world = &process_world;
constinit Identity* identity = &process_world.identity;
constinit ThreadList* threads = &process_world.threads;
constinit Waits* waits = &process_world.waits;
constinit Lanes* lanes = &process_world.lanes;
constinit Peers* peers = &process_world.peers;

namespace {

constexpr const char* design_names[] = {"global", "object", "hot"};
constinit base::ChoiceSetting design{
    {.name = "WEFT_THREAD_DESIGN",
     .help = "how threads share the runtime: one lock, a lane for each communicator, or lanes for all",
     .subject = base::Subject::lanes,
     .change = base::Change::before_start},
    static_cast<int>(Design::hot),
    design_names,
    3};
WEFT_SETTING(design);

constinit base::IntSetting lane_count{{.name = "WEFT_LANES",
                                       .help = "independent paths into a process at MPI_THREAD_MULTIPLE, rounded up to "
                                               "a power of two; 0: as many as its share of the processors",
                                       .unit = base::Unit::count,
                                       .level = base::SettingLevel::basic,
                                       .subject = base::Subject::lanes,
                                       .change = base::Change::before_start},
                                      0,
                                      {0, transport::max_lanes}};
WEFT_SETTING(lane_count);

constexpr const char* connect_names[] = {"first", "start"};
constinit base::ChoiceSetting connect_setting{
    {.name = "WEFT_CONNECT",
     .help = "when a rank makes the way to another: at the first message to it, or to all of them at the start",
     .subject = base::Subject::start,
     .change = base::Change::before_start},
    0,
    connect_names,
    2};
WEFT_SETTING(connect_setting);

size_t header_bytes() {
  return boot::job_header_bytes(identity->places_here());
}

void map_header() {
  void* const header =
      mmap(nullptr, header_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, identity->job.segment.needed(), 0);
  if (header == MAP_FAILED) {
    failed(FailureCause::start, {.cause = "cannot map the head of the job's shared memory",
                                 .error = errno,
                                 .remedy = "raise the limit on address space (ulimit -v)"});
  }
  identity->status_lines = header;
}

int32_t own_cpus() {
  return std::max(base::own_cpus().count(), 1);
}

transport::LaneMap make_lane_map(bool several_threads, Design how, int32_t cpu_share) {
  if (how == Design::global || (transport::shares_endpoints() && !identity->job.one_host())) return {};
  const auto wanted = static_cast<uint32_t>(lane_count.value() != 0 ? lane_count.value() : cpu_share);
  const uint32_t count = std::bit_ceil(std::min(wanted, transport::max_lanes));
  const uint32_t spread = how == Design::hot ? ~0u : 0;
  return {several_threads ? count - 1 : 0, spread};
}

void close_lanes() {
  for (uint32_t i = 0; i < lanes->map.lanes(); ++i) {
    Lane& lane = lanes->all[i];
    lane.ring = nullptr;
    while (Unexpected* u = lane.matcher.first_unexpected()) {  // sent, and never received
      lane.matcher.remove(u);
      free_unexpected(u);
    }
    while (Unexpected* u = lane.free_unexpected) {
      lane.free_unexpected = u->next;
      std::free(u);
    }
    lane.free_unexpected_count = 0;
    lane.matcher.close();
    close_work(lane);
    std::free(lane.chunk);
    lane.chunk = nullptr;
  }
}

// "h2 (ranks 2, 3 and 7)", of a host with many ranks "h2 (ranks 0 to 127)" or "h2 (64 ranks from 0 on)".
std::string shown_host() {
  char name[256] = "";
  (void)gethostname(name, sizeof name - 1);
  const std::vector<int>& here = identity->job.here;
  const auto count = static_cast<int>(here.size());
  std::string text = name;
  if (count == 1) return text + " (rank " + std::to_string(here.front()) + ")";
  constexpr int few = 4;
  if (count > few && here.back() - here.front() == count - 1) {
    return text + " (ranks " + std::to_string(here.front()) + " to " + std::to_string(here.back()) + ")";
  }
  if (count > few) return text + " (" + std::to_string(count) + " ranks from " + std::to_string(here.front()) + " on)";
  text += " (ranks ";
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "" : i == count - 1 ? " and " : ", ") + std::to_string(here[static_cast<size_t>(i)]);
  }
  return text + ")";
}

// The first ranks of all hosts, in order.
std::vector<int> first_ranks() {
  const auto hosts = find_hosts(identity->rank, identity->size, [](int32_t rank) { return boot::host_of(rank); });
  if (hosts != nullptr) return {hosts->first_ranks(), hosts->first_ranks() + hosts->count()};
  std::vector<int> all(static_cast<size_t>(identity->size));  // each has a host to itself
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void open_transports() {
  peers->transports.open({.rank = identity->rank,
                          .ranks = identity->places,
                          .place = identity->place_here(),
                          .places = identity->places_here(),
                          .place_of = [job = &identity->job](int rank) { return job->place_here(rank); },
                          .generation = identity->job.generation,
                          .segment = identity->job.segment,
                          .lanes = lanes->map,
                          .own_sink = on_counted_arrival,
                          .watched = boot::has_own_launcher(identity->job.launcher) ? 0 : identity->job.local_ranks,
                          .block = ranks_of_all_jobs() > identity->places ? boot::most_places_of_a_job : 0});
  Backoff::tune(identity->job.local_ranks, identity->job.local_cpus);
  if (identity->job.one_host()) return;
  const bool late = identity->first != 0;
  peers->transports.open_hosts(
      {.secret = identity->job.secret,
       .sleeps = !Backoff::spins(),
       .threads = threads->concurrent,
       .directory = {boot::publish, boot::published, boot::longest_value(), [] { boot::barrier([] {}); }},
       .first_here = identity->job.host(),
       .host = shown_host(),
       .first_ranks = first_ranks,
       .page = late ? nullptr : &boot::host_page(),
       .late = late});
}

// A message that does not leave is for a process that is not there any more.
void send_the_last() {
  constexpr uint64_t most_ns = 2'000'000'000;
  const uint64_t until_ns = base::now_ns() + most_ns;
  while (!peers->transports.all_sent() && base::now_ns() < until_ns) (void)progress();
}

// Messages of ours may still be on their way, and others may need our help with theirs. That is done together once:
// afterwards ranks come and go as they like.
void leave_hosts() {
  const bool afar = !identity->job.one_host();
  if (!afar || world->hosts_left) {
    if (afar || knows_far_jobs()) send_the_last();
    return;
  }
  world->hosts_left = true;
  wait_until([] { return peers->transports.all_sent(); });
  peers->transports.leave();
  if (identity->first != 0) return;  // spawned: the launcher does not know us
  boot::barrier([] {
    (void)progress();
    look_around(base::now_ns());
  });
  peers->transports.say_goodbye();
}

// Ranks that choose other algorithms than others would wait for messages that nobody sends. The ranks of a host compare
// in their segment, whose first line takes the number of whoever comes first; hosts compare with rank 0.
class Agreement {
 public:
  explicit Agreement(uint64_t ours) : ours_(ours) {
    if (!identity->job.one_host() && identity->place_here() == 0) boot::publish(key, published());
  }

  void check_here() const {
    if (!boot::reserve_segment(identity->job.segment.needed(), 0, sizeof(boot::RankStatus))) {
      failed(FailureCause::start, {.cause = "no memory for the head of the job's shared memory",
                                   .error = errno,
                                   .remedy = "free memory on this host, or raise the job's memory limit"});
    }
    boot::RankStatus& first = identity->line_at(0);
    uint64_t theirs = 0;
    if (first.alike.compare_exchange_strong(theirs, ours_, std::memory_order_relaxed) || theirs == ours_) return;
    if (first.told.exchange(1, std::memory_order_relaxed) != 0) ::sleep(2);  // another says so, and ends the job
    disagree(identity->job.one_host() ? "another rank" : "another rank of its host");
  }

  // After a barrier of the launcher.
  void check_hosts() const {
    if (identity->job.one_host() || identity->rank == 0 || identity->place_here() != 0) return;
    if (boot::published(0, key) != published()) disagree("rank 0");
  }

 private:
  static constexpr const char* key = "alike";
  // Short: records of hosts go through the launcher in pieces.
  std::string published() const { return std::to_string(static_cast<uint32_t>(ours_)); }

  [[noreturn]] static void disagree(const char* other) {
    failed(FailureCause::start,
           {.cause = "rank " + std::to_string(identity->rank) +
                     " would choose other algorithms in collective operations than " + other,
            .remedy = "give all ranks the same settings (WEFT_COLL_LEADERS, WEFT_DEVICES, WEFT_REPRODUCIBLE, "
                      "WEFT_TUNING, those that end in _ALGORITHM "
                      "or _SHORT_MSG), and all hosts the same file of WEFT_TUNING"});
  }

  uint64_t ours_;
};

// Connects all ranks, for programs in which all send to all. Each begins behind itself, so that not all ask for the
// same rank.
void connect_all() {
  const int32_t own = identity->rank - identity->first;
  for (int32_t i = 0; i < identity->size; ++i) (void)peers->of(identity->first + (own + i) % identity->size);
}

}  // namespace

void start(bool multiple, uint64_t (*alike)()) {
  transport::set_failure_sink([](int rank, const base::Problem& problem) {
    if (rank == transport::no_peer) failed(FailureCause::transport, problem);
    if (is_far(rank)) return far_way_lost(rank, problem);
    if (!has_parted(rank)) failed(FailureCause::peer, rank, problem);
  });
  identity->job = boot::join(transport::segment_bytes, [] { return !transport::shares_endpoints(); });
  identity->rank = identity->job.rank;
  identity->size = identity->job.size;
  identity->places = identity->job.places;
  if (const std::string wrong = pages::check_settings(); !wrong.empty()) {
    failed(FailureCause::start, {.cause = wrong, .remedy = "see docs/guide/memory.md and weft info memory"});
  }
  const Agreement agreement(alike());
  map_header();
  agreement.check_here();
  const auto how = static_cast<Design>(design.value());
  const int cpus = own_cpus();
  const int cpu_share = std::clamp(identity->job.local_cpus / std::max(identity->job.local_ranks, 1), 1, cpus);
  const bool by_thread = wants_progress_thread(identity->job.local_ranks, identity->job.local_cpus);
  world->open({.rank = identity->job.rank,
               .size = identity->job.size,
               .first = identity->job.first,
               .places = identity->job.places,
               .multiple = multiple,
               .concurrent = multiple || by_thread,
               .design = how,
               .cpus = cpus,
               .cpu_share = cpu_share,
               .mailbox_limit = static_cast<uint32_t>(mailbox_bytes(identity->job.started)),
               .lane_map = make_lane_map(multiple, how, cpu_share)});
  open_transports();
  agreement.check_hosts();
  for (uint32_t i = 0; i < lanes->map.lanes(); ++i) lanes->all[i].ring = peers->transports.inlined_ring(i);
  boot::set_phase(identity->status_lines, identity->place_here(), boot::Phase::initialised);
  identity->running = true;
  if (by_thread) start_progress_thread();
  if (connect_setting.value() == 1) connect_all();
}

void rest() {
  wait_until([&] { return lanes->sends_open() == 0 && peers->queues_waiting.load() == 0; });
  end_progress_thread();
  leave_hosts();
  leave_other_jobs();
  base::end_copy_threads();
  boot::say_done(identity->job);
  boot::set_phase(identity->status_lines, identity->place_here(), boot::Phase::finalized);
  identity->rests = true;
}

void resume() {
  identity->rests = false;
  boot::set_phase(identity->status_lines, identity->place_here(), boot::Phase::initialised);
  peers->transports.resume();
  if (wants_progress_thread(identity->job.local_ranks, identity->job.local_cpus)) start_progress_thread();
}

void stop() {
  if (!identity->rests) rest();
  identity->running = false;
  boot::leave(identity->job);
  boot::set_phase(identity->status_lines, identity->place_here(), boot::Phase::left);
  munmap(identity->status_lines, header_bytes());
  world->close();
  peers->transports.close();
}

World* enter(World* entered) {
  World* const before = std::exchange(world, entered);
  identity = &entered->identity;
  threads = &entered->threads;
  waits = &entered->waits;
  lanes = &entered->lanes;
  peers = &entered->peers;
  return before;
}

void World::open(const Config& config) {
  identity.rank = config.rank;
  identity.size = config.size;
  identity.first = config.first;
  identity.places = config.places != 0 ? config.places : config.size;
  identity.cpus = config.cpus;
  identity.cpu_share = config.cpu_share;
  threads.multiple = config.multiple;
  threads.concurrent = config.concurrent;
  threads.design = config.design;
  peers.mailbox_limit = config.mailbox_limit;
  lanes.map = config.lane_map;
  waits.spin_rounds = config.spin_rounds;
  waits.yield_rounds = config.yield_rounds;
  peers.open(ranks_of_all_jobs());
  open_handlers();
  open_stamps();
  open_threads();
  for (uint32_t i = 0; i < lanes.map.lanes(); ++i) {
    Lane& lane = lanes.all[i];
    lane.index = i;
    lanes.addresses[i] = &lane;
    lane.matcher.open();
    if (threads.concurrent) lane.matcher.share(lanes.map.parts());
  }
}

void World::close() {
  peers.close();
  close_lanes();
  close_threads();
}

boot::RankStatus& Identity::line_at(int32_t place) const {
  return boot::status_of(status_lines, place);
}

}  // namespace weft::core
