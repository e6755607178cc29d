// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Spawning processes (MPI-5.0, 11.8). The root asks the launcher, which answers when all processes are in MPI_Init or
// when one of them will not come; then both sides make an intercommunicator.
#include "mpi/process/spawn.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/connect/own_launcher.hpp"
#include "boot/connect/service.hpp"
#include "boot/job/environment.hpp"
#include "boot/start/join.hpp"
#include "boot/start/spare_places.hpp"
#include "coll/agree/agree.hpp"
#include "core/object/identity.hpp"
#include "core/progress/progress.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/env/info.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"

namespace weft::mpi {
namespace {

// A command as the root's arguments give it.
struct SpawnCommand {
  const char* command;
  char** arguments;
  int maxprocs;
  MPI_Info info;
};

// The result that the root sends to all ranks.
struct SpawnResult {
  int32_t error;
  int32_t first;  // rank in the job
  int32_t commands;
  uint32_t world;
  char why[1024];
};

// The numbers of processes of a command.
struct CommandCounts {
  int32_t wished;
  int32_t started;
};

std::string meeting_point_of(uint64_t world) {
  return "Weft: spawned world " + std::to_string(world);
}

void put_texts(boot::Packet& packet, const std::vector<std::string>& texts) {
  packet.put(static_cast<int64_t>(texts.size()));
  for (const std::string& text : texts) packet.put(text);
}

std::vector<std::string> words_of(const SpawnCommand& order) {
  std::vector<std::string> words{order.command};
  for (char** word = order.arguments; word != MPI_ARGV_NULL && *word != nullptr; ++word) words.emplace_back(*word);
  return words;
}

std::vector<std::string> split_at(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// The numbers up to `most` that "a", "a:b" or "a:b:c" means (MPI-5.0, 11.8.4). False: it is none of these.
bool add_range(const std::string& text, int most, std::vector<int>& numbers) {
  int64_t parts[3] = {0, 0, 1};
  const std::vector<std::string> given = split_at(text, ':');
  if (given.empty() || given.size() > 3) return false;
  for (size_t i = 0; i < given.size(); ++i) {
    const bool negative = given[i][0] == '-';
    if (!base::parse_number(given[i].substr(negative ? 1 : 0), base::Unit::none, parts[i]).empty()) return false;
    if (negative) parts[i] = -parts[i];
  }
  if (given.size() == 1) parts[1] = parts[0];
  auto [number, last, step] = parts;
  if (step == 0) return false;
  // Only numbers from 0 to `most` are added.
  if (step > 0 && number < 0) number += (-number + step - 1) / step * step;
  if (step < 0 && number > most) number -= (number - most - step - 1) / -step * -step;
  for (; step > 0 ? number <= std::min<int64_t>(last, most) : number >= std::max<int64_t>(last, 0); number += step) {
    numbers.push_back(static_cast<int>(number));
  }
  return true;
}

// The numbers of processes that may be started, the largest first. False: the info key soft is wrong.
bool counts_of(const SpawnCommand& order, const Info* info, std::vector<int>& counts) {
  const std::optional<std::string> soft = info != nullptr ? info->find("soft") : std::nullopt;
  if (!soft) {
    counts = {order.maxprocs};
    return true;
  }
  for (const std::string& range : split_at(*soft, ',')) {
    if (!add_range(range, order.maxprocs, counts)) return false;
  }
  std::sort(counts.rbegin(), counts.rend());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return !counts.empty();
}

// Settings of the process to be that info keys give (MPI-5.0, 11.2.2 and 11.8.4).
std::vector<std::string> variables_of(const Info* info) {
  static constexpr const char* keys[][2] = {{"mpi_initial_errhandler", "WEFT_INITIAL_ERRHANDLER"},
                                            {"mpi_memory_alloc_kinds", "WEFT_MEMORY_ALLOC_KINDS"}};
  std::vector<std::string> variables;
  for (const auto& [key, variable] : keys) {
    const std::optional<std::string> value = info != nullptr ? info->find(key) : std::nullopt;
    if (value) variables.push_back(std::string(variable) + "=" + *value);
  }
  return variables;
}

std::string text_of(const Info* info, const char* key) {
  return info != nullptr ? info->find(key).value_or("") : "";
}

SpawnResult refused(SpawnResult result, int32_t error, const std::string& why) {
  result.error = error;
  (void)snprintf(result.why, sizeof result.why, "%s", why.c_str());
  return result;
}

// An order with the numbers of processes that it allows. An error: the result says which argument is wrong, and of
// which command.
SpawnResult check_order(const SpawnCommand& order, std::vector<int>& counts) {
  const SpawnResult result{.error = MPI_SUCCESS};
  if (no_address(order.command))
    return refused(result, MPI_ERR_ARG, "a command is a null pointer, or a number that is no address");
  if (*order.command == '\0') return refused(result, MPI_ERR_ARG, "a command is empty");
  const std::string command = " of the command " + base::quoted_path(order.command);
  if (order.maxprocs < 0) {
    const std::string count = "maxprocs" + command + " is " + std::to_string(order.maxprocs);
    return refused(result, MPI_ERR_ARG, count + ": it must not be negative");
  }
  const Info* const info = info_of(order.info);
  if (info == nullptr && order.info != MPI_INFO_NULL) {
    const std::string given = handle_text(reinterpret_cast<uintptr_t>(order.info));
    return refused(result, MPI_ERR_INFO, "the info" + command + " is " + given);
  }
  if (counts_of(order, info, counts)) return result;
  return refused(result, MPI_ERR_INFO_VALUE,
                 "the value of soft" + command + " is " + base::quoted(text_of(info, "soft")) +
                     ": it must be numbers and ranges (a:b or a:b:c) with commas, with any number from 0 to " +
                     std::to_string(order.maxprocs));
}

// The fields that mpiexec's Launch::read_spawn() reads.
void write_order(const SpawnCommand& order, const std::vector<int>& counts, boot::Packet& question) {
  const Info* const info = info_of(order.info);
  put_texts(question, words_of(order));
  put_texts(question, variables_of(info));
  char here[4096] = "";
  std::string folder = text_of(info, "wdir");
  if (getcwd(here, sizeof here) == nullptr) here[0] = '\0';
  if (folder.empty()) folder = here;
  if (folder[0] != '/' && here[0] != '\0') folder = std::string(here) + "/" + folder;
  question.put(folder);
  put_texts(question, split_at(text_of(info, "path"), ':'));
  question.put(text_of(info, "host"));
  question.put(static_cast<int64_t>(counts.size()));
  for (const int count : counts) question.put(count);
}

// The orders, as a request has them behind its first fields, and the numbers of each: none if one of these is wrong, as
// the error codes of the processes have no places then. An error if an order is wrong.
SpawnResult write_orders(const std::vector<SpawnCommand>& orders, boot::Packet& written,
                         std::vector<CommandCounts>& numbers) {
  for (const SpawnCommand& order : orders) numbers.push_back({order.maxprocs, 0});
  if (std::any_of(numbers.begin(), numbers.end(), [](const CommandCounts& n) { return n.wished < 0; })) numbers.clear();
  for (const SpawnCommand& order : orders) {
    std::vector<int> counts;
    if (const SpawnResult result = check_order(order, counts); result.error != MPI_SUCCESS) return result;
    write_order(order, counts, written);
  }
  return {.error = MPI_SUCCESS};
}

// Asks the mpiexec of this host.
SpawnResult request_spawn(const Comm& comm, const boot::Packet& orders, std::vector<CommandCounts>& numbers) {
  SpawnResult result{.error = MPI_SUCCESS};
  if (const std::string why = need_service(); !why.empty()) return refused(result, MPI_ERR_SPAWN, why);
  boot::Packet question = question_of(boot::request::spawn);
  std::vector<int32_t> places;  // of those here
  for (const int32_t member : job_ranks_of(*comm.group)) {
    if (const int32_t place = core::identity->job.place_here(member); place >= 0) places.push_back(place);
  }
  question.put(static_cast<int64_t>(places.size()));
  for (const int32_t place : places) question.put(place);
  question.put(core::identity->job.one_host() ? "" : boot::description_of(core::identity->job, boot::host_of));
  const auto count = static_cast<int64_t>(numbers.size());
  question.put(count);
  boot::Packet answer;
  std::string why;
  if (!ask(boot::Packet(question.bytes() + orders.bytes()), answer, why)) return refused(result, MPI_ERR_SPAWN, why);
  result.world = static_cast<uint32_t>(answer.take_number(1, UINT32_MAX));
  result.first =
      core::identity->job.rank_at(static_cast<int32_t>(answer.take_number(0, core::identity->places_here() - 1)));
  (void)answer.take_number(count, count);
  for (CommandCounts& number : numbers) number.started = static_cast<int32_t>(answer.take_number(0, number.wished));
  if (answer.is_bad()) {
    return refused(result, MPI_ERR_SPAWN, "mpiexec's answer cannot be read: is it of the library's version?");
  }
  return result;
}

// Another host, where all processes of a spawn are to start.
struct Elsewhere {
  char host[256];  // empty: they start on the root's
  int64_t bytes;   // of the orders
  int64_t commands;
};

// "b", of "b:2" or "b.cluster"; empty: it names several, or is no name that hosts give themselves.
std::string short_name(const std::string& host) {
  const bool is_address = !host.empty() && host[0] >= '0' && host[0] <= '9';
  if (is_address || host == "localhost" || host.find(',') != std::string::npos) return {};
  return host.substr(0, host.find_first_of(":."));
}

std::string own_host() {
  char name[256] = "";
  (void)gethostname(name, sizeof name - 1);
  return short_name(name);
}

// The root's, of a job on several hosts. Orders that name several hosts, or one of them none, are refused by mpiexec.
Elsewhere host_of_orders(const std::vector<SpawnCommand>& orders, const boot::Packet& written) {
  Elsewhere elsewhere{};
  std::string host;
  for (const SpawnCommand& order : orders) {
    const std::string wanted = short_name(text_of(info_of(order.info), "host"));
    if (wanted.empty() || (!host.empty() && host != wanted)) return elsewhere;
    host = wanted;
  }
  if (host == own_host() || host.size() >= sizeof elsewhere.host) return elsewhere;
  (void)snprintf(elsewhere.host, sizeof elsewhere.host, "%s", host.c_str());
  elsewhere.bytes = static_cast<int64_t>(written.bytes().size());
  elsewhere.commands = static_cast<int64_t>(orders.size());
  return elsewhere;
}

// Which rank asks its mpiexec: the root, or the first on the host that the root's orders name, to which these go then.
// An error code, or core::no_error; -1 in `asks`: there is no rank on that host.
int32_t choose_asking_rank(const coll::Founders& founders, int root, Elsewhere& elsewhere, boot::Packet& written,
                           std::vector<CommandCounts>& numbers, int32_t& asks) {
  asks = root;
  int32_t lost = coll::spread(founders, root, &elsewhere, sizeof elsewhere);
  if (lost != core::no_error || elsewhere.host[0] == '\0') return lost;
  const bool is_here = own_host() == elsewhere.host;
  coll::Vote vote{is_here ? static_cast<uint64_t>(founders.place) : core::no_offer, 0};
  lost = coll::agree(founders, vote);
  asks = vote.offer == core::no_offer ? -1 : static_cast<int32_t>(vote.offer);
  if (lost != core::no_error || asks < 0) return lost;
  std::string bytes = written.bytes();
  bytes.resize(static_cast<size_t>(elsewhere.bytes));
  numbers.resize(static_cast<size_t>(elsewhere.commands));
  lost = coll::spread(founders, root, bytes.data(), elsewhere.bytes);
  if (lost == core::no_error)
    lost =
        coll::spread(founders, root, numbers.data(), static_cast<int64_t>(sizeof(CommandCounts)) * elsewhere.commands);
  written = boot::Packet(std::move(bytes));
  return lost;
}

constinit int code_of_not_started = MPI_ERR_SPAWN;

void write_codes(const std::vector<CommandCounts>& numbers, int* codes) {
  if (codes == MPI_ERRCODES_IGNORE) return;
  for (const CommandCounts& command : numbers) {
    for (int32_t i = 0; i < command.wished; ++i) *codes++ = i < command.started ? MPI_SUCCESS : code_of_not_started;
  }
}

int check_call(const char* function, MPI_Comm handle, int root, const MPI_Comm* intercomm, Comm*& comm) {
  comm = comm_of(handle);
  if (comm == nullptr) return bad_comm(function, handle);
  if (comm->is_inter()) {
    return fail(comm, function, MPI_ERR_COMM, "%s has two groups: an intra-communicator is needed",
                comm_text(*comm).c_str());
  }
  if (root < 0 || root >= comm->size) {
    return no_rank(comm, function, MPI_ERR_ROOT, "root", root, comm_text(*comm).c_str(), comm->size);
  }
  if (comm->several_jobs) {
    return fail(
        comm, function, MPI_ERR_SPAWN,
        "%s has processes of several jobs, which have no launcher in common: spawn on a communicator of one job",
        comm_text(*comm).c_str());
  }
  return no_address(intercomm) ? null_argument(comm, function, "intercomm") : MPI_SUCCESS;
}

int spawn(const char* function, Comm& comm, int root, const std::vector<SpawnCommand>& orders, MPI_Comm* intercomm,
          int* codes) {
  *intercomm = MPI_COMM_NULL;
  std::vector<CommandCounts> numbers;
  boot::Packet written;
  SpawnResult result{};
  const coll::Founders founders = founders_of(comm);
  if (comm.rank == root) result = write_orders(orders, written, numbers);
  int32_t asks = root;
  int32_t lost = core::no_error;
  Elsewhere elsewhere{};
  if (!core::identity->job.one_host()) {
    if (comm.rank == root && result.error == MPI_SUCCESS) elsewhere = host_of_orders(orders, written);
    lost = choose_asking_rank(founders, root, elsewhere, written, numbers, asks);
  }
  if (lost == core::no_error && asks < 0) {
    asks = root;
    const std::string host = elsewhere.host;
    result =
        refused(result, MPI_ERR_SPAWN,
                "processes cannot be spawned on \"" + host + "\": no rank of " + comm_text(comm) +
                    " is there. Remedy: leave the info key host out, or spawn on a communicator that has a rank of "
                    "that host");
  } else if (lost == core::no_error && comm.rank == asks && result.error == MPI_SUCCESS) {
    result = request_spawn(comm, written, numbers);
  }
  if (comm.rank == asks) {
    result.commands = static_cast<int32_t>(numbers.size());
    if (result.error != MPI_SUCCESS)
      std::for_each(numbers.begin(), numbers.end(), [](CommandCounts& n) { n.started = 0; });
  }
  if (lost == core::no_error) lost = coll::spread(founders, asks, &result, sizeof result);
  if (lost == core::no_error && result.commands > 0) {
    numbers.resize(static_cast<size_t>(result.commands));
    lost = coll::spread(founders, asks, numbers.data(), static_cast<int64_t>(sizeof(CommandCounts)) * result.commands);
  }
  if (lost != core::no_error) return fail(&comm, function, lost, "the root could not tell the others what was started");
  write_codes(numbers, codes);
  if (result.error != MPI_SUCCESS) return fail(&comm, function, result.error, "%s", result.why);
  boot::learn_own_launcher(core::identity->job);
  Comm* made = nullptr;
  const int error = meet_others(function, comm, asks, result.first, meeting_point_of(result.world).c_str(), made);
  if (made != nullptr) *intercomm = handle_of<MPI_Comm>(made);
  return error;
}

}  // namespace

void set_code_of_not_started(int code) {
  code_of_not_started = code;
}

boot::Packet question_of(const char* kind) {
  boot::Packet packet;
  packet.put(kind).put(core::identity->place_here()).put(core::identity->job.generation);
  return packet;
}

std::string need_service() {
  static constinit std::mutex starting;
  boot::Job& job = core::identity->job;
  const std::lock_guard guard(starting);
  if (!job.service.empty()) return {};
  if (job.launcher == boot::Launcher::mpiexec) {
    return "this job cannot have more processes. Remedy: start it with mpiexec --universe N, N being the most "
           "processes it has at a time";
  }
  if (!job.can_grow()) {
    return "a job on several hosts, started through " + boot::shown_launcher(job.launcher) + ", with more than " +
           std::to_string(boot::most_ranks_that_grow) +
           " ranks, or with WEFT_MINIMUM_MEMORY=host, cannot spawn processes, nor open ports. Remedy: start it with "
           "fewer "
           "ranks, without that setting, or on one host";
  }
  base::Problem problem;
  if (boot::start_own_launcher(
          job, [] { (void)core::progress(); }, problem))
    return {};
  return base::describe(problem);
}

bool ask(const boot::Packet& question, boot::Packet& answer, std::string& why) {
  return ask_at(core::identity->job.service, 0, question, answer, why);
}

bool ask_at(const std::string& socket, int most_s, const boot::Packet& question, boot::Packet& answer,
            std::string& why) {
  if (!boot::ask_launcher(
          socket, question, answer, [] { (void)core::progress(); }, most_s)) {
    const bool ours = socket == core::identity->job.service;
    why = base::describe({.cause = ours ? "mpiexec cannot be asked" : "the mpiexec of the other job cannot be asked",
                          .error = errno,
                          .remedy = ours ? "see whether it still runs" : "see whether that job still runs"});
    return false;
  }
  const bool refused = answer.take_number(0, 1) != 0;
  why = answer.take_text();
  if (answer.is_bad()) why = "mpiexec's answer cannot be read: is it of the library's version?";
  return !refused && !answer.is_bad();
}

int meet_parents(const char* function) {
  const boot::Job& job = core::identity->job;
  if (job.origin.root < 0) return MPI_SUCCESS;
  boot::Packet answer;
  std::string why;
  Comm& all = *comm_of(MPI_COMM_WORLD);
  if (!ask(question_of(boot::request::ready), answer, why)) {
    return fail(&all, function, MPI_ERR_SPAWN, "the processes that spawned this one cannot be reached: %s",
                why.c_str());
  }
  Comm* made = nullptr;
  const std::string point = meeting_point_of(job.origin.number);
  if (const int error = meet_others(function, all, 0, job.origin.root, point.c_str(), made)) return error;
  made->name = "MPI_COMM_PARENT";
  parent_comm = made;
  return MPI_SUCCESS;
}

int comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
               MPI_Comm* intercomm, int array_of_errcodes[]) {
  static const char* function = "MPI_Comm_spawn";
  Comm* c = nullptr;
  if (int error = check_call(function, comm, root, intercomm, c)) return error;
  std::vector<SpawnCommand> orders;
  if (c->rank == root) orders.push_back({command, argv, maxprocs, info});
  return spawn(function, *c, root, orders, intercomm, array_of_errcodes);
}

int comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[], const int array_of_maxprocs[],
                        const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm* intercomm,
                        int array_of_errcodes[]) {
  static const char* function = "MPI_Comm_spawn_multiple";
  Comm* c = nullptr;
  if (int error = check_call(function, comm, root, intercomm, c)) return error;
  std::vector<SpawnCommand> orders;
  if (c->rank == root) {
    const bool given = !no_address(array_of_commands) && !no_address(array_of_maxprocs) && !no_address(array_of_info);
    for (int i = 0; i < count && given; ++i) {
      char** const arguments = array_of_argv == MPI_ARGVS_NULL ? MPI_ARGV_NULL : array_of_argv[i];
      orders.push_back({array_of_commands[i], arguments, array_of_maxprocs[i], array_of_info[i]});
    }
    // Without a command, the launcher would be asked for nothing: an invalid one makes all ranks return an error.
    if (orders.empty()) orders.push_back({nullptr, MPI_ARGV_NULL, 0, MPI_INFO_NULL});
  }
  return spawn(function, *c, root, orders, intercomm, array_of_errcodes);
}

}  // namespace weft::mpi
