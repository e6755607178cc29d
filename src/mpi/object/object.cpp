// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/object/object.hpp"

#include "mpi/object/handles.hpp"

namespace weft::mpi {

constinit base::Object nothing;

// Every entry is an object, so that a lookup needs no null check: 4096 times `nothing`.
#define WEFT_FOUR(...) __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__
#define WEFT_SIXTY_FOUR(...) WEFT_FOUR(WEFT_FOUR(WEFT_FOUR(__VA_ARGS__)))
constinit base::Object* predefined[predefined_limit] = {WEFT_SIXTY_FOUR(WEFT_SIXTY_FOUR(&nothing))};
#undef WEFT_SIXTY_FOUR
#undef WEFT_FOUR

constinit uint8_t plain_sizes[predefined_limit] = {};

constinit base::Lock details;

uintptr_t handle_value(const base::Object* object) {
  auto address = reinterpret_cast<uintptr_t>(object);
  if (base::Arena::holds(address)) return address;
  for (uintptr_t value = 0; value < predefined_limit; ++value) {
    if (predefined[value] == object) return value;
  }
  return address;
}

}  // namespace weft::mpi
