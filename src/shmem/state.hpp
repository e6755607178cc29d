// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// OpenSHMEM's part of a process: how it reaches the symmetric memory of the other PEs.
//
// Symmetric memory is the heap, and the program's own static data. Each PE's heap lies in the shared segment of its
// host, at an address that this process knows (Near::heap), so that an operation on a PE of this host is a range check,
// an addition and a store. Everything else goes through a window of core (remote.hpp).
//
// A PE's number is its rank in the job.

#include <shmem.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/api/transport.hpp"

namespace weft::shmem {

// A PE, as this one reaches it by loads and stores.
struct Near {
  char* heap = nullptr;                     // where its heap lies for us; nullptr: nowhere
  transport::Endpoint* endpoint = nullptr;  // its way, by which we see that it sleeps; set where heap is
};

struct ContextWindows;  // to the symmetric memory of others, where no stores reach it: remote.hpp

// A context that lives has its handle in this table, at the place that the handle's low bits name. A freed handle is
// not there any more, and does not come again before 2^32 others.
struct Context {
  uintptr_t handle = 0;
  uint32_t pes = 0;   // of its team
  int32_t first = 0;  // PE number of member m = first + m * stride, unless there is a table
  int32_t stride = 1;
  std::atomic<bool> batches = false;   // a session says that operations may wait for others
  std::atomic<bool> messages = false;  // an operation went by messages: there may be something to wait for
  const int32_t* table = nullptr;
  std::atomic<ContextWindows*> way = nullptr;  // made on first use; it stays for the next context at this place
  // ---- not read by operations
  shmem_team_t team = SHMEM_TEAM_INVALID;
  long options = 0;
  Context* next_free = nullptr;
};
inline constexpr uint32_t contexts_most = 1024;
inline constexpr uint32_t default_place = 1;  // of SHMEM_CTX_DEFAULT; place 0 is that of SHMEM_CTX_INVALID

// Bytes that follow each heap and belong to nobody.
inline constexpr uint64_t heap_slack = 64;

struct State {
  // ---- read by every operation
  uintptr_t heap = 0;       // where ours begins
  uint64_t heap_bytes = 0;  // of all PEs
  uint32_t pes = 0;         // 0 while OpenSHMEM is not initialised
  int32_t pe = 0;
  const Near* near = nullptr;  // by PE
  bool afar = false;           // PEs of other hosts wait for this one to make progress
  bool counts = false;         // calls are counted (counted.hpp)
  size_t word = 0;             // bytes of a put or get that one store does; 0: local buffers may lie on a device
  // ----
  int thread_level = 0;
};
[[gnu::visibility("hidden")]] extern constinit State state;
[[gnu::visibility("hidden")]] extern constinit Context contexts[contexts_most];

inline Context& context_at(shmem_ctx_t ctx) {
  return contexts[reinterpret_cast<uintptr_t>(ctx) % contexts_most];
}

// ---- The context of a call: it says which PE a number means. `function` is for messages.

struct Default {
  const char* function;

  static shmem_ctx_t ctx() { return SHMEM_CTX_DEFAULT; }
  [[gnu::always_inline]] bool find(int pe, uint32_t& found) const {
    found = static_cast<uint32_t>(pe);
    return found < state.pes;
  }
};

struct On {
  const char* function;
  shmem_ctx_t given;

  shmem_ctx_t ctx() const { return given; }
  [[gnu::always_inline]] bool find(int pe, uint32_t& found) const {
    const auto handle = reinterpret_cast<uintptr_t>(given);
    const Context& context = contexts[handle % contexts_most];
    if (context.handle != handle || static_cast<uint32_t>(pe) >= context.pes) [[unlikely]]
      return false;
    found = static_cast<uint32_t>(context.table != nullptr ? context.table[pe] : context.first + pe * context.stride);
    return true;
  }
};

// ---- The fast path

// Finds where this process can access `bytes` at a symmetric address of a PE. Returns nullptr if they are not in the
// PE's heap, if no stores reach the heap, or if an argument is wrong.
template <class At>
[[gnu::always_inline]] inline char* in_heap(const At& at, const void* address, size_t bytes, int pe,
                                            const Near*& near) {
  const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - state.heap;
  uint32_t found = 0;
  if (!at.find(pe, found)) [[unlikely]]
    return nullptr;
  if (offset > state.heap_bytes - bytes || bytes > state.heap_bytes) [[unlikely]]
    return nullptr;
  near = &state.near[found];
  char* heap = near->heap;
  return heap != nullptr ? heap + offset : nullptr;
}

// Finds a scalar. Only its beginning is compared, since a heap has heap_slack bytes behind it.
template <class T, class At>
[[gnu::always_inline]] inline T* in_heap(const At& at, const T* address, int pe, const Near*& near) {
  static_assert(sizeof(T) <= heap_slack);
  const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - state.heap;
  uint32_t found = 0;
  if (!at.find(pe, found)) [[unlikely]]
    return nullptr;
  if (offset >= state.heap_bytes) [[unlikely]]
    return nullptr;
  near = &state.near[found];
  char* heap = near->heap;
  if (heap == nullptr) [[unlikely]]
    return nullptr;
  return reinterpret_cast<T*>(heap + offset);
}

[[gnu::cold, gnu::noinline]] void wake(const Near& near);

// Must be called when the memory of the PE has changed: the PE may sleep until that happens (wait.hpp). The store comes
// before the look at its sleep without a fence here: the sleeper makes us run one (docs/design/threads.md, "Sleep").
[[gnu::always_inline]] inline void tell(const Near& near) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (near.endpoint->watches_memory()) [[unlikely]]
    wake(near);
}

[[gnu::cold, gnu::noinline]] void serve_afar();

// A program may wait for another PE by reads in a loop: they make progress now and then where somebody needs it.
[[gnu::always_inline]] inline void serve() {
  if (state.afar) [[unlikely]]
    serve_afar();
}

// `count` elements in bytes; more than any memory has where that is no number.
inline size_t bytes_of(size_t count, size_t element) {
  size_t bytes = 0;
  return __builtin_mul_overflow(count, element, &bytes) ? SIZE_MAX : bytes;
}

template <class T>
inline constexpr T one = T(1);

}  // namespace weft::shmem
