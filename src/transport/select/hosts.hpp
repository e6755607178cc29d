// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The transport between hosts for who needs to know nothing of what carries it.

#include <string>

#include "transport/api/transport.hpp"
#include "transport/net/opening.hpp"

namespace weft::transport::net {

// The library that is to carry messages of a job on several hosts, and the reason: open() follows it, and `weft info
// net` prints it. UCX is loaded to find out where it comes into question.
enum class NetworkLibrary : uint8_t { tcp, ofi, ucx };
struct LibraryChoice {
  NetworkLibrary by;
  std::string why;
};
[[nodiscard]] LibraryChoice choose_library();

// The protocol of the process that has published these values (boot/job/notes.hpp), which must be that of its peers.
std::string protocol_in(std::string_view publication);

// The transport to the ranks of another job, by TCP, whatever carries the messages of a job between its hosts.
Transport* open_to_job(const Opening& opening);

// Loads libfabric or UCX where WEFT_NETWORK_LIBRARY or the machine asks for it, opens an endpoint for each lane and
// publishes where they are. All ranks of the job do so together. Ends the job with a message when it cannot be had. To
// be deleted by the caller; its endpoints are its own.
Transport* open(const Opening& opening);

}  // namespace weft::transport::net
