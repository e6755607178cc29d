// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Performance variables (MPI-5.0, 15.3.7): sessions and handles. The runtime counts on, with or without readers; each
// handle of a counter keeps what was counted before it was started, so that handles do not disturb each other.
#include <algorithm>
#include <cstring>

#include "mpi/functions.hpp"
#include "mpi/tools/tool.hpp"

namespace weft::mpi {

namespace tool {
namespace {

using Values = std::vector<uint64_t>;

struct PerformanceHandle : base::Object {
  const PerformanceRow* row = nullptr;
  MPI_Comm comm = MPI_COMM_NULL;  // the object it is bound to
  bool running = false;           // of a sum: counts just now
  Values sum;                     // counted while it ran before
  Values from;                    // the runtime's counters when it was started or reset
};

struct VariableSession : base::Object {
  std::vector<PerformanceHandle*> handles;
};

constinit std::vector<VariableSession*>* sessions = nullptr;  // the lock guards it

VariableSession* session_of(MPI_T_pvar_session session) {
  return object_of<VariableSession, base::Kind::variable_session>(session);
}

const PerformanceRow* row_at(int index) {
  const auto rows = performance_variables();
  return index >= 0 && static_cast<size_t>(index) < rows.size() ? &rows[static_cast<size_t>(index)] : nullptr;
}

MPI_Datatype type_of(Measure measure) {
  return measure == Measure::number ? MPI_UNSIGNED_LONG_LONG : measure == Measure::part ? MPI_DOUBLE : MPI_INT;
}

MPI_T_enum words_of(const PerformanceRow& row) {
  static const auto* const all = [] {
    auto* made = new std::vector<MPI_T_enum>;
    for (const PerformanceRow& each : performance_variables()) {
      made->push_back(each.words.empty() ? MPI_T_ENUM_NULL : make_enumeration(each.name, each.words));
    }
    return made;
  }();
  return (*all)[static_cast<size_t>(&row - performance_variables().data())];
}

// The runtime's value now.
Values now(const PerformanceHandle& handle) {
  Values values(static_cast<size_t>(handle.row->elements));
  handle.row->read(comm_of(handle.comm), values.data());
  return values;
}

// The handle's value.
Values value_of(const PerformanceHandle& handle, const Values& counted) {
  if (!handle.row->is_sum()) return counted;
  Values values = handle.sum;
  for (size_t i = 0; handle.running && i < values.size(); ++i) values[i] += counted[i] - handle.from[i];
  return values;
}

constexpr double billion = 1e9;

void store(const PerformanceRow& row, const Values& values, void* buffer) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (row.measure == Measure::number) {
      const unsigned long long number = values[i];
      memcpy(static_cast<char*>(buffer) + i * sizeof number, &number, sizeof number);
    } else if (row.measure == Measure::part) {
      const double part = static_cast<double>(values[i]) / billion;
      memcpy(static_cast<char*>(buffer) + i * sizeof part, &part, sizeof part);
    } else {
      const auto state = static_cast<int>(values[i]);
      memcpy(static_cast<char*>(buffer) + i * sizeof state, &state, sizeof state);
    }
  }
}

// Sums alone are written: numbers, and parts that must be neither negative nor out of range.
bool load(const PerformanceRow& row, const void* buffer, Values& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (row.measure == Measure::number) {
      memcpy(&values[i], static_cast<const char*>(buffer) + i * sizeof values[i], sizeof values[i]);
    } else {
      double part = 0;
      memcpy(&part, static_cast<const char*>(buffer) + i * sizeof part, sizeof part);
      constexpr double most = 1e9;  // in seconds, which is thirty years
      if (!(part >= 0 && part <= most)) return false;
      values[i] = static_cast<uint64_t>(part * billion);
    }
  }
  return true;
}

void start(PerformanceHandle& handle) {
  if (!handle.row->is_sum() || handle.running) return;
  handle.from = now(handle);
  handle.running = true;
}

void stop(PerformanceHandle& handle) {
  if (!handle.running) return;
  handle.sum = value_of(handle, now(handle));
  handle.running = false;
}

void reset(PerformanceHandle& handle, const Values& counted) {
  std::fill(handle.sum.begin(), handle.sum.end(), 0);
  handle.from = counted;
}

void free_session(VariableSession* session) {
  for (PerformanceHandle* handle : session->handles) base::destroy_object(handle);
  base::destroy_object(session);
}

// Finds the session, and the handle in it unless it is MPI_T_PVAR_ALL_HANDLES. The caller holds the lock.
int find(MPI_T_pvar_session session, MPI_T_pvar_handle handle, VariableSession*& s, PerformanceHandle*& h) {
  if (!is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  s = session_of(session);
  if (no_address(s)) return MPI_T_ERR_INVALID_SESSION;
  h = object_of<PerformanceHandle, base::Kind::performance_variable>(handle);
  if (handle == MPI_T_PVAR_ALL_HANDLES) return MPI_SUCCESS;
  const bool is_in = h != nullptr && std::find(s->handles.begin(), s->handles.end(), h) != s->handles.end();
  return is_in ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

// Like find(), for calls that take one handle. The object that the handle is bound to must still exist.
int find_one(MPI_T_pvar_session session, MPI_T_pvar_handle handle, PerformanceHandle*& h) {
  VariableSession* s = nullptr;
  if (const int error = find(session, handle, s, h)) return error;
  if (no_address(h)) return MPI_T_ERR_INVALID_HANDLE;
  if (h->row->bind == MPI_T_BIND_MPI_COMM && comm_of(h->comm) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  return MPI_SUCCESS;
}

int start_or_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void (*change)(PerformanceHandle&)) {
  const ToolCall call;
  VariableSession* s = nullptr;
  PerformanceHandle* one = nullptr;
  if (const int error = find(session, handle, s, one)) return error;
  if (one == nullptr) {
    for (PerformanceHandle* each : s->handles) change(*each);
    return MPI_SUCCESS;
  }
  if (!one->row->is_sum()) return MPI_T_ERR_PVAR_NO_STARTSTOP;
  change(*one);
  return MPI_SUCCESS;
}

}  // namespace

void free_all_sessions() {
  if (sessions == nullptr) return;
  for (VariableSession* session : *sessions) free_session(session);
  sessions->clear();
}

}  // namespace tool

int t_pvar_get_num(int* num_pvar) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (no_address(num_pvar)) return MPI_T_ERR_INVALID;
  *num_pvar = static_cast<int>(tool::performance_variables().size());
  return MPI_SUCCESS;
}

int t_pvar_get_info(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class, MPI_Datatype* datatype,
                    MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* readonly, int* continuous,
                    int* atomic) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  const tool::PerformanceRow* row = tool::row_at(pvar_index);
  if (no_address(row)) return MPI_T_ERR_INVALID_INDEX;
  if (!tool::can_give(name, name_len) || !tool::can_give(desc, desc_len)) return MPI_T_ERR_INVALID;
  tool::give(row->name, name, name_len);
  tool::give(verbosity, row->verbosity);
  tool::give(var_class, row->variable_class);
  tool::give(datatype, tool::type_of(row->measure));
  tool::give(enumtype, tool::words_of(*row));
  tool::give(row->help, desc, desc_len);
  tool::give(bind, row->bind);
  tool::give(readonly, row->is_sum() ? 0 : 1);
  tool::give(continuous, row->is_sum() ? 0 : 1);
  tool::give(atomic, row->is_sum() ? 1 : 0);
  return MPI_SUCCESS;
}

int t_pvar_get_index(const char* name, int var_class, int* pvar_index) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (no_address(name) || no_address(pvar_index)) return MPI_T_ERR_INVALID;
  const auto rows = tool::performance_variables();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].variable_class != var_class || strcmp(rows[i].name, name) != 0) continue;
    *pvar_index = static_cast<int>(i);
    return MPI_SUCCESS;
  }
  return MPI_T_ERR_INVALID_NAME;
}

int t_pvar_session_create(MPI_T_pvar_session* session) {
  const tool::ToolCall call;
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (no_address(session)) return MPI_T_ERR_INVALID;
  auto* made = base::make_object<tool::VariableSession>();
  if (made == nullptr) return MPI_T_ERR_OUT_OF_SESSIONS;
  made->kind = base::Kind::variable_session;
  if (tool::sessions == nullptr) tool::sessions = new std::vector<tool::VariableSession*>;
  tool::sessions->push_back(made);
  *session = handle_of<MPI_T_pvar_session>(made);
  return MPI_SUCCESS;
}

int t_pvar_session_free(MPI_T_pvar_session* session) {
  const tool::ToolCall call;
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (no_address(session)) return MPI_T_ERR_INVALID;
  tool::VariableSession* s = tool::session_of(*session);
  if (no_address(s)) return MPI_T_ERR_INVALID_SESSION;
  std::erase(*tool::sessions, s);
  tool::free_session(s);
  *session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}

int t_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void* obj_handle, MPI_T_pvar_handle* handle,
                        int* count) {
  const tool::ToolCall call;
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  tool::VariableSession* s = tool::session_of(session);
  if (no_address(s)) return MPI_T_ERR_INVALID_SESSION;
  const tool::PerformanceRow* row = tool::row_at(pvar_index);
  if (no_address(row)) return MPI_T_ERR_INVALID_INDEX;
  if (no_address(handle) || no_address(count)) return MPI_T_ERR_INVALID;
  MPI_Comm comm = MPI_COMM_NULL;
  if (row->bind == MPI_T_BIND_MPI_COMM) {
    if (no_address(obj_handle)) return MPI_T_ERR_INVALID;
    comm = *static_cast<MPI_Comm*>(obj_handle);
    if (comm_of(comm) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  }
  auto* made = base::make_object<tool::PerformanceHandle>();
  if (made == nullptr) return MPI_T_ERR_OUT_OF_HANDLES;
  made->row = row;
  made->comm = comm;
  made->sum.resize(static_cast<size_t>(row->elements));
  made->from.resize(static_cast<size_t>(row->elements));
  made->kind = base::Kind::performance_variable;
  s->handles.push_back(made);
  *handle = handle_of<MPI_T_pvar_handle>(made);
  *count = row->elements;
  return MPI_SUCCESS;
}

int t_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
  const tool::ToolCall call;
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (no_address(handle)) return MPI_T_ERR_INVALID;
  tool::VariableSession* s = nullptr;
  tool::PerformanceHandle* h = nullptr;
  if (const int error = tool::find(session, *handle, s, h)) return error;
  if (no_address(h)) return MPI_T_ERR_INVALID_HANDLE;
  std::erase(s->handles, h);
  base::destroy_object(h);
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

int t_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return tool::start_or_stop(session, handle, tool::start);
}

int t_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return tool::start_or_stop(session, handle, tool::stop);
}

int t_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  const tool::ToolCall call;
  tool::PerformanceHandle* h = nullptr;
  if (const int error = tool::find_one(session, handle, h)) return error;
  if (no_address(buf)) return MPI_T_ERR_INVALID;
  tool::store(*h->row, tool::value_of(*h, tool::now(*h)), buf);
  return MPI_SUCCESS;
}

int t_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  const tool::ToolCall call;
  tool::PerformanceHandle* h = nullptr;
  if (const int error = tool::find_one(session, handle, h)) return error;
  if (!h->row->is_sum()) return MPI_T_ERR_PVAR_NO_ATOMIC;
  if (no_address(buf)) return MPI_T_ERR_INVALID;
  const tool::Values counted = tool::now(*h);  // one look for both: nothing is lost between them
  tool::store(*h->row, tool::value_of(*h, counted), buf);
  tool::reset(*h, counted);
  return MPI_SUCCESS;
}

int t_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* buf) {
  const tool::ToolCall call;
  tool::PerformanceHandle* h = nullptr;
  if (const int error = tool::find_one(session, handle, h)) return error;
  if (!h->row->is_sum()) return MPI_T_ERR_PVAR_NO_WRITE;
  if (no_address(buf)) return MPI_T_ERR_INVALID;
  tool::Values values = h->sum;
  if (!tool::load(*h->row, buf, values)) return MPI_T_ERR_INVALID;
  h->sum = values;
  h->from = tool::now(*h);
  return MPI_SUCCESS;
}

int t_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  const tool::ToolCall call;
  tool::VariableSession* s = nullptr;
  tool::PerformanceHandle* one = nullptr;
  if (const int error = tool::find(session, handle, s, one)) return error;
  if (one == nullptr) {
    for (tool::PerformanceHandle* each : s->handles) {
      if (each->row->is_sum()) tool::reset(*each, tool::now(*each));
    }
    return MPI_SUCCESS;
  }
  if (!one->row->is_sum()) return MPI_T_ERR_PVAR_NO_WRITE;
  tool::reset(*one, tool::now(*one));
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
