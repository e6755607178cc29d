// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Event types and sources, and what a callback reads of an event (MPI-5.0, 15.3.8).
#include <algorithm>
#include <cstring>

#include "base/clock.hpp"
#include "mpi/env/info.hpp"
#include "mpi/functions.hpp"
#include "mpi/tools/tool.hpp"

namespace weft::mpi {

namespace tool {
namespace {

using base::Subject;

struct EventSource {
  const char* name;
  const char* help;
};
constexpr EventSource sources[] = {{"weft_messages", "events of messages"},
                                   {"weft_waiting", "events of waiting threads"}};
enum SourceIndex : int { of_messages, of_waiting };

constexpr EventElement message[] = {
    {EventElement::peer, 0}, {EventElement::tag, 4}, {EventElement::amount, 8}, {EventElement::internal, 16}};
constexpr EventElement amount[] = {{EventElement::amount, 0}};
constexpr const char* received[] = {"source", "tag", "bytes", "internal"};
constexpr const char* sent[] = {"destination", "tag", "bytes", "internal"};
constexpr const char* kept_names[] = {"bytes"};
constexpr const char* slept[] = {"nanoseconds"};

constexpr EventRow event_rows[] = {
    {"weft_message_unexpected", "a message came before its receive; source: its sender's rank in the communicator",
     Subject::messages, of_messages, message, received},
    {"weft_rendezvous", "a send was announced to its receiver (R0, R1); destination: rank in MPI_COMM_WORLD",
     Subject::messages, of_messages, message, sent},
    {"weft_send_queued", "a send found the ring full and waits for space; destination: rank in MPI_COMM_WORLD",
     Subject::messages, of_messages, message, sent},
    {"weft_saturated", "data that wait for their receives take their memory up: senders are asked for envelopes only",
     Subject::memory, of_messages, amount, kept_names},
    {"weft_sleep", "a wait goes to sleep in the kernel", Subject::waiting, of_waiting, {}, {}},
    {"weft_wake", "a wait is back from the kernel", Subject::waiting, of_waiting, amount, slept},
};
static_assert(std::size(event_rows) == core::event_count);

const EventRow* event_at(int index) {
  return index >= 0 && index < core::event_count ? &event_rows[index] : nullptr;
}

bool is_source(int index) {
  return index >= 0 && index < source_count();
}

bool is_wide(const EventElement& element) {
  return element.field == EventElement::amount;
}

void copy(const core::EventData& data, const EventElement& element, void* to) {
  switch (element.field) {
    case EventElement::peer:
      memcpy(to, &data.peer, sizeof data.peer);
      break;
    case EventElement::tag:
      memcpy(to, &data.tag, sizeof data.tag);
      break;
    case EventElement::amount:
      memcpy(to, &data.amount, sizeof data.amount);
      break;
    case EventElement::internal:
      memcpy(to, &data.internal, sizeof data.internal);
      break;
  }
}

// The names of an event type's elements.
MPI_T_enum names_of(const EventRow& row) {
  static const auto* const all = [] {
    auto* made = new std::vector<MPI_T_enum>;
    for (const EventRow& each : event_rows) {
      made->push_back(each.names.empty() ? MPI_T_ENUM_NULL : make_enumeration(each.name, each.names));
    }
    return made;
  }();
  return (*all)[static_cast<size_t>(&row - event_rows)];
}

const EventInstance* instance_of(MPI_T_event_instance instance) {
  return object_of<EventInstance, base::Kind::event_instance>(instance);
}

}  // namespace

std::span<const EventRow> events() {
  return event_rows;
}

int source_count() {
  return static_cast<int>(std::size(sources));
}

bool is_info(MPI_Info info) {
  return info == MPI_INFO_NULL || info == MPI_INFO_ENV || info_of(info) != nullptr;
}

int give_info(MPI_Info* info) {
  Info* made = make_info();
  if (made == nullptr) return MPI_T_ERR_MEMORY;
  *info = handle_of<MPI_Info>(made);
  return MPI_SUCCESS;
}

}  // namespace tool

int t_source_get_num(int* num_sources) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (no_address(num_sources)) return MPI_T_ERR_INVALID;
  *num_sources = tool::source_count();
  return MPI_SUCCESS;
}

int t_source_get_info(int source_index, char* name, int* name_len, char* desc, int* desc_len,
                      MPI_T_source_order* ordering, MPI_Count* ticks_per_second, MPI_Count* max_ticks, MPI_Info* info) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (!tool::is_source(source_index)) return MPI_T_ERR_INVALID_INDEX;
  if (!tool::can_give(name, name_len) || !tool::can_give(desc, desc_len)) return MPI_T_ERR_INVALID;
  const tool::EventSource& source = tool::sources[source_index];
  tool::give(source.name, name, name_len);
  tool::give(source.help, desc, desc_len);
  tool::give(ordering, MPI_T_SOURCE_UNORDERED);  // several threads may tell of events at the same time
  tool::give(ticks_per_second, MPI_Count{1000000000});
  tool::give(max_ticks, MPI_Count{INT64_MAX});
  return !no_address(info) ? tool::give_info(info) : MPI_SUCCESS;
}

int t_source_get_timestamp(int source_index, MPI_Count* timestamp) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (!tool::is_source(source_index)) return MPI_T_ERR_INVALID_INDEX;
  if (no_address(timestamp)) return MPI_T_ERR_INVALID;
  *timestamp = static_cast<MPI_Count>(base::now_ns());
  return MPI_SUCCESS;
}

int t_event_get_num(int* num_events) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (no_address(num_events)) return MPI_T_ERR_INVALID;
  *num_events = core::event_count;
  return MPI_SUCCESS;
}

int t_event_get_info(int event_index, char* name, int* name_len, int* verbosity, MPI_Datatype array_of_datatypes[],
                     MPI_Aint array_of_displacements[], int* num_elements, MPI_T_enum* enumtype, MPI_Info* info,
                     char* desc, int* desc_len, int* bind) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  const tool::EventRow* row = tool::event_at(event_index);
  if (no_address(row)) return MPI_T_ERR_INVALID_INDEX;
  if (!tool::can_give(name, name_len) || !tool::can_give(desc, desc_len)) return MPI_T_ERR_INVALID;
  const bool has_arrays = array_of_datatypes != nullptr || array_of_displacements != nullptr;
  if (num_elements != nullptr) {
    if (has_arrays && *num_elements < 0) return MPI_T_ERR_INVALID;
    const size_t room = has_arrays ? static_cast<size_t>(*num_elements) : 0;
    for (size_t i = 0; i < std::min(room, row->elements.size()); ++i) {
      const tool::EventElement& element = row->elements[i];
      if (array_of_datatypes != nullptr) array_of_datatypes[i] = tool::is_wide(element) ? MPI_COUNT : MPI_INT;
      if (array_of_displacements != nullptr) array_of_displacements[i] = element.displacement;
    }
    *num_elements = static_cast<int>(row->elements.size());
  }
  tool::give(row->name, name, name_len);
  tool::give(verbosity, MPI_T_VERBOSITY_USER_DETAIL);
  tool::give(enumtype, tool::names_of(*row));
  tool::give(row->help, desc, desc_len);
  tool::give(bind, MPI_T_BIND_NO_OBJECT);
  return !no_address(info) ? tool::give_info(info) : MPI_SUCCESS;
}

int t_event_get_index(const char* name, int* event_index) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (no_address(name) || no_address(event_index)) return MPI_T_ERR_INVALID;
  for (int i = 0; i < core::event_count; ++i) {
    if (strcmp(tool::event_rows[i].name, name) != 0) continue;
    *event_index = i;
    return MPI_SUCCESS;
  }
  return MPI_T_ERR_INVALID_NAME;
}

int t_event_read(MPI_T_event_instance event_instance, int element_index, void* buffer) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  const tool::EventInstance* instance = tool::instance_of(event_instance);
  if (no_address(instance)) return MPI_T_ERR_INVALID_HANDLE;
  if (element_index < 0 || static_cast<size_t>(element_index) >= instance->row->elements.size()) {
    return MPI_T_ERR_INVALID_INDEX;
  }
  if (no_address(buffer)) return MPI_T_ERR_INVALID;
  tool::copy(instance->data, instance->row->elements[static_cast<size_t>(element_index)], buffer);
  return MPI_SUCCESS;
}

int t_event_copy(MPI_T_event_instance event_instance, void* buffer) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  const tool::EventInstance* instance = tool::instance_of(event_instance);
  if (no_address(instance)) return MPI_T_ERR_INVALID_HANDLE;
  if (no_address(buffer)) return MPI_T_ERR_INVALID;
  for (const tool::EventElement& element : instance->row->elements) {
    tool::copy(instance->data, element, static_cast<char*>(buffer) + element.displacement);
  }
  return MPI_SUCCESS;
}

int t_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count* event_timestamp) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  const tool::EventInstance* instance = tool::instance_of(event_instance);
  if (no_address(instance)) return MPI_T_ERR_INVALID_HANDLE;
  if (no_address(event_timestamp)) return MPI_T_ERR_INVALID;
  *event_timestamp = static_cast<MPI_Count>(instance->at_ns);
  return MPI_SUCCESS;
}

int t_event_get_source(MPI_T_event_instance event_instance, int* source_index) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  const tool::EventInstance* instance = tool::instance_of(event_instance);
  if (no_address(instance)) return MPI_T_ERR_INVALID_HANDLE;
  if (no_address(source_index)) return MPI_T_ERR_INVALID;
  *source_index = instance->row->source;
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
