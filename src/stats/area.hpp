// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Counters of calls in shared memory: a memfd with one area for each rank, which the rank alone writes. mpiexec has the
// same file and reads it when a job dies, `weft stats` while it runs. Pages are taken where something is counted.
//
// An area: its head, blocks of counters by thread, communicators, call sites, the timeline, and partners by their rank
// in the job. Counters are read while they change, one aligned word at a time. A reader checks what it finds: the file
// may be another's.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/ticks.hpp"
#include "stats/calls.hpp"
#include "stats/timeline.hpp"

namespace weft::stats {

// WEFT_STATS, as the words of its row.
enum class Level : uint32_t { off, counters, summary, calls, full };

// mpiexec tells its ranks the descriptor of the file in this variable.
inline constexpr const char* descriptor_variable = "WEFT_STATS_FD";
inline constexpr const char* file_name = "weft-stats";         // of the memfd
inline constexpr const char* file_link = "/memfd:weft-stats";  // as /proc/PID/fd shows it
inline constexpr uint64_t magic = 0x3773746174737477;          // changes with the layout
inline constexpr int most_ranks = 1 << 20;

// Sizes by powers of two: class k has those of k bits, 2^(k-1) to 2^k - 1; class 0 is no data.
inline constexpr int size_classes = 42;
constexpr int size_class(uint64_t bytes) {
  const int bits = std::bit_width(bytes);
  return bits < size_classes ? bits : size_classes - 1;
}

// One kind of call.
struct CallRow {
  uint64_t calls;
  uint64_t ticks;
  uint64_t idle;     // of these, while progress found nothing to do
  uint64_t longest;  // ticks of one call
  uint64_t bytes;
  uint64_t prompt;  // calls that hardly waited
  uint64_t asleep;  // of `idle`
  uint64_t turns;   // calls at once after such a one whose root is the rank before
  uint64_t sizes[size_classes];
};
static_assert(sizeof(CallRow) == 400);

// The counters of one thread at a time; the last block is shared by all that found none free.
struct alignas(4096) CounterBlock {
  uint64_t ticks;  // in calls, without calls inside calls
  uint64_t idle;
  uint32_t now;      // 1 + the Call that the thread is in, 0: none
  uint32_t threads;  // that have had this block
  uint64_t since;    // ticks when it began
  uint64_t idle_before;
  uint64_t asleep_before;
  base::IdleClock clock;  // the idle time of the thread
  CallRow rows[call_count];
};

inline constexpr int own_blocks = 64;
inline constexpr int block_count = own_blocks + 1;

// A communicator or window, by the context of its messages.
struct CommCounts {
  uint64_t key;  // 1 + context; 0: free
  int32_t size;
  uint32_t reserved;
  char name[64];
  uint64_t calls;
  uint64_t ticks;
  uint64_t idle;
  uint64_t bytes;
  uint64_t padding[2];
};
static_assert(sizeof(CommCounts) == 128);
inline constexpr int comm_count = 256;

// A call site: the return address of a call in the program.
struct Site {
  uint64_t address;  // 0 if it is free
  uint32_t call;     // a Call
  uint32_t ready;    // 1: `text` is written
  char text[208];    // function and offset in it, file and offset in that
  uint64_t calls;
  uint64_t ticks;
  uint64_t idle;
  uint64_t bytes;
};
static_assert(sizeof(Site) == 256);
inline constexpr int site_count = 1024;

// Messages and bytes sent to a rank, and the idle time of calls that wait for it alone: for its messages, and for its
// receives.
struct Partner {
  uint64_t messages;
  uint64_t bytes;
  uint64_t idle;
  uint64_t idle_sends;
};

enum class AreaState : uint32_t { empty, running, reported };

// Whether the rank reads the counters of its host.
enum class Energy : uint32_t { off, by_another_rank, read, unknown };

struct alignas(4096) AreaHead {
  uint64_t magic;
  uint32_t state;  // an AreaState
  uint32_t level;
  int32_t rank;
  int32_t size;
  int32_t host;  // the first rank on it
  int32_t pid;
  uint64_t begun_ticks;
  uint64_t begun_ns;
  // The runtime's own counts at the time `refreshed`.
  uint64_t refreshed;
  uint64_t path_messages[4];
  uint64_t path_bytes[4];
  uint64_t unexpected;
  uint64_t retries;
  uint64_t sleeps;
  uint64_t comms_lost;  // calls on communicators that no entry was free for
  uint64_t sites_lost;
  int32_t processors;  // that this rank may use
  int32_t ranks_here;
  uint32_t blocks_used;  // those behind were never touched
  uint32_t energy;       // an Energy
  uint64_t cpu_ns;       // processor time of the process since it began, where energy is asked for
  uint64_t microjoules;  // of the host
  int32_t energy_error;  // why they are not known
  char energy_subject[100];
  // Data of buffers on devices: mapped, packed, stood in, straight (device/api/traffic.hpp).
  uint64_t device_copies[4];
  uint64_t device_bytes[4];
  uint64_t text_bytes;  // of the report for people that mpiexec is to write (stats/file.hpp); 0: none
  uint64_t queued_ns;   // time that the main thread was ready to run and had no processor
  char cpus[64];        // that the rank was bound to when it began, as a list; empty: a longer list
  char program[256];    // its path; empty: a longer one
  char machine[3048];   // of the host, as its first rank sees it (stats/machine.hpp); empty otherwise
};
static_assert(sizeof(AreaHead) == 4096);
static_assert(offsetof(AreaHead, begun_ticks) == 32 && offsetof(AreaHead, path_messages) == 56);

struct Area {
  AreaHead head;
  CounterBlock blocks[block_count];
  CommCounts comms[comm_count];
  Site sites[site_count];
  alignas(4096) Timeline timeline;
  // Partner partners[size] follows
};
static_assert(sizeof(Area) % 4096 == 0);

constexpr size_t area_bytes(int ranks) {
  return (sizeof(Area) + static_cast<size_t>(ranks) * sizeof(Partner) + 4095) & ~size_t{4095};
}
inline Partner* partners_of(Area* area) {
  return reinterpret_cast<Partner*>(area + 1);
}
inline const Partner* partners_of(const Area* area) {
  return reinterpret_cast<const Partner*>(area + 1);
}

}  // namespace weft::stats
