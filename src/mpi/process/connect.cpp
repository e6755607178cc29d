// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Connections between processes of one job, or of two jobs: ports, published names, and MPI_Comm_join (MPI-5.0, 11.9).
// The mpiexec of the job that has opened a port knows the port. It pairs two roots that call it and tells each the job
// and place of the other, and both sides make an intercommunicator. If the port is of another host, the own mpiexec
// asks the mpiexec there.

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/connect/address_exchange.hpp"
#include "boot/connect/job_number.hpp"
#include "boot/connect/own_launcher.hpp"
#include "boot/connect/port_files.hpp"
#include "boot/connect/service.hpp"
#include "coll/agree/agree.hpp"
#include "core/dynamic/meeting.hpp"
#include "core/dynamic/processes.hpp"
#include "core/object/failure.hpp"
#include "core/object/identity.hpp"
#include "core/object/other_jobs.hpp"
#include "core/progress/progress.hpp"
#include "core/thread/thread.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/env/info.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"
#include "mpi/process/spawn.hpp"

namespace weft::mpi {
namespace {

namespace request = boot::request;

constinit base::IntSetting patience{
    {.name = "WEFT_CONNECT_TIMEOUT",
     .help = "MPI_Comm_connect without the info key timeout waits so long for MPI_Comm_accept, and a process in "
             "MPI_Comm_join, or one that was paired with a process of another host at a port, for the other's answer; "
             "0: for ever, for that answer 30 s",
     .unit = base::Unit::seconds,
     .alias = "MPIR_CVAR_CH4_COMM_CONNECT_TIMEOUT",
     .other_alias = "MPIR_CVAR_CH3_COMM_CONNECT_TIMEOUT",
     .subject = base::Subject::waiting,
     .change = base::Change::always},
    0,
    {0, INT32_MAX}};
WEFT_SETTING(patience);

// The seconds that a process waits for an answer of the process that it is paired with.
int64_t silence_s() {
  constexpr int64_t usual = 30;
  return patience.value() > 0 ? patience.value() : usual;
}

// Asks the launcher. An error of class `error` is raised on `comm`.
int ask_for(const char* function, const Comm* comm, int error, const boot::Packet& question, boot::Packet& answer) {
  std::string why = need_service();
  if (why.empty() && ask(question, answer, why)) return MPI_SUCCESS;
  return fail(comm, function, error, "%s", why.c_str());
}

int check_info(const char* function, MPI_Info info) {
  if (!is_running()) return not_running(function);
  return info == MPI_INFO_NULL || info_of(info) != nullptr ? MPI_SUCCESS : bad_info(nullptr, function, info);
}

// A name as it may be: shorter than a port's longest, and not empty.
int check_name(const char* function, const Comm* comm, int error, const char* name, const char* argument) {
  if (no_address(name)) return null_argument(comm, function, argument);
  const size_t length = strnlen(name, MPI_MAX_PORT_NAME);
  if (length > 0 && length < MPI_MAX_PORT_NAME) return MPI_SUCCESS;
  if (length == 0) return fail(comm, function, error, "%s is empty", argument);
  return fail(comm, function, error, "%s is longer than MPI_MAX_PORT_NAME - 1 (%d): %s", argument,
              MPI_MAX_PORT_NAME - 1, base::quoted({name, length}).c_str());
}

int name_port(const char* function, const char* kind, const char* service, MPI_Info info, const char* port) {
  if (int error = check_info(function, info)) return error;
  if (int error = check_name(function, nullptr, MPI_ERR_SERVICE, service, "service_name")) return error;
  if (int error = check_name(function, nullptr, MPI_ERR_PORT, port, "port_name")) return error;
  boot::Packet answer;
  return ask_for(function, nullptr, MPI_ERR_SERVICE, question_of(kind).put(service).put(port), answer);
}

// A job as its ports name it: "weft:7:host-1234:2" is the second port of job host-1234, whose number is 7. Behind it
// may come where other hosts reach it, "/10.0.0.1:4711", or that its job is on several hosts.
struct JobName {
  int number = 0;
  std::string id;
  bool reached_from_afar = false;
  bool on_several_hosts = false;
};

JobName job_of_port(const std::string& name) {
  constexpr std::string_view prefix = "weft:";
  const size_t number_at = prefix.size();
  const size_t slash = name.rfind('/');
  const std::string port = name.substr(0, slash);
  const size_t id_at = port.find(':', number_at) + 1;
  const size_t end = port.rfind(':');
  int64_t number = 0;
  if (!port.starts_with(prefix) || id_at == 0 || end <= id_at ||
      !base::parse_number(port.substr(number_at, id_at - 1 - number_at), base::Unit::none, number).empty() ||
      number < 1 || number >= boot::job_numbers) {
    return {};
  }
  const bool on_several_hosts = name.ends_with(boot::mark_of_several_hosts);
  return {static_cast<int>(number), port.substr(id_at, end - id_at), slash != std::string::npos && !on_several_hosts,
          on_several_hosts};
}

// The result of the root's pairing at a port, for all ranks.
struct Met {
  int32_t error;
  int32_t job;    // number of the other process's job (boot/connect/job_number.hpp); 0 is our own job
  int32_t place;  // of the other process
  uint32_t generation;
  uint64_t number;  // of the pairing, in the job of the port
  char why[1024];
};

// The info key timeout, or the setting, both in seconds, as microseconds; 0: none. False: `why` says what is wrong.
bool timeout_of(const char* kind, const Info* info, int64_t& microseconds, std::string& why) {
  const std::optional<std::string> given = info != nullptr ? info->find("timeout") : std::nullopt;
  constexpr int64_t second = 1000000;
  int64_t seconds = kind == request::connect ? patience.value() : 0;
  microseconds = seconds * second;
  if (!given) return true;
  if (!base::parse_number(*given, base::Unit::none, seconds).empty() || seconds < 0 || seconds > INT32_MAX) {
    why = "the value of timeout is " + base::quoted(*given) + ": it must be a number of seconds, up to " +
          std::to_string(INT32_MAX);
    return false;
  }
  microseconds = seconds * second;
  return true;
}

// Waits at a port of another host: our mpiexec asks the mpiexec of the port's job.
bool wait_afar(const std::string& port, const JobName& job, int64_t most_us, boot::Packet& answer, std::string& why) {
  if (!ask(question_of(request::reach).put(port), answer, why)) return false;
  const auto number = static_cast<int>(answer.take_number(boot::job_numbers, boot::all_job_numbers - 1));
  if (answer.is_bad()) {
    why = "mpiexec's answer cannot be read: is it of the library's version?";
    return false;
  }
  why = core::meet_job(number, job.id, 0);
  if (!why.empty()) return false;
  const int index = number - boot::job_numbers;
  answer = {};
  return ask(question_of(request::connect_far).put(index).put(port).put(most_us), answer, why);
}

// Whether a job is of this host although it cannot be reached.
bool is_here(const JobName& job) {
  constexpr int patience_s = 10;
  boot::Packet answer;
  std::string ignored;
  return ask_at(boot::socket_of_job(job.number), patience_s, boot::Packet().put(request::visit), answer, ignored) &&
         answer.take_text() == job.id;
}

// How many processes of this host are in the call, of a job that connects with no other one: if there are no others,
// nobody can come. 0: one may, as another thread may spawn it.
int callers_here(const Comm& comm) {
  const boot::Job& ours = core::identity->job;
  if (ours.one_host() || core::threads->concurrent) return 0;
  const std::vector<int32_t> ranks = job_ranks_of(*comm.group);
  return static_cast<int>(
      std::count_if(ranks.begin(), ranks.end(), [&ours](int32_t rank) { return ours.place_here(rank) >= 0; }));
}

// The mpiexec of the port's job answers when another process has come to the port.
bool wait_at_port(const char* kind, const Comm& comm, const std::string& port, int64_t most_us, boot::Packet& answer,
                  std::string& why) {
  const boot::Job& ours = core::identity->job;
  const JobName job = job_of_port(port);
  const bool is_ours = ours.one_host() ? job.number == ours.number && job.id == ours.id
                                       : job.number == boot::number_of_socket(ours.service);
  if (kind != request::connect || job.number == 0 || is_ours)
    return ask(question_of(kind).put(port).put(most_us).put(callers_here(comm)), answer, why);
  if (!ours.one_host() || job.on_several_hosts) {
    why = boot::no_other_job(ours.one_host() ? job.id : ours.id);
    return false;
  }
  // An obstacle to the connection shows here, before the other side counts on it.
  why = core::meet_job(job.number, job.id, 0);
  if (!why.empty() && job.reached_from_afar && !is_here(job)) {
    const std::string here = why;
    if (wait_afar(port, job, most_us, answer, why)) return true;
    why = here + ". Over the network: " + why;
  }
  if (!why.empty()) return false;
  boot::Packet question;
  question.put(request::connect_here).put(ours.id).put(ours.number).put(core::identity->rank).put(ours.generation);
  return ask_at(boot::socket_of_job(job.number), 0, question.put(port).put(most_us), answer, why);
}

// Finds the process of another job that this one was paired with at a port. Returns why it cannot be reached; empty: it
// can.
std::string find_other(const Met& met, const std::string& id) {
  if (met.job == 0) return {};
  std::string why = core::meet_job(met.job, id, met.place);
  if (why.empty()) {
    const bool is_there = core::is_there(core::rank_in_job(met.job, met.place), met.generation);
    return is_there ? "" : "the process that was paired with this one at the port has ended";
  }
  if (met.job >= boot::job_numbers) return why;  // exchange_addresses() tells the other process
  boot::Packet answer;
  std::string ignored;
  constexpr int patience_s = 10;
  if (ask_at(boot::socket_of_job(met.job), patience_s, boot::Packet().put(request::visit), answer, ignored)) {
    // The other process lives, and waits for this one.
    core::failed(core::FailureCause::peer,
                 {.cause = "a process paired with this one at a port cannot be reached: " + why});
  }
  return why;
}

// Two processes of two hosts that were paired tell each other through their mpiexec how they are reached, or why they
// cannot go on. Returns the reason; it is empty if each knows the other. The second round confirms that both do. If a
// process sends nothing in the first round, for example because it is stopped, it learns in the second that it is late.
std::string exchange_addresses(const Met& met, const std::string& obstacle) {
  constexpr char good = '+';
  constexpr char bad = '-';
  const int32_t other = core::rank_in_job(met.job, met.place);
  std::string ours = obstacle.empty() ? good + core::addresses_for(other) : bad + obstacle;
  for (const bool again : {false, true}) {
    boot::Packet answer;
    std::string why;
    boot::Packet question = question_of(request::exchange).put(met.job - boot::job_numbers);
    question.put(static_cast<int64_t>(met.number)).put(met.place).put(met.generation);
    question.put(again ? std::string(1, good) : ours);
    constexpr int leave_s = 1;  // for the obstacle to get to mpiexec
    const auto most_s = again ? 0 : static_cast<int>(obstacle.empty() ? silence_s() : leave_s);
    const int64_t deadline = base::now_seconds() + most_s;
    const bool heard = ask_at(core::identity->job.service, most_s, question, answer, why);
    if (!obstacle.empty()) return obstacle;
    if (!heard && !again && base::now_seconds() >= deadline) {
      return exchange_addresses(
          met, "the process of the other job at the port has not answered for " + std::to_string(most_s) +
                   " s. Remedy: see whether it is stopped; WEFT_CONNECT_TIMEOUT sets another time");
    }
    if (!heard) return why;
    const std::string said = answer.take_text();
    if (said.empty() || said[0] != good)
      return "the other process cannot connect: " + said.substr(said.empty() ? 0 : 1);
    if (again) break;
    if (static_cast<int64_t>(said.size()) > boot::longest_introduction ||
        !core::suits(ours.substr(1), said.substr(1))) {
      // The other process finds this, too.
      return "the two jobs would send their messages in different ways. Remedy: give both the same WEFT_ENCRYPT";
    }
    boot::set_addresses(other, said.substr(1));
  }
  return {};
}

Met meet_at_port(const char* kind, const Comm& comm, const char* port, const Info* info) {
  Met met{.error = MPI_ERR_PORT};
  std::string why = need_service();
  int64_t most_us = 0;
  boot::Packet answer;
  if (no_address(port)) {
    why = "port_name is a null pointer, or a number that is no address";
  } else if (const size_t length = strnlen(port, MPI_MAX_PORT_NAME); length == MPI_MAX_PORT_NAME) {
    why = "port_name is longer than MPI_MAX_PORT_NAME - 1: " + base::quoted({port, length});
  } else if (!timeout_of(kind, info, most_us, why)) {
    met.error = MPI_ERR_INFO_VALUE;
  } else if (why.empty() && wait_at_port(kind, comm, port, most_us, answer, why)) {
    met.job = static_cast<int32_t>(answer.take_number(0, boot::all_job_numbers - 1));
    const std::string id = answer.take_text();
    met.place = static_cast<int32_t>(
        answer.take_number(0, (met.job == 0 ? core::identity->places_here() : boot::most_places_of_a_job) - 1));
    if (met.job == 0) met.place = core::identity->job.rank_at(met.place);
    met.generation = static_cast<uint32_t>(answer.take_number(0, INT32_MAX));
    met.number = static_cast<uint64_t>(answer.take_number(0, INT64_MAX));
    why = answer.is_bad() ? "mpiexec's answer cannot be read: is it of the library's version?" : find_other(met, id);
    if (met.job >= boot::job_numbers && !answer.is_bad()) why = exchange_addresses(met, why);
    if (why.empty()) met.error = MPI_SUCCESS;
  }
  if (met.error == MPI_ERR_PORT && !no_address(port) && why.find(base::quoted(port)) == std::string::npos)
    why = "the port " + base::quoted(port) + ": " + why;
  (void)snprintf(met.why, sizeof met.why, "%s", why.c_str());
  return met;
}

int meet(const char* function, const char* kind, const char* port, MPI_Info info, int root, MPI_Comm handle,
         MPI_Comm* newcomm) {
  Comm* comm = comm_of(handle);
  if (comm == nullptr) return bad_comm(function, handle);
  if (comm->is_inter()) {
    return fail(comm, function, MPI_ERR_COMM, "%s has two groups: an intra-communicator is needed",
                comm_text(*comm).c_str());
  }
  if (root < 0 || root >= comm->size) {
    return no_rank(comm, function, MPI_ERR_ROOT, "root", root, comm_text(*comm).c_str(), comm->size);
  }
  if (no_address(newcomm)) return null_argument(comm, function, "newcomm");
  *newcomm = MPI_COMM_NULL;
  const bool is_root = comm->rank == root;
  Met met{};
  if (is_root) met = meet_at_port(kind, *comm, port, info_of(info));
  const int32_t lost = coll::spread(founders_of(*comm), root, &met, sizeof met);
  if (lost != core::no_error)
    return fail(comm, function, lost, "the root could not tell the other ranks which process it is connected with");
  if (met.error != MPI_SUCCESS) return fail(comm, function, met.error, "%s", met.why);
  boot::learn_own_launcher(core::identity->job);
  Comm* made = nullptr;
  std::string point = "Weft: connection " + std::to_string(met.number);
  if (met.job != 0 && is_root) point.append(" at ").append(port);
  const int32_t other = met.job == 0 ? met.place : core::rank_in_job(met.job, met.place);
  const int error = meet_others(function, *comm, root, other, point.c_str(), made);
  if (made != nullptr) *newcomm = handle_of<MPI_Comm>(made);
  boot::Packet answer;
  std::string why;
  if (is_root && met.job == 0) (void)ask(question_of(request::met).put(static_cast<int64_t>(met.number)), answer, why);
  return error;
}

// Asks the other jobs of this user on this host, of which one may have published the name, and looks for one that a job
// of another host has published.
int look_up_elsewhere(const char* function, const char* service, std::string& port) {
  constexpr int patience_s = 5;
  std::vector<std::string> sockets;
  for (int number = 1; number < boot::job_numbers; ++number) {
    if (number != core::identity->job.number) sockets.push_back(boot::socket_of_job(number));
  }
  const boot::Packet question = boot::Packet().put(request::look_up_here).put(service);
  std::vector<boot::Packet> answers = boot::ask_launchers(
      sockets, question, [] { (void)core::progress(); }, patience_s);
  std::vector<std::string> ports = boot::read_port_names(service);
  for (boot::Packet& answer : answers) {
    const bool refused = answer.take_number(0, 1) != 0;
    (void)answer.take_text();
    const std::string found = answer.take_text();
    if (!refused && !answer.is_bad()) ports.push_back(found);
  }
  std::sort(ports.begin(), ports.end());
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  for (const std::string& found : ports) {
    if (!port.empty()) {
      return fail(nullptr, function, MPI_ERR_NAME,
                  "the name \"%s\" is published by several jobs, for the ports %s and %s: give one of these to "
                  "MPI_Comm_connect",
                  service, port.c_str(), found.c_str());
    }
    port = found;
  }
  if (!port.empty()) return MPI_SUCCESS;
  return fail(
      nullptr, function, MPI_ERR_NAME,
      "the name \"%s\" is not published by a job of this user on this host, nor in the folder of WEFT_PORTS: call "
      "MPI_Publish_name first",
      service);
}

// The words that two processes exchange over the socket of MPI_Comm_join.
struct Hello {
  char what[16] = "Weft join 2";
  char job[80] = {};
  int32_t place = 0;
  uint32_t generation = 0;
  uint64_t number = 0;
  int32_t job_number = 0;
  uint32_t unused = 0;
};
static_assert(sizeof(Hello) == 120);

// The descriptor's errno if it is no socket that MPI_Comm_join can use, or 0.
int check_socket(int fd) {
  int type = 0;
  socklen_t length = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 ? 0 : errno;
}

// Sends or receives all bytes, while messages go on. Returns 0 or the errno: ECONNRESET at the end of the connection,
// ETIMEDOUT after silence_s().
int move(int fd, void* data, size_t bytes, bool out) {
  auto* at = static_cast<char*>(data);
  const int64_t deadline = base::now_seconds() + silence_s();
  while (bytes != 0) {
    (void)core::progress();
    constexpr int interval_ms = 1;
    pollfd p{fd, static_cast<short>(out ? POLLOUT : POLLIN), 0};
    if (poll(&p, 1, interval_ms) == 0) {
      if (base::now_seconds() > deadline) return ETIMEDOUT;
      continue;
    }
    const ssize_t n = out ? send(fd, at, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) : recv(fd, at, bytes, MSG_DONTWAIT);
    if (n == 0) return ECONNRESET;
    if (n < 0 && errno != EAGAIN && errno != EINTR) return errno;
    if (n < 0) continue;
    at += n;
    bytes -= static_cast<size_t>(n);
  }
  return 0;
}

}  // namespace

int open_port(MPI_Info info, char* port_name) {
  static const char* function = "MPI_Open_port";
  if (int error = check_info(function, info)) return error;
  if (no_address(port_name)) return null_argument(nullptr, function, "port_name");
  boot::Packet answer;
  if (int error = ask_for(function, nullptr, MPI_ERR_PORT, question_of(request::open_port), answer)) return error;
  (void)snprintf(port_name, MPI_MAX_PORT_NAME, "%s", answer.take_text().c_str());
  return MPI_SUCCESS;
}

int close_port(const char* port_name) {
  static const char* function = "MPI_Close_port";
  if (!is_running()) return not_running(function);
  if (int error = check_name(function, nullptr, MPI_ERR_PORT, port_name, "port_name")) return error;
  boot::Packet answer;
  return ask_for(function, nullptr, MPI_ERR_PORT, question_of(request::close_port).put(port_name), answer);
}

int publish_name(const char* service_name, MPI_Info info, const char* port_name) {
  return name_port("MPI_Publish_name", request::publish, service_name, info, port_name);
}

int unpublish_name(const char* service_name, MPI_Info info, const char* port_name) {
  return name_port("MPI_Unpublish_name", request::unpublish, service_name, info, port_name);
}

int lookup_name(const char* service_name, MPI_Info info, char* port_name) {
  static const char* function = "MPI_Lookup_name";
  if (int error = check_info(function, info)) return error;
  if (int error = check_name(function, nullptr, MPI_ERR_NAME, service_name, "service_name")) return error;
  if (no_address(port_name)) return null_argument(nullptr, function, "port_name");
  std::string why = need_service();
  boot::Packet answer;
  std::string port;
  if (why.empty() && ask(question_of(request::look_up).put(service_name), answer, why)) {
    port = answer.take_text();
  } else if (!why.empty() && core::identity->job.service.empty()) {
    return fail(nullptr, function, MPI_ERR_NAME, "%s", why.c_str());
  } else if (const int error = look_up_elsewhere(function, service_name, port)) {
    return error;
  }
  (void)snprintf(port_name, MPI_MAX_PORT_NAME, "%s", port.c_str());
  return MPI_SUCCESS;
}

int comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  return meet("MPI_Comm_accept", request::accept, port_name, info, root, comm, newcomm);
}

int comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  return meet("MPI_Comm_connect", request::connect, port_name, info, root, comm, newcomm);
}

int comm_join(int fd, MPI_Comm* intercomm) {
  static const char* function = "MPI_Comm_join";
  if (!is_running()) return not_running(function);
  if (no_address(intercomm)) return null_argument(nullptr, function, "intercomm");
  *intercomm = MPI_COMM_NULL;
  Comm* const self = comm_of(MPI_COMM_SELF);
  if (self == nullptr) return fail(nullptr, function, MPI_ERR_OTHER, "there is no MPI_COMM_SELF without MPI_Init");
  if (const int error = check_socket(fd)) {
    const std::string why = base::describe({.cause = "descriptor " + std::to_string(fd) + " is no open socket",
                                            .error = error,
                                            .remedy = "give a socket that is connected with the other process"});
    return fail(nullptr, function, MPI_ERR_ARG, "%s", why.c_str());
  }
  const std::string no_launcher = need_service();
  Hello ours;
  Hello theirs;
  (void)snprintf(ours.job, sizeof ours.job, "%s", core::identity->job.id.c_str());
  ours.place = core::identity->rank;
  ours.generation = core::identity->job.generation;
  ours.job_number = core::identity->job.number;
  if (getrandom(&ours.number, sizeof ours.number, 0) != sizeof ours.number) ours.number = 0;
  const Hello sent = ours;
  int error = move(fd, &ours, sizeof ours, true);
  if (error == 0) error = move(fd, &theirs, sizeof theirs, false);
  if (error != 0) {
    const std::string why =
        base::describe({.cause = "the other process cannot be heard over descriptor " + std::to_string(fd),
                        .error = error,
                        .remedy = error == ETIMEDOUT ? "let both processes call MPI_Comm_join, or set "
                                                       "WEFT_CONNECT_TIMEOUT to more seconds"
                                                     : "give a connected socket that both processes leave to "
                                                       "MPI_Comm_join"});
    return fail(nullptr, function, MPI_ERR_ARG, "%s", why.c_str());
  }
  if (memcmp(theirs.what, sent.what, sizeof sent.what) != 0) {
    return fail(nullptr, function, MPI_ERR_ARG,
                "the process at the other end of descriptor %d is not in MPI_Comm_join of "
                "this MPI library",
                fd);
  }
  int32_t other = theirs.place;
  std::string why;
  if (memcmp(theirs.job, sent.job, sizeof sent.job) != 0) {
    theirs.job[sizeof theirs.job - 1] = '\0';
    why = no_launcher.empty() ? core::meet_job(theirs.job_number, theirs.job, theirs.place) : no_launcher;
    other = core::rank_in_job(theirs.job_number, theirs.place);
  } else if (theirs.place < 0 || theirs.place >= core::identity->places) {
    why = "it has no place in this job";
  } else if (!core::knows_way_to(theirs.place)) {
    why = "it is on another host, and one of the two was spawned: let a communicator of both be made first";
  }
  if (why.empty() && !core::is_there(other, theirs.generation)) why = "it has left MPI, or ended";
  // Neither side waits for one that cannot.
  char verdict = why.empty() ? 'y' : 'n';
  if (move(fd, &verdict, sizeof verdict, true) != 0 || move(fd, &verdict, sizeof verdict, false) != 0) verdict = 'n';
  if (why.empty() && verdict != 'y') why = "it says that it cannot, or has ended";
  if (!why.empty()) {
    return fail(nullptr, function, MPI_ERR_UNSUPPORTED_OPERATION,
                "the process at the other end of descriptor %d cannot be connected with: %s", fd, why.c_str());
  }
  const auto [first, second] = std::minmax(sent.number, theirs.number);
  const std::string point = "Weft: join " + std::to_string(first) + " " + std::to_string(second);
  Comm* made = nullptr;
  error = meet_others(function, *self, 0, other, point.c_str(), made);
  if (made != nullptr) *intercomm = handle_of<MPI_Comm>(made);
  return error;
}

}  // namespace weft::mpi
