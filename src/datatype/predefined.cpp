// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/predefined.hpp"

#include <algorithm>

#include "datatype/blocks.hpp"

namespace weft::datatype {
namespace {

constexpr BasicSize plain(int8_t bytes) {
  return {bytes, 0, 0, bytes};
}

// The C struct of two basics whose alignment is their size. Both are powers of two, so the larger is where the second
// begins, and twice the larger is the whole.
constexpr BasicSize with(int8_t first, int8_t second) {
  const int8_t align = first < second ? second : first;
  return {first, second, align, static_cast<int8_t>(2 * align)};
}

constexpr BasicSize sizes_of(Basic basic) {
  switch (basic) {
    case Basic::none:
      return plain(0);
    case Basic::int8:
    case Basic::uint8:
    case Basic::boolean:
    case Basic::logical8:
    case Basic::character:
    case Basic::byte:
    case Basic::packed:
      return plain(1);
    case Basic::int16:
    case Basic::uint16:
    case Basic::float16:
    case Basic::bfloat16:
    case Basic::logical16:
      return plain(2);
    case Basic::int32:
    case Basic::uint32:
    case Basic::float32:
    case Basic::complex32:
    case Basic::logical32:
    case Basic::wide_char:
      return plain(4);
    case Basic::int64:
    case Basic::uint64:
    case Basic::float64:
    case Basic::complex64:
    case Basic::logical64:
      return plain(8);
    case Basic::int128:
    case Basic::float80:
    case Basic::float128:
    case Basic::complex128:
    case Basic::logical128:
      return plain(16);
    case Basic::complex160:
    case Basic::complex256:
      return plain(32);
    case Basic::short_int:
      return with(2, 4);
    case Basic::float_int:
    case Basic::two_int:
    case Basic::two_fortran_int:
    case Basic::two_float:
      return with(4, 4);
    case Basic::double_int:
    case Basic::long_int:
      return with(8, 4);
    case Basic::long_double_int:
      return with(16, 4);
    case Basic::two_double:
      return with(8, 8);
  }
  return plain(0);
}

constexpr Predefined row(const char* name, Basic basic) {
  const BasicSize size = sizes_of(basic);
  return {name, basic, size.first + size.second, size.extent};
}

constexpr Predefined rows[] = {
    row("MPI_AINT", Basic::int64),
    row("MPI_COUNT", Basic::int64),
    row("MPI_OFFSET", Basic::int64),
    row("MPI_PACKED", Basic::packed),
    row("MPI_SHORT", Basic::int16),
    row("MPI_INT", Basic::int32),
    row("MPI_LONG", Basic::int64),
    row("MPI_LONG_LONG", Basic::int64),
    row("MPI_UNSIGNED_SHORT", Basic::uint16),
    row("MPI_UNSIGNED", Basic::uint32),
    row("MPI_UNSIGNED_LONG", Basic::uint64),
    row("MPI_UNSIGNED_LONG_LONG", Basic::uint64),
    row("MPI_FLOAT", Basic::float32),
    row("MPI_C_FLOAT_COMPLEX", Basic::complex64),
    row("MPI_CXX_FLOAT_COMPLEX", Basic::complex64),
    row("MPI_DOUBLE", Basic::float64),
    row("MPI_C_DOUBLE_COMPLEX", Basic::complex128),
    row("MPI_CXX_DOUBLE_COMPLEX", Basic::complex128),
    row("MPI_LOGICAL", Basic::logical32),
    row("MPI_INTEGER", Basic::int32),
    row("MPI_REAL", Basic::float32),
    row("MPI_COMPLEX", Basic::complex64),
    row("MPI_DOUBLE_PRECISION", Basic::float64),
    row("MPI_DOUBLE_COMPLEX", Basic::complex128),
    row("MPI_CHARACTER", Basic::character),
    row("MPI_LONG_DOUBLE", Basic::float80),
    row("MPI_C_LONG_DOUBLE_COMPLEX", Basic::complex160),
    row("MPI_CXX_LONG_DOUBLE_COMPLEX", Basic::complex160),
    row("MPI_FLOAT_INT", Basic::float_int),
    row("MPI_DOUBLE_INT", Basic::double_int),
    row("MPI_LONG_INT", Basic::long_int),
    row("MPI_2INT", Basic::two_int),
    row("MPI_SHORT_INT", Basic::short_int),
    row("MPI_LONG_DOUBLE_INT", Basic::long_double_int),
    row("MPI_2REAL", Basic::two_float),
    row("MPI_2DOUBLE_PRECISION", Basic::two_double),
    row("MPI_2INTEGER", Basic::two_fortran_int),
    row("MPI_C_BOOL", Basic::boolean),
    row("MPI_CXX_BOOL", Basic::boolean),
    row("MPI_WCHAR", Basic::wide_char),
    row("MPI_INT8_T", Basic::int8),
    row("MPI_UINT8_T", Basic::uint8),
    row("MPI_CHAR", Basic::character),
    row("MPI_SIGNED_CHAR", Basic::int8),
    row("MPI_UNSIGNED_CHAR", Basic::uint8),
    row("MPI_BYTE", Basic::byte),
    row("MPI_INT16_T", Basic::int16),
    row("MPI_UINT16_T", Basic::uint16),
    row("MPI_INT32_T", Basic::int32),
    row("MPI_UINT32_T", Basic::uint32),
    row("MPI_INT64_T", Basic::int64),
    row("MPI_UINT64_T", Basic::uint64),
    row("MPI_LOGICAL1", Basic::logical8),
    row("MPI_INTEGER1", Basic::int8),
    row("MPI_LOGICAL2", Basic::logical16),
    row("MPI_INTEGER2", Basic::int16),
    row("MPI_REAL2", Basic::float16),
    row("MPI_LOGICAL4", Basic::logical32),
    row("MPI_INTEGER4", Basic::int32),
    row("MPI_REAL4", Basic::float32),
    row("MPI_COMPLEX4", Basic::complex32),
    row("MPI_LOGICAL8", Basic::logical64),
    row("MPI_INTEGER8", Basic::int64),
    row("MPI_REAL8", Basic::float64),
    row("MPI_COMPLEX8", Basic::complex64),
    row("MPI_LOGICAL16", Basic::logical128),
    row("MPI_INTEGER16", Basic::int128),
    row("MPI_REAL16", Basic::float128),
    row("MPI_COMPLEX16", Basic::complex128),
    row("MPI_COMPLEX32", Basic::complex256),
};

// The one predefined type with a gap inside.
constexpr int64_t short_int_offset[] = {0, 4};
constexpr int64_t short_int_packed[] = {0, 2, 6};
constinit BlockTable short_int_blocks = {.count = 2, .offset = short_int_offset, .packed = short_int_packed};

// A compiler's alignment of it in a struct: a power of two, and that of its parts.
int8_t alignment_of(Basic basic, const BasicSize& size) {
  switch (basic) {
    case Basic::complex32:
      return 2;
    case Basic::complex64:
      return 4;
    case Basic::complex128:
      return 8;
    case Basic::complex160:
    case Basic::complex256:
      return 16;
    default:
      return size.second != 0 ? std::max(size.first, size.second) : size.first;
  }
}

}  // namespace

BasicSize basic_size(Basic basic) {
  return sizes_of(basic);
}

BasicSize pair_size(Basic first, Basic second) {
  return with(sizes_of(first).first, sizes_of(second).first);
}

std::span<const Predefined> predefined_types() {
  return rows;
}

namespace {

constexpr Type make_byte_type() {
  Type type;
  type.kind = base::Kind::datatype;
  type.committed = type.contiguous = type.predefined = type.plain = true;
  type.basic = Basic::byte;
  type.size = type.extent = type.true_extent = type.nest.block = 1;
  type.basic_count = 1;
  type.name = "MPI_BYTE";
  return type;
}

}  // namespace

constinit Type byte_type = make_byte_type();

void build_predefined(const Predefined& row, Type& out) {
  const BasicSize size = sizes_of(row.basic);
  out = Type{};
  out.kind = base::Kind::datatype;
  out.committed = true;
  out.predefined = true;
  out.basic = row.basic;
  out.size = row.size;
  out.extent = row.extent;
  out.contiguous = row.size == row.extent;
  out.plain = out.contiguous;
  out.nest.block = row.size;
  out.true_extent = size.second ? size.second_offset + size.second : size.first;
  out.basic_count = size.second ? 2 : 1;
  out.name = row.name;
  out.alignment = alignment_of(row.basic, size);
  if (row.basic == Basic::short_int) out.nest.blocks = &short_int_blocks;
}

}  // namespace weft::datatype
