// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The answer of every function of the tool interface to wrong arguments: the interface closed, null pointers, indices
// out of range, handles that are garbage, freed, or of another kind. None of these reaches an error handler, which
// would end the program.
#include <functional>

#include "tools.hpp"

namespace {

int number = 0;
char text[100];
int length = sizeof text;
MPI_Count ticks = 0;
double room[64];
MPI_Info info = MPI_INFO_NULL;
MPI_T_cvar_handle control;
MPI_T_pvar_session session;
MPI_T_pvar_handle variable;
MPI_T_event_registration registration{};
MPI_T_enum words = MPI_T_ENUM_NULL;

void never(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void*) {
  EXPECT(false, "an event was told");
}

// A call of each function that takes nothing or an index: `i` is the index, and all else is right.
struct Indexed {
  const char* name;
  std::function<int(int)> call;
};
const std::vector<Indexed> indexed = {
    {"cvar_get_info",
     [](int i) {
       return MPI_T_cvar_get_info(i, text, &(length = 100), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                  nullptr);
     }},
    {"cvar_handle_alloc", [](int i) { return MPI_T_cvar_handle_alloc(i, nullptr, &control, &number); }},
    {"pvar_get_info",
     [](int i) {
       return MPI_T_pvar_get_info(i, text, &(length = 100), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                  nullptr, nullptr, nullptr, nullptr);
     }},
    {"pvar_handle_alloc", [](int i) { return MPI_T_pvar_handle_alloc(session, i, nullptr, &variable, &number); }},
    {"category_get_info",
     [](int i) {
       return MPI_T_category_get_info(i, text, &(length = 100), nullptr, nullptr, nullptr, nullptr, nullptr);
     }},
    {"category_get_num_events", [](int i) { return MPI_T_category_get_num_events(i, &number); }},
    {"category_get_cvars", [](int i) { return MPI_T_category_get_cvars(i, 1, &number); }},
    {"category_get_pvars", [](int i) { return MPI_T_category_get_pvars(i, 1, &number); }},
    {"category_get_events", [](int i) { return MPI_T_category_get_events(i, 1, &number); }},
    {"category_get_categories", [](int i) { return MPI_T_category_get_categories(i, 1, &number); }},
    {"source_get_info",
     [](int i) {
       return MPI_T_source_get_info(i, text, &(length = 100), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
     }},
    {"source_get_timestamp", [](int i) { return MPI_T_source_get_timestamp(i, &ticks); }},
    {"event_get_info",
     [](int i) {
       return MPI_T_event_get_info(i, text, &(length = 100), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                   nullptr, nullptr, nullptr);
     }},
    {"event_handle_alloc", [](int i) { return MPI_T_event_handle_alloc(i, nullptr, MPI_INFO_NULL, &registration); }},
};

// Calls that take a handle, of whatever kind: `h` stands for it.
struct Handled {
  const char* name;
  int wrong;  // what is said of a wrong one
  std::function<int(void*)> call;
};
const MPI_T_cb_safety restricted = MPI_T_CB_REQUIRE_MPI_RESTRICTED;
template <class Handle>
Handle as(void* handle) {
  return static_cast<Handle>(handle);
}
using Variable = MPI_T_pvar_handle;
using Session = MPI_T_pvar_session;
using Control = MPI_T_cvar_handle;
using Registration = MPI_T_event_registration;
using Instance = MPI_T_event_instance;
const std::vector<Handled> handled = {
    {"enum_get_info", MPI_T_ERR_INVALID_HANDLE,
     [](void* h) { return MPI_T_enum_get_info(as<MPI_T_enum>(h), &number, nullptr, nullptr); }},
    {"enum_get_item", MPI_T_ERR_INVALID_HANDLE,
     [](void* h) { return MPI_T_enum_get_item(as<MPI_T_enum>(h), 0, &number, nullptr, nullptr); }},
    {"cvar_read", MPI_T_ERR_INVALID_HANDLE, [](void* h) { return MPI_T_cvar_read(as<Control>(h), room); }},
    {"cvar_write", MPI_T_ERR_INVALID_HANDLE, [](void* h) { return MPI_T_cvar_write(as<Control>(h), room); }},
    {"cvar_handle_free", MPI_T_ERR_INVALID_HANDLE,
     [](void* h) {
       auto handle = as<Control>(h);
       return MPI_T_cvar_handle_free(&handle);
     }},
    {"pvar_session_free", MPI_T_ERR_INVALID_SESSION,
     [](void* h) {
       auto handle = as<Session>(h);
       return MPI_T_pvar_session_free(&handle);
     }},
    {"pvar_handle_alloc", MPI_T_ERR_INVALID_SESSION,
     [](void* h) { return MPI_T_pvar_handle_alloc(as<Session>(h), 0, nullptr, &variable, &number); }},
    {"pvar_start with a session", MPI_T_ERR_INVALID_SESSION,
     [](void* h) { return MPI_T_pvar_start(as<Session>(h), variable); }},
    {"pvar_reset with a session", MPI_T_ERR_INVALID_SESSION,
     [](void* h) { return MPI_T_pvar_reset(as<Session>(h), MPI_T_PVAR_ALL_HANDLES); }},
    {"pvar_handle_free", MPI_T_ERR_INVALID_HANDLE,
     [](void* h) {
       auto handle = as<Variable>(h);
       return MPI_T_pvar_handle_free(session, &handle);
     }},
    {"pvar_start", MPI_T_ERR_INVALID_HANDLE, [](void* h) { return MPI_T_pvar_start(session, as<Variable>(h)); }},
    {"pvar_stop", MPI_T_ERR_INVALID_HANDLE, [](void* h) { return MPI_T_pvar_stop(session, as<Variable>(h)); }},
    {"pvar_reset", MPI_T_ERR_INVALID_HANDLE, [](void* h) { return MPI_T_pvar_reset(session, as<Variable>(h)); }},
    {"pvar_read", MPI_T_ERR_INVALID_HANDLE, [](void* h) { return MPI_T_pvar_read(session, as<Variable>(h), room); }},
    {"pvar_write", MPI_T_ERR_INVALID_HANDLE, [](void* h) { return MPI_T_pvar_write(session, as<Variable>(h), room); }},
    {"pvar_readreset", MPI_T_ERR_INVALID_HANDLE,
     [](void* h) { return MPI_T_pvar_readreset(session, as<Variable>(h), room); }},
    {"event_handle_free", MPI_T_ERR_INVALID_HANDLE,
     [](void* h) { return MPI_T_event_handle_free(as<Registration>(h), nullptr, nullptr); }},
    {"event_handle_set_info", MPI_T_ERR_INVALID_HANDLE,
     [](void* h) { return MPI_T_event_handle_set_info(as<Registration>(h), MPI_INFO_NULL); }},
    {"event_handle_get_info", MPI_T_ERR_INVALID_HANDLE,
     [](void* h) { return MPI_T_event_handle_get_info(as<Registration>(h), &info); }},
    {"event_register_callback", MPI_T_ERR_INVALID_HANDLE,
     [](void* h) {
       return MPI_T_event_register_callback(as<Registration>(h), restricted, MPI_INFO_NULL, nullptr, never);
     }},
    {"event_callback_set_info", MPI_T_ERR_INVALID_HANDLE,
     [](void* h) { return MPI_T_event_callback_set_info(as<Registration>(h), restricted, MPI_INFO_NULL); }},
    {"event_callback_get_info", MPI_T_ERR_INVALID_HANDLE,
     [](void* h) { return MPI_T_event_callback_get_info(as<Registration>(h), restricted, &info); }},
    {"event_set_dropped_handler", MPI_T_ERR_INVALID_HANDLE,
     [](void* h) { return MPI_T_event_set_dropped_handler(as<Registration>(h), nullptr); }},
    {"event_read", MPI_T_ERR_INVALID_HANDLE, [](void* h) { return MPI_T_event_read(as<Instance>(h), 0, room); }},
    {"event_copy", MPI_T_ERR_INVALID_HANDLE, [](void* h) { return MPI_T_event_copy(as<Instance>(h), room); }},
    {"event_get_timestamp", MPI_T_ERR_INVALID_HANDLE,
     [](void* h) { return MPI_T_event_get_timestamp(as<Instance>(h), &ticks); }},
    {"event_get_source", MPI_T_ERR_INVALID_HANDLE,
     [](void* h) { return MPI_T_event_get_source(as<Instance>(h), &number); }},
};

// Calls that take neither; `at` is an output argument, or a name is looked for.
struct Plain {
  const char* name;
  std::function<int(int*)> call;
};
const std::vector<Plain> plain = {
    {"cvar_get_num", [](int* at) { return MPI_T_cvar_get_num(at); }},
    {"pvar_get_num", [](int* at) { return MPI_T_pvar_get_num(at); }},
    {"category_get_num", [](int* at) { return MPI_T_category_get_num(at); }},
    {"category_changed", [](int* at) { return MPI_T_category_changed(at); }},
    {"source_get_num", [](int* at) { return MPI_T_source_get_num(at); }},
    {"event_get_num", [](int* at) { return MPI_T_event_get_num(at); }},
    {"cvar_get_index", [](int* at) { return MPI_T_cvar_get_index("WEFT_SPIN", at); }},
    {"pvar_get_index", [](int* at) { return MPI_T_pvar_get_index("weft_e0_messages", MPI_T_PVAR_CLASS_COUNTER, at); }},
    {"category_get_index", [](int* at) { return MPI_T_category_get_index("weft", at); }},
    {"event_get_index", [](int* at) { return MPI_T_event_get_index("weft_sleep", at); }},
};

#define EXPECT_OF(row, result, wanted)                                           \
  do {                                                                           \
    const int got = result;                                                      \
    EXPECT(got == (wanted), "MPI_T_%s: code %d, not " #wanted, (row).name, got); \
  } while (0)

void closed() {
  for (const Plain& row : plain) EXPECT_OF(row, row.call(&number), MPI_T_ERR_NOT_INITIALIZED);
  for (const Indexed& row : indexed) EXPECT_OF(row, row.call(0), MPI_T_ERR_NOT_INITIALIZED);
  for (const Handled& row : handled) EXPECT_OF(row, row.call(nullptr), MPI_T_ERR_NOT_INITIALIZED);
  EXPECT_CODE(MPI_T_pvar_session_create(&session), MPI_T_ERR_NOT_INITIALIZED);
  EXPECT_CODE(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
}

void indices() {
  for (const Indexed& row : indexed) {
    EXPECT_OF(row, row.call(-1), MPI_T_ERR_INVALID_INDEX);
    EXPECT_OF(row, row.call(1 << 20), MPI_T_ERR_INVALID_INDEX);
    EXPECT_OF(row, row.call(0), MPI_SUCCESS);
  }
}

// All kinds of handles there are, those to freed objects, and no handles at all.
void handles() {
  int index = -1;
  EXPECT_OK(MPI_T_cvar_get_index("WEFT_SPIN", &index));
  MPI_T_cvar_handle good_control, freed_control;
  EXPECT_OK(MPI_T_cvar_handle_alloc(index, nullptr, &good_control, &number));
  EXPECT_OK(MPI_T_cvar_handle_alloc(index, nullptr, &freed_control, &number));
  EXPECT_OK(MPI_T_cvar_get_index("WEFT_STATS", &index));
  EXPECT_OK(MPI_T_cvar_get_info(index, nullptr, nullptr, nullptr, nullptr, &words, nullptr, nullptr, nullptr, nullptr));
  EXPECT_OK(MPI_T_pvar_session_create(&session));
  MPI_T_pvar_session other;
  MPI_T_pvar_handle in_other, freed;
  EXPECT_OK(MPI_T_pvar_session_create(&other));
  EXPECT_OK(MPI_T_pvar_handle_alloc(session, 0, nullptr, &variable, &number));
  EXPECT_OK(MPI_T_pvar_handle_alloc(session, 0, nullptr, &freed, &number));
  EXPECT_OK(MPI_T_pvar_handle_alloc(other, 0, nullptr, &in_other, &number));
  EXPECT_OK(MPI_T_event_handle_alloc(0, nullptr, MPI_INFO_NULL, &registration));
  void* freed_values[] = {freed_control, freed};
  EXPECT_OK(MPI_T_cvar_handle_free(&freed_control));
  EXPECT_OK(MPI_T_pvar_handle_free(session, &freed));
  std::vector<void*> wrong = {nullptr,
                              reinterpret_cast<void*>(0x2),
                              reinterpret_cast<void*>(0xfff),
                              reinterpret_cast<void*>(0x1001),
                              reinterpret_cast<void*>(-1),
                              room,
                              MPI_COMM_WORLD,
                              reinterpret_cast<char*>(good_control) + 8,
                              reinterpret_cast<char*>(good_control) + (1 << 20),  // nothing has been there yet
                              freed_values[0],
                              freed_values[1],
                              in_other};
  struct Good {
    void* value;
    std::vector<std::string> takes;  // names begin with these
  };
  const std::vector<Good> good = {{good_control, {"cvar_"}},
                                  {words, {"enum_"}},
                                  {registration, {"event_handle", "event_reg", "event_call", "event_set"}},
                                  {variable, {}},
                                  {session, {"pvar_sess", "pvar_handle_alloc", "pvar_start with", "pvar_reset with"}}};
  for (const Handled& row : handled) {
    const std::string name = row.name;
    const bool takes_variable = row.wrong == MPI_T_ERR_INVALID_HANDLE && name.rfind("pvar_", 0) == 0;
    for (void* value : wrong) EXPECT_OF(row, row.call(value), row.wrong);
    for (const Good& each : good) {
      bool takes = takes_variable && each.value == variable;
      for (const std::string& begin : each.takes) takes |= name.rfind(begin, 0) == 0;
      if (!takes) EXPECT_OF(row, row.call(each.value), row.wrong);
    }
  }
  // Handles of one session are not handles of another, and go with their own.
  EXPECT_OK(MPI_T_pvar_session_free(&other));
  EXPECT_CODE(MPI_T_pvar_read(session, in_other, room), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_CODE(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, room), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_CODE(MPI_T_pvar_write(session, MPI_T_PVAR_ALL_HANDLES, room), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_CODE(MPI_T_pvar_readreset(session, MPI_T_PVAR_ALL_HANDLES, room), MPI_T_ERR_INVALID_HANDLE);
  MPI_T_pvar_handle all = MPI_T_PVAR_ALL_HANDLES;
  EXPECT_CODE(MPI_T_pvar_handle_free(session, &all), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_OK(MPI_T_cvar_handle_free(&good_control));
}

void null_pointers() {
  int index = -1;
  for (const Plain& row : plain) {
    EXPECT_OF(row, row.call(nullptr), MPI_T_ERR_INVALID);
    EXPECT_OF(row, row.call(&number), MPI_SUCCESS);
  }
  EXPECT_CODE(MPI_T_init_thread(MPI_THREAD_SINGLE, nullptr), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_init_thread(MPI_THREAD_MULTIPLE + 1, &number), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_init_thread(-1, &number), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_cvar_get_index(nullptr, &number), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_pvar_get_index(nullptr, MPI_T_PVAR_CLASS_COUNTER, &number), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_category_get_index(nullptr, &number), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_event_get_index(nullptr, &number), MPI_T_ERR_INVALID);
  for (const char* name : {"", "no such name", "WEFT_RANK", "weft_"}) {
    EXPECT_CODE(MPI_T_cvar_get_index(name, &number), MPI_T_ERR_INVALID_NAME);
    EXPECT_CODE(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &number), MPI_T_ERR_INVALID_NAME);
    EXPECT_CODE(MPI_T_category_get_index(name, &number), MPI_T_ERR_INVALID_NAME);
    EXPECT_CODE(MPI_T_event_get_index(name, &number), MPI_T_ERR_INVALID_NAME);
  }
  EXPECT_CODE(MPI_T_pvar_get_index("weft_e0_messages", 12345, &number), MPI_T_ERR_INVALID_NAME);
  EXPECT_CODE(MPI_T_pvar_get_index("weft_e0_messages", MPI_T_PVAR_CLASS_LEVEL, &number), MPI_T_ERR_INVALID_NAME);
  EXPECT_CODE(MPI_T_cvar_handle_alloc(0, nullptr, nullptr, &number), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_cvar_handle_alloc(0, nullptr, &control, nullptr), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_cvar_handle_free(nullptr), MPI_T_ERR_INVALID);
  EXPECT_OK(MPI_T_cvar_get_index("WEFT_SPIN", &index));
  EXPECT_OK(MPI_T_cvar_handle_alloc(index, nullptr, &control, &number));
  EXPECT_CODE(MPI_T_cvar_read(control, nullptr), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_cvar_write(control, nullptr), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_pvar_session_create(nullptr), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_pvar_session_free(nullptr), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_pvar_handle_alloc(session, 0, nullptr, nullptr, &number), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_pvar_handle_alloc(session, 0, nullptr, &variable, nullptr), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_pvar_handle_free(session, nullptr), MPI_T_ERR_INVALID);
  EXPECT_OK(MPI_T_pvar_handle_alloc(session, 0, nullptr, &variable, &number));
  EXPECT_CODE(MPI_T_pvar_read(session, variable, nullptr), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_pvar_write(session, variable, nullptr), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_pvar_readreset(session, variable, nullptr), MPI_T_ERR_INVALID);
  const int bound = tools::variable("weft_comm_requests_now").index;
  MPI_Comm comm = MPI_COMM_NULL;
  EXPECT_CODE(MPI_T_pvar_handle_alloc(session, bound, nullptr, &variable, &number), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_pvar_handle_alloc(session, bound, &comm, &variable, &number), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_CODE(MPI_T_category_get_num_events(0, nullptr), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_category_get_cvars(0, 1, nullptr), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_category_get_pvars(0, -1, &number), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_category_get_events(0, 1, nullptr), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_category_get_categories(0, -1, nullptr), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_source_get_timestamp(0, nullptr), MPI_T_ERR_INVALID);
}

void registrations() {
  const auto no_level = static_cast<MPI_T_cb_safety>(7);
  const auto no_info = reinterpret_cast<MPI_Info>(room);
  EXPECT_CODE(MPI_T_event_handle_alloc(0, nullptr, MPI_INFO_NULL, nullptr), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_event_handle_alloc(0, nullptr, no_info, &registration), MPI_T_ERR_INVALID);
  EXPECT_OK(MPI_T_event_handle_alloc(0, nullptr, MPI_INFO_ENV, &registration));
  EXPECT_CODE(MPI_T_event_register_callback(registration, no_level, MPI_INFO_NULL, nullptr, never), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_event_register_callback(registration, restricted, no_info, nullptr, never), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_event_callback_get_info(registration, restricted, &info), MPI_T_ERR_INVALID);
  EXPECT_OK(MPI_T_event_register_callback(registration, restricted, MPI_INFO_NULL, nullptr, never));
  EXPECT_CODE(MPI_T_event_callback_get_info(registration, no_level, &info), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_event_callback_get_info(registration, restricted, nullptr), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_event_callback_set_info(registration, restricted, no_info), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_event_handle_set_info(registration, no_info), MPI_T_ERR_INVALID);
  EXPECT_CODE(MPI_T_event_handle_get_info(registration, nullptr), MPI_T_ERR_INVALID);
  for (int which = 0; which < 2; ++which) {
    info = MPI_INFO_NULL;
    EXPECT_OK(which == 0 ? MPI_T_event_handle_get_info(registration, &info)
                         : MPI_T_event_callback_get_info(registration, restricted, &info));
    EXPECT_OK(which == 0 ? MPI_T_event_handle_set_info(registration, info)
                         : MPI_T_event_callback_set_info(registration, restricted, info));
    EXPECT_OK(MPI_Info_free(&info));
  }
  EXPECT_OK(MPI_T_event_set_dropped_handler(registration, nullptr));
  EXPECT_OK(MPI_T_event_register_callback(registration, restricted, MPI_INFO_NULL, nullptr, nullptr));  // takes it back
  EXPECT_CODE(MPI_T_event_callback_get_info(registration, restricted, &info), MPI_T_ERR_INVALID);
  EXPECT_OK(MPI_T_event_handle_free(registration, nullptr, nullptr));
  EXPECT_CODE(MPI_T_event_handle_free(registration, nullptr, nullptr), MPI_T_ERR_INVALID_HANDLE);
}

}  // namespace

int main(int argc, char** argv) {
  closed();
  tools::open();
  EXPECT_OK(MPI_T_pvar_session_create(&session));
  indices();
  handles();
  null_pointers();
  registrations();
  expect::start(&argc, &argv);
  indices();
  handles();
  null_pointers();
  registrations();
  MPI_Finalize();
  registrations();
  // Objects left open go with the interface.
  EXPECT_OK(MPI_T_finalize());
  closed();
  tools::open();
  EXPECT_CODE(MPI_T_pvar_session_free(&session), MPI_T_ERR_INVALID_SESSION);
  EXPECT_CODE(MPI_T_cvar_read(control, room), MPI_T_ERR_INVALID_HANDLE);
  EXPECT_OK(MPI_T_finalize());
  return expect::failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
