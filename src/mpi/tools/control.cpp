// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Control variables (MPI-5.0, 15.3.6): the settings, but for what the launcher tells ranks. They have the settings'
// names and help. A setting may be written as long as its row says that it can still act.
#include <algorithm>
#include <cstring>
#include <string>

#include "mpi/functions.hpp"
#include "mpi/process/environment.hpp"
#include "mpi/tools/tool.hpp"

namespace weft::mpi {

namespace tool {
namespace {

using base::Change;
using base::SettingForm;
using base::SettingRow;

struct ControlVariable {
  SettingRow* row;
  std::string help;
  MPI_T_enum words;
};

struct ControlHandle : base::Object {
  SettingRow* row = nullptr;
  int count = 1;
};

constinit std::vector<ControlHandle*>* handles = nullptr;  // the lock guards it

const char* unit_of(base::Unit unit) {
  switch (unit) {
    case base::Unit::bytes:
      return " bytes";
    case base::Unit::microseconds:
      return " microseconds";
    case base::Unit::seconds:
      return " seconds";
    default:
      return "";
  }
}

ControlVariable describe(SettingRow* row) {
  std::string help = row->text().help;
  const bool is_number = row->form() == SettingForm::number;
  help += " (" + row->shown_range() + (is_number ? unit_of(row->text().unit) : "");
  if (row->form() != SettingForm::text) help += "; default " + row->shown_default();
  help += ")";
  const bool has_words = row->form() == SettingForm::on_off || row->form() == SettingForm::choice;
  return {row, help, has_words ? make_enumeration(row->text().name, row->words()) : MPI_T_ENUM_NULL};
}

const std::vector<ControlVariable>& controls() {
  static const auto* const all = [] {
    auto* made = new std::vector<ControlVariable>;
    for (SettingRow* row : control_variables()) made->push_back(describe(row));
    return made;
  }();
  return *all;
}

const ControlVariable* control_at(int index) {
  return index >= 0 && static_cast<size_t>(index) < controls().size() ? &controls()[static_cast<size_t>(index)]
                                                                      : nullptr;
}

ControlHandle* control_of(MPI_T_cvar_handle handle) {
  return object_of<ControlHandle, base::Kind::control_variable>(handle);
}

MPI_Datatype type_of(SettingForm form) {
  return form == SettingForm::number ? MPI_COUNT : form == SettingForm::text ? MPI_CHAR : MPI_INT;
}

int verbosity_of(base::SettingLevel level) {
  return level == base::SettingLevel::basic ? MPI_T_VERBOSITY_USER_BASIC : MPI_T_VERBOSITY_TUNER_DETAIL;
}

int scope_of(const base::SettingText& text) {
  if (text.change == Change::never) return MPI_T_SCOPE_CONSTANT;
  return text.alike ? MPI_T_SCOPE_ALL_EQ : MPI_T_SCOPE_LOCAL;
}

// Elements of the buffer that the value is read into: a text may be longer when it is read than it is now.
int count_of(const SettingRow& row) {
  constexpr size_t usual_text = 1024;
  return row.form() == SettingForm::text ? static_cast<int>(std::max(usual_text, row.shown().size() + 1)) : 1;
}

void read(const ControlHandle& handle, void* buffer) {
  switch (handle.row->form()) {
    case SettingForm::number: {
      const MPI_Count value = handle.row->number();
      memcpy(buffer, &value, sizeof value);
      break;
    }
    case SettingForm::text: {
      int room = handle.count;
      give(handle.row->shown(), static_cast<char*>(buffer), &room);
      break;
    }
    default: {
      const auto value = static_cast<int>(handle.row->number());
      memcpy(buffer, &value, sizeof value);
    }
  }
}

int write(SettingRow& row, const void* buffer) {
  const Change change = row.text().change;
  if (change == Change::never || row.form() == SettingForm::text) return MPI_T_ERR_CVAR_SET_NEVER;
  const Standstill still;
  if (still.has_left() || (change == Change::before_start && still.has_joined())) return MPI_T_ERR_CVAR_SET_NOT_NOW;
  int64_t value = 0;
  if (row.form() == SettingForm::number) {
    memcpy(&value, buffer, sizeof value);
  } else {
    int word = 0;
    memcpy(&word, buffer, sizeof word);
    value = word;
  }
  return row.set_number(value) ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

}  // namespace

const std::vector<SettingRow*>& control_variables() {
  static const auto* const rows = [] {
    auto* all = new std::vector<SettingRow*>;
    for (SettingRow* row : base::all_settings()) {
      if (row->text().level != base::SettingLevel::internal) all->push_back(row);
    }
    return all;
  }();
  return *rows;
}

void free_all_controls() {
  if (handles == nullptr) return;
  for (ControlHandle* handle : *handles) base::destroy_object(handle);
  handles->clear();
}

}  // namespace tool

int t_cvar_get_num(int* num_cvar) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (no_address(num_cvar)) return MPI_T_ERR_INVALID;
  *num_cvar = static_cast<int>(tool::controls().size());
  return MPI_SUCCESS;
}

int t_cvar_get_info(int cvar_index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype,
                    MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  const tool::ControlVariable* control = tool::control_at(cvar_index);
  if (no_address(control)) return MPI_T_ERR_INVALID_INDEX;
  if (!tool::can_give(name, name_len) || !tool::can_give(desc, desc_len)) return MPI_T_ERR_INVALID;
  const base::SettingText& text = control->row->text();
  tool::give(text.name, name, name_len);
  tool::give(verbosity, tool::verbosity_of(text.level));
  tool::give(datatype, tool::type_of(control->row->form()));
  tool::give(enumtype, control->words);
  tool::give(control->help, desc, desc_len);
  tool::give(bind, MPI_T_BIND_NO_OBJECT);
  tool::give(scope, tool::scope_of(text));
  return MPI_SUCCESS;
}

int t_cvar_get_index(const char* name, int* cvar_index) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (no_address(name) || no_address(cvar_index)) return MPI_T_ERR_INVALID;
  const std::vector<tool::ControlVariable>& all = tool::controls();
  for (size_t i = 0; i < all.size(); ++i) {
    if (strcmp(all[i].row->text().name, name) != 0) continue;
    *cvar_index = static_cast<int>(i);
    return MPI_SUCCESS;
  }
  return MPI_T_ERR_INVALID_NAME;
}

int t_cvar_handle_alloc(int cvar_index, void* /*obj_handle*/, MPI_T_cvar_handle* handle, int* count) {
  const tool::ToolCall call;
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  const tool::ControlVariable* control = tool::control_at(cvar_index);
  if (no_address(control)) return MPI_T_ERR_INVALID_INDEX;
  if (no_address(handle) || no_address(count)) return MPI_T_ERR_INVALID;
  auto* made = base::make_object<tool::ControlHandle>();
  if (made == nullptr) return MPI_T_ERR_OUT_OF_HANDLES;
  made->row = control->row;
  made->count = tool::count_of(*control->row);
  made->kind = base::Kind::control_variable;
  if (tool::handles == nullptr) tool::handles = new std::vector<tool::ControlHandle*>;
  tool::handles->push_back(made);
  *handle = handle_of<MPI_T_cvar_handle>(made);
  *count = made->count;
  return MPI_SUCCESS;
}

int t_cvar_handle_free(MPI_T_cvar_handle* handle) {
  const tool::ToolCall call;
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (no_address(handle)) return MPI_T_ERR_INVALID;
  tool::ControlHandle* control = tool::control_of(*handle);
  if (no_address(control)) return MPI_T_ERR_INVALID_HANDLE;
  std::erase(*tool::handles, control);
  base::destroy_object(control);
  *handle = MPI_T_CVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

int t_cvar_read(MPI_T_cvar_handle handle, void* buf) {
  const tool::ToolCall call;
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  const tool::ControlHandle* control = tool::control_of(handle);
  if (no_address(control)) return MPI_T_ERR_INVALID_HANDLE;
  if (no_address(buf)) return MPI_T_ERR_INVALID;
  tool::read(*control, buf);
  return MPI_SUCCESS;
}

int t_cvar_write(MPI_T_cvar_handle handle, const void* buf) {
  base::SettingRow* row = nullptr;
  {
    const tool::ToolCall call;
    if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
    const tool::ControlHandle* control = tool::control_of(handle);
    if (no_address(control)) return MPI_T_ERR_INVALID_HANDLE;
    row = control->row;
  }
  if (no_address(buf)) return MPI_T_ERR_INVALID;
  return tool::write(*row, buf);  // without the lock: MPI_Finalize may call back while it holds the process still
}

}  // namespace weft::mpi
