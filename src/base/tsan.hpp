// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The thread sanitizer sees one process. If two threads of one process write the same shared memory one after the
// other, and another process that has read it in between orders them, the sanitizer has to be told. Nothing in other
// builds.

namespace weft::base {

#ifdef WEFT_TSAN
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
// Another process may now use this thread's stores; and has given them back.
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

// Stands for data that a thread has read to send them. The process that has got them may have another thread write
// there.
inline char sent_data;

}  // namespace weft::base
