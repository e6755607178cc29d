// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The data of elements as a list of contiguous runs, for copies by the kernel (process_vm_readv) and by networks.

#include <sys/uio.h>

#include "datatype/type.hpp"

namespace weft::datatype {

struct Runs {
  int count;      // runs listed
  int64_t bytes;  // bytes in them
};

// Lists the runs that hold packed bytes [position, position + bytes) of `count` elements at `buffer`, in order, at most
// `room` of them: the next call goes on at position + Runs::bytes. Runs that touch are one.
[[nodiscard]] Runs list_runs(const Type& type, int64_t count, const void* buffer, int64_t position, int64_t bytes,
                             iovec* runs, int room);

}  // namespace weft::datatype
