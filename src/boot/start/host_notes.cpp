// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/start/host_notes.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string_view>
#include <utility>

#include "base/message.hpp"
#include "base/own_cpus.hpp"
#include "base/setting.hpp"
#include "boot/job/reserve.hpp"
#include "boot/job/segment.hpp"

namespace weft::boot {
namespace {

// In notes. A rank says which processors it may use; the first of the host, how many all of them have.
constexpr const char* cpus_key = "cpus";
constexpr const char* reserve_key = "reserve";  // those that the first keeps free of ranks

}  // namespace

HostNotes::HostNotes(Kvs& kvs, const Job& job, const std::vector<int>& here, int places)
    : kvs_(kvs),
      ranks_(static_cast<int>(here.size())),
      place_(static_cast<int>(std::lower_bound(here.begin(), here.end(), job.rank) - here.begin())) {
  if (!notes_.open(job.segment, places, ranks_, place_)) die_of_segment("its head cannot be had", errno);
}

void HostNotes::must(bool done) const {
  if (!done) base::die(kvs_.problem());
}

void HostNotes::write(const std::string& key, const std::string& value) {
  if (notes_.write(key, value)) return;
  base::die({.cause = "no space is left in the job's shared memory for the values that a rank publishes",
             .error = errno,
             .remedy = "free memory on this host; with very many lanes, set WEFT_LANES to fewer"});
}

template <typename Act>
void HostNotes::wait_for(int place, const Act& meanwhile) const {
  for (int looked = 0; !notes_.has_ended(place, turn_); ++looked) {
    meanwhile();
    constexpr timespec shortly{0, 50000};
    if (looked < 100) {
      sched_yield();
    } else {
      nanosleep(&shortly, nullptr);
    }
  }
}

// The processors of each rank of this host, as their notes say: that they have any shows that they have the segment.
// The result has those of this rank alone if one does not say.
std::vector<base::CpuSet> HostNotes::masks(const Job& job, const ListeningSocket& socket) const {
  std::vector<base::CpuSet> masks{base::affinity()};
  for (int place = 1; place < ranks_; ++place) {
    wait_for(place, [&] { socket.send_fd(job.segment.needed()); });
    std::string_view list;
    base::CpuSet cpus;
    if (find_entry(notes_.text(place), cpus_key, list) && base::parse_cpu_list(list, cpus).empty()) {
      masks.push_back(cpus);
    }
  }
  if (masks.size() != static_cast<size_t>(ranks_)) masks.resize(1);
  return masks;
}

// The first rank of the host calls this.
void HostNotes::tell_all(Job& job, const ListeningSocket& socket, base::CpuSet& reserved) {
  const std::vector<base::CpuSet> all = masks(job, socket);
  if (all.size() == static_cast<size_t>(ranks_)) reserved = reserve_of(all);
  job.local_cpus = usable_without(all, reserved);
  if (job.local_ranks != job.size) must(kvs_.get(0, secret_key, job.secret));
  write(cpus_key, std::to_string(job.local_cpus));
  if (!reserved.empty()) write(reserve_key, base::shown_cpu_list(reserved));
  write(secret_key, job.secret);
}

void HostNotes::meet(Job& job, const ListeningSocket& socket) {
  base::CpuSet reserved;
  if (place_ == 0) {
    tell_all(job, socket, reserved);
  } else {
    write(cpus_key, base::shown_cpu_list(base::affinity()));
  }
  notes_.turn_outward();
  notes_.end_turn(turn_);
  wait_for(0, [] {});
  std::string_view cpus;
  std::string_view secret;
  int64_t count = 0;
  const std::string_view told = notes_.text(0);
  if (!find_entry(told, cpus_key, cpus) || !base::parse_number(cpus, base::Unit::none, count).empty() || count < 1 ||
      count > base::CpuSet::capacity || !find_entry(told, secret_key, secret)) {
    base::die({.cause = "the first rank of this host did not publish its processors",
               .remedy = "give all ranks the same Weft library"});
  }
  job.local_cpus = static_cast<int>(count);
  job.secret = secret;
  std::string_view kept;
  if (place_ != 0 && find_entry(told, reserve_key, kept) && !base::parse_cpu_list(kept, reserved).empty())
    reserved = {};
  leave_reserve(reserved, place_ == 0);
}

// The notes of all ranks of this host, as a record.
void HostNotes::publish(void (*meanwhile)()) {
  ++turn_;
  notes_.end_turn(turn_);
  if (place_ != 0) return;
  std::string record;
  std::string_view before;
  for (int place = 0; place < ranks_; ++place) {
    wait_for(place, meanwhile);
    const std::string_view text = notes_.outward_text(place);
    add_note(record, std::exchange(before, text), text);
  }
  must(records_.publish(kvs_, std::move(record), turn_));
}

std::string HostNotes::value_of(int slot, const std::string& key) {
  const ProcessMapping& mapping = kvs_.mapping();
  const std::vector<int> there = mapping.ranks_on(mapping.node_of(slot));
  must(records_.fetch(kvs_, there.front(), turn_));
  const auto place = std::lower_bound(there.begin(), there.end(), slot) - there.begin();
  std::string text;
  std::string_view value;
  if (!find_note(records_.fetched(), static_cast<int>(place), text) || !find_entry(text, key, value)) {
    base::die({.cause = "the record of the ranks that share a host with rank " + std::to_string(there.front()) +
                        " has no " + key + " of rank " + std::to_string(slot),
               .remedy = "give all ranks the same Weft library and the same WEFT_ settings"});
  }
  return std::string(value);
}

}  // namespace weft::boot
