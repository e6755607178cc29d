// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/job/environment.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/setting.hpp"

namespace weft::boot {
namespace {

using base::SettingLevel;
using base::TextSetting;

constexpr const char* launcher_choices[] = {"auto", "singleton", "pmi1", "pmi2", "pmix"};
enum LauncherChoice { choice_auto, choice_singleton, choice_pmi1, choice_pmi2, choice_pmix };
static constinit base::ChoiceSetting launcher_choice{
    {.name = "WEFT_LAUNCHER",
     .help = "how ranks find each other: auto looks at the environment, singleton ignores every launcher, the others "
             "name the protocol to speak with it",
     .subject = base::Subject::start,
     .change = base::Change::before_start,
     .alike = true},
    choice_auto,
    launcher_choices,
    std::size(launcher_choices)};
WEFT_SETTING(launcher_choice);

// Rows for the variables from mpiexec to ranks, so that the names are known; the values are read below, together.
#define WEFT_LAUNCH_VARIABLE(row, variable_name, text)                                                          \
  static constinit TextSetting row{{.name = (variable_name), .help = (text), .level = SettingLevel::internal}}; \
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
WEFT_LAUNCH_VARIABLE(rank_cpus_row, variable::rank_cpus, "processors that this rank is bound to");
WEFT_LAUNCH_VARIABLE(service_cpus_row, variable::service_cpus, "processors of this rank's service threads");
WEFT_LAUNCH_VARIABLE(places_row, variable::places, "ranks that the job may have, with spawned ones");
WEFT_LAUNCH_VARIABLE(service_row, variable::service, "where mpiexec takes requests of ranks");
WEFT_LAUNCH_VARIABLE(spawned_row, variable::spawned, "the world and the origin of a process that was spawned");

// Reads whole numbers from the environment; remembers the first thing wrong.
class NumberReader {
 public:
  explicit NumberReader(const char* launcher) : launcher_(launcher) {}

  int required(const char* name, int low, int high) {
    const char* text = getenv(name);
    if (!text) {
      fail(std::string(name) + " is not set");
      return low;
    }
    return number(name, text, low, high);
  }
  int optional(const char* name, int low, int high, int fallback) {
    const char* text = getenv(name);
    return text ? number(name, text, low, high) : fallback;
  }
  base::CpuSet cpus(const char* name) {
    base::CpuSet set;
    const char* text = getenv(name);
    const std::string wrong = text ? base::parse_cpu_list(text, set) : "";
    if (!wrong.empty()) fail(std::string(name) + "=" + wrong);
    return set;
  }
  // Reads as many numbers, with commas between them.
  std::vector<int64_t> list(const char* name, size_t count) {
    std::vector<int64_t> values;
    const char* given = getenv(name);
    const std::string text = given != nullptr ? given : "";
    for (size_t at = 0; at <= text.size() && values.size() <= count;) {
      const size_t comma = std::min(text.find(',', at), text.size());
      int64_t value = 0;
      if (!base::parse_number(text.substr(at, comma - at), base::Unit::none, value).empty()) break;
      values.push_back(value);
      at = comma + 1;
    }
    if (values.size() == count) return values;
    fail(std::string(name) + "=" + base::quoted(text) + " is no list of " + std::to_string(count) + " numbers");
    return std::vector<int64_t>(count);
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

// "first,size,generation,root,number"
void read_spawned(NumberReader& reader, Offer& offer) {
  if (getenv(variable::spawned) == nullptr) return;
  const std::vector<int64_t> values = reader.list(variable::spawned, 6);
  const bool fits = values[0] >= 0 && values[1] >= 1 && values[0] <= offer.rank && offer.rank < values[0] + values[1] &&
                    values[0] + values[1] <= offer.places && values[2] >= 0 && values[2] <= INT32_MAX &&
                    values[3] >= 0 && values[3] < offer.places && values[4] >= 0 && values[5] >= 0 && values[5] <= 1;
  if (!fits) reader.fail(std::string(variable::spawned) + " does not fit rank " + std::to_string(offer.rank));
  offer.spawned = true;
  offer.world_first = static_cast<int>(values[0]);
  offer.world_size = static_cast<int>(values[1]);
  offer.generation = static_cast<uint32_t>(values[2]);
  offer.origin = {static_cast<int>(values[3]), static_cast<uint64_t>(values[4])};
  offer.several_hosts = values[5] == 1;
}

Offer read_mpiexec() {
  NumberReader reader("Weft's mpiexec");
  Offer offer{.launcher = Launcher::mpiexec};
  offer.size = reader.required(variable::size, 1, most_ranks);
  offer.places = reader.optional(variable::places, offer.size, most_ranks, offer.size);
  offer.rank = reader.required(variable::rank, 0, offer.places - 1);
  read_spawned(reader, offer);
  if (!offer.spawned && offer.rank >= offer.size) {
    reader.fail(std::string(variable::rank) + "=" + std::to_string(offer.rank) + " is out of range: 0 to " +
                std::to_string(offer.size - 1));
  }
  offer.fd = reader.required(variable::segment_fd, 0, most_fd);
  offer.app_number = reader.optional(variable::app_number, 0, most_ranks, -1);
  offer.universe_size = reader.optional(variable::universe_size, 1, most_ranks, -1);
  offer.local_ranks = reader.optional(variable::local_ranks, 1, most_ranks, offer.size);
  offer.local_cpus = reader.optional(variable::local_cpus, 1, most_ranks, 0);
  offer.rank_cpus = reader.cpus(variable::rank_cpus);
  offer.service_cpus = reader.cpus(variable::service_cpus);
  const char* address = getenv(variable::segment_address);
  if (address) offer.address = std::string(address).substr(0, 128);
  const char* id = getenv(variable::job_id);
  if (id) offer.id = std::string(id).substr(0, 64);
  const char* service = getenv(variable::service);
  if (service) offer.service = std::string(service).substr(0, 256);
  reader.conclude(offer);
  return offer;
}

// The universe that Weft's mpiexec gave, which has handed the job over to another launcher. A rank of a job on one host
// may have started that launcher itself; then the variable is that job's.
int read_universe(NumberReader& reader) {
  return getenv(variable::rank) == nullptr ? reader.optional(variable::universe_size, 1, most_ranks, -1) : -1;
}

// PMI-1 and PMI-2 have the same variables; PMI-2 is not spoken over TCP.
Offer read_pmi(Launcher launcher) {
  NumberReader reader(name(launcher));
  Offer offer{.launcher = launcher};
  const char* port = getenv("PMI_PORT");
  if (getenv("PMI_FD") || !port || launcher == Launcher::pmi2) {
    offer.fd = reader.required("PMI_FD", 0, most_fd);
    offer.size = reader.required("PMI_SIZE", 1, most_ranks);
    offer.rank = reader.required("PMI_RANK", 0, offer.size - 1);
  } else {
    offer.port = std::string(port).substr(0, 300);
    offer.pmi_id = reader.required("PMI_ID", 0, most_ranks);
    offer.size = reader.optional("PMI_SIZE", 1, most_ranks, 1);
    offer.rank = reader.optional("PMI_RANK", 0, offer.size - 1, 0);
  }
  const char* id = getenv("PMI_JOBID");
  if (id) offer.id = std::string(id).substr(0, 64);
  offer.universe_size = read_universe(reader);
  reader.conclude(offer);
  return offer;
}

// The address of PMIx's server is in one of several variables, named after versions of the protocol.
bool pmix_server_is_named() {
  constexpr std::string_view start = "PMIX_SERVER_URI";
  for (char** entry = environ; entry && *entry; ++entry) {
    if (std::string_view(*entry).starts_with(start)) return true;
  }
  return false;
}

// PMIx's library reads the rest itself.
Offer read_pmix() {
  NumberReader reader("PMIx");
  Offer offer{.launcher = Launcher::pmix};
  offer.rank = reader.required("PMIX_RANK", 0, most_ranks - 1);
  if (!getenv("PMIX_NAMESPACE")) reader.fail("PMIX_NAMESPACE is not set");
  if (!pmix_server_is_named()) reader.fail("no variable PMIX_SERVER_URI... is set");
  offer.universe_size = read_universe(reader);
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
    {"Open MPI's mpirun without PMIx", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "use the mpirun of Open MPI 5, or Weft's mpiexec"},
    {"Slurm's srun without PMI", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
     "use \"srun --mpi=pmi2\" or \"srun --mpi=pmix\", or Weft's mpiexec inside the allocation"},
    {"a PMIx launcher without PMIX_SERVER_URI", "PMIX_RANK", nullptr,
     "start the program with a launcher that serves PMIx, or with Weft's mpiexec"},
    {"Cray PALS", "PALS_RANKID", "PALS_SIZE", "start the program with Weft's mpiexec"},
    {"a PMI launcher without PMI_FD", "PMI_RANK", "PMI_SIZE",
     "use a launcher that speaks PMI-1 (PMI_FD), or Weft's mpiexec"},
    {"MVAPICH's mpirun_rsh", "MPIRUN_RANK", "MPIRUN_NPROCS", "start the program with Weft's mpiexec"},
    {"IBM's jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "start the program with Weft's mpiexec"},
};

// The rank that the launcher gave, nullptr: none. Weft's mpiexec sets Open MPI's variables for programs that read them.
const char* rank_by(const Foreign& launcher) {
  const bool ours = &launcher == &foreign[0] && getenv(variable::rank) != nullptr;
  return ours ? nullptr : getenv(launcher.rank);
}

bool several(const Foreign& launcher) {
  if (!launcher.size) return true;
  const char* text = getenv(launcher.size);
  int64_t size = 0;
  if (!text) return false;
  // An unreadable value counts as several: better a message than as many jobs of one rank.
  return !base::parse_number(text, base::Unit::none, size).empty() || size != 1;
}

// Slurm and Open MPI say how many there are, also when PMIx is what they serve.
bool known_to_be_alone() {
  for (const Foreign& launcher : foreign) {
    if (rank_by(launcher) && launcher.size && getenv(launcher.size) && !several(launcher)) return true;
  }
  return false;
}

Offer read_alone() {
  Offer offer;
  for (const Foreign& launcher : foreign) {
    const char* rank = rank_by(launcher);
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

Offer forced(Offer offer) {
  offer.forced = true;
  return offer;
}

// The launchers of others. If both PMI and PMIx are there, the one that started us last is meant: PMIx when PMI's
// descriptor is closed. A job of one needs no launcher, so none has to have PMIx's library for it.
Offer read_others(bool (*has_pmix)()) {
  const bool pmi_seen = getenv("PMI_FD") || getenv("PMI_PORT");
  const bool pmix_seen = getenv("PMIX_RANK") && getenv("PMIX_NAMESPACE") && pmix_server_is_named();
  if (pmi_seen) {
    Offer offer = read_pmi(Launcher::pmi1);
    if (!pmix_seen || !offer.port.empty() || is_open(offer)) return offer;
  }
  if (pmix_seen && (!known_to_be_alone() || has_pmix())) return read_pmix();
  return read_alone();
}

}  // namespace

std::string shown_launcher(Launcher launcher) {
  static constexpr const char* marks[][2] = {{"HYDI_CONTROL_FD", "Hydra"},
                                             {"HYDRA_BSTRAP_PGID", "Intel's Hydra"},
                                             {"PRTE_LAUNCHED", "prterun"},
                                             {"SLURM_STEP_ID", "Slurm's srun"}};
  for (const auto& [variable, program] : marks) {
    if (getenv(variable) != nullptr) return std::string(program) + " (" + name(launcher) + ")";
  }
  return name(launcher);
}

Offer read_environment(bool (*has_pmix)()) {
  switch (launcher_choice.value()) {
    case choice_singleton:
      return {};
    case choice_pmi1:
      return forced(read_pmi(Launcher::pmi1));
    case choice_pmi2:
      return forced(read_pmi(Launcher::pmi2));
    case choice_pmix:
      return forced(read_pmix());
    default:
      break;
  }
  // mpiexec takes the variables of other launchers away. Where ours stand beside theirs, a rank has started that
  // launcher.
  const bool others = getenv("PMI_FD") || getenv("PMI_PORT") || getenv("PMIX_RANK");
  const bool ours = getenv(variable::rank) || getenv(variable::size) || getenv(variable::segment_fd);
  if (ours && !others) return read_mpiexec();
  return read_others(has_pmix);
}

}  // namespace weft::boot
