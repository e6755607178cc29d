// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Large messages of layouts with gaps, by whatever path: every combination of layouts at both ends, receives posted
// before and after, receives into smaller buffers. Each rank sends to the next.
#include <cstdint>
#include <vector>

#include "expect.hpp"

namespace {

// `count` blocks of `block` longs, `stride` longs apart; contiguous when they are equal.
struct Shape {
  const char* name;
  int block;
  int stride;
};

const Shape shapes[] = {{"contiguous", 1, 1}, {"single", 1, 3}, {"rows", 128, 200}, {"plates", 8192, 9000}};

struct Side {
  MPI_Datatype type;
  std::vector<int64_t> buffer;
  int64_t longs;
  const Shape* shape;

  Side(const Shape& of, int64_t data) : longs(data), shape(&of) {
    const int64_t blocks = (data + of.block - 1) / of.block;
    MPI_Datatype whole, rest;
    MPI_Type_vector(static_cast<int>(data / of.block), of.block, of.stride, MPI_INT64_T, &whole);
    MPI_Type_contiguous(static_cast<int>(data % of.block), MPI_INT64_T, &rest);
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, static_cast<MPI_Aint>(data / of.block * of.stride * 8)};
    const MPI_Datatype types[] = {whole, rest};
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&whole);
    MPI_Type_free(&rest);
    buffer.assign(static_cast<size_t>(blocks * of.stride), -1);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  ~Side() { MPI_Type_free(&type); }

  int64_t& operator[](int64_t i) {
    return buffer[static_cast<size_t>(i / shape->block * shape->stride + i % shape->block)];
  }

  // The first `filled` elements must count from `seed` on; the gaps and the rest must be as they were.
  void expect(int64_t filled, int64_t seed, const char* what) {
    for (int64_t i = 0; i < longs; ++i) {
      const int64_t wanted = i < filled ? seed + i : -1;
      EXPECT((*this)[i] == wanted, "%s, %s: element %lld is %lld, not %lld", what, shape->name,
             static_cast<long long>(i), static_cast<long long>((*this)[i]), static_cast<long long>(wanted));
      if ((*this)[i] != wanted) return;
      (*this)[i] = -1;
    }
    for (int64_t value : buffer) EXPECT(value == -1, "%s, %s: a gap was written", what, shape->name);
  }
};

void exchange(const Shape& out_shape, const Shape& in_shape, int64_t longs, int64_t room, bool posted) {
  const int next = (expect::rank + 1) % expect::size;
  const int previous = (expect::rank + expect::size - 1) % expect::size;
  Side out(out_shape, longs);
  Side in(in_shape, room);
  for (int64_t i = 0; i < longs; ++i) out[i] = 1000000 * expect::rank + i;
  MPI_Request requests[2];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (posted) MPI_Irecv(in.buffer.data(), 1, in.type, previous, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out.buffer.data(), 1, out.type, next, 1, MPI_COMM_WORLD, &requests[1]);
  if (!posted) {
    MPI_Probe(previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(in.buffer.data(), 1, in.type, previous, 1, MPI_COMM_WORLD, &requests[0]);
  }
  MPI_Status status;
  EXPECT_CLASS(MPI_Wait(&requests[0], &status), room < longs ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  const int64_t filled = longs < room ? longs : room;
  int elements = 0;
  MPI_Get_elements(&status, in.type, &elements);
  EXPECT(elements == filled, "%s to %s: %d elements, not %lld", out_shape.name, in_shape.name, elements,
         static_cast<long long>(filled));
  in.expect(filled, 1000000 * previous, out_shape.name);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  for (const Shape& out : shapes) {
    for (const Shape& in : shapes) {
      for (int64_t longs : {1500, 6001, 100003}) {
        exchange(out, in, longs, longs, true);
        exchange(out, in, longs, longs, false);
        exchange(out, in, longs, longs + 777, true);
        exchange(out, in, longs, longs - 777, true);
      }
    }
  }
  return expect::finish();
}
