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
extern "C" void __tsan_read_range(void* address, unsigned long bytes);
extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);
// Another process may now use this thread's stores; and has given them back.
inline void give_to_process(void* memory) {
  __tsan_release(memory);
}
inline void take_from_process(void* memory) {
  __tsan_acquire(memory);
}
// This thread reads that memory.
inline void note_read(void* memory, unsigned long bytes) {
  __tsan_read_range(memory, bytes);
}
// The sanitizer notes what a system call has read when the call returns. While this lives, it does not: note_read()
// comes before the call.
struct ReadsNoted {
  ReadsNoted() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
  ~ReadsNoted() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
  ReadsNoted(const ReadsNoted&) = delete;
  ReadsNoted& operator=(const ReadsNoted&) = delete;
};
#else
inline void give_to_process(void*) {}
inline void take_from_process(void*) {}
inline void note_read(void*, unsigned long) {}
struct ReadsNoted {
  ReadsNoted() {}
};
#endif

// Stands for data that a thread has read to send them. The process that has got them may have another thread write
// there.
inline char sent_data;

}  // namespace weft::base
