// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The tool information interface (MPI-5.0, chapter 15): the common parts. Its functions may be called from any thread,
// before MPI_Init and after MPI_Finalize. They raise no errors on error handlers: they return MPI_T_ERR_ codes.
//
// Locks: a call holds the lock below, which guards handles and sessions; registrations for events have one of their own
// (registration.cpp), so that both kinds of calls may be made by callbacks. Nothing that takes a lock of core's
// lanes or queues runs under either.

#include <mpi.h>

#include <span>
#include <string_view>
#include <vector>

#include "base/setting.hpp"
#include "core/object/event.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/object/object.hpp"

namespace weft::mpi::tool {

// One call of the interface, with its lock.
class ToolCall {
 public:
  ToolCall();
  ~ToolCall();
  ToolCall(const ToolCall&) = delete;
  ToolCall& operator=(const ToolCall&) = delete;
};

// Whether more MPI_T_init_thread than MPI_T_finalize were called.
[[nodiscard]] bool is_open();

// Strings are given back as MPI-5.0, 15.3.3 says: a null pointer or a length of zero gets only the length, which
// includes the final null, and no string is longer than the caller's buffer. can_give() is false for a negative length.
[[nodiscard]] inline bool can_give(const char* to, const int* length) {
  return to == nullptr || length == nullptr || *length >= 0;
}
void give(std::string_view text, char* to, int* length);

// An output argument that the caller may leave out.
template <class T>
void give(T* to, T value) {
  if (!no_address(to)) *to = value;
}

// The names of a variable's values, or of an event's elements: entry i is the name of i. Made when the interface is
// first used, and kept until the process ends.
struct Enumeration : base::Object {
  const char* name = "";
  std::span<const char* const> items;
};
[[nodiscard]] MPI_T_enum make_enumeration(const char* name, std::span<const char* const> items);

// ---- what there is. Indices are places in these lists; they never change.

[[nodiscard]] const std::vector<base::SettingRow*>& control_variables();

// How a performance variable shows its number.
enum class Measure : uint8_t {
  number,  // MPI_UNSIGNED_LONG_LONG
  part,    // MPI_DOUBLE, in billionths: seconds, or a part of the whole
  state,   // MPI_INT, with an enumeration
};

struct PerformanceRow {
  const char* name;
  const char* help;
  base::Subject subject;
  int variable_class;  // MPI_T_PVAR_CLASS_...
  void (*read)(const Comm* comm, uint64_t* values);
  int verbosity = MPI_T_VERBOSITY_USER_DETAIL;
  Measure measure = Measure::number;
  int elements = 1;
  int bind = MPI_T_BIND_NO_OBJECT;
  std::span<const char* const> words = {};

  // A growing value is counted by each handle on its own, while it is started; everything else is always there to be
  // read, and cannot be written.
  [[nodiscard]] bool is_sum() const {
    return variable_class == MPI_T_PVAR_CLASS_COUNTER || variable_class == MPI_T_PVAR_CLASS_AGGREGATE ||
           variable_class == MPI_T_PVAR_CLASS_TIMER;
  }
};
inline constexpr int most_elements = 64;
[[nodiscard]] std::span<const PerformanceRow> performance_variables();

struct EventElement {
  enum EventField : uint8_t { peer, tag, amount, internal } field;
  int displacement;  // in what MPI_T_event_copy gives
};
struct EventRow {
  const char* name;
  const char* help;
  base::Subject subject;
  int source;
  std::span<const EventElement> elements;
  std::span<const char* const> names;  // of the elements
};
[[nodiscard]] std::span<const EventRow> events();  // in the order of core::Event
[[nodiscard]] int source_count();

// ---- The end of the interface, whose caller holds the lock

void free_all_controls();
void free_all_sessions();
void free_all_registrations();

// ---- Events

// One event as a callback is told of it; it lives as long as the callbacks run.
struct EventInstance : base::Object {
  const EventRow* row = nullptr;
  core::EventData data;
  uint64_t at_ns = 0;
};

// MPI_INFO_NULL, or any info object: no hints are known, and unknown ones have no effect.
[[nodiscard]] bool is_info(MPI_Info info);
// A new info object, empty; an MPI_T_ERR_ code.
[[nodiscard]] int give_info(MPI_Info* info);

}  // namespace weft::mpi::tool
