// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Registrations for events, and the calls of their callbacks (MPI-5.0, 15.3.8).
//
// A callback runs in the thread to which the event happens, which may hold locks of core. So it may do no more than the
// level MPI_T_CB_REQUIRE_MPI_RESTRICTED allows, and at MPI_THREAD_MULTIPLE it must be thread-safe too. Callbacks of
// lower levels get nothing: their events count as dropped. So do events that happen in a callback.
//
// The list of registrations is changed under a lock, and callbacks run without it. A thread that calls one counts in
// `calls`, which keeps the registration in the list; one that is freed meanwhile ends with the last of its calls.
#include <algorithm>
#include <mutex>

#include "base/clock.hpp"
#include "core/thread/thread.hpp"
#include "mpi/functions.hpp"
#include "mpi/tools/tool.hpp"

namespace weft::mpi {

namespace tool {
namespace {

constexpr MPI_T_cb_safety levels[] = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                      MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};
constexpr size_t level_count = std::size(levels);

struct Callback {
  MPI_T_event_cb_function* function = nullptr;
  void* user_data = nullptr;
};

struct Registration : base::Object {
  Registration* next = nullptr;
  size_t event = 0;
  Callback callbacks[level_count];
  MPI_T_event_dropped_cb_function* on_dropped = nullptr;
  MPI_Count dropped = 0;  // and not told yet
  int calls = 0;          // under way
  bool freed = false;
  MPI_T_event_free_cb_function* on_freed = nullptr;
  void* freed_data = nullptr;

  [[nodiscard]] bool has_callback() const {
    return std::any_of(std::begin(callbacks), std::end(callbacks), [](const Callback& c) { return c.function; });
  }
};

constinit base::Lock registrations_lock;  // of all that follows
constinit Registration* first_registration = nullptr;

constinit thread_local bool in_callback = false;

MPI_T_event_registration handle_to(Registration& r) {
  return handle_of<MPI_T_event_registration>(&r);
}

// The registration of a handle; nullptr if it is freed or none. The caller holds the lock.
Registration* registration_of(MPI_T_event_registration handle) {
  auto* r = object_of<Registration, base::Kind::event_registration>(handle);
  return r != nullptr && !r->freed ? r : nullptr;
}

// The place of a level among the four; level_count when it is none.
size_t place_of(MPI_T_cb_safety level) {
  return static_cast<size_t>(std::find(std::begin(levels), std::end(levels), level) - std::begin(levels));
}

// The most that this process allows callbacks to do.
size_t needed_level() {
  return place_of(core::threads->multiple ? MPI_T_CB_REQUIRE_THREAD_SAFE : MPI_T_CB_REQUIRE_MPI_RESTRICTED);
}

// Tells core which events have callbacks: it makes no calls for the others. The caller holds the lock.
void note_heard() {
  uint32_t heard = 0;
  for (const Registration* r = first_registration; r != nullptr; r = r->next) {
    if (!r->freed && r->has_callback()) heard |= 1u << r->event;
  }
  core::events_heard.store(heard, std::memory_order_release);
}

// Takes a registration out of the list. The caller holds the lock.
void unlink(Registration& r) {
  Registration** at = &first_registration;
  while (*at != &r) at = &(*at)->next;
  *at = r.next;
}

// Ends a freed registration that is out of the list. The caller does not hold the lock.
void finish(Registration& r, size_t level) {
  if (r.on_freed != nullptr) r.on_freed(handle_to(r), levels[level], r.freed_data);
  base::destroy_object(&r);
}

// The callbacks for one event, which are copied while the lock is held.
struct Due {
  Callback callback;
  MPI_T_event_dropped_cb_function* on_dropped = nullptr;
  void* dropped_data = nullptr;
  MPI_Count dropped = 0;
};

Due due_of(Registration& r, size_t level) {
  Due due;
  for (size_t i = level_count; i-- > level;) {
    if (r.callbacks[i].function != nullptr) due.callback = r.callbacks[i];  // the lowest that will do
  }
  if (due.callback.function == nullptr) ++r.dropped;
  if (r.dropped == 0 || r.on_dropped == nullptr) return due;
  due.on_dropped = r.on_dropped;
  due.dropped = r.dropped;
  for (const Callback& c : r.callbacks) {
    if (c.function != nullptr) due.dropped_data = c.user_data;
  }
  r.dropped = 0;
  return due;
}

void call(Registration& r, const Due& due, EventInstance& instance, size_t level) {
  const MPI_T_event_registration handle = handle_to(r);
  if (due.dropped != 0) {
    due.on_dropped(due.dropped, handle, instance.row->source, levels[level], due.dropped_data);
  }
  if (due.callback.function != nullptr) {
    due.callback.function(handle_of<MPI_T_event_instance>(&instance), handle, levels[level], due.callback.user_data);
  }
}

void drop_all(size_t event) {
  std::lock_guard guard(registrations_lock);
  for (Registration* r = first_registration; r != nullptr; r = r->next) {
    if (r->event == event && !r->freed && r->has_callback()) ++r->dropped;
  }
}

void call_all(size_t event, EventInstance& instance) {
  const size_t level = needed_level();
  Registration* ended = nullptr;
  std::unique_lock guard(registrations_lock);
  for (Registration* r = first_registration; r != nullptr;) {
    if (r->event != event || r->freed || !r->has_callback()) {
      r = r->next;
      continue;
    }
    const Due due = due_of(*r, level);
    ++r->calls;
    guard.unlock();
    call(*r, due, instance, level);
    guard.lock();
    Registration* const next = r->next;
    if (--r->calls == 0 && r->freed) {
      unlink(*r);
      r->next = ended;
      ended = r;
    }
    r = next;
  }
  guard.unlock();
  while (Registration* r = ended) {
    ended = r->next;
    finish(*r, level);
  }
}

void listen(core::Event event, const core::EventData& data) {
  const auto place = static_cast<size_t>(event);
  EventInstance* instance = in_callback ? nullptr : base::make_object<EventInstance>();
  if (instance == nullptr) return drop_all(place);
  instance->row = &events()[place];
  instance->data = data;
  instance->at_ns = base::now_ns();
  instance->kind = base::Kind::event_instance;
  in_callback = true;
  call_all(place, *instance);
  in_callback = false;
  base::destroy_object(instance);
}

}  // namespace

void free_all_registrations() {
  std::lock_guard guard(registrations_lock);
  for (Registration** at = &first_registration; *at != nullptr;) {
    Registration* r = *at;
    r->freed = true;
    if (r->calls != 0) {
      at = &r->next;
      continue;
    }
    *at = r->next;
    base::destroy_object(r);
  }
  note_heard();
}

}  // namespace tool

int t_event_handle_alloc(int event_index, void* /*obj_handle*/, MPI_Info info,
                         MPI_T_event_registration* event_registration) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (event_index < 0 || event_index >= core::event_count) return MPI_T_ERR_INVALID_INDEX;
  if (no_address(event_registration) || !tool::is_info(info)) return MPI_T_ERR_INVALID;
  auto* made = base::make_object<tool::Registration>();
  if (made == nullptr) return MPI_T_ERR_OUT_OF_HANDLES;
  made->event = static_cast<size_t>(event_index);
  made->kind = base::Kind::event_registration;
  std::lock_guard guard(tool::registrations_lock);
  core::listener.store(tool::listen, std::memory_order_relaxed);
  made->next = tool::first_registration;
  tool::first_registration = made;
  *event_registration = tool::handle_to(*made);
  return MPI_SUCCESS;
}

int t_event_handle_free(MPI_T_event_registration event_registration, void* user_data,
                        MPI_T_event_free_cb_function free_cb_function) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  tool::Registration* r = nullptr;
  {
    std::lock_guard guard(tool::registrations_lock);
    r = tool::registration_of(event_registration);
    if (no_address(r)) return MPI_T_ERR_INVALID_HANDLE;
    r->freed = true;
    r->on_freed = free_cb_function;
    r->freed_data = user_data;
    tool::note_heard();
    if (r->calls != 0) return MPI_SUCCESS;
    tool::unlink(*r);
  }
  tool::finish(*r, 0);
  return MPI_SUCCESS;
}

int t_event_register_callback(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info,
                              void* user_data, MPI_T_event_cb_function event_cb_function) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  std::lock_guard guard(tool::registrations_lock);
  tool::Registration* r = tool::registration_of(event_registration);
  if (no_address(r)) return MPI_T_ERR_INVALID_HANDLE;
  const size_t level = tool::place_of(cb_safety);
  if (level == tool::level_count || !tool::is_info(info)) return MPI_T_ERR_INVALID;
  r->callbacks[level] = {event_cb_function, user_data};
  tool::note_heard();
  return MPI_SUCCESS;
}

int t_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                MPI_T_event_dropped_cb_function dropped_cb_function) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  std::lock_guard guard(tool::registrations_lock);
  tool::Registration* r = tool::registration_of(event_registration);
  if (no_address(r)) return MPI_T_ERR_INVALID_HANDLE;
  r->on_dropped = dropped_cb_function;
  return MPI_SUCCESS;
}

namespace tool {
namespace {

// Hints of a registration, or of its callback for one level: there are none, and so nothing is kept of what is given.
int find_hints(MPI_T_event_registration event_registration, const MPI_T_cb_safety* cb_safety) {
  if (!is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  std::lock_guard guard(registrations_lock);
  const Registration* r = registration_of(event_registration);
  if (no_address(r)) return MPI_T_ERR_INVALID_HANDLE;
  if (cb_safety == nullptr) return MPI_SUCCESS;
  const size_t level = place_of(*cb_safety);
  return level != level_count && r->callbacks[level].function != nullptr ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

int set_hints(MPI_T_event_registration event_registration, const MPI_T_cb_safety* cb_safety, MPI_Info info) {
  if (const int error = find_hints(event_registration, cb_safety)) return error;
  return is_info(info) ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

int get_hints(MPI_T_event_registration event_registration, const MPI_T_cb_safety* cb_safety, MPI_Info* info_used) {
  if (const int error = find_hints(event_registration, cb_safety)) return error;
  return info_used != nullptr ? give_info(info_used) : MPI_T_ERR_INVALID;
}

}  // namespace
}  // namespace tool

int t_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info) {
  return tool::set_hints(event_registration, nullptr, info);
}

int t_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info* info_used) {
  return tool::get_hints(event_registration, nullptr, info_used);
}

int t_event_callback_set_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info) {
  return tool::set_hints(event_registration, &cb_safety, info);
}

int t_event_callback_get_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
                              MPI_Info* info_used) {
  return tool::get_hints(event_registration, &cb_safety, info_used);
}

}  // namespace weft::mpi
