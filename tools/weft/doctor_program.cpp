// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Things that a program started from here would inherit: variables of the allocator and of OpenMP, libraries that are
// loaded ahead of others, processors.

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <set>

#include "base/cpus.hpp"
#include "weft/doctor.hpp"

namespace weft::tool {
namespace {

std::string variable(const char* name) {
  const char* text = getenv(name);
  return text != nullptr ? text : "";
}

void look_at_allocator(Findings& findings) {
  const std::string tunables = variable("GLIBC_TUNABLES");
  const bool keeps =
      !variable("MALLOC_TRIM_THRESHOLD_").empty() || tunables.find("trim_threshold") != std::string::npos;
  const bool maps = !variable("MALLOC_MMAP_MAX_").empty() || !variable("MALLOC_MMAP_THRESHOLD_").empty() ||
                    tunables.find("mmap_max") != std::string::npos ||
                    tunables.find("mmap_threshold") != std::string::npos;
  if (keeps && maps) {
    findings.push_back({Grade::good, "malloc", "keeps large blocks", ""});
    return;
  }
  findings.push_back(
      {Grade::note, "malloc", "gives large blocks back to the system",
       "a program that allocates large buffers again and again has its pages taken and zeroed each time: try "
       "MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=-1 (at the price of memory that is never given back)"});
}

void look_at_openmp(Findings& findings) {
  const std::string threads = variable("OMP_NUM_THREADS");
  const bool several = !threads.empty() && threads != "1";
  const std::string policy = variable("OMP_WAIT_POLICY");
  const std::string block = variable("KMP_BLOCKTIME");
  const bool spins = policy == "active" || policy == "ACTIVE" || block == "infinite";
  if (several || spins) {
    findings.push_back(
        {spins ? Grade::note : Grade::good, "waiting threads of OpenMP",
         spins ? "spin" : "spin for a while (the runtime's default)",
         spins ? "they take the cores of ranks and threads that have work where there are more threads than "
                 "cores: OMP_WAIT_POLICY=passive there"
               : ""});
  }
  if (!several) return;
  const bool placed = !variable("OMP_PLACES").empty() || !variable("OMP_PROC_BIND").empty() ||
                      !variable("KMP_AFFINITY").empty() || !variable("GOMP_CPU_AFFINITY").empty();
  findings.push_back({placed ? Grade::good : Grade::note, "places of OpenMP's threads", placed ? "set" : "not set",
                      placed ? "" : "threads may move between cores: OMP_PLACES=cores OMP_PROC_BIND=close"});
  if (variable("OMP_STACKSIZE").empty()) {
    findings.push_back(
        {Grade::good, "stacks of OpenMP's threads", "the runtime's default (OMP_STACKSIZE is not set)", ""});
  }
}

// Folders or files of a search path in which there is a library of MPI, with the names that were found.
std::set<std::string> libraries_in(const std::string& path) {
  constexpr const char* names[] = {"libmpi.so.12", "libmpi.so.40", "libmpi.so", "libmpich.so.12"};
  std::set<std::string> found;
  for (size_t at = 0; at < path.size();) {
    const size_t colon = std::min(path.find(':', at), path.size());
    const std::string part = path.substr(at, colon - at);
    at = colon + 1;
    for (const char* name : names) {
      if (!part.empty() && access((part + "/" + name).c_str(), R_OK) == 0) found.insert(part);
    }
  }
  return found;
}

void look_at_libraries(Findings& findings) {
  if (const std::string loaded = variable("LD_PRELOAD"); !loaded.empty()) {
    const bool mpi = loaded.find("libmpi") != std::string::npos;
    findings.push_back({mpi ? Grade::bad : Grade::note, "LD_PRELOAD", loaded,
                        mpi ? "a library of MPI is loaded ahead of the program's own: unset LD_PRELOAD"
                            : "it is loaded into every program, the launcher too"});
  }
  const std::set<std::string> folders = libraries_in(variable("LD_LIBRARY_PATH"));
  if (folders.size() > 1) {
    std::string all;
    for (const std::string& folder : folders) all += (all.empty() ? "" : ", ") + folder;
    findings.push_back({Grade::bad, "libraries of MPI", all,
                        "LD_LIBRARY_PATH leads to several, and a program may get parts of two: leave one in it"});
  }
}

}  // namespace

void look_at_environment(Findings& findings) {
  const base::CpuSet mine = base::affinity();
  const auto all = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const bool bound = mine.count() < all;
  findings.push_back(
      {bound ? Grade::note : Grade::good, "processors for this process",
       std::to_string(mine.count()) + " of " + std::to_string(all),
       bound ? "ranks started from here may use no others: taskset, a control group or a batch system said so" : ""});
  look_at_allocator(findings);
  look_at_openmp(findings);
  look_at_libraries(findings);
}

}  // namespace weft::tool
