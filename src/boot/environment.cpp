// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/environment.hpp"

#include <fcntl.h>

#include <cstdlib>

#include "base/setting.hpp"

namespace weft::boot {
namespace {

using base::Level;
using base::TextSetting;

constexpr const char* launcher_choices[] = {"auto", "singleton"};
enum LauncherChoice { choice_auto, choice_singleton };
static constinit base::ChoiceSetting launcher_choice{
    {.name = "WEFT_LAUNCHER",
     .help = "how ranks find each other: auto looks at the environment, singleton ignores every launcher",
     .subject = base::Subject::start,
     .change = base::Change::before_start,
     .alike = true},
    choice_auto,
    launcher_choices,
    2};
WEFT_SETTING(launcher_choice);

// Rows for what mpiexec tells ranks, so that the names are known; the values are read below, together.
#define WEFT_LAUNCH_VARIABLE(row, variable_name, text)                                                   \
  static constinit TextSetting row{{.name = (variable_name), .help = (text), .level = Level::internal}}; \
  WEFT_SETTING(row)
WEFT_LAUNCH_VARIABLE(rank_row, variable::rank, "this process's rank");
WEFT_LAUNCH_VARIABLE(size_row, variable::size, "ranks of the job");
WEFT_LAUNCH_VARIABLE(segment_row, variable::segment_fd, "descriptor of the job's shared segment");
WEFT_LAUNCH_VARIABLE(address_row, variable::segment_address, "where mpiexec keeps the job's shared segment");
WEFT_LAUNCH_VARIABLE(id_row, variable::job_id, "the job's name in messages");
WEFT_LAUNCH_VARIABLE(app_row, variable::app_number, "which program of prog1 : prog2 this is");
WEFT_LAUNCH_VARIABLE(universe_row, variable::universe_size, "MPI_UNIVERSE_SIZE");
WEFT_LAUNCH_VARIABLE(local_ranks_row, variable::local_ranks, "ranks on this host");
WEFT_LAUNCH_VARIABLE(local_cpus_row, variable::local_cpus, "processors the ranks of this host share");

// Reads whole numbers from the environment; remembers the first thing wrong.
class Reader {
 public:
  explicit Reader(const char* launcher) : launcher_(launcher) {}

  int required(const char* name, int low, int high) {
    const char* text = getenv(name);
    if (!text) {
      fail(std::string(name) + " is not set although other variables of this launcher are");
      return low;
    }
    return number(name, text, low, high);
  }
  int optional(const char* name, int low, int high, int fallback) {
    const char* text = getenv(name);
    return text ? number(name, text, low, high) : fallback;
  }
  void fail(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }
  void conclude(Offer& offer) const {
    if (wrong_.empty()) return;
    offer.bad = true;
    offer.problem = {
        .cause = std::string("the environment of the launcher (") + launcher_ + ") cannot be used: " + wrong_,
        .remedy = "start the program with mpiexec, or set WEFT_LAUNCHER=singleton to run it alone"};
  }

 private:
  int number(const char* name, const char* text, int low, int high) {
    int64_t value = 0;
    std::string wrong = base::parse_number(text, base::Unit::none, value);
    if (wrong.empty() && (value < low || value > high)) {
      wrong = base::quoted(text) + " is out of range: " + std::to_string(low) + " to " + std::to_string(high);
    }
    if (wrong.empty()) return static_cast<int>(value);
    fail(std::string(name) + "=" + wrong);
    return low;
  }

  const char* launcher_;
  std::string wrong_;
};

constexpr int most_fd = 1 << 24;

Offer read_mpiexec() {
  Reader reader("Weft's mpiexec");
  Offer offer{.launcher = Launcher::mpiexec};
  offer.size = reader.required(variable::size, 1, most_ranks);
  offer.rank = reader.required(variable::rank, 0, offer.size - 1);
  offer.fd = reader.required(variable::segment_fd, 0, most_fd);
  offer.app_number = reader.optional(variable::app_number, 0, most_ranks, -1);
  offer.universe_size = reader.optional(variable::universe_size, 1, most_ranks, -1);
  offer.local_ranks = reader.optional(variable::local_ranks, 1, most_ranks, offer.size);
  offer.local_cpus = reader.optional(variable::local_cpus, 1, most_ranks, 0);
  const char* address = getenv(variable::segment_address);
  if (address) offer.address = std::string(address).substr(0, 128);
  const char* id = getenv(variable::job_id);
  if (id) offer.id = std::string(id).substr(0, 64);
  reader.conclude(offer);
  return offer;
}

Offer read_pmi1() {
  Reader reader("PMI-1");
  Offer offer{.launcher = Launcher::pmi1};
  const char* port = getenv("PMI_PORT");
  if (getenv("PMI_FD")) {
    offer.fd = reader.required("PMI_FD", 0, most_fd);
    offer.size = reader.required("PMI_SIZE", 1, most_ranks);
    offer.rank = reader.required("PMI_RANK", 0, offer.size - 1);
  } else {
    offer.port = std::string(port != nullptr ? port : "").substr(0, 300);
    offer.pmi_id = reader.required("PMI_ID", 0, most_ranks);
    offer.size = reader.optional("PMI_SIZE", 1, most_ranks, 1);
    offer.rank = reader.optional("PMI_RANK", 0, offer.size - 1, 0);
  }
  const char* id = getenv("PMI_JOBID");
  if (id) offer.id = std::string(id).substr(0, 64);
  reader.conclude(offer);
  return offer;
}

// Launchers that can be seen but not spoken to.
struct Foreign {
  const char* launcher;
  const char* rank;
  const char* size;  // a variable, or nullptr when there is none: then a rank alone tells nothing of how many there are
  const char* remedy;
};
constexpr Foreign foreign[] = {
    {"Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "start the program with Weft's mpiexec"},
    {"Slurm's srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
     "use \"srun --mpi=pmi2\", or Weft's mpiexec inside the allocation"},
    {"a PMIx launcher", "PMIX_RANK", nullptr,
     "PMIx is not spoken yet: start the program with Weft's mpiexec or with Hydra"},
    {"Cray PALS", "PALS_RANKID", "PALS_SIZE", "start the program with Weft's mpiexec"},
    {"a PMI launcher without PMI_FD", "PMI_RANK", "PMI_SIZE",
     "use a launcher that speaks PMI-1 (PMI_FD), or Weft's mpiexec"},
    {"MVAPICH's mpirun_rsh", "MPIRUN_RANK", "MPIRUN_NPROCS", "start the program with Weft's mpiexec"},
    {"IBM's jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "start the program with Weft's mpiexec"},
};

bool several(const Foreign& launcher) {
  if (!launcher.size) return true;
  const char* text = getenv(launcher.size);
  int64_t size = 0;
  if (!text) return false;
  // What is not understood counts as several: better a message than as many jobs of one rank.
  return !base::parse_number(text, base::Unit::none, size).empty() || size != 1;
}

// Slurm and Open MPI say how many there are, also when PMIx is what they serve.
bool known_to_be_alone() {
  for (const Foreign& launcher : foreign) {
    if (launcher.size && getenv(launcher.rank) && getenv(launcher.size) && !several(launcher)) return true;
  }
  return false;
}

Offer read_alone() {
  Offer offer;
  for (const Foreign& launcher : foreign) {
    const char* rank = getenv(launcher.rank);
    if (!rank || !several(launcher) || (!launcher.size && known_to_be_alone())) continue;
    const char* size = launcher.size ? getenv(launcher.size) : nullptr;
    std::string seen = std::string(launcher.rank) + "=" + base::quoted(rank);
    if (size) seen += ", " + std::string(launcher.size) + "=" + base::quoted(size);
    offer.bad = true;
    offer.problem = {
        .cause = std::string("this process was started by ") + launcher.launcher + " (" + seen +
                 "), which offers no way to find the other ranks that Weft speaks",
        .remedy = std::string(launcher.remedy) + "; or set WEFT_LAUNCHER=singleton if each process shall run alone"};
    return offer;
  }
  return offer;
}

bool is_open(const Offer& offer) {
  return offer.bad || fcntl(offer.fd, F_GETFD) >= 0;
}

}  // namespace

Offer read_environment() {
  if (launcher_choice.value() == choice_singleton) return {};
  bool pmi1 = getenv("PMI_FD") || getenv("PMI_PORT");
  bool own = getenv(variable::rank) || getenv(variable::size) || getenv(variable::segment_fd);
  if (own) {
    Offer offer = read_mpiexec();
    // A rank may have started another launcher: then our variables are inherited, and our segment is closed.
    if (!pmi1 || is_open(offer)) return offer;
  }
  if (pmi1) return read_pmi1();
  return read_alone();
}

}  // namespace weft::boot
