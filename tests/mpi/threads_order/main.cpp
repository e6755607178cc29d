// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// No overtaking with many threads: threads that synchronise send and receive in an order, and the messages must match
// in that order (MPI-5.0, 3.5). A script lists sends and receives, each with the thread that makes it. Messages of one
// source have exactly one right matching, whatever the timing: each message in turn takes the first receive that fits.
// Every script runs with the messages there first, with the receives posted first, and freely; around the ring of
// ranks, and to ourselves.
//
// usage: threads_order [rounds of chance] [seed]
#include <memory>

#include "threads_order/pattern.hpp"

using namespace order;

int main(int argc, char** argv) {
  threads::start(&argc, &argv);
  const int rounds = threads::scaled(argc > 1 ? atoi(argv[1]) : 400);
  const uint64_t seed = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1;
  std::atomic<const char*> part = "start";
  {
    threads::Watch guard(120, [&] { return std::string(part) + ", seed " + std::to_string(seed); });
    watch = &guard;
    const auto senders = std::make_unique<Team>();
    const auto receivers = std::make_unique<Team>();
    part = "first wildcard";
    first_wildcard(*senders);
    const int repeats = threads::scaled(8), per_comm = 8;
    for (const bool to_self : {false, true}) {
      part = to_self ? "named scripts to ourselves" : "named scripts";
      for (int i = 0; i < case_count && expect::failures < 20; ++i) {
        run_scripts(*senders, *receivers, to_self, seed + 1, std::vector<int>(static_cast<size_t>(repeats), i),
                    i * repeats);
      }
      part = to_self ? "scripts of chance to ourselves" : "scripts of chance";
      for (int i = 0; i < rounds; i += per_comm) {
        run_scripts(*senders, *receivers, to_self, seed + 2, std::vector<int>(per_comm, -1), i);
      }
    }
    for (int i = 0; i < threads::scaled(6); ++i) {
      const uint64_t chance = seed * 100 + static_cast<uint64_t>(i);
      part = "full ring";
      full_ring(*senders, *receivers, chance);
      part = "many sources";
      for (uint64_t k = 0; k < 5; ++k) many_sources(*senders, *receivers, chance * 5 + k);
      part = "receivers at once";
      receivers_at_once(*senders, chance);
    }
  }
  return expect::finish();
}
