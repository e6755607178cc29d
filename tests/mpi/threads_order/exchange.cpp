// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "threads_order/exchange.hpp"

#include <algorithm>

namespace order {

namespace {

// One way between two ranks, on a communicator of its own; the other one carries what is no part of the test.
struct Way {
  MPI_Comm comm, control;
  int to, from;
};

struct Told {
  int32_t script, index;
};

uint64_t salt_of(const Script& script, int index) {
  return script.seed * 31 + static_cast<uint64_t>(index);
}

std::vector<int> threads_of(const std::vector<Send>& sends) {
  std::vector<int> who;
  for (const Send& s : sends) who.push_back(s.thread);
  return who;
}
std::vector<int> threads_of(const std::vector<Receive>& receives) {
  std::vector<int> who;
  for (const Receive& r : receives) who.push_back(r.thread);
  return who;
}

void send_script(Team& team, const Script& script, const Way& way) {
  const size_t count = script.sends.size();
  std::vector<std::vector<unsigned char>> data(count);
  for (size_t i = 0; i < count; ++i) {
    data[i].resize(script.sends[i].bytes);
    const Told told{static_cast<int32_t>(script.seed), static_cast<int32_t>(i)};
    memcpy(data[i].data(), &told, sizeof told);
    threads::fill(data[i].data() + sizeof told, data[i].size() - sizeof told, salt_of(script, static_cast<int>(i)));
  }
  std::vector<MPI_Request> requests(count, MPI_REQUEST_NULL);
  if (script.form == Form::receives_first) {
    OK(MPI_Recv(nullptr, 0, MPI_BYTE, way.to, 1, way.control, MPI_STATUS_IGNORE));
  }
  team.run(threads_of(script.sends), script.seed, [&](int i) {
    const Send& s = script.sends[static_cast<size_t>(i)];
    const void* bytes = data[static_cast<size_t>(i)].data();
    const int length = static_cast<int>(s.bytes);
    MPI_Request* request = &requests[static_cast<size_t>(i)];
    if (s.blocking) {
      OK((s.synchronous ? MPI_Ssend : MPI_Send)(bytes, length, MPI_BYTE, way.to, s.tag, way.comm));
    } else {
      OK((s.synchronous ? MPI_Issend : MPI_Isend)(bytes, length, MPI_BYTE, way.to, s.tag, way.comm, request));
    }
    watch->moved();
  });
  if (script.form == Form::messages_first) OK(MPI_Send(nullptr, 0, MPI_BYTE, way.to, 0, way.control));
  OK(MPI_Waitall(static_cast<int>(count), requests.data(), MPI_STATUSES_IGNORE));
}

}  // namespace

void receive(Kind kind, Got& got, int source, int tag, MPI_Comm comm) {
  const int room = static_cast<int>(got.data.size());
  void* data = got.data.data();
  MPI_Message message = MPI_MESSAGE_NULL;
  int flag = 0;
  switch (kind) {
    case Kind::irecv:
      OK(MPI_Irecv(data, room, MPI_BYTE, source, tag, comm, &got.request));
      return;
    case Kind::persistent:
      OK(MPI_Recv_init(data, room, MPI_BYTE, source, tag, comm, &got.request));
      OK(MPI_Start(&got.request));
      return;
    case Kind::recv:
      OK(MPI_Recv(data, room, MPI_BYTE, source, tag, comm, &got.status));
      return;
    case Kind::probe:
    case Kind::iprobe:
      if (kind == Kind::probe) {
        OK(MPI_Probe(source, tag, comm, &got.status));
      } else {
        while (flag == 0) {
          OK(MPI_Iprobe(source, tag, comm, &flag, &got.status));
          if (flag == 0) sched_yield();
        }
      }
      source = got.status.MPI_SOURCE;
      tag = got.status.MPI_TAG;
      OK(MPI_Recv(data, room, MPI_BYTE, source, tag, comm, &got.status));
      return;
    case Kind::mprobe:
    case Kind::improbe:
      if (kind == Kind::mprobe) {
        OK(MPI_Mprobe(source, tag, comm, &message, &got.status));
        OK(MPI_Mrecv(data, room, MPI_BYTE, &message, &got.status));
      } else {
        while (flag == 0) {
          OK(MPI_Improbe(source, tag, comm, &flag, &message, &got.status));
          if (flag == 0) sched_yield();
        }
        OK(MPI_Imrecv(data, room, MPI_BYTE, &message, &got.request));
      }
  }
}

void complete(std::vector<Got>& gots, Random& random) {
  std::vector<MPI_Request> requests;
  std::vector<MPI_Status> statuses(gots.size());
  for (Got& got : gots) requests.push_back(got.request);
  const int count = static_cast<int>(requests.size());
  if (random.one_in(2)) {
    OK(MPI_Waitall(count, requests.data(), statuses.data()));
  } else {
    const bool backwards = random.one_in(2);
    for (int i = 0; i < count; ++i) {
      const size_t at = static_cast<size_t>(backwards ? count - 1 - i : i);
      OK(MPI_Wait(&requests[at], &statuses[at]));
    }
  }
  for (size_t i = 0; i < gots.size(); ++i) {
    if (gots[i].request == MPI_REQUEST_NULL) continue;
    gots[i].status = statuses[i];
    if (requests[i] != MPI_REQUEST_NULL) OK(MPI_Request_free(&requests[i]));  // persistent
  }
}

namespace {

void receive_script(Team& team, const Script& script, const Way& way) {
  size_t room = 0;
  for (const Send& s : script.sends) room = std::max(room, s.bytes);
  std::vector<Got> gots(script.receives.size());
  for (Got& got : gots) got.data.resize(room);
  if (script.form == Form::messages_first) {
    OK(MPI_Recv(nullptr, 0, MPI_BYTE, way.from, 0, way.control, MPI_STATUS_IGNORE));
  }
  team.run(threads_of(script.receives), script.seed + 99, [&](int i) {
    const Receive& r = script.receives[static_cast<size_t>(i)];
    receive(r.kind, gots[static_cast<size_t>(i)], r.any_source ? MPI_ANY_SOURCE : way.from, r.tag, way.comm);
    watch->moved();
  });
  if (script.form == Form::receives_first) OK(MPI_Send(nullptr, 0, MPI_BYTE, way.from, 1, way.control));
  Random random(script.seed + 5);
  complete(gots, random);
  for (size_t i = 0; i < gots.size(); ++i) {
    const int message = script.receives[i].message;
    const Send& s = script.sends[static_cast<size_t>(message)];
    const Got& got = gots[i];
    Told told;
    memcpy(&told, got.data.data(), sizeof told);
    int bytes = -1;
    MPI_Get_count(&got.status, MPI_BYTE, &bytes);
    const bool right = told.script == static_cast<int32_t>(script.seed) && told.index == message;
    EXPECT(right, "%s: receive %zu got message %d of script %d, not %d", script.text.c_str(), i, told.index,
           told.script, message);
    if (!right) continue;
    EXPECT(got.status.MPI_SOURCE == way.from && got.status.MPI_TAG == s.tag && bytes == static_cast<int>(s.bytes),
           "%s: receive %zu: source %d, tag %d, %d bytes; expected %d, %d, %zu", script.text.c_str(), i,
           got.status.MPI_SOURCE, got.status.MPI_TAG, bytes, way.from, s.tag, s.bytes);
    const long wrong =
        threads::wrong_at(got.data.data() + sizeof told, s.bytes - sizeof told, salt_of(script, message));
    EXPECT(wrong < 0, "%s: message %d is wrong at byte %ld", script.text.c_str(), message, wrong);
  }
}

}  // namespace

void run_scripts(Team& senders, Team& receivers, bool to_self, uint64_t seed, const std::vector<int>& named,
                 int first) {
  Way way;
  MPI_Comm_dup(to_self ? MPI_COMM_SELF : MPI_COMM_WORLD, &way.comm);
  MPI_Comm_dup(to_self ? MPI_COMM_SELF : MPI_COMM_WORLD, &way.control);
  way.to = to_self ? 0 : (rank + 1) % size;
  way.from = to_self ? 0 : (rank + size - 1) % size;
  std::thread sender([&] {
    for (size_t i = 0; i < named.size(); ++i) {
      send_script(senders, script_of(seed, first + static_cast<int>(i), named[i]), way);
    }
  });
  for (size_t i = 0; i < named.size(); ++i) {
    receive_script(receivers, script_of(seed, first + static_cast<int>(i), named[i]), way);
  }
  sender.join();
  MPI_Comm_free(&way.comm);
  MPI_Comm_free(&way.control);
}

}  // namespace order
