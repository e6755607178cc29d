// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Many threads that wait cost the one that works little, and each is woken when what it waits for comes: a message by
// tag, one of several, a probe, a collective operation, the receiver of a synchronous send. The waiters are threads of
// rank 0; the last rank, which may be rank 0 too, is their partner.
//
// How much processor time waiting may take is Weft's promise, not the standard's: other libraries are only measured. It
// is judged in rows with the label `timing`.
//
// usage: threads_wait [waiters] [seed]
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <barrier>
#include <vector>

#include "threads.hpp"

using expect::rank;
using expect::size;
using threads::now;
using threads::Random;

namespace {

// Share of one processor that all waiters together may take while one thread computes, and while it communicates.
constexpr double most_while_computing = 0.05, most_while_communicating = 0.15;
constexpr double most_to_wake = 0.1;  // seconds, there and back, half of the time

enum { echo_tag = 1000, pingpong_tag = 3000 };

int waiters = 64;
int partner;
threads::Watch* watch;

double cpu_of(std::vector<std::thread>& all) {
  double seconds = 0;
  for (std::thread& t : all) {
    clockid_t clock;
    timespec time{};
    if (pthread_getcpuclockid(t.native_handle(), &clock) == 0 && clock_gettime(clock, &time) == 0) {
      seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
    }
  }
  return seconds;
}

double sink;
void compute() {
  double x = sink + 1;
  for (int i = 0; i < 200000; ++i) x = x * 1.0000001 + 1e-9;
  sink = x;
}

// Round trips with the partner for so long; the time of one.
double pingpong(double seconds) {
  const double begin = now();
  int trips = 0;
  char byte = 0, answer = 0;
  do {
    for (int i = 0; i < 20; ++i, ++trips) {
      MPI_Request r;
      OK(MPI_Irecv(&answer, 1, MPI_BYTE, partner, pingpong_tag, MPI_COMM_WORLD, &r));
      OK(MPI_Send(&byte, 1, MPI_BYTE, partner, pingpong_tag, MPI_COMM_WORLD));
      OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    }
    watch->moved();
  } while (now() - begin < seconds);
  return (now() - begin) / trips;
}
void end_pingpong() {
  const char byte = 0;
  if (partner != 0) OK(MPI_Send(&byte, 1, MPI_BYTE, partner, pingpong_tag + 1, MPI_COMM_WORLD));
}
void answer_pingpong() {
  for (;;) {
    char byte = 0;
    MPI_Status status;
    OK(MPI_Recv(&byte, 1, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    if (status.MPI_TAG != pingpong_tag) return;
    OK(MPI_Send(&byte, 1, MPI_BYTE, 0, pingpong_tag, MPI_COMM_WORLD));
    watch->moved();
  }
}

// The cost of waiting for the thread that works.
void measure(std::vector<std::thread>& all, double trip_alone) {
  if (!expect::judges_times()) {
    pingpong(0.1);
    return end_pingpong();
  }
  threads::sleep_us(300000);  // they fall asleep
  const double seconds = 0.5;
  double cpu = cpu_of(all), begin = now();
  while (now() - begin < seconds) compute();
  const double computing = (cpu_of(all) - cpu) / (now() - begin);
  // Other programs on the machine can only add to it: the least of a few tries.
  double communicating = 1;
  double trip = 0;
  for (int tried = 0; tried < 3 && communicating > most_while_communicating; ++tried) {
    cpu = cpu_of(all);
    begin = now();
    trip = pingpong(seconds);
    communicating = std::min(communicating, (cpu_of(all) - cpu) / (now() - begin));
  }
  end_pingpong();
  printf(
      "%d threads that wait take %.3f of a processor while one computes, %.3f while it communicates; a round trip "
      "takes %.1f us, %.1f without them\n",
      waiters, computing, communicating, trip * 1e6, trip_alone * 1e6);
  if (!threads::is_weft()) return;
  EXPECT_AT_MOST("share of a processor that waiting takes while one thread computes", computing, most_while_computing);
  EXPECT_AT_MOST("share of a processor that waiting takes while one thread communicates", communicating,
                 most_while_communicating);
}

std::vector<int> shuffled(int count, Random& random) {
  std::vector<int> order(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) order[static_cast<size_t>(i)] = i;
  for (int i = count - 1; i > 0; --i)
    std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(random.below(i + 1))]);
  return order;
}

// Wakes all waiters, each by its tag, in an order of chance: one after the other, and all at once.
void wake_by_tag(int rounds, uint64_t seed) {
  Random random(seed);
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const std::vector<int> order = shuffled(waiters, random);
    const bool at_once = round % 3 == 2;
    if (round % 2 == 0) threads::sleep_us(50000);
    std::vector<int> echoes(order.size(), -1);
    std::vector<MPI_Request> requests;
    for (const int i : order) {
      requests.emplace_back();
      OK(MPI_Irecv(&echoes[static_cast<size_t>(i)], 1, MPI_INT, 0, echo_tag + i, MPI_COMM_WORLD, &requests.back()));
    }
    for (size_t k = 0; k < order.size(); ++k) {
      if (random.one_in(20)) threads::sleep_us(5000);
      const int value = round * 1000 + order[k];
      const double begin = now();
      OK(MPI_Send(&value, 1, MPI_INT, 0, order[k], MPI_COMM_WORLD));
      if (at_once) continue;
      OK(MPI_Wait(&requests[k], MPI_STATUS_IGNORE));
      times.push_back(now() - begin);
      watch->moved();
    }
    OK(MPI_Waitall(waiters, requests.data(), MPI_STATUSES_IGNORE));
    for (const int i : order) {
      EXPECT(echoes[static_cast<size_t>(i)] == round * 1000 + i, "waiter %d answered %d in round %d", i,
             echoes[static_cast<size_t>(i)], round);
    }
  }
  std::sort(times.begin(), times.end());
  if (times.empty()) return;
  const double median = times[times.size() / 2];
  printf("woken and answered after %.1f us, at most %.1f\n", median * 1e6, times.back() * 1e6);
  if (threads::is_weft()) EXPECT_AT_MOST("seconds until half of the waiters answered", median, most_to_wake);
}

void wait_by_tag(int me, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    int value = -1;
    OK(MPI_Recv(&value, 1, MPI_INT, partner, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Send(&value, 1, MPI_INT, partner, echo_tag + me, MPI_COMM_WORLD));
  }
}

// ---- every call that waits

enum Call {
  recv,
  recv_any,
  recv_large,
  waitany,
  waitsome,
  waitall,
  persistent,
  probe,
  probe_any,
  mprobe,
  ssend,
  send_large,
  sendrecv,
  barrier,
  allreduce,
  partitioned,
  calls
};
const char* const names[] = {"Recv",       "Recv of anything", "large Recv", "Waitany",           "Waitsome",
                             "Waitall",    "persistent",       "Probe",      "Probe of anything", "Mprobe",
                             "Ssend",      "large Send",       "Sendrecv",   "Barrier",           "Allreduce",
                             "partitioned"};
constexpr int large = 1 << 18;  // ints
constexpr int many = 8;         // requests of one wait

Call call_of(int waiter) {
  const auto call = static_cast<Call>(waiter % calls);
  return size == 1 && call >= barrier ? recv : call;  // alone nobody waits in a collective operation
}

// Waits on its own communicator until the partner does its part; `choice` is which of several requests.
int wait_in(Call call, MPI_Comm comm, int choice, std::vector<int>& data) {
  MPI_Request r[many];
  MPI_Status status;
  MPI_Message message;
  int got[many], value = -1, index = -1, count = 0, indices[many];
  std::fill_n(got, many, -1);
  switch (call) {
    case recv:
      OK(MPI_Recv(&value, 1, MPI_INT, partner, 0, comm, MPI_STATUS_IGNORE));
      break;
    case recv_any:
      OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
      break;
    case recv_large:
      OK(MPI_Recv(data.data(), large, MPI_INT, partner, 0, comm, MPI_STATUS_IGNORE));
      value = data.front() == data.back() ? data.front() : -2;
      break;
    case waitany:
    case waitsome:
    case waitall:
      for (int i = 0; i < many; ++i) OK(MPI_Irecv(&got[i], 1, MPI_INT, partner, i, comm, &r[i]));
      if (call == waitany) {
        OK(MPI_Waitany(many, r, &index, MPI_STATUS_IGNORE));
        EXPECT(index == choice, "Waitany gave %d, not %d", index, choice);
        value = index >= 0 && index < many ? got[index] : -3;
      } else if (call == waitsome) {
        OK(MPI_Waitsome(many, r, &count, indices, MPI_STATUSES_IGNORE));
        EXPECT(count == 1 && indices[0] == choice, "Waitsome gave %d, the first %d, not %d", count, indices[0], choice);
        value = count == 1 ? got[indices[0]] : -3;
      } else {
        OK(MPI_Waitall(many, r, MPI_STATUSES_IGNORE));
        value = got[choice];
        break;
      }
      for (MPI_Request& request : r) {
        if (request == MPI_REQUEST_NULL) continue;
        OK(MPI_Cancel(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      }
      break;
    case persistent:
      OK(MPI_Recv_init(&value, 1, MPI_INT, partner, 0, comm, &r[0]));
      OK(MPI_Start(&r[0]));
      OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
      OK(MPI_Request_free(&r[0]));
      break;
    case probe:
    case probe_any:
      OK(MPI_Probe(call == probe ? partner : MPI_ANY_SOURCE, call == probe ? 0 : MPI_ANY_TAG, comm, &status));
      OK(MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comm, MPI_STATUS_IGNORE));
      break;
    case mprobe:
      OK(MPI_Mprobe(MPI_ANY_SOURCE, 0, comm, &message, MPI_STATUS_IGNORE));
      OK(MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
      break;
    case ssend:
      OK(MPI_Ssend(&choice, 1, MPI_INT, partner, 9, comm));
      value = choice;
      break;
    case send_large:
      OK(MPI_Send(data.data(), large, MPI_INT, partner, 9, comm));
      value = choice;
      break;
    case sendrecv:
      OK(MPI_Sendrecv(&choice, 1, MPI_INT, partner, 9, &value, 1, MPI_INT, partner, 0, comm, MPI_STATUS_IGNORE));
      break;
    case barrier:
      OK(MPI_Barrier(comm));
      value = choice;
      break;
    case allreduce:
      value = 0;
      index = 0;
      OK(MPI_Allreduce(&index, &value, 1, MPI_INT, MPI_MAX, comm));
      break;
    case partitioned:
      OK(MPI_Precv_init(&value, 1, 1, MPI_INT, partner, 0, comm, MPI_INFO_NULL, &r[0]));
      OK(MPI_Start(&r[0]));
      OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
      OK(MPI_Request_free(&r[0]));
      break;
    default:
      break;
  }
  return value;
}

// The partner's part.
void wake(Call call, MPI_Comm comm, int choice, std::vector<int>& data) {
  int word = -1;
  MPI_Request r;
  switch (call) {
    case recv_large:
      std::fill(data.begin(), data.end(), choice);
      OK(MPI_Send(data.data(), large, MPI_INT, 0, 0, comm));
      break;
    case waitany:
    case waitsome:
      OK(MPI_Send(&choice, 1, MPI_INT, 0, choice, comm));
      break;
    case waitall:
      for (int i = 0; i < many; ++i) OK(MPI_Send(&choice, 1, MPI_INT, 0, (i + choice) % many, comm));
      break;
    case ssend:
      OK(MPI_Recv(&word, 1, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE));
      break;
    case send_large:
      OK(MPI_Recv(data.data(), large, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE));
      break;
    case sendrecv:
      OK(MPI_Recv(&word, 1, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE));
      OK(MPI_Send(&choice, 1, MPI_INT, 0, 0, comm));
      break;
    case barrier:
      OK(MPI_Barrier(comm));
      break;
    case allreduce:
      OK(MPI_Allreduce(&choice, &word, 1, MPI_INT, MPI_MAX, comm));
      break;
    case partitioned:
      OK(MPI_Psend_init(&choice, 1, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &r));
      OK(MPI_Start(&r));
      OK(MPI_Pready(0, r));
      OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
      OK(MPI_Request_free(&r));
      break;
    default:
      OK(MPI_Send(&choice, 1, MPI_INT, 0, 0, comm));
  }
}

// Both sides make the same choice.
int choice_of(int waiter, int round) {
  return (waiter * 5 + round * 3) % many;
}

void wait_in_every_call(int me, MPI_Comm comm, int rounds) {
  std::vector<int> data(large, me);
  for (int round = 0; round < rounds; ++round) {
    const int choice = choice_of(me, round), value = wait_in(call_of(me + round), comm, choice, data);
    OK(MPI_Send(&value, 1, MPI_INT, partner, echo_tag + me, MPI_COMM_WORLD));
  }
}
void wake_every_call(const std::vector<MPI_Comm>& comms, int rounds, uint64_t seed, std::atomic<const char*>& part) {
  Random random(seed);
  std::vector<int> data(large);
  double longest = 0;
  for (int round = 0; round < rounds; ++round) {
    threads::sleep_us(50000);
    for (const int i : shuffled(waiters, random)) {
      if (random.one_in(20)) threads::sleep_us(5000);
      const Call call = call_of(i + round);
      const int choice = choice_of(i, round);
      int value = -1;
      part = names[call];
      const double begin = now();
      wake(call, comms[static_cast<size_t>(i)], choice, data);
      OK(MPI_Recv(&value, 1, MPI_INT, 0, echo_tag + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      longest = std::max(longest, now() - begin);
      EXPECT(value == choice, "waiter %d in %s got %d, not %d", i, names[call], value, choice);
      watch->moved();
    }
  }
  printf("woken from every call; the longest took %.1f us\n", longest * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  threads::start(&argc, &argv);
  waiters = argc > 1 ? std::clamp(atoi(argv[1]), 1, 500) : 64;
  const uint64_t seed = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1;
  const int by_tag = threads::scaled(6), every_call = threads::scaled(4);
  partner = size - 1;
  std::vector<MPI_Comm> comms(static_cast<size_t>(waiters));
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::atomic<const char*> part = "messages by tag";
  if (size > 2) {
    if (rank == 0) fprintf(stderr, "threads_wait: one rank or two\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  {
    threads::Watch guard(60, [&] { return std::string(part); });
    watch = &guard;
    double alone = 0;
    if (rank == 0) {
      alone = pingpong(expect::judges_times() ? 0.2 : 0.05);
      end_pingpong();
    }
    if (rank == partner && partner != 0) answer_pingpong();
    std::vector<std::thread> all;
    std::barrier<> between(waiters + 1);
    for (int i = 0; rank == 0 && i < waiters; ++i) {
      all.emplace_back([&, i] {
        wait_by_tag(i, by_tag);
        between.arrive_and_wait();
        wait_in_every_call(i, comms[static_cast<size_t>(i)], every_call);
      });
    }
    if (rank == 0) measure(all, alone);
    if (rank == partner && partner != 0) answer_pingpong();
    if (rank == partner) wake_by_tag(by_tag, seed);
    if (rank == 0) between.arrive_and_wait();
    if (rank == partner) wake_every_call(comms, every_call, seed, part);
    for (std::thread& t : all) t.join();
    guard.moved();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  return expect::finish();
}
