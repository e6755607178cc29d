// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
namespace weft {
namespace {

struct Local {
  int a;
};

// Neither the parameter nor the type of another program in the text is a type of ours.
template <class Parameter>
struct OfParameter {
  Parameter of;
};

constexpr const char* text = R"(
struct Local {
};
)";

}  // namespace

struct Shared {
  int a;
};

struct Outer {
  enum class Inner { a };
};

}  // namespace weft
