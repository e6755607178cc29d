// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/atomic.hpp"

#include "shmem/error.hpp"

namespace weft::shmem {

[[gnu::noinline]] void update_general(const char* function, shmem_ctx_t ctx, const void* dest, size_t bytes, int pe,
                                      const void* value, void* result, Reduction reduction, Basic basic, Until until) {
  update(function, ctx, find(function, ctx, dest, bytes, pe), value, result, reduction, basic, until);
}

[[gnu::noinline]] void compare_swap_general(const char* function, shmem_ctx_t ctx, void* dest, size_t bytes, int pe,
                                            const void* value, const void* cond, void* result, Basic basic,
                                            Until until) {
  compare_swap(function, ctx, find(function, ctx, dest, bytes, pe), value, cond, result, basic, until);
}

[[gnu::noinline]] void land_on_device(const char* function, void* fetch, const void* value, size_t bytes) {
  if (const std::string problem = device::active->copy(fetch, value, bytes); !problem.empty()) {
    device::fail(problem);
    check(function, core::other_error);
  }
}

}  // namespace weft::shmem
