// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The transport between hosts for who needs to know nothing of what carries it.

#include <string>

#include "transport/api/transport.hpp"

namespace weft::transport::net {

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

// The library that is to carry messages of a job on several hosts, and the reason: open() follows it, and `weft info
// net` prints it. UCX is loaded to find out where it comes into question.
enum class Library : uint8_t { tcp, ofi, ucx };
struct LibraryChoice {
  Library by;
  std::string why;
};
[[nodiscard]] LibraryChoice choose_library();

// The protocol of the process that has published these values (boot/notes.hpp), which must be that of its peers.
std::string protocol_in(std::string_view publication);

// The transport to the ranks of another job, by TCP, whatever carries the messages of a job between its hosts.
Transport* open_to_job(const Opening& opening);

// Loads libfabric or UCX where WEFT_NETWORK_LIBRARY or the machine asks for it, opens an endpoint for each lane and
// publishes where they are. All ranks of the job do so together. Ends the job with a message when it cannot be had. To
// be deleted by the caller; its endpoints are its own.
Transport* open(const Opening& opening);

}  // namespace weft::transport::net
