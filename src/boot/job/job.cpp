// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/job/job.hpp"

#include <algorithm>

namespace weft::boot {

int Job::place_here(int job_rank) const {
  if (here.empty()) return job_rank;
  if (spare != 0 && job_rank >= first_spare && job_rank < first_spare + spare)
    return static_cast<int>(here.size()) + job_rank - first_spare;
  const auto at = std::lower_bound(here.begin(), here.end(), job_rank);
  return at != here.end() && *at == job_rank ? static_cast<int>(at - here.begin()) : -1;
}

int Job::rank_at(int place) const {
  if (here.empty()) return place;
  const auto count = static_cast<int>(here.size());
  return place < count ? here[static_cast<size_t>(place)] : first_spare + place - count;
}

const char* name(Launcher launcher) {
  switch (launcher) {
    case Launcher::mpiexec:
      return "mpiexec";
    case Launcher::pmi1:
      return "PMI-1";
    case Launcher::pmi2:
      return "PMI-2";
    case Launcher::pmix:
      return "PMIx";
    default:
      return "singleton";
  }
}

}  // namespace weft::boot
