// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The transport between hosts through libfabric, for who needs to know nothing of libfabric.

#include <string>

#include "transport/api/transport.hpp"

namespace weft::transport::net {

// How the transport reaches the job: what this rank publishes for the others, and what another has published.
struct Directory {
  void (*publish)(const std::string& key, const std::string& value);
  std::string (*published)(int rank, const std::string& key);
  size_t longest;  // characters of a value
};

// Loads libfabric, opens an endpoint for each lane and publishes where they are; peers can be connected to after a
// barrier. `secret`: 32 hexadecimal digits that the ranks of this job alone know. Ends the job with a message when it
// cannot be had. To be deleted by the caller; its endpoints are its own.
Transport* open(int rank, int ranks, LaneMap lanes, const std::string& secret, const Directory& directory);

}  // namespace weft::transport::net
