// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Events of the tool interface: callbacks get the levels of safety of the program's ABI.

#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "foreign/array.hpp"
#include "foreign/by_hand.hpp"

namespace weft::foreign {
namespace {

// A callback and what it is given, as the user data of the one that the library calls. Kept until the process ends, as
// a late event may need it.
using Call = std::pair<void (*)(), void*>;
constinit std::mutex calls_guard;
constinit std::set<Call>* tool_calls = nullptr;

template <class Function>
void* keep(Function* function, void* user_data) {
  std::lock_guard lock(calls_guard);
  if (tool_calls == nullptr) tool_calls = new std::set<Call>;
  return const_cast<Call*>(&*tool_calls->emplace(reinterpret_cast<void (*)()>(function), user_data).first);
}

template <class Function>
Function* function_of(void* call) {
  return reinterpret_cast<Function*>(static_cast<Call*>(call)->first);
}

MPI_T_cb_safety safety_out(MPI_T_cb_safety safety) {
  return static_cast<MPI_T_cb_safety>(cb_safety_out(safety));
}

void on_event(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
              void* call) {
  function_of<MPI_T_event_cb_function>(call)(instance, registration, safety_out(safety),
                                             static_cast<Call*>(call)->second);
}

void on_free(MPI_T_event_registration registration, MPI_T_cb_safety safety, void* call) {
  function_of<MPI_T_event_free_cb_function>(call)(registration, safety_out(safety), static_cast<Call*>(call)->second);
}

// The functions for dropped events. They get the user data of the registration's own callback.
constinit std::map<MPI_T_event_registration, MPI_T_event_dropped_cb_function*>* dropped = nullptr;

void on_dropped(MPI_Count count, MPI_T_event_registration registration, int source_index, MPI_T_cb_safety safety,
                void* call) {
  MPI_T_event_dropped_cb_function* function = nullptr;
  {
    std::lock_guard lock(calls_guard);
    auto at = dropped->find(registration);
    if (at != dropped->end()) function = at->second;
  }
  void* user_data = call == nullptr ? nullptr : static_cast<Call*>(call)->second;
  if (function != nullptr) function(count, registration, source_index, safety_out(safety), user_data);
}

}  // namespace

int t_event_register_callback(MPI_T_event_registration event_registration, int cb_safety, Handle info, void* user_data,
                              MPI_T_event_cb_function event_cb_function) {
  const bool given = event_cb_function != nullptr;
  return error_out(face.t_event_register_callback(
      event_registration, static_cast<MPI_T_cb_safety>(cb_safety_in(cb_safety)), in<MPI_Info>(info),
      given ? keep(event_cb_function, user_data) : user_data, given ? on_event : nullptr));
}

int t_event_handle_free(MPI_T_event_registration event_registration, void* user_data,
                        MPI_T_event_free_cb_function free_cb_function) {
  const bool given = free_cb_function != nullptr;
  return error_out(face.t_event_handle_free(event_registration, given ? keep(free_cb_function, user_data) : user_data,
                                            given ? on_free : nullptr));
}

int t_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                MPI_T_event_dropped_cb_function dropped_cb_function) {
  {
    std::lock_guard lock(calls_guard);
    if (dropped == nullptr) dropped = new std::map<MPI_T_event_registration, MPI_T_event_dropped_cb_function*>;
    (*dropped)[event_registration] = dropped_cb_function;
  }
  return error_out(
      face.t_event_set_dropped_handler(event_registration, dropped_cb_function == nullptr ? nullptr : on_dropped));
}

int t_source_get_info(int source_index, char* name, int* name_len, char* desc, int* desc_len, int* ordering,
                      MPI_Count* ticks_per_second, MPI_Count* max_ticks, Handle* info) {
  MPI_T_source_order order = MPI_T_SOURCE_ORDERED;
  const int error =
      face.t_source_get_info(source_index, name, name_len, desc, desc_len, no_place(ordering) ? nullptr : &order,
                             ticks_per_second, max_ticks, Out<MPI_Info>(info));
  if (error == MPI_SUCCESS && !no_place(ordering)) *ordering = source_order_out(order);
  return error_out(error);
}

// `num_elements` is first the capacity of the arrays, and then the number of elements in the event.
int t_event_get_info(int event_index, char* name, int* name_len, int* verbosity, Handle array_of_datatypes[],
                     MPI_Aint array_of_displacements[], int* num_elements, MPI_T_enum* enumtype, Handle* info,
                     char* desc, int* desc_len, int* bind) {
  const int room = no_place(num_elements) || no_place(array_of_datatypes) ? 0 : *num_elements;
  ArrayMemory<MPI_Datatype> types(room);
  const int error = face.t_event_get_info(event_index, name, name_len, ValueOut<verbosity_out>(verbosity),
                                          room == 0 ? nullptr : types.data(), array_of_displacements, num_elements,
                                          enumtype, Out<MPI_Info>(info), desc, desc_len, ValueOut<bind_out>(bind));
  if (error != MPI_SUCCESS || room == 0) return error_out(error);
  for (int i = 0; i < room && i < *num_elements; ++i) array_of_datatypes[i] = out(types[static_cast<size_t>(i)]);
  return MPI_SUCCESS;
}

// Variables are bound to a communicator or to nothing: the former are named by a pointer to a handle.
int t_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void* obj_handle, MPI_T_pvar_handle* handle,
                        int* count) {
  int bind = 0;
  (void)face.t_pvar_get_info(pvar_index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &bind,
                             nullptr, nullptr, nullptr);
  MPI_Comm comm = MPI_COMM_NULL;
  if (bind == MPI_T_BIND_MPI_COMM && !no_place(obj_handle)) {
    comm = in<MPI_Comm>(*static_cast<Handle*>(obj_handle));
    obj_handle = &comm;
  }
  return error_out(face.t_pvar_handle_alloc(session, pvar_index, obj_handle, handle, count));
}

}  // namespace weft::foreign
