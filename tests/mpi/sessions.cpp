// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Sessions with and without MPI_Init, in every order; communicators made from their groups; their error handlers.
#include <cstring>
#include <string>

#include "expect.hpp"

namespace {

MPI_Session seen = MPI_SESSION_NULL;
int seen_code = 0;

void remember(MPI_Session* session, int* code, ...) {
  seen = *session;
  seen_code = *code;
}

MPI_Session open_session() {
  MPI_Session session = MPI_SESSION_NULL;
  EXPECT(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS, "no session");
  return session;
}

void close_session(MPI_Session& session) {
  MPI_Session_finalize(&session);
  EXPECT(session == MPI_SESSION_NULL, "not set to MPI_SESSION_NULL");
}

// A communicator of all ranks, from a session; a message goes round.
void use(MPI_Session session) {
  MPI_Group group;
  MPI_Comm comm, pair;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  int rank = -1, size = 0, sum = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  EXPECT(sum == size * (size - 1) / 2, "sum %d of %d ranks", sum, size);
  if (rank < 2 && size > 1) {
    int first[2] = {1, 0};
    MPI_Group two;
    MPI_Group_incl(group, 2, first, &two);
    MPI_Comm_create_from_group(two, "pair", MPI_INFO_NULL, MPI_ERRORS_RETURN, &pair);
    int place = -1;
    MPI_Comm_rank(pair, &place);
    EXPECT(place == 1 - rank, "rank %d in the pair", place);
    MPI_Group_free(&two);
    MPI_Comm_free(&pair);
  }
  EXPECT_CLASS(MPI_Comm_set_name(comm, nullptr), MPI_ERR_ARG);
  // Before there is a communicator its handler gets the errors already.
  EXPECT_CLASS(MPI_Comm_create_from_group(group, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, nullptr), MPI_ERR_ARG);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
}

// The buffer of a session serves the communicators made from it, and those made from derived groups and by duplication.
// Without one that of the process does (MPI-5.0, 3.6).
void buffer(MPI_Session session) {
  static char memory[4096 + 4 * MPI_BSEND_OVERHEAD];
  MPI_Group all, others;
  MPI_Comm comm, copy;
  void* given = nullptr;
  int bytes = 0, rank = -1, size = 0;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Group_excl(all, 0, nullptr, &others);
  MPI_Comm_create_from_group(others, "buffer", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_rank(copy, &rank);
  MPI_Comm_size(copy, &size);
  const int next = (rank + 1) % size;
  int sent = rank, got = -1;
  EXPECT_CLASS(MPI_Bsend(&sent, 1, MPI_INT, next, 3, copy), MPI_ERR_BUFFER);
  MPI_Session_attach_buffer(session, memory, static_cast<int>(sizeof memory));
  EXPECT_CLASS(MPI_Bsend(&sent, 1, MPI_INT, next, 3, copy), MPI_SUCCESS);
  MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, copy, MPI_STATUS_IGNORE);
  EXPECT(got == (rank + size - 1) % size, "got %d", got);
  MPI_Session_flush_buffer(session);
  MPI_Session_detach_buffer(session, &given, &bytes);
  EXPECT(given == memory && bytes == static_cast<int>(sizeof memory), "%d bytes came back", bytes);
  MPI_Buffer_attach(memory, static_cast<int>(sizeof memory));
  EXPECT_CLASS(MPI_Bsend(&sent, 1, MPI_INT, next, 3, copy), MPI_SUCCESS);
  MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, copy, MPI_STATUS_IGNORE);
  EXPECT(got == (rank + size - 1) % size, "got %d", got);
  MPI_Buffer_detach(&given, &bytes);
  EXPECT(given == memory && bytes == static_cast<int>(sizeof memory), "%d bytes came back", bytes);
  MPI_Group_free(&all);
  MPI_Group_free(&others);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&copy);
}

void sets(MPI_Session session) {
  int count = 0, length = 0, flag = 0;
  char name[MPI_MAX_PSET_NAME_LEN], value[20];
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
  EXPECT(count == 2, "%d process sets", count);
  MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1, &length, name);
  EXPECT(length == 11, "length %d", length);
  MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1, &length, name);
  EXPECT(strcmp(name, "mpi://SELF") == 0, "\"%s\"", name);
  MPI_Info info;
  MPI_Session_get_pset_info(session, "MPI://self", &info);  // a URI: no case
  MPI_Info_get(info, "mpi_size", 19, value, &flag);
  EXPECT(flag && strcmp(value, "1") == 0, "size %s", value);
  MPI_Info_free(&info);
}

// The level of thread support that a session says it has.
std::string level_of(MPI_Session session) {
  MPI_Info info;
  char value[40] = "";
  int flag = 0;
  MPI_Session_get_info(session, &info);
  MPI_Info_get(info, "thread_level", 39, value, &flag);
  MPI_Info_free(&info);
  return flag ? value : "none";
}

void thread_level() {
  MPI_Info info;
  MPI_Session session;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_FUNNELED");
  MPI_Session_init(info, MPI_ERRORS_RETURN, &session);
  EXPECT(level_of(session) == "MPI_THREAD_FUNNELED", "level %s", level_of(session).c_str());
  MPI_Session_finalize(&session);
  MPI_Info_set(info, "thread_level", "many");
  EXPECT_CLASS(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_ERR_INFO_VALUE);
  MPI_Info_free(&info);
}

void errors(MPI_Session session) {
  MPI_Group group;
  MPI_Errhandler handler;
  int count = 0;
  MPI_Session null = MPI_SESSION_NULL;
  EXPECT_CLASS(MPI_Group_from_session_pset(session, "mpi://NOWHERE", &group), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 2, &count, nullptr), MPI_ERR_ARG);
  MPI_Session_create_errhandler(remember, &handler);
  MPI_Session_set_errhandler(session, handler);
  MPI_Errhandler_free(&handler);
  EXPECT_CLASS(MPI_Session_get_num_psets(session, MPI_INFO_NULL, nullptr), MPI_ERR_ARG);
  EXPECT(seen == session && seen_code == MPI_ERR_ARG, "code %d", seen_code);
  MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
  EXPECT(seen_code == MPI_ERR_OTHER, "code %d", seen_code);
  MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
  MPI_Session_get_errhandler(session, &handler);
  EXPECT(handler == MPI_ERRORS_RETURN, "another handler");
  int flag = 0;
  MPI_Initialized(&flag);
  if (!flag) return;  // without MPI_COMM_SELF, errors without a session are fatal
  EXPECT_CLASS(MPI_Session_finalize(&null), MPI_ERR_SESSION);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  auto asked = [&](const char* way) { return strcmp(argv[1], way) == 0; };
  MPI_Session session;
  int flag = -1;
  if (asked("alone") || asked("repeated")) {
    for (int i = 0; i < (asked("alone") ? 1 : 3); ++i) {
      session = open_session();
      MPI_Initialized(&flag);
      EXPECT(flag == 0, "a session initialised the world model");
      use(session);
      buffer(session);
      sets(session);
      errors(session);
      thread_level();
      close_session(session);
    }
    return expect::failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  if (!asked("inside")) session = open_session();
  if (asked("after")) close_session(session);
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (!asked("around")) session = open_session();
  use(session);
  errors(session);
  if (asked("inside")) close_session(session);
  MPI_Finalize();
  if (!asked("inside")) {
    use(session);  // the world model has ended, the session has not
    close_session(session);
  }
  return expect::failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
