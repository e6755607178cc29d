// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Buffers of one call that share memory are an error that names both, before anything is sent. The argument is the name
// of a call that ends the job so, or "none": buffers that only lie close to each other are no error.
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <vector>

#include "error_texts.hpp"
#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

const char* wanted = nullptr;  // the only call that is made: errors are fatal

// A call in its nonblocking form, with a request, and in its blocking form, without.
using Call = std::function<int(MPI_Request*)>;

// All ranks that make the call get the error. Nobody waits, so a call that does not fail ends the program here: its
// data could not be waited for.
void expect_overlap(const char* name, const Call& call, const char* first = "sendbuf", const char* second = "recvbuf") {
  if (wanted != nullptr && strcmp(name, wanted) != 0) return;
  MPI_Request request = MPI_REQUEST_NULL;
  for (MPI_Request* form : {&request, static_cast<MPI_Request*>(nullptr)}) {
    const int error = call(wanted != nullptr ? nullptr : form);
    EXPECT(request == MPI_REQUEST_NULL, "%s: a failed call made a request", name);
    EXPECT(error == MPI_ERR_BUFFER, "%s: error %d", name, error);
    if (error != MPI_ERR_BUFFER) std::_Exit(EXIT_FAILURE);
    const std::string text = error_texts::text_of(error);
    for (const char* word : {first, second, "overlap"})
      EXPECT(error_texts::has(text, word), "%s: no \"%s\" in \"%s\"", name, word, text.c_str());
  }
}

// Arrays of a call with blocks of all ranks, one after the other from element `from` on, in elements and in bytes.
struct Arrays {
  std::vector<int> counts, places, byte_places;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;

  Arrays(int number, int count, int from, int stride) {
    for (int i = 0; i < number; ++i) {
      counts.push_back(count);
      places.push_back(from + i * stride);
      byte_places.push_back(4 * places.back());
      addresses.push_back(byte_places.back());
      types.push_back(MPI_INT);
    }
  }
};

// ---- Overlaps. `m` holds twice the blocks of all ranks, which have `n` elements each.

void reductions(int* m, int n, MPI_Comm comm) {
  int* const near = m + n - 1;
  expect_overlap("Allreduce", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Iallreduce(m, near, n, MPI_INT, MPI_SUM, comm, r)
                        : MPI_Allreduce(m, near, n, MPI_INT, MPI_SUM, comm);
  });
  expect_overlap("Allreduce", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Allreduce_init(near, m, n, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, r)
                        : MPI_Allreduce(near, m, n, MPI_INT, MPI_SUM, comm);
  });
  expect_overlap("Scan", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Iscan(m, near, n, MPI_INT, MPI_SUM, comm, r)
                        : MPI_Scan(m, near, n, MPI_INT, MPI_SUM, comm);
  });
  expect_overlap("Exscan", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Iexscan(m, near, n, MPI_INT, MPI_SUM, comm, r)
                        : MPI_Exscan(m, near, n, MPI_INT, MPI_SUM, comm);
  });
  int* const last = m + size * n - 1;  // of all that is sent
  expect_overlap("Reduce_scatter_block", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Ireduce_scatter_block(m, last, n, MPI_INT, MPI_SUM, comm, r)
                        : MPI_Reduce_scatter_block(m, last, n, MPI_INT, MPI_SUM, comm);
  });
  const Arrays all(size, n, 0, n);
  expect_overlap("Reduce_scatter", [&](MPI_Request* r) {
    return r != nullptr ? MPI_Ireduce_scatter(m, last, all.counts.data(), MPI_INT, MPI_SUM, comm, r)
                        : MPI_Reduce_scatter(m, last, all.counts.data(), MPI_INT, MPI_SUM, comm);
  });
  expect_overlap(
      "Reduce_local", [=](MPI_Request*) { return MPI_Reduce_local(m, near, n, MPI_INT, MPI_SUM); }, "inbuf",
      "inoutbuf");
}

// An element of MPI_DOUBLE_INT has a gap at its end, which holds no other element.
void pairs(int* m, int n, MPI_Comm comm) {
  int* const last = m + 4 * (n - 1);
  expect_overlap("Allreduce", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Iallreduce(m, last, n, MPI_DOUBLE_INT, MPI_MAXLOC, comm, r)
                        : MPI_Allreduce(m, last, n, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
  });
}

// Only the root calls, on a communicator that nothing else uses.
void rooted(int* m, int n) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int root = size - 1;
  const Arrays all(size, n, 0, n), apart(size, n, 1, n + 1);
  int* const last = m + size * n - 1;
  int* const first = m + n - 1;
  if (rank == root) {
    expect_overlap("Reduce", [=](MPI_Request* r) {
      return r != nullptr ? MPI_Ireduce(m, first, n, MPI_INT, MPI_SUM, root, comm, r)
                          : MPI_Reduce(m, first, n, MPI_INT, MPI_SUM, root, comm);
    });
    expect_overlap("Gather", [=](MPI_Request* r) {
      return r != nullptr ? MPI_Igather(last, n, MPI_INT, m, n, MPI_INT, root, comm, r)
                          : MPI_Gather(last, n, MPI_INT, m, n, MPI_INT, root, comm);
    });
    expect_overlap("Gatherv", [&](MPI_Request* r) {
      return r != nullptr
                 ? MPI_Igatherv(m, n, MPI_INT, first - 1, all.counts.data(), apart.places.data(), MPI_INT, root, comm,
                                r)
                 : MPI_Gatherv(m, n, MPI_INT, first - 1, all.counts.data(), apart.places.data(), MPI_INT, root, comm);
    });
    expect_overlap("Scatter", [=](MPI_Request* r) {
      return r != nullptr ? MPI_Iscatter(first, n, MPI_INT, m, n, MPI_INT, root, comm, r)
                          : MPI_Scatter(m, n, MPI_INT, last, n, MPI_INT, root, comm);
    });
    expect_overlap("Scatterv", [&](MPI_Request* r) {
      return r != nullptr
                 ? MPI_Iscatterv(m, all.counts.data(), all.places.data(), MPI_INT, last, n, MPI_INT, root, comm, r)
                 : MPI_Scatterv(m, all.counts.data(), all.places.data(), MPI_INT, last, n, MPI_INT, root, comm);
    });
  }
  MPI_Comm_free(&comm);
}

// The operations have `number` blocks.
void all_to_all(int* m, int n, int number, MPI_Comm comm) {
  int* const last = m + number * n - 1;
  const Arrays all(number, n, 0, n);
  const int* const counts = all.counts.data();
  const int* const places = all.places.data();
  const int* const bytes = all.byte_places.data();
  const MPI_Datatype* const types = all.types.data();
  expect_overlap("Allgather", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Iallgather(last, n, MPI_INT, m, n, MPI_INT, comm, r)
                        : MPI_Allgather(m + 1, n, MPI_INT, m, n, MPI_INT, comm);
  });
  expect_overlap("Allgatherv", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Iallgatherv(last, n, MPI_INT, m, counts, places, MPI_INT, comm, r)
                        : MPI_Allgatherv(m + 1, n, MPI_INT, m, counts, places, MPI_INT, comm);
  });
  expect_overlap("Alltoall", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Ialltoall(last, n, MPI_INT, m, n, MPI_INT, comm, r)
                        : MPI_Alltoall(m, n, MPI_INT, m + 1, n, MPI_INT, comm);
  });
  expect_overlap("Alltoallv", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Ialltoallv(last, counts, places, MPI_INT, m, counts, places, MPI_INT, comm, r)
                        : MPI_Alltoallv(m, counts, places, MPI_INT, m + 1, counts, places, MPI_INT, comm);
  });
  expect_overlap("Alltoallw", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Ialltoallw(last, counts, bytes, types, m, counts, bytes, types, comm, r)
                        : MPI_Alltoallw(m, counts, bytes, types, m + 1, counts, bytes, types, comm);
  });
}

void neighbourhoods(int* m, int n) {
  MPI_Comm ring = MPI_COMM_NULL;
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  MPI_Comm_set_errhandler(ring, wanted != nullptr ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_RETURN);
  int* const last = m + 2 * n - 1;
  const Arrays all(2, n, 0, n);
  const int* const counts = all.counts.data();
  const int* const places = all.places.data();
  const MPI_Aint* const bytes = all.addresses.data();
  const MPI_Datatype* const types = all.types.data();
  expect_overlap("Neighbor_allgather", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Ineighbor_allgather(last, n, MPI_INT, m, n, MPI_INT, ring, r)
                        : MPI_Neighbor_allgather(m, n, MPI_INT, m, n, MPI_INT, ring);
  });
  expect_overlap("Neighbor_allgatherv", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Ineighbor_allgatherv(last, n, MPI_INT, m, counts, places, MPI_INT, ring, r)
                        : MPI_Neighbor_allgatherv(m, n, MPI_INT, m, counts, places, MPI_INT, ring);
  });
  expect_overlap("Neighbor_alltoall", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Ineighbor_alltoall(last, n, MPI_INT, m, n, MPI_INT, ring, r)
                        : MPI_Neighbor_alltoall(m, n, MPI_INT, m, n, MPI_INT, ring);
  });
  expect_overlap("Neighbor_alltoallv", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Ineighbor_alltoallv(last, counts, places, MPI_INT, m, counts, places, MPI_INT, ring, r)
                        : MPI_Neighbor_alltoallv(m, counts, places, MPI_INT, m, counts, places, MPI_INT, ring);
  });
  expect_overlap("Neighbor_alltoallw", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Ineighbor_alltoallw(last, counts, bytes, types, m, counts, bytes, types, ring, r)
                        : MPI_Neighbor_alltoallw(m, counts, bytes, types, m, counts, bytes, types, ring);
  });
  MPI_Comm_free(&ring);
}

// The first rank is one group, the others are the other one.
void between_groups(int* m, int n) {
  MPI_Comm group = MPI_COMM_NULL, inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, rank, &group);
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 0, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  int others = 0, ours = 0;
  MPI_Comm_remote_size(inter, &others);
  MPI_Comm_size(inter, &ours);
  all_to_all(m, n, others, inter);
  expect_overlap("Allreduce", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Iallreduce(m, m + 1, n, MPI_INT, MPI_SUM, inter, r)
                        : MPI_Allreduce(m, m + 1, n, MPI_INT, MPI_SUM, inter);
  });
  int* const last = m + ours * n - 1;
  expect_overlap("Reduce_scatter_block", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Ireduce_scatter_block(m, last, n, MPI_INT, MPI_SUM, inter, r)
                        : MPI_Reduce_scatter_block(m, last, n, MPI_INT, MPI_SUM, inter);
  });
  MPI_Comm_free(&inter);
  MPI_Comm_free(&group);
}

void messages(int* m, int n, MPI_Comm comm) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  expect_overlap("Sendrecv", [=](MPI_Request* r) {
    return r != nullptr ? MPI_Isendrecv(m, n, MPI_INT, to, 0, m + n - 1, n, MPI_INT, from, 0, comm, r)
                        : MPI_Sendrecv(m, n, MPI_INT, to, 0, m, n, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE);
  });
  // A block at an address that only its datatype says.
  MPI_Aint address = 0;
  MPI_Get_address(m, &address);
  MPI_Datatype there = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(1, &n, &address, MPI_INT, &there);
  MPI_Type_commit(&there);
  expect_overlap("Sendrecv", [=](MPI_Request* r) {
    return r != nullptr
               ? MPI_Isendrecv(MPI_BOTTOM, 1, there, to, 0, m + n - 1, n, MPI_INT, from, 0, comm, r)
               : MPI_Sendrecv(m + n - 1, n, MPI_INT, to, 0, MPI_BOTTOM, 1, there, from, 0, comm, MPI_STATUS_IGNORE);
  });
  MPI_Type_free(&there);
}

// ---- Neighbours: the same calls with buffers that touch, interleave or are not looked at

#define GOOD(call) EXPECT_CLASS(call, MPI_SUCCESS)

// The elements that rank r sends in block k.
int value(int r, int k, int i) {
  return 1000000 * r + 100000 * k + i % 100000;
}

void fill(int* block, int k, int n, int stride = 1) {
  for (int i = 0; i < n; ++i) block[i * stride] = value(rank, k, i);
}

void expect_block(const char* name, const int* block, int r, int k, int n, int stride = 1) {
  for (int i = 0; i < n; ++i) {
    if (block[i * stride] == value(r, k, i)) continue;
    EXPECT(false, "%s: %d is not %d", name, block[i * stride], value(r, k, i));
    return;
  }
}

void touching(int* m, int n) {
  int* const behind = m + size * n;  // all blocks
  fill(behind, 0, n);
  GOOD(MPI_Allgather(behind, n, MPI_INT, m, n, MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < size; ++r) expect_block("allgather", m + r * n, r, 0, n);

  for (int k = 0; k < size; ++k) fill(m + k * n, k, n);
  GOOD(MPI_Alltoall(m, n, MPI_INT, behind, n, MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < size; ++r) expect_block("alltoall", behind + r * n, r, rank, n);

  std::fill(m, m + n, rank);
  GOOD(MPI_Allreduce(m, m + n, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  GOOD(MPI_Reduce_local(m, m + n, n, MPI_INT, MPI_MIN));
  EXPECT(m[n] == rank && m[2 * n - 1] == rank, "%d and %d", m[n], m[2 * n - 1]);

  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  fill(m, 3, n);
  GOOD(MPI_Sendrecv(m, n, MPI_INT, to, 0, m + n, n, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  expect_block("sendrecv", m + n, from, 3, n);
  fill(m + n, 4, n);
  GOOD(MPI_Sendrecv(m + n, n, MPI_INT, to, 0, m, n, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  expect_block("sendrecv", m, from, 4, n);
}

// Sent data in the even elements or blocks, received ones in the odd.
void interleaved(int* m, int n) {
  MPI_Datatype even = MPI_DATATYPE_NULL, all_even = MPI_DATATYPE_NULL;
  MPI_Type_vector(n, 1, 2, MPI_INT, &even);
  MPI_Type_create_resized(even, 0, 8 * MPI_Aint{n}, &all_even);
  MPI_Type_commit(&all_even);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  fill(m, 5, n, 2);
  GOOD(MPI_Sendrecv(m, 1, all_even, to, 0, m + 1, 1, all_even, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  expect_block("interleaved sendrecv", m + 1, from, 5, n, 2);
  for (int k = 0; k < size; ++k) fill(m + 2 * k * n, k, n, 2);
  GOOD(MPI_Alltoall(m, 1, all_even, m + 1, 1, all_even, MPI_COMM_WORLD));
  for (int r = 0; r < size; ++r) expect_block("interleaved alltoall", m + 1 + 2 * r * n, r, rank, n, 2);
  for (int k = 0; k < size; ++k) expect_block("interleaved alltoall, sent", m + 2 * k * n, rank, k, n, 2);
  fill(m, 6, n, 2);
  GOOD(MPI_Allgather(m, 1, all_even, m + 1, 1, all_even, MPI_COMM_WORLD));
  for (int r = 0; r < size; ++r) expect_block("interleaved allgather", m + 1 + 2 * r * n, r, 6, n, 2);
  MPI_Type_free(&all_even);
  MPI_Type_free(&even);

  const Arrays sent(size, n, 0, 2 * n), received(size, n, n, 2 * n);
  for (int k = 0; k < size; ++k) fill(m + 2 * k * n, k, n);
  GOOD(MPI_Alltoallv(m, sent.counts.data(), sent.places.data(), MPI_INT, m, received.counts.data(),
                     received.places.data(), MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < size; ++r) expect_block("alltoallv", m + (2 * r + 1) * n, r, rank, n);
  GOOD(MPI_Alltoallw(m, sent.counts.data(), sent.byte_places.data(), sent.types.data(), m, received.counts.data(),
                     received.byte_places.data(), received.types.data(), MPI_COMM_WORLD));
  for (int r = 0; r < size; ++r) expect_block("alltoallw", m + (2 * r + 1) * n, r, rank, n);
  fill(m, 7, n);
  GOOD(MPI_Allgatherv(m, n, MPI_INT, m, received.counts.data(), received.places.data(), MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < size; ++r) expect_block("allgatherv", m + (2 * r + 1) * n, r, 7, n);
}

// Nothing is sent or received, the argument means nothing on this rank, or the neighbour is none.
void not_touched(int* m, int n) {
  GOOD(MPI_Allgather(m, 0, MPI_INT, m, 0, MPI_INT, MPI_COMM_WORLD));
  GOOD(MPI_Allreduce(m + 1, m, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  const Arrays none(size, 0, 0, 0);
  GOOD(MPI_Alltoallv(m, none.counts.data(), none.places.data(), MPI_INT, m, none.counts.data(), none.places.data(),
                     MPI_INT, MPI_COMM_WORLD));
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  GOOD(MPI_Sendrecv(m, 0, MPI_INT, to, 0, m, 0, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  GOOD(MPI_Sendrecv(m + 1, 0, MPI_INT, to, 0, m, n, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  GOOD(MPI_Sendrecv(m, n, MPI_INT, MPI_PROC_NULL, 0, m, n, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));

  fill(m + n, 8, n);
  int* const all = rank == 0 ? m + 2 * n : m + n;
  GOOD(MPI_Gather(m + n, n, MPI_INT, all, n, MPI_INT, 0, MPI_COMM_WORLD));
  for (int r = 0; rank == 0 && r < size; ++r) expect_block("gather", all + r * n, r, 8, n);
  GOOD(MPI_Reduce(m + n, all, n, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD));
  if (rank == 0) expect_block("reduce", all, 0, 8, n);

  // The first rank of a line has no left neighbour, the last one no right one: block 0 of the first is not received.
  MPI_Comm line = MPI_COMM_NULL;
  const int periodic = 0;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &line);
  MPI_Comm_set_errhandler(line, MPI_ERRORS_RETURN);
  int* const mine = rank == 0 ? m : m + 2 * n;
  fill(mine, 9, n);
  GOOD(MPI_Neighbor_allgather(mine, n, MPI_INT, m, n, MPI_INT, line));
  if (rank > 0) expect_block("neighbor_allgather", m, rank - 1, 9, n);
  if (rank + 1 < size) expect_block("neighbor_allgather", m + n, rank + 1, 9, n);
  MPI_Comm_free(&line);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  const bool none = argc > 1 && strcmp(argv[1], "none") == 0;
  if (argc > 1 && !none) wanted = argv[1];
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    MPI_Comm_set_errhandler(comm, wanted != nullptr ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_RETURN);
  for (const int n : {2, 80000}) {
    std::vector<int> memory(static_cast<size_t>(n) * 8 * static_cast<size_t>(size) + 16);
    int* const m = memory.data();
    if (none) {
      touching(m, n);
      interleaved(m, n);
      not_touched(m, n);
      continue;
    }
    reductions(m, n, MPI_COMM_WORLD);
    pairs(m, n, MPI_COMM_WORLD);
    rooted(m, n);
    all_to_all(m, n, size, MPI_COMM_WORLD);
    neighbourhoods(m, n);
    if (size > 1 && wanted == nullptr) between_groups(m, n);
    messages(m, n, MPI_COMM_WORLD);
  }
  return expect::finish();
}
