// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Functions of a library that is loaded when it is needed and not before.

#include <dlfcn.h>

#include <string>

namespace weft::base {

// Looks functions up in a library that dlopen returned, and notes the first that is not there: all or none are used.
class FunctionFinder {
 public:
  explicit FunctionFinder(void* library) : library_(library) {}

  // Sets `function`, to nullptr when the library has none of that name.
  template <class Function>
  void find(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
    if (function == nullptr && problem_.empty()) problem_ = std::string("it has no ") + name;
  }

  // The reason why the library cannot be used; empty when all were found.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  void* library_;
  std::string problem_;
};

}  // namespace weft::base
