// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The job and the process for which a transport between hosts is opened.

#include <cstddef>
#include <string>

#include "transport/api/transport.hpp"

namespace weft::transport {

// A job of another host that a process of ours is connected with by a port (docs/design/spawn.md, "Two hosts").
struct FarJob {
  int first;           // of its ranks, as we number them: a block
  int place;           // ours in our job
  bool senior;         // which of the two jobs ours is: the other one says the opposite
  std::string secret;  // 32 hexadecimal digits that the ranks of the two alone know
  bool sleeps;         // as of HostsOpening
  bool threads;
};

namespace net {

// How the transport reaches the job: the values that this rank publishes for the others, and those that another has
// published.
struct Directory {
  void (*publish)(const std::string& key, const std::string& value);
  std::string (*published)(int rank, const std::string& key);
  size_t longest;     // characters of a value
  void (*barrier)();  // after which what all have published can be read
};

struct Opening {
  int rank;
  int ranks;
  LaneMap lanes;
  std::string secret;  // 32 hexadecimal digits that the ranks of this job alone know
  // Waits sleep rather than spin: the transport shall have a wait_descriptor(), though messages may take longer with
  // it.
  bool sleeps;
  Directory directory;
  bool threads = true;   // several may call at the same time
  bool late = false;     // the job is under way: no other rank opens its transport now
  bool encrypt = false;  // the contents of messages; open() sets it by WEFT_ENCRYPT
  // Between two jobs: the bit of the ranks above that tells of which job one is, and the exclusive or of such a rank of
  // the other job and the one that this process knows it by. 0: all are of one job.
  uint32_t side = 0;
  int renumber = 0;
};

}  // namespace net
}  // namespace weft::transport
