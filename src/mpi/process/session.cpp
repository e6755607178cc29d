// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Sessions (MPI-5.0, 11.3), and communicators made from their groups. The process joins the job with its first session
// or with MPI_Init, and leaves it when it exits: sessions may be opened and closed again and again, also after
// MPI_Finalize.

#include <strings.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/object/identity.hpp"
#include "core/thread/thread.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/env/info.hpp"
#include "mpi/env/memory.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"
#include "mpi/object/errhandler.hpp"
#include "mpi/object/error.hpp"
#include "mpi/p2p/bsend.hpp"
#include "mpi/process/environment.hpp"

namespace weft::mpi {
namespace {

constexpr const char* pset_names[] = {"mpi://WORLD", "mpi://SELF"};
constexpr int pset_count = 2;

int bad_session(const char* function, MPI_Session session) {
  return bad_handle(nullptr, function, MPI_ERR_SESSION, "session", session);
}

// The index in `pset_names`; -1: there is no such set. Scheme and authority of a URI have no case (RFC 3986, 6.2.2.1).
int find_pset(const char* name) {
  for (int i = 0; i < pset_count; ++i) {
    if (strcasecmp(name, pset_names[i]) == 0) return i;
  }
  return -1;
}

int bad_pset(const Session& session, const char* function, const char* name) {
  return fail(&session, function, MPI_ERR_ARG,
              "there is no process set \"%.64s\": there are mpi://WORLD and mpi://SELF", name);
}

}  // namespace

int session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  static const char* function = "MPI_Session_init";
  build_predefined_objects();
  Errhandler* handler = errhandler_of(errhandler);
  if (handler == nullptr) return bad_handle(nullptr, function, MPI_ERR_ERRHANDLER, "error handler", errhandler);
  if (handler->scope != Errhandler::Scope::any && handler->scope != Errhandler::Scope::session) {
    return fail(nullptr, function, MPI_ERR_ERRHANDLER,
                "the error handler was not made by MPI_Session_create_errhandler");
  }
  const Info* given = info_of(info);
  if (given == nullptr && info != MPI_INFO_NULL) {
    return raise(*handler, nullptr, function, MPI_ERR_INFO, "the argument info is no info object");
  }
  if (no_address(session)) {
    return raise(*handler, nullptr, function, MPI_ERR_ARG, "session is a null pointer, or a number that is no address");
  }
  const std::optional<std::string> asked = given != nullptr ? given->find("thread_level") : std::nullopt;
  constexpr int none = -1;
  if (asked && thread_level_of(asked->c_str(), none) == none) {
    return raise(
        *handler, nullptr, function, MPI_ERR_INFO_VALUE,
        "the info key thread_level has another value than the name of a thread level, MPI_THREAD_MULTIPLE say");
  }
  auto* made = base::make_object<Session>();
  if (made == nullptr) return raise(*handler, nullptr, function, MPI_ERR_NO_MEM, "no memory for a session");
  made->thread_level = asked ? thread_level_of(asked->c_str(), default_session_level) : default_session_level;
  if (!open_session(made->thread_level)) {
    base::destroy_object(made);
    return raise(*handler, nullptr, function, MPI_ERR_OTHER,
                 "this process has left the job, as it exits: open sessions before");
  }
  const std::optional<std::string> kinds = given != nullptr ? given->find("mpi_memory_alloc_kinds") : std::nullopt;
  made->memory_kinds = supported_kinds(kinds ? *kinds : requested_kinds());  // settings are read now
  if (!asked && core::threads->multiple)
    made->thread_level = MPI_THREAD_MULTIPLE;  // it is there and costs nothing more
  made->kind = base::Kind::session;
  made->errhandler = hold(handler);
  *session = handle_of<MPI_Session>(made);
  return MPI_SUCCESS;
}

int session_finalize(MPI_Session* session) {
  static const char* function = "MPI_Session_finalize";
  if (no_address(session)) return null_argument(nullptr, function, "session");
  Session* s = session_of(*session);
  if (s == nullptr) return bad_session(function, *session);
  end_buffer(s->bsend);
  drop(s->errhandler);
  base::destroy_object(s);
  *session = MPI_SESSION_NULL;
  close_session();
  return MPI_SUCCESS;
}

int session_get_num_psets(MPI_Session session, MPI_Info info, int* npset_names) {
  static const char* function = "MPI_Session_get_num_psets";
  const Session* s = session_of(session);
  if (s == nullptr) return bad_session(function, session);
  if (info != MPI_INFO_NULL && info_of(info) == nullptr) return bad_info(s, function, info);
  if (no_address(npset_names)) return null_argument(s, function, "npset_names");
  *npset_names = pset_count;
  return MPI_SUCCESS;
}

int session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int* pset_len, char* pset_name) {
  static const char* function = "MPI_Session_get_nth_pset";
  const Session* s = session_of(session);
  if (s == nullptr) return bad_session(function, session);
  if (info != MPI_INFO_NULL && info_of(info) == nullptr) return bad_info(s, function, info);
  if (n < 0 || n >= pset_count) {
    return fail(s, function, MPI_ERR_ARG, "there is no process set %d: there are %d", n, pset_count);
  }
  if (no_address(pset_len)) return null_argument(s, function, "pset_len");
  if (*pset_len < 0) return negative(s, function, MPI_ERR_ARG, "pset_len", *pset_len);
  int needed = static_cast<int>(strlen(pset_names[n])) + 1;
  if (*pset_len > 0) {
    if (no_address(pset_name)) return null_argument(s, function, "pset_name");
    int length = std::min(*pset_len, needed) - 1;
    memcpy(pset_name, pset_names[n], static_cast<size_t>(length));
    pset_name[length] = '\0';
  }
  *pset_len = needed;
  return MPI_SUCCESS;
}

int session_get_pset_info(MPI_Session session, const char* pset_name, MPI_Info* info) {
  static const char* function = "MPI_Session_get_pset_info";
  const Session* s = session_of(session);
  if (s == nullptr) return bad_session(function, session);
  if (no_address(pset_name)) return null_argument(s, function, "pset_name");
  if (no_address(info)) return null_argument(s, function, "info");
  int pset = find_pset(pset_name);
  if (pset < 0) return bad_pset(*s, function, pset_name);
  Info* made = make_info();
  if (made == nullptr) return fail(s, function, MPI_ERR_NO_MEM, "no memory for an info object");
  made->set("mpi_size", std::to_string(pset == 0 ? core::identity->size : 1));
  *info = handle_of<MPI_Info>(made);
  return MPI_SUCCESS;
}

int session_get_info(MPI_Session session, MPI_Info* info_used) {
  static const char* function = "MPI_Session_get_info";
  const Session* s = session_of(session);
  if (s == nullptr) return bad_session(function, session);
  if (no_address(info_used)) return null_argument(s, function, "info_used");
  Info* made = make_info();
  if (made == nullptr) return fail(s, function, MPI_ERR_NO_MEM, "no memory for an info object");
  made->set("thread_level", thread_level_name(s->thread_level));
  made->set("mpi_memory_alloc_kinds", s->memory_kinds);
  *info_used = handle_of<MPI_Info>(made);
  return MPI_SUCCESS;
}

int group_from_session_pset(MPI_Session session, const char* pset_name, MPI_Group* newgroup) {
  static const char* function = "MPI_Group_from_session_pset";
  Session* s = session_of(session);
  if (s == nullptr) return bad_session(function, session);
  if (no_address(pset_name)) return null_argument(s, function, "pset_name");
  if (no_address(newgroup)) return null_argument(s, function, "newgroup");
  int pset = find_pset(pset_name);
  if (pset < 0) return bad_pset(*s, function, pset_name);
  core::Group* group = base::make_object<core::Group>();
  if (group == nullptr) return fail(s, function, MPI_ERR_NO_MEM, "no memory for a group");
  group->kind = base::Kind::group;
  group->size = pset == 0 ? core::identity->size : 1;
  group->rank = pset == 0 ? core::identity->rank - core::identity->first : 0;
  group->first = pset == 0 ? core::identity->first : core::identity->rank;
  group->session = s;
  *newgroup = group_handle(group);
  return MPI_SUCCESS;
}

int comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info, MPI_Errhandler errhandler,
                           MPI_Comm* newcomm) {
  static const char* function = "MPI_Comm_create_from_group";
  core::Group* g = group_of(group);
  if (g == nullptr) return bad_group(function, group);
  const Info* given = info_of(info);
  if (given == nullptr && info != MPI_INFO_NULL) return bad_info(nullptr, function, info);
  if (int error = check_naming(function, stringtag, errhandler)) return error;
  // There is no communicator yet: errors go to the handler that it would have.
  const Errhandler& handler = *errhandler_of(errhandler);
  if (no_address(newcomm))
    return raise(handler, nullptr, function, MPI_ERR_ARG, "newcomm is a null pointer, or a number that is no address");
  *newcomm = MPI_COMM_NULL;
  if (g->size == 0) return MPI_SUCCESS;
  if (g->rank < 0) return raise(handler, nullptr, function, MPI_ERR_GROUP, "this process is not in the group");
  if (core::spans_jobs(*g)) {
    return raise(handler, nullptr, function, MPI_ERR_UNSUPPORTED_OPERATION,
                 "the group has processes of several jobs: use MPI_Comm_create_group on a communicator of theirs");
  }
  uint32_t context = 0;
  Comm& parent = nursery();
  const core::MeetingPoint meeting = core::meeting_point(stringtag);
  const coll::Founders founders{coll::team_of(*g), parent, meeting.context, meeting.tag};
  if (int error = agree_on_context(function, founders, context)) return error;
  Comm* comm = new_comm(parent, context, hold(g));
  if (comm == nullptr) return no_memory(nullptr, function, "a communicator");
  comm->errhandler = hold(errhandler_of(errhandler));
  comm->session = g->session;
  if (int error = take_hints(function, *comm, *comm, given)) {
    destroy_comm(comm);
    return error;
  }
  *newcomm = handle_of<MPI_Comm>(comm);
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
