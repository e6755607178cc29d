// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/start/spare_places.hpp"

#include <algorithm>

#include "boot/connect/packet.hpp"
#include "boot/job/environment.hpp"

namespace weft::boot {
namespace {

std::vector<int> hosts;  // in the order of their first ranks

// False: this host is none of them.
bool number(Job& job, int own_host) {
  const auto own = std::find(hosts.begin(), hosts.end(), own_host);
  job.first_spare = job.started + static_cast<int>(own - hosts.begin()) * job.spare;
  job.places = job.started + static_cast<int>(hosts.size()) * job.spare;
  return own != hosts.end();
}

void look_at(int host) {
  if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
}

}  // namespace

void number_spare_places(Job& job, int (*host_of)(int rank)) {
  for (int rank = 0; rank < job.started; ++rank) look_at(host_of(rank));
  (void)number(job, host_of(job.rank));
}

int host_of_spare(const Spares& spares, int rank) {
  return hosts[std::min(static_cast<size_t>((rank - spares.started) / spares.spare), hosts.size() - 1)];
}

std::string description_of(const Job& job, int (*host_of)(int rank)) {
  Packet packet;
  packet.put(job.id).put(job.secret).put(job.started).put(job.spare).put(static_cast<int64_t>(job.here.size()));
  for (const int rank : job.here) packet.put(rank);
  for (int rank = 0; rank < job.started; ++rank) packet.put(host_of(rank));
  return packet.bytes();
}

bool take_description(Job& job, std::string text, int place, std::vector<int>& host_of_rank) {
  Packet packet(std::move(text));
  job.id = packet.take_text();
  job.secret = packet.take_text();
  job.started = static_cast<int>(packet.take_number(1, most_ranks_that_grow));
  job.spare = static_cast<int>(packet.take_number(1, most_ranks));
  for (int64_t left = packet.take_number(1, most_ranks_that_grow); left > 0 && !packet.is_bad(); --left) {
    job.here.push_back(static_cast<int>(packet.take_number(0, job.started - 1)));
  }
  for (int rank = 0; rank < job.started && !packet.is_bad(); ++rank) {
    host_of_rank.push_back(static_cast<int>(packet.take_number(0, INT32_MAX)));
    look_at(host_of_rank.back());
  }
  const bool good = !packet.is_bad() && job.secret.size() == 32 && std::is_sorted(job.here.begin(), job.here.end()) &&
                    number(job, host_of_rank[static_cast<size_t>(job.here.front())]) && place >= job.started_here() &&
                    place < job.places_here();
  if (good) job.rank = job.rank_at(place);
  return good;
}

}  // namespace weft::boot
