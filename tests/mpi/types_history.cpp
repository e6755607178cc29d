// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// How a datatype was made: envelope and contents of every constructor, narrow and large; the datatypes that contents
// name are handles of their own.
#include <vector>

#include "expect.hpp"

namespace {

struct History {
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Count> large;
  std::vector<MPI_Datatype> types;
  int combiner = -1;
  bool operator==(const History&) const = default;
};

History history_of(MPI_Datatype type) {
  History found;
  MPI_Count integers = 0, addresses = 0, large = 0, types = 0;
  MPI_Type_get_envelope_c(type, &integers, &addresses, &large, &types, &found.combiner);
  found.integers.resize(static_cast<size_t>(integers));
  found.addresses.resize(static_cast<size_t>(addresses));
  found.large.resize(static_cast<size_t>(large));
  found.types.resize(static_cast<size_t>(types));
  MPI_Type_get_contents_c(type, integers, addresses, large, types, found.integers.data(), found.addresses.data(),
                          found.large.data(), found.types.data());
  return found;
}

struct Sizes {
  MPI_Count size = -1, lb = -1, extent = -1, true_lb = -1, true_extent = -1;
  bool operator==(const Sizes&) const = default;
};

Sizes sizes_of(MPI_Datatype type) {
  Sizes found;
  MPI_Type_size_c(type, &found.size);
  MPI_Type_get_extent_c(type, &found.lb, &found.extent);
  MPI_Type_get_true_extent_c(type, &found.true_lb, &found.true_extent);
  return found;
}

// `made` has this history, in the narrow call too unless it has large counts. Frees it.
void expect_history(MPI_Datatype made, const History& wanted, const char* what) {
  const History found = history_of(made);
  EXPECT(found == wanted, "%s: %zu integers, %zu addresses, %zu large counts, %zu types, combiner %d, or their values",
         what, found.integers.size(), found.addresses.size(), found.large.size(), found.types.size(), found.combiner);
  int integers = -1, addresses = -1, types = -1, combiner = -1;
  if (!wanted.large.empty()) {
    EXPECT_CLASS(MPI_Type_get_envelope(made, &integers, &addresses, &types, &combiner), MPI_ERR_TYPE);
  } else {
    History narrow = wanted;
    MPI_Type_get_envelope(made, &integers, &addresses, &types, &combiner);
    MPI_Type_get_contents(made, integers, addresses, types, narrow.integers.data(), narrow.addresses.data(),
                          narrow.types.data());
    narrow.combiner = combiner;
    EXPECT(narrow == wanted, "%s: the narrow call says otherwise", what);
  }
  MPI_Type_free(&made);
}

constexpr int lengths[] = {2, 0, 3};
constexpr int places[] = {4, 1, -5};
constexpr MPI_Aint bytes[] = {40, 3, -16};
constexpr MPI_Count large_lengths[] = {2, 0, 3};
constexpr MPI_Count large_places[] = {40, 3, -16};

void indexed() {
  MPI_Datatype type;
  MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
  expect_history(type, {{3, 2, 0, 3, 4, 1, -5}, {}, {}, {MPI_INT}, MPI_COMBINER_INDEXED}, "indexed");
  MPI_Type_indexed_c(3, large_lengths, large_places, MPI_INT, &type);
  expect_history(type, {{}, {}, {3, 2, 0, 3, 40, 3, -16}, {MPI_INT}, MPI_COMBINER_INDEXED}, "indexed_c");
  MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &type);
  expect_history(type, {{3, 2, 0, 3}, {40, 3, -16}, {}, {MPI_INT}, MPI_COMBINER_HINDEXED}, "hindexed");
  MPI_Type_create_hindexed_c(3, large_lengths, large_places, MPI_INT, &type);
  expect_history(type, {{}, {}, {3, 2, 0, 3, 40, 3, -16}, {MPI_INT}, MPI_COMBINER_HINDEXED}, "hindexed_c");
  MPI_Type_create_indexed_block(3, 7, places, MPI_INT, &type);
  expect_history(type, {{3, 7, 4, 1, -5}, {}, {}, {MPI_INT}, MPI_COMBINER_INDEXED_BLOCK}, "indexed_block");
  MPI_Type_create_indexed_block_c(3, 7, large_places, MPI_INT, &type);
  expect_history(type, {{}, {}, {3, 7, 40, 3, -16}, {MPI_INT}, MPI_COMBINER_INDEXED_BLOCK}, "indexed_block_c");
  MPI_Type_create_hindexed_block(3, 7, bytes, MPI_INT, &type);
  expect_history(type, {{3, 7}, {40, 3, -16}, {}, {MPI_INT}, MPI_COMBINER_HINDEXED_BLOCK}, "hindexed_block");
  MPI_Type_create_hindexed_block_c(3, 7, large_places, MPI_INT, &type);
  expect_history(type, {{}, {}, {3, 7, 40, 3, -16}, {MPI_INT}, MPI_COMBINER_HINDEXED_BLOCK}, "hindexed_block_c");
  MPI_Type_indexed_c(0, nullptr, nullptr, MPI_INT, &type);
  expect_history(type, {{}, {}, {0}, {MPI_INT}, MPI_COMBINER_INDEXED}, "indexed_c of nothing");
}

void structs() {
  const MPI_Datatype types[] = {MPI_INT, MPI_CHAR, MPI_DOUBLE};
  MPI_Datatype type;
  MPI_Type_create_struct(3, lengths, bytes, types, &type);
  expect_history(type, {{3, 2, 0, 3}, {40, 3, -16}, {}, {MPI_INT, MPI_CHAR, MPI_DOUBLE}, MPI_COMBINER_STRUCT},
                 "struct");
  MPI_Type_create_struct_c(3, large_lengths, large_places, types, &type);
  expect_history(type, {{}, {}, {3, 2, 0, 3, 40, 3, -16}, {MPI_INT, MPI_CHAR, MPI_DOUBLE}, MPI_COMBINER_STRUCT},
                 "struct_c");
  MPI_Type_create_struct(0, nullptr, nullptr, nullptr, &type);
  expect_history(type, {{0}, {}, {}, {}, MPI_COMBINER_STRUCT}, "struct of nothing");
}

void arrays() {
  const int sizes[] = {9, 8}, parts[] = {4, 3}, starts[] = {5, 0};
  const MPI_Count large_sizes[] = {9, 8}, large_parts[] = {4, 3}, large_starts[] = {5, 0};
  const int dealing[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, arguments[] = {2, MPI_DISTRIBUTE_DFLT_DARG};
  const int grid[] = {2, 3};
  const int c = MPI_DISTRIBUTE_CYCLIC, b = MPI_DISTRIBUTE_BLOCK, d = MPI_DISTRIBUTE_DFLT_DARG;
  MPI_Datatype type;
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &type);
  expect_history(type, {{2, 9, 8, 4, 3, 5, 0, MPI_ORDER_FORTRAN}, {}, {}, {MPI_INT}, MPI_COMBINER_SUBARRAY},
                 "subarray");
  MPI_Type_create_subarray_c(2, large_sizes, large_parts, large_starts, MPI_ORDER_C, MPI_INT, &type);
  expect_history(type, {{2, MPI_ORDER_C}, {}, {9, 8, 4, 3, 5, 0}, {MPI_INT}, MPI_COMBINER_SUBARRAY}, "subarray_c");
  MPI_Type_create_darray(6, 4, 2, sizes, dealing, arguments, grid, MPI_ORDER_C, MPI_INT, &type);
  expect_history(type, {{6, 4, 2, 9, 8, c, b, 2, d, 2, 3, MPI_ORDER_C}, {}, {}, {MPI_INT}, MPI_COMBINER_DARRAY},
                 "darray");
  MPI_Type_create_darray_c(6, 4, 2, large_sizes, dealing, arguments, grid, MPI_ORDER_C, MPI_INT, &type);
  expect_history(type, {{6, 4, 2, c, b, 2, d, 2, 3, MPI_ORDER_C}, {}, {9, 8}, {MPI_INT}, MPI_COMBINER_DARRAY},
                 "darray_c");
}

void regular() {
  MPI_Datatype type, pair;
  MPI_Type_contiguous(5, MPI_INT, &type);
  expect_history(type, {{5}, {}, {}, {MPI_INT}, MPI_COMBINER_CONTIGUOUS}, "contiguous");
  MPI_Type_contiguous_c(5, MPI_INT, &type);
  expect_history(type, {{}, {}, {5}, {MPI_INT}, MPI_COMBINER_CONTIGUOUS}, "contiguous_c");
  MPI_Type_vector(5, 2, -3, MPI_INT, &type);
  expect_history(type, {{5, 2, -3}, {}, {}, {MPI_INT}, MPI_COMBINER_VECTOR}, "vector");
  MPI_Type_vector_c(5, 2, -3, MPI_INT, &type);
  expect_history(type, {{}, {}, {5, 2, -3}, {MPI_INT}, MPI_COMBINER_VECTOR}, "vector_c");
  MPI_Type_create_hvector(5, 2, 99, MPI_INT, &type);
  expect_history(type, {{5, 2}, {99}, {}, {MPI_INT}, MPI_COMBINER_HVECTOR}, "hvector");
  MPI_Type_create_hvector_c(5, 2, 99, MPI_INT, &type);
  expect_history(type, {{}, {}, {5, 2, 99}, {MPI_INT}, MPI_COMBINER_HVECTOR}, "hvector_c");
  MPI_Type_create_resized(MPI_INT, -4, 99, &type);
  expect_history(type, {{}, {-4, 99}, {}, {MPI_INT}, MPI_COMBINER_RESIZED}, "resized");
  MPI_Type_create_resized_c(MPI_INT, -4, 99, &type);
  expect_history(type, {{}, {}, {-4, 99}, {MPI_INT}, MPI_COMBINER_RESIZED}, "resized_c");
  MPI_Type_dup(MPI_DOUBLE_INT, &pair);
  expect_history(pair, {{}, {}, {}, {MPI_DOUBLE_INT}, MPI_COMBINER_DUP}, "dup");
}

// Predefined ones have none, and their contents may not be asked for.
void named() {
  int integers = -1, addresses = -1, types = -1, combiner = -1;
  for (MPI_Datatype type : {MPI_INT, MPI_SHORT_INT, MPI_COMPLEX32, MPI_PACKED}) {
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    EXPECT(integers == 0 && addresses == 0 && types == 0 && combiner == MPI_COMBINER_NAMED, "combiner %d", combiner);
    EXPECT_CLASS(MPI_Type_get_contents(type, 0, 0, 0, nullptr, nullptr, nullptr), MPI_ERR_TYPE);
    EXPECT_CLASS(MPI_Type_get_contents_c(type, 0, 0, 0, 0, nullptr, nullptr, nullptr, nullptr), MPI_ERR_TYPE);
  }
}

// The types that contents name are new handles that live on their own, whatever is freed first.
void nested() {
  MPI_Datatype inner, outer, pieces[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
  MPI_Type_vector(3, 2, 4, MPI_INT, &inner);
  const Sizes wanted = sizes_of(inner);
  const MPI_Datatype types[] = {inner, MPI_CHAR};
  const int ones[] = {1, 1};
  const MPI_Aint at[] = {0, 64};
  MPI_Type_create_struct(2, ones, at, types, &outer);
  MPI_Type_free(&inner);
  int integers[3];
  MPI_Aint addresses[2];
  MPI_Type_get_contents(outer, 3, 2, 2, integers, addresses, pieces);
  MPI_Type_free(&outer);
  EXPECT(pieces[1] == MPI_CHAR, "the second part is not MPI_CHAR");
  EXPECT(sizes_of(pieces[0]) == wanted, "the first part has another layout");
  expect_history(pieces[0], {{3, 2, 4}, {}, {}, {MPI_INT}, MPI_COMBINER_VECTOR}, "the first part");
}

void too_small_arrays() {
  MPI_Datatype type, inside[1];
  MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &type);
  int integers[4];
  MPI_Aint addresses[3];
  EXPECT_CLASS(MPI_Type_get_contents(type, 3, 3, 1, integers, addresses, inside), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_get_contents(type, 4, 2, 1, integers, addresses, inside), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_get_contents(type, 4, 3, 0, integers, addresses, inside), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_get_contents(type, 4, 3, 1, nullptr, addresses, inside), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_get_contents(type, 4, 3, 1, integers, addresses, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Type_get_contents(type, 4, 3, 1, integers, addresses, inside), MPI_SUCCESS);
  MPI_Type_free(&type);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  regular();
  indexed();
  structs();
  arrays();
  named();
  nested();
  too_small_arrays();
  return expect::finish();
}
