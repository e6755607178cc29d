// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The job as the environment describes it: which launcher started us, and as which rank. Nothing is asked of it here.

#include <string>

#include "base/cpus.hpp"
#include "base/message.hpp"
#include "boot/job/job.hpp"

namespace weft::boot {

// The variables mpiexec sets for each rank.
namespace variable {
inline constexpr const char* rank = "WEFT_RANK";
inline constexpr const char* size = "WEFT_SIZE";
inline constexpr const char* segment_fd = "WEFT_SEGMENT_FD";
inline constexpr const char* segment_address = "WEFT_SEGMENT_ADDRESS";
inline constexpr const char* job_id = "WEFT_JOB_ID";
inline constexpr const char* app_number = "WEFT_APP_NUMBER";
inline constexpr const char* universe_size = "WEFT_UNIVERSE_SIZE";
inline constexpr const char* local_ranks = "WEFT_LOCAL_RANKS";
inline constexpr const char* local_cpus = "WEFT_LOCAL_CPUS";
inline constexpr const char* rank_cpus = "WEFT_RANK_CPUS";
inline constexpr const char* service_cpus = "WEFT_SERVICE_CPUS";
inline constexpr const char* places = "WEFT_PLACES";
inline constexpr const char* service = "WEFT_LAUNCHER_DOOR";
inline constexpr const char* spawned = "WEFT_SPAWNED";
}  // namespace variable

inline constexpr int most_ranks = 1 << 20;

struct Offer {
  Launcher launcher = Launcher::singleton;
  int rank = 0;
  int size = 1;
  bool forced = false;       // WEFT_LAUNCHER names the protocol
  int fd = -1;               // the segment under mpiexec, the launcher's socket under PMI-1 and PMI-2
  std::string address = {};  // where the segment can be opened when its descriptor was closed on the way
  std::string port = {};     // PMI-1 over TCP: host:port, with `pmi_id`
  int pmi_id = -1;
  int app_number = -1;
  int universe_size = -1;
  int local_ranks = 1;
  int local_cpus = 0;              // 0 if it is not known
  base::CpuSet rank_cpus = {};     // it is empty if the rank is not bound
  base::CpuSet service_cpus = {};  // of the library's threads; empty: none of their own
  int places = 0;                  // ranks there may be; 0: not said
  std::string service = {};        // mpiexec's socket
  bool spawned = false;            // the next are there
  bool several_hosts = false;      // the job is on more than this one
  int world_first = 0;
  int world_size = 0;
  uint32_t generation = 0;
  Origin origin = {};
  std::string id = {};
  bool bad = false;  // `problem` says why this cannot be used
  base::Problem problem = {};
};

// Reads the environment: our mpiexec first, then PMI-1, then PMIx; a launcher that is visible but cannot be spoken to
// is a problem. `has_pmix` says whether PMIx's library can be loaded; it is called where the job may have one rank
// alone, which needs no launcher.
[[nodiscard]] Offer read_environment(bool (*has_pmix)());

// A launcher with the program that speaks it, where the environment tells: "Hydra (PMI-1)".
std::string shown_launcher(Launcher launcher);

}  // namespace weft::boot
