// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Every communication function with a large count, with more elements than an int counts. The data are one pattern
// again and again, and all of a buffer are the same few pages: so a receiver sees the pattern there when all has come,
// and something else where a part went to a wrong place or was never copied. Reductions take MPI_BOR, which leaves the
// pattern as it is.
//
// usage: large_counts [n]: every nth of them only, which are still some of each form
#include <cstring>
#include <functional>

#include "expect.hpp"
#include "repeated.hpp"

namespace {

constexpr MPI_Count many = (MPI_Count{1} << 31) + 2 * Repeated::chunk;

// Two ranks; every call moves `many` bytes from each to each that the operation lets receive.
class Test {
 public:
  explicit Test(int every) : every_(every), out_(2 * many), in_(2 * many) {
    if (out_.get() == nullptr || in_.get() == nullptr) MPI_Abort(MPI_COMM_WORLD, 77);
    for (MPI_Count i = 0; i < Repeated::chunk; ++i) out_.get()[i] = byte_at(i);
  }

  char* out() const { return out_.get(); }
  char* in() const { return in_.get(); }

  // Runs the call, which starts a request if it is given one, and looks at what came on `receiver` (any: both ranks).
  using Call = std::function<int(MPI_Request*)>;
  void run(const char* name, int receiver, const Call& call) {
    if (calls_++ % every_ != 0) return;
    memset(in(), 0, Repeated::chunk);
    MPI_Request request = MPI_REQUEST_NULL;
    int error = call(&request);
    if (error == MPI_SUCCESS && started_) error = MPI_Start(&request);
    if (error == MPI_SUCCESS && request != MPI_REQUEST_NULL) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS && started_) error = MPI_Request_free(&request);
    EXPECT(error == MPI_SUCCESS, "%s returned %d", name, error);
    if (receiver == any || receiver == expect::rank) {
      EXPECT(memcmp(in(), out(), Repeated::chunk) == 0, "%s: other bytes", name);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void run_persistent(const char* name, int receiver, const Call& call) {
    started_ = true;
    run(name, receiver, call);
    started_ = false;
  }

  static constexpr int any = -1;

 private:
  static char byte_at(MPI_Count i) { return static_cast<char>((i * 7 + i / 4096) % 251); }

  int every_;
  int calls_ = 0;
  Repeated out_;
  Repeated in_;
  bool started_ = false;
};

void point_to_point(Test& t) {
  const MPI_Comm w = MPI_COMM_WORLD;
  const bool sends = expect::rank == 0;
  auto with_receive = [&](const char* name, auto&& send) {
    t.run(name, 1, [&](MPI_Request* r) {
      return sends ? send(r) : MPI_Recv_c(t.in(), many, MPI_BYTE, 0, 0, w, MPI_STATUS_IGNORE);
    });
  };
  with_receive("MPI_Send_c", [&](MPI_Request*) { return MPI_Send_c(t.out(), many, MPI_BYTE, 1, 0, w); });
  with_receive("MPI_Ssend_c", [&](MPI_Request*) { return MPI_Ssend_c(t.out(), many, MPI_BYTE, 1, 0, w); });
  with_receive("MPI_Isend_c", [&](MPI_Request* r) { return MPI_Isend_c(t.out(), many, MPI_BYTE, 1, 0, w, r); });
  with_receive("MPI_Issend_c", [&](MPI_Request* r) { return MPI_Issend_c(t.out(), many, MPI_BYTE, 1, 0, w, r); });
  t.run("MPI_Irecv_c", 1, [&](MPI_Request* r) {
    return sends ? MPI_Send_c(t.out(), many, MPI_BYTE, 1, 0, w) : MPI_Irecv_c(t.in(), many, MPI_BYTE, 0, 0, w, r);
  });
  t.run("MPI_Mrecv_c", 1, [&](MPI_Request*) {
    if (sends) return MPI_Send_c(t.out(), many, MPI_BYTE, 1, 0, w);
    MPI_Message message;
    MPI_Mprobe(0, 0, w, &message, MPI_STATUS_IGNORE);
    return MPI_Mrecv_c(t.in(), many, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  });
  t.run("MPI_Imrecv_c", 1, [&](MPI_Request* r) {
    if (sends) return MPI_Send_c(t.out(), many, MPI_BYTE, 1, 0, w);
    MPI_Message message;
    MPI_Mprobe(0, 0, w, &message, MPI_STATUS_IGNORE);
    return MPI_Imrecv_c(t.in(), many, MPI_BYTE, &message, r);
  });
  t.run_persistent("MPI_Send_init_c, MPI_Recv_init_c", 1, [&](MPI_Request* r) {
    return sends ? MPI_Send_init_c(t.out(), many, MPI_BYTE, 1, 0, w, r)
                 : MPI_Recv_init_c(t.in(), many, MPI_BYTE, 0, 0, w, r);
  });
  t.run_persistent("MPI_Ssend_init_c", 1, [&](MPI_Request* r) {
    return sends ? MPI_Ssend_init_c(t.out(), many, MPI_BYTE, 1, 0, w, r)
                 : MPI_Recv_init_c(t.in(), many, MPI_BYTE, 0, 0, w, r);
  });
  const int other = 1 - expect::rank;
  t.run("MPI_Sendrecv_c", Test::any, [&](MPI_Request*) {
    return MPI_Sendrecv_c(t.out(), many, MPI_BYTE, other, 0, t.in(), many, MPI_BYTE, other, 0, w, MPI_STATUS_IGNORE);
  });
  t.run("MPI_Isendrecv_c", Test::any, [&](MPI_Request* r) {
    return MPI_Isendrecv_c(t.out(), many, MPI_BYTE, other, 0, t.in(), many, MPI_BYTE, other, 0, w, r);
  });
}

// The three forms of an operation have the same arguments, but for what they begin and end with.
#define IN_ALL_FORMS(name, receiver, ...)                                                                 \
  do {                                                                                                    \
    t.run("MPI_" #name "_c", receiver, [&](MPI_Request*) { return MPI_##name##_c(__VA_ARGS__); });        \
    t.run_persistent("MPI_" #name "_init_c", receiver,                                                    \
                     [&](MPI_Request* r) { return MPI_##name##_init_c(__VA_ARGS__, MPI_INFO_NULL, r); }); \
  } while (0)
#define NOT_BLOCKING(name, receiver, ...) \
  t.run("MPI_I" #name "_c", receiver, [&](MPI_Request* r) { return MPI_I##name##_c(__VA_ARGS__, r); })

void collective(Test& t) {
  const MPI_Comm w = MPI_COMM_WORLD;
  const MPI_Count half = many / 2;
  const MPI_Count manys[] = {many, many}, halves[] = {half, half};
  const MPI_Aint places[] = {0, many};
  const MPI_Datatype bytes[] = {MPI_BYTE, MPI_BYTE};
  char* const root_only = expect::rank == 0 ? t.out() : t.in();
  IN_ALL_FORMS(Bcast, 1, root_only, many, MPI_BYTE, 0, w);
  NOT_BLOCKING(bcast, 1, root_only, many, MPI_BYTE, 0, w);
  IN_ALL_FORMS(Gather, 0, t.out(), many, MPI_BYTE, t.in(), many, MPI_BYTE, 0, w);
  NOT_BLOCKING(gather, 0, t.out(), many, MPI_BYTE, t.in(), many, MPI_BYTE, 0, w);
  IN_ALL_FORMS(Gatherv, 0, t.out(), many, MPI_BYTE, t.in(), manys, places, MPI_BYTE, 0, w);
  NOT_BLOCKING(gatherv, 0, t.out(), many, MPI_BYTE, t.in(), manys, places, MPI_BYTE, 0, w);
  IN_ALL_FORMS(Scatter, Test::any, t.out(), many, MPI_BYTE, t.in(), many, MPI_BYTE, 0, w);
  NOT_BLOCKING(scatter, Test::any, t.out(), many, MPI_BYTE, t.in(), many, MPI_BYTE, 0, w);
  IN_ALL_FORMS(Scatterv, Test::any, t.out(), manys, places, MPI_BYTE, t.in(), many, MPI_BYTE, 0, w);
  NOT_BLOCKING(scatterv, Test::any, t.out(), manys, places, MPI_BYTE, t.in(), many, MPI_BYTE, 0, w);
  IN_ALL_FORMS(Allgather, Test::any, t.out(), many, MPI_BYTE, t.in(), many, MPI_BYTE, w);
  NOT_BLOCKING(allgather, Test::any, t.out(), many, MPI_BYTE, t.in(), many, MPI_BYTE, w);
  IN_ALL_FORMS(Allgatherv, Test::any, t.out(), many, MPI_BYTE, t.in(), manys, places, MPI_BYTE, w);
  NOT_BLOCKING(allgatherv, Test::any, t.out(), many, MPI_BYTE, t.in(), manys, places, MPI_BYTE, w);
  IN_ALL_FORMS(Alltoall, Test::any, t.out(), many, MPI_BYTE, t.in(), many, MPI_BYTE, w);
  NOT_BLOCKING(alltoall, Test::any, t.out(), many, MPI_BYTE, t.in(), many, MPI_BYTE, w);
  IN_ALL_FORMS(Alltoallv, Test::any, t.out(), manys, places, MPI_BYTE, t.in(), manys, places, MPI_BYTE, w);
  NOT_BLOCKING(alltoallv, Test::any, t.out(), manys, places, MPI_BYTE, t.in(), manys, places, MPI_BYTE, w);
  IN_ALL_FORMS(Alltoallw, Test::any, t.out(), manys, places, bytes, t.in(), manys, places, bytes, w);
  NOT_BLOCKING(alltoallw, Test::any, t.out(), manys, places, bytes, t.in(), manys, places, bytes, w);
  IN_ALL_FORMS(Reduce, 0, t.out(), t.in(), many, MPI_BYTE, MPI_BOR, 0, w);
  NOT_BLOCKING(reduce, 0, t.out(), t.in(), many, MPI_BYTE, MPI_BOR, 0, w);
  IN_ALL_FORMS(Allreduce, Test::any, t.out(), t.in(), many, MPI_BYTE, MPI_BOR, w);
  NOT_BLOCKING(allreduce, Test::any, t.out(), t.in(), many, MPI_BYTE, MPI_BOR, w);
  IN_ALL_FORMS(Reduce_scatter, Test::any, t.out(), t.in(), halves, MPI_BYTE, MPI_BOR, w);
  NOT_BLOCKING(reduce_scatter, Test::any, t.out(), t.in(), halves, MPI_BYTE, MPI_BOR, w);
  IN_ALL_FORMS(Reduce_scatter_block, Test::any, t.out(), t.in(), half, MPI_BYTE, MPI_BOR, w);
  NOT_BLOCKING(reduce_scatter_block, Test::any, t.out(), t.in(), half, MPI_BYTE, MPI_BOR, w);
  IN_ALL_FORMS(Scan, Test::any, t.out(), t.in(), many, MPI_BYTE, MPI_BOR, w);
  NOT_BLOCKING(scan, Test::any, t.out(), t.in(), many, MPI_BYTE, MPI_BOR, w);
  IN_ALL_FORMS(Exscan, 1, t.out(), t.in(), many, MPI_BYTE, MPI_BOR, w);
  NOT_BLOCKING(exscan, 1, t.out(), t.in(), many, MPI_BYTE, MPI_BOR, w);
  t.run("MPI_Reduce_local_c", Test::any,
        [&](MPI_Request*) { return MPI_Reduce_local_c(t.out(), t.in(), many, MPI_BYTE, MPI_BOR); });
}

// Two ranks on a line: one neighbour each.
void neighbourhood(Test& t) {
  const int dims[] = {2}, periods[] = {0};
  MPI_Comm line;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &line);
  const MPI_Count manys[] = {many, many};
  const MPI_Aint places[] = {0, many};
  const MPI_Datatype bytes[] = {MPI_BYTE, MPI_BYTE};
  IN_ALL_FORMS(Neighbor_allgather, Test::any, t.out(), many, MPI_BYTE, t.in(), many, MPI_BYTE, line);
  NOT_BLOCKING(neighbor_allgather, Test::any, t.out(), many, MPI_BYTE, t.in(), many, MPI_BYTE, line);
  IN_ALL_FORMS(Neighbor_allgatherv, Test::any, t.out(), many, MPI_BYTE, t.in(), manys, places, MPI_BYTE, line);
  NOT_BLOCKING(neighbor_allgatherv, Test::any, t.out(), many, MPI_BYTE, t.in(), manys, places, MPI_BYTE, line);
  IN_ALL_FORMS(Neighbor_alltoall, Test::any, t.out(), many, MPI_BYTE, t.in(), many, MPI_BYTE, line);
  NOT_BLOCKING(neighbor_alltoall, Test::any, t.out(), many, MPI_BYTE, t.in(), many, MPI_BYTE, line);
  IN_ALL_FORMS(Neighbor_alltoallv, Test::any, t.out(), manys, places, MPI_BYTE, t.in(), manys, places, MPI_BYTE, line);
  NOT_BLOCKING(neighbor_alltoallv, Test::any, t.out(), manys, places, MPI_BYTE, t.in(), manys, places, MPI_BYTE, line);
  IN_ALL_FORMS(Neighbor_alltoallw, Test::any, t.out(), manys, places, bytes, t.in(), manys, places, bytes, line);
  NOT_BLOCKING(neighbor_alltoallw, Test::any, t.out(), manys, places, bytes, t.in(), manys, places, bytes, line);
  MPI_Comm_free(&line);
}

void packing(Test& t) {
  t.run("MPI_Pack_c, MPI_Unpack_c", Test::any, [&](MPI_Request*) {
    MPI_Count size = 0, at = 0;
    MPI_Pack_size_c(many, MPI_BYTE, MPI_COMM_WORLD, &size);
    EXPECT(size >= many, "MPI_Pack_size_c says %lld", static_cast<long long>(size));
    Repeated packed(size);
    MPI_Pack_c(t.out(), many, MPI_BYTE, packed.get(), size, &at, MPI_COMM_WORLD);
    EXPECT(at == many, "packed %lld bytes", static_cast<long long>(at));
    at = 0;
    return MPI_Unpack_c(packed.get(), size, &at, t.in(), many, MPI_BYTE, MPI_COMM_WORLD);
  });
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  if (sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE) < MPI_Count{14} << 30) {
    if (expect::rank == 0) printf("not enough memory free: reductions of 2 GiB need up to 12 GiB\n");
    MPI_Finalize();
    return 77;
  }
  Test test(argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : 1);
  point_to_point(test);
  collective(test);
  neighbourhood(test);
  packing(test);
  return expect::finish();
}
