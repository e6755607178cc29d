// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent collective operations on small data, which the ranks of a host do in exchange buffers:
// more of them under way than there are buffers, completed in an order of each rank's own; more persistent ones than
// have buffers, started in an order of each rank's own, again and again; on communicators that are freed while
// operations are under way; and ranks that disagree. Rows say with TEST_EXPECT how many messages they take
// (counters.h).
//
// coll_buffers [many | threads | disagree | sides | freed]
//   many      more persistent operations than have exchange buffers
//   threads   several, each with a communicator of its own
//   disagree  about the bytes, and about the operation
//   sides     about the bytes, so that some think that the operation goes by messages
//   freed     hundreds of communicators, one after the other
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

constexpr int64_t guard = -77;
constexpr int most = 30;  // 240 bytes of elements

enum Kind {
  barrier,
  bcast,
  gather,
  scatter,
  allgather,
  allgatherv,
  alltoall,
  reduce,
  allreduce,
  reduce_scatter,
  scan,
  exscan,
  gatherv,
  scatterv,
  alltoallv,
  kinds
};
const char* const names[kinds] = {"barrier",    "bcast",    "gather",  "scatter",   "allgather",
                                  "allgatherv", "alltoall", "reduce",  "allreduce", "reduce_scatter",
                                  "scan",       "exscan",   "gatherv", "scatterv",  "alltoallv"};

int64_t value(int operation, int of, int i) {
  return (operation + 3) * 1000003 + of * 7919 + i * 13;
}

// One operation on `count` elements of each rank, or for each.
class Job {
 public:
  Job(MPI_Comm comm, int number, int count) : comm_(comm), kind_(static_cast<Kind>(number % kinds)), count_(count) {
    renew(number);
  }

  // Other data from now on.
  void renew(int number) {
    number_ = number;
    root_ = number % size;
    const int sized = (count_ + 1) * (kind_ == gatherv ? 1 : size);
    const int mine = kind_ >= gatherv                  ? sized
                     : kind_ == allgatherv             ? count_ + rank
                     : kind_ == bcast && rank != root_ ? 0
                                                       : count_ * parts();
    send_.clear();
    for (int i = 0; i < mine; ++i) send_.push_back(value(number_, rank, i));
    receive_.assign(static_cast<size_t>((count_ + 1) * size + size * size), guard);
    if (kind_ == bcast) std::copy(send_.begin(), send_.end(), receive_.begin());
  }

  // The block of a rank in the v forms, and where it begins.
  int sized(int of) const { return count_ + of % 2; }
  int place(int of) const { return of * (count_ + 1); }

  void issue(MPI_Request* request, bool persistent) {
    const void* const from = send_.data();
    void* const to = receive_.data();
    const int n = count_;
    const MPI_Datatype type = MPI_INT64_T;
    const MPI_Info info = MPI_INFO_NULL;
    std::vector<int> counts, places, in_turn, even;
    for (int r = 0; r < size && kind_ >= gatherv; ++r) {
      in_turn.push_back(sized(r));
      even.push_back(sized(rank));
      places.push_back(place(r));
    }
    int error = MPI_SUCCESS;
    switch (kind_) {
      case barrier:
        error = persistent ? MPI_Barrier_init(comm_, info, request) : MPI_Ibarrier(comm_, request);
        break;
      case bcast:
        error = persistent ? MPI_Bcast_init(to, n, type, root_, comm_, info, request)
                           : MPI_Ibcast(to, n, type, root_, comm_, request);
        break;
      case gather:
        error = persistent ? MPI_Gather_init(from, n, type, to, n, type, root_, comm_, info, request)
                           : MPI_Igather(from, n, type, to, n, type, root_, comm_, request);
        break;
      case scatter:
        error = persistent ? MPI_Scatter_init(from, n, type, to, n, type, root_, comm_, info, request)
                           : MPI_Iscatter(from, n, type, to, n, type, root_, comm_, request);
        break;
      case allgather:
        error = persistent ? MPI_Allgather_init(from, n, type, to, n, type, comm_, info, request)
                           : MPI_Iallgather(from, n, type, to, n, type, comm_, request);
        break;
      case allgatherv:
        for (int r = 0; r < size; ++r) {
          counts.push_back(n + r);
          places.push_back(r * (n + size));
        }
        error = persistent
                    ? MPI_Allgatherv_init(from, n + rank, type, to, counts.data(), places.data(), type, comm_, info,
                                          request)
                    : MPI_Iallgatherv(from, n + rank, type, to, counts.data(), places.data(), type, comm_, request);
        break;
      case alltoall:
        error = persistent ? MPI_Alltoall_init(from, n, type, to, n, type, comm_, info, request)
                           : MPI_Ialltoall(from, n, type, to, n, type, comm_, request);
        break;
      case reduce:
        error = persistent ? MPI_Reduce_init(from, to, n, type, MPI_SUM, root_, comm_, info, request)
                           : MPI_Ireduce(from, to, n, type, MPI_SUM, root_, comm_, request);
        break;
      case allreduce:
        error = persistent ? MPI_Allreduce_init(from, to, n, type, MPI_SUM, comm_, info, request)
                           : MPI_Iallreduce(from, to, n, type, MPI_SUM, comm_, request);
        break;
      case reduce_scatter:
        error = persistent ? MPI_Reduce_scatter_block_init(from, to, n, type, MPI_SUM, comm_, info, request)
                           : MPI_Ireduce_scatter_block(from, to, n, type, MPI_SUM, comm_, request);
        break;
      case scan:
        error = persistent ? MPI_Scan_init(from, to, n, type, MPI_SUM, comm_, info, request)
                           : MPI_Iscan(from, to, n, type, MPI_SUM, comm_, request);
        break;
      case gatherv:
        error = persistent ? MPI_Gatherv_init(from, sized(rank), type, to, in_turn.data(), places.data(), type, root_,
                                              comm_, info, request)
                           : MPI_Igatherv(from, sized(rank), type, to, in_turn.data(), places.data(), type, root_,
                                          comm_, request);
        break;
      case scatterv:
        error = persistent ? MPI_Scatterv_init(from, in_turn.data(), places.data(), type, to, sized(rank), type, root_,
                                               comm_, info, request)
                           : MPI_Iscatterv(from, in_turn.data(), places.data(), type, to, sized(rank), type, root_,
                                           comm_, request);
        break;
      case alltoallv:
        error = persistent ? MPI_Alltoallv_init(from, in_turn.data(), places.data(), type, to, even.data(),
                                                places.data(), type, comm_, info, request)
                           : MPI_Ialltoallv(from, in_turn.data(), places.data(), type, to, even.data(), places.data(),
                                            type, comm_, request);
        break;
      default:
        error = persistent ? MPI_Exscan_init(from, to, n, type, MPI_SUM, comm_, info, request)
                           : MPI_Iexscan(from, to, n, type, MPI_SUM, comm_, request);
    }
    EXPECT(error == MPI_SUCCESS, "%s: error %d", names[kind_], error);
  }

  void check() const {
    std::vector<int64_t> wanted(receive_.size(), guard);
    const auto put = [&](int at, int n, auto value_of) {
      for (int i = 0; i < n; ++i) wanted[static_cast<size_t>(at + i)] = value_of(i);
    };
    const auto sum_below = [&](int end, int offset) {
      return [=, this](int i) {
        int64_t all = 0;
        for (int r = 0; r < end; ++r) all += value(number_, r, offset + i);
        return all;
      };
    };
    const bool is_root = rank == root_;
    for (int r = 0; r < size; ++r) {
      const auto of_r = [&](int offset) { return [=, this](int i) { return value(number_, r, offset + i); }; };
      if (kind_ == allgather || (kind_ == gather && is_root)) put(r * count_, count_, of_r(0));
      if (kind_ == allgatherv) put(r * (count_ + size), count_ + r, of_r(0));
      if (kind_ == gatherv && is_root) put(place(r), sized(r), of_r(0));
      if (kind_ == alltoallv) put(place(r), sized(rank), of_r(place(rank)));
      if (kind_ == alltoall) put(r * count_, count_, of_r(rank * count_));
      if (r != root_) continue;
      if (kind_ == bcast) put(0, count_, of_r(0));
      if (kind_ == scatterv) put(0, sized(rank), of_r(place(rank)));
      if (kind_ == scatter) put(0, count_, of_r(rank * count_));
    }
    if (kind_ == allreduce || (kind_ == reduce && is_root)) put(0, count_, sum_below(size, 0));
    if (kind_ == reduce_scatter) put(0, count_, sum_below(size, rank * count_));
    if (kind_ == scan) put(0, count_, sum_below(rank + 1, 0));
    if (kind_ == exscan && rank > 0) put(0, count_, sum_below(rank, 0));
    const auto differs = std::mismatch(wanted.begin(), wanted.end(), receive_.begin());
    EXPECT(differs.first == wanted.end(), "%s, operation %d of %d elements: element %td is %lld, not %lld",
           names[kind_], number_, count_, differs.first - wanted.begin(), static_cast<long long>(*differs.second),
           static_cast<long long>(*differs.first));
  }

 private:
  // The blocks that a rank has for others.
  int parts() const { return kind_ == scatter || kind_ == alltoall || kind_ == reduce_scatter ? size : 1; }

  MPI_Comm comm_;
  Kind kind_;
  int count_;
  int number_ = 0;
  int root_ = 0;
  std::vector<int64_t> send_, receive_;
};

// As many elements as fit into a place, of all kinds of operations, and fewer.
int count_of(int number) {
  const int counts[] = {1, 2, most / size - size, 3};
  return std::max(1, counts[static_cast<size_t>(number) / kinds % std::size(counts)]);
}

std::vector<Job> some_jobs(MPI_Comm comm, int first, int count) {
  std::vector<Job> jobs;
  for (int i = 0; i < count; ++i) jobs.emplace_back(comm, first + i, count_of(first + i));
  return jobs;
}

// In an order of this rank's own, by one call or another.
void complete(std::vector<MPI_Request>& requests, std::mt19937& random) {
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  for (const size_t i : order) {
    int done = 0;
    if (random() % 2 == 0) MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
    if (done == 0) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
}

void several_under_way(MPI_Comm comm, int rounds, std::mt19937& random) {
  for (int round = 0; round < rounds; ++round) {
    std::vector<Job> jobs = some_jobs(comm, round * 7, 1 + round % 3 * 30);
    std::vector<MPI_Request> requests(jobs.size());
    for (size_t i = 0; i < jobs.size(); ++i) jobs[i].issue(&requests[i], false);
    complete(requests, random);
    for (const Job& job : jobs) job.check();
  }
}

void again_and_again(MPI_Comm comm, int count, int rounds, std::mt19937& random) {
  std::vector<Job> jobs = some_jobs(comm, 0, count);
  std::vector<MPI_Request> requests(jobs.size());
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].issue(&requests[i], true);
  std::vector<size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0);
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t i : order) {
      MPI_Start(&requests[i]);
      // Ranks that start one operation after the other, and ranks that start all at once.
      if (round % 4 == 3) MPI_Test(&requests[i], &std::vector<int>(1)[0], MPI_STATUS_IGNORE);
    }
    complete(requests, random);
    for (size_t i = 0; i < jobs.size(); ++i) {
      jobs[i].check();
      // The root stays the one for which the operation was made.
      const int roots = std::lcm(static_cast<int>(kinds), size);
      jobs[i].renew(static_cast<int>(i) + (round + 1) * roots);
    }
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

// An operation of which the ranks have different counts ends with an error on those that see it, and holds nobody up:
// the ones behind it are right.
void disagree() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int64_t in[4] = {1, 2, 3, 4}, out[4] = {};
  for (const bool first : {true, false}) {
    MPI_Request requests[2];
    MPI_Iallreduce(in, out, rank == 1 ? 3 : 2, MPI_INT64_T, MPI_SUM, comm, &requests[0]);
    int64_t behind = 0;
    MPI_Iallreduce(in, &behind, 1, MPI_INT64_T, MPI_SUM, comm, &requests[1]);
    EXPECT_CLASS(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    EXPECT(MPI_Wait(&requests[1], MPI_STATUS_IGNORE) == MPI_SUCCESS && behind == size, "%lld behind it, first %d",
           static_cast<long long>(behind), first);
  }
  MPI_Request request;
  rank == 0 ? MPI_Ibarrier(comm, &request) : MPI_Iallreduce(in, out, 1, MPI_INT64_T, MPI_SUM, comm, &request);
  const int error = MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_CLASS(error, MPI_ERR_OTHER);
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error, text, &length);
  MPI_Comm_free(&comm);
}

// One rank has other counts than the rest, of which small ones go by exchange buffers and large ones by messages: it
// may be the root, and have more or less. Ranks that see it end with an error, nobody waits for ever, and the
// operations behind are right.
void disagree_about_ways() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  constexpr int ways[][2] = {{0, 1}, {1, 500}, {1, 30000}, {500, 30000}};
  for (int turn = 0; turn < kinds * 2 * 2 * 2 * static_cast<int>(std::size(ways)); ++turn) {
    const int kind = turn % kinds;
    const bool persistent = turn / kinds % 2 == 1;
    const int odd = turn / kinds / 2 % 2 == 0 ? 0 : size - 1;
    const bool has_more = turn / kinds / 4 % 2 == 0;
    const int* const counts = ways[turn / kinds / 8];
    // All roots, by way of the number.
    const int number = kind + kinds * (turn / kinds);
    Job job(comm, number, counts[(rank == odd) == has_more ? 1 : 0]);
    MPI_Request request;
    job.issue(&request, persistent);
    if (persistent) MPI_Start(&request);
    const int error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (persistent) MPI_Request_free(&request);
    if (error != MPI_SUCCESS) EXPECT_CLASS(error, MPI_ERR_TRUNCATE);

    Job behind(comm, number + 1, 2);
    behind.issue(&request, false);
    EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, "%s behind it", names[(kind + 1) % kinds]);
    behind.check();
    // Where two ranks alone know the bytes, the buffer of one may be larger than the data of the other. A barrier has
    // no data.
    int errors = error != MPI_SUCCESS ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, comm);
    const bool wanted = size > 1 && kind != barrier && kind < gatherv;
    EXPECT(!wanted || errors > 0, "%s of %d and %d elements: no rank has seen it", names[kind], counts[0], counts[1]);
  }
  MPI_Comm_free(&comm);
}

// Memory of communicators that are gone is there for others: the last of them have exchange buffers too.
void freed(int comms) {
  for (int i = 0; i < comms; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    std::vector<Job> jobs = some_jobs(comm, i, 2);
    std::vector<MPI_Request> requests(jobs.size());
    for (size_t j = 0; j < jobs.size(); ++j) jobs[j].issue(&requests[j], false);
    MPI_Comm_free(&comm);  // while they are under way
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (const Job& job : jobs) job.check();
  }
  std::mt19937 random(1);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  several_under_way(comm, 30, random);
  MPI_Comm_free(&comm);
}

void by_threads() {
  constexpr int count = 4;
  MPI_Comm comms[count];
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([comm = comms[t], t] {
      std::mt19937 random(static_cast<unsigned>(rank * count + t));
      several_under_way(comm, 30, random);
      again_and_again(comm, 20, 20, random);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "";
  int provided = 0;
  MPI_Init_thread(&argc, &argv, strcmp(mode, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  counters_start();
  if (strcmp(mode, "threads") == 0) {
    by_threads();
  } else if (strcmp(mode, "disagree") == 0) {
    disagree();
  } else if (strcmp(mode, "sides") == 0) {
    disagree_about_ways();
  } else if (strcmp(mode, "freed") == 0) {
    freed(200);
  } else {
    const bool many = strcmp(mode, "many") == 0;
    std::mt19937 random(static_cast<unsigned>(rank));
    several_under_way(MPI_COMM_WORLD, many ? 3 : 60, random);
    again_and_again(MPI_COMM_WORLD, many ? 30 : 16, 40, random);
    several_under_way(MPI_COMM_WORLD, 3, random);
  }
  return expect::finish();
}
