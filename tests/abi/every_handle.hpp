// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Handles that are none, in either ABI, and memory for what functions store.

#include <mpi.h>

struct Call {
  const char* name;
  int (*function)();
  bool must_fail;
};
extern const Call calls[];
extern const int call_count;

// A wrong handle: a pointer, or an integer where handles are those.
void* wrong_pointer();
int wrong_integer();

template <class Handle>
struct Wrong {
  static Handle make() { return static_cast<Handle>(wrong_integer()); }
};
template <class Object>
struct Wrong<Object*> {
  static Object* make() { return static_cast<Object*>(wrong_pointer()); }
};

template <class Handle>
Handle wrong() {
  return Wrong<Handle>::make();
}

// Zeros, whatever the function stored before.
void* cleared_room();

template <class T>
T* room() {
  return static_cast<T*>(cleared_room());
}

// The array has as many as any of the calls reads.
template <class Handle>
Handle* wrongs() {
  auto* handles = room<Handle>();
  for (int i = 0; i < 8; ++i) handles[i] = wrong<Handle>();
  return handles;
}
