// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Windows: memory of ranks that others read, write and update (MPI-5.0, chapter 12). docs/design/windows.md tells how.
//
// A target's memory is a region (core/memory/region.hpp). For a rank of this host the way to it is chosen when the
// window is made, for others at first contact, so that a window costs what it uses however large the job. Operations
// that the region's way does not allow go by messages, which the target serves when it makes progress.
//
// Functions return an error class; their arguments are checked by the caller but for what the comments say. Any thread
// may call them at MPI_THREAD_MULTIPLE, also for one window; epochs are opened and closed by one thread at a time, but
// for locks of different targets.

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/lock.hpp"
#include "core/memory/update.hpp"
#include "core/object/comm.hpp"
#include "core/object/request.hpp"
#include "datatype/reduce.hpp"
#include "device/api/mappings.hpp"

namespace weft::core::rma {

using memory::Local;
using memory::Reach;

struct Outbox;

enum class Flavor : uint8_t { create, allocate, dynamic, shared };

struct AttachedRange {  // attached to a dynamic window
  uint64_t begin;
  uint64_t end;
};

// Whether all of these bytes are in pieces: in one, or in several that touch each other.
template <class PieceAt>
bool are_in_pieces(uint64_t begin, uint64_t end, uint32_t count, PieceAt&& piece_at) {
  for (uint32_t i = 0; begin < end && i < count;) {
    const AttachedRange piece = piece_at(i);
    if (piece.begin <= begin && begin < piece.end) {
      begin = piece.end;
      i = 0;
    } else {
      ++i;
    }
  }
  return begin >= end;
}

// The attached memory, for the ranks of the host to look at; the target alone writes it. A surplus is not looked
// for: then any address will do.
struct Attached {
  static constexpr uint32_t most = 1000;
  std::atomic<uint32_t> version;  // odd while it changes
  std::atomic<uint32_t> count;    // of all that is attached
  // 1: some of it lies, or lay, on a device. A process that learns of its address sees this.
  std::atomic<uint32_t> on_device;
  struct {
    std::atomic<uint64_t> begin;
    std::atomic<uint64_t> end;
  } pieces[most];

  void publish(const std::vector<AttachedRange>& all);
  bool holds(uint64_t begin, uint64_t end) const;
};

// The state that ranks of one host share about one target, in memory of its rank that all of them map. lock.hpp has the
// protocol.
struct TargetControl {
  alignas(64) std::atomic<uint64_t> lock;       // MPI_Win_lock
  memory::Updates updates;                      // of the target's memory
  alignas(64) memory::Busy busy;                // the target's, as origin
  std::atomic<int32_t> owner_waits;             // for the lock, on behalf of ranks of other hosts: not 0
  uint64_t attached_at;                         // where Attached lies behind this, of a dynamic window
  alignas(64) std::atomic<int32_t> waiting[1];  // for the lock, by place on the host: the rank in the window + 1, or 0

  Attached& attached() { return *reinterpret_cast<Attached*>(reinterpret_cast<char*>(this) + attached_at); }
};

// The part of a window that each rank of a host tells the others when it is made. Ranks of other hosts ask for the
// values that they need (`meet()`).
struct WindowPart {
  MemoryRef memory;   // of the window
  MemoryRef control;  // of the TargetControl
  uint64_t bytes;
  uint64_t unit;        // of displacements, in bytes
  int32_t holder;       // the rank in whose memory `memory` is
  int32_t error;        // an error class: this rank cannot take part
  uint32_t generation;  // proposed for the window; the largest of all ranks counts
  uint32_t fences;      // 1: other processes can make this one run a fence
  uint32_t on_device;   // 1: ours lies on a device, and `memory` is nothing
  uint32_t unused;
  uint64_t address;       // of that memory
  device::Shared shared;  // the allocation it is in; no bytes: others cannot map it
};

enum class LockState : uint8_t { none, shared, exclusive };

// One rank of a window, as this process knows it. Its size is a power of two: targets are found by a shift. Targets lie
// in memory that is zero until it is written, and takes none until then: all fields of a rank never contacted are zero.
struct alignas(128) Target {
  // ---- read by every operation. nullptr: not open, or not mapped; the general way finds out
  std::atomic<char*> direct = nullptr;
  uint64_t word_unit = 0;  // `unit`, and at how many offsets, from 0 on, 8 bytes are inside: set before the window is
  uint64_t words = 0;      // used, of targets of this host alone, so the shortest route reads them before `direct`
  // ----
  memory::Region region;
  uint64_t unit = 0;                     // of displacements, in bytes
  std::atomic<bool> open = false;        // operations are allowed: the epoch is right, and locks are held
  std::atomic<bool> met = false;         // its bytes and unit are known; see `meet()`
  LockState lock = LockState::none;      // by MPI_Win_lock
  bool locked = false;                   // there is a lock to give back; not so with MPI_MODE_NOCHECK
  bool in_group = false;                 // of the epoch that MPI_Win_start began
  std::atomic<bool> opening = false;     // a thread opens it, or has
  TargetControl* control = nullptr;      // nullptr: the target is on another host
  Outbox* outbox = nullptr;              // records that have not left; made on first use
  std::atomic<uint32_t> posts = 0;       // MPI_Win_post that told us and were not answered by MPI_Win_start
  std::atomic<uint32_t> completes = 0;   // the same of MPI_Win_complete and MPI_Win_wait
  std::atomic<int32_t> under_way = 0;    // operations whose data travel as messages of their own
  std::atomic<int32_t> failed = 0;       // error class that the next call to synchronise is to tell
  std::atomic<int32_t> failed_here = 0;  // error class of what it asked of us, to be told with the next answer
  int32_t next_opened = 0;               // the one opened before it: see Window::opened
};

static_assert(sizeof(Target) == 128);

// How an access epoch was opened; several targets may be locked apart.
enum class Epoch : uint8_t { none, fence, start, lock, lock_all };

struct LockWish;  // of a rank that asked by message

struct Window : base::Object {
  // ---- read by every operation
  Target* targets = nullptr;  // of all ranks, in pages reserved and not touched
  int32_t size = 0;
  int32_t rank = 0;
  // ----
  Flavor flavor = Flavor::create;
  Epoch epoch = Epoch::none;
  bool exposed = false;                        // MPI_Win_post without its MPI_Win_wait
  bool checked = true;                         // lock_all: locks are needed
  bool owns_memory = false;                    // allocated by the window
  std::atomic<bool> on_device = false;         // our own part is memory of a device, or some of it
  Comm* comm = nullptr;                        // the window's own
  char* base = nullptr;                        // of our own part
  uint64_t bytes = 0;                          // of our own part
  int64_t unit = 1;                            // of our own part
  pages::Wish wish;                            // of memory that prepare() allocates
  pages::Grant grant;                          // of that memory, as it was obtained
  TargetControl* control = nullptr;            // of our own part
  uint32_t generation = 0;                     // with the context of `comm` the window's name: names.hpp
  std::vector<device::Mapping*> mappings;      // of memory of devices of other ranks
  std::vector<const memory::Busy*> busy_here;  // of the ranks of this host; empty: not all can fence each other
  Outbox* outboxes = nullptr;                  // the one made last; under `guard`
  base::Lock guard;                            // of making outboxes, of meeting targets, and of wishes
  std::atomic<int32_t> opened = 0;             // the target that the epoch opened last, + 1; 0: none. See epoch.cpp
  base::Lock closing;                          // of taking targets from that list, and of MPI_Win_lock and unlock
  std::vector<int32_t> group;                  // of MPI_Win_start
  std::vector<int32_t> exposed_to;             // of MPI_Win_post
  int32_t locks = 0;                           // targets locked apart
  base::Lock attaching;                        // of `pieces`
  std::vector<AttachedRange> pieces;           // attached; empty but for dynamic windows
  LockWish* wishes = nullptr;                  // of other hosts, held or waiting; under `guard`
  std::atomic<uint32_t> next_tag = 0;          // of data that travel as messages
  void (*drop_type)(Type*) = nullptr;          // gives back a datatype that was held
  Window* shows = nullptr;                     // of a view: the window (view.hpp)
};

// Reserves address space for what is known of each rank; its pages take memory when the first rank in them is
// contacted. false: there is no address space.
[[nodiscard]] bool reserve_targets(Window& window);
void release_targets(Window& window);

[[nodiscard]] int32_t attach(Window& window, void* base, uint64_t bytes, bool on_device);
// false: nothing was attached there.
[[nodiscard]] bool detach(Window& window, const void* base);

// The size and the displacement unit of a target's window are known from here on. A rank of another host is asked for
// them when it is first contacted, and answers when it makes progress.
void ask_to_meet(Window& window, int32_t rank);  // by create.cpp
inline Target& meet(Window& window, int32_t rank) {
  Target& target = window.targets[rank];
  if (!target.met.load(std::memory_order_acquire)) [[unlikely]]
    ask_to_meet(window, rank);
  return target;
}

// Before `update` of so many bytes at a rank of this host is made in place: an array goes under locks.
inline void prepare_update(const Window& window, const Target& target, const memory::Update& update, int64_t bytes) {
  if (bytes < memory::array_from || update.alone || !target.region.atomics || window.busy_here.empty()) return;
  memory::change_way(*target.region.updates, window.busy_here);
}

// ---- operations

// Data at the target: `offset` bytes from the beginning of its window, an address in a dynamic one.
struct Remote : memory::RegionData {
  int32_t rank;
};

// All check that the epoch allows the operation (rma_sync) and that the data are inside the window (rma_range), and
// tell of copies from or to a device that failed (other_error). `request`, where it is not nullptr, completes when the
// caller's buffers are its own again and results are there; at once where nothing has to be waited for.
[[nodiscard]] int32_t put(Window& window, const Local& from, const Remote& to, Request* request);
[[nodiscard]] int32_t get(Window& window, const Local& to, const Remote& from, Request* request);
// The types consist of one predefined type, `element`; both of the same.
// One element, without gaps, at a place that `target.direct` reaches; the old value goes to `old` unless that is
// nullptr.
void update_one(const Window& window, const Target& target, const Type& element, datatype::Reduction reduction,
                const void* in, char* there, void* old);
[[nodiscard]] int32_t accumulate(Window& window, const Local& from, const Remote& to, datatype::Reduction reduction,
                                 const Type& element, Request* request);
[[nodiscard]] int32_t get_accumulate(Window& window, const Local& from, const Local& result, const Remote& to,
                                     datatype::Reduction reduction, const Type& element, Request* request);
// One element of a predefined type. The result may be wanted on a device.
[[nodiscard]] int32_t compare_and_swap(Window& window, const void* value, const void* compare, void* result,
                                       const Type& element, const Remote& to);

// ---- synchronisation. `Error` rma_sync: the window is in another epoch.

// The two halves of MPI_Win_fence, before and after its barrier.
[[nodiscard]] int32_t end_fence(Window& window);
void begin_fence(Window& window, bool succeed);

[[nodiscard]] int32_t start(Window& window, std::vector<int32_t> ranks, bool checked);
[[nodiscard]] int32_t complete(Window& window);
[[nodiscard]] int32_t post(Window& window, std::vector<int32_t> ranks, bool checked);
[[nodiscard]] int32_t wait(Window& window);
[[nodiscard]] int32_t test(Window& window, bool& flag);

[[nodiscard]] int32_t lock(Window& window, int32_t rank, LockState kind, bool checked);
[[nodiscard]] int32_t unlock(Window& window, int32_t rank);
[[nodiscard]] int32_t lock_all(Window& window, bool checked);
[[nodiscard]] int32_t unlock_all(Window& window);

// Waits until all that was begun before by any thread is done at the target; `local`: until the caller's buffers are
// its own again.
[[nodiscard]] int32_t flush(Window& window, int32_t rank, bool local);
[[nodiscard]] int32_t flush_all(Window& window, bool local);
// Operations begun before are done at the target, or at each, before those that are begun from now on, on this window
// or on others. Messages of windows stay in order, so nothing is waited for, unless data travel as messages of their
// own or the target is on this host.
[[nodiscard]] int32_t order(Window& window, int32_t rank);
[[nodiscard]] int32_t order_all(Window& window);
[[nodiscard]] int32_t sync(Window& window);

// Whether MPI_Win_free may be called: no epoch is open but one of a fence.
[[nodiscard]] bool at_rest(const Window& window);

}  // namespace weft::core::rma
