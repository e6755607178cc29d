// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Collective operations on small data of an intercommunicator, many of them under way: also beside copies that are
// being made of it, and persistent ones that are started again. In each operation some ranks wait for messages of the
// other side between steps within their own side, and some do not, so ranks come to those steps in different orders.
#include <algorithm>
#include <array>
#include <vector>

#include "expect.hpp"

namespace {

constexpr int count = 3;  // elements

int64_t value(int operation, int side, int of, int i) {
  return (operation + 3) * 1000003 + side * 50021 + of * 7919 + i * 13;
}

struct Sides {
  explicit Sides(int first) : side(expect::rank < first ? 0 : 1) {
    MPI_Comm_split(MPI_COMM_WORLD, side, expect::rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, side == 0 ? first : 0, 5, &inter);
    MPI_Comm_rank(inter, &me);
    MPI_Comm_remote_size(inter, &theirs);
  }
  ~Sides() {
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
  }
  Sides(const Sides&) = delete;
  Sides& operator=(const Sides&) = delete;

  int side;
  int me = 0;
  int theirs = 0;
  MPI_Comm local = MPI_COMM_NULL;
  MPI_Comm inter = MPI_COMM_NULL;
};

// By its number an allreduce, a broadcast of one side, or a barrier.
class Operation {
 public:
  Operation(const Sides& sides, MPI_Comm comm, int number) : sides_(sides), comm_(comm), number_(number) { renew(); }

  void renew() {
    const bool is_bcast = number_ % 3 == 1;
    wanted_.fill(-1);
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      send_[at] = value(number_, sides_.side, sides_.me, i);
      if (number_ % 3 == 0) {
        wanted_[at] = 0;
        for (int r = 0; r < sides_.theirs; ++r) wanted_[at] += value(number_, 1 - sides_.side, r, i);
      } else if (is_bcast && root_argument() != MPI_PROC_NULL) {
        wanted_[at] = value(number_, root_side(), 0, i);
      }
    }
    receive_.fill(-1);
    if (is_bcast && root_argument() == MPI_ROOT) receive_ = wanted_;
  }

  void issue(MPI_Request* request, bool persistent) {
    const MPI_Info info = MPI_INFO_NULL;
    if (number_ % 3 == 0 && persistent) {
      MPI_Allreduce_init(send_.data(), receive_.data(), count, MPI_INT64_T, MPI_SUM, comm_, info, request);
    } else if (number_ % 3 == 0) {
      MPI_Iallreduce(send_.data(), receive_.data(), count, MPI_INT64_T, MPI_SUM, comm_, request);
    } else if (number_ % 3 == 1 && persistent) {
      MPI_Bcast_init(receive_.data(), count, MPI_INT64_T, root_argument(), comm_, info, request);
    } else if (number_ % 3 == 1) {
      MPI_Ibcast(receive_.data(), count, MPI_INT64_T, root_argument(), comm_, request);
    } else if (persistent) {
      MPI_Barrier_init(comm_, info, request);
    } else {
      MPI_Ibarrier(comm_, request);
    }
  }

  void check(const char* when) const {
    EXPECT(receive_ == wanted_, "%s: operation %d has %lld instead of %lld", when, number_,
           static_cast<long long>(receive_[0]), static_cast<long long>(wanted_[0]));
  }

 private:
  int root_side() const { return number_ / 3 % 2; }
  int root_argument() const {
    if (root_side() != sides_.side) return 0;
    return sides_.me == 0 ? MPI_ROOT : MPI_PROC_NULL;
  }

  const Sides& sides_;
  MPI_Comm comm_;
  int number_;
  std::array<int64_t, count> send_{}, receive_{}, wanted_{};
};

using Operations = std::vector<Operation>;

Operations make(const Sides& sides, MPI_Comm comm, int operations) {
  Operations made;
  for (int n = 0; n < operations; ++n) made.emplace_back(sides, comm, n);
  return made;
}

void complete(std::vector<MPI_Request>& requests, const char* when) {
  std::vector<MPI_Status> statuses(requests.size());
  const int error = MPI_Waitall(static_cast<int>(requests.size()), requests.data(), statuses.data());
  EXPECT(error == MPI_SUCCESS, "%s: error %d", when, error);
}

// The first operations of a communicator, behind copies that its ranks agree on by messages of their own.
void beside_copies(const Sides& sides) {
  constexpr int copies = 3;
  std::vector<MPI_Comm> made(copies);
  std::vector<MPI_Request> requests(copies + 6);
  for (size_t i = 0; i < copies; ++i) MPI_Comm_idup(sides.inter, &made[i], &requests[i]);
  Operations operations = make(sides, sides.inter, 6);
  for (size_t i = 0; i < operations.size(); ++i) operations[i].issue(&requests[copies + i], false);
  complete(requests, "beside copies");
  for (const Operation& operation : operations) operation.check("beside copies");
  for (MPI_Comm& copy : made) MPI_Comm_free(&copy);
}

// Each rank begins the next ones at another time, and completes them in an order of its own.
void many(const Sides& sides) {
  Operations operations = make(sides, sides.inter, 60);
  std::vector<MPI_Request> requests(operations.size());
  for (size_t i = 0; i < operations.size(); ++i) {
    operations[i].issue(&requests[i], false);
    int flag = 0;
    if (i % 7 == static_cast<size_t>(expect::rank)) MPI_Test(&requests[i / 2], &flag, MPI_STATUS_IGNORE);
  }
  if (sides.me % 2 == 1) std::reverse(requests.begin(), requests.end());
  for (MPI_Request& request : requests) {
    const int error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(error == MPI_SUCCESS, "many: error %d", error);
  }
  for (const Operation& operation : operations) operation.check("many");
}

void persistent(const Sides& sides) {
  Operations operations = make(sides, sides.inter, 9);
  std::vector<MPI_Request> requests(operations.size());
  for (size_t i = 0; i < operations.size(); ++i) operations[i].issue(&requests[i], true);
  for (int round = 0; round < 5; ++round) {
    MPI_Startall(static_cast<int>(requests.size()), requests.data());
    complete(requests, "persistent");
    for (Operation& operation : operations) {
      operation.check("persistent");
      operation.renew();
    }
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int first = 1; first < expect::size; ++first) {
    const Sides sides(first);
    MPI_Comm_set_errhandler(sides.inter, MPI_ERRORS_RETURN);
    beside_copies(sides);
    many(sides);
    persistent(sides);
  }
  return expect::finish();
}
