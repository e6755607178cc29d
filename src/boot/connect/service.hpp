// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Requests of a rank to the launcher while the job runs: it starts processes, and knows ports and names. Each request
// has a connection of its own to the launcher's listening socket, which has an abstract name, which takes callers of
// its own user alone; so threads ask independently, and a caller that is gone is noticed. An answer may take as long as
// others let it wait (a port that nobody connects to).

#include <string>
#include <vector>

#include "boot/connect/packet.hpp"

namespace weft::boot {

// The kinds of requests: the first field of each.
namespace request {
// The place and generation of the process that asks follow, then what tools/mpiexec/spawn.cpp reads.
inline constexpr const char* spawn = "spawn";
inline constexpr const char* ready = "ready";  // a spawned process is in MPI_Init
// The facts that a spawned process of a job on several hosts needs (boot/start/spare_places.hpp).
inline constexpr const char* describe = "describe";
inline constexpr const char* open_port = "open port";
inline constexpr const char* close_port = "close port";
inline constexpr const char* publish = "publish";
inline constexpr const char* unpublish = "unpublish";
inline constexpr const char* look_up = "look up";
inline constexpr const char* accept = "accept";
inline constexpr const char* connect = "connect";
// These are for ports of other hosts. Where the job is known, the answer is its number; its facts
// (core/object/other_jobs.cpp); and an exchange of texts between two processes that connect, each of which gets those
// of the other.
inline constexpr const char* reach = "reach";
inline constexpr const char* facts = "facts";
inline constexpr const char* connect_far = "connect far";
inline constexpr const char* exchange = "exchange";
inline constexpr const char* met = "met";      // the intercommunicator of a connection is there
inline constexpr const char* leave = "leave";  // the process leaves the job; of one that mpiexec has not started

// Processes of other jobs of the user ask these (docs/design/spawn.md, "Two jobs").
inline constexpr const char* visit = "visit";  // answered with the job's name, its places and its segment
inline constexpr const char* tree = "tree";    // from mpiexec --jobs: the job and what it has spawned, as text
inline constexpr const char* look_up_here = "look up here";
// The name and number of the job of the process that asks, its place and generation; then as `connect`.
inline constexpr const char* connect_here = "connect here";
}  // namespace request

// A job on several hosts connects with no other job. The names of its ports end so, by which others see that; and why
// a connection with it cannot be, with the remedy.
inline constexpr const char* mark_of_several_hosts = "/several-hosts";
[[nodiscard]] std::string no_other_job(const std::string& id);

// Asks, and waits for the answer, `most_s` seconds at most (0: as long as it takes); `meanwhile` is called again and
// again. False with errno: the launcher could not be reached, hung up, or took too long (ETIMEDOUT).
[[nodiscard]] bool ask_launcher(const std::string& socket, const Packet& question, Packet& answer, void (*meanwhile)(),
                                int most_s = 0);

// Asks several at the same time, so that one that does not answer (it is stopped) costs the time once. The answers of
// those that have answered in time, in the order of the sockets.
[[nodiscard]] std::vector<Packet> ask_launchers(const std::vector<std::string>& sockets, const Packet& question,
                                                void (*meanwhile)(), int most_s);

}  // namespace weft::boot
