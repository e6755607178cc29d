// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
namespace weft {
namespace {

struct Local {
  int b;
};

struct Parameter {
  struct Inner {
    int b;
  };
};

}  // namespace

struct Shared {
  int b;
};

}  // namespace weft
