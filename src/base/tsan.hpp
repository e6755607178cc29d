// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The thread sanitizer sees one process. Where two threads of one write the same shared memory one after the other, and
// what orders them is another process that has read it in between, it has to be told. Nothing in other builds.

namespace weft::base {

#ifdef WEFT_TSAN
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
// What this thread wrote is another process's now; and came back from it.
inline void give_to_process(void* memory) {
  __tsan_release(memory);
}
inline void take_from_process(void* memory) {
  __tsan_acquire(memory);
}
#else
inline void give_to_process(void*) {}
inline void take_from_process(void*) {}
#endif

}  // namespace weft::base
