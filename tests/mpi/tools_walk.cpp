// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Walks through all variables, enumerations, categories, events and sources there are: before MPI_Init, after it, and
// after MPI_Finalize. With the path of docs/guide/tools.md as argument: that page lists all of them and no others.
#include <climits>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "tools.hpp"

namespace {

// One string of an object, by the rules for strings: `ask` passes a buffer and a length on.
std::string check_string(const std::function<int(char*, int*)>& ask) {
  int length = INT_MIN;
  EXPECT_OK(ask(nullptr, &length));
  EXPECT(length > 1 && length < 1000, "a length of %d", length);
  char text[1001] = "untouched";
  EXPECT_OK(ask(text, nullptr));
  int again = 0;
  EXPECT_OK(ask(text, &again));
  EXPECT(strcmp(text, "untouched") == 0 && again == length, "\"%s\", %d", text, again);
  EXPECT(ask(text, &(again = -1)) == MPI_T_ERR_INVALID, "a negative length is taken");
  EXPECT_OK(ask(text, &(again = 2)));
  EXPECT(text[0] != 0 && text[1] == 0 && strcmp(text + 2, "touched") == 0 && again == length, "\"%s\"", text);
  EXPECT_OK(ask(text, &(again = sizeof text)));
  EXPECT(static_cast<int>(strlen(text)) + 1 == length && again == length, "\"%s\": %d, %d", text, length, again);
  return text;
}

void check_enumeration(MPI_T_enum words) {
  int count = 0;
  check_string([&](char* s, int* n) { return MPI_T_enum_get_info(words, nullptr, s, n); });
  EXPECT_OK(MPI_T_enum_get_info(words, &count, nullptr, nullptr));
  EXPECT(count > 0, "%d items", count);
  std::set<std::string> names;
  for (int i = 0; i < count; ++i) {
    int value = -1;
    EXPECT_OK(MPI_T_enum_get_item(words, i, &value, nullptr, nullptr));
    EXPECT(value == i, "item %d has the value %d", i, value);
    names.insert(check_string([&](char* s, int* n) { return MPI_T_enum_get_item(words, i, nullptr, s, n); }));
  }
  EXPECT(static_cast<int>(names.size()) == count, "%zu names of %d items", names.size(), count);
  EXPECT_CODE(MPI_T_enum_get_item(words, count, nullptr, nullptr, nullptr), MPI_T_ERR_INVALID_INDEX);
  EXPECT_CODE(MPI_T_enum_get_item(words, -1, nullptr, nullptr, nullptr), MPI_T_ERR_INVALID_INDEX);
}

void walk_control(int i, std::set<std::string>& names) {
  const std::string name = check_string([&](char* s, int* n) {
    return MPI_T_cvar_get_info(i, s, n, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  });
  check_string([&](char* s, int* n) {
    return MPI_T_cvar_get_info(i, nullptr, nullptr, nullptr, nullptr, nullptr, s, n, nullptr, nullptr);
  });
  names.insert(name);
  int verbosity = 0, bind = 0, scope = 0, index = -1, count = 0;
  MPI_Datatype type;
  MPI_T_enum words;
  EXPECT_OK(MPI_T_cvar_get_info(i, nullptr, nullptr, &verbosity, &type, &words, nullptr, nullptr, &bind, &scope));
  EXPECT(bind == MPI_T_BIND_NO_OBJECT, "bound to %d", bind);
  EXPECT(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL, "%d", verbosity);
  EXPECT(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ, "scope %d", scope);
  EXPECT_OK(MPI_T_cvar_get_index(name.c_str(), &index));
  EXPECT(index == i, "%s is %d and %d", name.c_str(), i, index);
  EXPECT((type == MPI_INT) == (words != MPI_T_ENUM_NULL), "%s", name.c_str());
  if (words != MPI_T_ENUM_NULL) check_enumeration(words);
  MPI_T_cvar_handle handle;
  EXPECT_OK(MPI_T_cvar_handle_alloc(i, nullptr, &handle, &count));
  int size = 0;
  if (type == MPI_CHAR) {
    EXPECT(count > 1, "%d characters", count);
    size = count;
  } else {
    EXPECT(count == 1 && (type == MPI_COUNT || type == MPI_INT), "%s", name.c_str());
    size = type == MPI_COUNT ? sizeof(MPI_Count) : sizeof(int);
  }
  std::vector<char> room(static_cast<size_t>(size) + 8, 'x');
  EXPECT_OK(MPI_T_cvar_read(handle, room.data()));
  EXPECT(std::string(&room[static_cast<size_t>(size)], 8) == "xxxxxxxx", "%s wrote too much", name.c_str());
  const bool fixed = scope == MPI_T_SCOPE_CONSTANT || scope == MPI_T_SCOPE_READONLY;
  const int written = MPI_T_cvar_write(handle, room.data());  // what it is anyway
  EXPECT(fixed ? written == MPI_T_ERR_CVAR_SET_NEVER : written == MPI_SUCCESS || written == MPI_T_ERR_CVAR_SET_NOT_NOW,
         "%s: %d", name.c_str(), written);
  EXPECT_OK(MPI_T_cvar_handle_free(&handle));
  EXPECT(handle == MPI_T_CVAR_HANDLE_NULL, "not set to null");
}

void walk_performance(const tools::Variable& v, MPI_T_pvar_session session, bool running) {
  const int i = v.index;
  int verbosity = 0, index = -1, count = 0;
  check_string([&](char* s, int* n) {
    return MPI_T_pvar_get_info(i, s, n, &verbosity, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                               nullptr, nullptr);
  });
  check_string([&](char* s, int* n) {
    return MPI_T_pvar_get_info(i, nullptr, nullptr, &verbosity, nullptr, nullptr, nullptr, s, n, nullptr, nullptr,
                               nullptr, nullptr);
  });
  EXPECT_OK(MPI_T_pvar_get_index(v.name.c_str(), v.kind, &index));
  EXPECT(index == i, "%s is %d and %d", v.name.c_str(), i, index);
  EXPECT_CODE(MPI_T_pvar_get_index(v.name.c_str(), MPI_T_PVAR_CLASS_GENERIC, &index), MPI_T_ERR_INVALID_NAME);
  EXPECT(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL, "%d", verbosity);
  if (v.words != MPI_T_ENUM_NULL) check_enumeration(v.words);
  EXPECT((v.kind == MPI_T_PVAR_CLASS_STATE) == (v.words != MPI_T_ENUM_NULL), "%s", v.name.c_str());
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  if (v.bind == MPI_T_BIND_MPI_COMM && !running) {
    EXPECT_CODE(MPI_T_pvar_handle_alloc(session, i, &comm, &handle, &count), MPI_T_ERR_INVALID_HANDLE);
    return;
  }
  EXPECT_OK(MPI_T_pvar_handle_alloc(session, i, &comm, &handle, &count));
  EXPECT(count == 1 || count == 64, "%d elements", count);
  double room[65] = {};  // every type is at most as large
  EXPECT_OK(MPI_T_pvar_read(session, handle, room));
  EXPECT_CODE(MPI_T_pvar_start(session, handle), v.continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS);
  EXPECT_CODE(MPI_T_pvar_write(session, handle, room), v.readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS);
  EXPECT_CODE(MPI_T_pvar_reset(session, handle), v.readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS);
  EXPECT_CODE(MPI_T_pvar_readreset(session, handle, room), v.atomic ? MPI_SUCCESS : MPI_T_ERR_PVAR_NO_ATOMIC);
  EXPECT_CODE(MPI_T_pvar_stop(session, handle), v.continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS);
  EXPECT_OK(MPI_T_pvar_handle_free(session, &handle));
  EXPECT(handle == MPI_T_PVAR_HANDLE_NULL, "not set to null");
}

struct Members {
  std::set<int> controls, performance, events, categories;
};

template <class Get>
void take(std::set<int>& all, int count, Get get) {
  std::vector<int> indices(static_cast<size_t>(count) + 1, -7);
  EXPECT_OK(get(count + 1, indices.data()));
  EXPECT(indices.back() == -7, "more than there are");
  for (int i = 0; i < count; ++i) {
    EXPECT(all.insert(indices[static_cast<size_t>(i)]).second, "%d is in two categories",
           indices[static_cast<size_t>(i)]);
  }
}

void walk_category(int i, Members& all, std::set<std::string>& names) {
  const std::string name = check_string(
      [&](char* s, int* n) { return MPI_T_category_get_info(i, s, n, nullptr, nullptr, nullptr, nullptr, nullptr); });
  check_string(
      [&](char* s, int* n) { return MPI_T_category_get_info(i, nullptr, nullptr, s, n, nullptr, nullptr, nullptr); });
  names.insert(name);
  int controls = -1, performance = -1, categories = -1, events = -1, index = -1;
  EXPECT_OK(MPI_T_category_get_info(i, nullptr, nullptr, nullptr, nullptr, &controls, &performance, &categories));
  EXPECT_OK(MPI_T_category_get_num_events(i, &events));
  EXPECT_OK(MPI_T_category_get_index(name.c_str(), &index));
  EXPECT(index == i, "%s is %d and %d", name.c_str(), i, index);
  take(all.controls, controls, [&](int n, int* at) { return MPI_T_category_get_cvars(i, n, at); });
  take(all.performance, performance, [&](int n, int* at) { return MPI_T_category_get_pvars(i, n, at); });
  take(all.events, events, [&](int n, int* at) { return MPI_T_category_get_events(i, n, at); });
  take(all.categories, categories, [&](int n, int* at) { return MPI_T_category_get_categories(i, n, at); });
  EXPECT_OK(MPI_T_category_get_cvars(i, 0, nullptr));
}

void walk_event(int i, std::set<std::string>& names) {
  auto info = [&](char* name, int* name_length, char* text, int* length) {
    return MPI_T_event_get_info(i, name, name_length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, text,
                                length, nullptr);
  };
  const std::string name = check_string([&](char* s, int* n) { return info(s, n, nullptr, nullptr); });
  check_string([&](char* s, int* n) { return info(nullptr, nullptr, s, n); });
  names.insert(name);
  MPI_Datatype types[10];
  MPI_Aint places[10];
  int elements = 10, verbosity = 0, bind = 0, index = -1;
  MPI_T_enum words;
  MPI_Info hints = MPI_INFO_NULL;
  EXPECT_OK(MPI_T_event_get_info(i, nullptr, nullptr, &verbosity, types, places, &elements, &words, &hints, nullptr,
                                 nullptr, &bind));
  EXPECT(bind == MPI_T_BIND_NO_OBJECT && hints != MPI_INFO_NULL, "%d", bind);
  MPI_Info_free(&hints);
  for (int e = 0; e < elements; ++e) {
    const MPI_Aint end = e == 0 ? 0 : places[e - 1] + (types[e - 1] == MPI_COUNT ? 8 : 4);
    EXPECT(types[e] == MPI_INT || types[e] == MPI_COUNT, "element %d", e);
    EXPECT(places[e] >= end, "element %d lies at %ld", e, static_cast<long>(places[e]));
  }
  EXPECT((words == MPI_T_ENUM_NULL) == (elements == 0), "%s", name.c_str());
  if (words != MPI_T_ENUM_NULL) {
    int items = 0;
    EXPECT_OK(MPI_T_enum_get_info(words, &items, nullptr, nullptr));
    EXPECT(items == elements, "%d names of %d elements", items, elements);
    check_enumeration(words);
  }
  EXPECT_OK(MPI_T_event_get_index(name.c_str(), &index));
  EXPECT(index == i, "%s is %d and %d", name.c_str(), i, index);
  int room = 1;  // less than there are elements
  places[1] = -7;
  EXPECT_OK(MPI_T_event_get_info(i, nullptr, nullptr, nullptr, nullptr, places, &room, nullptr, nullptr, nullptr,
                                 nullptr, nullptr));
  EXPECT(room == elements && places[1] == -7, "%d", room);
}

void walk_source(int i, std::set<std::string>& names) {
  auto info = [&](char* name, int* name_length, char* text, int* length) {
    return MPI_T_source_get_info(i, name, name_length, text, length, nullptr, nullptr, nullptr, nullptr);
  };
  names.insert(check_string([&](char* s, int* n) { return info(s, n, nullptr, nullptr); }));
  check_string([&](char* s, int* n) { return info(nullptr, nullptr, s, n); });
  MPI_T_source_order order;
  MPI_Count ticks = 0, most = 0, first = 0, second = 0;
  MPI_Info hints = MPI_INFO_NULL;
  EXPECT_OK(MPI_T_source_get_info(i, nullptr, nullptr, nullptr, nullptr, &order, &ticks, &most, &hints));
  EXPECT(order == MPI_T_SOURCE_UNORDERED && ticks == 1000000000 && most > ticks, "%lld ticks",
         static_cast<long long>(ticks));
  MPI_Info_free(&hints);
  EXPECT_OK(MPI_T_source_get_timestamp(i, &first));
  EXPECT_OK(MPI_T_source_get_timestamp(i, &second));
  EXPECT(first > 0 && second >= first, "%lld, %lld", static_cast<long long>(first), static_cast<long long>(second));
}

std::set<std::string> walk(bool running) {
  int controls = 0, categories = 0, events = 0, sources = 0, stamp = -1, again = -1;
  std::set<std::string> settings, names;
  EXPECT_OK(MPI_T_cvar_get_num(&controls));
  for (int i = 0; i < controls; ++i) walk_control(i, settings);
  EXPECT(static_cast<int>(settings.size()) == controls, "%zu names", settings.size());
  MPI_T_pvar_session session;
  EXPECT_OK(MPI_T_pvar_session_create(&session));
  const std::vector<tools::Variable> performance = tools::variables();
  for (const tools::Variable& v : performance) {
    walk_performance(v, session, running);
    EXPECT(names.insert(v.name).second, "two of the name %s", v.name.c_str());
  }
  EXPECT_OK(MPI_T_pvar_session_free(&session));
  EXPECT(session == MPI_T_PVAR_SESSION_NULL, "not set to null");
  EXPECT_OK(MPI_T_category_get_num(&categories));
  EXPECT_OK(MPI_T_event_get_num(&events));
  EXPECT_OK(MPI_T_source_get_num(&sources));
  Members members;
  for (int i = 0; i < categories; ++i) walk_category(i, members, names);
  EXPECT(static_cast<int>(members.controls.size()) == controls, "%zu settings have a category",
         members.controls.size());
  EXPECT(members.performance.size() == performance.size(), "%zu of %zu", members.performance.size(),
         performance.size());
  EXPECT(static_cast<int>(members.events.size()) == events, "%zu of %d", members.events.size(), events);
  EXPECT(static_cast<int>(members.categories.size()) == categories - 1, "%zu of %d", members.categories.size(),
         categories);
  EXPECT_OK(MPI_T_category_changed(&stamp));
  EXPECT_OK(MPI_T_category_changed(&again));
  EXPECT(stamp == again, "%d, %d", stamp, again);
  for (int i = 0; i < events; ++i) walk_event(i, names);
  for (int i = 0; i < sources; ++i) walk_source(i, names);
  return names;
}

// The names on the page that stand in backquotes: weft itself, and what begins with weft_.
void check_page(const char* path, const std::set<std::string>& names) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  std::set<std::string> listed;
  for (size_t at = page.find("`weft"); at != std::string::npos; at = page.find("`weft", at + 1)) {
    const std::string name = page.substr(at + 1, page.find('`', at + 1) - at - 1);
    if (name == "weft" || name.rfind("weft_", 0) == 0) listed.insert(name);
  }
  for (const std::string& name : names) EXPECT(listed.count(name) == 1, "%s does not list %s", path, name.c_str());
  for (const std::string& name : listed) EXPECT(names.count(name) == 1, "%s lists %s", path, name.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  tools::open();
  walk(false);
  tools::open();  // twice is allowed
  EXPECT_OK(MPI_T_finalize());
  walk(false);
  EXPECT_OK(MPI_T_finalize());
  EXPECT_CODE(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  tools::open();
  const std::set<std::string> names = walk(true);
  if (argc > 1) check_page(argv[1], names);
  MPI_Finalize();
  walk(false);
  EXPECT_OK(MPI_T_finalize());
  tools::open();
  walk(false);
  EXPECT_OK(MPI_T_finalize());
  return expect::failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
