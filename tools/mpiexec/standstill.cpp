// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/standstill.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/setting.hpp"
#include "boot/job/mpiexec_settings.hpp"
#include "why/findings.hpp"
#include "why/system.hpp"

namespace weft::mpiexec {
namespace {

using base::second;

bool snapshot_of_own(why::Snapshot& snapshot) {
  for (const why::Job& job : why::find_jobs()) {
    if (!std::binary_search(job.pids.begin(), job.pids.end(), getpid())) continue;
    snapshot = why::look_at(job);
    return !snapshot.processes.empty();
  }
  return false;
}

}  // namespace

void Standstill::begin(uint64_t now_ns) {
  base::load_known_settings();
  after_ns_ = boot::hang_report_seconds() * second;
  heard_ns_ = looked_ns_ = now_ns;
}

uint64_t Standstill::due() const {
  return after_ns_ == 0 || stopped_ ? UINT64_MAX : std::max(heard_ns_, looked_ns_) + after_ns_;
}

std::string Standstill::look_after_delay(uint64_t now_ns) {
  looked_ns_ = now_ns;
  why::Snapshot snapshot;
  if (!snapshot_of_own(snapshot)) return {};
  const std::vector<why::Finding> findings = find_causes(snapshot);
  if (std::none_of(findings.begin(), findings.end(), [](const why::Finding& f) { return is_certain(f.cause); }))
    return {};
  after_ns_ = 0;
  return as_text(snapshot);
}

std::string Standstill::look() {
  why::Snapshot snapshot;
  return snapshot_of_own(snapshot) ? as_text(snapshot) : std::string();
}

}  // namespace weft::mpiexec
