// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Random sequences of blocking, nonblocking and persistent collective operations, several under way at once on several
// communicators, completed in another order on each rank, by one thread or several. Each result is compared with what
// a rank computes by itself.
//
// coll_random SEED ROUNDS THREADS
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <thread>
#include <vector>

#include "expect.hpp"

namespace {

using Values = std::vector<int64_t>;

enum Kind {
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  kinds
};
const char* const names[kinds] = {"barrier",   "bcast",     "gather",     "gatherv",        "scatter",
                                  "scatterv",  "allgather", "allgatherv", "alltoall",       "alltoallv",
                                  "alltoallw", "reduce",    "allreduce",  "reduce_scatter", "reduce_scatter_block",
                                  "scan",      "exscan"};

enum class Form { blocking, nonblocking, persistent };

// Affine functions modulo a prime, first `a`, then `b`: associative, not commutative.
constexpr int64_t prime = 10007;
int64_t composed(int64_t a, int64_t b) {
  const int64_t factor = (a >> 32) * (b >> 32) % prime;
  const int64_t summand = ((a & 0xffffffff) * (b >> 32) + (b & 0xffffffff)) % prime;
  return factor << 32 | summand;
}
void compose(void* in, void* inout, int* length, MPI_Datatype*) {
  auto* a = static_cast<int64_t*>(in);
  auto* b = static_cast<int64_t*>(inout);
  for (int i = 0; i < *length; ++i) b[i] = composed(a[i], b[i]);
}

// The data that rank `from` has for rank `to` in an operation.
int64_t value(uint64_t seed, int from, int to, int i) {
  uint64_t x = seed * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(from) * 1000003 + static_cast<uint64_t>(to) * 10007 +
               static_cast<uint64_t>(i);
  x ^= x >> 31;
  x *= 0xbf58476d1ce4e5b9;
  x ^= x >> 27;
  return static_cast<int64_t>((x % 9973 + 2) << 32 | (x >> 40) % prime);
}

struct Place {
  MPI_Comm comm;
  int rank;
  int size;
};

// One operation: its arguments, its data, and what must come out.
class Job {
 public:
  Job(Kind kind, Form form, const Place& place, uint64_t seed, std::mt19937_64& random)
      : kind_(kind), form_(form), at_(place), seed_(seed) {
    root_ = static_cast<int>(random() % static_cast<uint64_t>(at_.size));
    const int sizes[] = {0, 1, 3, 40, 300, 3000, 12000};
    count_ = sizes[random() % std::size(sizes)];
    in_place_ = random() % 3 == 0;
    is_sum_ = random() % 2 == 0;
    stride_ = kind_ < reduce && random() % 4 == 0 ? 2 : 1;
    counts_.resize(static_cast<size_t>(at_.size * at_.size));
    for (int& c : counts_) c = count_ == 0 ? 0 : static_cast<int>(random() % static_cast<uint64_t>(count_ + 1));
    op_ = MPI_SUM;
    if (!is_sum_) MPI_Op_create(compose, 0, &op_);
    if (stride_ == 1) {
      MPI_Type_dup(MPI_INT64_T, &type_);
    } else {
      MPI_Type_create_resized(MPI_INT64_T, 0, 16, &type_);
      MPI_Type_commit(&type_);
    }
    fill();
  }
  Job(Job&&) = default;

  Form form() const { return form_; }

  // Starts the operation, or does all of it. Arguments of the call that may be freed are freed.
  void issue() {
    dispatch();
    if (!is_sum_) MPI_Op_free(&op_);
    MPI_Type_free(&type_);
    types_.assign(types_.size(), MPI_DATATYPE_NULL);
  }
  void start() { MPI_Start(&request); }

  // Puts the buffers back to how they were before the operation.
  void fill() {
    const int n = at_.size;
    const int me = at_.rank;
    send_.clear();
    receive_.clear();
    wanted_.clear();
    send_counts_.assign(static_cast<size_t>(n), 0);
    receive_counts_ = send_places_ = receive_places_ = send_counts_;
    auto from_me_to_all = [&](auto count_for) {
      int place = 0;
      for (int r = 0; r < n; ++r) {
        const auto i = static_cast<size_t>(r);
        send_counts_[i] = count_for(r);
        send_places_[i] = place;
        for (int k = 0; k < send_counts_[i]; ++k) put(send_, place + k, value(seed_, me, r, k));
        place += send_counts_[i] + 1;
      }
      put(send_, place, -7);
    };
    auto from_all_to_me = [&](auto count_for, auto value_of, bool regular) {
      int place = 0;
      for (int r = 0; r < n; ++r) {
        const auto i = static_cast<size_t>(r);
        receive_counts_[i] = count_for(r);
        receive_places_[i] = place;
        for (int k = 0; k < receive_counts_[i]; ++k) put(wanted_, place + k, value_of(r, k));
        place += receive_counts_[i] + (regular ? 0 : 1);
      }
      put(wanted_, place, -7);
      receive_.assign(wanted_.size(), -7);
    };
    auto from_me = [&](int count) {
      for (int k = 0; k < count; ++k) put(send_, k, value(seed_, me, 0, k));
      put(send_, count, -7);
    };
    auto own_part_in_place = [&](int count) {
      for (int k = 0; in_place_ && k < count; ++k) {
        put(receive_, receive_places_[static_cast<size_t>(me)] + k, value(seed_, me, 0, k));
      }
    };
    auto same = [&](int) { return count_; };
    auto by_rank = [&](int r) { return counts_[static_cast<size_t>(r)]; };
    auto of_all = [&](int r, int k) { return value(seed_, r, 0, k); };
    auto to_me = [&](int r, int k) { return value(seed_, r, me, k); };
    const bool i_am_root = me == root_;
    switch (kind_) {
      case barrier:
        break;
      case bcast:
        from_all_to_me([&](int r) { return r == 0 ? count_ : 0; },
                       [&](int, int k) { return value(seed_, root_, 0, k); }, false);
        if (i_am_root) receive_ = wanted_;
        break;
      case gather:
      case allgather:
        from_me(count_);
        if (kind_ == gather && !i_am_root) break;
        from_all_to_me(same, of_all, true);
        own_part_in_place(count_);
        break;
      case gatherv:
      case allgatherv:
        from_me(by_rank(me));
        if (kind_ == gatherv && !i_am_root) break;
        from_all_to_me(by_rank, of_all, false);
        own_part_in_place(by_rank(me));
        break;
      case scatter:
      case scatterv: {
        const bool v = kind_ == scatterv;
        if (i_am_root) {
          if (v) {
            from_me_to_all(by_rank);
          } else {
            for (int r = 0; r < n; ++r) {
              for (int k = 0; k < count_; ++k) put(send_, r * count_ + k, value(seed_, me, r, k));
            }
            put(send_, n * count_, -7);
          }
        }
        if (i_am_root && in_place_) break;
        from_all_to_me([&](int r) { return r != 0 ? 0
                                           : v    ? by_rank(me)
                                                  : count_; },
                       [&](int, int k) { return value(seed_, root_, me, k); }, false);
        break;
      }
      case alltoall:
        for (int r = 0; r < n; ++r) {
          for (int k = 0; k < count_; ++k) put(send_, r * count_ + k, value(seed_, me, r, k));
        }
        put(send_, n * count_, -7);
        from_all_to_me(same, to_me, true);
        if (in_place_) receive_ = send_;
        break;
      case alltoallv:
      case alltoallw: {
        // In place both directions have the same counts.
        auto between = [&](int from, int to) {
          if (in_place_ && from > to) std::swap(from, to);
          return counts_[static_cast<size_t>(from * n + to)];
        };
        from_me_to_all([&](int r) { return between(me, r); });
        from_all_to_me([&](int r) { return between(r, me); }, to_me, false);
        if (in_place_) receive_ = send_;
        types_.assign(static_cast<size_t>(n), type_);
        if (kind_ == alltoallw) {
          for (int& p : send_places_) p *= 8 * stride_;
          for (int& p : receive_places_) p *= 8 * stride_;
        }
        break;
      }
      case reduce:
      case allreduce:
        if (kind_ == reduce && !i_am_root) {
          from_me(count_);
        } else {
          reduction(0, n - 1, 0, count_, count_);
        }
        break;
      case scan:
        reduction(0, me, 0, count_, count_);
        break;
      case exscan:
        reduction(0, me - 1, 0, count_, count_);
        break;
      case reduce_scatter:
      case reduce_scatter_block: {
        int first = 0;
        int total = 0;
        for (int r = 0; r < n; ++r) {
          receive_counts_[static_cast<size_t>(r)] = kind_ == reduce_scatter ? by_rank(r) : count_;
          if (r < me) first += receive_counts_[static_cast<size_t>(r)];
          total += receive_counts_[static_cast<size_t>(r)];
        }
        reduction(0, n - 1, first, receive_counts_[static_cast<size_t>(me)], total);
        break;
      }
      case kinds:
        break;
    }
  }

  void check() {
    // A reduction in place leaves what lies behind its result undefined.
    for (size_t i = result_ends_; i < receive_.size(); ++i) receive_[i] = wanted_[i];
    if (receive_ == wanted_) return;
    size_t i = 0;
    while (i < wanted_.size() && receive_[i] == wanted_[i]) ++i;
    EXPECT(receive_ == wanted_, "%s%s of %d in a communicator of %d (root %d, form %d, stride %d), seed %llu: at %zu",
           names[kind_], in_place_ ? " in place" : "", count_, at_.size, root_, static_cast<int>(form_), stride_,
           static_cast<unsigned long long>(seed_), i);
  }

  MPI_Request request = MPI_REQUEST_NULL;

 private:
  void put(Values& values, int i, int64_t v) const {
    const auto at = static_cast<size_t>(i) * static_cast<size_t>(stride_);
    if (values.size() < at + static_cast<size_t>(stride_)) values.resize(at + static_cast<size_t>(stride_), -7);
    values[at] = v;
  }

  // The elements [first, first + count) of what ranks low to high give together are wanted here.
  void reduction(int low, int high, int first, int count, int total) {
    for (int k = 0; k < total; ++k) put(send_, k, value(seed_, at_.rank, 0, k));
    put(send_, total, -7);
    receive_.assign(static_cast<size_t>(count) + 1, -7);
    if (in_place_) receive_ = send_;
    wanted_ = receive_;
    for (int k = 0; k < count && low <= high; ++k) {
      int64_t result = value(seed_, low, 0, first + k);
      for (int r = low + 1; r <= high; ++r) {
        const int64_t next = value(seed_, r, 0, first + k);
        result = is_sum_ ? result + next : composed(result, next);
      }
      wanted_[static_cast<size_t>(k)] = result;
    }
    if (in_place_) result_ends_ = static_cast<size_t>(count);
  }

  template <class Blocking, class Nonblocking, class Persistent, class... Arguments>
  void call(Blocking b, Nonblocking i, Persistent p, Arguments... arguments) {
    int error = MPI_SUCCESS;
    if (form_ == Form::blocking) error = b(arguments..., at_.comm);
    if (form_ == Form::nonblocking) error = i(arguments..., at_.comm, &request);
    if (form_ == Form::persistent) error = p(arguments..., at_.comm, MPI_INFO_NULL, &request);
    EXPECT(error == MPI_SUCCESS, "%s: error %d", names[kind_], error);
  }

  void dispatch() {
    const bool i_am_root = at_.rank == root_;
    const void* const any_place = in_place_ ? MPI_IN_PLACE : send_.data();
    const void* const root_place = in_place_ && i_am_root ? MPI_IN_PLACE : send_.data();
    void* const scattered = in_place_ && i_am_root ? MPI_IN_PLACE : receive_.data();
    const int mine = counts_[static_cast<size_t>(at_.rank)];
    void* const out = receive_.data();
    const int* const sc = send_counts_.data();
    const int* const rc = receive_counts_.data();
    const int* const sd = send_places_.data();
    const int* const rd = receive_places_.data();
    const MPI_Datatype* const ts = types_.data();
    switch (kind_) {
      case barrier:
        if (form_ == Form::blocking) MPI_Barrier(at_.comm);
        if (form_ == Form::nonblocking) MPI_Ibarrier(at_.comm, &request);
        if (form_ == Form::persistent) MPI_Barrier_init(at_.comm, MPI_INFO_NULL, &request);
        return;
      case bcast:
        return call(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, out, count_, type_, root_);
      case gather:
        return call(MPI_Gather, MPI_Igather, MPI_Gather_init, root_place, count_, type_, out, count_, type_, root_);
      case gatherv:
        return call(MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, root_place, mine, type_, out, rc, rd, type_, root_);
      case scatter:
        return call(MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, send_.data(), count_, type_, scattered, count_, type_,
                    root_);
      case scatterv:
        return call(MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, send_.data(), sc, sd, type_, scattered, mine, type_,
                    root_);
      case allgather:
        return call(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, any_place, count_, type_, out, count_, type_);
      case allgatherv:
        return call(MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, any_place, mine, type_, out, rc, rd, type_);
      case alltoall:
        return call(MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, any_place, count_, type_, out, count_, type_);
      case alltoallv:
        return call(MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, any_place, sc, sd, type_, out, rc, rd, type_);
      case alltoallw:
        return call(MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, any_place, sc, sd, ts, out, rc, rd, ts);
      case reduce:
        return call(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, root_place, out, count_, MPI_INT64_T, op_, root_);
      case allreduce:
        return call(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, any_place, out, count_, MPI_INT64_T, op_);
      case reduce_scatter:
        return call(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, any_place, out, rc, MPI_INT64_T,
                    op_);
      case reduce_scatter_block:
        return call(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, any_place, out,
                    count_, MPI_INT64_T, op_);
      case scan:
        return call(MPI_Scan, MPI_Iscan, MPI_Scan_init, any_place, out, count_, MPI_INT64_T, op_);
      case exscan:
        return call(MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, any_place, out, count_, MPI_INT64_T, op_);
      case kinds:
        return;
    }
  }

  Kind kind_;
  Form form_;
  Place at_;
  uint64_t seed_;
  int root_ = 0;
  int count_ = 0;
  int stride_ = 1;
  bool in_place_ = false;
  bool is_sum_ = true;
  size_t result_ends_ = SIZE_MAX;
  MPI_Op op_ = MPI_SUM;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::vector<int> counts_, send_counts_, receive_counts_, send_places_, receive_places_;
  std::vector<MPI_Datatype> types_;
  Values send_, receive_, wanted_;
};

// Completes requests in one of the ways there are, in an order of this rank's own.
void complete(std::vector<MPI_Request>& requests, std::mt19937_64& mine) {
  const auto n = static_cast<int>(requests.size());
  switch (mine() % 4) {
    case 0:
      MPI_Waitall(n, requests.data(), MPI_STATUSES_IGNORE);
      break;
    case 1:
      for (int i = 0, index = 0; i < n; ++i) MPI_Waitany(n, requests.data(), &index, MPI_STATUS_IGNORE);
      break;
    case 2:
      for (int done = 0; done == 0;) MPI_Testall(n, requests.data(), &done, MPI_STATUSES_IGNORE);
      break;
    default: {
      std::vector<size_t> order(requests.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::shuffle(order.begin(), order.end(), mine);
      for (size_t i : order) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
  }
}

// `all` draws the same on all ranks, `mine` does not.
void one_round(const std::vector<Place>& places, std::mt19937_64& all, std::mt19937_64& mine) {
  std::vector<Job> jobs;
  const size_t number = 1 + all() % 8;
  jobs.reserve(number);
  for (size_t i = 0; i < number; ++i) {
    const Place& place = places[all() % places.size()];
    const auto kind = static_cast<Kind>(all() % kinds);
    const auto form = static_cast<Form>(all() % 3);
    std::mt19937_64 details(all());  // communicators differ in size: their random numbers must not shift the rest
    jobs.emplace_back(kind, form, place, all(), details);
    jobs.back().issue();
    if (form == Form::blocking) jobs.back().check();
  }
  const uint64_t starts = all() % 3 + 1;
  for (uint64_t turn = 0; turn < starts; ++turn) {
    std::vector<Job*> under_way;
    std::vector<MPI_Request> requests;
    for (Job& job : jobs) {
      if (job.form() == Form::blocking || (job.form() == Form::nonblocking && turn > 0)) continue;
      if (job.form() == Form::persistent) {
        if (turn > 0) job.fill();
        job.start();
      }
      under_way.push_back(&job);
      requests.push_back(job.request);
    }
    complete(requests, mine);
    for (Job* job : under_way) job->check();
  }
  for (Job& job : jobs) {
    if (job.form() == Form::persistent) MPI_Request_free(&job.request);
  }
}

Place place_of(MPI_Comm comm) {
  Place place{comm, 0, 0};
  MPI_Comm_rank(comm, &place.rank);
  MPI_Comm_size(comm, &place.size);
  return place;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1;
  const int rounds = argc > 2 ? atoi(argv[2]) : 50;
  const int threads = argc > 3 ? atoi(argv[3]) : 1;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  counters_start();
  MPI_Comm_rank(MPI_COMM_WORLD, &expect::rank);
  MPI_Comm_size(MPI_COMM_WORLD, &expect::size);

  std::vector<std::vector<Place>> places(static_cast<size_t>(threads));
  for (auto& of_thread : places) {
    MPI_Comm same, reversed, halves;
    MPI_Comm_dup(MPI_COMM_WORLD, &same);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -expect::rank, &reversed);
    MPI_Comm_split(MPI_COMM_WORLD, expect::rank % 2, 0, &halves);
    of_thread = {place_of(same), place_of(reversed), place_of(halves)};
  }
  auto run = [&](size_t thread) {
    std::mt19937_64 all(seed * 1000 + thread);
    std::mt19937_64 mine(seed * 1000 + thread + static_cast<uint64_t>(expect::rank + 1) * 7919);
    for (int i = 0; i < rounds; ++i) one_round(places[thread], all, mine);
  };
  std::vector<std::thread> team;
  for (int t = 1; t < threads; ++t) team.emplace_back(run, static_cast<size_t>(t));
  run(0);
  for (std::thread& t : team) t.join();
  for (auto& of_thread : places) {
    for (Place& place : of_thread) MPI_Comm_free(&place.comm);
  }
  return expect::finish();
}
