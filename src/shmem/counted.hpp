// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// One call of OpenSHMEM as statistics count it. An entry point (abi/shmem_build.py) tests one word of `state`, and
// jumps to a generated function that makes one, tells it what the call is about, and finishes it.

#include "observe/counted_call.hpp"
#include "shmem/state.hpp"

namespace weft::shmem {

class Counted : public observe::CountedCall {
 public:
  // Inlined, so that the return address is the program's: entry points jump to the function that holds this.
  [[gnu::always_inline]] explicit Counted(stats::Call call)
      : Counted(call, reinterpret_cast<uintptr_t>(__builtin_return_address(0)),
                reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa())) {}

  // The arguments are unchecked, as the program gave them.
  void data(size_t bytes);
  void with(shmem_ctx_t ctx, int pe);
  void on(shmem_team_t team);

  template <class T>
  T end(T result) {
    finish();
    return result;
  }

 private:
  Counted(stats::Call call, uintptr_t caller, uintptr_t stack);
};

// The members of a team; 0: it is none.
[[nodiscard]] size_t members_of(shmem_team_t team);

}  // namespace weft::shmem
