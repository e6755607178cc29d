// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Messages of bytes between the ranks of core_world.hpp, begun and ended in a line.

#include <vector>

#include "core_world.hpp"
#include "datatype/predefined.hpp"

namespace weft::core {

inline constexpr uint64_t seeds = 40;

using Bytes = std::vector<unsigned char>;

inline Bytes pattern(size_t bytes, int number = 0) {
  Bytes data(bytes);
  for (size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<unsigned char>(i * 7 + i / 251 + static_cast<size_t>(number));
  return data;
}

inline Type& byte_type() {
  static Type type = [] {
    Type built;
    for (const datatype::Predefined& row : datatype::predefined_types()) {
      if (row.name == std::string_view("MPI_BYTE")) datatype::build_predefined(row, built);
    }
    return built;
  }();
  return type;
}

inline Request& begin_send(Comm& comm, const void* data, int64_t count, Type& type, int32_t dest, int32_t tag,
                           Mode mode = Mode::standard) {
  Request& r = *new_request(comm, Role::send);
  r.mode = mode;
  set_buffer(r, const_cast<void*>(data), count, type);
  start_send(r, comm.context, dest, tag);
  return r;
}
inline Request& begin_send(Comm& comm, const Bytes& data, int32_t dest, int32_t tag, Mode mode = Mode::standard) {
  return begin_send(comm, data.data(), static_cast<int64_t>(data.size()), byte_type(), dest, tag, mode);
}
inline Request& begin_receive(Comm& comm, Bytes& room, int32_t source, int32_t tag) {
  Request& r = *new_request(comm, Role::receive);
  set_buffer(r, room.data(), static_cast<int64_t>(room.size()), byte_type());
  start_receive(r, comm.context, source, tag);
  return r;
}
inline void finish(Request& r) {
  wait(r);
  free_request(&r);
}

inline void pause(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    (void)progress();
    test::Switchboard::away(test::Schedule::yield);
  }
}

}  // namespace weft::core
