// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Questions about windows (MPI-5.0, 12.2.6), and their names (7.8).
#include "mpi/win/window.hpp"

#include <cstring>
#include <mutex>

#include "mpi/comm/group.hpp"

namespace weft::mpi {

int win_get_group(MPI_Win win, MPI_Group* group) {
  static const char* function = "MPI_Win_get_group";
  const Win* w = win_of(win);
  if (no_address(w)) return bad_win(function, win);
  if (no_address(group)) return null_argument(w, function, "group");
  *group = group_handle(hold(w->comm->group));
  return MPI_SUCCESS;
}

int win_set_name(MPI_Win win, const char* win_name) {
  static const char* function = "MPI_Win_set_name";
  Win* w = win_of(win);
  if (no_address(w)) return bad_win(function, win);
  if (no_address(win_name)) return null_argument(w, function, "win_name");
  std::lock_guard lock(details);
  w->name.assign(win_name, strnlen(win_name, MPI_MAX_OBJECT_NAME - 1));
  return MPI_SUCCESS;
}

// MPI_WIN_NULL has a name too (MPI-5.0, 7.8).
int win_get_name(MPI_Win win, char* win_name, int* resultlen) {
  static const char* function = "MPI_Win_get_name";
  const Win* w = win_of(win);
  if (no_address(w) && (win != MPI_WIN_NULL || !is_running())) return bad_win(function, win);
  if (no_address(win_name)) return null_argument(w, function, "win_name");
  if (no_address(resultlen)) return null_argument(w, function, "resultlen");
  std::lock_guard lock(details);
  const char* name = w != nullptr ? w->name.c_str() : "MPI_WIN_NULL";
  strcpy(win_name, name);
  *resultlen = static_cast<int>(strlen(name));
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
