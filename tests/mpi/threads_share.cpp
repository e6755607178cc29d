// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Threads that share what MPI gives them: requests that one thread issues and another completes, also when the first
// has ended; one request looked at by several; communicators, datatypes, attributes and groups made and freed while
// others communicate; collective operations of several threads at the same time, each on its own communicator.
//
// usage: threads_share [threads]
#include <algorithm>
#include <barrier>
#include <functional>
#include <vector>

#include "threads.hpp"

using expect::rank;
using expect::size;
using threads::Random;

namespace {

int thread_count = 4;
threads::Watch* watch;

int right() {
  return (rank + 1) % size;
}
int left() {
  return (rank + size - 1) % size;
}

// Calls work(thread) in all threads at the same time.
void in_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> running;
  for (int t = 0; t < count; ++t) running.emplace_back([&, t] { work(t); });
  for (std::thread& t : running) t.join();
  watch->moved();
}

// Messages of a few sizes around the ring: each with its tag and a content that says which it is.
struct Ring {
  explicit Ring(int count, MPI_Comm c)
      : comm(c), out(static_cast<size_t>(count)), in(out.size()), requests(2 * out.size()) {
    static constexpr size_t ints[] = {1, 10, 2000, 3, 30000, 64};
    for (size_t i = 0; i < out.size(); ++i) {
      out[i].assign(ints[i % 6], rank * 100000 + static_cast<int>(i));
      in[i].assign(ints[i % 6], -1);
    }
  }
  void receive(size_t i) {
    OK(MPI_Irecv(in[i].data(), static_cast<int>(in[i].size()), MPI_INT, left(), static_cast<int>(i), comm,
                 &requests[2 * i]));
  }
  void send(size_t i) {
    OK((i % 5 == 4 ? MPI_Issend : MPI_Isend)(out[i].data(), static_cast<int>(out[i].size()), MPI_INT, right(),
                                             static_cast<int>(i), comm, &requests[2 * i + 1]));
  }
  void check(const char* what) const {
    for (size_t i = 0; i < in.size(); ++i) {
      const int wanted = left() * 100000 + static_cast<int>(i);
      EXPECT(in[i].front() == wanted && in[i].back() == wanted, "%s: message %zu is %d to %d, not %d", what, i,
             in[i].front(), in[i].back(), wanted);
    }
    for (const MPI_Request& r : requests) EXPECT(r == MPI_REQUEST_NULL, "%s: a request is left", what);
  }

  MPI_Comm comm;
  std::vector<std::vector<int>> out, in;
  std::vector<MPI_Request> requests;  // receive, send, receive, ...
};

// Completes `count` requests by one of all the ways.
void complete(MPI_Request* requests, int count, int way) {
  std::vector<int> indices(static_cast<size_t>(count));
  std::vector<MPI_Status> statuses(static_cast<size_t>(count));
  int index = 0, flag = 0, some = 0, left_over = count;
  switch (way % 8) {
    case 0:
      for (int i = 0; i < count; ++i) OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
      break;
    case 1:
      OK(MPI_Waitall(count, requests, statuses.data()));
      break;
    case 2:
      for (; left_over > 0; --left_over) OK(MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE));
      break;
    case 3:
      for (; left_over > 0; left_over -= some) {
        OK(MPI_Waitsome(count, requests, &some, indices.data(), statuses.data()));
        if (some == MPI_UNDEFINED) break;
      }
      break;
    case 4:
      for (int i = 0; i < count; ++i) {
        for (flag = 0; flag == 0;) {
          OK(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
          if (flag == 0) sched_yield();
        }
      }
      break;
    case 5:
      while (flag == 0) OK(MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE));
      break;
    case 6:
      while (left_over > 0) {
        OK(MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE));
        if (flag != 0) --left_over;
        if (flag != 0 && index == MPI_UNDEFINED) break;
      }
      break;
    default:
      while (left_over > 0) {
        OK(MPI_Testsome(count, requests, &some, indices.data(), statuses.data()));
        if (some == MPI_UNDEFINED) break;
        left_over -= some;
      }
  }
}

// One thread issues, all complete, each its part of one array.
void one_issues_others_complete(MPI_Comm comm) {
  constexpr int each = 12;
  for (int round = 0; round < threads::scaled(16); ++round) {
    Ring ring(each * thread_count, comm);
    for (size_t i = 0; i < ring.in.size(); ++i) ring.receive(i);
    for (size_t i = 0; i < ring.in.size(); ++i) ring.send(i);
    in_threads(thread_count,
               [&](int t) { complete(&ring.requests[static_cast<size_t>(t * 2 * each)], 2 * each, t + round); });
    ring.check("one issues");
  }
}

// All issue, one completes; some issuers have ended by then.
void others_issue_one_completes(MPI_Comm comm) {
  constexpr int each = 12;
  for (int round = 0; round < threads::scaled(16); ++round) {
    Ring ring(each * thread_count, comm);
    const auto issue = [&](int t) {
      for (size_t i = static_cast<size_t>(t * each); i < static_cast<size_t>((t + 1) * each); ++i) {
        if ((i + static_cast<size_t>(round)) % 2 == 0) {
          ring.receive(i);
          ring.send(i);
        } else {
          ring.send(i);
          ring.receive(i);
        }
      }
    };
    const int count = static_cast<int>(ring.requests.size());
    if (round % 2 == 0) {
      in_threads(thread_count, issue);
      complete(ring.requests.data(), count, round / 2);
    } else {
      std::barrier<> issued(thread_count);
      in_threads(thread_count, [&](int t) {
        issue(t);
        issued.arrive_and_wait();
        if (t == 0) complete(ring.requests.data(), count, round / 2);
      });
    }
    ring.check("others issue");
  }
}

// Requests of threads that live for one message.
void short_lives(MPI_Comm comm) {
  const int lives = threads::scaled(300);
  for (int i = 0; i < lives; ++i) {
    int out = i, in = -1;
    MPI_Request r[2];
    std::thread([&] { OK(MPI_Irecv(&in, 1, MPI_INT, left(), 1, comm, &r[0])); }).join();
    std::thread([&] { OK(MPI_Isend(&out, 1, MPI_INT, right(), 1, comm, &r[1])); }).join();
    if (i % 2 == 0) {
      std::thread([&] { OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE)); }).join();
    } else {
      OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    }
    EXPECT(in == i, "%d came instead of %d", in, i);
  }
  watch->moved();
}

// Several threads look at one request, which nobody completes meanwhile (MPI-5.0, 3.7.6); then one does.
void many_look_at_one(MPI_Comm comm) {
  for (int round = 0; round < threads::scaled(40); ++round) {
    std::vector<int> out(round % 3 == 2 ? 50000 : 5, round), in(out.size(), -1);
    const int count = static_cast<int>(out.size());
    MPI_Request r, s;
    OK(MPI_Irecv(in.data(), count, MPI_INT, left(), 4, comm, &r));
    in_threads(thread_count, [&](int t) {
      if (t == 0) OK(MPI_Isend(out.data(), count, MPI_INT, right(), 4, comm, &s));
      MPI_Status status;
      int flag = 0, ints = -1;
      while (flag == 0) {
        OK(MPI_Request_get_status(r, &flag, &status));
        if (flag == 0) sched_yield();
      }
      MPI_Get_count(&status, MPI_INT, &ints);
      EXPECT(status.MPI_SOURCE == left() && status.MPI_TAG == 4 && ints == count, "source %d, tag %d, %d ints",
             status.MPI_SOURCE, status.MPI_TAG, ints);
      EXPECT(in.front() == round && in.back() == round, "%d to %d came, not %d", in.front(), in.back(), round);
    });
    MPI_Status status;
    OK(MPI_Wait(&r, &status));
    EXPECT(status.MPI_SOURCE == left() && r == MPI_REQUEST_NULL, "after the looks: source %d", status.MPI_SOURCE);
    OK(MPI_Wait(&s, MPI_STATUS_IGNORE));
  }
}

// Neighbours in one array, each tested by a thread of its own, while the messages come.
void tests_side_by_side(MPI_Comm comm) {
  for (int round = 0; round < threads::scaled(30); ++round) {
    Ring ring(2 * thread_count, comm);
    for (size_t i = 0; i < ring.in.size(); ++i) ring.receive(i);
    in_threads(2 * thread_count, [&](int t) {
      const size_t i = static_cast<size_t>(t);
      ring.send(ring.in.size() - 1 - i);
      for (int flag = 0; flag == 0;) {
        OK(MPI_Test(&ring.requests[2 * i], &flag, MPI_STATUS_IGNORE));
        if (flag == 0) sched_yield();
      }
    });
    for (size_t i = 0; i < ring.in.size(); ++i) OK(MPI_Wait(&ring.requests[2 * i + 1], MPI_STATUS_IGNORE));
    ring.check("side by side");
  }
}

// One thread cancels or frees what another has issued.
void cancelled_by_another(MPI_Comm comm) {
  constexpr int count = 20;
  for (int round = 0; round < threads::scaled(20); ++round) {
    std::vector<int> in(count, -1);
    std::vector<MPI_Request> r(count);
    std::thread([&] {
      for (int i = 0; i < count; ++i) {
        OK(MPI_Irecv(&in[static_cast<size_t>(i)], 1, MPI_INT, i % 2 == 0 ? left() : MPI_ANY_SOURCE, 100 + i, comm,
                     &r[static_cast<size_t>(i)]));
      }
    }).join();
    in_threads(2, [&](int t) {
      for (int i = t; i < count; i += 2) {
        MPI_Status status;
        int cancelled = 0;
        OK(MPI_Cancel(&r[static_cast<size_t>(i)]));
        OK(MPI_Wait(&r[static_cast<size_t>(i)], &status));
        MPI_Test_cancelled(&status, &cancelled);
        EXPECT(cancelled, "receive %d, which nobody sends to, was not cancelled", i);
      }
    });
    int out = round, got = -1;
    MPI_Request s;
    std::thread([&] { OK(MPI_Isend(&out, 1, MPI_INT, right(), 5, comm, &s)); }).join();
    std::thread([&] { OK(MPI_Request_free(&s)); }).join();
    OK(MPI_Recv(&got, 1, MPI_INT, left(), 5, comm, MPI_STATUS_IGNORE));
    EXPECT(got == round, "%d came, not %d", got, round);
    OK(MPI_Barrier(comm));  // all have received: `out` may go
  }
}

// A persistent pair that a different thread starts and completes each time.
void persistent_from_hand_to_hand(MPI_Comm comm) {
  int out = -1, in = -1;
  MPI_Request r[2];
  OK(MPI_Recv_init(&in, 1, MPI_INT, left(), 8, comm, &r[0]));
  OK(MPI_Send_init(&out, 1, MPI_INT, right(), 8, comm, &r[1]));
  for (int round = 0; round < threads::scaled(60); ++round) {
    out = round;
    std::thread([&] { OK(MPI_Startall(2, r)); }).join();
    std::thread([&] { OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE)); }).join();
    EXPECT(in == round, "%d came, not %d", in, round);
  }
  OK(MPI_Request_free(&r[0]));
  OK(MPI_Request_free(&r[1]));
}

// Each thread's communicator is in use by it alone, all at the same time: collective operations of several sizes.
void collectives_at_once(const std::vector<MPI_Comm>& comms) {
  const int rounds = threads::scaled(40);
  in_threads(thread_count, [&](int t) {
    const MPI_Comm comm = comms[static_cast<size_t>(t)];
    for (int round = 0; round < rounds; ++round) {
      const int each = round % 4 == 3 ? 5000 : 3, base = t * 1000 + round;
      std::vector<int> out(static_cast<size_t>(each * size)), in(out.size(), -1);
      for (int r = 0; r < size; ++r) {
        std::fill_n(&out[static_cast<size_t>(r * each)], each, base + rank * 10 + r);
      }
      OK(MPI_Alltoall(out.data(), each, MPI_INT, in.data(), each, MPI_INT, comm));
      for (int r = 0; r < size; ++r) {
        const int value = in[static_cast<size_t>((r + 1) * each - 1)];
        EXPECT(value == base + r * 10 + rank, "Alltoall of thread %d: %d from %d in round %d", t, value, r, round);
      }
      OK(MPI_Barrier(comm));
      OK(MPI_Allreduce(MPI_IN_PLACE, out.data(), each, MPI_INT, MPI_SUM, comm));
      EXPECT(out[0] == size * base + 10 * size * (size - 1) / 2, "Allreduce of thread %d: %d in round %d", t, out[0],
             round);
      in.assign(in.size(), rank == round % size ? base : -1);
      OK(MPI_Bcast(in.data(), each, MPI_INT, round % size, comm));
      EXPECT(in[0] == base && in[static_cast<size_t>(each - 1)] == base, "Bcast of thread %d: %d in round %d", t, in[0],
             round);
      watch->moved();
    }
  });
}

// Communicators are made and freed, by several threads and from several parents, while other threads communicate.
void communicators_at_once(const std::vector<MPI_Comm>& comms, MPI_Comm busy) {
  const int rounds = threads::scaled(12);
  in_threads(2 * thread_count, [&](int t) {
    if (t >= thread_count) {  // traffic, each thread its tag
      for (int i = 0; i < rounds * 20; ++i) {
        int out = i * 100 + t, in = -1;
        OK(MPI_Sendrecv(&out, 1, MPI_INT, right(), t, &in, 1, MPI_INT, left(), t, busy, MPI_STATUS_IGNORE));
        EXPECT(in == out, "%d came, not %d", in, out);
      }
      return;
    }
    const MPI_Comm parent = comms[static_cast<size_t>(t)];
    for (int round = 0; round < rounds; ++round) {
      MPI_Comm dup, split, some;
      OK(MPI_Comm_dup(parent, &dup));
      OK(MPI_Comm_split(dup, rank % 2, -rank, &split));
      MPI_Group all, odd;
      int range[1][3] = {{0, size - 1, 2}}, members = 0, sum = 0, one = 1;
      OK(MPI_Comm_group(dup, &all));
      OK(MPI_Group_range_incl(all, 1, range, &odd));
      OK(MPI_Comm_create(dup, odd, &some));
      OK(MPI_Comm_size(split, &members));
      EXPECT(members == (size + (rank % 2 == 0 ? 1 : 0)) / 2, "%d members of %d", members, size);
      OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, split));
      EXPECT(sum == members, "a sum of %d over %d members", sum, members);
      EXPECT((some == MPI_COMM_NULL) == (rank % 2 == 1), "rank %d is in the wrong group", rank);
      int out = t * 100 + round, in = -1;
      OK(MPI_Sendrecv(&out, 1, MPI_INT, right(), 3, &in, 1, MPI_INT, left(), MPI_ANY_TAG, dup, MPI_STATUS_IGNORE));
      EXPECT(in == out, "on a new communicator came %d, not %d", in, out);
      OK(MPI_Group_free(&all));
      OK(MPI_Group_free(&odd));
      if (some != MPI_COMM_NULL) OK(MPI_Comm_free(&some));
      OK(MPI_Comm_free(&split));
      OK(MPI_Comm_free(&dup));
      watch->moved();
    }
  });
}

std::atomic<int> copies = 0, deletions = 0;
int copy_counts(MPI_Comm, int, void*, void* value, void* copy, int* flag) {
  ++copies;
  *static_cast<void**>(copy) = value;
  *flag = 1;
  return MPI_SUCCESS;
}
int delete_counts(MPI_Comm, int, void*, void*) {
  ++deletions;
  return MPI_SUCCESS;
}

// Objects of all kinds, which no other rank knows of.
void objects_at_once() {
  const int rounds = threads::scaled(100);
  const bool is_weft = threads::is_weft();
  int keyval;
  OK(MPI_Comm_create_keyval(copy_counts, delete_counts, &keyval, nullptr));
  copies = deletions = 0;
  in_threads(thread_count, [&](int t) {
    MPI_Comm mine;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &mine));
    for (int round = 0; round < rounds; ++round) {
      int value = t * 1000 + round, flag = 0, length = 0;
      void* got = nullptr;
      OK(MPI_Comm_set_attr(mine, keyval, &value));
      OK(MPI_Comm_get_attr(mine, keyval, &got, &flag));
      EXPECT(flag && got == &value, "an attribute of thread %d is lost", t);
      MPI_Comm dup;
      OK(MPI_Comm_dup(mine, &dup));
      OK(MPI_Comm_free(&dup));
      OK(MPI_Comm_delete_attr(mine, keyval));
      // A type, used for a message to ourselves.
      MPI_Datatype column;
      OK(MPI_Type_vector(10, 1, 2, MPI_INT, &column));
      OK(MPI_Type_commit(&column));
      int out[20], in[10];
      for (int i = 0; i < 20; ++i) out[i] = value + i;
      MPI_Request r;
      OK(MPI_Irecv(in, 10, MPI_INT, 0, 1, mine, &r));
      OK(MPI_Send(out, 1, column, 0, 1, mine));
      OK(MPI_Type_free(&column));
      OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
      EXPECT(in[9] == value + 18, "%d came through a vector, not %d", in[9], value + 18);
      MPI_Info info;
      char text[8] = "";
      const std::string number = std::to_string(round);
      OK(MPI_Info_create(&info));
      OK(MPI_Info_set(info, "round", number.c_str()));
      length = sizeof text;
      OK(MPI_Info_get_string(info, "round", &length, text, &flag));
      EXPECT(flag && number == text, "info gave %s, not %s", text, number.c_str());
      OK(MPI_Info_free(&info));
      // An error in one thread is that thread's. MPICH 5.0.2 gives another class when many threads make errors.
      if (is_weft) EXPECT_CLASS(MPI_Send(out, 1, MPI_INT, 0, -5, MPI_COMM_SELF), MPI_ERR_TAG);
      void* memory = nullptr;
      OK(MPI_Alloc_mem(1 + round * 10, MPI_INFO_NULL, &memory));
      memset(memory, t, static_cast<size_t>(1 + round * 10));
      OK(MPI_Free_mem(memory));
    }
    OK(MPI_Comm_free(&mine));
  });
  EXPECT(copies == thread_count * rounds, "%d copies of attributes", copies.load());
  EXPECT(deletions == 2 * thread_count * rounds, "%d deletions of attributes", deletions.load());
  OK(MPI_Comm_free_keyval(&keyval));
}

void who_is_main() {
  int flag = 0, provided = -1;
  MPI_Is_thread_main(&flag);
  EXPECT(flag, "the thread that called MPI_Init_thread is %d", flag);
  in_threads(thread_count, [&](int) {
    int is_main = 1;
    MPI_Is_thread_main(&is_main);
    EXPECT(!is_main, "another thread is %d", is_main);
  });
  MPI_Query_thread(&provided);
  EXPECT(provided == MPI_THREAD_MULTIPLE, "level %d", provided);
}

}  // namespace

int main(int argc, char** argv) {
  threads::start(&argc, &argv);
  thread_count = argc > 1 ? std::clamp(atoi(argv[1]), 1, 64) : 4;
  std::vector<MPI_Comm> comms(static_cast<size_t>(thread_count));
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::atomic<const char*> part = "start";
  {
    threads::Watch guard(60, [&] { return std::string(part); });
    watch = &guard;
    who_is_main();
    const struct {
      const char* name;
      std::function<void()> run;
    } parts[] = {{"one issues, others complete", [&] { one_issues_others_complete(comm); }},
                 {"others issue, one completes", [&] { others_issue_one_completes(comm); }},
                 {"threads of short lives", [&] { short_lives(comm); }},
                 {"many look at one request", [&] { many_look_at_one(comm); }},
                 {"tests side by side", [&] { tests_side_by_side(comm); }},
                 {"cancelled by another", [&] { cancelled_by_another(comm); }},
                 {"persistent requests from hand to hand", [&] { persistent_from_hand_to_hand(comm); }},
                 {"collective operations at once", [&] { collectives_at_once(comms); }},
                 {"communicators at once", [&] { communicators_at_once(comms, comm); }},
                 {"objects at once", [&] { objects_at_once(); }}};
    for (const auto& p : parts) {
      part = p.name;
      p.run();
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  int flag = 1;
  OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
  EXPECT(!flag, "a message is left (%d)", flag);
  MPI_Comm_free(&comm);
  for (MPI_Comm& c : comms) MPI_Comm_free(&c);
  return expect::finish();
}
