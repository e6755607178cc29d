// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Start and end of the tool information interface, its strings and enumerations (MPI-5.0, 15.3.1 to 15.3.5).
#include "mpi/tools/tool.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/functions.hpp"

namespace weft::mpi {

namespace tool {
namespace {

constinit base::Lock interface_lock;
constinit std::atomic<int> users = 0;  // changed under the lock

}  // namespace

ToolCall::ToolCall() {
  interface_lock.lock();
}

ToolCall::~ToolCall() {
  interface_lock.unlock();
}

bool is_open() {
  return users.load(std::memory_order_acquire) > 0;
}

void give(std::string_view text, char* to, int* length) {
  if (length == nullptr) return;
  if (to != nullptr && *length > 0) {
    const size_t bytes = std::min(text.size(), static_cast<size_t>(*length) - 1);
    memcpy(to, text.data(), bytes);
    to[bytes] = '\0';
  }
  *length = static_cast<int>(text.size()) + 1;
}

MPI_T_enum make_enumeration(const char* name, std::span<const char* const> items) {
  auto* made = base::make_object<Enumeration>();
  if (made == nullptr) return MPI_T_ENUM_NULL;
  made->name = name;
  made->items = items;
  made->kind = base::Kind::tool_enum;
  return handle_of<MPI_T_enum>(made);
}

}  // namespace tool

int t_init_thread(int required, int* provided) {
  if (provided == nullptr || required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE) return MPI_T_ERR_INVALID;
  base::load_settings();
  const tool::ToolCall call;
  tool::users.fetch_add(1, std::memory_order_release);
  *provided = required;
  return MPI_SUCCESS;
}

int t_finalize() {
  const tool::ToolCall call;
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (tool::users.fetch_sub(1, std::memory_order_release) == 1) {
    tool::free_all_controls();
    tool::free_all_sessions();
    tool::free_all_registrations();
  }
  return MPI_SUCCESS;
}

int t_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  const auto* e = object_of<tool::Enumeration, base::Kind::tool_enum>(enumtype);
  if (e == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (!tool::can_give(name, name_len)) return MPI_T_ERR_INVALID;
  tool::give(num, static_cast<int>(e->items.size()));
  tool::give(e->name, name, name_len);
  return MPI_SUCCESS;
}

int t_enum_get_item(MPI_T_enum enumtype, int indx, int* value, char* name, int* name_len) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  const auto* e = object_of<tool::Enumeration, base::Kind::tool_enum>(enumtype);
  if (e == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (indx < 0 || static_cast<size_t>(indx) >= e->items.size()) return MPI_T_ERR_INVALID_INDEX;
  if (!tool::can_give(name, name_len)) return MPI_T_ERR_INVALID;
  tool::give(value, indx);
  tool::give(e->items[static_cast<size_t>(indx)], name, name_len);
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
