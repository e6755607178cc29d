// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The tool interface with several threads, at MPI_THREAD_MULTIPLE: some communicate, some read variables, some register
// for events and free their registrations while events happen.
#include <thread>

#include "threads.hpp"
#include "tools.hpp"

namespace {

std::atomic<int> told = 0, dropped = 0, freed = 0, below = 0;

void count_event(MPI_T_event_instance event, MPI_T_event_registration, MPI_T_cb_safety level, void* user) {
  EXPECT(level == MPI_T_CB_REQUIRE_THREAD_SAFE, "level %d", level);
  int tag = -1;
  EXPECT_OK(MPI_T_event_read(event, 1, &tag));
  EXPECT(tag >= 0, "tag %d", tag);
  ++*static_cast<std::atomic<int>*>(user);
}

// Reads a variable where events happen: allowed at this level.
void read_variable(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void* user) {
  const auto& watch = *static_cast<const tools::Watch*>(user);
  EXPECT(watch.read("weft_unexpected_messages") > 0, "none counted");
}

void count_dropped(MPI_Count count, MPI_T_event_registration, int source, MPI_T_cb_safety, void* user) {
  EXPECT(source == 0 && user == &below, "source %d", source);
  dropped += static_cast<int>(count);
}

void count_freed(MPI_T_event_registration, MPI_T_cb_safety, void*) {
  ++freed;
}

constexpr int messages = 200;

// Each message of a thread to itself comes before its receive.
void communicate(int thread) {
  for (int i = 0; i < messages; ++i) {
    const int tag = thread * messages + i;
    int value = i, got = -1;
    MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
    MPI_Recv(&got, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    EXPECT(got == i, "%d, not %d", got, i);
  }
}

template <class Function>
void run(int count, Function&& function) {
  std::vector<std::thread> all;
  for (int i = 0; i < count; ++i) all.emplace_back([&, i] { function(i); });
  for (std::thread& t : all) t.join();
}

// Every event is told to a callback that is thread-safe, and to no other.
void deliver(int count) {
  told = dropped = below = 0;
  tools::Watch watch({"weft_unexpected_messages"});
  MPI_T_event_registration safe = tools::registration("weft_message_unexpected");
  MPI_T_event_registration unsafe = tools::registration("weft_message_unexpected");
  MPI_T_event_registration reader = tools::registration("weft_message_unexpected");
  EXPECT_OK(MPI_T_event_register_callback(safe, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &told, count_event));
  EXPECT_OK(MPI_T_event_register_callback(unsafe, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, &below, count_event));
  EXPECT_OK(MPI_T_event_set_dropped_handler(unsafe, count_dropped));
  EXPECT_OK(
      MPI_T_event_register_callback(reader, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, &watch, read_variable));
  run(count, communicate);
  const int all = count * messages;
  EXPECT(told == all && dropped == all && below == 0, "%d told, %d dropped, %d below, of %d", told.load(),
         dropped.load(), below.load(), all);
  EXPECT(watch.read("weft_unexpected_messages") == static_cast<unsigned long long>(all), "%llu counted",
         watch.read("weft_unexpected_messages"));
  for (MPI_T_event_registration r : {safe, unsafe, reader}) EXPECT_OK(MPI_T_event_handle_free(r, nullptr, nullptr));
}

// Registrations, sessions and handles come and go while others communicate.
void disturb(int count) {
  freed = 0;
  std::atomic<int> busy = count;
  std::atomic<int> registered = 0;
  const std::vector<tools::Variable> all = tools::variables();
  run(count + 2, [&](int thread) {
    if (thread < count) {
      communicate(thread);
      --busy;
      return;
    }
    std::atomic<int> mine = 0;
    do {
      MPI_T_event_registration r = tools::registration("weft_message_unexpected");
      EXPECT_OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &mine, count_event));
      ++registered;
      MPI_T_pvar_session session;
      EXPECT_OK(MPI_T_pvar_session_create(&session));
      for (const tools::Variable& v : all) {
        MPI_Comm comm = MPI_COMM_SELF;
        MPI_T_pvar_handle handle;
        int elements = 0;
        double room[64];
        EXPECT_OK(MPI_T_pvar_handle_alloc(session, v.index, &comm, &handle, &elements));
        EXPECT_OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
        EXPECT_OK(MPI_T_pvar_read(session, handle, room));
        if (v.index % 2 == 0) EXPECT_OK(MPI_T_pvar_handle_free(session, &handle));
      }
      EXPECT_OK(MPI_T_pvar_session_free(&session));
      EXPECT_OK(MPI_T_event_handle_free(r, nullptr, count_freed));
      int provided = 0;
      EXPECT_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
      EXPECT_CODE(tools::set_control("WEFT_SHARE_FROM", MPI_Count{65536}), MPI_SUCCESS);
      EXPECT_OK(MPI_T_finalize());
    } while (busy > 0);
    // A callback may still run; its last call frees the registration, before this goes out of scope.
    while (freed < registered && busy >= 0) std::this_thread::yield();
  });
  EXPECT(freed == registered, "%d of %d freed", freed.load(), registered.load());
}

}  // namespace

int main(int argc, char** argv) {
  tools::open();
  threads::start(&argc, &argv);
  for (int count : {1, 2, 4}) deliver(count);
  disturb(2);
  EXPECT_OK(MPI_T_finalize());
  return expect::finish();
}
