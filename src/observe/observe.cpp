// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "observe/observe.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "base/bytes.hpp"
#include "base/cpus.hpp"
#include "base/file.hpp"
#include "base/lock.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "base/ticker.hpp"
#include "base/ticks.hpp"
#include "core/lane/counters.hpp"
#include "core/object/identity.hpp"
#include "core/protocol/p2p.hpp"
#include "core/thread/idle.hpp"
#include "device/api/traffic.hpp"
#include "observe/block.hpp"
#include "observe/statistics.hpp"
#include "stats/energy.hpp"
#include "stats/file.hpp"
#include "stats/gather.hpp"
#include "stats/level.hpp"
#include "stats/machine.hpp"
#include "stats/text.hpp"

namespace weft::observe {

constinit thread_local Observer own_observer;
constinit Observation observation;

namespace {

constinit base::TextSetting descriptor{{.name = stats::descriptor_variable,
                                        .help = "descriptor of the job's counters of calls",
                                        .level = base::SettingLevel::internal}};
WEFT_SETTING(descriptor);

constexpr int tag = 0x7e58;

std::atomic<uint32_t> blocks_taken[stats::own_blocks];
pthread_key_t at_exit;

// The next thread goes on counting in the block.
void leave_block(void* taken) {
  static_cast<std::atomic<uint32_t>*>(taken)->store(0, std::memory_order_release);
  own_observer = {};
  core::own_idle = nullptr;
}

bool reserve(const void* memory, size_t bytes) {
  const auto offset = static_cast<off_t>(stats::area_bytes(observation.area->head.size)) * observation.place +
                      (static_cast<const char*>(memory) - reinterpret_cast<const char*>(observation.area));
  return posix_fallocate(observation.file.number(), offset, static_cast<off_t>(bytes)) == 0;
}

void use_blocks(int count) {
  const std::atomic_ref used(observation.area->head.blocks_used);
  const auto wanted = static_cast<uint32_t>(count);
  for (uint32_t now = used.load(); now < wanted && !used.compare_exchange_weak(now, wanted);) continue;
}

// mpiexec's file; -1: there is none.
int inherited_file() {
  int64_t fd = -1;
  const char* text = descriptor.value();
  if (core::identity->job.launcher != boot::Launcher::mpiexec || *text == '\0') return -1;
  if (!base::parse_number(text, base::Unit::none, fd).empty() || fd < 0 || fd > 1 << 24) return -1;
  return stats::is_file(static_cast<int>(fd)) ? static_cast<int>(fd) : -1;
}

void say_none(const char* what, int error) {
  base::warn_once("statistics of calls", {.cause = std::string("cannot count calls (WEFT_STATS): ") + what,
                                          .error = error,
                                          .remedy = "free memory on this host; the program runs without them"});
}

// Maps the area and its first block.
bool map_area() {
  const core::Identity& own = *core::identity;
  int file = inherited_file();
  observation.inherited = file >= 0;
  if (!observation.inherited) file = stats::create_file();
  observation.file = {file, "the statistics"};
  observation.place = observation.inherited ? own.rank : 0;
  const size_t bytes = stats::area_bytes(own.size);
  const auto end = static_cast<off_t>(bytes) * (observation.inherited ? own.size : 1);
  const off_t begin = static_cast<off_t>(bytes) * observation.place;
  if (file < 0 || ftruncate(file, end) != 0 ||
      posix_fallocate(file, begin, sizeof(stats::AreaHead) + sizeof(stats::CounterBlock)) != 0 ||
      posix_fallocate(file, begin + static_cast<off_t>(offsetof(stats::Area, timeline)), sizeof(stats::Timeline)) !=
          0) {
    say_none("no shared memory for them", errno);
    return false;
  }
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, begin);
  if (memory == MAP_FAILED) {
    say_none("cannot map their memory", errno);
    return false;
  }
  observation.area = static_cast<stats::Area*>(memory);
  return true;
}

bool is_first_of_host() {
  const core::Identity& own = *core::identity;
  return own.rank == std::max(own.job.host(), own.first);
}

void fill_head(stats::Level level, const base::Moment& from, const base::Moment& now) {
  const core::Identity& own = *core::identity;
  stats::AreaHead& head = observation.area->head;
  head.level = static_cast<uint32_t>(level);
  head.rank = own.rank - own.first;
  head.size = own.size;
  head.host = own.job.host();
  head.pid = getpid();
  head.processors = own.job.local_cpus;
  head.ranks_here = own.job.one_host() ? own.size : own.job.local_ranks;
  if (readlink("/proc/self/exe", head.program, sizeof head.program) == sizeof head.program) head.program[0] = '\0';
  const std::string cpus = base::shown_cpu_list(base::affinity());
  if (cpus.size() < sizeof head.cpus) snprintf(head.cpus, sizeof head.cpus, "%s", cpus.c_str());
  if (is_first_of_host()) {
    const std::string machine = stats::describe_machine();
    if (machine.size() < sizeof head.machine) snprintf(head.machine, sizeof head.machine, "%s", machine.c_str());
  }
  head.begun_ticks = head.refreshed = now.ticks;
  head.begun_ns = now.ns;
  head.state = static_cast<uint32_t>(stats::AreaState::running);
  std::atomic_ref(head.magic).store(stats::magic, std::memory_order_release);
  const double tick = base::seconds_of_tick(from, now);
  const auto ticks_of = [&](double seconds) { return tick > 0 ? static_cast<uint64_t>(seconds / tick) : 1 << 16; };
  observation.prompt_ticks = ticks_of(50e-6);
  observation.refresh_ticks = ticks_of(10e-3);
  observation.area->timeline.step = observation.refresh_ticks;
}

// The counters of energy of this host, which its first rank reads; the processor time of each rank.
struct EnergyReader {
  bool wanted = false;
  uint64_t begun_cpu_ns = 0;
  uint64_t read_ns = 0;
  std::optional<stats::EnergyMeter> meter;
  std::optional<base::Ticker> ticker;  // a counter may begin again while the program computes
};
EnergyReader& energy_reader() {
  static EnergyReader& reader = *new EnergyReader;  // for the life of the process
  return reader;
}

uint64_t cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000U + static_cast<uint64_t>(t.tv_nsec);
}

void set(uint64_t& word, uint64_t value) {
  std::atomic_ref(word).store(value, std::memory_order_relaxed);
}

// Called under the lock of refreshes.
void refresh_energy(bool at_once) {
  EnergyReader& energy = energy_reader();
  constexpr uint64_t between_ns = 1000000000;
  const uint64_t now_ns = base::now_ns();
  if (!at_once && now_ns - energy.read_ns < between_ns) return;
  energy.read_ns = now_ns;
  stats::AreaHead& head = observation.area->head;
  if (energy.meter.has_value()) {
    energy.meter->read();
    set(head.microjoules, energy.meter->microjoules());
    head.energy_error = energy.meter->error();
    snprintf(head.energy_subject, sizeof head.energy_subject, "%s", energy.meter->subject().c_str());
    head.energy = static_cast<uint32_t>(energy.meter->error() == 0 ? stats::Energy::read : stats::Energy::unknown);
  }
  set(head.cpu_ns, cpu_ns() - energy.begun_cpu_ns);
}

void begin_energy() {
  const std::string folders = energy_folders();
  if (folders.empty()) return;
  EnergyReader& energy = energy_reader();
  energy.begun_cpu_ns = cpu_ns();
  observation.area->head.energy = static_cast<uint32_t>(stats::Energy::by_another_rank);
  if (is_first_of_host()) {
    constexpr std::chrono::seconds often(30);
    energy.meter.emplace(folders);
    energy.ticker.emplace(often, 1, [] {
      refresh(base::ticks(), {});
      return true;
    });
    // Without a thread the counters are read in calls alone.
    if (energy.ticker->start()) energy.ticker->need();
  }
  refresh_energy(true);
  energy.wanted = true;
}

bool wants_calls(stats::Level level) {
  return level >= stats::Level::summary;
}

// The report of this rank; an empty one where it could not count.
stats::Report own_report() {
  if (observation.area == nullptr) return {};
  refresh(base::ticks(), {});
  stats::AreaFileReader reading(observation.file.number());
  const stats::Area* area = reading.area(observation.place);
  return area != nullptr ? stats::Report::of(*area) : stats::Report{};
}

void mark_reported() {
  if (observation.area == nullptr) return;
  std::atomic_ref(observation.area->head.state)
      .store(static_cast<uint32_t>(stats::AreaState::reported), std::memory_order_release);
}

stats::Report::Settings changed_settings() {
  stats::Report::Settings changed;
  for (const base::SettingRow* row : base::all_settings()) {
    if (row->source() == base::ValueSource::fallback || row->text().level == base::SettingLevel::internal) continue;
    changed.emplace_back(row->text().name, row->shown());
  }
  return changed;
}

void write(stats::Report report) {
  report.settings = changed_settings();
  stats::ReportProblem problem;
  // Call sites get their lines from mpiexec, where there is ours.
  const bool left = observation.inherited && observation.sites &&
                    stats::leave_text(observation.file.number(), *observation.area, stats::as_text(report, ""));
  if (left ? stats::write_json(report, "", statistics_file(), problem)
           : stats::write_report(report, "", statistics_file(), STDERR_FILENO, problem)) {
    return;
  }
  base::warn({.cause = "cannot write the statistics to " + base::quoted(problem.file),
              .error = problem.error,
              .remedy = "give WEFT_STATS_FILE a file that rank 0 may write, on a disk with free space"});
}

void send_bytes(core::Comm& world, uint32_t context, const std::string& bytes, int to) {
  const auto length = static_cast<int64_t>(bytes.size());
  (void)core::send(world, context, &length, sizeof length, datatype::byte_type, to, tag);
  (void)core::send(world, context, bytes.data(), length, datatype::byte_type, to, tag);
}

// Empty: they did not come.
std::string receive_bytes(core::Comm& world, uint32_t context, int from) {
  int64_t length = 0;
  if (core::receive(world, context, &length, sizeof length, datatype::byte_type, from, tag) != core::no_error)
    return {};
  if (length < 0 || length > int64_t{1} << 30) return {};
  std::string bytes(static_cast<size_t>(length), '\0');
  if (core::receive(world, context, bytes.data(), length, datatype::byte_type, from, tag) != core::no_error) return {};
  return bytes;
}

// Returns how long the main thread was ready without a processor; the file has "run, ready, slices" in nanoseconds.
// Systems without it leave 0.
uint64_t queued_ns() {
  std::string text;
  constexpr size_t most_text = 256;
  if (base::read_file("/proc/self/schedstat", text, most_text) != 0) return 0;
  const size_t second = text.find(' ');
  uint64_t ns = 0;
  if (second != std::string::npos) (void)std::from_chars(text.data() + second + 1, text.data() + text.size(), ns);
  return ns;
}

// Under the lock of refreshes, once a second, as a file is read.
void refresh_queued(uint64_t now, bool at_once) {
  static uint64_t last = 0;
  static const uint64_t before = queued_ns();
  constexpr uint64_t refreshes_between = 100;
  if (!at_once && now - last < refreshes_between * observation.refresh_ticks) return;
  last = now;
  set(observation.area->head.queued_ns, queued_ns() - before);
}

}  // namespace

void enter_block() {
  Observer& me = own_observer;
  for (int i = 0; i < stats::own_blocks; ++i) {
    uint32_t free = 0;
    if (blocks_taken[i].load(std::memory_order_relaxed) != 0 ||
        !blocks_taken[i].compare_exchange_strong(free, 1, std::memory_order_acquire))
      continue;
    stats::CounterBlock* block = &observation.area->blocks[i];
    if (!reserve(block, sizeof *block)) break;
    me.block = block;
    me.shared = false;
    me.clock = core::own_idle = &block->clock;
    use_blocks(i + 1);
    pthread_setspecific(at_exit, &blocks_taken[i]);
    std::atomic_ref(block->threads).fetch_add(1, std::memory_order_relaxed);
    return;
  }
  me.block = &observation.area->blocks[stats::own_blocks];
  use_blocks(stats::block_count);
  me.shared = true;
  me.clock = core::own_idle = &me.own_clock;
  std::atomic_ref(me.block->threads).fetch_add(1, std::memory_order_relaxed);
}

void refresh(uint64_t now, const stats::LongCall& call) {
  if (observation.refreshes.exchange(true, std::memory_order_acquire)) return;
  stats::AreaHead& head = observation.area->head;
  if (core::identity->running) {
    const core::Counters counters = core::counters();
    for (int p = 0; p < core::path_count; ++p) {
      set(head.path_messages[p], counters.sent[p].messages);
      set(head.path_bytes[p], counters.sent[p].bytes);
    }
    for (int w = 0; w < device::way_count; ++w) {
      set(head.device_copies[w], device::traffic[w].copies.load(std::memory_order_relaxed));
      set(head.device_bytes[w], device::traffic[w].bytes.load(std::memory_order_relaxed));
    }
    set(head.unexpected, counters.unexpected);
    set(head.retries, counters.retries);
    set(head.sleeps, counters.sleeps);
  }
  refresh_queued(now, call.since == 0);
  stats::take_sample(*observation.area, now, call);
  if (energy_reader().wanted) refresh_energy(call.since == 0);
  set(head.refreshed, now);
  observation.refreshes.store(false, std::memory_order_release);
}

namespace {

constinit base::Lock guard;
int models = 0;           // that the process uses
int models_together = 0;  // that all ranks use
bool reported = false;

void begin_counting() {
  const stats::Level level = stats::wanted_level();
  if (!wants_calls(level)) return tell_settings_without_calls();
  if (observation.area != nullptr) return;
  const base::Moment from = base::this_moment();
  if (pthread_key_create(&at_exit, leave_block) != 0 || !map_area()) return;
  observation.detailed = level >= stats::Level::calls;
  observation.sites = level >= stats::Level::full;
  fill_head(level, from, base::this_moment());
  begin_energy();
  refresh(base::ticks(), {});
  core::idle_is_timed = true;
}

}  // namespace

bool begin() {
  std::lock_guard lock(guard);
  if (models++ == 0 && !reported) begin_counting();
  return observation.area != nullptr && !reported;
}

void start_together() {
  std::lock_guard lock(guard);
  ++models_together;
}

void report(core::Comm& world) {
  {
    std::lock_guard lock(guard);
    if (--models_together > 0 || std::exchange(reported, true)) return;
  }
  const stats::Level level = stats::wanted_level();
  if (level == stats::Level::counters) print_counters(world);
  if (!wants_calls(level)) return;
  const uint32_t context = world.collective_context();
  stats::Report report = own_report();
  mark_reported();
  const auto receive = [&](int32_t from) { return receive_bytes(world, context, from); };
  const auto send = [&](int32_t to, const std::string& bytes) { send_bytes(world, context, bytes, to); };
  if (stats::gather(world.rank, world.size, report, receive, send)) write(std::move(report));
}

void end() {
  std::lock_guard lock(guard);
  if (--models > 0 || observation.area == nullptr) return;
  if (energy_reader().wanted) refresh(base::ticks(), {});
  energy_reader().ticker.reset();
  core::idle_is_timed = false;
  const auto state = static_cast<stats::AreaState>(std::atomic_ref(observation.area->head.state).load());
  if (state == stats::AreaState::reported || observation.inherited) return;  // mpiexec writes what was not reported
  if (core::identity->size == 1) return write(own_report());
  if (core::identity->rank == core::identity->first) {
    base::warn({.cause = "no statistics of calls (WEFT_STATS): a job with sessions alone has no common end",
                .remedy = "start it with Weft's mpiexec, which writes them when all ranks have ended"});
  }
}

}  // namespace weft::observe
