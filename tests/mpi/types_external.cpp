// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The representation "external32": the sizes of all predefined datatypes, bytes of known values, derived datatypes
// there and back, what does not fit.
#include <climits>
#include <complex>
#include <cstddef>
#include <cstring>
#include <cwchar>
#include <vector>

#include "expect.hpp"

namespace {

const struct {
  MPI_Datatype type;
  int bytes;
} sizes[] = {
    {MPI_PACKED, 1},
    {MPI_BYTE, 1},
    {MPI_CHAR, 1},
    {MPI_UNSIGNED_CHAR, 1},
    {MPI_SIGNED_CHAR, 1},
    {MPI_WCHAR, 2},
    {MPI_SHORT, 2},
    {MPI_UNSIGNED_SHORT, 2},
    {MPI_INT, 4},
    {MPI_UNSIGNED, 4},
    {MPI_LONG, 4},
    {MPI_UNSIGNED_LONG, 4},
    {MPI_LONG_LONG, 8},
    {MPI_UNSIGNED_LONG_LONG, 8},
    {MPI_FLOAT, 4},
    {MPI_DOUBLE, 8},
    {MPI_LONG_DOUBLE, 16},
    {MPI_C_BOOL, 1},
    {MPI_INT8_T, 1},
    {MPI_INT16_T, 2},
    {MPI_INT32_T, 4},
    {MPI_INT64_T, 8},
    {MPI_UINT8_T, 1},
    {MPI_UINT16_T, 2},
    {MPI_UINT32_T, 4},
    {MPI_UINT64_T, 8},
    {MPI_AINT, 8},
    {MPI_COUNT, 8},
    {MPI_OFFSET, 8},
    {MPI_C_FLOAT_COMPLEX, 8},
    {MPI_C_DOUBLE_COMPLEX, 16},
    {MPI_C_LONG_DOUBLE_COMPLEX, 32},
    {MPI_CXX_BOOL, 1},
    {MPI_CXX_FLOAT_COMPLEX, 8},
    {MPI_CXX_DOUBLE_COMPLEX, 16},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, 32},
    {MPI_CHARACTER, 1},
    {MPI_LOGICAL, 4},
    {MPI_INTEGER, 4},
    {MPI_REAL, 4},
    {MPI_DOUBLE_PRECISION, 8},
    {MPI_COMPLEX, 8},
    {MPI_DOUBLE_COMPLEX, 16},
    {MPI_LOGICAL1, 1},
    {MPI_LOGICAL2, 2},
    {MPI_LOGICAL4, 4},
    {MPI_LOGICAL8, 8},
    {MPI_LOGICAL16, 16},
    {MPI_INTEGER1, 1},
    {MPI_INTEGER2, 2},
    {MPI_INTEGER4, 4},
    {MPI_INTEGER8, 8},
    {MPI_INTEGER16, 16},
    {MPI_REAL2, 2},
    {MPI_REAL4, 4},
    {MPI_REAL8, 8},
    {MPI_REAL16, 16},
    {MPI_COMPLEX4, 4},
    {MPI_COMPLEX8, 8},
    {MPI_COMPLEX16, 16},
    {MPI_COMPLEX32, 32},
    {MPI_FLOAT_INT, 8},
    {MPI_DOUBLE_INT, 12},
    {MPI_LONG_INT, 8},
    {MPI_2INT, 8},
    {MPI_SHORT_INT, 6},
    {MPI_LONG_DOUBLE_INT, 20},
    {MPI_2REAL, 8},
    {MPI_2DOUBLE_PRECISION, 16},
    {MPI_2INTEGER, 8},
};

void all_sizes() {
  for (const auto& row : sizes) {
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    MPI_Aint bytes = -1;
    MPI_Count large = -1;
    MPI_Type_get_name(row.type, name, &length);
    MPI_Pack_external_size("external32", 3, row.type, &bytes);
    MPI_Pack_external_size_c("external32", MPI_Count{3} << 32, row.type, &large);
    EXPECT(bytes == 3 * row.bytes && large == (MPI_Count{3} << 32) * row.bytes, "%s: %ld and %lld bytes", name,
           static_cast<long>(bytes), static_cast<long long>(large));
  }
}

using Bytes = std::vector<unsigned char>;

// This value has these bytes outside, and they give the value back. `compared`: without padding.
template <class T>
void expect_bytes(const char* what, MPI_Datatype type, const T& value, const Bytes& wanted,
                  size_t compared = sizeof(T)) {
  Bytes packed(wanted.size());
  T back;
  memset(static_cast<void*>(&back), 0x5a, sizeof back);
  MPI_Aint position = 0;
  const auto room = static_cast<MPI_Aint>(packed.size());
  EXPECT_CLASS(MPI_Pack_external("external32", &value, 1, type, packed.data(), room, &position), MPI_SUCCESS);
  EXPECT(position == room && packed == wanted, "%s: %ld bytes, or others", what, static_cast<long>(position));
  position = 0;
  EXPECT_CLASS(MPI_Unpack_external("external32", packed.data(), room, &position, &back, 1, type), MPI_SUCCESS);
  EXPECT(position == room && memcmp(&back, &value, compared) == 0, "%s: another value came back", what);
}

void values() {
  expect_bytes<char>("char", MPI_CHAR, 'x', {'x'});
  expect_bytes<short>("short", MPI_SHORT, -2, {0xff, 0xfe});
  expect_bytes<int>("int", MPI_INT, 0x01020304, {1, 2, 3, 4});
  expect_bytes<long>("long", MPI_LONG, -2, {0xff, 0xff, 0xff, 0xfe});
  expect_bytes<long>("long", MPI_LONG, INT_MIN, {0x80, 0, 0, 0});
  expect_bytes<unsigned long>("unsigned long", MPI_UNSIGNED_LONG, UINT_MAX, {0xff, 0xff, 0xff, 0xff});
  expect_bytes<long long>("long long", MPI_LONG_LONG, 0x0102030405060708, {1, 2, 3, 4, 5, 6, 7, 8});
  expect_bytes<MPI_Aint>("MPI_AINT", MPI_AINT, 0x0102030405060708, {1, 2, 3, 4, 5, 6, 7, 8});
  expect_bytes<float>("float", MPI_FLOAT, -1.5F, {0xbf, 0xc0, 0, 0});
  expect_bytes<double>("double", MPI_DOUBLE, 1.0, {0x3f, 0xf0, 0, 0, 0, 0, 0, 0});
  expect_bytes<long double>("long double", MPI_LONG_DOUBLE, -3.0L,
                            {0xc0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 10);
  expect_bytes<bool>("bool", MPI_C_BOOL, true, {1});
  expect_bytes<wchar_t>("wide character", MPI_WCHAR, L'\u20ac', {0x20, 0xac});
  expect_bytes<std::complex<float>>("complex", MPI_C_FLOAT_COMPLEX, {1, -2}, {0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0});
  struct {
    double value;
    int index;
  } pair = {1.0, 258};
  expect_bytes("MPI_DOUBLE_INT", MPI_DOUBLE_INT, pair, {0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2}, 12);
  struct {
    short value;
    int index;
  } small = {-1, 3};
  MPI_Aint position = 0;
  unsigned char packed[6];
  MPI_Pack_external("external32", &small, 1, MPI_SHORT_INT, packed, 6, &position);
  const unsigned char wanted[] = {0xff, 0xff, 0, 0, 0, 3};
  EXPECT(memcmp(packed, wanted, 6) == 0, "MPI_SHORT_INT has other bytes");
}

// Any other byte than 0 is true.
void truth() {
  const unsigned char packed[] = {0, 1, 2, 255};
  unsigned char back[4] = {9, 9, 9, 9};
  MPI_Aint position = 0;
  MPI_Unpack_external("external32", packed, 4, &position, back, 4, MPI_C_BOOL);
  EXPECT(back[0] == 0 && back[1] == 1 && back[2] == 1 && back[3] == 1, "%d, %d, %d, %d", back[0], back[1], back[2],
         back[3]);
}

struct Row {
  char letter;
  long number;
  double values[3];
  short small;
};

// A struct inside a vector inside a struct, more of them than the conversion takes at once.
void derived() {
  const int lengths[] = {1, 1, 3, 1};
  const MPI_Aint places[] = {offsetof(Row, letter), offsetof(Row, number), offsetof(Row, values), offsetof(Row, small)};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_LONG, MPI_DOUBLE, MPI_SHORT};
  MPI_Datatype row, every_other, both;
  MPI_Type_create_struct(4, lengths, places, types, &row);
  MPI_Type_vector(500, 1, 2, row, &every_other);
  const int ones[] = {1, 4};
  const MPI_Aint at[] = {sizeof(Row), 0};
  const MPI_Datatype parts[] = {every_other, MPI_CHAR};
  MPI_Type_create_struct(2, ones, at, parts, &both);
  MPI_Type_commit(&both);
  MPI_Aint size = -1, position = 3;
  MPI_Pack_external_size("external32", 1, both, &size);
  EXPECT(size == 500 * 31 + 4, "%ld bytes", static_cast<long>(size));
  std::vector<Row> out(1002), in(1002);
  memset(static_cast<void*>(out.data()), 0, out.size() * sizeof(Row));
  memset(static_cast<void*>(in.data()), 0, in.size() * sizeof(Row));
  memcpy(static_cast<void*>(out.data()), "abcd", 4);
  for (size_t i = 1; i < 1000; i += 2) {
    out[i].letter = static_cast<char>(i);
    out[i].number = -static_cast<long>(i);
    for (double& value : out[i].values) value = static_cast<double>(i) / 3;
    out[i].small = static_cast<short>(i);
  }
  std::vector<char> packed(static_cast<size_t>(size) + 3);
  MPI_Pack_external("external32", out.data(), 1, both, packed.data(), size + 3, &position);
  EXPECT(position == size + 3, "position %ld", static_cast<long>(position));
  MPI_Count where = 3;
  MPI_Unpack_external_c("external32", packed.data(), size + 3, &where, in.data(), 1, both);
  EXPECT(where == size + 3, "position %lld", static_cast<long long>(where));
  EXPECT(memcmp(out.data(), in.data(), out.size() * sizeof(Row)) == 0, "another array came back");
  MPI_Type_free(&both);
  MPI_Type_free(&every_other);
  MPI_Type_free(&row);
}

// A C long that 4 bytes do not hold, a wide character beyond 2.
void what_does_not_fit() {
  const long numbers[] = {1, 1L << 31};
  const unsigned long large[] = {1, 1UL << 32};
  const wchar_t letter = static_cast<wchar_t>(0x1f600);
  char packed[16];
  MPI_Aint position = 4;
  EXPECT_CLASS(MPI_Pack_external("external32", numbers, 2, MPI_LONG, packed, 16, &position), MPI_ERR_CONVERSION);
  EXPECT_CLASS(MPI_Pack_external("external32", large, 2, MPI_UNSIGNED_LONG, packed, 16, &position), MPI_ERR_CONVERSION);
  EXPECT_CLASS(MPI_Pack_external("external32", &letter, 1, MPI_WCHAR, packed, 16, &position), MPI_ERR_CONVERSION);
  EXPECT(position == 4, "a failed call moved the position to %ld", static_cast<long>(position));
  EXPECT_CLASS(MPI_Pack_external("external32", numbers, 1, MPI_INT64_T, packed, 16, &position), MPI_SUCCESS);
}

void wrong_arguments() {
  int value = 1;
  char packed[8];
  MPI_Aint position = 0, size = 0;
  MPI_Count large = 0;
  MPI_Datatype open;
  MPI_Type_contiguous(1, MPI_INT, &open);
  EXPECT_CLASS(MPI_Pack_external("native", &value, 1, MPI_INT, packed, 8, &position), MPI_ERR_UNSUPPORTED_DATAREP);
  EXPECT_CLASS(MPI_Pack_external(nullptr, &value, 1, MPI_INT, packed, 8, &position), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Pack_external("external32", &value, -1, MPI_INT, packed, 8, &position), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Pack_external("external32", &value, 1, MPI_DATATYPE_NULL, packed, 8, &position), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Pack_external("external32", &value, 1, open, packed, 8, &position), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Pack_external("external32", &value, 1, MPI_INT, packed, -1, &position), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Pack_external("external32", &value, 1, MPI_INT, packed, 8, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Pack_external("external32", &value, 1, MPI_INT, nullptr, 8, &position), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Pack_external("external32", nullptr, 1, MPI_INT, packed, 8, &position), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Pack_external("external32", &value, 3, MPI_INT, packed, 8, &position), MPI_ERR_TRUNCATE);
  EXPECT_CLASS(MPI_Unpack_external("external32", packed, 8, &position, &value, 3, MPI_INT), MPI_ERR_TRUNCATE);
  EXPECT_CLASS(MPI_Unpack_external("internal", packed, 8, &position, &value, 1, MPI_INT), MPI_ERR_UNSUPPORTED_DATAREP);
  EXPECT_CLASS(MPI_Pack_external_size("external32", 1, MPI_INT, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Pack_external_size("external32", -1, MPI_INT, &size), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Pack_external_size("external", 1, MPI_INT, &size), MPI_ERR_UNSUPPORTED_DATAREP);
  EXPECT_CLASS(MPI_Pack_external_size_c("external32", LLONG_MAX / 2, MPI_INT, &large), MPI_ERR_COUNT);
  position = 9;
  EXPECT_CLASS(MPI_Unpack_external("external32", packed, 8, &position, &value, 1, MPI_INT), MPI_ERR_ARG);
  position = -1;
  EXPECT_CLASS(MPI_Pack_external("external32", &value, 1, MPI_INT, packed, 8, &position), MPI_ERR_ARG);
  MPI_Type_free(&open);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  all_sizes();
  values();
  truth();
  derived();
  what_does_not_fit();
  wrong_arguments();
  return expect::finish();
}
