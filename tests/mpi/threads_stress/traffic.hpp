// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The messages between the threads of the stress test, and their common data.

#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

#include "threads.hpp"

namespace stress {

using expect::rank;
using expect::size;
using threads::Random;

inline int thread_count = 4;  // of each rank

enum Kind {
  pair,    // names source and tag; the tag names both threads
  tagged,  // any source, the tag names the receiver
  source,  // a source, any tag, on the receiver's own communicator
  wild,    // any source, any tag, on another communicator of the receiver's
  shared,  // any source, any tag, received by all threads of a rank
  kinds
};
constexpr size_t limits[kinds] = {16 << 10, 100 << 10, 300 << 10, 1 << 20, 1 << 20};  // the largest messages
constexpr size_t depths[kinds] = {2, 2, 2, 4, 2};                                     // posted receives
constexpr int classes = 2;           // tags of one pair of threads, and of one `tagged` receiver
constexpr int spread = 32;           // tags a sender chooses from where the receiver takes any
constexpr uint32_t sync_every = 16;  // every so many messages the sender waits until the receiver has caught up
constexpr int window = 12;           // open sends of a thread

struct Head {
  uint32_t number;  // among the messages of its thread to this target; of the last one: how many there were
  uint32_t to;      // address() of the target
  uint32_t bytes;
  uint16_t rank;
  uint8_t thread;
  uint8_t last;
};
static_assert(sizeof(Head) == 16);

inline uint32_t address(int to, Kind kind, int receiver, int c) {
  return static_cast<uint32_t>(to << 16 | kind << 12 | receiver << 4 | c);
}
inline uint64_t salt_of(int from, int thread, uint32_t to, uint32_t number) {
  return Random((static_cast<uint64_t>(from * 64 + thread) << 32 | number) * 7 + to).next();
}

// Where a thread sends to.
struct Target {
  Kind kind;
  int to, receiver, c;
  uint32_t sent = 0;
  bool ended = false;
  std::atomic<bool> waiting = false;  // for a synchronous send
  Target(Kind k, int t, int r, int cl) : kind(k), to(t), receiver(r), c(cl) {}
};

struct Out {
  std::vector<unsigned char> data;
  MPI_Request request = MPI_REQUEST_NULL;
  Target* target = nullptr;
  std::atomic<int>* open = nullptr;  // its thread's count
  bool synchronous = false, persistent = false;
};

// A posted receive.
struct Slot {
  std::vector<unsigned char> data;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  bool persistent = false, cancelled = false;
  bool found = false;    // by a probe: cannot be cancelled
  bool refused = false;  // must not receive anything any more
  std::atomic<bool> lent = false, done = false, cancel = false;
};

// The messages that a thread receives with one pattern. Receives are looked at in the order they were posted.
struct Channel {
  Kind kind;
  MPI_Comm comm;
  int source_pattern, tag_pattern;
  int receiver, c, sender;  // sender: its thread where the tag names it, else -1
  int ends_left;
  std::deque<Slot*> posted;
  std::vector<Slot*> unused;
  std::vector<uint32_t> next;  // by rank and thread
  bool over = false;
};

// Partitioned messages to the right neighbour's thread of the same number.
struct Parts {
  enum { send_parts = 8, receive_parts = 4 };
  std::vector<unsigned char> out, in;
  MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
  uint64_t round_out = 0, round_in = 0;
  bool sending = false, receiving = false, last_out = false, send_over = false, receive_over = false;
  std::atomic<int> not_ready = 0, not_arrived = 0;
};

// Work that any thread of the rank may do.
struct Task {
  enum What { complete_receive, complete_send, ready, arrived } what;
  Slot* slot;
  Out* out;
  Parts* parts;
  int partition;
};

struct Turn {
  uint64_t seed;
  double end;
  bool with_parts;
  MPI_Comm pairs, tags, everybody, parted;
  std::vector<MPI_Comm> by_source, by_any;  // by receiver
  std::mutex box_lock;
  std::vector<Task> box;
  std::atomic<int> working;
  std::atomic<int> shared_ends;
  std::atomic<uint64_t> shared_got = 0, shared_sum = 0, shared_wanted = 0, shared_wanted_sum = 0;
  std::atomic<uint64_t> sent = 0, got = 0, bytes = 0, cancels = 0, lent = 0, partitions = 0;
  threads::Watch* watch = nullptr;
};

}  // namespace stress
