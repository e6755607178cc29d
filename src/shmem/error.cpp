// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/error.hpp"

#include <cstdio>

#include "base/message.hpp"
#include "core/object/request.hpp"
#include "device/api/device.hpp"

namespace weft::shmem {

void fail(const char* function, const std::string& cause, const std::string& remedy) {
  base::die({.cause = std::string(function) + ": " + cause, .remedy = remedy});
}

void need_start(const char* function) {
  if (state.pes == 0)
    fail(function, "called while OpenSHMEM is not initialised", "call it between shmem_init and shmem_finalize");
}

void bad_context(const char* function, shmem_ctx_t ctx) {
  need_start(function);
  if (ctx == SHMEM_CTX_INVALID) {
    fail(function, "the context is SHMEM_CTX_INVALID",
         "look at the result of shmem_ctx_create or shmem_team_create_ctx");
  }
  fail(function, "the context " + address_text(ctx) + " was destroyed, or never was one",
       "use contexts between shmem_ctx_create and shmem_ctx_destroy");
}

void bad_pe(const char* function, int pe, uint32_t pes, const char* of) {
  fail(function, "there is no PE " + std::to_string(pe) + ": " + of + " has PEs 0 to " + std::to_string(pes - 1),
       "give a number below shmem_n_pes(), or below the size of the context's team");
}

std::string address_text(const void* address) {
  char text[24];
  (void)snprintf(text, sizeof text, "%p", address);
  return text;
}

void check(const char* function, int32_t error) {
  if (error == core::no_error) return;
  if (error == core::no_memory) fail(function, "there is no memory for the operation", "free memory on this host");
  if (error == core::other_error) {
    const std::string problem = device::last_problem();
    fail(function, "data could not be copied from or to a device: " + problem,
         "give memory that lives until the operation is complete");
  }
  fail(function, "the operation failed (error class " + std::to_string(error) + ")",
       "see the messages before this one");
}

}  // namespace weft::shmem
