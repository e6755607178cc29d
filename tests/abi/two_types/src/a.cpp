// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
namespace weft {
namespace {

struct Local {
  int a;
};

}  // namespace

struct Shared {
  int a;
};

}  // namespace weft
