// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Counters and events say exactly what two ranks do; settings act when they are written. Rank 0 sends, rank 1 receives.
#include <unistd.h>

#include "tools.hpp"

namespace {

constexpr int go = 1000;  // tag of what keeps the two in step
constexpr int last_tag = 1001;

void tell(int tag = go) {
  MPI_Send(nullptr, 0, MPI_BYTE, 1 - expect::rank, tag, MPI_COMM_WORLD);
}
void hear(int tag = go) {
  MPI_Recv(nullptr, 0, MPI_BYTE, 1 - expect::rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

const std::vector<std::string> paths = {"e0", "e1", "r0", "r1"};
constexpr int rounds = 5;

// Messages of `bytes` go by `path` and no other. Each is answered, which lets buffers become free.
void send_by(const std::string& path, int bytes) {
  std::vector<std::string> names;
  for (const std::string& p : paths) names.insert(names.end(), {"weft_" + p + "_messages", "weft_" + p + "_bytes"});
  std::vector<char> data(static_cast<size_t>(bytes));
  tools::Watch watch(names);
  for (int i = 0; i < rounds; ++i) {
    if (expect::rank == 0) {
      MPI_Send(data.data(), bytes, MPI_BYTE, 1, i, MPI_COMM_WORLD);
      hear();
    } else {
      MPI_Recv(data.data(), bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      tell();
    }
  }
  for (const std::string& p : paths) {
    const bool sends = expect::rank == 0 ? p == path : p == "e0";
    const unsigned long long messages = sends ? rounds : 0;
    const unsigned long long sum = sends && expect::rank == 0 ? rounds * static_cast<unsigned long long>(bytes) : 0;
    const auto counted = watch.read("weft_" + p + "_messages");
    const auto counted_bytes = watch.read("weft_" + p + "_bytes");
    EXPECT(counted == messages && counted_bytes == sum, "%s for %d bytes by %s: %llu, not %llu; %llu bytes, not %llu",
           p.c_str(), bytes, path.c_str(), counted, messages, counted_bytes, sum);
  }
}

void paths_of_messages() {
  send_by("e0", 0);
  send_by("e0", 8);
  send_by("e0", 8000);
  send_by("r0", 40000);
  EXPECT_CODE(tools::set_control("WEFT_EAGER_LIMIT", MPI_Count{131072}), MPI_SUCCESS);
  send_by("e1", 9000);
  send_by("e1", 100000);
  send_by("r0", 200000);
  EXPECT_CODE(tools::set_control("WEFT_EAGER_LIMIT", MPI_Count{131073}), MPI_T_ERR_INVALID);
  EXPECT_CODE(tools::set_control("WEFT_R0_LIMIT", MPI_Count{100000}), MPI_SUCCESS);
  send_by("r1", 200000);
  EXPECT_CODE(tools::set_control("WEFT_R0_LIMIT", MPI_Count{1} << 40), MPI_SUCCESS);
  EXPECT_CODE(tools::set_control("WEFT_RENDEZVOUS", 0), MPI_SUCCESS);
  send_by("r1", 200000);
  EXPECT_CODE(tools::set_control("WEFT_RENDEZVOUS", 2), MPI_T_ERR_INVALID);
  EXPECT_CODE(tools::set_control("WEFT_RENDEZVOUS", 1), MPI_SUCCESS);
  EXPECT_CODE(tools::set_control("WEFT_EAGER_LIMIT", MPI_Count{32768}), MPI_SUCCESS);
  EXPECT_CODE(tools::set_control("WEFT_MAILBOX_LIMIT", MPI_Count{100}), MPI_T_ERR_CVAR_SET_NOT_NOW);
  EXPECT_CODE(tools::set_control("WEFT_THREAD_DESIGN", 0), MPI_T_ERR_CVAR_SET_NOT_NOW);
}

MPI_Count begun_at = 0;  // by the clock of events

// The data that callbacks got.
struct Told {
  int count = 0;
  int peer[64] = {}, tag[64] = {}, internal[64] = {};
  MPI_Count bytes[64] = {}, at[64] = {};
};

void remember(MPI_T_event_instance event, MPI_T_event_registration, MPI_T_cb_safety level, void* user) {
  auto& told = *static_cast<Told*>(user);
  EXPECT(level == MPI_T_CB_REQUIRE_MPI_RESTRICTED, "level %d", level);
  const int i = told.count++ % 64;
  struct {
    int peer, tag;
    MPI_Count bytes;
    int internal;
  } all;
  EXPECT_OK(MPI_T_event_copy(event, &all));
  EXPECT_OK(MPI_T_event_read(event, 0, &told.peer[i]));
  EXPECT_OK(MPI_T_event_read(event, 1, &told.tag[i]));
  EXPECT_OK(MPI_T_event_read(event, 2, &told.bytes[i]));
  EXPECT_OK(MPI_T_event_read(event, 3, &told.internal[i]));
  EXPECT(all.peer == told.peer[i] && all.tag == told.tag[i] && all.bytes == told.bytes[i] &&
             all.internal == told.internal[i],
         "a copy differs: %d, %d", all.peer, all.tag);
  int source = -1;
  EXPECT_OK(MPI_T_event_get_source(event, &source));
  EXPECT(source == 0, "source %d", source);
  MPI_Count now = 0;
  EXPECT_OK(MPI_T_event_get_timestamp(event, &told.at[i]));
  EXPECT_OK(MPI_T_source_get_timestamp(source, &now));
  EXPECT(told.at[i] >= begun_at && told.at[i] <= now, "%lld, now %lld, begun at %lld",
         static_cast<long long>(told.at[i]), static_cast<long long>(now), static_cast<long long>(begun_at));
  EXPECT_CODE(MPI_T_event_read(event, 4, &source), MPI_T_ERR_INVALID_INDEX);
  EXPECT_CODE(MPI_T_event_read(event, -1, &source), MPI_T_ERR_INVALID_INDEX);
  EXPECT_CODE(MPI_T_event_copy(event, nullptr), MPI_T_ERR_INVALID);
}

void count_free(MPI_T_event_registration, MPI_T_cb_safety, void* user) {
  ++*static_cast<int*>(user);
}

MPI_T_event_registration listen(const char* name, MPI_T_event_cb_function* function, void* user) {
  MPI_T_event_registration made = tools::registration(name);
  EXPECT_OK(MPI_T_event_register_callback(made, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, user, function));
  return made;
}

void stop_listening(MPI_T_event_registration registration) {
  int freed = 0;
  EXPECT_OK(MPI_T_event_handle_free(registration, &freed, count_free));
  EXPECT(freed == 1, "told %d times", freed);
}

// Three messages come before their receives.
void unexpected() {
  constexpr int messages = 3;
  char data[messages][40];
  Told told;
  const MPI_T_event_registration registration = listen("weft_message_unexpected", remember, &told);
  tools::Watch watch({"weft_unexpected_messages", "weft_unexpected_now", "weft_unexpected_bytes",
                      "weft_unexpected_highest", "weft_unexpected_bytes_highest", "weft_receives_now"});
  if (expect::rank == 0) {
    hear();
    for (int i = 0; i < messages; ++i) MPI_Send(data[i], 10 * (i + 1), MPI_BYTE, 1, i, MPI_COMM_WORLD);
    tell(last_tag);
    hear();
  } else {
    MPI_Request last;
    const auto open = watch.read("weft_receives_now");
    MPI_Irecv(nullptr, 0, MPI_BYTE, 0, last_tag, MPI_COMM_WORLD, &last);
    EXPECT(watch.read("weft_receives_now") == open + 1, "%llu", watch.read("weft_receives_now") - open);
    tell();
    MPI_Wait(&last, MPI_STATUS_IGNORE);
    EXPECT(watch.read("weft_unexpected_messages") == messages, "%llu", watch.read("weft_unexpected_messages"));
    EXPECT(watch.read("weft_unexpected_now") == messages, "%llu", watch.read("weft_unexpected_now"));
    EXPECT(watch.read("weft_unexpected_bytes") == 60, "%llu", watch.read("weft_unexpected_bytes"));
    EXPECT(watch.read("weft_unexpected_highest") >= messages, "%llu", watch.read("weft_unexpected_highest"));
    EXPECT(watch.read("weft_unexpected_bytes_highest") >= 60, "%llu", watch.read("weft_unexpected_bytes_highest"));
    EXPECT(told.count == messages, "%d events", told.count);
    for (int i = 0; i < messages; ++i) {
      EXPECT(told.peer[i] == 0 && told.tag[i] == i && told.bytes[i] == 10 * (i + 1) && told.internal[i] == 0,
             "event %d: from %d, tag %d, %lld bytes", i, told.peer[i], told.tag[i],
             static_cast<long long>(told.bytes[i]));
      EXPECT(i == 0 || told.at[i] >= told.at[i - 1], "event %d goes back in time", i);
    }
    for (int i = 0; i < messages; ++i) {
      MPI_Recv(data[i], sizeof data[i], MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    EXPECT(watch.read("weft_unexpected_now") == 0, "%llu", watch.read("weft_unexpected_now"));
    EXPECT(watch.read("weft_unexpected_bytes") == 0, "%llu", watch.read("weft_unexpected_bytes"));
    tell();
  }
  stop_listening(registration);
}

// Three messages of no bytes, each before its receive, one after the other.
void send_unexpected(int messages) {
  for (int i = 0; i < messages; ++i) {
    if (expect::rank == 0) {
      hear();
      tell(i);
      tell(last_tag);
    } else {
      MPI_Request last;
      MPI_Irecv(nullptr, 0, MPI_BYTE, 0, last_tag, MPI_COMM_WORLD, &last);
      tell();
      MPI_Wait(&last, MPI_STATUS_IGNORE);
      hear(i);
    }
  }
}

struct Dropped {
  int callbacks = 0;
  int handlers = 0;
  int events = 0;
};

void count_one(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void* user) {
  ++static_cast<Dropped*>(user)->callbacks;
}

void count_dropped(MPI_Count count, MPI_T_event_registration, int source, MPI_T_cb_safety level, void* user) {
  EXPECT(source == 0 && level == MPI_T_CB_REQUIRE_MPI_RESTRICTED, "source %d, level %d", source, level);
  ++static_cast<Dropped*>(user)->handlers;
  static_cast<Dropped*>(user)->events += static_cast<int>(count);
}

// A callback that may do anything is not called in the middle of the runtime. Missed events are reported before the
// next callback.
void dropped() {
  if (expect::rank == 0) {
    send_unexpected(3);
    return send_unexpected(2);
  }
  Dropped seen;
  MPI_T_event_registration registration = tools::registration("weft_message_unexpected");
  EXPECT_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &seen, count_one));
  send_unexpected(3);
  EXPECT_OK(MPI_T_event_set_dropped_handler(registration, count_dropped));
  EXPECT_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &seen, count_one));
  EXPECT(seen.callbacks == 0 && seen.handlers == 0, "%d, %d", seen.callbacks, seen.handlers);
  send_unexpected(2);
  EXPECT(seen.callbacks == 2 && seen.handlers == 1 && seen.events == 3, "%d, %d, %d", seen.callbacks, seen.handlers,
         seen.events);
  stop_listening(registration);
}

struct Ending {
  int told = 0;
  int freed = 0;
};

void end_registration(MPI_T_event_instance event, MPI_T_event_registration registration, MPI_T_cb_safety, void* user) {
  auto& ending = *static_cast<Ending*>(user);
  ++ending.told;
  EXPECT_OK(MPI_T_event_handle_free(registration, &ending.freed, count_free));
  EXPECT_CODE(MPI_T_event_handle_free(registration, nullptr, nullptr), MPI_T_ERR_INVALID_HANDLE);
  EXPECT(ending.freed == 0, "freed while its callback runs");
  int tag = -1;
  EXPECT_OK(MPI_T_event_read(event, 1, &tag));
}

// A registration that its callback frees goes when the callback is over; the others are told all the same.
void free_in_callback() {
  if (expect::rank == 0) return send_unexpected(2);
  Told told;
  Ending ending;
  const MPI_T_event_registration first = listen("weft_message_unexpected", remember, &told);
  listen("weft_message_unexpected", end_registration, &ending);
  const MPI_T_event_registration last = listen("weft_message_unexpected", remember, &told);
  send_unexpected(2);
  EXPECT(ending.told == 1 && ending.freed == 1 && told.count == 4, "%d, %d, %d", ending.told, ending.freed, told.count);
  stop_listening(first);
  stop_listening(last);
}

void rendezvous() {
  std::vector<char> data(300000);
  Told told;
  const MPI_T_event_registration registration = listen("weft_rendezvous", remember, &told);
  if (expect::rank == 0) {
    MPI_Send(data.data(), 300000, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
    MPI_Send(data.data(), 8, MPI_BYTE, 1, 6, MPI_COMM_WORLD);
    EXPECT(told.count == 1 && told.peer[0] == 1 && told.tag[0] == 5 && told.bytes[0] == 300000, "%d events, %lld bytes",
           told.count, static_cast<long long>(told.bytes[0]));
  } else {
    MPI_Recv(data.data(), 300000, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data.data(), 8, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(told.count == 0, "%d events", told.count);
  }
  stop_listening(registration);
}

// `one_round` says on one rank whether it has come about what is tested. On a busy machine a rank may be so late that
// it has not: then there is another round.
template <class Round>
void repeat_until(int rank, const char* what, Round one_round) {
  constexpr int most = 100;
  int seen = 0;
  for (int i = 0; i < most && seen == 0; ++i) {
    seen = one_round() ? 1 : 0;
    MPI_Bcast(&seen, 1, MPI_INT, rank, MPI_COMM_WORLD);
  }
  EXPECT(seen == 1, "not in %d rounds: %s", most, what);
}

// The receiver looks away until its ring is full.
void full_way() {
  constexpr int messages = 400;
  std::vector<char> data(4000);
  Told told;
  const MPI_T_event_registration registration = listen("weft_send_queued", remember, &told);
  tools::Watch watch({"weft_queued_sends", "weft_sends_now"});
  repeat_until(0, "a send was queued, and under way then", [&] {
    bool seen = false;
    if (expect::rank == 0) {
      std::vector<MPI_Request> requests(messages);
      for (int i = 0; i < messages; ++i) {
        MPI_Isend(data.data(), 4000, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[static_cast<size_t>(i)]);
      }
      seen = told.count > 0 && watch.read("weft_sends_now") > 0;
      EXPECT(watch.read("weft_queued_sends") == static_cast<unsigned long long>(told.count), "%d events, %llu counted",
             told.count, watch.read("weft_queued_sends"));
      MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
      EXPECT(watch.read("weft_sends_now") == 0, "%llu sends under way", watch.read("weft_sends_now"));
    } else {
      usleep(50000);
      for (int i = 0; i < messages; ++i) {
        MPI_Recv(data.data(), 4000, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
    return seen;
  });
  stop_listening(registration);
}

void add(MPI_T_event_instance event, MPI_T_event_registration, MPI_T_cb_safety, void* user) {
  MPI_Count amount = 0;
  EXPECT_OK(MPI_T_event_read(event, 0, &amount));
  static_cast<MPI_Count*>(user)[0] += 1;
  static_cast<MPI_Count*>(user)[1] += amount;
}

void saturation() {
  constexpr int messages = 40;
  std::vector<char> data(4000);
  MPI_Count told[2] = {};
  const MPI_T_event_registration registration = listen("weft_saturated", add, told);
  tools::Watch watch({"weft_saturations", "weft_flow"});
  if (expect::rank == 0) {
    std::vector<MPI_Request> requests(messages);
    hear();
    for (int i = 0; i < messages; ++i) {
      MPI_Isend(data.data(), 4000, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[static_cast<size_t>(i)]);
    }
    tell(last_tag);
    MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
    hear();
  } else {
    EXPECT_CODE(tools::set_control("WEFT_UNEXPECTED_LIMIT", MPI_Count{65536}), MPI_SUCCESS);
    MPI_Request last;
    MPI_Irecv(nullptr, 0, MPI_BYTE, 0, last_tag, MPI_COMM_WORLD, &last);
    EXPECT(watch.read<int>("weft_flow") == 0, "saturated");
    tell();
    MPI_Wait(&last, MPI_STATUS_IGNORE);
    EXPECT(watch.read("weft_saturations") == 1 && watch.read<int>("weft_flow") == 1, "%llu",
           watch.read("weft_saturations"));
    EXPECT(told[0] == 1 && told[1] > 65536, "%lld events, %lld bytes", static_cast<long long>(told[0]),
           static_cast<long long>(told[1]));
    for (int i = 0; i < messages; ++i) {
      MPI_Recv(data.data(), 4000, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    EXPECT(watch.read<int>("weft_flow") == 0, "still saturated");
    EXPECT_CODE(tools::set_control("WEFT_UNEXPECTED_LIMIT", MPI_Count{16 << 20}), MPI_SUCCESS);
    tell();
  }
  stop_listening(registration);
}

void count_call(MPI_T_event_instance event, MPI_T_event_registration, MPI_T_cb_safety, void* user) {
  int source = -1;
  EXPECT_OK(MPI_T_event_get_source(event, &source));
  EXPECT(source == 1, "source %d", source);
  ++*static_cast<int*>(user);
}

// main() has asked for waits that sleep at once.
void sleep_in_waits() {
  int asleep = 0;
  MPI_Count awake[2] = {};
  const MPI_T_event_registration sleeps = listen("weft_sleep", count_call, &asleep);
  const MPI_T_event_registration wakes = listen("weft_wake", add, awake);
  tools::Watch watch({"weft_sleeps", "weft_sleep_time"});
  const double begin = MPI_Wtime();
  repeat_until(1, "a sleep of some time", [&] {
    if (expect::rank == 0) {
      usleep(50000);
      tell();
      return false;
    }
    hear();
    const auto counted = watch.read("weft_sleeps");
    const auto seconds = watch.read<double>("weft_sleep_time");
    EXPECT(seconds <= MPI_Wtime() - begin, "%g seconds", seconds);
    EXPECT(static_cast<unsigned long long>(asleep) == counted && static_cast<unsigned long long>(awake[0]) == counted,
           "%d, %lld of %llu sleeps", asleep, static_cast<long long>(awake[0]), counted);
    EXPECT(static_cast<double>(awake[1]) / 1e9 >= 0.999 * seconds, "%lld ns of %g s", static_cast<long long>(awake[1]),
           seconds);
    return counted >= 1 && seconds > 0.01;
  });
  stop_listening(sleeps);
  stop_listening(wakes);
}

// Handles do not disturb each other; a stopped one does not count.
void handles() {
  const std::string name = "weft_e0_messages";
  tools::Watch first({name}), second({name});
  unsigned long long value = 0;
  tell(), hear();
  EXPECT_OK(MPI_T_pvar_stop(first.session(), first.handle(name)));
  tell(), hear();
  EXPECT(first.read(name) == 1 && second.read(name) == 2, "%llu, %llu", first.read(name), second.read(name));
  EXPECT_OK(MPI_T_pvar_start(first.session(), MPI_T_PVAR_ALL_HANDLES));
  EXPECT_OK(MPI_T_pvar_readreset(second.session(), second.handle(name), &value));
  tell(), hear();
  EXPECT(value == 2 && first.read(name) == 2 && second.read(name) == 1, "%llu, %llu, %llu", value, first.read(name),
         second.read(name));
  value = 100;
  EXPECT_OK(MPI_T_pvar_write(first.session(), first.handle(name), &value));
  tell(), hear();
  EXPECT(first.read(name) == 101 && second.read(name) == 2, "%llu, %llu", first.read(name), second.read(name));
  EXPECT_OK(MPI_T_pvar_reset(first.session(), MPI_T_PVAR_ALL_HANDLES));
  EXPECT(first.read(name) == 0, "%llu", first.read(name));
}

void bound_to_communicator() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const tools::Variable v = tools::variable("weft_comm_requests_now");
  EXPECT(v.bind == MPI_T_BIND_MPI_COMM, "bound to %d", v.bind);
  MPI_T_pvar_session session;
  MPI_T_pvar_handle on_comm, on_world;
  MPI_Comm world = MPI_COMM_WORLD;
  int count = 0;
  EXPECT_OK(MPI_T_pvar_session_create(&session));
  EXPECT_OK(MPI_T_pvar_handle_alloc(session, v.index, &comm, &on_comm, &count));
  EXPECT_OK(MPI_T_pvar_handle_alloc(session, v.index, &world, &on_world, &count));
  MPI_Request requests[2];
  for (MPI_Request& r : requests) MPI_Irecv(nullptr, 0, MPI_BYTE, 1 - expect::rank, 3, comm, &r);
  unsigned long long here = 99, there = 99;
  EXPECT_OK(MPI_T_pvar_read(session, on_comm, &here));
  EXPECT_OK(MPI_T_pvar_read(session, on_world, &there));
  EXPECT(here == 2 && there == 0, "%llu, %llu", here, there);
  for (MPI_Request& r : requests) {
    MPI_Cancel(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  EXPECT_OK(MPI_T_pvar_read(session, on_comm, &here));
  EXPECT(here == 0, "%llu", here);
  MPI_Comm_free(&comm);
  EXPECT_CODE(MPI_T_pvar_read(session, on_comm, &here), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_OK(MPI_T_pvar_handle_free(session, &on_comm));
  EXPECT_OK(MPI_T_pvar_session_free(&session));
}

void lanes() {
  tools::Watch watch({"weft_lanes"});
  EXPECT(watch.read("weft_lanes") == 1, "%llu lanes", watch.read("weft_lanes"));
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  int count = 0;
  EXPECT_OK(MPI_T_pvar_session_create(&session));
  EXPECT_OK(MPI_T_pvar_handle_alloc(session, tools::variable("weft_lane_messages").index, nullptr, &handle, &count));
  EXPECT(count == 64, "%d lanes at most", count);
  unsigned long long arrived[64];
  EXPECT_OK(MPI_T_pvar_start(session, handle));
  if (expect::rank == 0) {
    hear();
    for (int i = 0; i < rounds; ++i) tell();
  } else {
    tell();
    for (int i = 0; i < rounds; ++i) hear();
    EXPECT_OK(MPI_T_pvar_read(session, handle, arrived));
    EXPECT(arrived[0] == rounds && arrived[1] == 0, "%llu, %llu", arrived[0], arrived[1]);
  }
  EXPECT_OK(MPI_T_pvar_session_free(&session));
}

}  // namespace

int main(int argc, char** argv) {
  tools::open();
  EXPECT_CODE(tools::set_control("WEFT_SPIN", MPI_Count{0}), MPI_SUCCESS);
  EXPECT_CODE(tools::set_control("WEFT_YIELDS", MPI_Count{0}), MPI_SUCCESS);
  EXPECT_CODE(tools::set_control("WEFT_RING_BYTES", MPI_Count{65536}), MPI_SUCCESS);
  expect::start(&argc, &argv);
  EXPECT(tools::get_control<MPI_Count>("WEFT_RING_BYTES") == 65536, "not kept");
  EXPECT_OK(MPI_T_source_get_timestamp(0, &begun_at));
  for (auto part : {paths_of_messages, unexpected, dropped, free_in_callback, rendezvous, full_way, saturation,
                    sleep_in_waits, handles, bound_to_communicator, lanes}) {
    MPI_Barrier(MPI_COMM_WORLD);
    part();
  }
  EXPECT_OK(MPI_T_finalize());
  return expect::finish();
}
