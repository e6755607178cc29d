// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Streams of a stand-in driver. One is idle, and its operations are done when their calls return, until something is
// enqueued on it that waits: from then on a thread performs what follows, in order, until nothing is left.
#ifndef WEFT_FAKE_STREAM_H
#define WEFT_FAKE_STREAM_H

#include <stddef.h>
#include <stdint.h>

// An operation: its arguments are copied.
typedef int (*fake_operation)(const void* arguments);

// Performs it at once on an idle stream, unless it `waits`; otherwise enqueues it.
int fake_stream_do(void* stream, int waits, fake_operation operation, const void* arguments, size_t bytes);
// Until nothing is left; whether anything is.
int fake_stream_finish(void* stream);
int fake_stream_is_busy(void* stream);
void* fake_stream_new(void);

#endif
