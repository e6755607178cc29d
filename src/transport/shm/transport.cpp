// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/transport.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/address_space.hpp"
#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/copy.hpp"
#include "base/copy_threads.hpp"
#include "base/fence.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "base/tsan.hpp"
#include "boot/job/segment.hpp"
#include "boot/job/status.hpp"
#include "pages/huge.hpp"
#include "transport/api/failure.hpp"
#include "transport/shm/layout_sum.hpp"

namespace weft::transport::shm {

namespace {

constinit base::BoolSetting cross_memory{{.name = "WEFT_CMA",
                                          .help = "copy large messages straight between processes (process_vm_readv)",
                                          .subject = base::Subject::messages,
                                          .change = base::Change::before_start},
                                         true};
WEFT_SETTING(cross_memory);

void futex_wake(std::atomic<uint32_t>* word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

// The first rank to come notes it, the others compare.
void note_layout(int segment, const SegmentLayout& layout) {
  const uint32_t ours = sum_of(layout);
  const uint32_t noted = noted_layout(segment);
  if (noted == 0) {
    (void)!pwrite(segment, &ours, sizeof ours, offsetof(boot::RankStatus, layout));
  } else if (noted != ours) {
    fail_for_good({.cause = "the ranks of this host lay out their shared memory in different ways",
                   .remedy = "give all ranks the same WEFT_RING_BYTES, WEFT_STAGING_BUFFERS, WEFT_STAGING_BYTES, "
                             "WEFT_HEAP_BYTES and WEFT_MINIMUM_MEMORY"});
  }
}

// Staging buffers for one message: half of them, or the one that a rank has whatever the others that share them do.
size_t most_in_a_row(const SegmentLayout& layout) {
  return layout.pool != 0 ? 1 : (static_cast<size_t>(layout.staging_buffers) + 1) / 2;
}

}  // namespace

ShmTransport::ShmTransport(int place, int places, const base::Descriptor& segment, LaneMap lanes, PlaceOf places_of,
                           uint32_t generation)
    : rank_(place),
      places_(places),
      segment_(segment),
      layout_(layout_for(places)),
      place_of_(std::move(places_of)),
      rings_(std::make_unique<Reader[]>(lanes.lanes())),
      lanes_(lanes),
      memory_(layout_, place, segment) {
  capabilities_ = {.drains = true,
                   .get_put = true,
                   .map = true,
                   .atomics = true,
                   .read = true,
                   .claims = true,
                   .wakes = true,
                   .staging_most = layout_.staging_buffer * most_in_a_row(layout_)};
  note_layout(segment.needed(), layout_);
  if (layout_.pool != 0) shared_staging_ = std::make_unique<SharedStaging>(layout_, segment, places);
  if (generation != 0) clear_place();
  reserve(layout_.rank_at(place), layout_.rings_offset + layout_.rings(lanes.lanes()), "the receive rings");
  region_ = map(layout_.rank_at(place), layout_.region, "the receive rings");
  // The last page of the rings, which may hold staging buffers too.
  pages::make_huge(region_,
                   base::to_multiple(layout_.rings_offset + layout_.rings(lanes.lanes()), pages::huge_boundary));
  control_ = reinterpret_cast<Control*>(region_);
  memory_.publish_in(control_);
  for (uint32_t lane = 0; lane < lanes.lanes(); ++lane) {
    char* at = region_ + layout_.rings_offset + lane * layout_.ring_stride(lanes.lanes());
    rings_[lane].open(reinterpret_cast<RingControl<>*>(at), reinterpret_cast<Cell<>*>(at + SegmentLayout::ring_control),
                      layout_.cells_log2(lanes.lanes()), lane);
  }
  publish_token();
  control_->namespace_of_pid.store(boot::namespace_of_processes(), std::memory_order_relaxed);
  control_->pid.store(getpid(), std::memory_order_release);
  control_->lanes.store(
      lanes.lanes() | (lanes.spread != 0 ? Control::spread_all : 0) | Control::generation_bits(generation),
      std::memory_order_release);
  fences_others_ = base::allow_fences();
  if (!cross_memory.value()) cross_memory_error_ = ECANCELED;
}

ShmTransport::~ShmTransport() {
  control_->pid.store(0, std::memory_order_release);  // it has left the job, and may end
  for (auto [place, memory] : regions_) munmap(memory, layout_.region);
  munmap(region_, layout_.region);
}

char* ShmTransport::map(size_t offset, size_t bytes, const char* what) const {
  const size_t alignment = pages::wants_huge() ? pages::huge_boundary : 1;
  void* memory = base::map_aligned(bytes, alignment, MAP_SHARED | MAP_NORESERVE, segment_.needed(), offset);
  if (memory != MAP_FAILED) return static_cast<char*>(memory);
  fail_for_good({.cause = "cannot map " + std::to_string(bytes >> 10) + " KiB of shared memory for " + what,
                 .error = errno,
                 .remedy = "raise the limit on address space (ulimit -v), or lower WEFT_HEAP_BYTES"});
}

void ShmTransport::reserve(size_t offset, size_t bytes, const char* what) const {
  if (boot::reserve_segment(segment_.needed(), offset, bytes)) return;
  fail_for_good({.cause = "cannot reserve " + std::to_string(bytes >> 10) + " KiB of shared memory for " + what,
                 .error = errno,
                 .remedy = "free memory on this host, raise the job's memory limit, or lower WEFT_RING_BYTES and "
                           "WEFT_STAGING_BUFFERS"});
}

// Without random numbers there is no token, and nobody copies from our memory.
void ShmTransport::publish_token() {
  if (getrandom(token_, sizeof token_, 0) != sizeof token_) return;
  for (int i = 0; i < 2; ++i) control_->token[i].store(token_[i], std::memory_order_relaxed);
  control_->token_at.store(reinterpret_cast<uint64_t>(token_), std::memory_order_relaxed);
}

// The place had another process, whose remains are none of ours; and a ring begins with zeros.
void ShmTransport::clear_place() const {
  const auto clear = [this](size_t at, size_t bytes) {
    if (bytes == 0) return;
    if (fallocate(segment_.needed(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(at),
                  static_cast<off_t>(bytes)) == 0)
      return;
    fail_for_good({.cause = "cannot clear the shared memory of the process that had this one's place in the job",
                   .error = errno,
                   .remedy = "this is a defect of Weft or of the system: please report it"});
  };
  clear(layout_.rank_at(rank_), layout_.region);
  clear(layout_.heap_at(rank_), layout_.heap);
  clear(layout_.slots_at(rank_), layout_.slots);
  if (shared_staging_ != nullptr) shared_staging_->free_all(rank_);
}

// A field of mpiexec's line of a place (boot/job/status.hpp); 0: nothing.
uint32_t ShmTransport::field_of(int place, size_t offset) const {
  uint32_t field = 0;
  const off_t at = static_cast<off_t>(sizeof(boot::RankStatus)) * place + static_cast<off_t>(offset);
  return pread(segment_.needed(), &field, sizeof field, at) == sizeof field ? field : 0;
}

void ShmTransport::forget(int rank) {
  const std::lock_guard connecting(connect_mutex_);
  endpoints_.erase(place_of(rank));
}

Endpoint* ShmTransport::connect(int rank) {
  const int place = place_of(rank);
  const std::lock_guard connecting(connect_mutex_);
  std::unique_ptr<ShmEndpoint>& known = endpoints_[place];
  if (known != nullptr) return known.get();
  const size_t at = layout_.rank_at(place);
  // The peer may not have started yet.
  reserve(at, layout_.rings_offset, "a peer's control page");
  char*& region = regions_[place];
  if (region == nullptr) region = map(at, layout_.region, "a peer's receive rings");
  const auto& lanes = reinterpret_cast<Control*>(region)->lanes;
  const uint32_t wanted = Control::generation_bits(field_of(place, offsetof(boot::RankStatus, generation)));
  const auto is_wanted = [wanted](uint32_t word) {
    return word != 0 && (word & ~Control::lanes_mask & ~Control::spread_all) == wanted;
  };
  for (int looked = 0; !is_wanted(lanes.load(std::memory_order_acquire)); ++looked) {
    constexpr timespec shortly{0, 50000};
    const uint32_t gone = looked < 100 ? 0 : field_of(place, offsetof(boot::RankStatus, gone));
    if (looked < 100) {
      sched_yield();
    } else if (gone != 0) {
      const uint32_t status = gone - 1;
      fail(rank, {.cause = "rank " + std::to_string(rank) + " ended with status " + std::to_string(status) +
                           " before it called MPI_Init, and this rank communicates with it",
                  .remedy = "all ranks of a job call MPI_Init, or none: see why that one did not"});
      return nullptr;
    } else {
      nanosleep(&shortly, nullptr);
    }
  }
  known = std::make_unique<ShmEndpoint>(*this, layout_, segment_, place, region, shared_staging_.get());
  return known.get();
}

int ShmTransport::poll(uint32_t lane, Sink sink) {
  constexpr int most = 64;  // then the caller looks at what it waits for
  int count = 0;
  while (count < most && rings_[lane].read(sink)) ++count;
  return count;
}

void ShmTransport::drain(uint32_t lane, Sink sink) {
  RingReader<>& ring = rings_[lane];
  const uint64_t tail = ring.tail();
  constexpr int patience = 200;  // looks at a cell whose writer is between its two steps, before we yield to it
  for (int looked = 0; ring.head() < tail;) {
    if (ring.read(sink)) {
      looked = 0;
    } else if (++looked < patience) {
      base::cpu_relax();
    } else {
      sched_yield();
    }
  }
}

Staging ShmTransport::reserve_staging(size_t bytes) {
  if (shared_staging_ != nullptr) [[unlikely]] {
    const Staging claimed = shared_staging_->claim(rank_, bytes);
    if (claimed.memory != nullptr) base::take_from_process(control_);
    return claimed;
  }
  std::lock_guard guard(staging_lock_);
  const size_t most = layout_.staging_buffer * static_cast<size_t>(layout_.staging_buffers);
  const int need = bytes <= most ? static_cast<int>(buffers_for(bytes)) : layout_.staging_buffers + 1;
  int first = staging_.lend(need);
  while (first < 0 && need <= layout_.staging_buffers && staging_.ready() < layout_.staging_buffers) [[unlikely]] {
      add_staging();
      first = staging_.lend(need);
    }
  if (first < 0) return {};
  base::take_from_process(control_);
  return {region_ + layout_.staging_offset + static_cast<size_t>(first) * layout_.staging_buffer,
          static_cast<uint64_t>(first)};
}

// Memory comes as it is needed: the system takes 2 us to give and clear one page, so 1 ms for all 256 buffers of 8 KiB,
// of which most ranks use a few.
void ShmTransport::add_staging() {
  constexpr int first_buffers = 32;
  const int ready = staging_.ready(), count = layout_.staging_buffers;
  const int more = std::min(std::max(ready, first_buffers), count - ready);
  const size_t at = layout_.staging_offset + layout_.staging_buffer * static_cast<size_t>(ready);
  reserve(layout_.rank_at(rank_) + at, layout_.staging_buffer * static_cast<size_t>(more), "staging buffers");
  if (ready == 0) {
    pages::make_huge(region_, layout_.region);
    staging_.open(layout_.staging_released(region_), count);
  }
  staging_.set_ready(ready + more);
}

Span ShmTransport::staging_memory() const {
  if (shared_staging_ != nullptr) return shared_staging_->memory();
  return {region_ + layout_.staging_offset, layout_.staging};
}

void ShmTransport::drop_staging(const Staging& staging, size_t bytes) {
  if (shared_staging_ != nullptr) return shared_staging_->free(rank_, staging.handle, bytes);
  std::lock_guard guard(staging_lock_);
  staging_.take_back(static_cast<int>(staging.handle), static_cast<int>(buffers_for(bytes)));
}

MemoryRef ShmTransport::register_memory(void* address, size_t bytes, Access access) {
  const uint64_t key = access != Access::write ? memory_.key_of(address, bytes) : MemoryRef::no_key;
  return {reinterpret_cast<uint64_t>(address), key};
}

void ShmTransport::set_congested(bool on) {
  if (on) {
    control_->attention.fetch_or(saturated, std::memory_order_relaxed);
  } else {
    control_->attention.fetch_and(~saturated, std::memory_order_relaxed);
  }
}

// Sleeping without a fence in the sender. The sender stores the publication word, then loads `attention`; we store
// `attention`, then look at the ring. One of the two must see the other's store. The expedited membarrier runs a full
// fence on every processor that runs a rank: a sender whose load of `attention` came before it has its publication
// visible after it, and one whose load comes later sees `asleep`.
void ShmTransport::arm() {
  control_->attention.fetch_or(asleep, std::memory_order_seq_cst);
  if (fences_others_) base::fence_others();
}

void ShmTransport::watch_memory(bool on) {
  if (on) {
    control_->attention.fetch_or(watching, std::memory_order_relaxed);  // arm() orders it
  } else {
    control_->attention.fetch_and(~watching, std::memory_order_relaxed);
  }
}

void ShmTransport::sleep(uint64_t timeout_ns) {
  uint32_t word = control_->attention.load(std::memory_order_relaxed);
  if ((word & asleep) == 0) return;  // woken meanwhile
  // Without membarrier a wake-up may be missed: then never sleep long.
  constexpr uint64_t unfenced_ns = 1000000;
  if (!fences_others_) timeout_ns = std::min(timeout_ns, unfenced_ns);
  if (bell_.is_open()) {
    bell_.wait(descriptor_.load(std::memory_order_relaxed), timeout_ns);
  } else {
    timespec time{static_cast<time_t>(timeout_ns / 1000000000), static_cast<long>(timeout_ns % 1000000000)};
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&control_->attention), FUTEX_WAIT, word, &time, nullptr, 0);
  }
  disarm();
}

void ShmTransport::disarm() {
  control_->attention.fetch_and(~asleep, std::memory_order_relaxed);
}

void ShmTransport::wake_on(int descriptor) {
  descriptor_.store(descriptor, std::memory_order_relaxed);
  if (!bell_.open()) return;
  control_->bell.store(bell_.number(), std::memory_order_relaxed);  // read by peers that have seen us asleep, later
  // A thread that sleeps already does so on the word.
  disarm();
  futex_wake(&control_->attention);
}

void ShmTransport::wake() {
  wake(*control_);
}

void ShmTransport::wake(Control& sleeper) const {
  if ((sleeper.attention.fetch_and(~asleep, std::memory_order_acq_rel) & asleep) == 0) return;
  if (const uint32_t number = sleeper.bell.load(std::memory_order_relaxed)) {
    bell_.ring(number);
  } else {
    futex_wake(&sleeper.attention);
  }
}

void* ShmTransport::allocate(size_t bytes, size_t alignment) {
  return memory_.allocate(bytes, alignment);
}

pages::Grant ShmTransport::grant(size_t bytes, const pages::Wish& wish) {
  return memory_.grant(bytes, wish);
}

bool ShmTransport::granted(const void* memory, pages::Grant& grant) {
  return memory_.granted(memory, grant);
}

bool ShmTransport::release(void* memory) {
  return memory_.release(memory);
}

int ShmTransport::copy_across(pid_t pid, uint64_t remote, void* local, size_t bytes, bool read) {
  if (const int refused = cross_memory_error_.load(std::memory_order_relaxed)) return refused;
  iovec here{local, bytes};
  iovec there{reinterpret_cast<void*>(remote), bytes};
  while (bytes != 0) {
    ssize_t moved =
        read ? process_vm_readv(pid, &here, 1, &there, 1, 0) : process_vm_writev(pid, &here, 1, &there, 1, 0);
    if (moved <= 0) {
      return note_refusal(moved == 0 ? EFAULT : errno);
    }
    bytes -= static_cast<size_t>(moved);
    here = {static_cast<char*>(here.iov_base) + moved, bytes};
    there = {static_cast<char*>(there.iov_base) + moved, bytes};
  }
  return 0;
}

int ShmTransport::copy_pieces(pid_t pid, uint64_t remote, const MemoryPiece* pieces, size_t count, void* local,
                              bool read) {
  constexpr size_t at_once = 64;
  auto* at = static_cast<char*>(local);
  while (count != 0) {
    if (const int refused = cross_memory_error_.load(std::memory_order_relaxed)) return refused;
    const size_t some = std::min(count, at_once);
    iovec there[at_once];
    size_t bytes = 0;
    for (size_t i = 0; i < some; bytes += pieces[i++].bytes) {
      there[i] = {reinterpret_cast<void*>(remote + pieces[i].offset), pieces[i].bytes};
    }
    const iovec here{at, bytes};
    const ssize_t moved =
        read ? process_vm_readv(pid, &here, 1, there, some, 0) : process_vm_writev(pid, &here, 1, there, some, 0);
    if (moved < 0) return note_refusal(errno);
    if (static_cast<size_t>(moved) != bytes) return EFAULT;
    at += bytes;
    pieces += some;
    count -= some;
  }
  return 0;
}

// Lost permission (a seccomp filter, ptrace_scope, another user namespace) will not come back.
int ShmTransport::note_refusal(int error) {
  if (error == EPERM || error == ENOSYS || error == EACCES) cross_memory_error_ = error;
  return error;
}

const char* ShmTransport::cross_memory_state() const {
  switch (cross_memory_error_) {
    case 0:
      return "process_vm_readv";
    case ECANCELED:
      return "off (WEFT_CMA=off)";
    default:
      return "refused by the kernel; messages go through staging buffers";
  }
}

ShmEndpoint::ShmEndpoint(ShmTransport& owner, const SegmentLayout& layout, const base::Descriptor& segment, int place,
                         char* region, SharedStaging* shared)
    : control_(reinterpret_cast<Control*>(region)),
      owner_(owner),
      layout_(layout),
      place_(place),
      region_(region),
      staging_released_(layout.staging_released(region)),
      shared_staging_(shared),
      memory_(layout, place, segment, control_) {
  attention_ = &control_->attention;
  const uint32_t published = control_->lanes.load(std::memory_order_acquire);
  const uint32_t lanes = published & Control::lanes_mask;
  lanes_ = {lanes - 1, published & Control::spread_all ? ~0u : 0u};
  rings_ = std::make_unique<LaneWriter[]>(lanes);
  const size_t stride = layout.ring_stride(lanes);
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    char* at = region + layout.rings_offset + lane * stride;
    rings_[lane].open(reinterpret_cast<RingControl<>*>(at), reinterpret_cast<Cell<>*>(at + SegmentLayout::ring_control),
                      layout.cells_log2(lanes));
  }
}

Post ShmEndpoint::send(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes) {
  base::give_to_process(owner_.control_);  // the staging memory that the message may name
  Post post = rings_[envelope.lane].write(kind, envelope, data, bytes);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // see arm(): the compiler must keep the order too
  if (control_->attention.load(std::memory_order_relaxed) & asleep) [[unlikely]]
    wake_if_asleep();
  return post;
}

void ShmEndpoint::wake_if_asleep() {
  owner_.wake(*control_);
}

int ShmEndpoint::look_for_process() {
  const pid_t pid = control_->pid.load(std::memory_order_acquire);
  const uint64_t at = control_->token_at.load(std::memory_order_relaxed);
  uint64_t token[2] = {};
  if (at == 0) return ESRCH;
  if (const int error = owner_.copy_across(pid, at, token, sizeof token, true)) return error;
  for (int i = 0; i < 2; ++i) {
    if (token[i] != control_->token[i].load(std::memory_order_relaxed)) return ESRCH;
  }
  found_s_.store(base::now_seconds(), std::memory_order_release);
  return 0;
}

int ShmEndpoint::get(const MemoryRef& from, void* to, size_t bytes) {
  if (from.key != MemoryRef::no_key) {
    const char* const there = memory_.find(from.key, bytes);
    if (there == nullptr) return EFAULT;
    base::copy_by_threads(to, there, bytes);
    return 0;
  }
  pid_t pid;
  if (const int error = find_process(pid)) return error;
  return owner_.copy_across(pid, from.address, to, bytes, true);
}

int ShmEndpoint::put(const MemoryRef& to, const void* from, size_t bytes) {
  if (to.key != MemoryRef::no_key) {
    char* const there = memory_.find(to.key, bytes);
    if (there == nullptr) return EFAULT;
    base::copy_by_threads(there, from, bytes);
    return 0;
  }
  pid_t pid;
  if (const int error = find_process(pid)) return error;
  return owner_.copy_across(pid, to.address, const_cast<void*>(from), bytes, false);
}

int ShmEndpoint::get_pieces(const MemoryRef& from, const MemoryPiece* pieces, size_t count, void* to) {
  if (from.key != MemoryRef::no_key) return Endpoint::get_pieces(from, pieces, count, to);
  pid_t pid;
  if (const int error = find_process(pid)) return error;
  return owner_.copy_pieces(pid, from.address, pieces, count, to, true);
}

int ShmEndpoint::put_pieces(const MemoryRef& to, const MemoryPiece* pieces, size_t count, const void* from) {
  if (to.key != MemoryRef::no_key) return Endpoint::put_pieces(to, pieces, count, from);
  pid_t pid;
  if (const int error = find_process(pid)) return error;
  return owner_.copy_pieces(pid, to.address, pieces, count, const_cast<void*>(from), false);
}

void* ShmEndpoint::map(const MemoryRef& memory) {
  return memory.key == MemoryRef::no_key ? nullptr : memory_.find(memory.key, 0);
}

std::optional<const void*> ShmEndpoint::staging(const Arrival& /*arrival*/, uint64_t handle, size_t bytes) {
  base::take_from_process(owner_.control_);  // another thread of ours may have written there before the sender did
  if (shared_staging_ != nullptr) [[unlikely]] {
    const void* const found = shared_staging_->find(place_, handle, bytes);
    return found != nullptr ? std::optional(found) : std::nullopt;
  }
  const auto buffers = static_cast<uint64_t>(layout_.staging_buffers);
  if (handle >= buffers || bytes > (buffers - handle) * layout_.staging_buffer) return std::nullopt;
  return region_ + layout_.staging_offset + handle * layout_.staging_buffer;
}

Span ShmEndpoint::staging_memory() const {
  if (shared_staging_ != nullptr) return shared_staging_->memory();
  return {region_ + owner_.layout_.staging_offset, owner_.layout_.staging};
}

// Buffers are mapped for writing: a peer's words lie beside them.
void ShmEndpoint::take_staging(uint64_t handle, const void* staged, void* to, size_t bytes) {
  base::copy_owning(to, const_cast<void*>(staged), bytes);
  give_back(handle, bytes);
}

void ShmEndpoint::release_staging(uint64_t handle, size_t bytes) {
  if (const std::optional<const void*> staged = staging({}, handle, bytes))
    base::own_lines(const_cast<void*>(*staged), bytes);
  give_back(handle, bytes);
}

void ShmEndpoint::give_back(uint64_t handle, size_t bytes) {
  base::give_to_process(owner_.control_);  // lines that this thread has owned
  if (shared_staging_ != nullptr) [[unlikely]] {
    shared_staging_->free(place_, handle, bytes);
  } else {
    for (uint64_t i = handle; i < handle + owner_.buffers_for(bytes); ++i) StagingPool::release(staging_released_[i]);
  }
  if (control_->attention.load(std::memory_order_relaxed) & asleep) wake_if_asleep();
}

}  // namespace weft::transport::shm
