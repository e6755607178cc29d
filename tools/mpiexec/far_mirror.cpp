// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/far_mirror.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "boot/job/segment.hpp"
#include "boot/job/status.hpp"

namespace weft::mpiexec {
namespace {

// The fields of a line that other jobs hear of, as one number.
uint64_t gist_of(const boot::RankStatus& line) {
  return uint64_t{line.generation.load(std::memory_order_acquire)} << 40 ^
         uint64_t { line.pid.load(std::memory_order_relaxed) } << 8 ^ line.phase.load(std::memory_order_acquire);
}

}  // namespace

OwnLines::~OwnLines() {
  if (lines_ != nullptr) munmap(const_cast<boot::RankStatus*>(lines_), boot::job_header_bytes(places_));
}

void OwnLines::begin(int segment, int places) {
  segment_ = segment;
  places_ = places;
}

bool OwnLines::put_news(std::vector<uint64_t>& told, boot::Packet& packet) {
  if (lines_ == nullptr) {
    void* const lines = mmap(nullptr, boot::job_header_bytes(places_), PROT_READ, MAP_SHARED, segment_, 0);
    if (lines == MAP_FAILED) return false;
    lines_ = static_cast<const boot::RankStatus*>(lines);
  }
  const bool first = told.empty();
  told.resize(static_cast<size_t>(places_));
  std::vector<int> changed;
  for (int place = 0; place < places_; ++place) {
    const uint64_t gist = gist_of(lines_[place]);
    if (std::exchange(told[static_cast<size_t>(place)], gist) != gist) changed.push_back(place);
  }
  if (changed.empty() && !first) return false;
  packet.put(static_cast<int64_t>(changed.size()));
  for (const int place : changed) {
    const boot::RankStatus& line = lines_[place];
    packet.put(place)
        .put(line.generation.load(std::memory_order_acquire))
        .put(line.pid.load(std::memory_order_relaxed))
        .put(line.phase.load(std::memory_order_acquire));
  }
  return true;
}

FarMirror::~FarMirror() {
  end();
  if (lines_ != nullptr) munmap(lines_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

// Lines that nobody has written to are of processes that have not come.
bool FarMirror::make(int places) {
  places_ = places;
  bytes_ = boot::job_header_bytes(places + 1);
  descriptor_ = boot::create_segment(false);
  if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(bytes_)) != 0 ||
      !boot::reserve_segment(descriptor_, 0, bytes_))
    return false;
  void* const lines = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (lines == MAP_FAILED) return false;
  lines_ = static_cast<boot::RankStatus*>(lines);
  return true;
}

bool FarMirror::take_news(boot::Packet& packet) {
  for (int64_t left = packet.take_number(0, places_); left > 0 && !packet.is_bad(); --left) {
    const int64_t place = packet.take_number(0, places_ - 1);
    const auto generation = static_cast<uint32_t>(packet.take_number(0, UINT32_MAX));
    const auto pid = static_cast<uint32_t>(packet.take_number(0, UINT32_MAX));
    const auto phase = static_cast<uint32_t>(packet.take_number(0, static_cast<int64_t>(boot::last_phase)));
    if (packet.is_bad()) break;
    boot::RankStatus& line = lines_[place];
    line.pid.store(pid, std::memory_order_relaxed);
    line.phase.store(phase, std::memory_order_release);
    line.generation.store(generation, std::memory_order_release);
  }
  return !packet.is_bad();
}

bool FarMirror::is_there(int64_t place, int64_t generation) const {
  const boot::RankStatus& line = lines_[place];
  const auto phase = static_cast<boot::Phase>(line.phase.load(std::memory_order_relaxed));
  return (phase == boot::Phase::started || phase == boot::Phase::initialised) &&
         line.generation.load(std::memory_order_relaxed) == generation;
}

void FarMirror::end() {
  if (lines_ != nullptr) lines_[places_].gone.store(1, std::memory_order_release);
}

}  // namespace weft::mpiexec
