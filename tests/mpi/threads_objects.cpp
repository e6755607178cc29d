// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Several threads make, ask, change and free objects at the same time: their own ones, and some that all share.
//
//   local   what sends no message. Its locks are the same at any level of thread support, so it runs at all of them.
//   all     communicators among ranks and buffered sends too; needs MPI_THREAD_MULTIPLE and ends with 77 without
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "expect.hpp"

namespace {

constexpr int threads = 4;
constexpr int rounds = 200;

std::atomic<int> ready{0};

// Runs the function in all threads, begun together.
template <class Function>
void in_threads(Function&& function) {
  std::vector<std::thread> running;
  ready = 0;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&function, t] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      function(t);
    });
  }
  for (std::thread& thread : running) thread.join();
}

// ---- types

void types(int) {
  for (int i = 0; i < rounds; ++i) {
    MPI_Datatype row, copy, parts[1];
    MPI_Type_vector(3, 1, 2, MPI_INT, &row);
    MPI_Type_commit(&row);
    MPI_Datatype predefined = MPI_INT;
    MPI_Type_commit(&predefined);
    MPI_Type_dup(row, &copy);
    MPI_Type_free(&row);
    int integers = 0, addresses = 0, count = 0, combiner = 0;
    MPI_Type_get_envelope(copy, &integers, &addresses, &count, &combiner);
    EXPECT(combiner == MPI_COMBINER_DUP && count == 1, "combiner %d of %d types", combiner, count);
    MPI_Type_get_contents(copy, integers, addresses, count, nullptr, nullptr, parts);
    MPI_Type_free(&copy);
    int size = 0;
    MPI_Type_size(parts[0], &size);
    EXPECT(size == 12, "size %d", size);
    MPI_Type_free(&parts[0]);
  }
}

// All threads hold and let go of one type.
void shared_type() {
  MPI_Datatype column;
  MPI_Type_vector(4, 1, 8, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  in_threads([&](int t) {
    for (int i = 0; i < rounds; ++i) {
      MPI_Datatype derived;
      MPI_Type_contiguous(t + 1, column, &derived);
      int size = 0;
      MPI_Type_size(derived, &size);
      EXPECT(size == (t + 1) * 32, "size %d", size);
      MPI_Type_free(&derived);
    }
  });
  int size = 0;
  MPI_Type_size(column, &size);
  EXPECT(size == 32, "size %d", size);
  MPI_Type_free(&column);
}

// Structs of one shared struct hold its lists of blocks and of basic elements; the order of frees must not matter.
void shared_struct() {
  const int lengths[] = {1, 3};
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype types[] = {MPI_LONG, MPI_SHORT};
  MPI_Datatype inner;
  MPI_Type_create_struct(2, lengths, places, types, &inner);
  MPI_Type_commit(&inner);
  in_threads([&](int t) {
    for (int i = 0; i < rounds; ++i) {
      const int ones[] = {1, t + 1};
      const MPI_Aint at[] = {200, 0};
      const MPI_Datatype parts[] = {MPI_INT, inner};
      MPI_Datatype derived;
      MPI_Type_create_struct(2, ones, at, parts, &derived);
      MPI_Type_commit(&derived);
      MPI_Aint bytes = -1, position = 0;
      MPI_Pack_external_size("external32", 1, derived, &bytes);
      EXPECT(bytes == 4 + (t + 1) * 10, "%ld bytes", static_cast<long>(bytes));
      char buffer[204] = {}, packed[64];
      MPI_Pack_external("external32", buffer, 1, derived, packed, 64, &position);
      EXPECT(position == bytes, "position %ld", static_cast<long>(position));
      MPI_Type_free(&derived);
    }
  });
  MPI_Type_free(&inner);
}

// All threads get the same unnamed predefined datatype, whichever asks first.
void unnamed_types() {
  MPI_Datatype found[threads][rounds][2];
  in_threads([&](int t) {
    for (int i = 0; i < rounds; ++i) {
      MPI_Type_create_f90_real(i % 16, i, &found[t][i][0]);
      MPI_Type_get_value_index(i % 2 == 0 ? MPI_DOUBLE : MPI_UINT16_T, MPI_UINT64_T, &found[t][i][1]);
    }
  });
  for (int t = 1; t < threads; ++t) {
    EXPECT(memcmp(found[t], found[0], sizeof found[0]) == 0, "thread %d has other handles", t);
  }
}

// ---- groups, infos, error codes

void groups(int t) {
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int i = 0; i < rounds; ++i) {
    MPI_Group again, mine, both;
    MPI_Comm_group(MPI_COMM_WORLD, &again);
    const int member = t % expect::size;
    MPI_Group_incl(again, 1, &member, &mine);
    MPI_Group_union(again, mine, &both);
    int result = MPI_UNEQUAL;
    MPI_Group_compare(both, world, &result);
    EXPECT(result == MPI_IDENT, "result %d", result);
    MPI_Group_free(&again);
    MPI_Group_free(&mine);
    MPI_Group_free(&both);
  }
  MPI_Group_free(&world);
}

void shared_info() {
  MPI_Info info;
  MPI_Info_create(&info);
  in_threads([&](int t) {
    const std::string key = "key" + std::to_string(t);
    for (int i = 0; i < rounds; ++i) {
      const std::string value = std::to_string(i);
      MPI_Info_set(info, key.c_str(), value.c_str());
      char text[20];
      int flag = 0;
      MPI_Info_get(info, key.c_str(), 19, text, &flag);
      EXPECT(flag && value == text, "%s in round %d", text, i);
      MPI_Info copy;
      MPI_Info_dup(info, &copy);
      MPI_Info_free(&copy);
      if (i % 3 == 0) MPI_Info_delete(info, key.c_str());
    }
    MPI_Info_set(info, key.c_str(), "end");
  });
  int keys = 0;
  MPI_Info_get_nkeys(info, &keys);
  EXPECT(keys == threads, "%d keys", keys);
  MPI_Info_free(&info);
}

void error_codes(int) {
  for (int i = 0; i < rounds; ++i) {
    int error_class = 0, code = 0, found = 0, length = 0, flag = 0;
    int* last = nullptr;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Add_error_class(&error_class);
    MPI_Add_error_code(error_class, &code);
    MPI_Add_error_string(code, "mine");
    MPI_Error_class(code, &found);
    EXPECT(found == error_class, "class %d", found);
    MPI_Error_string(code, text, &length);
    EXPECT(strcmp(text, "mine") == 0, "\"%s\"", text);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    EXPECT(flag, "no MPI_LASTUSEDCODE");
  }
}

// ---- names and error handlers of one communicator

void names(int t) {
  const std::string name(static_cast<size_t>(10 + 20 * t), static_cast<char>('a' + t));
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm_set_name(MPI_COMM_SELF, name.c_str());
    MPI_Type_set_name(MPI_INT, name.c_str());
    char text[MPI_MAX_OBJECT_NAME];
    int length = 0;
    MPI_Comm_get_name(MPI_COMM_SELF, text, &length);
    EXPECT(std::string(text) == std::string(strlen(text), text[0]), "\"%s\" is a mixture", text);
    MPI_Type_get_name(MPI_INT, text, &length);
    EXPECT(std::string(text) == std::string(strlen(text), text[0]), "\"%s\" is a mixture", text);
  }
}

std::atomic<int> handled{0};

void count_error(MPI_Comm* comm, int*, ...) {
  ++handled;
  MPI_Errhandler now;  // a handler may use MPI
  MPI_Comm_get_errhandler(*comm, &now);
  MPI_Errhandler_free(&now);
}

void error_handlers(int) {
  for (int i = 0; i < rounds; ++i) {
    MPI_Errhandler handler, now;
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &now);
    MPI_Errhandler_free(&now);
  }
}

// ---- attributes

std::atomic<int> values{0};  // set or copied, and not deleted
int other_key = MPI_KEYVAL_INVALID;

int copied(MPI_Comm comm, int, void*, void* value, void* out, int* flag) {
  void* other = nullptr;
  int there = 0;
  MPI_Comm_get_attr(comm, other_key, &other, &there);  // a callback may use MPI
  *static_cast<void**>(out) = value;
  *flag = 1;
  ++values;
  return MPI_SUCCESS;
}

int deleted(MPI_Comm comm, int, void*, void*) {
  void* other = nullptr;
  int there = 0;
  MPI_Comm_get_attr(comm, other_key, &other, &there);
  --values;
  return MPI_SUCCESS;
}

void attach(MPI_Comm comm, int key, void* value) {
  ++values;
  MPI_Comm_set_attr(comm, key, value);
}

// A key of each thread's own and one of all, on the communicator of all; communicators of one process are copied.
void attributes() {
  static int mark;
  int shared_key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other_key, nullptr);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &shared_key, nullptr);
  std::vector<MPI_Comm> selves(threads);
  for (MPI_Comm& self : selves) MPI_Comm_dup(MPI_COMM_SELF, &self);
  in_threads([&](int t) {
    for (int i = 0; i < rounds; ++i) {
      int key = MPI_KEYVAL_INVALID, flag = 0;
      void* found = nullptr;
      MPI_Comm_create_keyval(copied, deleted, &key, nullptr);
      attach(MPI_COMM_WORLD, key, &i);
      attach(MPI_COMM_WORLD, shared_key, &mark);
      MPI_Comm_get_attr(MPI_COMM_WORLD, key, &found, &flag);
      EXPECT(flag && found == &i, "another value in round %d", i);
      MPI_Comm_get_attr(MPI_COMM_WORLD, shared_key, &found, &flag);
      EXPECT(!flag || found == &mark, "another value in round %d", i);
      attach(selves[static_cast<size_t>(t)], key, &i);
      MPI_Comm copy;
      MPI_Comm_dup(selves[static_cast<size_t>(t)], &copy);
      MPI_Comm_get_attr(copy, key, &found, &flag);
      EXPECT(flag && found == &i, "not copied in round %d", i);
      MPI_Comm_free(&copy);
      MPI_Comm_delete_attr(selves[static_cast<size_t>(t)], key);
      MPI_Comm_delete_attr(MPI_COMM_WORLD, shared_key);
      MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
      MPI_Comm_free_keyval(&key);
    }
  });
  for (MPI_Comm& self : selves) MPI_Comm_free(&self);
  EXPECT(values == 0, "%d values were not deleted once", values.load());
  MPI_Comm_free_keyval(&shared_key);
  MPI_Comm_free_keyval(&other_key);
}

// ---- buffers and sessions

void buffers(int t) {
  std::vector<char> memory(1000);
  MPI_Comm self;
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  for (int i = 0; i < rounds; ++i) {
    void* given = nullptr;
    int size = 0;
    MPI_Comm_attach_buffer(self, memory.data(), 100 + t);
    MPI_Comm_flush_buffer(self);
    MPI_Comm_detach_buffer(self, &given, &size);
    EXPECT(given == memory.data() && size == 100 + t, "%d bytes came back", size);
  }
  MPI_Comm_free(&self);
}

void sessions(int) {
  for (int i = 0; i < rounds; ++i) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    EXPECT(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS, "no session");
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "self", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    int rank = -1;
    MPI_Comm_rank(comm, &rank);
    EXPECT(rank == 0, "rank %d", rank);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
  }
}

void local() {
  in_threads(types);
  shared_type();
  shared_struct();
  unnamed_types();
  in_threads(groups);
  shared_info();
  in_threads(error_codes);
  in_threads(names);
  in_threads(error_handlers);
  EXPECT(handled == threads * rounds, "%d errors were handled", handled.load());
  attributes();
  in_threads(buffers);
  in_threads(sessions);
}

// ---- what sends messages

// A message round the ring. Two communicators of one context would mix them up.
void ring(MPI_Comm comm, int value) {
  int rank = 0, size = 1, got = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 5, &got, 1, MPI_INT, (rank + size - 1) % size, 5, comm,
               MPI_STATUS_IGNORE);
  EXPECT(got == value, "%d came, %d was sent", got, value);
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  EXPECT(sum == size * value, "sum %d of %d", sum, value);
}

// Each thread on a parent of its own; ranks start their threads in different orders.
void communicators() {
  std::vector<MPI_Comm> parents(threads);
  for (MPI_Comm& parent : parents) MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  in_threads([&](int nth) {
    const int t = (nth + expect::rank) % threads;
    MPI_Comm parent = parents[static_cast<size_t>(t)];
    std::vector<MPI_Comm> kept;
    for (int i = 0; i < rounds / 4; ++i) {
      MPI_Comm dup, half, grouped, from_group;
      MPI_Comm_dup(parent, &dup);
      MPI_Comm_split(dup, expect::rank % 2, -expect::rank, &half);
      MPI_Comm_create_group(MPI_COMM_WORLD, world, t, &grouped);  // all threads on one parent, by tag
      MPI_Comm_create_from_group(world, ("thread" + std::to_string(t)).c_str(), MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                 &from_group);
      ring(dup, 1000 * t + i);
      ring(half, 2000 * t + i);
      ring(grouped, 3000 * t + i);
      ring(from_group, 4000 * t + i);
      MPI_Comm_free(&half);
      MPI_Comm_free(&from_group);
      MPI_Comm_free(&grouped);
      kept.push_back(dup);
    }
    for (MPI_Comm& comm : kept) {
      ring(comm, t);
      MPI_Comm_free(&comm);
    }
  });
  MPI_Group_free(&world);
  for (MPI_Comm& parent : parents) MPI_Comm_free(&parent);
}

// All threads send from the buffer of the process, and one flushes it.
void buffered_sends() {
  MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
  in_threads([](int t) {
    const int next = (expect::rank + 1) % expect::size;
    for (int i = 0; i < rounds; ++i) {
      int got = -1;
      MPI_Bsend(&i, 1, MPI_INT, next, t, MPI_COMM_WORLD);
      if (t == 0) MPI_Buffer_flush();
      MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT(got == i, "%d in round %d", got, i);
    }
  });
  void* given = nullptr;
  int size = -1;
  MPI_Buffer_detach(&given, &size);
  EXPECT(given == MPI_BUFFER_AUTOMATIC, "another buffer came back");
}

}  // namespace

int main(int argc, char** argv) {
  const bool all = argc > 1 && strcmp(argv[1], "all") == 0;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &expect::rank);
  MPI_Comm_size(MPI_COMM_WORLD, &expect::size);
  if (all && provided < MPI_THREAD_MULTIPLE) {
    if (expect::rank == 0) fprintf(stderr, "skipped: MPI_THREAD_MULTIPLE is not provided\n");
    MPI_Finalize();
    return 77;
  }
  if (all) {
    communicators();
    buffered_sends();
  } else {
    local();
  }
  return expect::finish();
}
