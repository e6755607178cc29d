// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Common parts of the tests of the tool interface: variables by their names, and counters in one line.

#include <cstring>
#include <string>
#include <vector>

#include "expect.hpp"

#define EXPECT_OK(call)                                                                    \
  do {                                                                                     \
    const int result = call;                                                               \
    if (result != MPI_SUCCESS) expect::fail(__FILE__, __LINE__, #call, "code %d", result); \
  } while (0)

// Codes of the tool interface come back as they are.
#define EXPECT_CODE(call, wanted)                                                                     \
  do {                                                                                                \
    const int result = call;                                                                          \
    if (result != (wanted)) expect::fail(__FILE__, __LINE__, #call, "code %d, not " #wanted, result); \
  } while (0)

namespace tools {

inline void open() {
  int provided = -1;
  EXPECT_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
  EXPECT(provided == MPI_THREAD_MULTIPLE, "level %d", provided);
}

// ---- control variables

inline MPI_T_cvar_handle control(const char* name) {
  int index = -1, count = 0;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  EXPECT_OK(MPI_T_cvar_get_index(name, &index));
  EXPECT_OK(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count));
  EXPECT(count == 1, "%s has %d elements", name, count);
  return handle;
}

template <class Value>  // MPI_Count for numbers, int for choices and switches
int set_control(const char* name, Value value) {
  MPI_T_cvar_handle handle = control(name);
  const int result = MPI_T_cvar_write(handle, &value);
  EXPECT_OK(MPI_T_cvar_handle_free(&handle));
  return result;
}

template <class Value>
Value get_control(const char* name) {
  MPI_T_cvar_handle handle = control(name);
  Value value{};
  EXPECT_OK(MPI_T_cvar_read(handle, &value));
  EXPECT_OK(MPI_T_cvar_handle_free(&handle));
  return value;
}

// ---- performance variables

struct Variable {
  std::string name;
  int index = -1, kind = 0, bind = 0, readonly = -1, continuous = -1, atomic = -1;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum words = MPI_T_ENUM_NULL;
};

inline std::vector<Variable> variables() {
  int count = 0;
  EXPECT_OK(MPI_T_pvar_get_num(&count));
  std::vector<Variable> all;
  for (int i = 0; i < count; ++i) {
    Variable v;
    char name[128];
    int length = sizeof name;
    EXPECT_OK(MPI_T_pvar_get_info(i, name, &length, nullptr, &v.kind, &v.type, &v.words, nullptr, nullptr, &v.bind,
                                  &v.readonly, &v.continuous, &v.atomic));
    v.name = name;
    v.index = i;
    all.push_back(v);
  }
  return all;
}

inline Variable variable(const std::string& name) {
  for (const Variable& v : variables()) {
    if (v.name == name) return v;
  }
  expect::fail(__FILE__, __LINE__, name.c_str(), "there is no such performance variable");
  return {};
}

// A session with one handle for each name, all started.
class Watch {
 public:
  explicit Watch(std::vector<std::string> names) : names_(std::move(names)) {
    EXPECT_OK(MPI_T_pvar_session_create(&session_));
    for (const std::string& name : names_) {
      MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
      int count = 0;
      EXPECT_OK(MPI_T_pvar_handle_alloc(session_, variable(name).index, nullptr, &handle, &count));
      EXPECT(count == 1, "%s has %d elements", name.c_str(), count);
      handles_.push_back(handle);
    }
    EXPECT_OK(MPI_T_pvar_start(session_, MPI_T_PVAR_ALL_HANDLES));
  }
  ~Watch() { EXPECT_OK(MPI_T_pvar_session_free(&session_)); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  template <class Value = unsigned long long>
  Value read(const std::string& name) const {
    Value value{};
    EXPECT_OK(MPI_T_pvar_read(session_, handle(name), &value));
    return value;
  }
  MPI_T_pvar_handle handle(const std::string& name) const {
    for (size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return handles_[i];
    }
    return MPI_T_PVAR_HANDLE_NULL;
  }
  MPI_T_pvar_session session() const { return session_; }

 private:
  std::vector<std::string> names_;
  std::vector<MPI_T_pvar_handle> handles_;
  MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
};

// ---- events

inline MPI_T_event_registration registration(const char* name) {
  int index = -1;
  MPI_T_event_registration made{};
  EXPECT_OK(MPI_T_event_get_index(name, &index));
  EXPECT_OK(MPI_T_event_handle_alloc(index, nullptr, MPI_INFO_NULL, &made));
  return made;
}

}  // namespace tools
