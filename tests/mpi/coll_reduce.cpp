// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Reductions and scans, against folds computed by each rank itself: operations, types, a user's operation that does not
// commute, types with gaps, in place, all roots.
#include <algorithm>
#include <cstring>
#include <vector>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

// Composition of affine functions modulo a prime: associative, does not commute.
struct Affine {
  int factor;
  int summand;
  bool operator==(const Affine&) const = default;
};
constexpr int prime = 10007;

// First a, then b.
Affine then(Affine a, Affine b) {
  return {a.factor * b.factor % prime, (a.summand * b.factor + b.summand) % prime};
}

Affine affine(int r, int i) {
  return {2 + (r * 31 + i) % 1000, 1 + (r * 17 + 3 * i) % 1000};
}

int calls_with_type = 0;
MPI_Datatype affine_type;

void compose(void* in, void* inout, int* length, MPI_Datatype* type) {
  calls_with_type += *type == affine_type;
  auto* a = static_cast<Affine*>(in);
  auto* b = static_cast<Affine*>(inout);
  for (int i = 0; i < *length; ++i) b[i] = then(a[i], b[i]);
}

void compose_wide(void* in, void* inout, MPI_Count* length, MPI_Datatype*) {
  auto* a = static_cast<Affine*>(in);
  auto* b = static_cast<Affine*>(inout);
  for (MPI_Count i = 0; i < *length; ++i) b[i] = then(a[i], b[i]);
}

// A value that ranks low..high give together.
Affine folded(int low, int high, int i) {
  Affine result = affine(low, i);
  for (int r = low + 1; r <= high; ++r) result = then(result, affine(r, i));
  return result;
}

std::vector<Affine> mine(int count) {
  std::vector<Affine> v(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) v[static_cast<size_t>(i)] = affine(rank, i);
  return v;
}

int wrong(const std::vector<Affine>& v, int first, int low, int high) {
  int bad = 0;
  for (size_t i = 0; i < v.size(); ++i) bad += !(v[i] == folded(low, high, first + static_cast<int>(i)));
  return bad;
}

void order_is_kept(MPI_Op op, int count, bool in_place) {
  const std::vector<Affine> data = mine(count);
  const auto send = [&](std::vector<Affine>& out) -> const void* {
    if (!in_place) return data.data();
    out = data;
    return MPI_IN_PLACE;
  };
  std::vector<Affine> out(data.size());
  const void* from = send(out);
  MPI_Allreduce(from, out.data(), count, affine_type, op, MPI_COMM_WORLD);
  EXPECT(wrong(out, 0, 0, size - 1) == 0, "allreduce of %d, %d wrong", count, wrong(out, 0, 0, size - 1));
  for (int root = 0; root < size; ++root) {
    out.assign(data.size(), {0, 0});
    from = rank == root ? send(out) : data.data();
    MPI_Reduce(from, out.data(), count, affine_type, op, root, MPI_COMM_WORLD);
    if (rank == root) EXPECT(wrong(out, 0, 0, size - 1) == 0, "reduce of %d to %d", count, root);
  }
  out.assign(data.size(), {0, 0});
  from = send(out);
  MPI_Scan(from, out.data(), count, affine_type, op, MPI_COMM_WORLD);
  EXPECT(wrong(out, 0, 0, rank) == 0, "scan of %d", count);
  out.assign(data.size(), {0, 0});
  from = send(out);
  MPI_Exscan(from, out.data(), count, affine_type, op, MPI_COMM_WORLD);
  if (rank > 0) EXPECT(wrong(out, 0, 0, rank - 1) == 0, "exscan of %d", count);
}

void reduce_scatter_keeps_order(MPI_Op op, bool in_place) {
  std::vector<int> counts;
  int total = 0, first = 0;
  for (int r = 0; r < size; ++r) {
    if (r == rank) first = total;
    counts.push_back(r % 3 == 1 ? 0 : r + 2);
    total += counts.back();
  }
  std::vector<Affine> data = mine(total);
  std::vector<Affine> out(static_cast<size_t>(counts[static_cast<size_t>(rank)]) + 1);
  Affine* to = in_place ? data.data() : out.data();
  MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : data.data(), to, counts.data(), affine_type, op, MPI_COMM_WORLD);
  std::vector<Affine> got(to, to + counts[static_cast<size_t>(rank)]);
  EXPECT(wrong(got, first, 0, size - 1) == 0, "reduce_scatter in place %d", in_place);
  constexpr int block = 5;
  data = mine(block * size);
  out.assign(block, {0, 0});
  to = in_place ? data.data() : out.data();
  MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : data.data(), to, block, affine_type, op, MPI_COMM_WORLD);
  got.assign(to, to + block);
  EXPECT(wrong(got, rank * block, 0, size - 1) == 0, "reduce_scatter_block in place %d", in_place);
}

// A predefined operation on a type, with values that keep sums and products exact.
template <class T, class Fold>
void predefined(MPI_Datatype type, MPI_Op op, const char* name, Fold fold) {
  for (int count : {1, 2, 17, 3000, 40000}) {
    std::vector<T> in(static_cast<size_t>(count)), out(in.size()), wanted(in.size());
    for (int i = 0; i < count; ++i) {
      auto at = [&](int r) { return static_cast<T>((r * 5 + i * 3) % 4 + (r + i) % 2); };
      T result = at(0);
      for (int r = 1; r < size; ++r) result = static_cast<T>(fold(result, at(r)));
      in[static_cast<size_t>(i)] = at(rank);
      wanted[static_cast<size_t>(i)] = result;
    }
    MPI_Allreduce(in.data(), out.data(), count, type, op, MPI_COMM_WORLD);
    EXPECT(out == wanted, "%s of %d, type of %zu bytes", name, count, sizeof(T));
    const int root = count % size;
    std::fill(out.begin(), out.end(), T());
    MPI_Reduce(in.data(), out.data(), count, type, op, root, MPI_COMM_WORLD);
    if (rank == root) EXPECT(out == wanted, "reduce %s of %d, type of %zu bytes", name, count, sizeof(T));
  }
}

template <class T>
void arithmetic(MPI_Datatype type) {
  predefined<T>(type, MPI_SUM, "sum", [](T a, T b) { return a + b; });
  predefined<T>(type, MPI_PROD, "prod", [](T a, T b) { return a * b; });
  predefined<T>(type, MPI_MIN, "min", [](T a, T b) { return std::min(a, b); });
  predefined<T>(type, MPI_MAX, "max", [](T a, T b) { return std::max(a, b); });
}

template <class T>
void integers(MPI_Datatype type) {
  arithmetic<T>(type);
  predefined<T>(type, MPI_BAND, "band", [](T a, T b) { return a & b; });
  predefined<T>(type, MPI_BOR, "bor", [](T a, T b) { return a | b; });
  predefined<T>(type, MPI_BXOR, "bxor", [](T a, T b) { return a ^ b; });
  predefined<T>(type, MPI_LAND, "land", [](T a, T b) { return a && b; });
  predefined<T>(type, MPI_LOR, "lor", [](T a, T b) { return a || b; });
  predefined<T>(type, MPI_LXOR, "lxor", [](T a, T b) { return !a != !b; });
}

void locations() {
  struct Pair {
    double value;
    int index;
  };
  Pair in[3], out[3];
  memset(in, 0, sizeof in);
  for (int i = 0; i < 3; ++i) {
    in[i].value = (rank * 7 + i * 2) % 5;
    in[i].index = rank;
  }
  for (bool largest : {false, true}) {
    MPI_Allreduce(in, out, 3, MPI_DOUBLE_INT, largest ? MPI_MAXLOC : MPI_MINLOC, MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) {
      int best = 0;
      auto at = [&](int r) { return (r * 7 + i * 2) % 5; };
      for (int r = 1; r < size; ++r) {
        if (largest ? at(r) > at(best) : at(r) < at(best)) best = r;
      }
      EXPECT(out[i].value == at(best) && out[i].index == best, "element %d is %g of %d", i, out[i].value, out[i].index);
    }
  }
}

// Rounding differs with the order of summation: all ranks must have used the same.
void same_bits_everywhere() {
  std::vector<double> in(1001), out(in.size()), first(in.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = 1.0 / (static_cast<double>(i) + rank * 3.7 + 1.1);
  MPI_Allreduce(in.data(), out.data(), 1001, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  first = out;
  MPI_Bcast(first.data(), 1001, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  EXPECT(memcmp(first.data(), out.data(), out.size() * sizeof(double)) == 0, "sums differ from those of rank 0");
}

void add_gapped(void* in, void* inout, int* length, MPI_Datatype*) {
  for (int i = 0; i < *length; ++i) {
    for (int k : {0, 2}) static_cast<int*>(inout)[i * 4 + k] += static_cast<int*>(in)[i * 4 + k];
  }
}

// Two ints with a gap, and one behind: the bytes between the data stay as they are.
void gaps_stay() {
  MPI_Datatype vector, type;
  MPI_Op op;
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 4 * sizeof(int), &type);
  MPI_Type_commit(&type);
  MPI_Op_create(add_gapped, 1, &op);
  for (int count : {1, 100, 5000}) {
    std::vector<int> in(static_cast<size_t>(count) * 4, 1000), out(in.size(), -5);
    for (size_t i = 0; i < in.size(); i += 2) in[i] = rank + static_cast<int>(i);
    MPI_Allreduce(in.data(), out.data(), count, type, op, MPI_COMM_WORLD);
    int bad = 0;
    for (size_t i = 0; i < out.size(); ++i) {
      bad += out[i] != (i % 2 == 1 ? -5 : size * (size - 1) / 2 + size * static_cast<int>(i));
    }
    EXPECT(bad == 0, "%d of %zu ints wrong", bad, out.size());
  }
  MPI_Op_free(&op);
  EXPECT(op == MPI_OP_NULL, "the handle stays");
  MPI_Type_free(&type);
  MPI_Type_free(&vector);
}

void local(MPI_Op affine_op) {
  int a[3] = {1, 5, 9}, b[3] = {4, 2, 9};
  MPI_Reduce_local(a, b, 3, MPI_INT, MPI_MAX);
  EXPECT(b[0] == 4 && b[1] == 5 && b[2] == 9, "%d %d %d", b[0], b[1], b[2]);
  Affine x = affine(1, 1), y = affine(2, 2);
  const Affine wanted = then(x, y);
  MPI_Reduce_local(&x, &y, 1, affine_type, affine_op);
  EXPECT(y == wanted, "the operands changed sides");
  int commutes = -1;
  MPI_Op_commutative(affine_op, &commutes);
  EXPECT(commutes == 0, "%d", commutes);
  MPI_Op_commutative(MPI_SUM, &commutes);
  EXPECT(commutes == 1, "%d", commutes);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Type_contiguous(2, MPI_INT, &affine_type);
  MPI_Type_commit(&affine_type);
  MPI_Op ordered, ordered_wide;
  MPI_Op_create(compose, 0, &ordered);
  MPI_Op_create_c(compose_wide, 0, &ordered_wide);
  for (bool in_place : {false, true}) {
    for (int count : {0, 1, 7, 2000, 30000}) order_is_kept(ordered, count, in_place);
    order_is_kept(ordered_wide, 9, in_place);
    reduce_scatter_keeps_order(ordered, in_place);
  }
  EXPECT(size == 1 || calls_with_type > 0, "the function was not told the datatype");
  integers<int>(MPI_INT);
  integers<unsigned char>(MPI_UNSIGNED_CHAR);
  integers<long long>(MPI_LONG_LONG);
  arithmetic<float>(MPI_FLOAT);
  arithmetic<double>(MPI_DOUBLE);
  arithmetic<long double>(MPI_LONG_DOUBLE);
  locations();
  same_bits_everywhere();
  gaps_stay();
  local(ordered);
  MPI_Op_free(&ordered);
  MPI_Op_free(&ordered_wide);
  MPI_Type_free(&affine_type);
  return expect::finish();
}
