// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A job at one moment, as its processes and the system tell it: what `weft why` and mpiexec judge.

#include <cstdint>
#include <string>
#include <vector>

#include "boot/job/wait_page.hpp"

namespace weft::why {

using boot::MessageKind;
using boot::WaitKind;

// Ranks are those in the job, where nothing else is said; boot::no_rank and boot::any_rank stand for others.

struct Message {
  MessageKind kind = MessageKind::receive;
  uint32_t context = 0;
  int32_t peer = boot::no_rank;
  int32_t rank = boot::no_rank;  // of the peer in its communicator
  int32_t tag = 0;
  int64_t bytes = -1;
  bool operator==(const Message&) const = default;
};

struct Comm {
  uint32_t context = 0;
  int32_t size = 0;  // 0: there is none
  int32_t rank = 0;
  std::string name;
  std::vector<int32_t> members;  // not all of a long list
  bool operator==(const Comm&) const = default;
};

struct Wait {
  WaitKind kind = WaitKind::other;
  uint32_t thread = 0;
  uint64_t number = 0;
  uint64_t since_ns = 0;
  uint64_t site = 0;
  std::string call;
  std::string place;  // of the call in the program, for people; empty: not known
  int32_t target = boot::no_rank;
  int32_t root = -1;
  int64_t bytes = -1;
  uint32_t order = 0;
  uint32_t messages = 0;
  std::vector<Message> listed;  // of the messages
  Comm comm;
};

struct Past {
  uint32_t context = 0;
  uint32_t order = 0;
  int32_t root = -1;
  int64_t bytes = -1;
  std::string call;
};

struct Lock {
  uint32_t context = 0;
  int32_t target = 0;
  bool exclusive = false;
};

// A page (boot/job/wait_page.hpp) that has passed all checks.
struct Page {
  uint64_t sequence = 0;
  uint32_t pid = 0;
  int32_t rank = 0;
  int32_t size = 1;
  bool concurrent = false;
  uint32_t untold = 0;
  uint64_t turned_away = 0;
  uint32_t arrived = 0;
  uint32_t open = 0;
  std::string job;
  std::vector<Wait> waits;
  std::vector<Message> arrived_messages;
  std::vector<Message> open_messages;
  std::vector<Past> past;
  std::vector<Lock> locks;
};

// Reads a page. False: it is none, or it was being written.
[[nodiscard]] bool read_page(const void* bytes, size_t size, Page& page);

enum class State : uint8_t {
  unknown,    // on another host, or not to be read
  starting,   // has not called MPI_Init
  running,    // uses the processor, outside of waits that last
  sleeping,   // sleeps outside of MPI
  waiting,    // in MPI: `page` says what for
  stopped,    // by a signal
  locked,     // all its threads wait for one another, outside of MPI
  finalized,  // has called MPI_Finalize
  ended,      // there is no process
};

// A thread outside of MPI that waits for another thread of its process, however long.
struct ThreadWait {
  uint32_t thread = 0;
  std::string call;   // pthread_cond_wait; empty: not known
  std::string place;  // of the call in the program; empty: not known
};

struct Process {
  int32_t rank = 0;
  int pid = 0;
  State state = State::unknown;
  bool threads_act = false;              // threads beside those that wait may call MPI
  std::vector<ThreadWait> thread_waits;  // where no thread is left to end them
  Page page;                             // where it is waiting
  std::string raw_page;                  // as it was read; empty: there is none
  std::string host;                      // where several were asked
};

struct Snapshot {
  std::string job;
  std::string host;
  std::vector<std::string> hosts;  // where several were asked
  int32_t size = 1;
  uint64_t now_ns = 0;
  std::vector<Process> processes;  // of this host or these, by rank
};

}  // namespace weft::why
