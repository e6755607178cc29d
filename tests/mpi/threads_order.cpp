// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// No overtaking with many threads: threads that synchronise send and receive in an order, and the messages must match
// in that order (MPI-5.0, 3.5). A script lists sends and receives, each with the thread that makes it. Of one source
// there is exactly one right matching, whatever the timing: each message in turn takes the first receive that fits.
// Every script runs with the messages there first, with the receives posted first, and freely; around the ring of
// ranks, and to ourselves.
//
// usage: threads_order [rounds of chance] [seed]
#include <algorithm>
#include <memory>

#include "threads_team.hpp"

using expect::rank;
using expect::size;
using threads::Random;

namespace {

struct Send {
  int thread = 0, tag = 0;
  size_t bytes = 8;
  bool synchronous = false;
  bool blocking = false;
};
enum class Kind { irecv, persistent, recv, probe, iprobe, mprobe, improbe };
constexpr int kinds = 7;
struct Receive {
  int thread = 0, tag = 0;  // or MPI_ANY_TAG
  bool any_source = false;
  Kind kind = Kind::irecv;
  int message = -1;  // that must be received
  bool waits() const { return kind != Kind::irecv && kind != Kind::persistent; }
};
enum class Form { messages_first, receives_first, free };
const char* const form_names[] = {"messages first", "receives first", "free"};

struct Script {
  std::string text;
  uint64_t seed = 0;
  Form form = Form::free;
  std::vector<Send> sends;
  std::vector<Receive> receives;
};

// Sends: thread A, B or C, tag, then L (100 KiB), X (1 MiB), s (synchronous). Receives: thread a, b or c, tag or *,
// then ? (any source), and the kind: r (blocking), p (probe), i (iprobe), m (mprobe), n (improbe); none: any that
// serves.
struct Case {
  const char *sends, *receives;
};
constexpr Case cases[] = {
    // Two and three threads, one receiver or several.
    {"A1 B2", "a* a*"},
    {"A1 B2", "a*? a*?"},
    {"A1 B2", "a* b*"},
    {"A2 B1 C3", "a* b* c*"},
    {"A1 B2 A3 B4 A5 B6", "a* a* a* a* a* a*"},
    {"A1 B2 A2 B1", "a* b* a*? b*?"},
    {"A0 B1 C2 A3 B4 C5 A6 B7 C8 A9 B10 C11 A12 B13 C14 A15 B16", "a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a*"},
    {"A0 B1 A2 B3 A4 B5 A6 B7 A8 B9 A10 B11", "a*? b*? c*? a*? b*? c*? a*? b*? c*? a*? b*? c*?"},
    // The same envelope from several threads.
    {"A1 B1 C1", "a1 a1 a1"},
    {"A1 B1 C1", "a1? b1? c1?"},
    {"A1 B1 A1 B1", "a1 b1? a1 b1?"},
    // A specific receive before or after a wildcard, by the same thread or another.
    {"A1 B1", "a* a1"},
    {"A1 B1", "a1 a*"},
    {"A1 B1", "a* b1"},
    {"A1 B1", "b1 a*"},
    {"A1 B1", "a1? b1"},
    {"A1 B1", "a*? b1?"},
    {"A1 B2", "a2 b*"},
    {"A1 B2", "a* b2"},
    {"A1 B2 A1 B2", "a2 b* c1 a*"},
    {"A3 B1 C2 A1", "a1 b* c* a1?"},
    {"A1 B2 C3 A4", "a4 b3 c* a*"},
    {"A1 B2 C3 A4", "a* b2 c*? a*"},
    {"A1 B2 C1 A2 B1 C2", "a* b1 c2? a*? b1 c*"},
    // Probes that see what a receive would take, and the receive of what was seen.
    {"A1 B2", "ap* bp*"},
    {"A1 B2 C3", "ai* bm* cn*"},
    {"A1 B2 C3", "am*? bp*? cr*?"},
    {"A1 B2 C1 A2", "a* bp1 cm2 a*"},
    {"A1 B2 A3", "an2 bp* ci*"},
    // Large ones, which come by another road, among small ones.
    {"A1L B2", "a* b*"},
    {"A1X B2", "a* b*"},
    {"A1 B2X C3", "a*? b*? c*?"},
    {"A1L B2 A3L B4 A5X B6", "a* b* a* b* a* b*"},
    {"A1X B1 C1L A1", "a1 b* c1? a*"},
    {"A1L B2 C3X", "am* bp* ci*"},
    // Synchronous ones.
    {"A1s B2", "a* b*"},
    {"A1s B2 C3s A4", "a* b*? c* a*?"},
    {"A1Ls B2 C2s", "a* b2 cm*"},
};

Kind kind_of(char letter) {
  switch (letter) {
    case 'r':
      return Kind::recv;
    case 'p':
      return Kind::probe;
    case 'i':
      return Kind::iprobe;
    case 'm':
      return Kind::mprobe;
    default:
      return Kind::improbe;
  }
}

size_t small_size(Random& random) {
  static constexpr size_t sizes[] = {8, 8, 16, 24, 40, 64, 200, 1000, 8000, 8193, 20000};
  return sizes[random.below(sizeof sizes / sizeof *sizes)];
}

void parse(const Case& text, Random& random, Script& script) {
  // Tags that lie on lanes next to each other, on the same one, and scattered.
  static constexpr int strides[] = {1, 1, 2, 7, 8, 16, 1021};
  const int stride = strides[random.below(7)];
  for (const char* at = text.sends; *at != 0;) {
    Send s;
    s.thread = *at++ - 'A';
    s.tag = static_cast<int>(strtol(at, const_cast<char**>(&at), 10)) * stride;
    s.bytes = small_size(random);
    for (; *at != 0 && *at != ' '; ++at) {
      if (*at == 'L') s.bytes = 100 << 10;
      if (*at == 'X') s.bytes = 1 << 20;
      if (*at == 's') s.synchronous = true;
    }
    while (*at == ' ') ++at;
    script.sends.push_back(s);
  }
  for (const char* at = text.receives; *at != 0;) {
    Receive r;
    r.thread = *at++ - 'a';
    r.kind = static_cast<Kind>(random.below(kinds));
    if (*at >= 'a') r.kind = kind_of(*at++);
    if (*at == '*') {
      r.tag = MPI_ANY_TAG;
      ++at;
    } else {
      r.tag = static_cast<int>(strtol(at, const_cast<char**>(&at), 10)) * stride;
    }
    for (; *at != 0 && *at != ' '; ++at) {
      if (*at == '?') r.any_source = true;
    }
    while (*at == ' ') ++at;
    script.receives.push_back(r);
  }
  script.text = std::string(text.sends) + " / " + text.receives + ", tags times " + std::to_string(stride);
}

// Gives each message its receive; false when one stays without.
bool match(Script& script) {
  for (Receive& r : script.receives) r.message = -1;
  for (size_t m = 0; m < script.sends.size(); ++m) {
    const int tag = script.sends[m].tag;
    const auto fits = [&](const Receive& r) { return r.message < 0 && (r.tag == MPI_ANY_TAG || r.tag == tag); };
    const auto found = std::find_if(script.receives.begin(), script.receives.end(), fits);
    if (found == script.receives.end()) return false;
    found->message = static_cast<int>(m);
  }
  return true;
}

// A script of chance: the receives are a shuffle of the messages' tags, some of them wildcards.
void make_random(Random& random, Script& script) {
  const int count = 2 + random.below(14), tags = 1 + random.below(count),
            stride = random.one_in(2) ? 1 : random.below(40);
  const bool one_sender = random.one_in(6), one_receiver = random.one_in(6);
  for (int i = 0; i < count; ++i) {
    Send s;
    s.thread = one_sender ? 0 : random.below(Team::members);
    s.tag = random.below(tags) * stride;
    s.bytes = random.one_in(30) ? 1 << 20 : random.one_in(12) ? 100 << 10 : small_size(random);
    s.synchronous = random.one_in(8);
    script.sends.push_back(s);
  }
  const int wild = random.below(4);  // none, some, half, most
  for (int tries = 0; tries < 100; ++tries) {
    script.receives.clear();
    for (const Send& s : script.sends) {
      Receive r;
      r.thread = one_receiver ? 0 : random.below(Team::members);
      r.any_source = random.one_in(3);
      r.kind = static_cast<Kind>(random.below(kinds));
      r.tag = random.below(4) < wild || tries > 90 ? MPI_ANY_TAG : s.tag;
      script.receives.push_back(r);
    }
    const int swaps = random.below(2) * random.below(count);
    for (int i = 0; i < swaps; ++i) {
      std::swap(script.receives[static_cast<size_t>(random.below(count))],
                script.receives[static_cast<size_t>(random.below(count))]);
    }
    if (match(script)) break;
    // A wildcard too early takes what a specific receive needs. Where that cannot be helped all are wildcards.
    if (tries == 98) {
      for (Receive& r : script.receives) r.tag = MPI_ANY_TAG;
    }
  }
  script.text = "chance";
}

// Sends may block where everything the receiver waits for before it posts their receive was sent before.
void choose_blocking_sends(Random& random, Script& script) {
  for (size_t m = 0; m < script.sends.size(); ++m) {
    bool may = true;
    for (const Receive& r : script.receives) {
      if (r.message == static_cast<int>(m)) break;
      if (r.waits() && r.message > static_cast<int>(m)) may = false;
    }
    script.sends[m].blocking = may && random.one_in(2);
  }
}

// The same on both sides.
Script script_of(uint64_t seed, int round, int named) {
  Script script;
  script.seed = seed * 1000003 + static_cast<uint64_t>(round);
  Random random(script.seed);
  script.form = static_cast<Form>(random.below(3));
  if (named >= 0) {
    parse(cases[named], random, script);
    if (!match(script)) {
      fprintf(stderr, "\"%s\" leaves a message without a receive\n", script.text.c_str());
      abort();
    }
  } else {
    make_random(random, script);
  }
  if (script.form == Form::receives_first) {
    for (Receive& r : script.receives) {
      if (r.waits()) r.kind = random.one_in(2) ? Kind::irecv : Kind::persistent;
    }
  }
  if (script.form == Form::free) choose_blocking_sends(random, script);
  script.text +=
      std::string(", ") + form_names[static_cast<int>(script.form)] + ", script " + std::to_string(script.seed);
  return script;
}

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

threads::Watch* watch;

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

// What a receive has got.
struct Got {
  std::vector<unsigned char> data;
  MPI_Status status;
  MPI_Request request = MPI_REQUEST_NULL;
};

// Receives as `kind` says; the request is null when it is done at once.
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

// All scripts in [first, last), to our right neighbour or to ourselves, on a fresh communicator: how threads share one
// begins anew with each.
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

// The first receive with a wildcard of the whole program finds messages of many tags that were sent, by several
// threads, when there was none.
void first_wildcard(Team& senders) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size, count = 64;
  std::vector<int> who(count), values(count), got(count, -1);
  for (int i = 0; i < count; ++i) {
    who[static_cast<size_t>(i)] = i / 3 % Team::members;
    values[static_cast<size_t>(i)] = i;
  }
  std::vector<MPI_Request> requests(count);
  senders.run(who, 1, [&](int i) {
    OK(MPI_Isend(&values[static_cast<size_t>(i)], 1, MPI_INT, to, i * 5 % 64, MPI_COMM_WORLD,
                 &requests[static_cast<size_t>(i)]));
  });
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    int& value = got[static_cast<size_t>(i)];
    OK(MPI_Recv(&value, 1, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EXPECT(value == i, "the first wildcards: message %d came instead of %d", value, i);
  }
  OK(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
}

// A receiver out of MPI: the ways to it fill up, by one tag and then by many, and other threads go on with other tags.
void full_ring(Team& senders, Team& receivers, uint64_t seed) {
  if (size < 2) return;
  const int count = 4000;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  Random random(seed);
  std::vector<int> who(count), tags(count), bytes(count);
  for (size_t i = 0; i < count; ++i) {
    const bool flood = i < 3000 && i % 500 != 0;
    who[i] = flood ? 0 : i % 500 == 0 ? 1 : random.below(Team::members);
    tags[i] = flood ? 1 : i % 500 == 0 ? 2 + static_cast<int>(i / 500) : random.below(64);
    bytes[i] = i % 499 == 7 ? 100 << 10 : 8 + random.below(1000);
  }
  const bool sends = rank % 2 == 0 && rank + 1 < size, receives = rank % 2 == 1;
  if (sends) {
    std::vector<int32_t> heads(count * 256);  // 1 KiB each; large ones share what follows
    std::vector<std::vector<unsigned char>> large;
    std::vector<MPI_Request> requests(count);
    large.reserve(count / 499 + 2);
    senders.run(who, seed, [&](int i) {
      const size_t at = static_cast<size_t>(i);
      void* from = &heads[at * 256];
      if (bytes[at] > 1024) {
        large.emplace_back(static_cast<size_t>(bytes[at]));
        from = large.back().data();
      }
      memcpy(from, &i, sizeof i);
      OK(MPI_Isend(from, bytes[at], MPI_BYTE, rank + 1, tags[at], comm, &requests[at]));
      watch->moved();
    });
    OK(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE));
  } else if (receives) {
    threads::sleep_us(50000);
    for (size_t i = 0; i < count; ++i) who[i] = random.below(20) < 19 ? 0 : random.below(Team::members);
    std::vector<unsigned char> data(100 << 10);
    int wrong = 0;
    receivers.run(who, seed, [&](int i) {
      MPI_Status status;
      int got = -1, length = -1;
      OK(MPI_Recv(data.data(), 100 << 10, MPI_BYTE, i % 2 == 0 ? rank - 1 : MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                  &status));
      memcpy(&got, data.data(), sizeof got);
      MPI_Get_count(&status, MPI_BYTE, &length);
      const size_t at = static_cast<size_t>(i);
      if ((got != i || status.MPI_TAG != tags[at] || length != bytes[at]) && ++wrong < 5) {
        EXPECT(got == i, "full ring: message %d came instead of %d; tag %d, %d bytes; expected %d, %d", got, i,
               status.MPI_TAG, length, tags[at], bytes[at]);
      }
      watch->moved();
    });
    EXPECT(wrong == 0, "full ring: %d messages out of order", wrong);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
}

// All ranks send to rank 0, ordered by source alone. Receives name nothing, a tag, or a source.
void many_sources(Team& senders, Team& receivers, uint64_t seed) {
  enum { per_rank = 40, tags = 5 };
  enum Style { nothing, tag, source } style = static_cast<Style>(Random(seed).below(3));
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  struct Sent {
    int source, tag, index;
  };
  std::vector<Sent> all;
  for (int r = 0; r < size; ++r) {
    Random random(seed * 77 + static_cast<uint64_t>(r));
    for (int i = 0; i < per_rank; ++i) all.push_back({r, random.below(tags), i});
  }
  std::thread sender([&] {
    Random random(seed * 13 + static_cast<uint64_t>(rank));
    std::vector<int> who;
    for (int i = 0; i < per_rank; ++i) who.push_back(random.below(Team::members));
    std::vector<MPI_Request> requests(per_rank);
    const Sent* mine = &all[static_cast<size_t>(rank * per_rank)];
    senders.run(who, seed, [&](int i) {
      OK(MPI_Isend(&mine[i], sizeof(Sent), MPI_BYTE, 0, mine[i].tag, comm, &requests[static_cast<size_t>(i)]));
    });
    OK(MPI_Waitall(per_rank, requests.data(), MPI_STATUSES_IGNORE));
  });
  if (rank == 0) {
    Random random(seed + 3);
    std::vector<Sent> order = all;
    for (size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[static_cast<size_t>(random.below(static_cast<int>(i) + 1))]);
    std::vector<int> who;
    std::vector<Kind> how;
    for (size_t i = 0; i < order.size(); ++i) {
      who.push_back(random.below(Team::members));
      how.push_back(static_cast<Kind>(random.below(kinds)));
    }
    std::vector<Got> gots(order.size());
    for (Got& got : gots) got.data.resize(sizeof(Sent));
    receivers.run(who, seed + 1, [&](int i) {
      const size_t at = static_cast<size_t>(i);
      receive(how[at], gots[at], style == source ? order[at].source : MPI_ANY_SOURCE,
              style == tag ? order[at].tag : MPI_ANY_TAG, comm);
      watch->moved();
    });
    complete(gots, random);
    std::vector<int> next(static_cast<size_t>(size * (tags + 1)), -1);
    for (const Got& got : gots) {
      Sent sent;
      memcpy(&sent, got.data.data(), sizeof sent);
      EXPECT(got.status.MPI_SOURCE == sent.source && got.status.MPI_TAG == sent.tag,
             "many sources: status %d, %d, message %d, %d", got.status.MPI_SOURCE, got.status.MPI_TAG, sent.source,
             sent.tag);
      if (sent.source < 0 || sent.source >= size || sent.tag < 0 || sent.tag >= tags) break;
      int& last = next[static_cast<size_t>(sent.source * (tags + 1) + (style == tag ? sent.tag : tags))];
      EXPECT(sent.index > last, "many sources (style %d, seed %llu): of source %d message %d came after %d", style,
             static_cast<unsigned long long>(seed), sent.source, sent.index, last);
      last = sent.index;
    }
  }
  sender.join();
  MPI_Comm_free(&comm);
}

// Senders synchronise, receivers do not: what each receiver gets comes in order, and nothing twice or never.
void receivers_at_once(Team& senders, uint64_t seed) {
  enum { per_thread = 100, count = per_thread * Team::members };
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  std::vector<std::atomic<int>> times(count);
  std::vector<std::thread> receivers;
  for (int t = 0; t < Team::members; ++t) {
    receivers.emplace_back([&, t] {
      Random random(seed * 5 + static_cast<uint64_t>(t));
      int last = -1;
      for (int i = 0; i < per_thread; ++i) {
        int value = -1;
        MPI_Status status;
        MPI_Message message;
        const int source = random.one_in(2) ? from : MPI_ANY_SOURCE;
        if (random.one_in(3)) {
          OK(MPI_Mprobe(source, MPI_ANY_TAG, comm, &message, &status));
          OK(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
        } else {
          OK(MPI_Recv(&value, 1, MPI_INT, source, MPI_ANY_TAG, comm, &status));
        }
        EXPECT(value > last && value < count, "receivers at once: %d came after %d", value, last);
        if (value < 0 || value >= count) continue;
        ++times[static_cast<size_t>(value)];
        last = value;
        watch->moved();
      }
    });
  }
  Random random(seed);
  std::vector<int> who, values;
  for (int i = 0; i < count; ++i) {
    who.push_back(random.below(Team::members));
    values.push_back(i);
  }
  senders.run(who, seed,
              [&](int i) { OK(MPI_Send(&values[static_cast<size_t>(i)], 1, MPI_INT, to, i * 3 % 32, comm)); });
  for (std::thread& t : receivers) t.join();
  for (int i = 0; i < count; ++i) {
    EXPECT(times[static_cast<size_t>(i)] == 1, "message %d came %d times", i, times[static_cast<size_t>(i)].load());
  }
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  threads::start(&argc, &argv);
  const int rounds = threads::scaled(argc > 1 ? atoi(argv[1]) : 400);
  const uint64_t seed = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1;
  std::atomic<const char*> part = "start";
  {
    threads::Watch guard(120, [&] { return std::string(part) + ", seed " + std::to_string(seed); });
    watch = &guard;
    const auto senders = std::make_unique<Team>();
    const auto receivers = std::make_unique<Team>();
    part = "first wildcard";
    first_wildcard(*senders);
    constexpr int count = sizeof cases / sizeof *cases;
    const int repeats = threads::scaled(8), per_comm = 8;
    for (const bool to_self : {false, true}) {
      part = to_self ? "named scripts to ourselves" : "named scripts";
      for (int i = 0; i < count && expect::failures < 20; ++i) {
        run_scripts(*senders, *receivers, to_self, seed + 1, std::vector<int>(static_cast<size_t>(repeats), i),
                    i * repeats);
      }
      part = to_self ? "scripts of chance to ourselves" : "scripts of chance";
      for (int i = 0; i < rounds; i += per_comm) {
        run_scripts(*senders, *receivers, to_self, seed + 2, std::vector<int>(per_comm, -1), i);
      }
    }
    for (int i = 0; i < threads::scaled(6); ++i) {
      const uint64_t chance = seed * 100 + static_cast<uint64_t>(i);
      part = "full ring";
      full_ring(*senders, *receivers, chance);
      part = "many sources";
      for (uint64_t k = 0; k < 5; ++k) many_sources(*senders, *receivers, chance * 5 + k);
      part = "receivers at once";
      receivers_at_once(*senders, chance);
    }
  }
  return expect::finish();
}
