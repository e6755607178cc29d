// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Hints of windows (MPI-5.0, 12.2.7).

#include <algorithm>
#include <mutex>
#include <string_view>

#include "base/setting.hpp"
#include "core/memory/shared.hpp"
#include "mpi/env/info.hpp"
#include "mpi/env/memory.hpp"
#include "mpi/win/window.hpp"

namespace weft::mpi {
namespace {

bool is_boolean(std::string_view value) {
  return value == "true" || value == "false";
}

bool is_ordering(std::string_view value) {
  if (value == "none") return true;
  for (;;) {
    const size_t comma = value.find(',');
    const std::string_view word = value.substr(0, comma);
    if (word != "rar" && word != "raw" && word != "war" && word != "waw") return false;
    if (comma == std::string_view::npos) return true;
    value.remove_prefix(comma + 1);
  }
}

bool is_choice_of_operations(std::string_view value) {
  return value == "same_op" || value == "same_op_no_op";
}

bool is_number(std::string_view value) {
  int64_t number = 0;
  return base::parse_number(std::string(value), base::Unit::none, number).empty() && number >= 0;
}

// The known hints, with their initial values.
struct Hint {
  const char* key;
  const char* value;
  bool (*accepts)(std::string_view value);
  const char* wanted;  // values
};

constexpr Hint hints[] = {
    {"no_locks", "false", is_boolean, "true or false"},
    {"accumulate_ordering", "rar,raw,war,waw", is_ordering, "none, or some of rar, raw, war and waw with commas"},
    {"accumulate_ops", "same_op_no_op", is_choice_of_operations, "same_op or same_op_no_op"},
    {"mpi_accumulate_granularity", "0", is_number, "a number of bytes"},
    {"same_size", "false", is_boolean, "true or false"},
    {"same_disp_unit", "false", is_boolean, "true or false"},
};
constexpr Hint shared_hints[] = {
    {"alloc_shared_noncontig", "false", is_boolean, "true or false"},
};

constexpr const char* asserted_kinds = "mpi_assert_memory_alloc_kinds";

// With `details`.
void set(Win& win, const char* key, std::string value) {
  const auto at = std::find_if(win.hints.begin(), win.hints.end(), [&](const auto& hint) { return hint.first == key; });
  if (at == win.hints.end()) {
    win.hints.emplace_back(key, std::move(value));
  } else {
    at->second = std::move(value);
  }
}

template <size_t n>
int take(const char* function, ErrorsOn on, Win& win, const Info& info, const Hint (&rows)[n]) {
  for (const Hint& row : rows) {
    std::optional<std::string> value = info.find(row.key);
    if (!value) continue;
    if (!row.accepts(*value)) {
      return fail(on, function, MPI_ERR_INFO_VALUE, "the value of %s is %s: it must be %s", row.key,
                  base::quoted(*value).c_str(), row.wanted);
    }
    std::lock_guard lock(details);
    set(win, row.key, std::move(*value));
  }
  return MPI_SUCCESS;
}

}  // namespace

void set_default_hints(Win& win) {
  for (const Hint& row : hints) win.hints.emplace_back(row.key, row.value);
  if (win.flavor != core::rma::Flavor::shared) return;
  for (const Hint& row : shared_hints) win.hints.emplace_back(row.key, row.value);
}

int take_hints(const char* function, ErrorsOn on, Win& win, const Info* info) {
  if (info == nullptr) return MPI_SUCCESS;
  if (int error = take(function, on, win, *info, hints)) return error;
  if (win.flavor == core::rma::Flavor::shared) {
    if (int error = take(function, on, win, *info, shared_hints)) return error;
  }
  std::optional<std::string> asserted = info->find(asserted_kinds);
  if (!asserted || !kinds_are_among(*asserted, kinds_of(static_cast<const Comm&>(*win.comm)))) return MPI_SUCCESS;
  std::lock_guard lock(details);
  set(win, asserted_kinds, std::move(*asserted));
  return MPI_SUCCESS;
}

void use_memory_assertion(Win& win) {
  std::lock_guard lock(details);
  win.comm->host_memory = !win.on_device && std::any_of(win.hints.begin(), win.hints.end(), [](const auto& hint) {
    return hint.first == asserted_kinds && kinds_are_host(hint.second);
  });
}

bool is_hinted(const Win& win, const char* key) {
  std::lock_guard lock(details);
  return std::any_of(win.hints.begin(), win.hints.end(),
                     [&](const auto& hint) { return hint.first == key && hint.second == "true"; });
}

int win_set_info(MPI_Win win, MPI_Info info) {
  static const char* function = "MPI_Win_set_info";
  Win* w = win_of(win);
  if (w == nullptr) return bad_win(function, win);
  const Info* given = info_of(info);
  if (given == nullptr) return bad_info(w, function, info);
  const int error = take_hints(function, w, *w, given);
  use_memory_assertion(*w);
  return error;
}

int win_get_info(MPI_Win win, MPI_Info* info_used) {
  static const char* function = "MPI_Win_get_info";
  const Win* w = win_of(win);
  if (no_address(w)) return bad_win(function, win);
  if (no_address(info_used)) return null_argument(w, function, "info_used");
  Info* info = make_info();
  if (info == nullptr) return no_memory(w, function, "an info object");
  {
    std::lock_guard lock(details);
    for (const auto& [key, value] : w->hints) info->set(key.c_str(), value);
  }
  if (w->on_device) {
    info->set("weft_mem_device", device::active->name);
  } else if (w->flavor == core::rma::Flavor::allocate || w->flavor == core::rma::Flavor::shared) {
    tell_grant(w->grant, *info);
  } else if (pages::Grant grant; w->base != nullptr && core::granted(w->base, grant)) {
    tell_grant(grant, *info);
  }
  info->set("mpi_memory_alloc_kinds", kinds_of(static_cast<const Comm&>(*w->comm)));
  *info_used = handle_of<MPI_Info>(info);
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
