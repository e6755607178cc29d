// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent collective operations on large data, whose ranks copy from and to each other's buffers:
// several under way on a communicator and completed in an order of each rank's own, blocking ones between them, started
// again and again, on communicators that are freed meanwhile, and with a rank that comes late. Rows say with
// TEST_EXPECT which way the data went (counters.h).
//
// coll_peers [refused | late | threads]
//   refused   the kernel lets the last rank read no other one's memory
//   late      from the middle on
//   threads   several, each with a communicator of its own
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

using Values = std::vector<int64_t>;

constexpr int64_t guard = -77;

int64_t value(int operation, int of, int64_t i) {
  return (operation + 3) * 1000003 + of * 7919 + i * 13;
}
int64_t sum(int operation, int64_t i) {
  int64_t all = 0;
  for (int r = 0; r < size; ++r) all += value(operation, r, i);
  return all;
}

enum Kind { reduce, allreduce, reduce_scatter, reduce_scatter_block, allgather, allgatherv, alltoall, kinds };
const char* const names[kinds] = {"reduce",    "allreduce",  "reduce_scatter", "reduce_scatter_block",
                                  "allgather", "allgatherv", "alltoall"};

// One operation. Each rank has `count` elements; in an allgatherv higher ranks have a few more.
class Job {
 public:
  Job(MPI_Comm comm, Kind kind, int number, int count, bool in_place, bool gaps)
      : comm_(comm), kind_(kind), number_(number), root_(number % size), in_place_(in_place), step_(gaps ? 2 : 1) {
    counts_.resize(static_cast<size_t>(size));
    places_.resize(counts_.size());
    int place = 0;
    const bool even = kind != allgatherv && kind != reduce_scatter;
    for (int r = 0; r < size; ++r) {
      counts_[static_cast<size_t>(r)] = count + (even ? 0 : r * 11);
      places_[static_cast<size_t>(r)] = place;
      place += counts_[static_cast<size_t>(r)];
    }
    all_ = place;
    mine_ = counts_[static_cast<size_t>(rank)];
    if (gaps) {
      MPI_Type_create_resized(MPI_INT64_T, 0, 16, &type_);
      MPI_Type_commit(&type_);
    } else {
      MPI_Type_dup(MPI_INT64_T, &type_);
    }
    fill();
  }

  // Other data from now on.
  void renew() {
    number_ += 100;
    fill();
  }

  void fill() {
    const bool reduces = kind_ < allgather;
    const int length = reduces             ? (kind_ == reduce || kind_ == allreduce ? mine_ : all_)
                       : kind_ == alltoall ? all_
                                           : mine_;
    send_.assign(at(length) + 1, guard);
    for (int i = 0; i < length; ++i) send_[at(i)] = value(number_, rank, i);
    receive_.assign(at(std::max(all_, mine_)) + 1, guard);
    if (!in_place_) return;
    if (reduces && (kind_ != reduce || rank == root_)) std::copy(send_.begin(), send_.end(), receive_.begin());
    if (kind_ == alltoall) receive_ = send_;
    if (kind_ == allgather || kind_ == allgatherv) {
      for (int i = 0; i < mine_; ++i) receive_[at(places_[static_cast<size_t>(rank)] + i)] = value(number_, rank, i);
    }
  }

  void issue(MPI_Request* request, bool persistent) {
    const bool in_place = in_place_ && (kind_ != reduce || rank == root_);
    const void* const from = in_place ? MPI_IN_PLACE : send_.data();
    void* const to = receive_.data();
    const int* const counts = counts_.data();
    const int one = counts_[0];
    const MPI_Info none = MPI_INFO_NULL;
    int error = MPI_SUCCESS;
    switch (kind_) {
      case reduce:
        error = persistent ? MPI_Reduce_init(from, to, one, MPI_INT64_T, MPI_SUM, root_, comm_, none, request)
                           : MPI_Ireduce(from, to, one, MPI_INT64_T, MPI_SUM, root_, comm_, request);
        break;
      case allreduce:
        error = persistent ? MPI_Allreduce_init(from, to, one, MPI_INT64_T, MPI_SUM, comm_, none, request)
                           : MPI_Iallreduce(from, to, one, MPI_INT64_T, MPI_SUM, comm_, request);
        break;
      case reduce_scatter:
        error = persistent ? MPI_Reduce_scatter_init(from, to, counts, MPI_INT64_T, MPI_SUM, comm_, none, request)
                           : MPI_Ireduce_scatter(from, to, counts, MPI_INT64_T, MPI_SUM, comm_, request);
        break;
      case reduce_scatter_block:
        error = persistent ? MPI_Reduce_scatter_block_init(from, to, one, MPI_INT64_T, MPI_SUM, comm_, none, request)
                           : MPI_Ireduce_scatter_block(from, to, one, MPI_INT64_T, MPI_SUM, comm_, request);
        break;
      case allgather:
        error = persistent ? MPI_Allgather_init(from, one, type_, to, one, type_, comm_, none, request)
                           : MPI_Iallgather(from, one, type_, to, one, type_, comm_, request);
        break;
      case allgatherv:
        error = persistent
                    ? MPI_Allgatherv_init(from, mine_, type_, to, counts, places_.data(), type_, comm_, none, request)
                    : MPI_Iallgatherv(from, mine_, type_, to, counts, places_.data(), type_, comm_, request);
        break;
      case alltoall:
        error = persistent ? MPI_Alltoall_init(from, one, type_, to, one, type_, comm_, none, request)
                           : MPI_Ialltoall(from, one, type_, to, one, type_, comm_, request);
        break;
      case kinds:
        break;
    }
    EXPECT(error == MPI_SUCCESS, "%s: error %d", names[kind_], error);
    MPI_Type_free(&type_);  // the operation keeps it
  }

  // Whether the result is the right one.
  bool is_right() const {
    bool right = send_.back() == guard && receive_.back() == guard;
    const auto expect_at = [&](int64_t i, int64_t wanted) { right = right && receive_[at(i)] == wanted; };
    const auto me = static_cast<size_t>(rank);
    for (int64_t i = 0; (kind_ == allreduce || (kind_ == reduce && rank == root_)) && i < mine_; ++i)
      expect_at(i, sum(number_, i));
    for (int64_t i = 0; (kind_ == reduce_scatter || kind_ == reduce_scatter_block) && i < mine_; ++i)
      expect_at(i, sum(number_, places_[me] + i));
    for (int r = 0; kind_ >= allgather && r < size; ++r) {
      const auto from = static_cast<size_t>(r);
      const int64_t begin = kind_ == alltoall ? places_[me] : 0;
      for (int64_t i = 0; i < counts_[from]; ++i) expect_at(places_[from] + i, value(number_, r, begin + i));
    }
    for (size_t i = 1; step_ == 2 && i < receive_.size(); i += 2) right = right && receive_[i] == guard;
    return right;
  }
  void check(const char* when) const {
    EXPECT(is_right(), "%s of %d%s%s, operation %d, %s: wrong data", names[kind_], mine_, in_place_ ? " in place" : "",
           step_ == 2 ? " with gaps" : "", number_, when);
  }

 private:
  size_t at(int64_t i) const { return static_cast<size_t>(i * step_); }

  MPI_Comm comm_;
  Kind kind_;
  int number_;
  int root_;
  bool in_place_;
  int step_;
  int all_ = 0;
  int mine_ = 0;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::vector<int> counts_, places_;
  Values send_, receive_;
};

// Beyond the size at which the default table has ranks copy, whose result is counted.
constexpr int large = 300000;

void wait_in_own_order(std::vector<MPI_Request>& requests, unsigned seed) {
  std::vector<size_t> order(requests.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937(seed * 31 + static_cast<unsigned>(rank)));
  for (size_t i : order) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

// All kinds at once on one communicator, with blocking operations between them.
void several_at_once(MPI_Comm comm, int count, unsigned seed, bool gaps) {
  std::vector<Job> jobs;
  jobs.reserve(2 * kinds);
  std::vector<MPI_Request> requests(2 * kinds);
  for (int i = 0; i < 2 * kinds; ++i) {
    const auto kind = static_cast<Kind>(i % kinds);
    jobs.emplace_back(comm, kind, i + static_cast<int>(seed), count + i, i >= kinds,
                      gaps && kind >= allgather && i % 2 == 0);
    jobs.back().issue(&requests[static_cast<size_t>(i)], false);
    if (i % 4 != 1) continue;
    int64_t mine = rank, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, comm);
    EXPECT(all == int64_t{size} * (size - 1) / 2, "sum %lld", static_cast<long long>(all));
  }
  wait_in_own_order(requests, seed);
  for (const Job& job : jobs) job.check("several at once");
}

void again_and_again(MPI_Comm comm, int count) {
  std::vector<Job> jobs;
  jobs.reserve(kinds);
  std::vector<MPI_Request> requests(kinds);
  for (int i = 0; i < kinds; ++i) {
    jobs.emplace_back(comm, static_cast<Kind>(i), i, count, i % 2 == 0, false);
    jobs.back().issue(&requests[static_cast<size_t>(i)], true);
  }
  for (int turn = 0; turn < 4; ++turn) {
    for (int i = 0; i < kinds; ++i) MPI_Start(&requests[static_cast<size_t>(turn % 2 == 0 ? i : kinds - 1 - i)]);
    wait_in_own_order(requests, static_cast<unsigned>(turn));
    for (Job& job : jobs) {
      job.check("started again");
      job.renew();
    }
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

void freed_meanwhile(int count) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  Job job(comm, allreduce, 5, count, false, false);
  MPI_Request request;
  job.issue(&request, false);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  job.check("communicator freed");
}

void one_comes_late(MPI_Comm comm, int count) {
  Job job(comm, allreduce, 9, count, true, false);
  MPI_Request request;
  if (rank == size - 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  job.issue(&request, false);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  job.check("one late");
}

// Ranks that disagree about the bytes all hear so, and nothing is written.
void of_other_lengths(MPI_Comm comm, int count) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int mine = rank == 0 ? count + 1 : count;
  const Values send(static_cast<size_t>(mine), 1);
  Values receive(static_cast<size_t>(mine), guard);
  MPI_Request request;
  MPI_Iallreduce(send.data(), receive.data(), mine, MPI_INT64_T, MPI_SUM, comm, &request);
  EXPECT_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  EXPECT(std::all_of(receive.begin(), receive.end(), [](int64_t v) { return v == guard; }), "%s",
         "something was written");
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

void refuse_cross_memory() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0) return;
  perror("coll_peers: seccomp");
  exit(77);
}

// The operation in which a rank finds that it may not copy any more has the right result everywhere or is an error
// everywhere; those after it go by messages.
void refused_from_now_on(MPI_Comm comm, int count) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Barrier(comm);
  if (rank == size - 1) refuse_cross_memory();
  for (int i = 0; i < 4; ++i) {
    Job job(comm, allreduce, i, count, false, false);
    MPI_Request request;
    job.issue(&request, false);
    int error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS) job.check("refused");
    error = expect::class_of(error);
    EXPECT(error == MPI_SUCCESS || error == MPI_ERR_OTHER, "class %d", error);
    int most = 0, least = 0;
    MPI_Allreduce(&error, &most, 1, MPI_INT, MPI_MAX, comm);
    MPI_Allreduce(&error, &least, 1, MPI_INT, MPI_MIN, comm);
    EXPECT(most == least, "classes %d and %d", least, most);
    EXPECT(i == 0 || most == MPI_SUCCESS, "operation %d: class %d", i, most);
  }
}

void by_threads(int count) {
  constexpr int threads = 4;
  MPI_Comm comms[threads];
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> team;
  team.reserve(threads);
  for (MPI_Comm comm : comms) {
    team.emplace_back([=] {
      several_at_once(comm, count, 3, true);
      again_and_again(comm, count);
    });
  }
  for (std::thread& one : team) one.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  const bool threads = std::strcmp(how, "threads") == 0;
  const char* const place = getenv("WEFT_RANK");
  const char* const ranks = getenv("WEFT_SIZE");
  if (std::strcmp(how, "refused") == 0) {
    if (place == nullptr || ranks == nullptr) return 77;
    if (atoi(place) == atoi(ranks) - 1) refuse_cross_memory();
  }
  int provided = 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  counters_start();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (std::strcmp(how, "late") == 0) {
    several_at_once(MPI_COMM_WORLD, large, 1, true);
    refused_from_now_on(MPI_COMM_WORLD, large);
  } else if (threads) {
    by_threads(20000);
  } else {
    several_at_once(MPI_COMM_WORLD, large, 1, true);
    again_and_again(MPI_COMM_WORLD, large);
    freed_meanwhile(large);
    one_comes_late(MPI_COMM_WORLD, large);
    if (size > 1 && getenv("TEST_PEERS") != nullptr) of_other_lengths(MPI_COMM_WORLD, large);
  }
  return expect::finish();
}
