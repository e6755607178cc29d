// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Connections between processes of one job: ports, published names, and MPI_Comm_join (MPI-5.0, 11.9). The launcher
// knows the ports; two roots that meet at one learn each other's place there, and both sides make an intercommunicator.

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/service.hpp"
#include "coll/agree.hpp"
#include "core/growth.hpp"
#include "core/progress.hpp"
#include "core/world.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/env/info.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"
#include "mpi/process/spawn.hpp"

namespace weft::mpi {
namespace {

namespace request = boot::request;

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
  return fail(comm, function, error, "%s is empty or longer than MPI_MAX_PORT_NAME - 1 (%d)", argument,
              MPI_MAX_PORT_NAME - 1);
}

int name_port(const char* function, const char* kind, const char* service, MPI_Info info, const char* port) {
  if (int error = check_info(function, info)) return error;
  if (int error = check_name(function, nullptr, MPI_ERR_SERVICE, service, "service_name")) return error;
  if (int error = check_name(function, nullptr, MPI_ERR_PORT, port, "port_name")) return error;
  boot::Packet answer;
  return ask_for(function, nullptr, MPI_ERR_SERVICE, question_of(kind).put(service).put(port), answer);
}

// The root's result, for all ranks.
struct Met {
  int32_t error;
  int32_t other;  // rank in the job
  uint64_t number;
  char why[1024];
};

// The info key timeout, in seconds, as microseconds; 0: none.
bool timeout_of(const Info* info, int64_t& microseconds) {
  const std::optional<std::string> given = info != nullptr ? info->find("timeout") : std::nullopt;
  microseconds = 0;
  if (!given) return true;
  constexpr int64_t second = 1000000;
  int64_t seconds = 0;
  if (!base::parse_number(*given, base::Unit::none, seconds).empty() || seconds < 0 || seconds > INT32_MAX)
    return false;
  microseconds = seconds * second;
  return true;
}

Met meet_at_port(const char* kind, const char* port, const Info* info) {
  Met met{.error = MPI_ERR_PORT};
  std::string why = need_service();
  int64_t most_us = 0;
  boot::Packet answer;
  if (no_address(port) || strnlen(port, MPI_MAX_PORT_NAME) == MPI_MAX_PORT_NAME) {
    why = "port_name is a null pointer or longer than MPI_MAX_PORT_NAME - 1";
  } else if (!timeout_of(info, most_us)) {
    met.error = MPI_ERR_INFO_VALUE;
    why = "the info key timeout is no number of seconds";
  } else if (why.empty() && ask(question_of(kind).put(port).put(most_us), answer, why)) {
    met.other = static_cast<int32_t>(answer.take_number(0, core::world->places - 1));
    met.number = static_cast<uint64_t>(answer.take_number(0, INT64_MAX));
    if (!answer.is_bad()) met.error = MPI_SUCCESS;
    why = "mpiexec's answer cannot be read: is it of the library's version?";
  }
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
  if (is_root) met = meet_at_port(kind, port, info_of(info));
  const int32_t lost = coll::spread(founders_of(*comm), root, &met, sizeof met);
  if (lost != core::no_error) return fail(comm, function, lost, "the root could not tell the others whom it met");
  if (met.error != MPI_SUCCESS) return fail(comm, function, met.error, "%s", met.why);
  Comm* made = nullptr;
  const std::string point = "Weft: connection " + std::to_string(met.number);
  const int error = meet_others(function, *comm, root, met.other, point.c_str(), made);
  if (made != nullptr) *newcomm = handle_of<MPI_Comm>(made);
  boot::Packet answer;
  std::string why;
  if (is_root) (void)ask(question_of(request::met).put(static_cast<int64_t>(met.number)), answer, why);
  return error;
}

// The words that two processes exchange over the socket of MPI_Comm_join.
struct Hello {
  char what[16] = "Weft join 1";
  char job[80] = {};
  int32_t place = 0;
  uint32_t generation = 0;
  uint64_t number = 0;
};
static_assert(sizeof(Hello) == 112);

// All of it, while messages go on; 0 or the errno, ECONNRESET at the end of the connection.
int move(int fd, void* data, size_t bytes, bool out) {
  auto* at = static_cast<char*>(data);
  while (bytes != 0) {
    (void)core::progress();
    constexpr int interval_ms = 1;
    pollfd p{fd, static_cast<short>(out ? POLLOUT : POLLIN), 0};
    if (poll(&p, 1, interval_ms) == 0) continue;
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
  boot::Packet answer;
  const boot::Packet question = question_of(request::look_up).put(service_name);
  if (int error = ask_for(function, nullptr, MPI_ERR_NAME, question, answer)) return error;
  (void)snprintf(port_name, MPI_MAX_PORT_NAME, "%s", answer.take_text().c_str());
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
  Hello ours;
  Hello theirs;
  (void)snprintf(ours.job, sizeof ours.job, "%s", core::world->job.id.c_str());
  ours.place = core::world->rank;
  ours.generation = core::world->job.generation;
  if (getrandom(&ours.number, sizeof ours.number, 0) != sizeof ours.number) ours.number = 0;
  const Hello sent = ours;
  int error = move(fd, &ours, sizeof ours, true);
  if (error == 0) error = move(fd, &theirs, sizeof theirs, false);
  if (error != 0) {
    const std::string why =
        base::describe({.cause = "the other process cannot be heard over descriptor " + std::to_string(fd),
                        .error = error,
                        .remedy = "give a connected socket that both processes leave to MPI_Comm_join"});
    return fail(nullptr, function, MPI_ERR_ARG, "%s", why.c_str());
  }
  if (memcmp(theirs.what, sent.what, sizeof sent.what) != 0) {
    return fail(nullptr, function, MPI_ERR_ARG,
                "the process at the other end of descriptor %d is not in MPI_Comm_join of "
                "this MPI library",
                fd);
  }
  if (memcmp(theirs.job, sent.job, sizeof sent.job) != 0 || theirs.place < 0 || theirs.place >= core::world->places ||
      core::generation_of(theirs.place) != theirs.generation) {
    return fail(
        nullptr, function, MPI_ERR_UNSUPPORTED_OPERATION,
        "the process at the other end of descriptor %d belongs to another job. Remedy: start both programs with "
        "one command, as mpiexec -n 1 one : -n 1 other",
        fd);
  }
  const auto [first, second] = std::minmax(sent.number, theirs.number);
  const std::string point = "Weft: join " + std::to_string(first) + " " + std::to_string(second);
  Comm* made = nullptr;
  error = meet_others(function, *self, 0, theirs.place, point.c_str(), made);
  if (made != nullptr) *intercomm = handle_of<MPI_Comm>(made);
  return error;
}

}  // namespace weft::mpi
