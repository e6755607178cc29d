// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Copies by loops of vector loads and stores. The C library's memcpy is `rep movsb` above some KiB on many processors,
// and that instruction reads lines which another core has written up to ten times slower than a loop of loads does
// (docs/measurements/choices.md, "How data cross cores"). So every copy out of memory that another process or thread
// writes goes through here; cmake/check_copies.py holds that.

#include <cstddef>
#include <cstdint>

namespace weft::base {

// Copies like memmove: the two may overlap, and the pointers may be null when there are no bytes. A copy larger than
// three quarters of the last cache goes past the caches. The stores are ordered before a release store that follows.
// Thread-safe.
void copy(void* to, const void* from, size_t bytes);

// Copies from memory that its writer will write again, and whose contents nobody wants any more: a byte of each of
// its lines is overwritten, so that the line is in this core's cache alone. The writer gets it from there several times
// as fast as it gets back a line that both caches hold (docs/measurements/choices.md, "How data cross cores"). The two
// must not overlap. own_lines() overwrites without a copy.
void copy_owning(void* to, void* from, size_t bytes);
void own_lines(void* memory, size_t bytes);

// The loops of copy(): vectors of 16 bytes (SSE2, NEON), of 32 and of 64.
enum class CopyRoutine : uint8_t { baseline, avx2, avx512 };

// The loop that copy() takes: the one with the longest vectors that this processor runs without lowering its clock.
CopyRoutine copy_routine();
// Its name for people.
const char* name_of(CopyRoutine routine);
// Whether this processor has its instructions.
bool has_routine(CopyRoutine routine);
// Copies by a given loop, of which the processor has the instructions.
void copy_by(CopyRoutine routine, void* to, const void* from, size_t bytes);

}  // namespace weft::base
