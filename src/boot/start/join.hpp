// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How ranks find each other. Ranks start under our own mpiexec (one host; the segment is inherited), under any launcher
// that speaks PMI-1, PMI-2 or PMIx (the ranks of a host pass the segment among themselves), or alone (a singleton: a
// job of one).

#include <cstddef>
#include <string>

#include "boot/job/job.hpp"

namespace weft::boot {

struct HostPage;

// Joins the job the environment describes; `segment_bytes(places)` says how large the shared segment of a host with so
// many places must be (sparse: nothing is reserved by this). Ends the process with a message that names the launcher
// when one is visible but speaks no known protocol. The segment begins with head_bytes(local_ranks) bytes: lines of
// RankStatus (boot/job/status.hpp) and notes (boot/job/notes.hpp), one for each place, and a page
// (boot/job/host_page.hpp); `segment_bytes` counts them. `may_grow` says, once settings are known, whether a job on
// several hosts has spare places.
[[nodiscard]] Job join(size_t (*segment_bytes)(int places), bool (*may_grow)());

// For jobs on several hosts: values of at most longest_value() characters that a rank publishes under a key, and that
// all see after the next barrier. A spawned process's values are seen where it has told them
// (boot/connect/address_exchange.hpp); a value that is not known is empty. `meanwhile` is called again and again while
// a barrier lasts. They end the job when the launcher refuses. Thread-safe, but for barriers.
size_t longest_value();
void publish(const std::string& key, const std::string& value);
[[nodiscard]] std::string published(int rank, const std::string& key);
// The host of a rank, as a number that is the same for all ranks of it and for no other. For jobs on several hosts.
[[nodiscard]] int host_of(int rank);
void barrier(void (*meanwhile)());

// The process may end in any way from now on, and tells another launcher than ours so. Not between hosts: the launcher
// knows the addresses of ranks that the process has not sent to yet. The launcher that a process alone has started
// ends.
void say_done(Job& job);
// Says goodbye to the launcher. Collective under PMI-1 and PMI-2.
void leave(Job& job);

// The page that the ranks of this host share (boot/job/host_page.hpp), of a job on several hosts, until leave().
HostPage& host_page();

// A function to call when this process ends the job, before the launcher is told; nullptr: nothing. It may be called in
// any thread at any time.
void before_end(void (*act)());

// Ends the whole job with this exit status, or 1 where its low eight bits alone are 0, after writing `why` unless it is
// null or empty. Never returns.
[[noreturn]] void abort(int status, const char* why);

}  // namespace weft::boot
