// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Where the elements of a datatype lie: every constructor of blocks, structs and parts of arrays against places worked
// out one by one, by packing a buffer that numbers its ints, by unpacking, and in a message.
#include <cstddef>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "expect.hpp"

namespace {

using Places = std::vector<int>;  // of the ints of an element, in their order

constexpr int before = 64;  // ints in front of the buffer that may be addressed

struct Bounds {
  MPI_Count size, lb, extent, true_lb, true_extent;
  bool operator==(const Bounds&) const = default;
};

Bounds bounds_of(MPI_Datatype type) {
  Bounds found{};
  MPI_Type_size_c(type, &found.size);
  MPI_Type_get_extent_c(type, &found.lb, &found.extent);
  MPI_Type_get_true_extent_c(type, &found.true_lb, &found.true_extent);
  return found;
}

// One element of the type, committed here and freed, is the ints at these places.
void expect_places(MPI_Datatype type, const Places& wanted, int room, const std::string& what) {
  MPI_Type_commit(&type);
  std::vector<int> buffer(static_cast<size_t>(before + room));
  std::iota(buffer.begin(), buffer.end(), -before);
  const int bytes = static_cast<int>(wanted.size() * sizeof(int));
  Places packed(wanted.size() + 1, -999);
  int position = 0, size = -1;
  MPI_Type_size(type, &size);
  EXPECT(size == bytes, "%s: size %d, not %d", what.c_str(), size, bytes);
  if (size == bytes) {
    MPI_Pack(&buffer[before], 1, type, packed.data(), bytes, &position, MPI_COMM_SELF);
    packed.pop_back();
    EXPECT(packed == wanted, "%s: other elements, or in another order", what.c_str());

    std::vector<int> fresh(buffer.size(), -1), expected(buffer.size(), -1);
    for (int place : wanted) expected[static_cast<size_t>(before + place)] = place;
    position = 0;
    MPI_Unpack(packed.data(), bytes, &position, &fresh[before], 1, type, MPI_COMM_SELF);
    EXPECT(fresh == expected, "%s: unpacking writes elsewhere", what.c_str());

    std::vector<int> received(buffer.size(), -1);
    MPI_Sendrecv(&buffer[before], 1, type, 0, 0, &received[before], 1, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    EXPECT(received == expected, "%s: a message writes elsewhere", what.c_str());
  }
  MPI_Type_free(&type);
}

void expect_bounds(MPI_Datatype type, const Bounds& wanted, const char* what) {
  const Bounds found = bounds_of(type);
  EXPECT(found == wanted, "%s: size %lld, lower bound %lld, extent %lld, true %lld, %lld", what,
         static_cast<long long>(found.size), static_cast<long long>(found.lb), static_cast<long long>(found.extent),
         static_cast<long long>(found.true_lb), static_cast<long long>(found.true_extent));
}

void indexed() {
  const int lengths[] = {2, 0, 3, 1}, places[] = {5, 100, -4, 0};
  const MPI_Aint bytes[] = {20, 400, -16, 0};
  const MPI_Count large_lengths[] = {2, 0, 3, 1}, large_places[] = {5, 100, -4, 0}, large_bytes[] = {20, 400, -16, 0};
  const Places wanted = {5, 6, -4, -3, -2, 0}, blocks = {5, 6, -4, -3, 0, 1};
  const int block_places[] = {5, -4, 0};
  const MPI_Aint block_bytes[] = {20, -16, 0};
  const MPI_Count large_block_places[] = {5, -4, 0}, large_block_bytes[] = {20, -16, 0};
  MPI_Datatype type;
  MPI_Type_indexed(4, lengths, places, MPI_INT, &type);
  expect_bounds(type, {24, -16, 44, -16, 44}, "indexed");
  expect_places(type, wanted, 16, "indexed");
  MPI_Type_indexed_c(4, large_lengths, large_places, MPI_INT, &type);
  expect_places(type, wanted, 16, "indexed_c");
  MPI_Type_create_hindexed(4, lengths, bytes, MPI_INT, &type);
  expect_places(type, wanted, 16, "hindexed");
  MPI_Type_create_hindexed_c(4, large_lengths, large_bytes, MPI_INT, &type);
  expect_places(type, wanted, 16, "hindexed_c");
  MPI_Type_create_indexed_block(3, 2, block_places, MPI_INT, &type);
  expect_places(type, blocks, 16, "indexed_block");
  MPI_Type_create_indexed_block_c(3, 2, large_block_places, MPI_INT, &type);
  expect_places(type, blocks, 16, "indexed_block_c");
  MPI_Type_create_hindexed_block(3, 2, block_bytes, MPI_INT, &type);
  expect_places(type, blocks, 16, "hindexed_block");
  MPI_Type_create_hindexed_block_c(3, 2, large_block_bytes, MPI_INT, &type);
  expect_places(type, blocks, 16, "hindexed_block_c");
}

// Displacements of MPI_Type_indexed count extents of the old type, also of one with gaps and a resized one.
void indexed_of_derived() {
  const int lengths[] = {1, 2}, places[] = {2, 0};
  MPI_Datatype pair, wide, type;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);  // ints 0 and 2, extent of 3 ints
  MPI_Type_indexed(2, lengths, places, pair, &type);
  expect_places(type, {6, 8, 0, 2, 3, 5}, 16, "indexed of vectors");
  MPI_Type_create_resized(pair, 0, 20, &wide);
  MPI_Type_indexed(2, lengths, places, wide, &type);
  expect_places(type, {10, 12, 0, 2, 5, 7}, 16, "indexed of resized vectors");
  MPI_Type_free(&pair);
  MPI_Type_free(&wide);
}

// Bounds of structs: padded to the alignment of the basic elements unless they were set, empty blocks aside.
void struct_bounds() {
  struct Mixed {
    char letter;
    double number;
    short small;
  };
  const int ones[] = {1, 1, 1}, lengths[] = {1, 0};
  const MPI_Aint places[] = {offsetof(Mixed, letter), offsetof(Mixed, number), offsetof(Mixed, small)};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
  MPI_Datatype mixed, wide, type;
  MPI_Type_create_struct(3, ones, places, types, &mixed);
  expect_bounds(mixed, {11, 0, sizeof(Mixed), 0, 18}, "a C struct");
  const MPI_Aint far[] = {0, 1000};
  MPI_Type_create_struct(2, lengths, far, types, &type);
  expect_bounds(type, {1, 0, 1, 0, 1}, "a struct with an empty block");
  MPI_Type_free(&type);
  MPI_Type_create_resized(MPI_INT, -8, 100, &wide);
  const MPI_Datatype resized[] = {wide, MPI_DOUBLE};
  const MPI_Aint near[] = {8, 200};
  MPI_Type_create_struct(2, ones, near, resized, &type);
  expect_bounds(type, {12, 0, 100, 8, 200}, "a struct whose bounds were set");
  MPI_Type_free(&type);
  MPI_Type_create_struct(0, nullptr, nullptr, nullptr, &type);
  expect_bounds(type, {0, 0, 0, 0, 0}, "a struct of nothing");
  MPI_Type_free(&type);
  MPI_Type_free(&wide);
  MPI_Type_free(&mixed);
}

// An array of structs with gaps, from absolute addresses too, arrives as it was.
void structs() {
  struct Particle {
    int id;
    double position[3];
    char kind;
    short charge;
  };
  const int lengths[] = {1, 3, 1, 1};
  const MPI_Aint places[] = {offsetof(Particle, id), offsetof(Particle, position), offsetof(Particle, kind),
                             offsetof(Particle, charge)};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_SHORT};
  MPI_Datatype particle;
  MPI_Type_create_struct(4, lengths, places, types, &particle);
  MPI_Type_commit(&particle);
  Particle out[40], in[40];
  memset(out, 0, sizeof out);
  memset(in, 0, sizeof in);
  for (int i = 0; i < 40; ++i) {
    out[i].id = i;
    for (int k = 0; k < 3; ++k) out[i].position[k] = i + 0.25 * k;
    out[i].kind = static_cast<char>('a' + i % 26);
    out[i].charge = static_cast<short>(-i);
  }
  const int peer = (expect::rank + 1) % expect::size, other = (expect::rank + expect::size - 1) % expect::size;
  MPI_Sendrecv(out, 40, particle, peer, 0, in, 40, particle, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT(memcmp(out, in, sizeof in) == 0, "particles changed on the way to %d", peer);

  int first = 3, second[2] = {4, 5}, got[3] = {}, position = 0;
  char packed[12];
  MPI_Aint at[2];
  MPI_Get_address(&first, &at[0]);
  MPI_Get_address(second, &at[1]);
  const int counts[] = {1, 2};
  const MPI_Datatype ints[] = {MPI_INT, MPI_INT};
  MPI_Datatype absolute;
  MPI_Type_create_struct(2, counts, at, ints, &absolute);
  MPI_Type_commit(&absolute);
  MPI_Pack(MPI_BOTTOM, 1, absolute, packed, 12, &position, MPI_COMM_SELF);
  memcpy(got, packed, 12);
  EXPECT(got[0] == 3 && got[1] == 4 && got[2] == 5, "%d, %d, %d from absolute addresses", got[0], got[1], got[2]);
  MPI_Type_free(&absolute);
  MPI_Type_free(&particle);
}

struct Array {
  std::vector<int> sizes;
  int order;

  int dims() const { return static_cast<int>(sizes.size()); }
  int total() const { return std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies<>()); }
  // Indices of the element at a place in memory.
  std::vector<int> indices(int place) const {
    std::vector<int> found(sizes.size());
    for (int i = 0; i < dims(); ++i) {
      const auto dim = static_cast<size_t>(order == MPI_ORDER_FORTRAN ? i : dims() - 1 - i);
      found[dim] = place % sizes[dim];
      place /= sizes[dim];
    }
    return found;
  }
};

void subarrays() {
  const struct {
    std::vector<int> sizes, parts, starts;
  } rows[] = {{{7}, {3}, {2}},
              {{7}, {7}, {0}},
              {{4, 5}, {2, 3}, {1, 2}},
              {{4, 5}, {1, 5}, {3, 0}},
              {{4, 5}, {4, 1}, {0, 4}},
              {{3, 4, 5}, {2, 2, 3}, {1, 0, 2}},
              {{2, 3, 2, 4}, {1, 2, 2, 3}, {1, 1, 0, 1}}};
  for (const auto& row : rows) {
    for (int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
      const Array array{row.sizes, order};
      Places wanted;
      for (int place = 0; place < array.total(); ++place) {
        const std::vector<int> at = array.indices(place);
        bool inside = true;
        for (size_t i = 0; i < at.size(); ++i) {
          inside = inside && at[i] >= row.starts[i] && at[i] < row.starts[i] + row.parts[i];
        }
        if (inside) wanted.push_back(place);
      }
      const std::string what = std::to_string(array.dims()) + " dimensions, order " + std::to_string(order);
      const std::vector<MPI_Count> sizes(row.sizes.begin(), row.sizes.end()), parts(row.parts.begin(), row.parts.end()),
          starts(row.starts.begin(), row.starts.end());
      MPI_Datatype type;
      MPI_Type_create_subarray(array.dims(), row.sizes.data(), row.parts.data(), row.starts.data(), order, MPI_INT,
                               &type);
      const Bounds found = bounds_of(type);
      EXPECT(found.lb == 0 && found.extent == 4 * array.total(), "%s: extent %lld", what.c_str(),
             static_cast<long long>(found.extent));
      EXPECT(found.true_lb == 4 * wanted.front() && found.true_extent == 4 * (wanted.back() - wanted.front() + 1),
             "%s: true extent %lld", what.c_str(), static_cast<long long>(found.true_extent));
      expect_places(type, wanted, array.total(), what);
      MPI_Type_create_subarray_c(array.dims(), sizes.data(), parts.data(), starts.data(), order, MPI_INT, &type);
      expect_places(type, wanted, array.total(), what + ", large");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  indexed();
  indexed_of_derived();
  struct_bounds();
  structs();
  subarrays();
  return expect::finish();
}
