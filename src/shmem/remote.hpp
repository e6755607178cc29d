// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The general path to symmetric memory: two windows of core over all PEs, one on the heaps and one on the programs'
// static data, always open. A window reaches a PE by our address space, by the kernel (static data of this host) or by
// messages (docs/design/windows.md). The default context uses the windows, every other one a view of each, so that
// contexts share neither outboxes nor what they wait for. Wrong arguments end the job with a message; OpenSHMEM has no
// errors to return.

#include "core/rma/window.hpp"
#include "datatype/reduce.hpp"
#include "shmem/state.hpp"

namespace weft::shmem {

using datatype::Basic;
using datatype::Reduction;

// Symmetric data of a PE.
struct SymmetricData {
  core::rma::Window* window;  // or the context's view of it
  int32_t pe;
  int64_t offset;  // from where the window's memory begins
};

// Finds what an operation speaks of, or ends the job.
[[nodiscard]] SymmetricData find(const char* function, shmem_ctx_t ctx, const void* address, size_t bytes, int pe);

// The window that an address of ours lies in, with `bytes` behind it; nullptr: it is not symmetric.
[[nodiscard]] core::rma::Window* window_of(const void* address, size_t bytes);

// Whether operations on it take messages.
[[nodiscard]] bool by_messages(const SymmetricData& remote);

// Whether the caller's data are its own again when an operation returns.
enum class Until : uint8_t { begun, done };

void put(const char* function, shmem_ctx_t ctx, const SymmetricData& to, const void* source, size_t bytes, Until until);
void get(const char* function, shmem_ctx_t ctx, const SymmetricData& from, void* dest, size_t bytes, Until until);

// One element as a whole. `result` nullptr: the old value is not wanted.
void update(const char* function, shmem_ctx_t ctx, const SymmetricData& to, const void* value, void* result,
            Reduction reduction, Basic basic, Until until);
void compare_swap(const char* function, shmem_ctx_t ctx, const SymmetricData& to, const void* value, const void* cond,
                  void* result, Basic basic, Until until);

// The results of operations begun on the context for the PE before are here, and what was put may be changed.
void finish(const char* function, const SymmetricData& remote);
// They are done there before those that the context begins from now on.
void order(const char* function, const SymmetricData& remote);

// Operations of one context that went by messages, for all PEs: ordered before the later ones, or done at their targets
// when this returns; or the latter for one PE.
void order_all(const Context& context);
void complete_all(const Context& context);
void complete_pe(const Context& context, int32_t pe);

// The program's static data of this process: where they lie.
struct StaticData {
  char* base;
  uint64_t bytes;
};
[[nodiscard]] StaticData static_data();

// The predefined type of one element.
[[nodiscard]] datatype::Type& type_of(Basic basic);

// Both windows, for all PEs together, each on a communicator of its own, by whose context messages find it. The heap is
// one piece of shared memory.
void open_windows(core::Comm& comm, core::Comm& second, char* heap, uint64_t heap_bytes);
void close_windows();
// Where a PE's heap lies for us; nullptr: nowhere.
[[nodiscard]] char* mapped_heap(int32_t pe);

}  // namespace weft::shmem
