// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Layout of a datatype: which bytes of a buffer belong to an element, as nested loops around a block, normalised when
// made (a vector of contiguous is a vector; a vector whose stride is its block is contiguous; indexed blocks at equal
// distances are a loop). A layout that loops do not express is a list of blocks, each of them contiguous or loops
// again. Knows nothing of MPI handles; src/mpi maps those to these objects.

#include <cstddef>
#include <cstdint>

#include "base/count.hpp"
#include "base/object.hpp"

namespace weft::datatype {

// clang-format off
// The parts of an element, for reductions and type signatures.
enum class Basic : uint8_t {
  none,  // derived of several basics, or none
  int8, int16, int32, int64, int128, uint8, uint16, uint32, uint64,
  float16, bfloat16, float32, float64, float80, float128,
  complex32, complex64, complex128, complex160, complex256,  // pairs of float16, float32, float64, float80, float128
  boolean,                                                   // C and C++ bool
  logical8, logical16, logical32, logical64, logical128,     // Fortran
  character, byte, packed, wide_char,
  float_int, double_int, long_int, two_int, short_int, long_double_int,  // pairs for MINLOC and MAXLOC
  two_float, two_double, two_fortran_int,
};
// clang-format on

// One loop: `count` times, `stride` bytes apart.
struct Loop {
  int64_t count;
  int64_t stride;
};

inline constexpr int max_loops = 8;  // deeper nests put the inner loops into a list of one block

struct BlockTable;  // blocks.hpp
struct Signature;   // signature.hpp

// Loops around a block.
struct Nest {
  int64_t block = 0;                   // bytes of data in the block
  int loops = 0;                       // how many of `loop` are used, outermost first
  Loop loop[max_loops + 1] = {};       // one more than a type has, for the loop over the elements of a buffer
  const BlockTable* blocks = nullptr;  // the block's parts, counted by the nest's owner; nullptr: contiguous bytes
};

struct Type : base::Object {
  // ---- read on the path of every message: the first line
  bool committed = false;
  bool contiguous = false;  // `count` elements are `count * size` bytes from the buffer's address, no gap
  bool predefined = false;
  Basic basic = Basic::none;
  // Committed and contiguous, and buffers lie in the host's memory: set by commit().
  bool plain = false;
  void commit(bool on_host) {
    committed = true;
    plain = contiguous && on_host;
  }
  int64_t size = 0;    // bytes of data in an element
  int64_t extent = 0;  // bytes from an element to the next
  int64_t lower_bound = 0;
  int64_t true_lower_bound = 0;
  int64_t true_extent = 0;
  // ----
  int64_t first = 0;  // offset of the first block from the buffer's address
  Nest nest;          // copies of a Type share its blocks and signature uncounted, so derive, never assign
  base::HolderCount references;
  bool marked = false;   // the bounds were set by resized(): they outweigh those of unmarked parts (MPI-5.0, 5.1.6)
  int8_t alignment = 1;  // of its basics in a C struct
  const Signature* signature = nullptr;  // its basics in order, repeated up to the size, when they are several
  Basic pair_value = Basic::none;        // of an unnamed pair of value and index (MPI_Type_get_value_index): its two
  Basic pair_index = Basic::none;        // parts, laid out as pair_size() says
  int64_t basic_count = 0;               // basic elements in one element, for MPI_Get_elements; a pair is two
  const char* name = "";
  void* owner = nullptr;  // src/mpi's part: construction, name, attributes. Not derived
};

// MPI_BYTE's type, also of all data that are bytes to the layers above.
extern Type byte_type;

}  // namespace weft::datatype
