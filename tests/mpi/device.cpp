// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Data in the memory of a device, for which the mock stands: the processor faults when it touches them. Each operation
// with the buffers of either side, or both, on the device.
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "on_device.hpp"

namespace {

using namespace on_device;

sigjmp_buf back;

// That the mock does what it is for.
void faults_when_touched() {
  struct sigaction old, now{};
  now.sa_handler = [](int) { siglongjmp(back, 1); };
  sigaction(SIGSEGV, &now, &old);
  volatile int* memory = static_cast<int*>(allocate(64));
  volatile bool touched = false;
  if (sigsetjmp(back, 1) == 0) {
    (void)*memory;
    touched = true;
  }
  sigaction(SIGSEGV, &old, nullptr);
  EXPECT(!touched, "%s", "the processor read memory of the device");
  MPI_Free_mem(const_cast<int*>(memory));
}

// ---- Messages: around the ring

using Exchange = std::function<void(int* out, int* in, int count, MPI_Datatype type, int next, int before)>;

void later(int (*start)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*), int* out, int* in, int count,
           MPI_Datatype type, int next, int before) {
  MPI_Request requests[2];
  MPI_Irecv(in, count, type, before, 1, MPI_COMM_WORLD, &requests[0]);
  start(out, count, type, next, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

struct Way {
  const char* name;
  Exchange run;
};
const Way ways[] = {
    {"MPI_Send",
     [](int* out, int* in, int count, MPI_Datatype type, int next, int before) {
       MPI_Request request;
       MPI_Irecv(in, count, type, before, 1, MPI_COMM_WORLD, &request);
       MPI_Send(out, count, type, next, 1, MPI_COMM_WORLD);
       MPI_Wait(&request, MPI_STATUS_IGNORE);
     }},
    {"MPI_Isend", [](int* o, int* i, int c, MPI_Datatype t, int n, int b) { later(MPI_Isend, o, i, c, t, n, b); }},
    {"MPI_Issend", [](int* o, int* i, int c, MPI_Datatype t, int n, int b) { later(MPI_Issend, o, i, c, t, n, b); }},
    {"MPI_Irsend", [](int* o, int* i, int c, MPI_Datatype t, int n, int b) { later(MPI_Irsend, o, i, c, t, n, b); }},
    {"MPI_Ibsend", [](int* o, int* i, int c, MPI_Datatype t, int n, int b) { later(MPI_Ibsend, o, i, c, t, n, b); }},
    {"MPI_Recv, unexpected",
     [](int* out, int* in, int count, MPI_Datatype type, int next, int before) {
       MPI_Request request;
       MPI_Isend(out, count, type, next, 1, MPI_COMM_WORLD, &request);
       MPI_Barrier(MPI_COMM_WORLD);
       MPI_Recv(in, count, type, before == expect::rank ? before : MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                MPI_STATUS_IGNORE);
       MPI_Wait(&request, MPI_STATUS_IGNORE);
     }},
    {"MPI_Mrecv",
     [](int* out, int* in, int count, MPI_Datatype type, int next, int before) {
       MPI_Request request;
       MPI_Message message;
       MPI_Isend(out, count, type, next, 1, MPI_COMM_WORLD, &request);
       MPI_Mprobe(before, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
       MPI_Mrecv(in, count, type, &message, MPI_STATUS_IGNORE);
       MPI_Wait(&request, MPI_STATUS_IGNORE);
     }},
    {"MPI_Sendrecv",
     [](int* out, int* in, int count, MPI_Datatype type, int next, int before) {
       MPI_Sendrecv(out, count, type, next, 1, in, count, type, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
     }},
    {"MPI_Isendrecv",
     [](int* out, int* in, int count, MPI_Datatype type, int next, int before) {
       MPI_Request request;
       MPI_Isendrecv(out, count, type, next, 1, in, count, type, before, 1, MPI_COMM_WORLD, &request);
       MPI_Wait(&request, MPI_STATUS_IGNORE);
     }},
    {"MPI_Send_init",
     [](int* out, int* in, int count, MPI_Datatype type, int next, int before) {
       MPI_Request requests[2];
       MPI_Recv_init(in, count, type, before, 1, MPI_COMM_WORLD, &requests[0]);
       MPI_Send_init(out, count, type, next, 1, MPI_COMM_WORLD, &requests[1]);
       for (int turn = 0; turn < 2; ++turn) {
         MPI_Startall(2, requests);
         MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
       }
       for (MPI_Request& request : requests) MPI_Request_free(&request);
     }},
    {"MPI_Request_free",
     [](int* out, int* in, int count, MPI_Datatype type, int next, int before) {
       MPI_Request request;
       MPI_Irecv(in, count, type, before, 1, MPI_COMM_WORLD, &request);
       MPI_Request_free(&request);
       MPI_Send(out, count, type, next, 1, MPI_COMM_WORLD);
       // Nothing tells when it is complete but the data themselves, all of them: every third integer of a layout.
       MPI_Aint first = 0, bytes = 0;
       MPI_Type_get_true_extent(type, &first, &bytes);
       const size_t step = type == MPI_INT ? 1 : 3;
       std::vector<int> seen(static_cast<size_t>(bytes) / sizeof(int) * static_cast<size_t>(count));
       for (size_t i = 0; i < seen.size();) {
         int other = 0;
         MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &other, MPI_STATUS_IGNORE);
         move(seen.data(), in, seen.size() * sizeof(int));
         for (i = 0; i < seen.size() && seen[i] != -1;) i += step;
       }
     }},
};

void messages() {
  const int next = (expect::rank + 1) % expect::size, before = (expect::rank + expect::size - 1) % expect::size;
  for (const int count : {1, 2, 100, 5000, 40000, 300000}) {
    for (const Where from : places) {
      for (const Where to : places) {
        for (const Way& way : ways) {
          Data out(from, numbered(static_cast<size_t>(count), expect::rank * 1000));
          Data in(to, std::vector<int>(static_cast<size_t>(count), -1));
          way.run(out.get(), in.get(), count, MPI_INT, next, before);
          expect_same(way.name, in.values(), numbered(static_cast<size_t>(count), before * 1000));
        }
        Data both(to, numbered(static_cast<size_t>(count), expect::rank));
        MPI_Sendrecv_replace(both.get(), count, MPI_INT, next, 1, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect_same("MPI_Sendrecv_replace", both.values(), numbered(static_cast<size_t>(count), before));
      }
    }
  }
}

// Every third integer is data, the others stay as they are.
void gaps() {
  const int next = (expect::rank + 1) % expect::size, before = (expect::rank + expect::size - 1) % expect::size;
  for (const int count : {1, 7, 3000, 60000}) {
    MPI_Datatype type;
    MPI_Type_vector(count, 1, 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    const size_t all = static_cast<size_t>(count) * 3;
    for (const Way& way : ways) {
      Data out(Where::device, numbered(all, expect::rank * 1000));
      Data in(Where::device, std::vector<int>(all, -1));
      way.run(out.get(), in.get(), 1, type, next, before);
      std::vector<int> wanted = numbered(all, before * 1000);
      for (size_t i = 0; i < all; ++i) wanted[i] = i % 3 == 0 ? wanted[i] : -1;
      expect_same(way.name, in.values(), wanted);
    }
    MPI_Type_free(&type);
  }
}

// The buffer of buffered sends may lie there, too.
void attached_buffer() {
  constexpr int size = 4096;
  void* memory = on_device::allocate(size);
  MPI_Comm_attach_buffer(MPI_COMM_SELF, memory, size);
  Data out(Where::device, numbered(100, 7)), in(Where::device, std::vector<int>(100, -1));
  MPI_Request request;
  MPI_Irecv(in.get(), 100, MPI_INT, 0, 5, MPI_COMM_SELF, &request);
  MPI_Bsend(out.get(), 100, MPI_INT, 0, 5, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_same("MPI_Bsend", in.values(), numbered(100, 7));
  void* detached = nullptr;
  int bytes = 0;
  MPI_Comm_detach_buffer(MPI_COMM_SELF, &detached, &bytes);
  EXPECT(detached == memory && bytes == size, "%p of %d bytes was detached", detached, bytes);
  MPI_Free_mem(memory);
}

void truncation() {
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  Data out(Where::device, numbered(100, 0)), in(Where::device, std::vector<int>(100, -1));
  MPI_Request request;
  MPI_Isend(out.get(), 100, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
  EXPECT_CLASS(MPI_Recv(in.get(), 40, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 40; i < 100; ++i) EXPECT(in.values()[static_cast<size_t>(i)] == -1, "beyond the buffer, at %d", i);
}

void cancelled() {
  Data in(Where::device, std::vector<int>(10, -1));
  MPI_Request request;
  MPI_Irecv(in.get(), 10, MPI_INT, 0, 77, MPI_COMM_SELF, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_same("MPI_Cancel", in.values(), std::vector<int>(10, -1));
}

// ---- Collective operations: each against the same with data of the host

struct Collective {
  const char* name;
  // Runs it with `n` integers for each rank; `out` and `in` have n for each rank.
  std::function<void(int* out, int* in, int n)> run;
};

template <class Start>
void complete(Start&& start) {
  MPI_Request request;
  start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

template <class Describe>
void twice(Describe&& describe) {
  MPI_Request request;
  describe(&request);
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

// For all ranks: counts that differ, with a gap behind each block.
struct Uneven {
  explicit Uneven(int n) {
    for (int r = 0; r < expect::size; ++r) {
      counts.push_back(r % 2 == 0 ? n - n / 2 : n / 2);
      places.push_back(r * n);
      places_in_bytes.push_back(r * n * static_cast<int>(sizeof(int)));
      types.push_back(MPI_INT);
    }
  }
  std::vector<int> counts, places, places_in_bytes;
  std::vector<MPI_Datatype> types;
};

#define WORLD MPI_COMM_WORLD
const Collective collectives[] = {
    {"MPI_Bcast", [](int*, int* in, int n) { MPI_Bcast(in, n, MPI_INT, expect::size - 1, WORLD); }},
    {"MPI_Ibcast", [](int*, int* in, int n) { complete([&](auto r) { MPI_Ibcast(in, n, MPI_INT, 0, WORLD, r); }); }},
    {"MPI_Gather", [](int* out, int* in, int n) { MPI_Gather(out, n, MPI_INT, in, n, MPI_INT, 0, WORLD); }},
    {"MPI_Gatherv",
     [](int* out, int* in, int n) {
       const Uneven u(n);
       MPI_Gatherv(out, u.counts[static_cast<size_t>(expect::rank)], MPI_INT, in, u.counts.data(), u.places.data(),
                   MPI_INT, 0, WORLD);
     }},
    {"MPI_Scatter", [](int* out, int* in, int n) { MPI_Scatter(out, n, MPI_INT, in, n, MPI_INT, 0, WORLD); }},
    {"MPI_Scatterv",
     [](int* out, int* in, int n) {
       const Uneven u(n);
       MPI_Scatterv(out, u.counts.data(), u.places.data(), MPI_INT, in, u.counts[static_cast<size_t>(expect::rank)],
                    MPI_INT, 0, WORLD);
     }},
    {"MPI_Allgather", [](int* out, int* in, int n) { MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, WORLD); }},
    {"MPI_Allgather, in place",
     [](int*, int* in, int n) { MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, n, MPI_INT, WORLD); }},
    {"MPI_Allgatherv",
     [](int* out, int* in, int n) {
       const Uneven u(n);
       MPI_Allgatherv(out, u.counts[static_cast<size_t>(expect::rank)], MPI_INT, in, u.counts.data(), u.places.data(),
                      MPI_INT, WORLD);
     }},
    {"MPI_Alltoall", [](int* out, int* in, int n) { MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, WORLD); }},
    {"MPI_Alltoall, in place",
     [](int*, int* in, int n) { MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, n, MPI_INT, WORLD); }},
    {"MPI_Alltoallv",
     [](int* out, int* in, int n) {
       const Uneven u(n);
       const std::vector<int> same(static_cast<size_t>(expect::size), n / 2);
       MPI_Alltoallv(out, same.data(), u.places.data(), MPI_INT, in, same.data(), u.places.data(), MPI_INT, WORLD);
     }},
    {"MPI_Alltoallw",
     [](int* out, int* in, int n) {
       const Uneven u(n);
       const std::vector<int> same(static_cast<size_t>(expect::size), n / 2);
       MPI_Alltoallw(out, same.data(), u.places_in_bytes.data(), u.types.data(), in, same.data(),
                     u.places_in_bytes.data(), u.types.data(), WORLD);
     }},
    {"MPI_Ialltoall",
     [](int* out, int* in, int n) {
       complete([&](auto r) { MPI_Ialltoall(out, n, MPI_INT, in, n, MPI_INT, WORLD, r); });
     }},
    {"MPI_Alltoall_init",
     [](int* out, int* in, int n) {
       twice([&](auto r) { MPI_Alltoall_init(out, n, MPI_INT, in, n, MPI_INT, WORLD, MPI_INFO_NULL, r); });
     }},
    {"MPI_Reduce", [](int* out, int* in, int n) { MPI_Reduce(out, in, n, MPI_INT, MPI_SUM, 0, WORLD); }},
    {"MPI_Reduce, in place",
     [](int* out, int* in, int n) {
       MPI_Reduce(expect::rank == 0 ? MPI_IN_PLACE : out, in, n, MPI_INT, MPI_SUM, 0, WORLD);
     }},
    {"MPI_Allreduce", [](int* out, int* in, int n) { MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, WORLD); }},
    {"MPI_Allreduce, in place",
     [](int*, int* in, int n) { MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_INT, MPI_MAX, WORLD); }},
    {"MPI_Iallreduce",
     [](int* out, int* in, int n) {
       complete([&](auto r) { MPI_Iallreduce(out, in, n, MPI_INT, MPI_SUM, WORLD, r); });
     }},
    {"MPI_Allreduce_init",
     [](int* out, int* in, int n) {
       twice([&](auto r) { MPI_Allreduce_init(out, in, n, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, r); });
     }},
    {"MPI_Scan", [](int* out, int* in, int n) { MPI_Scan(out, in, n, MPI_INT, MPI_SUM, WORLD); }},
    {"MPI_Exscan", [](int* out, int* in, int n) { MPI_Exscan(out, in, n, MPI_INT, MPI_SUM, WORLD); }},
    {"MPI_Reduce_scatter_block",
     [](int* out, int* in, int n) { MPI_Reduce_scatter_block(out, in, n, MPI_INT, MPI_SUM, WORLD); }},
    {"MPI_Reduce_scatter",
     [](int* out, int* in, int n) { MPI_Reduce_scatter(out, in, Uneven(n).counts.data(), MPI_INT, MPI_SUM, WORLD); }},
    {"MPI_Reduce_scatter, in place",
     [](int*, int* in, int n) {
       MPI_Reduce_scatter(MPI_IN_PLACE, in, Uneven(n).counts.data(), MPI_INT, MPI_SUM, WORLD);
     }},
    {"MPI_Reduce_local", [](int* out, int* in, int n) { MPI_Reduce_local(out, in, n, MPI_INT, MPI_SUM); }},
};

void collective_operations() {
  for (const int n : {1, 10, 3000, 50000}) {
    const size_t all = static_cast<size_t>(n * expect::size);
    for (const Collective& collective : collectives) {
      Data out(Where::host, numbered(all, expect::rank * 1000)), in(Where::host, numbered(all, expect::rank * 7 + 1));
      collective.run(out.get(), in.get(), n);
      for (const Where from : places) {
        for (const Where to : places) {
          if (from == Where::host && to == Where::host) continue;
          Data device_out(from, numbered(all, expect::rank * 1000)), device_in(to, numbered(all, expect::rank * 7 + 1));
          collective.run(device_out.get(), device_in.get(), n);
          expect_same(collective.name, device_in.values(), in.values());
          expect_same(collective.name, device_out.values(), numbered(all, expect::rank * 1000));
        }
      }
    }
  }
}

// A device that is not in use has no memory.
void another_device() {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "weft_mem_device", "abacus");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  void* memory = nullptr;
  EXPECT_CLASS(MPI_Alloc_mem(8, info, &memory), MPI_ERR_INFO_VALUE);
  MPI_Info_free(&info);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  if (argc > 1) driver = argv[1];
  std::vector<char> attached(4 << 20);
  MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size()));
  faults_when_touched();
  messages();
  gaps();
  attached_buffer();
  truncation();
  cancelled();
  collective_operations();
  another_device();
  void* old = nullptr;
  int size = 0;
  MPI_Buffer_detach(&old, &size);
  return expect::finish();
}
