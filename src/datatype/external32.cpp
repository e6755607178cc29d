// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/external32.hpp"

#include <cfloat>
#include <cstring>

#include "base/copy.hpp"
#include "datatype/predefined.hpp"

namespace weft::datatype {
namespace {

template <class T>
T load_bits(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void store_bits(char* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

uint16_t swapped(uint16_t value) {
  return __builtin_bswap16(value);
}
uint32_t swapped(uint32_t value) {
  return __builtin_bswap32(value);
}
uint64_t swapped(uint64_t value) {
  return __builtin_bswap64(value);
}

template <class T>
void swap_all(const char* from, char* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    store_bits(to + i * static_cast<int64_t>(sizeof(T)),
               swapped(load_bits<T>(from + i * static_cast<int64_t>(sizeof(T)))));
  }
}

void swap_16(const char* from, char* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const auto low = load_bits<uint64_t>(from + 16 * i);
    const auto high = load_bits<uint64_t>(from + 16 * i + 8);
    store_bits(to + 16 * i, swapped(high));
    store_bits(to + 16 * i + 8, swapped(low));
  }
}

void swap_values(int8_t bytes, const char* from, char* to, int64_t count) {
  switch (bytes) {
    case 2:
      return swap_all<uint16_t>(from, to, count);
    case 4:
      return swap_all<uint32_t>(from, to, count);
    case 8:
      return swap_all<uint64_t>(from, to, count);
    case 16:
      return swap_16(from, to, count);
    default:
      base::copy(to, from, static_cast<size_t>(count));
  }
}

// Both formats have a sign and 15 bits of exponent with one bias. The x87 one has 64 bits of significand with the
// leading 1 written out, binary128 has 112 without it.
constexpr uint64_t leading = uint64_t{1} << 63;
constexpr uint64_t exponent_bits = 0x7fff;
constexpr int surplus = 49;  // bits of binary128 that do not fit into the x87 format

void extended_to_external(const char* native, char* external) {
  const auto significand = load_bits<uint64_t>(native);
  uint64_t head = load_bits<uint16_t>(native + 8);
  if ((head & exponent_bits) == 0 && (significand & leading) != 0) ++head;  // a subnormal with the leading 1 is normal
  const uint64_t fraction = significand & ~leading;
  store_bits(external, swapped(head << 48 | fraction >> 15));
  store_bits(external + 8, swapped(fraction << surplus));
}

void extended_from_external(const char* external, char* native) {
  const uint64_t high = swapped(load_bits<uint64_t>(external));
  const uint64_t low = swapped(load_bits<uint64_t>(external + 8));
  uint64_t head = high >> 48;
  const uint64_t exponent = head & exponent_bits;
  uint64_t significand = (high << 16 >> 1) | low >> surplus;
  const uint64_t rest = low << (64 - surplus);
  if (exponent == exponent_bits) {
    const bool is_nan = significand != 0 || rest != 0;
    significand |= is_nan ? leading | leading >> 1 : leading;
  } else {
    if (exponent != 0) significand |= leading;
    const bool up = rest > leading || (rest == leading && (significand & 1) != 0);  // to nearest, ties to even
    if (up && ++significand == 0) {
      significand = leading;
      ++head;
    } else if (exponent == 0 && (significand & leading) != 0) {
      ++head;  // rounded up to the least normal number
    }
  }
  store_bits(native, significand);
  store_bits<uint64_t>(native + 8, head);  // and six bytes of padding
}

// Native and Narrow: the integers in memory and outside.
template <class Native, class Narrow, class Bits>
bool narrow(const char* native, char* external) {
  const auto value = load_bits<Native>(native);
  const auto small = static_cast<Narrow>(value);
  store_bits(external, swapped(static_cast<Bits>(small)));
  return static_cast<Native>(small) == value;
}
template <class Native, class Narrow, class Bits>
void widen_external(const char* external, char* native) {
  store_bits(native, static_cast<Native>(static_cast<Narrow>(swapped(load_bits<Bits>(external)))));
}

// The integers with fewer bytes outside: long and unsigned long, and wide characters.
bool narrow_value(const ValueForm& form, const char* native, char* external) {
  if (form.conversion == Conversion::signed_narrow) return narrow<int64_t, int32_t, uint32_t>(native, external);
  if (form.native == 8) return narrow<uint64_t, uint32_t, uint32_t>(native, external);
  return narrow<uint32_t, uint16_t, uint16_t>(native, external);
}
void widen_value(const ValueForm& form, const char* external, char* native) {
  if (form.conversion == Conversion::signed_narrow) return widen_external<int64_t, int32_t, uint32_t>(external, native);
  if (form.native == 8) return widen_external<uint64_t, uint32_t, uint32_t>(external, native);
  return widen_external<uint32_t, uint16_t, uint16_t>(external, native);
}

bool values_to_external(const ValueForm& form, const char* native, char* external, int64_t count) {
  switch (form.conversion) {
    case Conversion::swap:
    case Conversion::boolean:
      swap_values(form.native, native, external, count);
      return true;
    case Conversion::extended:
      for (int64_t i = 0; i < count; ++i) extended_to_external(native + i * form.native, external + i * form.external);
      return true;
    case Conversion::signed_narrow:
    case Conversion::unsigned_narrow:
      for (int64_t i = 0; i < count; ++i) {
        if (!narrow_value(form, native + i * form.native, external + i * form.external)) return false;
      }
      return true;
  }
  return true;
}

void values_from_external(const ValueForm& form, const char* external, char* native, int64_t count) {
  switch (form.conversion) {
    case Conversion::swap:
      return swap_values(form.native, external, native, count);
    case Conversion::boolean:
      for (int64_t i = 0; i < count; ++i) native[i] = external[i] != 0;
      return;
    case Conversion::extended:
      for (int64_t i = 0; i < count; ++i) {
        extended_from_external(external + i * form.external, native + i * form.native);
      }
      return;
    case Conversion::signed_narrow:
    case Conversion::unsigned_narrow:
      for (int64_t i = 0; i < count; ++i) widen_value(form, external + i * form.external, native + i * form.native);
      return;
  }
}

constexpr ValueForm same(int bytes) {
  return {static_cast<int8_t>(bytes), static_cast<int8_t>(bytes), Conversion::swap};
}
// A long double: elsewhere than on x86 it is binary128 already.
constexpr ValueForm long_double = {16, 16, LDBL_MANT_DIG == 64 ? Conversion::extended : Conversion::swap};
static_assert(LDBL_MANT_DIG == 64 || LDBL_MANT_DIG == 113);
constexpr ValueForm signed_long = {8, 4, Conversion::signed_narrow};
constexpr ValueForm unsigned_long = {8, 4, Conversion::unsigned_narrow};
constexpr ValueForm wide_char = {4, 2, Conversion::unsigned_narrow};

}  // namespace

External32 external32_of(Basic basic, bool c_long) {
  switch (basic) {
    case Basic::int64:
      return {c_long ? signed_long : same(8), {}};
    case Basic::uint64:
      return {c_long ? unsigned_long : same(8), {}};
    case Basic::boolean:
      return {{1, 1, Conversion::boolean}, {}};
    case Basic::wide_char:
      return {wide_char, {}};
    case Basic::float80:
      return {long_double, {}};
    case Basic::complex160:
      return {long_double, long_double};
    case Basic::complex32:
    case Basic::complex64:
    case Basic::complex128:
    case Basic::complex256: {
      const ValueForm part = same(basic_size(basic).first / 2);
      return {part, part};
    }
    case Basic::long_int:
      return {signed_long, same(4)};
    case Basic::long_double_int:
      return {long_double, same(4)};
    default: {
      const BasicSize size = basic_size(basic);
      return {same(size.first), same(size.second)};
    }
  }
}

bool to_external32(const External32& form, const char* native, char* external, int64_t count) {
  if (form.second.native == 0) return values_to_external(form.first, native, external, count);
  if (form.second == form.first) return values_to_external(form.first, native, external, 2 * count);
  for (int64_t i = 0; i < count; ++i) {
    if (!values_to_external(form.first, native, external, 1) ||
        !values_to_external(form.second, native + form.first.native, external + form.first.external, 1)) {
      return false;
    }
    native += form.native_size();
    external += form.external_size();
  }
  return true;
}

void from_external32(const External32& form, const char* external, char* native, int64_t count) {
  if (form.second.native == 0) return values_from_external(form.first, external, native, count);
  if (form.second == form.first) return values_from_external(form.first, external, native, 2 * count);
  for (int64_t i = 0; i < count; ++i) {
    values_from_external(form.first, external, native, 1);
    values_from_external(form.second, external + form.first.external, native + form.first.native, 1);
    native += form.native_size();
    external += form.external_size();
  }
}

}  // namespace weft::datatype
