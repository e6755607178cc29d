// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Common parts of the tests of one-sided communication: windows of elements, neighbours, and the wish that a call
// succeeds.

#include <cstdint>
#include <cstring>

#include "expect.hpp"

#ifndef OK
#define OK(call) EXPECT_CLASS(call, MPI_SUCCESS)
#endif

namespace windows {

inline void start(int* argc, char*** argv) {
  expect::start(argc, argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

inline bool is_weft() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  return strstr(version, "Weft") != nullptr;
}

// The neighbours of this rank in a ring.
inline int right() {
  return (expect::rank + 1) % expect::size;
}
inline int left() {
  return (expect::rank + expect::size - 1) % expect::size;
}

// Memory that MPI allocated, `count` elements of T on this rank, displacements in elements. Errors return. The
// constructor and the destructor are collective.
template <class T>
class Window {
 public:
  explicit Window(size_t count, T value = T(), MPI_Info info = MPI_INFO_NULL, MPI_Comm comm = MPI_COMM_WORLD)
      : count_(count) {
    OK(MPI_Win_allocate(static_cast<MPI_Aint>(count * sizeof(T)), sizeof(T), info, comm, &base_, &window_));
    OK(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN));
    fill(value);
    MPI_Barrier(comm);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window() { OK(MPI_Win_free(&window_)); }

  operator MPI_Win() const { return window_; }
  T& operator[](size_t i) { return base_[i]; }
  T* data() { return base_; }
  size_t count() const { return count_; }
  void fill(T value) {
    for (size_t i = 0; i < count_; ++i) base_[i] = value;
  }

 private:
  T* base_ = nullptr;
  size_t count_;
  MPI_Win window_ = MPI_WIN_NULL;
};

// From now on others see this rank's stores into its memory, and the other way round: between two uses of a window
// under MPI_Win_lock_all.
inline void meet(MPI_Win window, MPI_Comm comm = MPI_COMM_WORLD) {
  OK(MPI_Win_sync(window));
  MPI_Barrier(comm);
  OK(MPI_Win_sync(window));
}

}  // namespace windows
